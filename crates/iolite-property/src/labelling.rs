//! Priorities on given transitions for a given language, where there are any.
//!
//! A smaller transition structure is a guess: states that expect the same future fall together. Whether
//! the guess can carry the language at all does not depend on its old marks, so they are forgotten and
//! sought anew: an element (a transition, or a state) that lies on no rejecting cycle may have the best
//! priority 0, of the others those that lie on no accepting cycle have 1, and so on by turns. This is the
//! labelling with the fewest priorities [Carton & Maceiras 1999; Niwiński & Walukiewicz 1998]; where
//! it gets stuck there is none.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Where a table has no transition: parts of automata are not complete.
pub(crate) const ABSENT: u32 = u32::MAX;

/// Deterministic transitions in a plain table, one row a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) letters: usize,
    pub(crate) initial: u32,
    pub(crate) next: Vec<u32>,
}

impl Table {
    pub(crate) fn len(&self) -> usize {
        self.next.len() / self.letters
    }

    pub(crate) fn step(&self, q: u32, l: usize) -> u32 {
        self.next[q as usize * self.letters + l]
    }

    pub(crate) fn row(&self, q: u32) -> &[u32] {
        &self.next[q as usize * self.letters..(q as usize + 1) * self.letters]
    }

    /// The reachable part, in breadth-first order, with the old state behind each new one.
    pub(crate) fn reachable(&self) -> (Self, Vec<u32>) {
        let mut number = vec![u32::MAX; self.len()];
        let mut old = vec![self.initial];
        number[self.initial as usize] = 0;
        let mut next = Vec::new();
        let mut done = 0;
        while done < old.len() {
            for &to in self.row(old[done]) {
                let n = &mut number[to as usize];
                if *n == u32::MAX {
                    *n = old.len() as u32;
                    old.push(to);
                }
                next.push(*n);
            }
            done += 1;
        }
        let table = Self {
            letters: self.letters,
            initial: 0,
            next,
        };
        (table, old)
    }

    /// The strongly connected component of each state, a component before those that lead to it.
    pub(crate) fn components(&self) -> Vec<u32> {
        let mut graph = Graph::default();
        for q in 0..self.len() as u32 {
            graph.open();
            for &to in self.row(q).iter().filter(|&&to| to != ABSENT) {
                graph.add(to, 0, 0);
            }
        }
        graph.components(|_| true)
    }
}

/// A parity automaton with priorities on transitions: the language that is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) table: Table,
    /// Of transition `q * letters + l`; a run is accepted iff the least one that recurs is even.
    pub(crate) priority: Vec<u32>,
}

impl Reference {
    pub(crate) fn mark(&self, q: u32, l: usize) -> u32 {
        self.priority[q as usize * self.table.letters + l]
    }

    /// The priorities that occur, in order.
    pub(crate) fn priorities(&self) -> Vec<u32> {
        let mut all = self.priority.clone();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether cycle^ω is in the language of a state.
    #[cfg(test)]
    pub(crate) fn accepts(&self, from: u32, cycle: &[usize]) -> bool {
        even_recurs(from, |from| {
            let step = |(q, low): (u32, u32), &l: &usize| {
                (self.table.step(q, l), low.min(self.mark(q, l)))
            };
            cycle.iter().fold((from, u32::MAX), step)
        })
    }
}

/// Whether the least priority that recurs is even when a cycle is walked for ever. `round` says where one
/// round of it leads, and the least priority on the way.
pub(crate) fn even_recurs<S: Copy + Eq + Hash>(
    from: S,
    mut round: impl FnMut(S) -> (S, u32),
) -> bool {
    let mut rounds: FxHashMap<S, usize> = FxHashMap::default();
    let mut least: Vec<u32> = Vec::new();
    let mut at = from;
    loop {
        if let Some(&first) = rounds.get(&at) {
            let lowest = least[first..].iter().min().copied().unwrap_or(0);
            return lowest.is_multiple_of(2);
        }
        rounds.insert(at, least.len());
        let (next, low) = round(at);
        least.push(low);
        at = next;
    }
}

/// What bears the priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bearer {
    Transitions,
    States,
}

/// Steps that searches may still take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fuel(pub(crate) usize);

impl Fuel {
    pub(crate) fn burn(&mut self, steps: usize) -> bool {
        let enough = self.0 >= steps;
        self.0 = self.0.saturating_sub(steps);
        enough
    }
}

/// Priorities with which `table` has the language of `reference`; none if there are no such ones, or no
/// fuel is left to find out.
pub(crate) fn labels(
    table: &Table,
    reference: &Reference,
    bearer: Bearer,
    fuel: &mut Fuel,
) -> Option<Vec<u32>> {
    let product = product(table, reference, bearer, fuel)?;
    let elements = match bearer {
        Bearer::Transitions => table.next.len(),
        Bearer::States => table.len(),
    };
    bear(&product, elements, &reference.priorities(), fuel)?.ok()
}

