// A shop over HTTP with JSON bodies: a basket that is filled, billed and paid. Records are JSON
// objects, numbers have any size.
enum Item { PEN, BOOK, LAMP }
record Order { item: Item, pieces: int }
record Bill { pieces: int, total: int, discount: bool }

fn price(item: Item): int = if item == PEN then 2 else if item == BOOK then 15 else 49
// From 100 on, a tenth is taken off; `/` rounds down.
fn due(total: int): int = if total >= 100 then total - total / 10 else total

system Shop {
  var pieces: int = 0, total: int = 0, last: Order = Order { item = PEN, pieces = 1 }

  input add(order: Order), bill, pay(amount: int)
  output added(order: Order, pieces: int), refused(why: string), billed(b: Bill), paid(change: int)

  initial state Open {
    ?add(order) [order.pieces >= 1 && total + order.pieces * price(order.item) != 100]
      / last := order, pieces := pieces + order.pieces, total := total + order.pieces * price(order.item) -> Adding
    // A total of just 100 is hardly met by chance: a transition of its own, so that it is tried.
    ?add(order) [order.pieces >= 1 && total + order.pieces * price(order.item) == 100]
      / last := order, pieces := pieces + order.pieces, total := 100 -> Adding
    ?add(order) [order.pieces < 1] -> Refusing
    ?bill -> Billing
    // What is due and little more is what people pay; all else is tried too.
    ?pay(amount) [amount >= due(total) && amount <= due(total) + 50] / last.pieces := amount -> Paying
    ?pay(amount) [amount < due(total)] -> Asking
  }
  state Adding   { !added(o, n) [o == last && n == pieces] -> Open }
  state Refusing { !refused(why) [why == "no pieces"] -> Open }
  state Billing  { !billed(b) [b.pieces == pieces && b.total == due(total) && b.discount == (total >= 100)] -> Open }
  state Paying   { !paid(change) [change == last.pieces - due(total)] / pieces := 0, total := 0 -> Open }
  state Asking   { !refused(why) [why == "too little"] -> Open }
}
