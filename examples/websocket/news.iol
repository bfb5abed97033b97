// News that come by themselves, as long as one is subscribed. News may cross the wish to leave.
system News {
  input subscribe, leave
  output hello, news, bye

  initial state Idle { ?subscribe -> Greeting }
  state Greeting     { !hello -> Subscribed }
  state Subscribed   { !news -> Subscribed  ?leave -> Leaving }
  state Leaving      { !news -> Leaving  !bye -> Idle }
}
