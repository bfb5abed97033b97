// The ticket lock: two processes, unbounded tickets.
system S {
  var next: int = 0, serving: int = 0, a: int = 0, b: int = 0, pa: int = 0, pb: int = 0
  output ENTER_A, LEAVE_A, ENTER_B, LEAVE_B
  internal draw_a, draw_b
  initial state Q {
    draw_a [pa == 0] / a := next, next := next + 1, pa := 1 -> Q
    draw_b [pb == 0] / b := next, next := next + 1, pb := 1 -> Q
    !ENTER_A [pa == 1 && a == serving] / pa := 2 -> Q
    !ENTER_B [pb == 1 && b == serving] / pb := 2 -> Q
    !LEAVE_A [pa == 2] / pa := 0, serving := serving + 1 -> Q
    !LEAVE_B [pb == 2] / pb := 0, serving := serving + 1 -> Q
  }
}
observer W for S {
  initial state Free { !ENTER_A, !ENTER_B -> Taken   * -> Free }
  state Taken { !LEAVE_A, !LEAVE_B -> Free   !ENTER_A, !ENTER_B -> Bad   * -> Taken }
  violate state Bad
}
