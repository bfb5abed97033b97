//! Decision diagrams with numbers at their ends: functions of a letter's bits.
//!
//! Over n propositions there are 2^n letters, and a row of a transition table has an entry for each. Most rows
//! are simple functions of the propositions, so where there are many of these a row is kept as a diagram that
//! asks for one bit after another, in a fixed order, and never twice for the same. Diagrams of one arena are
//! shared and reduced: two functions are equal iff their references are [after Bryant 1986].

use rustc_hash::FxHashMap;

use crate::structure::AutomatonError;

/// Nodes that the diagrams of one automaton may have; a counted bound on memory.
const MAX_NODES: usize = 1 << 22;

/// A function in an arena: a node, or with the highest bit set a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Function(u32);

const END: u32 = 1 << 31;

impl Function {
    /// The same number for all letters; one below 2^31.
    pub fn constant(value: u32) -> Self {
        assert!(value < END, "fewer than 2^31 values");
        Self(value | END)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    bit: u32,
    low: Function,
    high: Function,
}

/// A value, and the bits that are asked for on the way to it with their answers.
pub type Way = (u32, Vec<(u32, bool)>);

/// Two functions if a bit is not set, and if it is.
pub(crate) type Halves = ((Function, Function), (Function, Function));

/// An arena of functions.
#[derive(Clone, Debug, Default)]
pub struct Diagrams {
    nodes: Vec<Node>,
    unique: FxHashMap<Node, Function>,
}

impl PartialEq for Diagrams {
    fn eq(&self, other: &Self) -> bool {
        self.nodes == other.nodes
    }
}

impl Eq for Diagrams {}

impl Diagrams {
    /// The bit that is asked for first, and what is left for either answer; nothing for a constant.
    pub fn node(&self, f: Function) -> Option<(u32, Function, Function)> {
        let node = self.nodes.get(f.0 as usize)?;
        Some((node.bit, node.low, node.high))
    }

    /// Asks for a bit that neither function asks for, nor any before it.
    pub fn make(
        &mut self,
        bit: u32,
        low: Function,
        high: Function,
    ) -> Result<Function, AutomatonError> {
        if low == high {
            return Ok(low);
        }
        let node = Node { bit, low, high };
        if let Some(&known) = self.unique.get(&node) {
            return Ok(known);
        }
        if self.nodes.len() >= MAX_NODES {
            return Err(AutomatonError::DiagramTooLarge(MAX_NODES));
        }
        let made = Function(self.nodes.len() as u32);
        self.nodes.push(node);
        self.unique.insert(node, made);
        Ok(made)
    }

    /// The value at a letter.
    #[inline]
    pub fn at(&self, mut f: Function, letter: u64) -> u32 {
        loop {
            match self.node(f) {
                None => return f.0 & !END,
                Some((bit, low, high)) => f = if letter >> bit & 1 == 1 { high } else { low },
            }
        }
    }

    /// The values that occur, each with one letter where it does; the values of letters with few bits come first.
    pub fn values(&self, f: Function) -> Vec<(u32, u64)> {
        let mut seen: rustc_hash::FxHashSet<Function> = rustc_hash::FxHashSet::default();
        let mut found = Vec::new();
        let mut todo = vec![(f, 0)];
        while let Some((f, letter)) = todo.pop() {
            if !seen.insert(f) {
                continue;
            }
            match self.node(f) {
                None => found.push((f.0 & !END, letter)),
                Some((bit, low, high)) => {
                    todo.push((high, letter | 1 << bit));
                    todo.push((low, letter));
                }
            }
        }
        found
    }

    /// The ways to each value: a value, and the bits that are asked for on the way with their answers. Ends with
    /// an error beyond `limit` of them, since there may be exponentially many.
    pub fn ways(&self, f: Function, limit: usize) -> Result<Vec<Way>, AutomatonError> {
        let mut found = Vec::new();
        let mut todo = vec![(f, Vec::new())];
        while let Some((f, way)) = todo.pop() {
            match self.node(f) {
                None => found.push((f.0 & !END, way)),
                Some((bit, low, high)) => {
                    let with = |answer| {
                        let mut longer = way.clone();
                        longer.push((bit, answer));
                        longer
                    };
                    todo.push((low, with(false)));
                    todo.push((high, with(true)));
                }
            }
            if found.len() > limit {
                return Err(AutomatonError::DiagramTooLarge(limit));
            }
        }
        Ok(found)
    }

