// A work queue: jobs with priorities. The most urgent job, with the least number, comes first, and of equally urgent ones the
// oldest. A job that was reserved is put back, deleted, or buried until somebody kicks it. The server is not ours, so the
// model is what its protocol promises.
record Job { id: int, pri: int, body: string }

fn before(a: Job, b: Job): bool = a.pri < b.pri || a.pri == b.pri && a.id < b.id

// Whether the first of these jobs has this number and this body.
fn isFirst(jobs: Job[], id: int, body: string): bool =
  exists j in jobs: j.id == id && j.body == body && (forall other in jobs: other == j || before(j, other))

fn has(jobs: Job[], id: int): bool = exists j in jobs: j.id == id

fn bodyOf(jobs: Job[], id: int): string =
  if jobs[0].id == id then jobs[0].body else bodyOf(slice(jobs, 1, len(jobs)), id)

fn priOf(jobs: Job[], id: int): int =
  if jobs[0].id == id then jobs[0].pri else priOf(slice(jobs, 1, len(jobs)), id)

fn without(jobs: Job[], id: int): Job[] =
  if len(jobs) == 0 then []
  else if jobs[0].id == id then slice(jobs, 1, len(jobs))
  else [jobs[0]] ++ without(slice(jobs, 1, len(jobs)), id)

fn urgent(pri: int): bool = 0 <= pri && pri <= 4294967295

// One client.
system Queue {
  var ready: Job[] = [], held: Job[] = [], down: Job[] = []
  var next: int = 1, asked: int = 0, urgency: int = 0, bound: int = 0

  input put(pri: int, body: string), reserve, peek, delete(id: int), release(id: int, pri: int), bury(id: int, pri: int), kick(n: int)
  output inserted(id: int), reserved(id: int, body: string), found(id: int, body: string), timedOut, deleted, released, buried, kicked(n: int), notFound

  initial state Idle {
    ?put(p, b) [urgent(p) && matches(b, "[a-z]{3}")] / ready := ready ++ [Job { id = next, pri = p, body = b }] -> Inserted
    ?reserve                                                                       -> Reserving
    ?peek                                                                          -> Peeking
    ?delete(i) [1 <= i && i <= next] / asked := i                                  -> Deleting
    ?release(i, p) [1 <= i && i <= next && urgent(p)] / asked := i, urgency := p   -> Releasing
    ?bury(i, p) [1 <= i && i <= next && urgent(p)] / asked := i, urgency := p      -> Burying
    ?kick(n) [0 <= n && n <= 100] / bound := n                                     -> Kicking
  }
  state Inserted { !inserted(i) [i == next] / next := next + 1 -> Idle }
  state Reserving {
    !timedOut [len(ready) == 0] -> Idle
    !reserved(i, b) [isFirst(ready, i, b)]
      / held := held ++ [Job { id = i, pri = priOf(ready, i), body = b }], ready := without(ready, i) -> Idle
  }
  state Peeking {
    !notFound [len(ready) == 0] -> Idle
    !found(i, b) [isFirst(ready, i, b)] -> Idle
  }
  state Deleting {
    !notFound [!has(ready ++ held ++ down, asked)] -> Idle
    !deleted [has(ready ++ held ++ down, asked)]
      / ready := without(ready, asked), held := without(held, asked), down := without(down, asked) -> Idle
  }
  state Releasing {
    !notFound [!has(held, asked)] -> Idle
    !released [has(held, asked)]
      / ready := ready ++ [Job { id = asked, pri = urgency, body = bodyOf(held, asked) }], held := without(held, asked) -> Idle
  }
  state Burying {
    !notFound [!has(held, asked)] -> Idle
    !buried [has(held, asked)]
      / down := down ++ [Job { id = asked, pri = urgency, body = bodyOf(held, asked) }], held := without(held, asked) -> Idle
  }
  state Kicking {
    !kicked(n) [n == min(bound, len(down))] / ready := ready ++ slice(down, 0, n), down := slice(down, n, len(down)) -> Idle
  }
}

// Two clients: a producer, and a worker who waits for work. Their answers come over two connections, so nobody knows which
// was sent first.
system Workers {
  var ready: Job[] = [], next: int = 1, held: int = 0
  var putting: bool = false, waiting: bool = false, deleting: bool = false

  input put(pri: int, body: string), reserve, delete(id: int)
  output inserted(id: int), reserved(id: int, body: string), deleted

  initial state On {
    ?put(p, b) [!putting && 0 <= p && p <= 9 && matches(b, "[a-z]{3}")]
      / ready := ready ++ [Job { id = next, pri = p, body = b }], next := next + 1, putting := true -> On
    !inserted(i) [putting && i == next - 1] / putting := false -> On

    ?reserve [!waiting && held == 0] / waiting := true -> On
    !reserved(i, b) [waiting && isFirst(ready, i, b)] / waiting := false, held := i, ready := without(ready, i) -> On

    ?delete(i) [held > 0 && i == held && !deleting] / deleting := true -> On
    !deleted [deleting] / deleting := false, held := 0 -> On
  }
}

// Negated: a job that was deleted is handed out again.
observer Undead for Queue {
  var dead: set<int> = {}, asked: int = 0
  initial state Watch {
    ?delete(i) / asked := i -> Asked
    !reserved(i, b) [i in dead] -> Again
    !found(i, b) [i in dead] -> Again
    * -> Watch
  }
  state Asked {
    !deleted / dead := insert(dead, asked) -> Watch
    !notFound -> Watch
    ?delete(i) / asked := i -> Asked
    * -> Asked
  }
  violate state Again
}
