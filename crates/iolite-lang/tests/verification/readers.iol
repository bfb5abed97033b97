// Readers and one writer.
system S {
  var readers: int = 0, writing: bool = false
  input R, W_, DR, DW
  output STATE(r: int, w: bool)
  initial state Q {
    ?R [!writing] / readers := readers + 1 -> Q
    ?DR [readers > 0] / readers := readers - 1 -> Q
    ?W_ [!writing && readers == 0] / writing := true -> Q
    ?DW [writing] / writing := false -> Q
    !STATE(r, w) [r == readers && w == writing] -> Q
  }
}
observer W for S {
  initial state Ok { !STATE(r, w) [w && r > 0] -> Bad   * -> Ok }
  violate state Bad
}
