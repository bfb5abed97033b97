// Visitors say who they are, and hear whether they are lucky: by sex, by name or by birthday.
type Sex = Male | Female
record Person { sex: Sex, first: string, last: string, day: int, month: int }

fn isName(s: string): bool = matches(s, "[A-Z][a-z]*")
fn isValid(p: Person): bool =
  isName(p.first) && isName(p.last) && 1 <= p.day && p.day <= 31 && 1 <= p.month && p.month <= 12

// Whoever ends a row of five or more of the other sex is lucky.
fn byRow(p: Person, before: Sex, row: int): bool = p.sex != before && row >= 5
fn byName(p: Person): bool = p.first[0] == p.last[0]
fn byBirthday(p: Person): bool = p.day == p.month

system Lucky {
  var before: Sex = Male, row: int = 0, answer: bool = false
  input person(p: Person)
  output lucky(yes: bool)

  initial state Waits {
    ?person(p) [isValid(p)]
      / answer := byRow(p, before, row) || byName(p) || byBirthday(p),
        row := if p.sex == before then row + 1 else 1,
        before := p.sex -> Answers
  }
  state Answers { !lucky(yes) [yes == answer] -> Waits }
}
