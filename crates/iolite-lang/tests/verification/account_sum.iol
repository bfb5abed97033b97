// The observer keeps its own book: what is paid out was paid in.
system S {
  var balance: int = 0, asked: int = 0
  input DEPOSIT(n: int), WITHDRAW(n: int)
  output CASH(n: int), REFUSED
  initial state Open {
    ?DEPOSIT(n) [n > 0] / balance := balance + n -> Open
    ?WITHDRAW(n) [n > 0] / asked := n -> Busy
  }
  state Busy {
    !CASH(n) [n == asked && asked <= balance] / balance := balance - asked -> Open
    !REFUSED [asked > balance] -> Open
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
