//! Small programs with data whose answers are known.
#![allow(dead_code, unreachable_pub, missing_docs)]

/// Declarations, then transitions of one state that answers each input `go(n)`; the last transition of
/// each program is `!bad` under a condition, and the property is that it never happens.
pub struct Program {
    pub name: &'static str,
    pub declared: &'static str,
    pub body: &'static str,
    pub holds: bool,
}

macro_rules! programs {
    ($($name:ident: $holds:literal, $declared:literal, $body:literal;)*) => {
        &[$(Program {
            name: stringify!($name),
            declared: $declared,
            body: $body,
            holds: $holds,
        }),*]
    };
}

pub const PROGRAMS: &[Program] = programs! {
    unbounded_counter: true, "var x: int = 0",
        "state S { ?go(n) / x := x + 1 -> S  !bad [x < 0] -> S }";
    counter_overflows: false, "var x: int = 0",
        "state S { ?go(n) / x := x + 1 -> S  !bad [x > 6] -> S }";
    equal_counters: true, "var x: int = 0, y: int = 0",
        "state S { ?go(n) / x := x + n, y := y + n -> S  !bad [x != y] -> S }";
    drifting_counters: false, "var x: int = 0, y: int = 0",
        "state S { ?go(n) / x := x + n, y := y + 1 -> S  !bad [x > y + 3] -> S }";
    parity: true, "var x: int = 0",
        "state S { ?go(n) / x := x + 2 -> S  !bad [x == 7] -> S }";
    parity_by_remainder: true, "var x: int = 0",
        "state S { ?go(n) / x := x + 2 -> S  !bad [x % 2 == 1] -> S }";
    wrong_parity: false, "var x: int = 0",
        "state S { ?go(n) / x := x + 3 -> S  !bad [x % 2 == 1] -> S }";
    bank_account: true, "var balance: int = 0",
        "state S { ?go(n) [n > 0] / balance := balance + n -> S
                   ?take(n) [n > 0 && n <= balance] / balance := balance - n -> S
                   !bad [balance < 0] -> S }";
    overdraft: false, "var balance: int = 0",
        "state S { ?go(n) [n > 0] / balance := balance + n -> S
                   ?take(n) [n > 0] / balance := balance - n -> S
                   !bad [balance < 0] -> S }";
    two_accounts: true, "var a: int = 10, b: int = 0",
        "state S { ?go(n) [n >= 0 && n <= a] / a := a - n, b := b + n -> S
                   ?take(n) [n >= 0 && n <= b] / b := b - n, a := a + n -> S
                   !bad [a + b != 10] -> S }";
    two_accounts_leak: false, "var a: int = 10, b: int = 0",
        "state S { ?go(n) [n >= 0 && n <= a] / a := a - n, b := b + n + 1 -> S
                   !bad [a + b > 12] -> S }";
    bounded_by_constant: true, "const max: int  assume max >= 0  var x: int = 0",
        "state S { ?go(n) [x < max] / x := x + 1 -> S  !bad [x > max] -> S }";
    bound_may_be_negative: false, "const max: int  var x: int = 0",
        "state S { ?go(n) [x < max] / x := x + 1 -> S  !bad [x > max] -> S }";
    large_bound: true, "var x: int = 0",
        "state S { ?go(n) [x < 1000000] / x := x + 1 -> S  !bad [x > 1000000] -> S }";
    large_deep_violation: false, "var x: int = 0",
        "state S { ?go(n) [n <= 1000000] / x := x + n -> S  !bad [x == 999999] -> S }";
    two_phases: true, "var x: int = 0, y: int = 0",
        "state S { ?go(n) / x := x + 1 -> S  ?take(n) -> T  !bad [y > x] -> S }
         state T { ?go(n) [y < x] / y := y + 1 -> T  !bad [y > x] -> T }";
    gcd: true, "const a: int  const b: int  assume a >= 1 && b >= 1  var x: int = a, y: int = b",
        "state S { ?go(n) [x > y] / x := x - y -> S  ?take(n) [y > x] / y := y - x -> S
                   !bad [x <= 0 || y <= 0] -> S }";
    half: true, "var x: int = 0, y: int = 0",
        "state S { ?go(n) / x := x + 2, y := y + 1 -> S  !bad [x != 2 * y] -> S }";
    weighted: true, "var x: int = 0, y: int = 0, z: int = 0",
        "state S { ?go(n) / x := x + 1, z := z + 3 -> S  ?take(n) / y := y + 1, z := z + 2 -> S
                   !bad [z != 3 * x + 2 * y] -> S }";
    difference_bounded: true, "var x: int = 0, y: int = 0",
        "state S { ?go(n) [x - y < 5] / x := x + 1 -> S  ?take(n) [y - x < 5] / y := y + 1 -> S
                   !bad [x - y > 5 || y - x > 5] -> S }";
    difference_unbounded: false, "var x: int = 0, y: int = 0",
        "state S { ?go(n) [x - y <= 5] / x := x + 1 -> S  ?take(n) / y := y + 1 -> S
                   !bad [x - y > 5] -> S }";
    mutual_exclusion: true, "var inside: int = 0, one: bool = false, two: bool = false",
        "state S { ?go(n) [inside == 0 && !one] / inside := inside + 1, one := true -> S
                   ?take(n) [inside == 0 && !two] / inside := inside + 1, two := true -> S
                   ?off(n) [one] / inside := inside - 1, one := false -> S
                   ?out(n) [two] / inside := inside - 1, two := false -> S
                   !bad [one && two] -> S }";
    no_exclusion: false, "var inside: int = 0, one: bool = false, two: bool = false",
        "state S { ?go(n) [inside <= 1 && !one] / inside := inside + 1, one := true -> S
                   ?take(n) [inside <= 1 && !two] / inside := inside + 1, two := true -> S
                   !bad [one && two] -> S }";
    ticket_lock: true, "var next: int = 0, serving: int = 0, inside: int = 0",
        "state S { ?go(n) / next := next + 1 -> S
                   ?take(n) [serving < next && inside == 0] / inside := 1 -> S
                   ?off(n) [inside == 1] / inside := 0, serving := serving + 1 -> S
                   !bad [serving > next] -> S }";
    queue_length: true, "const size: int  assume size >= 1  var first: int = 0, last: int = 0",
        "state S { ?go(n) [last - first < size] / last := last + 1 -> S
                   ?take(n) [first < last] / first := first + 1 -> S
                   !bad [last - first > size || first > last] -> S }";
    queue_reads_empty: false, "var first: int = 0, last: int = 0",
        "state S { ?go(n) / last := last + 1 -> S  ?take(n) [first <= last] / first := first + 1 -> S
                   !bad [first > last] -> S }";
    retransmission: true, "const max: int  assume max >= 1  var rn: int = 0",
        "state S { ?go(n) [rn < max] / rn := rn + 1 -> S  ?take(n) / rn := 0 -> S
                   !bad [rn > max] -> S }";
    saturating: true, "var x: int = 0",
        "state S { ?go(n) [x < 10] / x := x + 3 -> S  ?take(n) [x >= 10] / x := 0 -> S
                   !bad [x > 12] -> S }";
    saturating_wrongly: false, "var x: int = 0",
        "state S { ?go(n) [x < 10] / x := x + 3 -> S  !bad [x == 12] -> S }";
    modes: true, "var on: bool = false, x: int = 0",
        "state S { ?go(n) [!on] / on := true, x := 5 -> S  ?take(n) [on] / on := false, x := 0 -> S
                   !bad [on && x != 5] -> S }";
    modes_mixed: false, "var on: bool = false, x: int = 0",
        "state S { ?go(n) [!on] / on := true, x := n -> S  ?take(n) [on] / on := false, x := 0 -> S
                   !bad [on && x == -4] -> S }";
    clock_and_delay: true, "var clock: int = 0, since: int = 0",
        "state S { ?go(n) [clock - since < 3] / clock := clock + 1 -> S  ?take(n) / since := clock -> S
                   !bad [clock - since > 3] -> S }";
    nested_loops: true, "var i: int = 0, j: int = 0",
        "state S { ?go(n) [i < 20] / j := 0 -> T  !bad [i > 20] -> S }
         state T { ?go(n) [j < 20] / j := j + 1 -> T  ?take(n) [j >= 20] / i := i + 1 -> S
                   !bad [j > 20] -> T }";
    down_and_up: true, "const k: int  assume k >= 0  var x: int = k, y: int = 0",
        "state S { ?go(n) [x > 0] / x := x - 1, y := y + 1 -> S  !bad [x + y != k] -> S }";
    leader: true, "const a: int  const b: int  const c: int  var m: int = a",
        "state S { ?go(n) [b > m] / m := b -> S  ?take(n) [c > m] / m := c -> S  !bad [m < a] -> S }";
    combination_lock: false, "var step: int = 0",
        "state S { ?go(n) [step == 0 && n == 17] / step := 1 -> S
                   ?go(n) [step == 1 && n == 4242] / step := 2 -> S
                   ?go(n) [step == 2 && n == -1] / step := 3 -> S
                   !bad [step == 3] -> S }";
    input_bounds: true, "var x: int = 0",
        "state S { ?go(n) [n >= 1 && n <= 9] / x := n -> S  !bad [x > 9 || x < 0] -> S }";
    phases_in_one_place: true, "var x: int = 0, y: int = 0",
        "state S { ?go(n) [x < 50] / x := x + 1 -> S
                   ?go(n) [x >= 50 && x < 100] / x := x + 1, y := y + 1 -> S
                   !bad [x == 100 && y != 50] -> S }";
    symbolic_phases: true, "const k: int  assume k >= 1  var x: int = 0, y: int = 0",
        "state S { ?go(n) [x < k] / x := x + 1 -> S
                   ?go(n) [x >= k && x < 2 * k] / x := x + 1, y := y + 1 -> S
                   !bad [x == 2 * k && y != k] -> S }";
    up_and_down: true, "const k: int  assume k >= 0  var x: int = 0, y: int = 0",
        "state S { ?go(n) [x < k] / x := x + 1, y := y + 1 -> S  ?take(n) -> T }
         state T { ?go(n) [x > 0] / x := x - 1, y := y - 1 -> T  !bad [x == 0 && y != 0] -> T }";
    up_and_down_too_far: false, "const k: int  assume k >= 0  var x: int = 0, y: int = 0",
        "state S { ?go(n) [x < k] / x := x + 1, y := y + 1 -> S  ?take(n) -> T }
         state T { ?go(n) [x >= 0] / x := x - 1, y := y - 1 -> T  !bad [y < 0] -> T }";
    sum_of_numbers: true, "var i: int = 0, s: int = 0",
        "state S { ?go(n) / s := s + i, i := i + 1 -> S  !bad [s < 0 || s + 1 < i] -> S }";
    lossy_channel: true, "var sent: int = 0, got: int = 0, lost: int = 0",
        "state S { ?go(n) / sent := sent + 1 -> S
                   ?take(n) [got + lost < sent] / got := got + 1 -> S
                   ?off(n) [got + lost < sent] / lost := lost + 1 -> S
                   !bad [got > sent] -> S }";
    duplicating_channel: false, "var sent: int = 0, got: int = 0",
        "state S { ?go(n) / sent := sent + 1 -> S  ?take(n) [sent > 0] / got := got + 1 -> S
                   !bad [got > sent + 2] -> S }";
    sliding_window: true, "const w: int  assume w >= 1  var base: int = 0, next: int = 0",
        "state S { ?go(n) [next < base + w] / next := next + 1 -> S
                   ?take(n) [n > base && n <= next] / base := n -> S
                   !bad [next > base + w || base > next] -> S }";
    stack_height: true, "const size: int  assume size >= 1  var top: int = 0",
        "state S { ?go(n) [top < size] / top := top + 1 -> S  ?take(n) [top > 0] / top := top - 1 -> S
                   ?off(n) / top := 0 -> S  !bad [top < 0 || top > size] -> S }";
    readers_and_writer: true, "var readers: int = 0, writing: bool = false",
        "state S { ?go(n) [!writing] / readers := readers + 1 -> S
                   ?take(n) [readers > 0] / readers := readers - 1 -> S
                   ?off(n) [readers == 0 && !writing] / writing := true -> S
                   ?out(n) [writing] / writing := false -> S
                   !bad [writing && readers != 0] -> S }";
    readers_and_hasty_writer: false, "var readers: int = 0, writing: bool = false",
        "state S { ?go(n) [!writing] / readers := readers + 1 -> S
                   ?take(n) [readers > 0] / readers := readers - 1 -> S
                   ?off(n) [readers <= 1 && !writing] / writing := true -> S
                   !bad [writing && readers != 0] -> S }";
    peterson: true, "var one: 0..2 = 0, two: 0..2 = 0, turn: 1..2 = 1",
        "state S { ?go(n) [one == 0] / one := 1, turn := 2 -> S
                   ?go(n) [one == 1 && (two == 0 || turn == 1)] / one := 2 -> S
                   ?go(n) [one == 2] / one := 0 -> S
                   ?take(n) [two == 0] / two := 1, turn := 1 -> S
                   ?take(n) [two == 1 && (one == 0 || turn == 2)] / two := 2 -> S
                   ?take(n) [two == 2] / two := 0 -> S
                   !bad [one == 2 && two == 2] -> S }";
    bakery: true, "var one: 0..2 = 0, two: 0..2 = 0, a: int = 0, b: int = 0",
        "state S { ?go(n) [one == 0] / one := 1, a := b + 1 -> S
                   ?go(n) [one == 1 && (b == 0 || a <= b)] / one := 2 -> S
                   ?go(n) [one == 2] / one := 0, a := 0 -> S
                   ?take(n) [two == 0] / two := 1, b := a + 1 -> S
                   ?take(n) [two == 1 && (a == 0 || b < a)] / two := 2 -> S
                   ?take(n) [two == 2] / two := 0, b := 0 -> S
                   !bad [one == 2 && two == 2] -> S }";
    bakery_without_order: false, "var one: 0..2 = 0, two: 0..2 = 0, a: int = 0, b: int = 0",
        "state S { ?go(n) [one == 0] / one := 1, a := b + 1 -> S
                   ?go(n) [one == 1 && (b == 0 || a <= b)] / one := 2 -> S
                   ?take(n) [two == 0] / two := 1, b := a + 1 -> S
                   ?take(n) [two == 1 && b >= a] / two := 2 -> S
                   !bad [one == 2 && two == 2] -> S }";
    fischer: true, "const a: int  const b: int  assume 0 <= a && a < b
                    var lock: 0..2 = 0, one: 0..3 = 0, two: 0..3 = 0, x: int = 0, y: int = 0",
        "state S { ?go(n) [one == 0 && lock == 0] / one := 1, x := 0 -> S
                   ?go(n) [one == 1 && x <= a] / one := 2, x := 0, lock := 1 -> S
                   ?go(n) [one == 2 && x >= b && lock == 1] / one := 3 -> S
                   ?go(n) [one == 2 && x >= b && lock != 1] / one := 0 -> S
                   ?take(n) [two == 0 && lock == 0] / two := 1, y := 0 -> S
                   ?take(n) [two == 1 && y <= a] / two := 2, y := 0, lock := 2 -> S
                   ?take(n) [two == 2 && y >= b && lock == 2] / two := 3 -> S
                   ?take(n) [two == 2 && y >= b && lock != 2] / two := 0 -> S
                   ?off(n) [(one != 1 || x < a) && (two != 1 || y < a)] / x := x + 1, y := y + 1 -> S
                   !bad [one == 3 && two == 3] -> S }";
    fischer_too_fast: false, "const a: int  const b: int  assume 0 <= b && b <= a
                    var lock: 0..2 = 0, one: 0..3 = 0, two: 0..3 = 0, x: int = 0, y: int = 0",
        "state S { ?go(n) [one == 0 && lock == 0] / one := 1, x := 0 -> S
                   ?go(n) [one == 1 && x <= a] / one := 2, x := 0, lock := 1 -> S
                   ?go(n) [one == 2 && x >= b && lock == 1] / one := 3 -> S
                   ?take(n) [two == 0 && lock == 0] / two := 1, y := 0 -> S
                   ?take(n) [two == 1 && y <= a] / two := 2, y := 0, lock := 2 -> S
                   ?take(n) [two == 2 && y >= b && lock == 2] / two := 3 -> S
                   ?off(n) [(one != 1 || x < a) && (two != 1 || y < a)] / x := x + 1, y := y + 1 -> S
                   !bad [one == 3 && two == 3] -> S }";
    ring_election: true, "const a: int  const b: int  const c: int  var t: int = a, at: 0..2 = 0",
        "state S { ?go(n) [at == 0] / t := if b > t then b else t, at := 1 -> S
                   ?go(n) [at == 1] / t := if c > t then c else t, at := 2 -> S
                   !bad [at == 2 && (t < a || t < b || t < c)] -> S }";
    ring_election_skips: false, "const a: int  const b: int  const c: int  var t: int = a, at: 0..2 = 0",
        "state S { ?go(n) [at == 0] / t := if b > t then b else t, at := 1 -> S
                   ?go(n) [at == 1] / t := if c > a then c else t, at := 2 -> S
                   !bad [at == 2 && (t < a || t < b || t < c)] -> S }";
    sender_with_symbolic_max: true, "const max: int  assume max >= 1  var rn: int = 0, head: int = 0, last: int = 0",
        "state S { ?go(n) [n > 0] / last := n, head := 0, rn := 0 -> T  !bad [rn > max] -> S }
         state T { ?take(n) [rn < max] / rn := rn + 1 -> U  !bad [rn > max || head > last] -> T }
         state U { ?go(n) [head + 1 < last] / head := head + 1, rn := 0 -> T
                   ?go(n) [head + 1 == last] / head := head + 1, rn := 0 -> S
                   ?off(n) [rn < max] -> T  ?off(n) [rn == max] -> S
                   !bad [rn > max || head >= last] -> U }";
    deep_violation: false, "var x: int = 0",
        "state S { ?go(n) / x := x + 1 -> S  !bad [x == 150] -> S }";
    deep_in_two_places: false, "var x: int = 0, y: int = 0",
        "state S { ?go(n) [x < 40] / x := x + 1 -> S  ?take(n) [x == 40] -> T }
         state T { ?go(n) [y < x] / y := y + 1 -> T  !bad [y == 40] -> T }";
    cache_of_two: true, "var a: 0..2 = 0, b: 0..2 = 0",
        "state S { ?go(n) [b != 2] / a := 1 -> S  ?take(n) / a := 2, b := 0 -> S
                   ?off(n) [a != 2] / b := 1 -> S  ?out(n) / b := 2, a := 0 -> S
                   !bad [a == 2 && b != 0 || b == 2 && a != 0] -> S }";
    cache_forgets_to_invalidate: false, "var a: 0..2 = 0, b: 0..2 = 0",
        "state S { ?go(n) [b != 2] / a := 1 -> S  ?take(n) / a := 2, b := 0 -> S
                   ?off(n) / b := 1 -> S  ?out(n) / b := 2, a := 0 -> S
                   !bad [a == 2 && b != 0] -> S }";
    ticket_lock: true, "var next: int = 0, serving: int = 0, one: int = -1, two: int = -1, c1: bool = false, c2: bool = false",
        "state S { ?go(n) [one == -1] / one := next, next := next + 1 -> S
                   ?take(n) [two == -1] / two := next, next := next + 1 -> S ?on(n) [one == serving && !c1] / c1 := true -> S
                   ?off(n) [c1] / c1 := false, one := -1, serving := serving + 1 -> S
                   ?up(n) [two == serving && !c2] / c2 := true -> S
                   ?out(n) [c2] / c2 := false, two := -1, serving := serving + 1 -> S
                   !bad [c1 && c2] -> S }";
    ticket_lock_broken: false, "var next: int = 0, serving: int = 0, one: int = -1, two: int = -1, c1: bool = false, c2: bool = false",
        "state S { ?go(n) [one == -1] / one := next -> S
                   ?take(n) [two == -1] / two := next, next := next + 1 -> S ?on(n) [one == serving && !c1] / c1 := true -> S ?up(n) [two == serving && !c2] / c2 := true -> S
                   !bad [c1 && c2] -> S }";
    bakery: true, "var a: int = 0, b: int = 0, p: 0..2 = 0, q: 0..2 = 0",
        "state S { ?go(n) [p == 0] / a := b + 1, p := 1 -> S
                   ?on(n) [p == 1 && (b == 0 || a < b)] / p := 2 -> S
                   ?off(n) [p == 2] / p := 0, a := 0 -> S ?take(n) [q == 0] / b := a + 1, q := 1 -> S
                   ?up(n) [q == 1 && (a == 0 || b < a)] / q := 2 -> S
                   ?out(n) [q == 2] / q := 0, b := 0 -> S !bad [p == 2 && q == 2] -> S }";
    bakery_wrong_order: false, "var a: int = 0, b: int = 0, p: 0..2 = 0, q: 0..2 = 0",
        "state S { ?go(n) [p == 0] / a := b + 1, p := 1 -> S
                   ?on(n) [p == 1 && (b == 0 || a <= b)] / p := 2 -> S
                   ?take(n) [q == 0] / b := a, q := 1 -> S
                   ?up(n) [q == 1 && (a == 0 || b <= a)] / q := 2 -> S !bad [p == 2 && q == 2] -> S }";
    sliding_window: true, "const w: int assume w >= 1 var sent: int = 0, acked: int = 0",
        "state S { ?go(n) [sent - acked < w] / sent := sent + 1 -> S
                   ?take(n) [acked < n && n <= sent] / acked := n -> S
                   !bad [sent - acked > w || acked > sent] -> S }";
    sliding_window_stale: false, "const w: int assume w >= 1 var sent: int = 0, acked: int = 0",
        "state S { ?go(n) [sent - acked < w] / sent := sent + 1 -> S
                   ?take(n) [n <= sent] / acked := n -> S !bad [sent - acked > w] -> S }";
    token_bucket: true, "const cap: int const rate: int assume cap >= 0 && rate >= 0 var tokens: int = 0",
        "state S { ?go(n) / tokens := min(tokens + rate, cap) -> S
                   ?take(n) [n >= 0 && n <= tokens] / tokens := tokens - n -> S
                   !bad [tokens > cap || tokens < 0] -> S }";
    token_bucket_no_cap: false, "const cap: int const rate: int assume cap >= 0 && rate >= 0 var tokens: int = 0",
        "state S { ?go(n) [tokens < cap] / tokens := tokens + rate -> S
                   ?take(n) [n >= 0 && n <= tokens] / tokens := tokens - n -> S !bad [tokens > cap] -> S }";
    ring_buffer: true, "const size: int assume size >= 1 var head: int = 0, tail: int = 0, count: int = 0",
        "state S {
                   ?go(n) [count < size] / tail := if tail + 1 == size then 0 else tail + 1, count := count + 1 -> S
                   ?take(n) [count > 0] / head := if head + 1 == size then 0 else head + 1, count := count - 1 -> S
                   !bad [tail >= size || head >= size || tail < 0 || head < 0 || count > size] -> S }";
    ring_buffer_off_by_one: false, "const size: int assume size >= 1 var head: int = 0, tail: int = 0, count: int = 0",
        "state S {
                   ?go(n) [count < size] / tail := if tail == size then 0 else tail + 1, count := count + 1 -> S
                   ?take(n) [count > 0] / head := if head + 1 == size then 0 else head + 1, count := count - 1 -> S
                   !bad [tail >= size] -> S }";
    sorted_pair: true, "var lo: int = 0, hi: int = 0",
        "state S { ?go(n) / lo := min(lo, n), hi := max(hi, n) -> S
                   ?take(n) [n >= lo && n <= hi] / lo := n -> S !bad [lo > hi] -> S }";
    mean_in_range: true, "var sum: int = 0, k: int = 0",
        "state S { ?go(n) [n >= 0 && n <= 10] / sum := sum + n, k := k + 1 -> S
                   !bad [sum > 10 * k || sum < 0] -> S }";
    mean_slips: false, "var sum: int = 0, k: int = 0",
        "state S { ?go(n) [n >= 0 && n <= 10] / sum := sum + n, k := k + 1 -> S
                   ?take(n) [k > 2] / k := k - 1 -> S !bad [sum > 10 * k] -> S }";
    mod_three: true, "var x: int = 1",
        "state S { ?go(n) / x := x + 6 -> S ?take(n) / x := x - 3 -> S !bad [x % 3 == 0] -> S }";
    mod_three_slips: false, "var x: int = 1",
        "state S { ?go(n) / x := x + 6 -> S ?take(n) / x := x - 4 -> S !bad [x % 3 == 0] -> S }";
    readers_writers: true, "var readers: int = 0, writing: bool = false",
        "state S { ?go(n) [!writing] / readers := readers + 1 -> S
                   ?off(n) [readers > 0] / readers := readers - 1 -> S ?take(n) [readers == 0 && !writing] / writing := true -> S ?out(n) [writing] / writing := false -> S
                   !bad [writing && readers > 0 || readers < 0] -> S }";
    readers_writers_race: false, "var readers: int = 0, writing: bool = false",
        "state S { ?go(n) [!writing] / readers := readers + 1 -> S
                   ?off(n) [readers > 0] / readers := readers - 1 -> S ?take(n) [readers <= 1 && !writing] / writing := true -> S ?out(n) [writing] / writing := false -> S
                   !bad [writing && readers > 0] -> S }";
    semaphore: true, "const k: int assume k >= 0 var free: int = k, used: int = 0",
        "state S { ?go(n) [free > 0] / free := free - 1, used := used + 1 -> S
                   ?off(n) [used > 0] / used := used - 1, free := free + 1 -> S
                   !bad [used > k || free < 0 || free + used != k] -> S }";
    exponent: true, "var x: int = 1, y: int = 1",
        "state S { ?go(n) / x := 2 * x, y := y + 1 -> S !bad [x < y] -> S }";
    euclid_sum: true, "const a: int const b: int assume a >= 0 && b >= 1 var q: int = 0, r: int = a",
        "state S { ?go(n) [r >= b] / r := r - b, q := q + 1 -> S !bad [r < 0] -> S }";
    timer_resets: true, "const limit: int assume limit >= 3 var t: int = 0, late: bool = false",
        "state S { ?go(n) [t < limit] / t := t + 1 -> S
                   ?take(n) [t == limit] / t := 0, late := false -> S !bad [t > limit || late] -> S }";
    three_way_sum: true, "var a: int = 0, b: int = 0, c: int = 0",
        "state S { ?go(n) / a := a + n, b := b - n -> S ?take(n) / b := b + n, c := c - n -> S
                   ?off(n) / c := c + n, a := a - n -> S !bad [a + b + c != 0] -> S }";
    monotone_clock: true, "var now: int = 0, last: int = 0",
        "state S { ?go(n) [n > now] / last := now, now := n -> S !bad [last > now] -> S }";
    clock_wraps: false, "var now: int = 0, last: int = 0",
        "state S { ?go(n) [n > now] / last := now, now := if n > 1000 then n - 1000 else n -> S
                   !bad [last > now] -> S }";
    swap_forever: true, "var x: int = 3, y: int = 8",
        "state S { ?go(n) / x := y, y := x -> S !bad [x + y != 11 || x == y] -> S }";
    ladder: true, "var x: int = 0, level: 0..3 = 0",
        "state S { ?go(n) [x < 10 * level + 10] / x := x + 1 -> S
                   ?take(n) [x >= 10 * level + 10 && level < 3] / level := level + 1 -> S
                   !bad [x > 10 * level + 10] -> S }";
    deep_ladder: false, "var x: int = 0, level: 0..3 = 0",
        "state S { ?go(n) [x < 10 * level + 10] / x := x + 1 -> S
                   ?take(n) [x >= 10 * level + 10 && level < 3] / level := level + 1 -> S
                   !bad [x == 40] -> S }";
    refund: true, "var paid: int = 0, refunded: int = 0",
        "state S { ?go(n) [n > 0] / paid := paid + n -> S
                   ?take(n) [n > 0 && refunded + n <= paid] / refunded := refunded + n -> S
                   !bad [refunded > paid] -> S }";
    array_sum: true, "var xs: int[] = [0, 0], i: int = 0",
        "state S { ?go(n) / xs := [xs[0] + n, xs[1] - n] -> S !bad [xs[0] + xs[1] != 0] -> S }";
    square_ge: true, "var x: int = 0, y: int = 0",
        "state S { ?go(n) [x >= 0] / y := y + x, x := x + 1 -> S !bad [y < 0] -> S }";
    product_swap: true, "var x: int = 0, y: int = 5",
        "state S { ?go(n) / x := x + y -> S ?take(n) [y > 1] / y := y - 1 -> S
                   !bad [x < 0] -> S }";
    petri: true, "var p: int = 1, q: int = 0, r: int = 0, s: int = 0",
        "state S { ?go(n) [p > 0] / p := p - 1, q := q + 1, r := r + 1 -> S
                   ?take(n) [q > 0 && r > 0] / q := q - 1, r := r - 1, p := p + 1, s := s + 1 -> S
                   !bad [q != r || p + q != 1] -> S }";
    petri_deadlock: false, "var p: int = 2, q: int = 0",
        "state S { ?go(n) [p > 0] / p := p - 1, q := q + 2 -> S
                   ?take(n) [q > 2] / q := q - 3 -> S !bad [p == 0 && q == 1] -> S }";
    leapfrog: true, "var x: int = 0, y: int = 1",
        "state S { ?go(n) [x < y] / x := y + 1 -> T !bad [x == y] -> S } state T {
                   ?go(n) [y < x] / y := x + 1 -> S !bad [x == y] -> T }";
    abs_bound: true, "var x: int = 0",
        "state S { ?go(n) [n * n <= 25] / x := n -> S !bad [x > 5 || x < -5] -> S }";
    conditional_counter: true, "const k: int assume k > 3 var x: int = 0, b: bool = true",
        "state S { ?go(n) / x := if b then x + k else x - 1, b := !b -> S !bad [x < 0] -> S }";
    two_speed: true, "var x: int = 0, y: int = 0",
        "state S { ?go(n) / x := x + 1, y := y + 2 -> S ?take(n) [y > x] / y := y - 1 -> S
                   !bad [y < x] -> S }";
    phase_sum: true, "const k: int assume k >= 0 var i: int = 0, j: int = 0, s: int = 0",
        "state S { ?go(n) [i < k] / i := i + 1, s := s + 2 -> S ?take(n) [i == k] -> T
                   !bad [s < 0] -> S } state T { ?go(n) [j < k] / j := j + 1, s := s - 1 -> T
                   !bad [s < k] -> T }";
    phase_sum_off: false, "const k: int assume k >= 3 var i: int = 0, j: int = 0, s: int = 0",
        "state S { ?go(n) [i < k] / i := i + 1, s := s + 2 -> S ?take(n) [i == k] -> T
                   !bad [s < 0] -> S } state T { ?go(n) [j <= k] / j := j + 1, s := s - 1 -> T
                   !bad [s < k] -> T }";
};

/// The program as a system, and the observer of its property.
pub fn text(program: &Program) -> String {
    format!(
        "system P {{
           {}
           input go(n: int), take(n: int), on(n: int), off(n: int), up(n: int), out(n: int)
           output bad
           initial {}
         }}
         observer Never for P {{
           initial state Good {{ !bad -> Bad  * -> Good }}
           violate state Bad
         }}",
        program.declared, program.body
    )
}
