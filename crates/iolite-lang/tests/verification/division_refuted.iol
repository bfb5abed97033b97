// With a negative divisor the quotient is negative.
system S {
  const d: int
  var x: int = 0
  input A
  output Q(n: int)
  initial state P { ?A / x := x + 1 -> P   !Q(n) [n == x / d] -> P }
}
observer W for S {
  initial state Ok { !Q(n) [n < 0] -> Bad   * -> Ok }
  violate state Bad
}
