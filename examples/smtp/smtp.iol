// The dialogue of a mail server (RFC 5321, §4.1), without QUIT. A recipient needs a sender, a text a recipient.
system Smtp {
  input ehlo, mail, rcpt, data, body, rset
  output greeting, extensions, ok, go, queued, out_of_order

  initial state Connected { !greeting -> Start }
  state Start      { ?ehlo -> Hello  ?rset -> Reset }
  state Hello      { !extensions -> Ready }
  state Ready      { ?mail -> Mail  ?rcpt -> Early  ?data -> Early  ?rset -> Reset_ready }
  state Early      { !out_of_order -> Ready }
  state Reset      { !ok -> Start }
  state Reset_ready { !ok -> Ready }
  state Mail       { !ok -> Sender }
  state Sender     { ?rcpt -> Rcpt  ?data -> Early_data  ?rset -> Reset_ready }
  state Early_data { !out_of_order -> Sender }
  state Rcpt       { !ok -> Recipient }
  state Recipient  { ?data -> Data  ?rset -> Reset_ready }
  state Data       { !go -> Text }
  state Text       { ?body -> Sent }
  state Sent       { !queued -> Ready }
}
