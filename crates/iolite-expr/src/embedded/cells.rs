//! Words of known lengths, all at once: each position of each word is a cell, concatenations make
//! cells equal, and a search goes through the automata of all words with the cells that are left.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::{Definition, Lin, Problem, Str, StrVar};
use super::sat::Lit;
use super::search::Assignment;
use super::words::{Class, Looks, WordAssignment, find};
use crate::Int;
use crate::regex::{MAX_CHAR, readable};

/// Cells of all words together; the search is as deep.
const MAX_CELLS: usize = 1_000;
/// Characters that are tried in all, for words that hang together.
const MAX_NODES: u32 = 4_000;
/// Characters that count as alike and are tried for one cell: words that must differ may want more
/// than one.
const ALIKE: usize = 3;

pub(super) enum Outcome {
    Words(WordAssignment),
    /// There are no such words of these lengths; the clause against them.
    Impossible(Vec<Lit>),
    Unknown,
}

/// Two known characters for one cell.
struct Clash;

struct Cells {
    /// Where the cells of a class begin, by its root.
    start: BTreeMap<usize, usize>,
    /// Cells that are equal.
    parent: Vec<usize>,
    known: Vec<Option<char>>,
}

impl Cells {
    fn root(&mut self, cell: usize) -> usize {
        find(&mut self.parent, cell)
    }

    fn learn(&mut self, cell: usize, c: char) -> Result<(), Clash> {
        let r = self.root(cell);
        match self.known[r].replace(c) {
            Some(d) if d != c => Err(Clash),
            _ => Ok(()),
        }
    }

    fn join(&mut self, a: usize, b: usize) -> Result<(), Clash> {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return Ok(());
        }
        let gone = self.known[b].take();
        self.parent[b] = a;
        gone.map_or(Ok(()), |c| self.learn(a, c))
    }
}

/// Words for all classes, of the lengths that the model has.
pub(super) fn solve(
    problem: &mut Problem,
    model: &Assignment,
    root: &[usize],
    classes: &BTreeMap<usize, Class>,
    looks: &mut Looks,
) -> Outcome {
    let mut start = BTreeMap::new();
    let mut count = 0;
    for (r, class) in classes {
        start.insert(*r, count);
        count += class.length;
        if count > MAX_CELLS {
            return Outcome::Unknown;
        }
    }
    let mut cells = Cells {
        start,
        parent: (0..count).collect(),
        known: vec![None; count],
    };
    let mut words: BTreeMap<usize, String> = BTreeMap::new();
    for group in groups(problem, root, classes) {
        let clash = connect(problem, &mut cells, root, classes, &group).is_err();
        let found = if clash {
            Found::Nothing
        } else {
            Search::new(problem, model, root, classes, &mut cells, &group, looks).run()
        };
        match found {
            Found::Words(found) => words.extend(found),
            Found::Nothing => {
                return Outcome::Impossible(against(problem, model, root, classes, &group));
            }
            Found::Unknown => return Outcome::Unknown,
        }
    }
    Outcome::Words(WordAssignment(
        root.iter().map(|r| words[r].clone()).collect(),
    ))
}

/// The class of a string that is not known.
fn class_of(s: &Str, root: &[usize]) -> Option<usize> {
    match s {
        Str::Var(v) => Some(root[v.0]),
        Str::Lit(_) => None,
    }
}

/// Classes that say something of each other, in order.
fn groups(
    problem: &Problem,
    root: &[usize],
    classes: &BTreeMap<usize, Class>,
) -> Vec<BTreeSet<usize>> {
    let mut parent: Vec<usize> = (0..root.len()).collect();
    let mut join = |a: usize, b: usize| {
        let (a, b) = (find(&mut parent, a), find(&mut parent, b));
        parent[a.max(b)] = a.min(b);
    };
    for &(_, a, b) in &problem.equal {
        join(root[a.0], root[b.0]);
    }
    for d in &problem.definitions {
        match d {
            Definition::Concat { whole, parts } => {
                for p in parts.iter().filter_map(|p| class_of(p, root)) {
                    join(root[whole.0], p);
                }
            }
            Definition::Test { a, b, .. } => {
                if let (Some(a), Some(b)) = (class_of(a, root), class_of(b, root)) {
                    join(a, b);
                }
            }
            Definition::Product { .. } | Definition::Quotient { .. } => {}
        }
    }
    let mut groups: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for &r in classes.keys() {
        groups.entry(find(&mut parent, r)).or_default().insert(r);
    }
    groups.into_values().collect()
}

