// Steps of two keep a number even.
system S {
  var x: int = 0
  input UP, DOWN
  output VAL(v: int)
  initial state A { ?UP / x := x + 2 -> A   ?DOWN / x := x - 2 -> A   !VAL(v) [v == x] -> A }
}
observer W for S {
  initial state Ok { !VAL(v) [v % 2 == 1] -> Bad   * -> Ok }
  violate state Bad
}
