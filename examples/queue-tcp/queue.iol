// A queue of at most two letters. A put on a full queue is not specified.
system Queue {
  input put_a, put_b, get
  output got_a, got_b, none

  initial state Empty { ?put_a -> A  ?put_b -> B  ?get -> Empty_get }
  state A  { ?put_a -> AA  ?put_b -> AB  ?get -> A_get }
  state B  { ?put_a -> BA  ?put_b -> BB  ?get -> B_get }
  state AA { ?get -> AA_get }
  state AB { ?get -> AB_get }
  state BA { ?get -> BA_get }
  state BB { ?get -> BB_get }

  state Empty_get { !none -> Empty }
  state A_get  { !got_a -> Empty }
  state B_get  { !got_b -> Empty }
  state AA_get { !got_a -> A }
  state AB_get { !got_a -> B }
  state BA_get { !got_b -> A }
  state BB_get { !got_b -> B }
}
