// Test cases for candy machines [LTS96, fig. 2].
//
// The figure is not in the text; the test cases are rebuilt from examples 3.3 and 4.13. A test run
// ends in deadlock, so a state is marked fail where the machine must not refuse what is offered.

// p1 passes t1; p3 fails it, since its run `shil` may end before the liquorice.
test t1 {
  action shil, liq, choc
  initial fail state t {
    shil -> t'
  }
  fail state t' {
    liq -> t''
  }
  pass state t''
}

// Derived from p3 with A = {choc} after the shilling.
test t2 {
  action shil, liq, choc
  initial fail state t {
    shil -> t'
  }
  fail state t' {
    choc -> t''
  }
  pass state t''
}

// Derived from p3 with A = {liq, choc} after the shilling.
test t3 {
  action shil, liq, choc
  initial fail state t {
    shil -> t'
  }
  fail state t' {
    liq -> t''
    choc -> t'''
  }
  pass state t''
  pass state t'''
}

// Derived from p3 with A = ∅ after the shilling.
test t4 {
  action shil, liq, choc
  initial fail state t {
    shil -> t'
  }
  pass state t'
}
