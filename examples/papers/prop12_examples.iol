// The r-properties of examples 1 to 3 [PROP12, fig. 4 and 14b].
//
// The figures are not in the text; the automata are rebuilt from examples 2, 5, 7, 8 and 11 and from
// the XML of figure 18. Pi2's sink is called 4 in examples 5 and 7 and 5 in example 8.
property Psi1_A over { a, b, c } = always a* (b* | c (c | a)* b+)
property Psi1_R over { a, b, c } = recurrently a* (b* | c (c | a)* b+)
property Psi2_E over { a, b } = eventually (a b)+
property Psi2_R over { a, b } = recurrently (a b)+

// Figure 4a: safety, A of the first language.
property Pi1 over { a, b, c } = streett {
  initial state 1 {
    a -> 1
    b -> 2
    c -> 3
  }
  state 2 {
    b -> 2
    * -> 3
  }
  state 3 {
    * -> 3
  }
  pair recurrent {} persistent {1, 2}
}

// Figure 4b: guarantee, E of the second language.
property Pi2 over { a, b } = streett {
  initial state 1 {
    a -> 2
    * -> 5
  }
  state 2 {
    b -> 3
    * -> 5
  }
  state 3 {
    * -> 3
  }
  state 5 {
    * -> 5
  }
  pair recurrent {3} persistent {}
}

// Figure 4c: response, R of the second language.
property Pi3 over { a, b } = streett {
  initial state 1 {
    a -> 2
    * -> 5
  }
  state 2 {
    b -> 3
    * -> 5
  }
  state 3 {
    a -> 4
    * -> 5
  }
  state 4 {
    b -> 3
    * -> 5
  }
  state 5 {
    * -> 5
  }
  pair recurrent {3} persistent {}
}

// Figure 14b: a response property that only quiescence makes testable.
property Pi4 over { ?a, !b } = ltl G (?a -> F !b)
