// Leader election in a ring of three with symbolic identities: only the greatest is elected.
system S {
  const a: int
  const b: int
  const c: int
  assume a != b && b != c && a != c
  var ma: int = a, mb: int = b, mc: int = c
  internal hop_ab, hop_bc, hop_ca
  output LEADER(id: int)
  initial state Q {
    hop_ab / mb := if ma > mb then ma else mb -> Q
    hop_bc / mc := if mb > mc then mb else mc -> Q
    hop_ca / ma := if mc > ma then mc else ma -> Q
    !LEADER(id) [ma == mb && mb == mc && id == ma] -> Q
  }
}
observer W for S {
  const a: int
  const b: int
  const c: int
  initial state Ok { !LEADER(id) [id < a || id < b || id < c] -> Bad   * -> Ok }
  violate state Bad
}