/// Priorities of the elements that are right for the cycles of a product, or the elements that can have
/// none; nothing if no fuel is left to find out. The product may begin anywhere.
pub(crate) fn bear(
    product: &Graph,
    elements: usize,
    priorities: &[u32],
    fuel: &mut Fuel,
) -> Option<Result<Vec<u32>, Vec<bool>>> {
    let mut label = vec![u32::MAX; elements];
    let mut left = elements;
    let (mut level, mut stalled) = (0, false);
    while left > 0 {
        let mut held = vec![false; elements];
        for &d in priorities.iter().filter(|&&d| d % 2 != level % 2) {
            if !fuel.burn(product.edges.len() + product.len() + 1) {
                return None;
            }
            let inside = |e: &Edge| label[e.element as usize] == u32::MAX && e.priority >= d;
            let component = product.components(inside);
            let mut opposite = vec![false; product.len()];
            for e in product.within(&component, inside) {
                opposite[component[e.from as usize] as usize] |= e.priority == d;
            }
            for e in product.within(&component, inside) {
                held[e.element as usize] |= opposite[component[e.from as usize] as usize];
            }
        }
        let before = left;
        for (l, held) in label.iter_mut().zip(held) {
            if *l == u32::MAX && !held {
                *l = level;
                left -= 1;
            }
        }
        if left == before && stalled {
            return Some(Err(label.iter().map(|&l| l == u32::MAX).collect()));
        }
        stalled = left == before;
        level += 1;
    }
    Some(Ok(label))
}

fn product(table: &Table, reference: &Reference, bearer: Bearer, fuel: &mut Fuel) -> Option<Graph> {
    let k = table.letters;
    let mut index: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let start = (table.initial, reference.table.initial);
    let mut pairs = vec![start];
    index.insert(start, 0);
    let mut graph = Graph::default();
    let mut done = 0;
    while done < pairs.len() {
        if !fuel.burn(k) {
            return None;
        }
        let (p, q) = pairs[done];
        done += 1;
        graph.open();
        for l in 0..k {
            let to = (table.step(p, l), reference.table.step(q, l));
            if to.0 == ABSENT || to.1 == ABSENT {
                continue;
            }
            let to = *index.entry(to).or_insert_with(|| {
                pairs.push(to);
                pairs.len() as u32 - 1
            });
            let at = q as usize * k + l;
            let element = match bearer {
                Bearer::Transitions => p * k as u32 + l as u32,
                Bearer::States => p,
            };
            graph.add(to, element, reference.priority[at]);
        }
    }
    Some(graph)
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// What bears the priority in the candidate, or a second priority.
    pub(crate) element: u32,
    pub(crate) priority: u32,
}

/// Edges by where they begin, nodes in order.
#[derive(Default)]
pub(crate) struct Graph {
    edges: Vec<Edge>,
    start: Vec<u32>,
}

impl Graph {
    pub(crate) fn len(&self) -> usize {
        self.start.len()
    }

    /// The next node; edges added from now on begin there.
    pub(crate) fn open(&mut self) {
        self.start.push(self.edges.len() as u32);
    }

    pub(crate) fn add(&mut self, to: u32, element: u32, priority: u32) {
        let from = self.len() as u32 - 1;
        let edge = Edge {
            from,
            to,
            element,
            priority,
        };
        // Letters often lead the same way one after another.
        if self.edges.last() != Some(&edge) {
            self.edges.push(edge);
        }
    }

    /// The allowed edges that stay in their component.
    pub(crate) fn within(
        &self,
        component: &[u32],
        allowed: impl Fn(&Edge) -> bool,
    ) -> impl Iterator<Item = &Edge> {
        self.edges
            .iter()
            .filter(move |e| component[e.from as usize] == component[e.to as usize] && allowed(e))
    }

    /// Marks every node from which a marked one can be reached.
    pub(crate) fn spread_back(&self, marked: &mut [bool]) {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.len()];
        for e in &self.edges {
            before[e.to as usize].push(e.from);
        }
        let mut todo: Vec<usize> = (0..marked.len()).filter(|&q| marked[q]).collect();
        while let Some(q) = todo.pop() {
            for &p in &before[q] {
                if !std::mem::replace(&mut marked[p as usize], true) {
                    todo.push(p as usize);
                }
            }
        }
    }

    fn end(&self, node: u32) -> u32 {
        let next = self.start.get(node as usize + 1);
        next.copied().unwrap_or(self.edges.len() as u32)
    }

    /// The component of each node over the edges that are allowed; a component before those that lead
    /// to it. Tarjan's algorithm without recursion.
    pub(crate) fn components(&self, allowed: impl Fn(&Edge) -> bool) -> Vec<u32> {
        let n = self.len();
        let mut component = vec![u32::MAX; n];
        let (mut visited, mut low) = (vec![0_u32; n], vec![0_u32; n]);
        let (mut counter, mut count) = (0, 0);
        let mut stack: Vec<u32> = Vec::new();
        let mut path: Vec<(u32, u32)> = Vec::new();
        for root in 0..n as u32 {
            if visited[root as usize] != 0 {
                continue;
            }
            path.push((root, self.start[root as usize]));
            while let Some(&mut (q, ref mut at)) = path.last_mut() {
                let here = q as usize;
                if visited[here] == 0 {
                    counter += 1;
                    visited[here] = counter;
                    low[here] = counter;
                    stack.push(q);
                }
                if *at < self.end(q) {
                    let edge = &self.edges[*at as usize];
                    *at += 1;
                    if !allowed(edge) {
                        continue;
                    }
                    let to = edge.to as usize;
                    if visited[to] == 0 {
                        path.push((edge.to, self.start[to]));
                    } else if component[to] == u32::MAX {
                        low[here] = low[here].min(visited[to]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    low[parent as usize] = low[parent as usize].min(low[here]);
                }
                if low[here] == visited[here] {
                    while let Some(top) = stack.pop() {
                        component[top as usize] = count;
                        if top == q {
                            break;
                        }
                    }
                    count += 1;
                }
            }
        }
        component
    }
}
