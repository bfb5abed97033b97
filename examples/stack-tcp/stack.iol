// A stack of integers of any size. Five fit; a push on a full stack is refused.
system Stack {
  const capacity: int = 5
  var top: int = 0, cells: int[] = [0, 0, 0, 0, 0]

  input push(x: int), pop, size
  output popped(x: int), empty, full, holds(n: 0..5)

  initial state Ready {
    ?push(x) [top < capacity] / cells[top] := x, top := top + 1 -> Ready
    ?push(_) [top == capacity] -> Refusing
    ?pop -> Popping
    ?size -> Counting
  }
  state Refusing { !full -> Ready }
  state Popping {
    !popped(x) [top > 0 && x == cells[top - 1]] / top := top - 1 -> Ready
    !empty [top == 0] -> Ready
  }
  state Counting { !holds(n) [n == top] -> Ready }
}
