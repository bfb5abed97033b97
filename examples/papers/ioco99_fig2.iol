// A test case derived from r2 of figure 1 [IOCO99, fig. 2]; `delta` stands for θ.
//
// The figure is not in the text; the test case is rebuilt from examples 3, 4 and 5: r1 fails it by
// ?but·θ·?but·!liq, r2 passes it. Only terminal states have verdicts in the paper; the states
// before them are marked fail, as nothing may stop there: an output or θ is always observed.

test t {
  input but
  output liq, choc
  initial fail state t0 {
    ?but -> t1
  }
  fail state t1 {
    !liq -> pass1
    !choc -> fail1
    delta -> t2
  }
  fail state t2 {
    ?but -> t3
  }
  fail state t3 {
    !liq -> fail2
    !choc -> t4
    delta -> fail3
  }
  fail state t4 {
    !liq -> fail4
    !choc -> fail5
    delta -> pass2
  }
  pass state pass1
  pass state pass2
  fail state fail1
  fail state fail2
  fail state fail3
  fail state fail4
  fail state fail5
}
