// Customers and their orders are entered, and each change is reported sooner or later. Reports may lag
// behind: the desk hands them to a buffer when it likes, and the buffer gives them out in order.
type Fax = NoFax | FaxNumber(value: string)
type Shipped = NotYet | On(day: int)
record Address { street: string, city: string, region: string, code: string, country: string }
record Customer { company: string, contact: string, title: string, phone: string, fax: Fax, address: Address, id: int }
record Shipping { via: int, freight: int, name: string, address: Address, shipped: Shipped }
record Order { customer: int, employee: int, ordered: int, required: int, shipping: Shipping }
record Report { customers: Customer[], orders: Order[] }
type Reports = None | Some(first: Report, rest: Reports)

fn isText(s: string): bool = matches(s, "[A-Z]*")
fn isFax(f: Fax): bool = match f { NoFax => true, FaxNumber(value) => isText(value) }
fn isAddress(a: Address): bool =
  isText(a.street) && isText(a.city) && isText(a.region) && isText(a.code) && isText(a.country)
fn isCustomer(c: Customer): bool =
  isText(c.company) && isText(c.contact) && isText(c.title) && isText(c.phone) && isFax(c.fax)
    && isAddress(c.address) && 0 <= c.id && c.id <= 18446744073709551615
fn isShipping(s: Shipping): bool = isText(s.name) && isAddress(s.address)
fn isOrder(o: Order): bool =
  0 <= o.customer && 0 <= o.employee && o.employee <= 4294967295 && isShipping(o.shipping)
    && o.required > o.ordered
    && match o.shipping.shipped { NotYet => true, On(day) => day >= o.ordered }

fn isKnown(id: int, customers: Customer[]): bool = exists known in customers: known.id == id
fn add(r: Report, queue: Reports): Reports = match queue { None => Some(r, None), Some(first, rest) => Some(first, add(r, rest)) }

system Desk {
  var customers: Customer[] = [], orders: Order[] = [], changed: bool = true
  input customer(c: Customer), order(o: Order)
  output hand(r: Report)

  initial state Open {
    ?customer(c) [isCustomer(c) && !isKnown(c.id, customers)] / customers := [c] ++ customers, changed := true -> Open
    ?order(o) [isOrder(o) && isKnown(o.customer, customers)] / orders := [o] ++ orders, changed := true -> Open
    !hand(r) [changed && r == Report { customers = customers, orders = orders }] / changed := false -> Open
  }
}

system Buffer {
  var queue: Reports = None
  input hand(r: Report)
  output report(r: Report)

  initial state Open {
    ?hand(r) / queue := add(r, queue) -> Open
    !report(r) [queue is Some && r == queue.first] / queue := queue.rest -> Open
  }
}

system Orders = hide hand in (Desk |[hand]| Buffer)
