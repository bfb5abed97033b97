// Jobs are taken, given to one of four processors, and come back with a greatest common divisor. The
// number of a job is in use from the moment it is taken until it has come back.
record Job { id: int, description: string, x: int, y: int }
type Outcome = Done(id: int, processor: int, gcd: int) | Error(reason: string)

fn gcd(a: int, b: int): int = if b == 0 then a else gcd(b, a % b)
fn isValid(j: Job): bool =
  j.id > 0 && matches(j.description, "[A-Z][0-9]{2}[a-z]+") && j.x > 0 && j.y > 0
    && abs(j.x - j.y) < 100 * min(j.x, j.y)

// Numbers that are in use. It meets the clerk on `job`, and the porter on `release`.
system Register {
  var used: set<int> = {}
  input job(j: Job), release(id: int)
  initial state Open {
    ?job(j) [!(j.id in used)] / used := insert(used, j.id) -> Open
    ?release(id) [id in used] / used := remove(used, id) -> Open
  }
}

system Clerk {
  var held: Job = Job { id = 1, description = "A00a", x = 1, y = 1 }
  input job(j: Job)
  output dispatch(j: Job)
  initial state Free { ?job(j) [isValid(j)] / held := j -> Busy }
  state Busy { !dispatch(j) [j == held] -> Free }
}

system Processor {
  const number: int
  var work: Job = Job { id = 1, description = "A00a", x = 1, y = 1 }
  input dispatch(j: Job)
  output finish(o: Outcome)
  initial state Idle { ?dispatch(j) / work := j -> Works }
  state Works { !finish(o) [o == Done(work.id, number, gcd(work.x, work.y))] -> Idle }
}

// Sees what comes back, and releases its number.
system Porter {
  var last: int = 0
  input finish(o: Outcome)
  output release(id: int)
  initial state Waits { ?finish(o) [o is Done] / last := o.id -> Has }
  state Has { !release(id) [id == last] -> Waits }
}

system Processors = each k in 1..4 ||| Processor(number = k)
system Dispatch = hide dispatch, release in (Register |[job, release]| (Clerk |[dispatch]| (Processors |[finish]| Porter)))
