// The observer of "between each ?a and !c there is at least one !b" [SAFE04, fig. 2].
//
// The figure is not in the text; ω is rebuilt from example 2. It watches S of figure 1, and figure 4.

observer ω {
  initial state q0 {
    ?a -> q1
    * -> q0
  }
  state q1 {
    !b -> q0
    !c -> Violate
    * -> q1
  }
  violate state Violate
}
