// The observer remembers the last value: what is shown never falls.
system S {
  var x: int = 0
  input ADD(n: int)
  output VAL(v: int)
  initial state A { ?ADD(n) [n >= 0] / x := x + n -> A   !VAL(v) [v == x] -> A }
}
observer W for S {
  var last: int = 0
  initial state Ok {
    !VAL(v) [v >= last] / last := v -> Ok
    !VAL(v) [v < last] -> Bad
    * -> Ok
  }
  violate state Bad
}
