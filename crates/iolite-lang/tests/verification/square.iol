// s is the square of n, by adding odd numbers: not linear.
system S {
  var n: int = 0, s: int = 0
  internal step
  output PAIR(a: int, b: int)
  initial state A { step / s := s + 2 * n + 1, n := n + 1 -> A   !PAIR(a, b) [a == n && b == s] -> A }
}
observer W for S {
  initial state Ok { !PAIR(a, b) [b < a] -> Bad   * -> Ok }
  violate state Bad
}
