//! Writing HOA.

use std::fmt::Write as _;

use iolite_property::acceptance::{AcceptanceFormula, Colours};
use iolite_property::alphabet::Alphabet;
use iolite_property::diagram::{Diagrams, Function};
use iolite_property::omega::OmegaAutomaton;
use iolite_property::streett::StreettAutomaton;
use iolite_property::structure::{StateId, Structure};
use rustc_hash::FxHashMap;

/// Writes a Streett automaton; its finite acceptance goes into the header `iolite-finite:` where it
/// is not that of definition 3.
pub fn write(automaton: &StreettAutomaton, name: &str) -> String {
    let m = automaton.pairs().len();
    // HOA's Streett: (Fin(2i) | Inf(2i+1)), so the colours of a pair change places.
    let colours: Vec<Colours> = automaton
        .structure()
        .states()
        .map(|q| {
            let pairs = automaton.pairs().iter();
            let marks = pairs.flat_map(|p| [!p.persistent.contains(q), p.recurrent.contains(q)]);
            let marked = marks.zip(0..).filter_map(|(has, c)| has.then_some(c));
            marked.collect()
        })
        .collect();
    let pairs: Vec<String> = (0..m)
        .map(|i| format!("(Fin({}) | Inf({}))", 2 * i, 2 * i + 1))
        .collect();
    let acceptance = if m == 0 {
        "t".to_owned()
    } else {
        pairs.join(" & ")
    };
    let mut text = start(automaton.structure(), name);
    let _ = writeln!(
        text,
        "acc-name: Streett {m}\nAcceptance: {} {acceptance}",
        2 * m
    );
    if !automaton.follows_definition_3() {
        let list: Vec<String> = automaton
            .finite()
            .iter()
            .map(|q| q.index().to_string())
            .collect();
        let _ = writeln!(text, "iolite-finite: {}", list.join(" "));
    }
    body(&mut text, automaton.structure(), &colours, &|q| {
        automaton.name(q)
    });
    text
}

/// Writes an automaton with any acceptance, always with `iolite-finite:`.
pub fn write_omega(automaton: &OmegaAutomaton, name: &str) -> String {
    let mut text = start(&automaton.structure, name);
    let count = automaton.acceptance.colour_count();
    let _ = writeln!(
        text,
        "Acceptance: {count} {}",
        condition(&automaton.acceptance)
    );
    let list: Vec<String> = automaton
        .finite
        .iter()
        .map(|q| q.index().to_string())
        .collect();
    let _ = writeln!(text, "iolite-finite: {}", list.join(" "));
    let used = |set: &Colours| set.iter().filter(|&c| c < count).collect();
    let colours: Vec<Colours> = automaton.colours.iter().map(used).collect();
    body(&mut text, &automaton.structure, &colours, &|q| {
        q.index().to_string()
    });
    text
}

