// The control connection of an FTP server (RFC 959, §5.4): PASS comes right after USER, RNTO right after RNFR.
system Ftp {
  input user, pass, wrong, feat, pwd, rnfr, rnto
  output greeting, password, welcome, denied, features, directory, to_what, renamed, out_of_order, log_in

  initial state Connected { !greeting -> Out }
  state Out      { ?user -> User  ?pass -> Early  ?feat -> Feat_out  ?pwd -> Shut  ?rnto -> Shut }
  state User     { !password -> Known }
  state Known    { ?pass -> Pass  ?wrong -> Wrong  ?user -> User }
  state Pass     { !welcome -> In }
  state Wrong    { !denied -> Out }
  state Early    { !out_of_order -> Out }
  state Feat_out { !features -> Out }
  state Shut     { !log_in -> Out }
  state In       { ?pwd -> Pwd  ?feat -> Feat  ?rnfr -> Rnfr  ?rnto -> Lost  ?user -> User }
  state Pwd      { !directory -> In }
  state Feat     { !features -> In }
  state Lost     { !out_of_order -> In }
  state Rnfr     { !to_what -> From }
  state From     { ?rnto -> Rnto  ?pwd -> Pwd }
  state Rnto     { !renamed -> In }
}
