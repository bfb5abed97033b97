// Numbers leave the queue in the order that they came in: 0, 1, 2, …
system S {
  var head: int = 0, tail: int = 0
  input PUT
  output GET(n: int)
  initial state A {
    ?PUT / tail := tail + 1 -> A
    !GET(n) [head < tail && n == head] / head := head + 1 -> A
  }
}
observer W for S {
  var next: int = 0
  initial state Ok {
    !GET(n) [n == next] / next := next + 1 -> Ok
    !GET(n) [n != next] -> Bad
    * -> Ok
  }
  violate state Bad
}
