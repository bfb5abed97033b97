// The sender of the Bounded Retransmission Protocol [SYM04, fig. 1], to be tested.
//
// It is the model of examples/papers/sym04_fig1.iol, except that a request asks for no more packets
// than the file has: what a sender does beyond its file is nobody's contract.
//
// The two timeouts are internal: nobody sees them fire. They are tested all the same, because
// silence is forbidden where one of them is due, so a sender that forgets its timeout is caught
// once it has been silent for longer than any timeout takes (see `quiescence` in sut.toml).

system Sender {
  // The most transmissions of one packet, and the file.
  const max: int
  const f: int[]
  assume max >= 1
  // Transmissions of this packet, this packet, number of packets, alternating bit.
  var rn: int = 0, head: int = 0, last: int = 0, bit: bool = true

  input REQ(l: int), ACK
  output MSG(m: int, b: bool), OK, NOT_OK, DONT_KNOW
  internal timeout1, timeout2

  initial state Wait_Req {
    ?REQ(l) [l > head && l <= len(f)] / last := l -> Send_File
  }
  state Send_File {
    !MSG(m, b) [m == f[head] && b == bit] / rn := rn + 1 -> Wait_Ack
  }
  state Wait_Ack {
    ?ACK [head + 1 < last] / head := head + 1, rn := 0, bit := !bit -> Send_File
    ?ACK [head + 1 == last] / head := head + 1, rn := 0, bit := !bit -> Send_Complete
    timeout1 [rn < max] -> Send_File
    timeout1 [rn == max] -> Wait_Timeout2
  }
  state Wait_Timeout2 {
    timeout2 -> Send_Complete
  }
  state Send_Complete {
    // All packets were acknowledged; all but the last; some packet before the last was not.
    !OK [head == last] / head := 0, rn := 0 -> Wait_Req
    !DONT_KNOW [head + 1 == last] / head := 0, rn := 0 -> Wait_Req
    !NOT_OK [head + 1 < last] / head := 0, rn := 0 -> Wait_Req
  }
}

// The same with values for the constants: its data are finite, so every command takes it.
system Small = Sender(max = 2, f = [10, 20, 30])

// "The sender is not quiescent between a request and a confirmation" [fig. 4], negated.
observer NoSilence for Sender {
  initial state Idle {
    ?REQ -> Busy
    * -> Idle
  }
  state Busy {
    !OK, !NOT_OK, !DONT_KNOW -> Idle
    delta -> Violate
    * -> Busy
  }
  violate state Violate
}

// "No packet is sent more than `max` times without an acknowledgement", negated. The observer counts by
// itself; its `max` is the sender's, because it has the same name and sort.
observer Retries for Sender {
  const max: int
  var sent: int = 0
  initial state Counting {
    !MSG [sent < max] / sent := sent + 1 -> Counting
    !MSG [sent >= max] -> Violate
    ?ACK, !OK, !NOT_OK, !DONT_KNOW / sent := 0 -> Counting
    * -> Counting
  }
  violate state Violate
}

// A scenario: a file of at least two packets arrives.
purpose LongFile for Sender {
  initial state Start {
    ?REQ(l) [l >= 2] -> Asked
  }
  state Asked {
    !OK -> Arrived
    !NOT_OK, !DONT_KNOW -> Start
  }
  accept state Arrived
}
