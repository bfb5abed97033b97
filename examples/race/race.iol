// A controller that ticks once by itself and can be asked for its state. A question that comes while
// the tick is under way is answered after it.
system Controller {
  input  ask
  output tick, ok, late

  initial state Idle {
    !tick -> Ticked
    ?ask  -> Asked
  }
  state Asked  { !ok -> Idle }
  state Ticked { ?ask -> Late }
  state Late   { !late -> Quiet }
  state Quiet  { ?ask -> Late }
}
