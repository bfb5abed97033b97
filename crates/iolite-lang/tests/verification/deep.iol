// A violation after three hundred steps.
system S {
  var x: int = 0
  internal step
  output ALARM
  initial state A { step [x < 300] / x := x + 1 -> A   !ALARM [x == 300] -> End }
  state End
}
observer W for S {
  initial state Ok { !ALARM -> Bad   * -> Ok }
  violate state Bad
}