/// Makes the cells of a whole those of its parts.
fn connect(
    problem: &Problem,
    cells: &mut Cells,
    root: &[usize],
    classes: &BTreeMap<usize, Class>,
    group: &BTreeSet<usize>,
) -> Result<(), Clash> {
    for d in &problem.definitions {
        let Definition::Concat { whole, parts } = d else {
            continue;
        };
        let whole = root[whole.0];
        if !group.contains(&whole) {
            continue;
        }
        let mut at = cells.start[&whole];
        let end = at + classes[&whole].length;
        for p in parts {
            match p {
                Str::Var(v) => {
                    let part = root[v.0];
                    let from = cells.start[&part];
                    for i in 0..classes[&part].length {
                        if at >= end {
                            return Err(Clash);
                        }
                        cells.join(at, from + i)?;
                        at += 1;
                    }
                }
                Str::Lit(text) => {
                    for c in text.chars() {
                        if at >= end {
                            return Err(Clash);
                        }
                        cells.learn(at, c)?;
                        at += 1;
                    }
                }
            }
        }
        if at != end {
            return Err(Clash);
        }
    }
    Ok(())
}

/// The clause against the lengths and literals of a group.
fn against(
    problem: &mut Problem,
    model: &Assignment,
    root: &[usize],
    classes: &BTreeMap<usize, Class>,
    group: &BTreeSet<usize>,
) -> Vec<Lit> {
    let mut clause = Vec::new();
    let mut refute = |l: Lit| clause.push(if model.bool(l) { !l } else { l });
    for m in problem
        .members
        .iter()
        .filter(|m| group.contains(&root[m.var.0]))
    {
        refute(m.lit);
    }
    for (l, a, _) in &problem.equal {
        if group.contains(&root[a.0]) {
            refute(*l);
        }
    }
    for d in &problem.definitions {
        if let Definition::Test { lit, a, b, .. } = d {
            let inside = |s: &Str| class_of(s, root).is_some_and(|r| group.contains(&r));
            if inside(a) || inside(b) {
                refute(*lit);
            }
        }
    }
    for r in group {
        let length = Lin::atom(problem.lengths[*r]);
        let n = Int::from(classes[r].length);
        let shorter = Lin::constant(&n - &Int::ONE);
        let longer = Lin::constant(&n + &Int::ONE);
        clause.push(problem.le(&length, &shorter));
        clause.push(problem.le(&longer, &length));
    }
    clause
}

enum Found {
    Words(BTreeMap<usize, String>),
    Nothing,
    Unknown,
}

struct Search<'a> {
    problem: &'a Problem,
    model: &'a Assignment,
    root: &'a [usize],
    classes: &'a BTreeMap<usize, Class>,
    cells: &'a mut Cells,
    /// The classes in the order in which they get their words, and what is alive in each.
    order: Vec<(usize, Vec<Vec<bool>>)>,
    /// Where ranges of characters that are alike begin.
    points: Vec<u32>,
    group: &'a BTreeSet<usize>,
    nodes: u32,
    looks: &'a mut Looks,
    /// Whether a set of words failed that other characters might have saved.
    cut: bool,
}

impl<'a> Search<'a> {
    fn new(
        problem: &'a Problem,
        model: &'a Assignment,
        root: &'a [usize],
        classes: &'a BTreeMap<usize, Class>,
        cells: &'a mut Cells,
        group: &'a BTreeSet<usize>,
        looks: &'a mut Looks,
    ) -> Self {
        let mut points = vec![0, 0xD800, 0xE000];
        for r in group {
            classes[r].language.boundaries(&mut points);
        }
        let known = |c: char| [c as u32, c as u32 + 1];
        points.extend(cells.known.iter().flatten().copied().flat_map(known));
        for d in &problem.definitions {
            if let Definition::Test { a, b, .. } = d {
                for text in [a, b] {
                    if let Str::Lit(text) = text {
                        points.extend(text.chars().flat_map(known));
                    }
                }
            }
        }
        points.sort_unstable();
        points.dedup();
        // Small languages first: they leave the least to choose.
        let mut order: Vec<usize> = group.iter().copied().collect();
        order.sort_by_key(|r| (classes[r].language.edges(0).len() == 2, *r));
        let order = order
            .into_iter()
            .map(|r| {
                let Class { language, length } = &classes[&r];
                (r, language.live(*length, &mut looks.done))
            })
            .collect();
        Self {
            problem,
            model,
            root,
            classes,
            cells,
            order,
            points,
            group,
            nodes: MAX_NODES,
            looks,
            cut: false,
        }
    }

