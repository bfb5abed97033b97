//! Partition refinement, after Hopcroft: the coarsest congruence in n log n steps a letter.

use crate::structure::Structure;

pub(crate) struct Refinement {
    letters: usize,
    /// Predecessors by letter and state, in compressed rows.
    start: Vec<u32>,
    before: Vec<u32>,
    class: Vec<u32>,
    /// The states, class by class.
    order: Vec<u32>,
    place: Vec<u32>,
    /// First and one past last place of each class.
    bounds: Vec<(u32, u32)>,
}

impl Refinement {
    pub(crate) fn new(structure: &Structure, class: Vec<u32>, classes: usize) -> Self {
        let (n, letters) = (structure.len(), structure.alphabet().len());
        let mut start = vec![0_u32; n * letters + 1];
        for q in structure.states() {
            for (l, to) in structure.row(q).iter().enumerate() {
                start[l * n + to.index() + 1] += 1;
            }
        }
        for i in 1..start.len() {
            start[i] += start[i - 1];
        }
        let mut fill = start.clone();
        let mut before = vec![0_u32; n * letters];
        for q in structure.states() {
            for (l, to) in structure.row(q).iter().enumerate() {
                let slot = &mut fill[l * n + to.index()];
                before[*slot as usize] = q.index() as u32;
                *slot += 1;
            }
        }
        let mut bounds = vec![(0, 0); classes];
        for &c in &class {
            bounds[c as usize].1 += 1;
        }
        let mut sum = 0;
        for b in &mut bounds {
            *b = (sum, sum + b.1);
            sum = b.1;
        }
        let mut fill: Vec<u32> = bounds.iter().map(|b| b.0).collect();
        let (mut order, mut place) = (vec![0; n], vec![0; n]);
        for (q, &c) in class.iter().enumerate() {
            let slot = &mut fill[c as usize];
            order[*slot as usize] = q as u32;
            place[q] = *slot;
            *slot += 1;
        }
        Self {
            letters,
            start,
            before,
            class,
            order,
            place,
            bounds,
        }
    }

    /// The class of each state, classes numbered by their first state.
    pub(crate) fn run(mut self) -> Vec<u32> {
        let n = self.class.len();
        let mut waiting: Vec<u32> = (0..self.bounds.len() as u32).collect();
        let mut marked = vec![0_u32; self.bounds.len()];
        let mut touched = Vec::new();
        while let Some(splitter) = waiting.pop() {
            let (from, to) = self.bounds[splitter as usize];
            // A copy: the splitter may be split itself, and stays what it was for this round.
            let members = self.order[from as usize..to as usize].to_vec();
            for l in 0..self.letters {
                for &q in &members {
                    let row = l * n + q as usize;
                    for i in self.start[row]..self.start[row + 1] {
                        let p = self.before[i as usize];
                        let c = self.class[p as usize] as usize;
                        if marked[c] == 0 {
                            touched.push(c);
                        }
                        // Marked states gather at the front of their class.
                        self.swap(p, self.bounds[c].0 + marked[c]);
                        marked[c] += 1;
                    }
                }
                for c in touched.drain(..) {
                    let count = std::mem::take(&mut marked[c]);
                    let (from, to) = self.bounds[c];
                    if count == to - from {
                        continue;
                    }
                    // The smaller part becomes the new class.
                    let new = self.bounds.len() as u32;
                    let part = if count <= to - from - count {
                        self.bounds[c] = (from + count, to);
                        (from, from + count)
                    } else {
                        self.bounds[c] = (from, from + count);
                        (from + count, to)
                    };
                    self.bounds.push(part);
                    for i in part.0..part.1 {
                        self.class[self.order[i as usize] as usize] = new;
                    }
                    // Where the old class waits, both parts must; else the smaller one suffices.
                    waiting.push(new);
                    marked.push(0);
                }
            }
        }
        let mut name = vec![u32::MAX; self.bounds.len()];
        let mut count = 0;
        self.class
            .iter()
            .map(|&c| {
                let name = &mut name[c as usize];
                if *name == u32::MAX {
                    *name = count;
                    count += 1;
                }
                *name
            })
            .collect()
    }

    fn swap(&mut self, state: u32, target: u32) {
        let at = self.place[state as usize];
        let other = self.order[target as usize];
        self.order.swap(at as usize, target as usize);
        self.place[state as usize] = target;
        self.place[other as usize] = at;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use crate::alphabet::Alphabet;
    use crate::structure::{StateId, Structure};

    proptest! {
        /// Against refinement of all pairs from the definition.
        #[test]
        fn agrees_with_pairs(
            n in 1_usize..12,
            next in prop::collection::vec(0_usize..60, 24),
            colours in prop::collection::vec(0_u8..3, 12),
        ) {
            let sigma = Arc::new(Alphabet::of_names(["a", "b"]).unwrap());
            let next = next[..2 * n].iter().map(|q| StateId::new(q % n)).collect();
            let s = Structure::new(sigma, StateId::new(0), next).unwrap();
            let class = s.bisimulation(|q| colours[q.index()]);
            let mut equal: Vec<Vec<bool>> =
                (0..n).map(|p| (0..n).map(|q| colours[p] == colours[q]).collect()).collect();
            for _ in 0..n * n {
                for p in s.states() {
                    for q in s.states() {
                        let same = s.row(p).iter().zip(s.row(q)).all(|(x, y)| equal[x.index()][y.index()]);
                        equal[p.index()][q.index()] &= same;
                    }
                }
            }
            for p in 0..n {
                for q in 0..n {
                    prop_assert_eq!(class[p] == class[q], equal[p][q]);
                }
            }
        }
    }
}
