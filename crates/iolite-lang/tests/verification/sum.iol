// x + y stays n while one goes down and the other up.
system S {
  const n: int
  assume n >= 0
  var x: int = 0, y: int = 0
  input START
  internal move
  output PAIR(a: int, b: int)
  initial state Idle { ?START / x := n, y := 0 -> Run }
  state Run { move [x > 0] / x := x - 1, y := y + 1 -> Run   !PAIR(a, b) [a == x && b == y] -> Run }
}
observer W for S {
  const n: int
  initial state Ok { !PAIR(a, b) [a + b != n] -> Bad   * -> Ok }
  violate state Bad
}