fn condition(f: &AcceptanceFormula) -> String {
    let join = |fs: &[AcceptanceFormula], sign: &str| {
        let parts: Vec<String> = fs.iter().map(condition).collect();
        format!("({})", parts.join(sign))
    };
    match f {
        AcceptanceFormula::True => "t".into(),
        AcceptanceFormula::False => "f".into(),
        AcceptanceFormula::Inf(c) => format!("Inf({c})"),
        AcceptanceFormula::Fin(c) => format!("Fin({c})"),
        AcceptanceFormula::And(fs) if fs.is_empty() => "t".into(),
        AcceptanceFormula::Or(fs) if fs.is_empty() => "f".into(),
        AcceptanceFormula::And(fs) => join(fs, " & "),
        AcceptanceFormula::Or(fs) => join(fs, " | "),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn is_actions(alphabet: &Alphabet) -> bool {
    // The one valuation of no proposition is an alphabet without propositions too.
    alphabet.propositions().is_empty()
}

fn start(structure: &Structure, name: &str) -> String {
    let sigma = structure.alphabet();
    let propositions: Vec<String> = if is_actions(sigma) {
        sigma.iter().map(|l| quoted(&sigma.text(l))).collect()
    } else {
        sigma.propositions().iter().map(|p| quoted(p)).collect()
    };
    let mut text = format!(
        "HOA: v1\nname: {}\nStates: {}\nStart: {}\nAP: {} {}\n",
        quoted(name),
        structure.len(),
        structure.initial().index(),
        propositions.len(),
        propositions.join(" "),
    );
    if is_actions(sigma) {
        text.push_str("iolite-alphabet: actions\n");
        text.push_str("properties: explicit-labels state-acc deterministic\n");
    } else {
        text.push_str("properties: explicit-labels state-acc complete deterministic\n");
    }
    text
}

fn body(
    text: &mut String,
    structure: &Structure,
    colours: &[Colours],
    name: &dyn Fn(StateId) -> String,
) {
    let sigma = structure.alphabet();
    let head = std::mem::take(text);
    let mut aliases = NodeAliases::default();
    for q in structure.states() {
        let _ = write!(text, "State: {}", q.index());
        let own = name(q);
        if own != q.index().to_string() {
            let _ = write!(text, " {}", quoted(&own));
        }
        if !colours[q.index()].is_empty() {
            let sets = colours[q.index()].iter();
            let sets: Vec<String> = sets.map(|c| c.to_string()).collect();
            let _ = write!(text, " {{{}}}", sets.join(" "));
        }
        text.push('\n');
        if !is_actions(sigma) {
            match structure.function(q) {
                Some((diagrams, f)) => function_edges(text, diagrams, f, &mut aliases),
                None => valuation_edges(text, structure.row(q), sigma.propositions().len()),
            }
            continue;
        }
        for l in sigma.iter() {
            let to = structure.step(q, l).index();
            let label: Vec<String> = (0..sigma.len())
                .map(|p| format!("{}{p}", if p == l.index() { "" } else { "!" }))
                .collect();
            let _ = writeln!(text, "[{}] {to}", label.join("&"));
        }
    }
    *text = format!("{head}{}--BODY--\n{text}--END--\n", aliases.text);
}

/// Ways to a successor that are written out as cubes; beyond, labels are made of aliases.
const MAX_CUBES: usize = 1 << 10;

/// Aliases for the nodes of diagrams, so that what is shared in them is written once.
#[derive(Default)]
struct NodeAliases {
    text: String,
    count: usize,
}

/// One edge to each successor, labelled by the function of the propositions that leads there.
fn function_edges(text: &mut String, diagrams: &Diagrams, f: Function, aliases: &mut NodeAliases) {
    let Ok(ways) = diagrams.ways(f, MAX_CUBES) else {
        for (to, _) in diagrams.values(f) {
            let label = aliases.label(diagrams, f, to, &mut FxHashMap::default());
            let _ = writeln!(text, "[{label}] {to}");
        }
        return;
    };
    let mut functions: Vec<(u32, Vec<String>)> = Vec::new();
    for (to, way) in ways {
        let literal = |&(p, holds): &(u32, bool)| format!("{}{p}", if holds { "" } else { "!" });
        let cube: Vec<String> = way.iter().map(literal).collect();
        let cube = if cube.is_empty() {
            "t".into()
        } else {
            cube.join("&")
        };
        match functions.iter_mut().find(|(known, _)| *known == to) {
            Some((_, cubes)) => cubes.push(cube),
            None => functions.push((to, vec![cube])),
        }
    }
    for (to, cubes) in functions {
        let _ = writeln!(text, "[{}] {to}", cubes.join(" | "));
    }
}

impl NodeAliases {
    /// What says that a function leads to `to`: a constant, or the alias of its first node.
    fn label(
        &mut self,
        diagrams: &Diagrams,
        f: Function,
        to: u32,
        known: &mut FxHashMap<Function, String>,
    ) -> String {
        if let Some(label) = known.get(&f) {
            return label.clone();
        }
        let label = match diagrams.node(f) {
            None if f == Function::constant(to) => "t".to_owned(),
            None => "f".to_owned(),
            Some((p, low, high)) => {
                let low = self.label(diagrams, low, to, known);
                let high = self.label(diagrams, high, to, known);
                if low == high {
                    low
                } else {
                    let name = format!("@n{}", self.count);
                    self.count += 1;
                    let _ = writeln!(self.text, "Alias: {name} {p}&{high} | !{p}&{low}");
                    name
                }
            }
        };
        known.insert(f, label.clone());
        label
    }
}

/// One edge to each successor, labelled by the function of the propositions that leads there.
fn valuation_edges(text: &mut String, row: &[StateId], propositions: usize) {
    let mut functions: Vec<(StateId, Vec<String>)> = Vec::new();
    let all: Vec<usize> = (0..propositions).collect();
    let mut todo = vec![(row.to_vec(), all, String::new())];
    while let Some((table, left, cube)) = todo.pop() {
        let Some(place) = deciding(&table, left.len()) else {
            let cube = if cube.is_empty() { "t".into() } else { cube };
            match functions.iter_mut().find(|(to, _)| *to == table[0]) {
                Some((_, cubes)) => cubes.push(cube),
                None => functions.push((table[0], vec![cube])),
            }
            continue;
        };
        let joint = if cube.is_empty() { "" } else { "&" };
        let mut rest = left.clone();
        let proposition = rest.remove(place);
        for (value, sign) in [(1, ""), (0, "!")] {
            let part = cofactor(&table, place, value).collect();
            let cube = format!("{cube}{joint}{sign}{proposition}");
            todo.push((part, rest.clone(), cube));
        }
    }
    for (to, cubes) in functions {
        let _ = writeln!(text, "[{}] {}", cubes.join(" | "), to.index());
    }
}

/// The bit to ask for next: one that decides everything in one way, else one that matters; none where nothing
/// does.
fn deciding(table: &[StateId], bits: usize) -> Option<usize> {
    let constant = |place, value| {
        let mut part = cofactor(table, place, value);
        let first = part.next();
        part.all(|to| Some(to) == first)
    };
    let matters = |&place: &usize| !cofactor(table, place, 0).eq(cofactor(table, place, 1));
    let first = (0..bits).find(matters)?;
    let decided = (first..bits).find(|p| matters(p) && (constant(*p, 0) || constant(*p, 1)));
    decided.or(Some(first))
}

/// The entries of a table over valuations where one bit has this value.
fn cofactor(table: &[StateId], place: usize, value: usize) -> impl Iterator<Item = StateId> {
    let entries = table.iter().enumerate();
    entries
        .filter(move |(i, _)| i >> place & 1 == value)
        .map(|(_, &to)| to)
}
