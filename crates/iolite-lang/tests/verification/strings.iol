// A login with the right word only.
system S {
  const word: string
  var given: string = "", inside: bool = false
  input TRY(w: string), LOGOUT
  output IN, OUT
  initial state A { ?TRY(w) / given := w -> B   ?LOGOUT / inside := false -> A }
  state B { !IN [given == word] / inside := true -> A   !OUT [given != word] / inside := false -> A }
}
observer W for S {
  const word: string
  var good: bool = false
  initial state Ok {
    ?TRY(w) / good := w == word -> Ok
    !IN [!good] -> Bad
    * -> Ok
  }
  violate state Bad
}
