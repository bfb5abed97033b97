// Two specifications that are not input-enabled [LTS96, fig. 5].
//
// The figure is not in the text; the specifications are rebuilt from examples 6.7, 6.11 and 7.5,
// which hold for them. What happens on a second push is left open.

// After one push liquorice must come.
process s1 over { ?but, !liq, !choc } = ?but; !liq; stop

// After one push liquorice or chocolate must come.
process s2 over { ?but, !liq, !choc } = ?but; (!liq; stop [] !choc; stop)
