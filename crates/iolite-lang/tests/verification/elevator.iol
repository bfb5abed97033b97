// An elevator between two floors that are not known.
system S {
  const low: int
  const high: int
  assume low <= high
  var at: int = low, goal: int = low
  input CALL(f: int)
  internal up, down
  output FLOOR(f: int)
  initial state Q {
    ?CALL(f) [low <= f && f <= high] / goal := f -> Q
    up [at < goal] / at := at + 1 -> Q
    down [at > goal] / at := at - 1 -> Q
    !FLOOR(f) [f == at] -> Q
  }
}
observer W for S {
  const low: int
  const high: int
  initial state Ok { !FLOOR(f) [f < low || f > high] -> Bad   * -> Ok }
  violate state Bad
}
