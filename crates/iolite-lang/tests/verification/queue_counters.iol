// A queue by its two ends: what is taken was put.
system S {
  var head: int = 0, tail: int = 0
  input PUT
  output GET(n: int), EMPTY
  initial state A {
    ?PUT / tail := tail + 1 -> A
    !GET(n) [head < tail && n == head] / head := head + 1 -> A
    !EMPTY [head == tail] -> A
  }
}
observer W for S {
  var stored: int = 0
  initial state Ok {
    ?PUT / stored := stored + 1 -> Ok
    !GET(n) [stored > 0] / stored := stored - 1 -> Ok
    !GET(n) [stored <= 0] -> Bad
    !EMPTY [stored > 0] -> Bad
    * -> Ok
  }
  violate state Bad
}
