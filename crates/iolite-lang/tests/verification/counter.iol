// An unbounded counter never goes below zero.
system S {
  var x: int = 0
  input INC
  output VAL(v: int)
  initial state A { ?INC / x := x + 1 -> A   !VAL(v) [v == x] -> A }
}
observer W for S {
  initial state Ok { !VAL(v) [v < 0] -> Bad   * -> Ok }
  violate state Bad
}
