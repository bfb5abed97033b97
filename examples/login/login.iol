// A login service with one account. A name is a small letter and two to seven small letters or
// digits; a password has four to ten printable characters. Three wrong passwords lock the account.
enum Reason { BAD_NAME, WRONG, LOCKED }

fn valid(name: string): bool = matches(name, "[a-z][a-z0-9]{2,7}")

system Login {
  var user: string = "", secret: string = "", wrong: 0..3 = 0

  input register(u: string, p: string), login(u: string, p: string), logout
  output registered(u: string), refused(why: Reason), welcome(greeting: string), bye

  initial state Fresh {
    ?register(u, p) [valid(u) && matches(p, "[!-~]{4,10}")] / user := u, secret := p -> Registering
    ?register(u, p) [!valid(u) && matches(u, "[ -~]{0,10}") && matches(p, "[!-~]{4,10}")] -> Rejecting
    // Names that start well are few among all names: a transition of their own, so that they are tried.
    ?register(u, p) [!valid(u) && matches(u, "[a-z][a-z0-9]{2,7}[!-~]{1,3}") && matches(p, "[!-~]{4,10}")] -> Rejecting
  }
  state Registering { !registered(u) [u == user] -> Out }
  state Rejecting { !refused(why) [why == BAD_NAME] -> Fresh }
  state Out {
    ?login(u, p) [u == user && p == secret] -> Checked
    ?login(u, p) [u == user && p != secret && matches(p, "[!-~]{4,10}")] / wrong := min(wrong + 1, 3) -> Failed
  }
  state Checked {
    !welcome(g) [wrong < 3 && g == "hello " ++ user] / wrong := 0 -> In
    !refused(why) [wrong == 3 && why == LOCKED] -> Out
  }
  state Failed {
    !refused(why) [wrong < 3 && why == WRONG] -> Out
    !refused(why) [wrong == 3 && why == LOCKED] -> Out
  }
  state In { ?logout -> Leaving }
  state Leaving { !bye -> Out }
}
