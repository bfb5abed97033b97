// The sender of the Bounded Retransmission Protocol [SYM04, fig. 1], and the observer of
// "the sender is not quiescent between a request and a confirmation" [fig. 4].
//
// The figures are not in the text; the models are rebuilt from its words: the five locations, the
// transition of MSG, the guards of the two τ1 transitions (so that δ in Wait_Ack has the guard
// rn > max), τ2 always enabled in Wait_Timeout2, and what each confirmation means. What a
// confirmation resets is not said; the next file starts at packet 0.

system Sender {
  // The most transmissions of one packet, and the file.
  const max: int
  const f: int[]
  assume max >= 1
  // Transmissions of this packet, this packet, number of packets, alternating bit.
  var rn: int = 0, head: int = 0, last: int = 0, bit: bool = true

  input REQ(l: int), ACK
  output MSG(pMsg: int, pBit: bool), OK, NOT_OK, DONT_KNOW
  internal tau1, tau2

  initial state Wait_Req {
    ?REQ(l) [l > head] / last := l -> Send_File
  }
  state Send_File {
    !MSG(pMsg, pBit) [pMsg == f[head] && pBit == bit] / rn := rn + 1 -> Wait_Ack
  }
  state Wait_Ack {
    ?ACK [head + 1 < last] / head := head + 1, rn := 0, bit := !bit -> Send_File
    ?ACK [head + 1 == last] / head := head + 1, rn := 0, bit := !bit -> Send_Complete
    tau1 [rn < max] -> Send_File
    tau1 [rn == max] -> Wait_Timeout2
  }
  state Wait_Timeout2 {
    tau2 -> Send_Complete
  }
  state Send_Complete {
    // All packets were acknowledged; all but the last; some packet before the last was not.
    !OK [head == last] / head := 0, rn := 0 -> Wait_Req
    !DONT_KNOW [head + 1 == last] / head := 0, rn := 0 -> Wait_Req
    !NOT_OK [head + 1 < last] / head := 0, rn := 0 -> Wait_Req
  }
}

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
