// Candy machines [LTS96, fig. 1].
//
// The figure is not in the text; the machines are rebuilt from examples 2.5, 4.2, 4.6 and 4.10,
// which hold for them. p3 is given there as a behaviour expression.

// After a shilling the user chooses.
process p1 over { shil, liq, choc } = shil; (liq; stop [] choc; stop)

// The machine chooses, with the shilling: the traces of p1, but p2 may refuse either sweet.
process p2 over { shil, liq, choc } = shil; liq; stop [] shil; choc; stop

// Liquorice may be had until the machine silently turns to chocolate.
process p3 over { shil, liq, choc } = shil; (liq; stop [] i; choc; stop)

// Liquorice only: fewer traces than p1, and it refuses chocolate where p3 does not.
process p4 over { shil, liq, choc } = shil; liq; stop

// Chocolate only, which p3 may end up with: p5 ≤te p3.
process p5 over { shil, liq, choc } = shil; choc; stop
