// The operating system of section 2 and its r-properties [PROP12, fig. 1, 5 and 7].
//
// The figures are not in the text; system and automata are rebuilt from section 2, examples 4, 6, 7, 9
// and 12, and the notes on states there: non-secure mode {1, 4}, secure mode {3, 5, 6}, maintenance
// {9}, waiting {2, 8}, error 7. Transitions that the text leaves open are the plainest ones that fit.
// An underscore stands for the paper's hyphen.

// Figure 1 without its error state: what the system does. It takes no input that its mode forbids.
system Os {
  input op_uns, op_sec, auth_req, logout, maintain
  output grant, deny, log, crypt, uncrypt

  initial state 1 {
    ?op_uns -> 4
    ?auth_req -> 2
  }
  state 2 {
    !deny -> 1
    !grant -> 3
  }
  state 3 {
    ?op_sec -> 5
    ?logout -> 1
    ?maintain -> 8
  }
  state 4 {
    !uncrypt -> 1
  }
  state 5 {
    !log -> 6
  }
  state 6 {
    !crypt -> 3
  }
  state 8 {
    !grant -> 9
    !deny -> 3
  }
  state 9 {
    ?op_uns, ?op_sec, ?auth_req, ?logout, ?maintain -> 9
  }
}

// Figure 5. Denying for ever is excluded: 2 is neither recurrent nor persistent.
property Op for Os = streett {
  initial state 1 {
    ?op_uns -> 4
    ?auth_req -> 2
    * -> 7
  }
  state 2 {
    !deny -> 1
    !grant -> 3
    * -> 7
  }
  state 3 {
    ?op_sec -> 5
    ?logout -> 1
    ?maintain -> 8
    * -> 7
  }
  state 4 {
    !uncrypt -> 1
    * -> 7
  }
  state 5 {
    !log -> 6
    * -> 7
  }
  state 6 {
    !crypt -> 3
    * -> 7
  }
  state 7 {
    * -> 7
  }
  state 8 {
    !grant -> 9
    !deny -> 3
    * -> 7
  }
  state 9 {
    * -> 9
  }
  pair recurrent {3, 9} persistent {1, 4}
}

// Figure 7a: secure operations are not allowed in the non-secure mode.
property Op1 for Os = streett {
  initial state 1 {
    ?op_uns -> 4
    ?auth_req -> 2
    ?op_sec, !crypt -> 7
    * -> 1
  }
  state 2 {
    !deny -> 1
    !grant -> 3
    ?op_sec -> 7
    * -> 2
  }
  state 3 {
    ?logout -> 1
    * -> 3
  }
  state 4 {
    !uncrypt -> 1
    !crypt, ?op_sec -> 7
    * -> 4
  }
  state 7 {
    * -> 7
  }
  pair recurrent {} persistent {1, 2, 3, 4}
}

// Figure 7c: the maintenance mode is accessible from the secure mode.
property Op2 for Os = streett {
  initial state 1 {
    ?auth_req -> 2
    ?maintain -> 7
    * -> 1
  }
  state 2 {
    !grant -> 3
    !deny -> 1
    * -> 2
  }
  state 3 {
    ?maintain -> 8
    ?logout -> 1
    * -> 3
  }
  state 8 {
    !grant -> 9
    !deny -> 3
    * -> 8
  }
  state 9 {
    * -> 9
  }
  state 7 {
    * -> 7
  }
  pair recurrent {9} persistent {}
}

// Figure 7b: secure operations are not allowed in the non-secure mode, or the maintenance mode is
// called when no operation is ongoing.
property Op3 for Os = streett {
  initial state 1 {
    ?op_uns -> 4
    ?op_sec -> 5
    ?maintain -> 9
    * -> 1
  }
  state 4 {
    !uncrypt -> 1
    ?op_sec, ?maintain -> 7
    * -> 4
  }
  state 5 {
    !log -> 6
    ?maintain -> 7
    * -> 5
  }
  state 6 {
    ?maintain -> 9
    ?op_sec -> 5
    * -> 6
  }
  state 9 {
    * -> 9
  }
  state 7 {
    * -> 7
  }
  pair recurrent {9} persistent {1, 4}
}

// Figure 7d: each secure operation is logged, before the next one.
property Op4 for Os = streett {
  initial state 1 {
    ?op_sec -> 2
    * -> 1
  }
  state 2 {
    !log -> 1
    ?op_sec -> 7
    * -> 2
  }
  state 7 {
    * -> 7
  }
  pair recurrent {1} persistent {}
}

// Figure 7e: in the end the user is disconnected for good.
property Op5 for Os = streett {
  initial state 1 {
    !grant -> 3
    * -> 1
  }
  state 3 {
    ?logout -> 1
    * -> 3
  }
  pair recurrent {} persistent {1}
}
