// A candy machine. A shilling buys liquorice. A dubbeltje buys chocolate, or two liquorices where
// the chocolate has run out, which nobody outside can see: the model leaves both open.
system Candy {
  input shil, dub
  output liq, choc

  initial state Ready {
    ?shil -> Shilling
    ?dub  -> Dubbeltje
  }
  state Shilling {
    !liq -> Ready
  }
  state Dubbeltje {
    !choc -> Ready
    !liq  -> Shilling
  }
}
