// An input-output test case, derived from s1 of figure 5 [LTS96, fig. 6].
//
// The figure is not in the text; the test case is rebuilt from examples 7.2 and 7.5: q1 of figure 3
// passes it, q2 and q3 fail it.

test t {
  input but
  output liq, choc
  initial pass state t0 {
    ?but -> t1
  }
  // Silence is wrong here: s1 must produce liquorice.
  fail state t1 {
    !liq -> t2
    !choc -> t3
  }
  pass state t2 {
    !liq -> t4
    !choc -> t5
  }
  fail state t3
  fail state t4
  fail state t5
}
