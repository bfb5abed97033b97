// y is twice x.
system S {
  var x: int = 0, y: int = 0
  internal step
  output PAIR(a: int, b: int)
  initial state A { step / x := x + 1, y := y + 2 -> A   !PAIR(a, b) [a == x && b == y] -> A }
}
observer W for S {
  initial state Ok { !PAIR(a, b) [b != 2 * a] -> Bad   * -> Ok }
  violate state Bad
}
