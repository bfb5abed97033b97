// A constant of the observer that the system does not have is for all its values.
system S {
  var x: int = 0
  input INC
  output VAL(v: int)
  initial state A { ?INC [x < 5] / x := x + 1 -> A   !VAL(v) [v == x] -> A }
}
observer W for S {
  const limit: int
  initial state Ok { !VAL(v) [v > limit] -> Bad   * -> Ok }
  violate state Bad
}
