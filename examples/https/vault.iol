// A vault behind a login. A cookie that was good once is none after logout.
system Vault {
  input login, guess, secret, logout
  output welcome, denied, told, forbidden, bye

  initial state Out { ?login -> Entering  ?guess -> Denying  ?secret -> Refusing  ?logout -> Refusing }
  state Entering    { !welcome -> In }
  state Denying     { !denied -> Out }
  state Refusing    { !forbidden -> Out }
  state In          { ?secret -> Telling  ?logout -> Leaving  ?login -> Entering }
  state Telling     { !told -> In }
  state Leaving     { !bye -> Out }
}
