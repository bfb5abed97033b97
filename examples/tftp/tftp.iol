// Reading a file of two blocks (RFC 1350). The server answers each request from a port of its own.
system Tftp {
  input read, ack1, ack2
  output block1, block2

  initial state Idle { ?read -> First }
  state First  { !block1 -> Got_first }
  state Got_first { ?ack1 -> Second }
  state Second { !block2 -> Got_second }
  state Got_second { ?ack2 -> Done }
  state Done { }
}