    fn run(mut self) -> Found {
        if self.word(0, 0, 0) {
            let group = self.group;
            return Found::Words(group.iter().map(|r| (*r, self.text(*r))).collect());
        }
        if self.nodes == 0 || self.cut || self.looks.are_spent() {
            Found::Unknown
        } else {
            Found::Nothing
        }
    }

    fn text(&mut self, class: usize) -> String {
        let start = self.cells.start[&class];
        self.looks.done += self.classes[&class].length as u64;
        let cells = start..start + self.classes[&class].length;
        let get = |cell| {
            let r = self.cells.root(cell);
            self.cells.known[r].unwrap_or('a')
        };
        cells.map(get).collect()
    }

    /// Gives the class at this place of the order its characters from a position on, and then the
    /// classes after it.
    fn word(&mut self, place: usize, position: usize, state: u32) -> bool {
        let Some((class, live)) = self.order.get(place) else {
            return self.holds();
        };
        let class = *class;
        let length = self.classes[&class].length;
        if position == length {
            let accepted = live[0][state as usize];
            return accepted && self.word(place + 1, 0, 0);
        }
        if self.looks.are_spent() {
            return false;
        }
        let left = length - position - 1;
        let language = &self.classes[&class].language;
        self.looks.done += 1 + language.edges(state).len() as u64;
        let edges: Vec<(u32, u32, u32)> = language
            .edges(state)
            .iter()
            .filter(|(_, _, t)| live[left][*t as usize])
            .copied()
            .collect();
        let cell = self.cells.root(self.cells.start[&class] + position);
        if let Some(c) = self.cells.known[cell] {
            let c = c as u32;
            let Some(&(_, _, t)) = edges.iter().find(|(lo, hi, _)| *lo <= c && c <= *hi) else {
                return false;
            };
            return self.word(place, position + 1, t);
        }
        for (lo, hi, t) in edges {
            for c in self.candidates(lo, hi, place + position) {
                if self.nodes == 0 {
                    return false;
                }
                self.nodes -= 1;
                self.cells.known[cell] = Some(c);
                if self.word(place, position + 1, t) {
                    return true;
                }
                self.cells.known[cell] = None;
            }
        }
        false
    }

    /// Characters of a range to try: some of each part whose characters are alike.
    fn candidates(&self, lo: u32, hi: u32, scatter: usize) -> Vec<char> {
        let first = self.points.partition_point(|p| *p <= lo);
        let mut from = lo;
        let mut out = Vec::new();
        let ends = self.points[first..].iter().map(|p| p - 1);
        for end in ends.chain([MAX_CHAR]) {
            let to = end.min(hi);
            if from <= to && !(0xD800..0xE000).contains(&from) {
                for n in 0..ALIKE {
                    let c = readable(from, to, &mut |k| (scatter / 7 + n) % k);
                    if !out.contains(&c) {
                        out.push(c);
                    }
                }
            }
            if end >= hi {
                break;
            }
            from = end + 1;
        }
        // Readable ones first.
        out.sort_by_key(|c| !c.is_ascii_graphic());
        out
    }

    /// Whether the words differ and pass the tests where they should.
    fn holds(&mut self) -> bool {
        let ok = self.differ() && self.pass();
        // Others of the characters that are alike might have done.
        self.cut |= !ok;
        ok
    }

    fn differ(&mut self) -> bool {
        let foes: Vec<(usize, usize)> = self
            .problem
            .equal
            .iter()
            .filter(|(l, a, _)| !self.model.bool(*l) && self.group.contains(&self.root[a.0]))
            .map(|(_, a, b)| (self.root[a.0], self.root[b.0]))
            .collect();
        foes.into_iter().all(|(a, b)| self.text(a) != self.text(b))
    }

    fn pass(&mut self) -> bool {
        let problem = self.problem;
        problem.definitions.iter().all(|d| {
            let Definition::Test { lit, test, a, b } = d else {
                return true;
            };
            let of = |this: &mut Self, s: &Str| match s {
                Str::Lit(text) => Some(text.clone()),
                Str::Var(StrVar(v)) => {
                    let r = this.root[*v];
                    this.group.contains(&r).then(|| this.text(r))
                }
            };
            let (a, b) = (of(self, a), of(self, b));
            a.zip(b)
                .is_none_or(|(a, b)| test.holds(&a, &b) == self.model.bool(*lit))
        })
    }
}