    fn split(&self, f: Function, bit: u32) -> (Function, Function) {
        match self.node(f) {
            Some((own, low, high)) if own == bit => (low, high),
            _ => (f, f),
        }
    }

    fn first_bit(&self, f: Function) -> u32 {
        self.node(f).map_or(u32::MAX, |n| n.0)
    }

    /// A function of another arena, its values replaced. `memo` belongs to one arena and one replacement.
    pub fn mapped<E: From<AutomatonError>>(
        &mut self,
        source: &Self,
        f: Function,
        memo: &mut FxHashMap<Function, Function>,
        value: &mut impl FnMut(&mut Self, u32) -> Result<u32, E>,
    ) -> Result<Function, E> {
        self.answered(source, f, (u32::MAX, 0), memo, value)
    }

    /// The same, where the bits from one on have these answers: the lowest is that of the first of them.
    pub(crate) fn answered<E: From<AutomatonError>>(
        &mut self,
        source: &Self,
        f: Function,
        (first, answers): (u32, u64),
        memo: &mut FxHashMap<Function, Function>,
        value: &mut impl FnMut(&mut Self, u32) -> Result<u32, E>,
    ) -> Result<Function, E> {
        if let Some(&known) = memo.get(&f) {
            return Ok(known);
        }
        let mut on =
            |own: &mut Self, g: Function| own.answered(source, g, (first, answers), memo, value);
        let made = match source.node(f) {
            None => Function::constant(value(self, f.0 & !END)?),
            Some((bit, low, high)) if bit >= first => {
                let yes = answers >> (bit - first) & 1 == 1;
                on(self, if yes { high } else { low })?
            }
            Some((bit, low, high)) => {
                let (low, high) = (on(self, low)?, on(self, high)?);
                self.make(bit, low, high)?
            }
        };
        memo.insert(f, made);
        Ok(made)
    }

    /// The function whose value is found from those of two others. `memo` belongs to their arenas and one rule.
    pub fn joined<E: From<AutomatonError>>(
        &mut self,
        (one, f): (&Self, Function),
        (other, g): (&Self, Function),
        memo: &mut FxHashMap<(Function, Function), Function>,
        value: &mut impl FnMut(u32, u32) -> Result<u32, E>,
    ) -> Result<Function, E> {
        if let Some(&known) = memo.get(&(f, g)) {
            return Ok(known);
        }
        let bit = one.first_bit(f).min(other.first_bit(g));
        let made = if bit == u32::MAX {
            Function::constant(value(f.0 & !END, g.0 & !END)?)
        } else {
            let ((f0, f1), (g0, g1)) = (one.split(f, bit), other.split(g, bit));
            let low = self.joined((one, f0), (other, g0), memo, value)?;
            let high = self.joined((one, f1), (other, g1), memo, value)?;
            self.make(bit, low, high)?
        };
        memo.insert((f, g), made);
        Ok(made)
    }

    /// Two functions of this arena for either answer to the bit that one of them asks for first; where neither does,
    /// their values.
    pub(crate) fn halves(&self, f: Function, g: Function) -> Result<Halves, (u32, u32)> {
        let bit = self.first_bit(f).min(self.first_bit(g));
        if bit == u32::MAX {
            return Err((f.0 & !END, g.0 & !END));
        }
        let ((f0, f1), (g0, g1)) = (self.split(f, bit), self.split(g, bit));
        Ok(((f0, g0), (f1, g1)))
    }

    /// Several functions of another arena as one: `value` is found from those of all. `memo` belongs to one arena and
    /// one rule. It is kept small, since there may be exponentially many combinations.
    pub(crate) fn joint<E: From<AutomatonError>>(
        &mut self,
        source: &Self,
        parts: Vec<Function>,
        memo: &mut FxHashMap<Vec<Function>, Function>,
        value: &mut impl FnMut(&[u32]) -> Result<u32, E>,
    ) -> Result<Function, E> {
        if let Some(&known) = memo.get(&parts) {
            return Ok(known);
        }
        if memo.len().saturating_mul(parts.len() + 1) >= MAX_NODES {
            return Err(AutomatonError::DiagramTooLarge(MAX_NODES).into());
        }
        let bits = parts.iter().map(|&f| source.first_bit(f));
        let bit = bits.min().unwrap_or(u32::MAX);
        let made = if bit == u32::MAX {
            let values: Vec<u32> = parts.iter().map(|f| f.0 & !END).collect();
            Function::constant(value(&values)?)
        } else {
            let low = parts.iter().map(|&f| source.split(f, bit).0).collect();
            let high = parts.iter().map(|&f| source.split(f, bit).1).collect();
            let low = self.joint(source, low, memo, value)?;
            let high = self.joint(source, high, memo, value)?;
            self.make(bit, low, high)?
        };
        memo.insert(parts, made);
        Ok(made)
    }

