// A quotient with a divisor that may be zero: constants with which it faults are no specification.
system S {
  const d: int
  var x: int = 0
  input A
  output Q(n: int)
  initial state P { ?A / x := x + 1 -> P   !Q(n) [n == x / d] -> P }
}
observer W for S {
  const d: int
  initial state Ok { !Q(n) [d > 0 && n < 0] -> Bad   * -> Ok }
  violate state Bad
}
