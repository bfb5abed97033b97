// Two counters of which one is sometimes left behind.
system S {
  var x: int = 0, y: int = 0
  internal step, slip
  output PAIR(a: int, b: int)
  initial state A {
    step / x := x + 1, y := y + 1 -> A
    slip [x > 3] / x := x + 1 -> A
    !PAIR(a, b) [a == x && b == y] -> A
  }
}
observer W for S {
  initial state Ok { !PAIR(a, b) [a != b] -> Bad   * -> Ok }
  violate state Bad
}
