//! The language of a regular expression as a lazily explored automaton: emptiness, word lengths
//! and words. This is what the embedded solver needs of strings.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{MAX_CHAR, Re};

/// An automaton whose states are derivatives.
pub(crate) struct Language {
    states: Vec<Re>,
    index: FxHashMap<Re, u32>,
    /// Successors by character range, sorted; `None` where not explored yet.
    edges: Vec<Option<Vec<(u32, u32, u32)>>>,
    accepting: Vec<bool>,
    limit: usize,
    /// Size of all states together.
    size: usize,
    /// Nodes that derivatives looked at.
    work: u64,
}

/// Nested repetitions have few derivatives, but large ones.
const MAX_SIZE: usize = 200_000;

/// Lengths around a wanted one at which the language has words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lengths {
    pub(crate) exact: bool,
    pub(crate) below: Option<usize>,
    pub(crate) above: Option<usize>,
}

/// No word is that long in any model: a longer one is answered with "unknown".
pub(crate) const MAX_WORD: usize = 2_000;

impl Language {
    pub(crate) fn new(re: Re, limit: usize) -> Self {
        let mut language = Self {
            states: Vec::new(),
            index: FxHashMap::default(),
            edges: Vec::new(),
            accepting: Vec::new(),
            limit,
            size: 0,
            work: 0,
        };
        language.intern(re);
        language
    }

    fn intern(&mut self, re: Re) -> u32 {
        if let Some(&id) = self.index.get(&re) {
            return id;
        }
        let id = self.states.len() as u32;
        self.accepting.push(re.nullable());
        self.size += re.size();
        self.states.push(re.clone());
        self.edges.push(None);
        self.index.insert(re, id);
        id
    }

    /// What exploring cost: a derivative for each range of characters looks at all nodes of its state.
    pub(crate) fn work(&self) -> u64 {
        self.work
    }

    /// Explores one state; `false` when a limit is hit.
    fn explore(&mut self, state: u32) -> bool {
        if self.edges[state as usize].is_some() {
            return true;
        }
        if self.states.len() > self.limit || self.size > MAX_SIZE {
            return false;
        }
        let re = self.states[state as usize].clone();
        // Surrogates are no scalar values: they lie in no string.
        let mut points = vec![0, 0xD800, 0xE000];
        re.boundaries(&mut points);
        points.sort_unstable();
        points.dedup();
        points.retain(|p| *p <= MAX_CHAR);
        self.work += (points.len() * re.size()) as u64;
        let mut edges: Vec<(u32, u32, u32)> = Vec::new();
        for (i, &lo) in points.iter().enumerate() {
            if lo == 0xD800 {
                continue;
            }
            let hi = points.get(i + 1).map_or(MAX_CHAR, |p| p - 1);
            let next = re.derivative(lo);
            if next.is_empty_class() {
                continue;
            }
            let target = self.intern(next);
            match edges.last_mut() {
                Some((_, end, t)) if *t == target && *end + 1 == lo => *end = hi,
                _ => edges.push((lo, hi, target)),
            }
        }
        self.edges[state as usize] = Some(edges);
        true
    }

    /// Explores everything reachable; `false` when there is more than the limit.
    pub(crate) fn explore_all(&mut self) -> bool {
        let mut next = 0;
        while next < self.states.len() {
            if !self.explore(next as u32) {
                return false;
            }
            next += 1;
        }
        true
    }

    /// Whether the text is a word. All states must be explored.
    pub(crate) fn accepts(&self, text: &str) -> bool {
        let mut state = 0usize;
        for c in text.chars() {
            let c = c as u32;
            let Some(edges) = &self.edges[state] else {
                return false;
            };
            let i = edges.partition_point(|&(_, hi, _)| hi < c);
            match edges.get(i) {
                Some(&(lo, _, target)) if lo <= c => state = target as usize,
                _ => return false,
            }
        }
        self.accepting[state]
    }

    /// Whether the language is empty. All states must be explored.
    pub(crate) fn is_empty(&self) -> bool {
        !self.accepting.contains(&true)
    }

    fn step(&self, set: &[u32]) -> Vec<u32> {
        let mut next: Vec<u32> = set
            .iter()
            .flat_map(|&s| self.edges[s as usize].iter().flatten().map(|&(_, _, t)| t))
            .collect();
        next.sort_unstable();
        next.dedup();
        next
    }

    /// Whether there are words of this length, and the next lengths below and above where there
    /// are some. All states must be explored. `None` when the answer lies beyond [`MAX_WORD`].
    pub(crate) fn lengths(&self, wanted: usize, looks: &mut u64) -> Option<Lengths> {
        let mut set = vec![0u32];
        let mut below = None;
        let mut seen: FxHashSet<Vec<u32>> = FxHashSet::default();
        for length in 0..=MAX_WORD {
            let hit = set.iter().any(|&s| self.accepting[s as usize]);
            if length < wanted && hit {
                below = Some(length);
            }
            if length == wanted && hit {
                return Some(Lengths {
                    exact: true,
                    below,
                    above: None,
                });
            }
            if length > wanted {
                if hit {
                    return Some(Lengths {
                        exact: false,
                        below,
                        above: Some(length),
                    });
                }
                if !seen.insert(set.clone()) {
                    return Some(Lengths {
                        exact: false,
                        below,
                        above: None,
                    });
                }
            }
            if set.is_empty() {
                return Some(Lengths {
                    exact: false,
                    below,
                    above: None,
                });
            }
            *looks += set.iter().map(|s| self.edges(*s).len() as u64).sum::<u64>();
            set = self.step(&set);
        }
        None
    }

