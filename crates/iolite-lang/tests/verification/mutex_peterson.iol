// Peterson's algorithm for two processes.
system S {
  var wa: bool = false, wb: bool = false, turn: 0..1 = 0, pa: 0..3 = 0, pb: 0..3 = 0
  output ENTER_A, LEAVE_A, ENTER_B, LEAVE_B
  internal want_a, yield_a, want_b, yield_b
  initial state Q {
    want_a [pa == 0] / wa := true, pa := 1 -> Q
    yield_a [pa == 1] / turn := 1, pa := 2 -> Q
    !ENTER_A [pa == 2 && (!wb || turn == 0)] / pa := 3 -> Q
    !LEAVE_A [pa == 3] / wa := false, pa := 0 -> Q
    want_b [pb == 0] / wb := true, pb := 1 -> Q
    yield_b [pb == 1] / turn := 0, pb := 2 -> Q
    !ENTER_B [pb == 2 && (!wa || turn == 1)] / pb := 3 -> Q
    !LEAVE_B [pb == 3] / wb := false, pb := 0 -> Q
  }
}
observer W for S {
  initial state Free { !ENTER_A, !ENTER_B -> Taken   * -> Free }
  state Taken { !LEAVE_A, !LEAVE_B -> Free   !ENTER_A, !ENTER_B -> Bad   * -> Taken }
  violate state Bad
}
