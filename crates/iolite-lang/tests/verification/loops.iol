// Two counters one after the other: what the first loop counts up, the second counts down.
system S {
  const n: int
  assume n >= 0
  var x: int = 0, y: int = 0
  internal up, turn, down
  output DONE(v: int)
  initial state Up { up [x < n] / x := x + 1, y := y + 1 -> Up   turn [x >= n] -> Down }
  state Down { down [x > 0] / x := x - 1, y := y - 1 -> Down   !DONE(v) [x <= 0 && v == y] -> End }
  state End
}
observer W for S {
  initial state Ok { !DONE(v) [v != 0] -> Bad   * -> Ok }
  violate state Bad
}
