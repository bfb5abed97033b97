// A simple nondeterministic system [SAFE04, fig. 1].
//
// The figure is not in the text; S is rebuilt from examples 1, 3, 4 and 7, which hold for it: q3 is
// a deadlock, q1 an output-lock, q6 a livelock. Where ?a leads from q1 is not said; q2 keeps the
// property of figure 2, that between each ?a and !c there is a !b.

system S {
  input a
  output b, c
  initial state q0 {
    !b -> q1
    ?a -> q2
    ?a -> q4
  }
  state q1 {
    ?a -> q2
  }
  state q2 {
    !b -> q3
  }
  state q3
  state q4 {
    !b -> q5
  }
  state q5 {
    !c -> q6
  }
  state q6 {
    i -> q6
  }
}