    /// By length up to the given one and by state: whether some word of that length is accepted from
    /// there. All states must be explored.
    pub(crate) fn live(&self, length: usize, looks: &mut u64) -> Vec<Vec<bool>> {
        *looks += self.looks_by_length() * length as u64;
        let mut live: Vec<Vec<bool>> = vec![self.accepting.clone()];
        for k in 0..length {
            let row = (0..self.states.len())
                .map(|s| {
                    self.edges(s as u32)
                        .iter()
                        .any(|&(_, _, t)| live[k][t as usize])
                })
                .collect();
            live.push(row);
        }
        live
    }

    /// Edges, and states, that are looked at for one character more.
    pub(crate) fn looks_by_length(&self) -> u64 {
        let edges: usize = self.edges.iter().flatten().map(Vec::len).sum();
        (edges + self.states.len()) as u64
    }

    /// The successors of a state by range of characters.
    pub(crate) fn edges(&self, state: u32) -> &[(u32, u32, u32)] {
        self.edges[state as usize].as_deref().unwrap_or_default()
    }

    /// Where all ranges of characters begin.
    pub(crate) fn boundaries(&self, points: &mut Vec<u32>) {
        for &(lo, hi, _) in self.edges.iter().flatten().flatten() {
            points.extend([lo, hi + 1]);
        }
    }

    /// Up to `count` different words of this length. `pick` chooses among `n` alternatives, so
    /// that the caller decides whether words are the first ones or random ones.
    pub(crate) fn words(
        &self,
        length: usize,
        count: usize,
        pick: &mut dyn FnMut(usize) -> usize,
        looks: &mut u64,
    ) -> Vec<String> {
        if length > MAX_WORD {
            return Vec::new();
        }
        let live = self.live(length, looks);
        if !live[length][0] {
            return Vec::new();
        }
        let mut words: Vec<String> = Vec::new();
        // Repeated draws may collide, so a language with few words wants several tries.
        for _ in 0..count * 4 + 4 {
            let mut word = String::new();
            let mut state = 0u32;
            for k in (0..length).rev() {
                let edges: Vec<_> = self.edges[state as usize]
                    .iter()
                    .flatten()
                    .filter(|&&(_, _, t)| live[k][t as usize])
                    .collect();
                *looks += 1 + self.edges(state).len() as u64;
                let &&(lo, hi, target) = &edges[pick(edges.len())];
                word.push(readable(lo, hi, pick));
                state = target;
            }
            if !words.contains(&word) {
                words.push(word);
            }
            if words.len() == count {
                break;
            }
        }
        words
    }
}

/// A character of the range, printable ASCII where there is some.
pub(crate) fn readable(lo: u32, hi: u32, pick: &mut dyn FnMut(usize) -> usize) -> char {
    for (a, b) in [(0x61, 0x7A), (0x30, 0x39), (0x41, 0x5A), (0x20, 0x7E)] {
        let (a, b) = (lo.max(a), hi.min(b));
        if a <= b {
            let c = a + pick((b - a + 1) as usize) as u32;
            return char::from_u32(c).unwrap_or('a');
        }
    }
    let c = lo + pick((hi - lo + 1) as usize) as u32;
    char::from_u32(c)
        .or_else(|| char::from_u32(lo))
        .unwrap_or('?')
}

#[cfg(test)]
mod tests {
    use super::super::Regex;
    use super::*;

    fn language(re: &str) -> Language {
        let mut l = Language::new(Regex::parse(re).unwrap().re().clone(), 1_000);
        assert!(l.explore_all());
        l
    }

    #[test]
    fn lengths_are_exact() {
        let l = language("(abc)*");
        assert_eq!(
            l.lengths(3, &mut 0),
            Some(Lengths {
                exact: true,
                below: Some(0),
                above: None
            })
        );
        assert_eq!(
            l.lengths(4, &mut 0),
            Some(Lengths {
                exact: false,
                below: Some(3),
                above: Some(6)
            })
        );
        let l = language("a{2,4}");
        assert_eq!(
            l.lengths(7, &mut 0),
            Some(Lengths {
                exact: false,
                below: Some(4),
                above: None
            })
        );
        assert_eq!(
            l.lengths(0, &mut 0),
            Some(Lengths {
                exact: false,
                below: None,
                above: Some(2)
            })
        );
        assert!(language("[^\\w\\W]").is_empty());
    }

    #[test]
    fn words_are_in_the_language() {
        let re = Regex::parse("[a-c]{2}|x[0-9]").unwrap();
        let mut n = 0;
        let mut pick = |k| {
            n += 7;
            n % k
        };
        let words = language("[a-c]{2}|x[0-9]").words(2, 6, &mut pick, &mut 0);
        assert!(words.len() > 2);
        assert!(words.iter().all(|w| re.is_match(w)));
    }
}
