// A service with a login. The secret is for those who are logged in.
system Session {
  input login, logout, secret
  output welcome, bye, told, forbidden

  initial state Out { ?login -> Entering  ?secret -> Refusing  ?logout -> Refusing }
  state Entering    { !welcome -> In }
  state Refusing    { !forbidden -> Out }
  state In          { ?secret -> Telling  ?logout -> Leaving  ?login -> Entering }
  state Telling     { !told -> In }
  state Leaving     { !bye -> Out }
}
