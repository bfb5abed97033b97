// Everything the grammar knows, once.
enum Colour { red, green, blue }
record Point { x: int, y: 0..7 }
type Digits = 0..9[][]
type Path = Point[]
fn far(p: Point, limit: int): bool = p.x * p.x + p.y * p.y > limit
type Shape = Dot | Circle(centre: Point, r: int) | Group(parts: Shape[])
type Size = | Small
type Weekday = Monday | Tuesday
fn area(s: Shape): int = match s { Circle(_, r) => 3 * r * r, Dot => 0, _ => let n = len(s.parts) in n + n }
fn odd(s: Shape, path: Path): bool = (s is Circle && s.r % 2 == 1) == (forall p in path: p.x in [1, 3] && (exists q in path ++ [p]: q != p))
fn initial_of(s: string): string = match (Circle { centre = Point { x = 1, y = 2 }, r = 1 }) { Dot => at(s, 0), _ => s[indexOf(s, "a")] }
fn gcd(a: int, b: int): int = if b == 0 then a else let r = (a in [b]) in gcd(b, a % b)

system Robot {
  const limit: int = 9, home: Point
  const names: string[]
  assume limit >= 1 && len(names) > 0
  var at: Point = home, path: Path = [], colour: Colour = red  // three of them

  /* labels */
  input go(to: Point), "emergency stop", reset
  output moved(to: Point, n: -3..limit - 1), error(text: string)
  internal think, "give up"

  initial state Idle {
    ?go(to) [!far(to, limit) && to != at] / at := to, path := slice(path ++ [to], 1, len(path) + 1) -> Moving
    ?reset, ?"emergency stop" -> Idle
  }
  state Moving {
    !moved(to, _) [to == at => colour == green] / path[0] := Point { x = 1, y = -2 + 3 } -> Idle
    !error(t) [matches(t, "a.*b") || prefix("x", t)] / at.x := if at.x > 0 then 0 else -at.x -> Idle
    think [(at.x + 1) * 2 - (3 - 4) == 5 % 2] -> "Thinking hard"
    i -> Idle
  }
  state "Thinking hard" {
    "give up" -> Idle
  }
}

observer NoError for Robot {
  initial state Ok {
    !error -> Bad
    delta, ?go -> Ok
    * -> Ok
  }
  violate state Bad
}

purpose Move for Robot {
  initial state Start {
    !moved -> Done
    !error -> Lost
    * -> Start
  }
  accept state Done
  refuse state Lost
}

test T {
  action a, b
  initial fail state 0 {
    a -> 1
  }
  pass state 1
}

process Left = ?a; !mid; Left [] i; stop
process Right over { ?mid, !x } = ?mid; !x; (Right [] stop)
process Deep =
  a; (b; stop ||| (c; stop || c; stop))
  [] (hide d in (d; stop))
  [] (rename e -> f in (e; stop))
system Net = hide mid in (Left |[mid]| Right)
process Cell(k: 0..3, full: bool) =
  [!full] -> ?put(k, x: 0..1); !got(k, x + 1); Cell(k = k, full = false)
  [] [full && k > 0] -> stop
process Wire over { ?put(x: 0..1), !got } = ?put(0); !got; Wire
process Ends(n: int) = exit(n, any bool) [> ?cut; exit(n + 1, true) >> accept a: int, b: bool in Gated[put, "in"](n = a, flag = b) [> stop >> exit
process Gated[put, "in"](n: int, flag: bool) = choice x: 0..3, y: bool [] (?put(x, z: int) [z > x && y]; (let w: int = n in "in"; stop) [] (let v = x in !got(v); exit))
system Row = hide got(1, 0) in (each k in 0..1 |[got(2 - 1, 0), tick]| (each j in k..2 ||| (tick; (rename put -> put(j), got(0, 1) -> "odd one" in Cell(k = k, full = true)))))
system Many = each k in 0..2 ||| Robot(limit = k + 1, home = Point { x = 0, y = 0 })

traces F for Net = { ?a.!x, eps, ?a.delta }

traces G for Net {
  initial accept state s {
    ?a -> s
  }
}

property Logged for Net = ltl G (?a -> F !x) and not (X true U false W ?a) or (Y ?a <-> O ?a S H delta)
property P1 over { a, b, c } = always a* (b* | c (c | a)* b+)
property P2 over { a, b } = ((eventually_f . a eps) and (not (P1 or (recurrently a b+)))) or (persistently @F)

property P3 over { a, b } = streett {
  initial state 1 {
    a -> 2
    b -> 5
  }
  state 2 {
    * -> 2
  }
  state 5
  pair recurrent {1, 2} persistent {}
}
