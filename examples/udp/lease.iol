// A lease that one client can hold. To ask for what one holds is denied.
system Lease {
  input ask, free
  output granted, denied, freed

  initial state Free { ?ask -> Granting  ?free -> Denying_free }
  state Granting     { !granted -> Held }
  state Held         { ?ask -> Denying  ?free -> Freeing }
  state Denying      { !denied -> Held }
  state Denying_free { !denied -> Free }
  state Freeing      { !freed -> Free }
}
