// A list and a counter of a Redis server, with data: what was pushed comes out in the same order, and
// the counter counts. The server is not ours, so the model is what its documentation promises.
system Redis {
  var list: string[] = [], counter: int = 0, counted: bool = false

  input  lpush(v: string), rpop, llen, incrby(k: int), get
  output number(k: int), nil, text(v: string), count(k: int)

  initial state Ready {
    ?lpush(v) [matches(v, "[a-z]{1,6}")] / list := [v] ++ list       -> Length
    ?llen                                                            -> Length
    ?rpop                                                            -> Popped
    ?incrby(k) [-1000000 < k && k < 1000000]
      / counter := counter + k, counted := true                      -> Counted
    ?get                                                             -> Asked
  }
  state Length  { !number(k) [k == len(list)] -> Ready }
  state Counted { !number(k) [k == counter]   -> Ready }
  state Popped {
    !nil [len(list) == 0] -> Ready
    !text(v) [len(list) > 0 && v == list[len(list) - 1]] / list := slice(list, 0, len(list) - 1) -> Ready
  }
  state Asked {
    !nil [!counted]                    -> Ready
    !count(k) [counted && k == counter] -> Ready
  }
}

// Publish and subscribe: one client subscribes, another publishes. The message and the number of its
// receivers come over two connections, so nobody knows which was sent first.
system PubSub {
  var last: int = 0

  input  subscribe, unsubscribe, publish(n: int)
  output subscribed, unsubscribed, receivers(k: int), message(n: int)

  initial state Off {
    ?subscribe                      -> Subscribing
    ?publish(n) [0 <= n && n <= 99] -> Nobody
  }
  state Nobody        { !receivers(k) [k == 0] -> Off }
  state Subscribing   { !subscribed -> On }
  state On {
    ?publish(n) [0 <= n && n <= 99] / last := n -> Published
    ?unsubscribe                                -> Unsubscribing
  }
  state Published {
    !receivers(k) [k == 1]  -> Delivering
    !message(n) [n == last] -> Delivered
  }
  state Delivering    { !message(n) [n == last] -> On }
  state Delivered     { !receivers(k) [k == 1]  -> On }
  state Unsubscribing { !unsubscribed -> Off }
}
