// The same sender with one transmission too many.
system S {
  const max: int
  assume max >= 1
  var rn: int = 0
  input REQ, ACK
  output MSG, OK, NOT_OK
  internal timeout
  initial state Idle { ?REQ / rn := 0 -> Send }
  state Send { !MSG / rn := rn + 1 -> Wait }
  state Wait {
    ?ACK -> Good
    timeout [rn <= max] -> Send
    timeout [rn > max] -> Lost
  }
  state Good { !OK -> Idle }
  state Lost { !NOT_OK -> Idle }
}
observer W for S {
  const max: int
  var n: int = 0
  initial state Ok {
    ?REQ / n := 0 -> Ok
    !MSG [n < max] / n := n + 1 -> Ok
    !MSG [n >= max] -> Bad
    * -> Ok
  }
  violate state Bad
}
