// An observer without data over a system with data.
system S {
  var x: int = 0
  input A(n: int)
  output X(n: int), Y
  initial state P { ?A(n) [n > 0] / x := n -> Q }
  state Q { !X(n) [n == x] -> P   !Y [x <= 0] -> P }
}
observer W for S {
  initial state Idle { ?A -> Busy   * -> Idle }
  state Busy { !X -> Idle   !Y -> Bad   delta -> Bad   * -> Busy }
  violate state Bad
}
