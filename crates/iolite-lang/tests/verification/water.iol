// A tank that is filled and drained with a delay of one step.
system S {
  var level: int = 5, on: bool = true
  internal rise, fall
  output LEVEL(n: int)
  initial state Q {
    rise [on] / level := level + 1, on := level + 1 < 10 -> Q
    fall [!on] / level := level - 1, on := level - 1 <= 2 -> Q
    !LEVEL(n) [n == level] -> Q
  }
}
observer W for S {
  initial state Ok { !LEVEL(n) [n < 1 || n > 12] -> Bad   * -> Ok }
  violate state Bad
}
