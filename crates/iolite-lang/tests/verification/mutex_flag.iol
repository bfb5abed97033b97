// A lock that is tested and set in two steps.
system S {
  var taken: bool = false, pa: 0..3 = 0, pb: 0..3 = 0
  output ENTER_A, LEAVE_A, ENTER_B, LEAVE_B
  internal see_a, see_b
  initial state Q {
    see_a [pa == 0 && !taken] / pa := 1 -> Q
    see_b [pb == 0 && !taken] / pb := 1 -> Q
    !ENTER_A [pa == 1] / pa := 2, taken := true -> Q
    !ENTER_B [pb == 1] / pb := 2, taken := true -> Q
    !LEAVE_A [pa == 2] / pa := 0, taken := false -> Q
    !LEAVE_B [pb == 2] / pb := 0, taken := false -> Q
  }
}
observer W for S {
  initial state Free { !ENTER_A, !ENTER_B -> Taken   * -> Free }
  state Taken { !LEAVE_A, !LEAVE_B -> Free   !ENTER_A, !ENTER_B -> Bad   * -> Taken }
  violate state Bad
}
