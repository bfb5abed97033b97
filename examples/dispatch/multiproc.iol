// Pairs of numbers are taken, given to one of three processors, and come back with the number of the
// processor and their greatest common divisor, in whatever order.
fn gcd(a: int, b: int): int = if b == 0 then a else gcd(b, a % b)

process Processor(number: int) =
  ?dispatch(x: int, y: int) [x > 0 && y > 0]; !finish(number, gcd(x, y)); Processor(number)
process Dispatcher = ?job(x: int, y: int) [x > 0 && y > 0]; !dispatch(x, y); Dispatcher

system Multi = hide dispatch in (Dispatcher |[dispatch]| (each k in 1..3 ||| Processor(k)))
