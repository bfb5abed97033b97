// Two implementations for S of figure 1 [SAFE04, fig. 4].
//
// The figure shows their suspension IOLTS and is not in the text; they are rebuilt from examples 5,
// 6, 8 and 10, which hold for them.

// It accepts ?a and says nothing: not ioco-correct, since S is not quiescent at first.
system I1 {
  input a
  output b, c
  initial state i0 {
    ?a -> i0
  }
}

// ioco-correct: it leaves S with a second ?a in line, and then does the !c that breaks the property.
system I2 {
  input a
  output b, c
  initial state i0 {
    !b -> i1
    ?a -> i2
  }
  state i1 {
    ?a -> i2
  }
  state i2 {
    !b -> i3
    ?a -> i4
  }
  state i3 {
    ?a -> i3
  }
  state i4 {
    !c -> i5
    ?a -> i4
  }
  state i5 {
    ?a -> i5
  }
}
