// A bounded queue as an array: it is never longer than its capacity.
system S {
  const capacity: int
  assume capacity >= 1
  var items: int[] = []
  input PUT(v: int)
  output GET(v: int), LENGTH(n: int)
  initial state A {
    ?PUT(v) [len(items) < capacity] / items := items ++ [v] -> A
    !LENGTH(n) [n == len(items)] -> A
  }
}
observer W for S {
  const capacity: int
  initial state Ok { !LENGTH(n) [n > capacity] -> Bad   * -> Ok }
  violate state Bad
}
