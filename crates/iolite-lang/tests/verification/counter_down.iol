// A counter that may go down goes below zero.
system S {
  var x: int = 2
  input DEC
  output VAL(v: int)
  initial state A { ?DEC / x := x - 1 -> A   !VAL(v) [v == x] -> A }
}
observer W for S {
  initial state Ok { !VAL(v) [v < 0] -> Bad   * -> Ok }
  violate state Bad
}
