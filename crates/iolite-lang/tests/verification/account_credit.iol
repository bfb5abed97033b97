// An account that compares with the balance before the last withdrawal.
system S {
  var balance: int = 0, old: int = 0, asked: int = 0
  input DEPOSIT(n: int), WITHDRAW(n: int)
  output CASH(n: int), REFUSED
  initial state Open {
    ?DEPOSIT(n) [n > 0] / balance := balance + n, old := balance + n -> Open
    ?WITHDRAW(n) [n > 0] / asked := n -> Busy
  }
  state Busy {
    !CASH(n) [n == asked && asked <= old] / balance := balance - asked -> Open
    !REFUSED [asked > old] -> Open
  }
}
observer W for S {
  var paid: int = 0, out: int = 0
  initial state Ok {
    ?DEPOSIT(n) / paid := paid + n -> Ok
    !CASH(n) [out + n <= paid] / out := out + n -> Ok
    !CASH(n) [out + n > paid] -> Bad
    * -> Ok
  }
  violate state Bad
}
