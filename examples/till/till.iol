// A till knows prices by name, weighs goods, and tells what is due: each line rounded to cents, and the tax
// of the whole. Some goods are cheaper for those who ask.
system Till {
  var prices: map<string, decimal(2)> = {"apples": 2.45, "nuts": 12.9, "salt": 0.35}
  var reduced: set<string> = {}
  var net: decimal(2) = 0
  input price(name: string, price: decimal(2)), reduce(names: set<string>), weigh(name: string, weight: decimal(3)), pay
  output line(due: decimal(2)), prices(all: map<string, decimal(2)>), total(net: decimal(2), tax: decimal(2))
  var line: decimal(2) = 0

  initial state Open {
    ?price(n, p) [n in prices && 0.01 <= p && p < 1000] / prices[n] := p -> Lists
    ?reduce(ns) [len(ns) < 3 && subset(ns, keys(prices))] / reduced := ns -> Open
    ?weigh(n, w) [n in prices && 0 < w && w <= 25.5]
      / line := round(prices[n] * w * (if n in reduced then 0.5 else 1), 2) -> Line
    ?pay -> Pays
  }
  state Lists { !prices(all) [all == prices] -> Open }
  state Line { !line(d) [d == line] / net := net + line -> Open }
  state Pays { !total(n, t) [n == net && t == n * 0.19] / net := 0 -> Open }
}
