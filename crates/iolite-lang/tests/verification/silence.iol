// A request is answered: the system is never silent while one waits.
system S {
  var waiting: int = 0
  input REQ
  output ANS
  initial state A { ?REQ / waiting := waiting + 1 -> A   !ANS [waiting > 0] / waiting := waiting - 1 -> A }
}
observer W for S {
  var open: int = 0
  initial state Ok {
    ?REQ / open := open + 1 -> Ok
    !ANS / open := open - 1 -> Ok
    delta [open > 0] -> Bad
    * -> Ok
  }
  violate state Bad
}
