// A violation that needs the inputs to add up to 40, each at most 3.
system S {
  var x: int = 0
  input ADD(n: int)
  output ALARM
  initial state A { ?ADD(n) [n >= 1 && n <= 3] / x := x + n -> A   !ALARM [x == 40] -> End }
  state End
}
observer W for S {
  initial state Ok { !ALARM -> Bad   * -> Ok }
  violate state Bad
}
