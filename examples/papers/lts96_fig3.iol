// Candy machines with inputs and outputs [LTS96, fig. 3].
//
// The figure is not in the text; the machines are rebuilt from examples 5.2, 6.4, 6.7 and 6.11,
// which hold for them. The paper's but_in is ?but here, liq_out is !liq, choc_out is !choc. Inputs
// that change nothing are self-loops, so each machine is input-enabled.

system q1 {
  input but
  output liq, choc
  initial state q {
    ?but -> q'
  }
  state q' {
    !liq -> q''
    ?but -> q'
  }
  state q'' {
    ?but -> q''
  }
}

// The machine chooses what comes.
system q2 {
  input but
  output liq, choc
  initial state q {
    ?but -> q'
  }
  state q' {
    !liq -> q''
    !choc -> q'''
    ?but -> q'
  }
  state q'' {
    ?but -> q''
  }
  state q''' {
    ?but -> q'''
  }
}

// After one push liquorice may come, or nothing at all: s2 can refuse all outputs.
system q3 {
  input but
  output liq, choc
  initial state s0 {
    ?but -> s1
    ?but -> s2
  }
  state s1 {
    !liq -> s3
    ?but -> s1
  }
  state s2 {
    ?but -> s2
  }
  state s3 {
    ?but -> s3
  }
}
