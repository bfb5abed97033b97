// A bank account without credit.
system S {
  var balance: int = 0, asked: int = 0
  input DEPOSIT(n: int), WITHDRAW(n: int)
  output CASH(n: int), REFUSED, BALANCE(n: int)
  initial state Open {
    ?DEPOSIT(n) [n > 0] / balance := balance + n -> Open
    ?WITHDRAW(n) [n > 0] / asked := n -> Busy
    !BALANCE(n) [n == balance] -> Open
  }
  state Busy {
    !CASH(n) [n == asked && asked <= balance] / balance := balance - asked -> Open
    !REFUSED [asked > balance] -> Open
  }
}
observer W for S {
  initial state Ok { !BALANCE(n) [n < 0] -> Bad   * -> Ok }
  violate state Bad
}
