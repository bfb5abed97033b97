// A turnstile: a coin unlocks it for one push. A coin that is not needed comes back.
//
// Replace this by your own system: its inputs (what a test may do), its outputs (what can be seen of it),
// and the states between them. What a state does not mention as an input is left open, what it does not
// mention as an output is forbidden there.
system Turnstile {
  input coin, push
  output unlocked, passed, returned, refused

  initial state Locked {
    ?coin -> Paid
    ?push -> Refusing
  }
  state Paid {
    !unlocked -> Unlocked
  }
  state Refusing {
    !refused -> Locked
  }
  state Unlocked {
    ?push -> Passing
    ?coin -> Returning
  }
  state Passing {
    !passed -> Locked
  }
  state Returning {
    !returned -> Unlocked
  }
}
