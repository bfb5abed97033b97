// Fischer's protocol for two processes with bounded delays: who writes waits longer than the other
// may take to write. ta and tb count ticks since the last step of each process.
system S {
  var id: 0..2 = 0, pa: 0..3 = 0, pb: 0..3 = 0, ta: int = 0, tb: int = 0
  output ENTER_A, LEAVE_A, ENTER_B, LEAVE_B
  internal tick, try_a, set_a, back_a, try_b, set_b, back_b
  initial state Q {
    tick [(pa != 1 || ta < 2) && (pb != 1 || tb < 2)] / ta := ta + 1, tb := tb + 1 -> Q
    try_a [pa == 0 && id == 0] / pa := 1, ta := 0 -> Q
    set_a [pa == 1 && ta <= 2] / pa := 2, ta := 0, id := 1 -> Q
    back_a [pa == 2 && id != 1] / pa := 0 -> Q
    !ENTER_A [pa == 2 && id == 1 && ta > 2] / pa := 3 -> Q
    !LEAVE_A [pa == 3] / pa := 0, id := 0 -> Q
    try_b [pb == 0 && id == 0] / pb := 1, tb := 0 -> Q
    set_b [pb == 1 && tb <= 2] / pb := 2, tb := 0, id := 2 -> Q
    back_b [pb == 2 && id != 2] / pb := 0 -> Q
    !ENTER_B [pb == 2 && id == 2 && tb > 2] / pb := 3 -> Q
    !LEAVE_B [pb == 3] / pb := 0, id := 0 -> Q
  }
}
observer W for S {
  initial state Free { !ENTER_A, !ENTER_B -> Taken   * -> Free }
  state Taken { !LEAVE_A, !LEAVE_B -> Free   !ENTER_A, !ENTER_B -> Bad   * -> Taken }
  violate state Bad
}
