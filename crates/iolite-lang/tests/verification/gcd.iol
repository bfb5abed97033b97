// Euclid by subtraction keeps both numbers positive.
system S {
  var a: int = 1, b: int = 1
  input START(p: int, q: int)
  internal left, right
  output RESULT(r: int)
  initial state Idle { ?START(p, q) [p > 0 && q > 0] / a := p, b := q -> Run }
  state Run {
    left [a > b] / a := a - b -> Run
    right [b > a] / b := b - a -> Run
    !RESULT(r) [a == b && r == a] -> Idle
  }
}
observer W for S {
  initial state Ok { !RESULT(r) [r <= 0] -> Bad   * -> Ok }
  violate state Bad
}
