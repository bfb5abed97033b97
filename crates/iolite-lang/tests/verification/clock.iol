// Hours and minutes.
system S {
  var h: 0..23 = 0, m: 0..59 = 0
  internal tick
  output TIME(a: int, b: int)
  initial state Q {
    tick [m < 59] / m := m + 1 -> Q
    tick [m == 59 && h < 23] / m := 0, h := h + 1 -> Q
    tick [m == 59 && h == 23] / m := 0, h := 0 -> Q
    !TIME(a, b) [a == h && b == m] -> Q
  }
}
observer W for S {
  initial state Ok { !TIME(a, b) [60 * a + b >= 1440] -> Bad   * -> Ok }
  violate state Bad
}