    /// Asks for a bit wherever it stands in the order.
    fn choice(
        &mut self,
        bit: u32,
        low: Function,
        high: Function,
        memo: &mut FxHashMap<(u32, Function, Function), Function>,
    ) -> Result<Function, AutomatonError> {
        if low == high {
            return Ok(low);
        }
        if let Some(&known) = memo.get(&(bit, low, high)) {
            return Ok(known);
        }
        let first = self.first_bit(low).min(self.first_bit(high));
        let made = if first > bit {
            self.make(bit, low, high)?
        } else {
            let ((l0, l1), (h0, h1)) = (self.split(low, first), self.split(high, first));
            if first == bit {
                self.make(bit, l0, h1)?
            } else {
                let no = self.choice(bit, l0, h0, memo)?;
                let yes = self.choice(bit, l1, h1, memo)?;
                self.make(first, no, yes)?
            }
        };
        memo.insert((bit, low, high), made);
        Ok(made)
    }

    /// The function whose value is found from those of two others of this arena.
    pub fn combined(
        &mut self,
        f: Function,
        g: Function,
        mut value: impl FnMut(u32, u32) -> u32,
    ) -> Result<Function, AutomatonError> {
        let mut memo = FxHashMap::default();
        self.combine(f, g, &mut memo, &mut value)
    }

    fn combine(
        &mut self,
        f: Function,
        g: Function,
        memo: &mut FxHashMap<(Function, Function), Function>,
        value: &mut impl FnMut(u32, u32) -> u32,
    ) -> Result<Function, AutomatonError> {
        if let Some(&known) = memo.get(&(f, g)) {
            return Ok(known);
        }
        let bit = self.first_bit(f).min(self.first_bit(g));
        let made = if bit == u32::MAX {
            Function::constant(value(f.0 & !END, g.0 & !END))
        } else {
            let ((f0, f1), (g0, g1)) = (self.split(f, bit), self.split(g, bit));
            let low = self.combine(f0, g0, memo, value)?;
            let high = self.combine(f1, g1, memo, value)?;
            self.make(bit, low, high)?
        };
        memo.insert((f, g), made);
        Ok(made)
    }

    /// The function that goes on, at each letter, with one that the value of `f` names.
    pub fn followed<E: From<AutomatonError>>(
        &mut self,
        f: Function,
        on: &mut impl FnMut(&mut Self, u32) -> Result<Function, E>,
    ) -> Result<Function, E> {
        self.follow(f, on, &mut FxHashMap::default(), &mut FxHashMap::default())
    }

    fn follow<E: From<AutomatonError>>(
        &mut self,
        f: Function,
        on: &mut impl FnMut(&mut Self, u32) -> Result<Function, E>,
        memo: &mut FxHashMap<Function, Function>,
        choices: &mut FxHashMap<(u32, Function, Function), Function>,
    ) -> Result<Function, E> {
        if let Some(&known) = memo.get(&f) {
            return Ok(known);
        }
        let made = match self.node(f) {
            None => on(self, f.0 & !END)?,
            Some((bit, low, high)) => {
                let low = self.follow(low, on, memo, choices)?;
                let high = self.follow(high, on, memo, choices)?;
                self.choice(bit, low, high, choices)?
            }
        };
        memo.insert(f, made);
        Ok(made)
    }

    /// A row of a table as a function of the letter's number. A number without a letter does as the one without
    /// its highest bit, so that it adds nothing.
    pub fn of_row(&mut self, row: &[u32]) -> Result<Function, AutomatonError> {
        let bits = row.len().next_power_of_two().trailing_zeros();
        self.of_entries(row, 0, 0, bits)
    }

