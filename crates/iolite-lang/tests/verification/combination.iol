// A safe that opens for one number of three digits.
system S {
  var a: int = 0, b: int = 0, c: int = 0
  input DIGIT(d: 0..9)
  output OPEN
  initial state L {
    ?DIGIT(d) / a := b, b := c, c := d -> L
    !OPEN [100 * a + 10 * b + c == 472] -> L
  }
}
observer W for S {
  initial state Ok { !OPEN -> Bad   * -> Ok }
  violate state Bad
}
