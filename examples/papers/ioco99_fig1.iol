// Two systems that tell ioco from weaker relations [IOCO99, fig. 1].
//
// The figure is not in the text; the systems are rebuilt from examples 1 and 3, which hold for
// them: r1 is not ioco-correct for r2, since out(r1 after ?but·δ·?but) = {!liq, !choc} and
// out(r2 after ?but·δ·?but) = {!choc}. (The text of example 1 has lost its negation.)

system r1 {
  input but
  output liq, choc
  initial state r {
    ?but -> left
    ?but -> right
  }
  state left {
    !liq -> leaf1
    ?but -> left
  }
  // Nothing comes: a second push is needed.
  state right {
    ?but -> again
  }
  state again {
    !liq -> leaf2
    !choc -> leaf3
    ?but -> again
  }
  state leaf1 {
    ?but -> leaf1
  }
  state leaf2 {
    ?but -> leaf2
  }
  state leaf3 {
    ?but -> leaf3
  }
}

system r2 {
  input but
  output liq, choc
  initial state r {
    ?but -> left
    ?but -> right
  }
  state left {
    !liq -> leaf1
    ?but -> left
  }
  state right {
    ?but -> again
  }
  state again {
    !choc -> leaf2
    ?but -> again
  }
  state leaf1 {
    ?but -> leaf1
  }
  state leaf2 {
    ?but -> leaf2
  }
}
