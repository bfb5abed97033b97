// One step of three among steps of two.
system S {
  var x: int = 0
  input UP, ODD
  output VAL(v: int)
  initial state A { ?UP / x := x + 2 -> A   ?ODD [x > 4] / x := x + 3 -> A   !VAL(v) [v == x] -> A }
}
observer W for S {
  initial state Ok { !VAL(v) [v % 2 == 1] -> Bad   * -> Ok }
  violate state Bad
}
