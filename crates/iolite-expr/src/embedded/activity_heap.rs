//! Variables by activity, the most active first; of equals the one with the least number.

/// A binary heap that knows where each variable is.
#[derive(Default)]
pub(super) struct ActivityHeap {
    heap: Vec<u32>,
    /// By variable: its place, `ABSENT` when it is not in the heap.
    place: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

fn before(a: u32, b: u32, activity: &[f64]) -> bool {
    let (x, y) = (activity[a as usize], activity[b as usize]);
    x > y || (x >= y && a < b)
}

impl ActivityHeap {
    /// Puts a variable in, unless it is there.
    pub(super) fn insert(&mut self, v: u32, activity: &[f64]) {
        if self.place.len() <= v as usize {
            self.place.resize(v as usize + 1, ABSENT);
        }
        if self.place[v as usize] == ABSENT {
            self.place[v as usize] = self.heap.len() as u32;
            self.heap.push(v);
            self.up(self.heap.len() - 1, activity);
        }
    }

    /// A variable became more active.
    pub(super) fn rise(&mut self, v: u32, activity: &[f64]) {
        let at = self.place[v as usize];
        if at != ABSENT {
            self.up(at as usize, activity);
        }
    }

    /// Takes the first one out.
    pub(super) fn pop(&mut self, activity: &[f64]) -> Option<u32> {
        let first = *self.heap.first()?;
        let last = self.heap.pop()?;
        self.place[first as usize] = ABSENT;
        if last != first {
            self.heap[0] = last;
            self.place[last as usize] = 0;
            self.down(0, activity);
        }
        Some(first)
    }

    fn swap(&mut self, i: usize, j: usize) {
        self.heap.swap(i, j);
        self.place[self.heap[i] as usize] = i as u32;
        self.place[self.heap[j] as usize] = j as u32;
    }

    fn up(&mut self, mut i: usize, activity: &[f64]) {
        while i > 0 {
            let parent = (i - 1) / 2;
            if !before(self.heap[i], self.heap[parent], activity) {
                break;
            }
            self.swap(i, parent);
            i = parent;
        }
    }

    fn down(&mut self, mut i: usize, activity: &[f64]) {
        loop {
            let mut best = i;
            for child in [2 * i + 1, 2 * i + 2] {
                if child < self.heap.len() && before(self.heap[child], self.heap[best], activity) {
                    best = child;
                }
            }
            if best == i {
                break;
            }
            self.swap(i, best);
            i = best;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_active_come_first_and_equals_in_order() {
        let mut activity = vec![0.0, 3.0, 1.0, 3.0, 0.0];
        let mut heap = ActivityHeap::default();
        for v in [4, 2, 0, 3, 1] {
            heap.insert(v, &activity);
        }
        heap.insert(2, &activity);
        activity[0] = 2.0;
        heap.rise(0, &activity);
        let order: Vec<u32> = std::iter::from_fn(|| heap.pop(&activity)).collect();
        assert_eq!(order, [1, 3, 0, 2, 4]);
    }
}
