//! Words for the string variables: classes of equal variables, the language of each class, a
//! word of the length that the integers want.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::cells;
use super::problem::{Definition, Lin, Problem, Str, StrVar};
use super::sat::Lit;
use super::search::Assignment;
use crate::regex::{Language, Re};

/// States that the language of one class may have.
const MAX_STATES: usize = 2_000;

/// States for parts and their whole together; what has more is left to the search.
const MAX_TOGETHER: usize = 200;

/// A word for each string variable.
#[derive(Default)]
pub(super) struct WordAssignment(pub(super) Vec<String>);

impl WordAssignment {
    pub(super) fn get(&self, v: StrVar) -> &str {
        self.0.get(v.0).map_or("", String::as_str)
    }

    pub(super) fn text<'a>(&'a self, s: &'a Str) -> &'a str {
        match s {
            Str::Lit(text) => text,
            Str::Var(v) => self.get(*v),
        }
    }
}

pub(super) enum Outcome {
    WordAssignment(WordAssignment),
    /// A clause that every model satisfies and this assignment does not.
    Lemma(Vec<Lit>),
    Unknown(&'static str),
}

/// Variables that are equal: their words are of this language and length.
pub(super) struct Class {
    pub(super) language: Rc<Language>,
    pub(super) length: usize,
}

pub(super) fn find(parent: &mut [usize], mut x: usize) -> usize {
    while parent[x] != x {
        parent[x] = parent[parent[x]];
        x = parent[x];
    }
    x
}

/// Looks at characters and edges of automata that count for one step of exploring an automaton.
const LOOKS: u64 = 256;
/// Why a search over words ends.
const EXHAUSTED: &str = "search budget exhausted";

/// Words for all variables. What is looked at on the way counts too: long words in large languages take
/// their time, and no query may depend on the clock.
pub(super) fn solve(problem: &mut Problem, model: &Assignment, automata: &mut u64) -> Outcome {
    let mut looks = Looks {
        done: 0,
        most: automata.saturating_mul(LOOKS),
    };
    let outcome = search(problem, model, automata, &mut looks);
    *automata = automata.saturating_sub(looks.done / LOOKS);
    outcome
}

/// What was looked at for one assignment, and how much may be.
pub(super) struct Looks {
    pub(super) done: u64,
    most: u64,
}

impl Looks {
    /// Whether there is nothing left to spend.
    pub(super) fn are_spent(&self) -> bool {
        self.done >= self.most
    }
}

fn search(
    problem: &mut Problem,
    model: &Assignment,
    automata: &mut u64,
    looks: &mut Looks,
) -> Outcome {
    let count = problem.lengths.len();
    if count == 0 {
        return Outcome::WordAssignment(WordAssignment::default());
    }
    let mut parent: Vec<usize> = (0..count).collect();
    for &(lit, a, b) in &problem.equal {
        if model.bool(lit) {
            let (a, b) = (find(&mut parent, a.0), find(&mut parent, b.0));
            parent[a.max(b)] = a.min(b);
        }
    }
    let root: Vec<usize> = (0..count).map(|v| find(&mut parent, v)).collect();
    let mut because: BTreeMap<usize, Vec<Lit>> = BTreeMap::new();
    let mut parts: BTreeMap<usize, Vec<Re>> = BTreeMap::new();
    for &(lit, a, _) in &problem.equal {
        if model.bool(lit) {
            because.entry(root[a.0]).or_default().push(lit);
        }
    }
    for m in &problem.members {
        let yes = model.bool(m.lit);
        let r = root[m.var.0];
        parts
            .entry(r)
            .or_default()
            .push(if yes { m.re.clone() } else { m.re.complement() });
        because
            .entry(r)
            .or_default()
            .push(if yes { m.lit } else { !m.lit });
    }
    // Two variables that must differ and are equal by a chain.
    for &(lit, a, b) in &problem.equal {
        if !model.bool(lit) && root[a.0] == root[b.0] {
            let chain = problem
                .equal
                .iter()
                .filter(|(l, x, _)| model.bool(*l) && root[x.0] == root[a.0])
                .map(|(l, _, _)| !*l);
            return Outcome::Lemma(chain.chain([lit]).collect());
        }
    }
    if let Some(lemma) = parts_against_whole(problem, &root, &parts, &because, automata) {
        return Outcome::Lemma(lemma);
    }
    let mut classes: BTreeMap<usize, Class> = BTreeMap::new();
    for (r, &of) in root.iter().enumerate() {
        if of != r {
            continue;
        }
        let re = Re::inter(parts.remove(&r).unwrap_or_default());
        let language = problem.language(re, MAX_STATES, automata);
        if *automata == 0 {
            return Outcome::Unknown(EXHAUSTED);
        }
        let Some(language) = language else {
            return Outcome::Unknown("a regular expression has too many states");
        };
        let because = because.remove(&r).unwrap_or_default();
        let length = model.int(&Lin::atom(problem.lengths[r]));
        let Some(length) = length.to_usize() else {
            return Outcome::Unknown("a string is too long");
        };
        if language.is_empty() {
            return Outcome::Lemma(because.iter().map(|l| !*l).collect());
        }
        if looks.are_spent() {
            return Outcome::Unknown(EXHAUSTED);
        }
        let Some(lengths) = language.lengths(length, &mut looks.done) else {
            return Outcome::Unknown("a string is too long");
        };
        if !lengths.exact {
            let mut lemma: Vec<Lit> = because.iter().map(|l| !*l).collect();
            let l = Lin::atom(problem.lengths[r]);
            if let Some(n) = lengths.below {
                lemma.push(problem.le(&l, &Lin::constant(n.into())));
            }
            if let Some(n) = lengths.above {
                lemma.push(problem.le(&Lin::constant(n.into()), &l));
            }
            return Outcome::Lemma(lemma);
        }
        classes.insert(r, Class { language, length });
    }
    let found = match assign(problem, model, &root, &classes, looks) {
        Outcome::WordAssignment(found) => found,
        other => return other,
    };
    looks.done += found.0.iter().map(|w| w.len() as u64).sum::<u64>();
    if keeps_definitions(problem, model, &found) {
        return Outcome::WordAssignment(found);
    }
    // Words that were chosen one by one do not fit together: all of them at once, of these lengths.
    match cells::solve(problem, model, &root, &classes, looks) {
        cells::Outcome::Words(found) => Outcome::WordAssignment(found),
        cells::Outcome::Impossible(clause) => Outcome::Lemma(clause),
        cells::Outcome::Unknown if looks.are_spent() => Outcome::Unknown(EXHAUSTED),
        // The search refines the definitions that the words break.
        cells::Outcome::Unknown => Outcome::WordAssignment(found),
    }
}

/// A clause against languages of parts that put together no word of the whole, whatever the lengths.
fn parts_against_whole(
    problem: &mut Problem,
    root: &[usize],
    parts: &BTreeMap<usize, Vec<Re>>,
    because: &BTreeMap<usize, Vec<Lit>>,
    automata: &mut u64,
) -> Option<Vec<Lit>> {
    let language = |r: usize| Re::inter(parts.get(&r).cloned().unwrap_or_default());
    for d in 0..problem.definitions.len() {
        let Definition::Concat { whole, parts: of } = &problem.definitions[d] else {
            continue;
        };
        let whole = root[whole.0];
        // Known ends are in the language of the whole already.
        let unknown = of.iter().filter_map(|p| match p {
            Str::Var(v) => Some(root[v.0]),
            Str::Lit(_) => None,
        });
        let unknown: Vec<usize> = unknown.collect();
        if !parts.contains_key(&whole) || !unknown.iter().any(|r| parts.contains_key(r)) {
            continue;
        }
        let together = of.iter().map(|p| match p {
            Str::Var(v) => language(root[v.0]),
            Str::Lit(text) => Re::literal(text),
        });
        let together = Re::concat(together.collect());
        let both = Re::inter(vec![together, language(whole)]);
        let both = problem.language(both, MAX_TOGETHER, automata);
        if both.is_some_and(|both| both.is_empty()) {
            let involved: std::collections::BTreeSet<usize> =
                unknown.into_iter().chain([whole]).collect();
            let lits = involved.iter().filter_map(|r| because.get(r)).flatten();
            return Some(lits.map(|l| !*l).collect());
        }
    }
    None
}

/// Whether concatenations and tests are what they should be.
fn keeps_definitions(problem: &Problem, model: &Assignment, found: &WordAssignment) -> bool {
    problem.definitions.iter().all(|d| match d {
        Definition::Concat { whole, parts } => {
            let text: String = parts.iter().map(|p| found.text(p)).collect();
            text == found.get(*whole)
        }
        Definition::Test { lit, test, a, b } => {
            test.holds(found.text(a), found.text(b)) == model.bool(*lit)
        }
        Definition::Product { .. } | Definition::Quotient { .. } => true,
    })
}

fn assign(
    problem: &mut Problem,
    model: &Assignment,
    root: &[usize],
    classes: &BTreeMap<usize, Class>,
    looks: &mut Looks,
) -> Outcome {
    let count = root.len();
    let mut words: BTreeMap<usize, String> = BTreeMap::new();
    // A class that is defined as a concatenation waits for its parts.
    let mut concats: BTreeMap<usize, Vec<Str>> = BTreeMap::new();
    for d in &problem.definitions {
        if let Definition::Concat { whole, parts } = d {
            concats
                .entry(root[whole.0])
                .or_insert_with(|| parts.clone());
        }
    }
    let order = classes
        .keys()
        .filter(|r| !concats.contains_key(r))
        .chain(classes.keys().filter(|r| concats.contains_key(r)));
    for &r in order {
        if looks.are_spent() {
            return Outcome::Unknown(EXHAUSTED);
        }
        let class = &classes[&r];
        let foes: Vec<(StrVar, StrVar, usize)> = problem
            .equal
            .iter()
            .filter(|(l, a, b)| !model.bool(*l) && (root[a.0] == r || root[b.0] == r))
            .map(|&(_, a, b)| {
                if root[a.0] == r {
                    (a, b, root[b.0])
                } else {
                    (b, a, root[a.0])
                }
            })
            .collect();
        let joined = concats.get(&r).and_then(|parts| {
            parts
                .iter()
                .map(|p| match p {
                    Str::Lit(text) => Some(text.clone()),
                    Str::Var(v) => words.get(&root[v.0]).cloned(),
                })
                .collect::<Option<String>>()
        });
        let taken = |w: &str| {
            foes.iter()
                .find(|(_, _, f)| words.get(f).is_some_and(|x| x == w))
        };
        if let Some(text) = joined
            && class.language.accepts(&text)
            && text.chars().count() == class.length
            && taken(&text).is_none()
        {
            words.insert(r, text);
            continue;
        }
        // A fixed scatter of choices: reproducible, and not "aaa" everywhere.
        let mut n = 0usize;
        let mut pick = |k: usize| {
            n += 1;
            (n / 7) % k
        };
        let candidates =
            class
                .language
                .words(class.length, foes.len() + 1, &mut pick, &mut looks.done);
        if let Some(w) = candidates.iter().find(|w| taken(w).is_none()) {
            words.insert(r, w.clone());
        } else {
            let Some(w) = candidates.first() else {
                return Outcome::Unknown("no word of the wanted length");
            };
            let Some(&(own, other, _)) = taken(w) else {
                return Outcome::Unknown("no word of the wanted length");
            };
            // own = w and other = w make them equal.
            let text = Str::Lit(w.clone());
            let a = problem.eq_str(&Str::Var(own), &text);
            let b = problem.eq_str(&Str::Var(other), &text);
            let equal = problem.eq_str(&Str::Var(own), &Str::Var(other));
            return Outcome::Lemma(vec![!a, !b, equal]);
        }
    }
    Outcome::WordAssignment(WordAssignment(
        (0..count).map(|v| words[&root[v]].clone()).collect(),
    ))
}