    fn of_entries(
        &mut self,
        row: &[u32],
        letter: usize,
        bit: u32,
        bits: u32,
    ) -> Result<Function, AutomatonError> {
        if bit == bits {
            let aliased = || row[letter & !(1 << (bits - 1))];
            return Ok(Function::constant(
                row.get(letter).copied().unwrap_or_else(aliased),
            ));
        }
        let low = self.of_entries(row, letter, bit + 1, bits)?;
        let high = self.of_entries(row, letter | 1 << bit, bit + 1, bits)?;
        self.make(bit, low, high)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BITS: u64 = 4;

    fn rows() -> impl Strategy<Value = Vec<Vec<u32>>> {
        let row = prop::collection::vec(0..3_u32, 1 << BITS);
        prop::collection::vec(row, 4)
    }

    fn made(diagrams: &mut Diagrams, row: &[u32]) -> Function {
        diagrams.of_row(row).unwrap()
    }

    proptest! {
        /// Every operation, letter by letter.
        #[test]
        fn operations_by_enumeration(rows in rows()) {
            let mut d = Diagrams::default();
            let f: Vec<Function> = rows.iter().map(|r| made(&mut d, r)).collect();
            let letters = || 0..1_u64 << BITS;
            let combined = d.combined(f[0], f[1], |x, y| 3 * x + y).unwrap();
            let followed: Function = d
                .followed(f[0], &mut |_, x| Ok::<_, AutomatonError>(f[1 + x as usize]))
                .unwrap();
            let mut other = Diagrams::default();
            let mut raise = |_: &mut Diagrams, x: u32| Ok::<_, AutomatonError>(x / 2);
            let mapped = other.mapped(&d, f[0], &mut FxHashMap::default(), &mut raise).unwrap();
            let mut join = |x: u32, y: u32| Ok::<_, AutomatonError>(3 * x + y);
            let (one, two) = ((&d, f[0]), (&d, f[1]));
            let joined = other.joined(one, two, &mut FxHashMap::default(), &mut join).unwrap();
            let mut sum = |values: &[u32]| Ok::<_, AutomatonError>(values.iter().fold(0, |s, v| 3 * s + v));
            let joint = other.joint(&d, f.clone(), &mut FxHashMap::default(), &mut sum).unwrap();
            let mut same = |_: &mut Diagrams, x: u32| Ok::<_, AutomatonError>(x);
            let answered = other.answered(&d, f[0], (2, 1), &mut FxHashMap::default(), &mut same).unwrap();
            for l in letters() {
                let at = |i: usize| rows[i][l as usize];
                prop_assert_eq!(other.at(answered, l), rows[0][(l & 3 | 4) as usize]);
                prop_assert_eq!(other.at(joint, l), 27 * at(0) + 9 * at(1) + 3 * at(2) + at(3));
                prop_assert_eq!(d.at(f[0], l), at(0));
                prop_assert_eq!(d.at(combined, l), 3 * at(0) + at(1));
                prop_assert_eq!(other.at(joined, l), 3 * at(0) + at(1));
                prop_assert_eq!(d.at(followed, l), at(1 + at(0) as usize));
                prop_assert_eq!(other.at(mapped, l), at(0) / 2);
            }
            // Equal functions have equal references, however they were made.
            let table: Vec<u32> = letters().map(|l| d.at(followed, l)).collect();
            prop_assert_eq!(made(&mut d, &table), followed);
            let mut values: Vec<u32> = d.values(f[0]).iter().map(|v| v.0).collect();
            prop_assert!(d.values(f[0]).iter().all(|&(x, l)| d.at(f[0], l) == x));
            values.sort_unstable();
            let mut expected = rows[0].clone();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(values, expected);
            let ways = d.ways(f[0], 1 << BITS).unwrap();
            for l in letters() {
                let fits = |way: &[(u32, bool)]| way.iter().all(|&(b, yes)| (l >> b & 1 == 1) == yes);
                let found: Vec<u32> = ways.iter().filter(|w| fits(&w.1)).map(|w| w.0).collect();
                prop_assert_eq!(found, vec![rows[0][l as usize]]);
            }
        }

        /// Numbers without a letter add nothing.
        #[test]
        fn rows_of_any_length(row in prop::collection::vec(0..9_u32, 1..20)) {
            let mut d = Diagrams::default();
            let f = made(&mut d, &row);
            for (l, &x) in row.iter().enumerate() {
                prop_assert_eq!(d.at(f, l as u64), x);
            }
            prop_assert!(d.values(f).iter().all(|v| row.contains(&v.0)));
        }
    }
}
