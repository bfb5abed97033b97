//! The texts of a certificate that tell what was allowed after a run of a model with data, and where the model was:
//! `!MSG(m, true) [m > 3]`, `delta [k == 1]`, `Sent (n = m'1) when m'1 > 3`. Each is read as a condition.

use std::collections::{BTreeMap, BTreeSet};

use iolite_expr::{Op, Sort, Span, Term, Var, VarId};
use iolite_lang::DataNames;
use iolite_sts::{GateId, Iosts, LabelKind, LocationId, space};

use crate::data::split_outside;

/// What a condition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shown {
    /// An output; the condition is over its parameters.
    Output(GateId),
    /// δ.
    Delta,
    /// A location; the condition is over the variables.
    Place(LocationId),
}

/// An output, δ or a place under a condition, which may also read constants and unknown values.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) what: Shown,
    pub(super) condition: Term,
}

/// Ways to read texts whose unknown values could be of several sorts.
const MOST_READINGS: usize = 16;

/// The number of the first unknown value of a text, apart from those of formulas.
const FIRST: usize = 1 << 22;

/// The texts of a certificate, for a model.
pub(super) struct Texts<'a> {
    pub(super) model: &'a Iosts,
    pub(super) allowed: &'a [String],
    pub(super) places: &'a [String],
}

/// A reader with a sort for each name of unknown values.
struct Reader<'a> {
    model: &'a Iosts,
    sorts: BTreeMap<String, Sort>,
}

impl Texts<'_> {
    /// What the texts mean: a name of an unknown value does not tell its sort, so there may be several readings.
    pub(super) fn readings(&self) -> Vec<Vec<Entry>> {
        let texts = || self.allowed.iter().chain(self.places);
        let names: BTreeSet<String> = texts().flat_map(|text| unknowns(text)).collect();
        let bases: BTreeSet<String> = names.iter().map(|name| base(name)).collect();
        let mut choices: Vec<BTreeMap<String, Sort>> = vec![BTreeMap::new()];
        for base in bases {
            let sorts = self.sorts_of(&base);
            let longer = choices.iter().flat_map(|choice| {
                sorts.iter().map(|sort| {
                    let mut choice = choice.clone();
                    choice.insert(base.clone(), sort.clone());
                    choice
                })
            });
            choices = longer.take(MOST_READINGS).collect();
        }
        let read = |sorts: BTreeMap<String, Sort>| {
            let model = self.model;
            let reader = Reader { model, sorts };
            let allowed = self.allowed.iter().map(|text| reader.allowed(text));
            let places = self.places.iter().map(|text| reader.place(text));
            allowed.chain(places).collect::<Option<Vec<Entry>>>()
        };
        choices.into_iter().filter_map(read).collect()
    }

    /// The sorts of the parameters and variables that an unknown value may be named after.
    fn sorts_of(&self, base: &str) -> Vec<Sort> {
        let mut sorts: Vec<Sort> = Vec::new();
        let params = self.model.gates().flat_map(|(_, gate)| &gate.params);
        let variables = self.model.variables().iter().map(|v| &v.var);
        for var in params.chain(variables) {
            if *var.name == *base && !sorts.contains(&var.sort) {
                sorts.push(var.sort.clone());
            }
        }
        sorts
    }
}

impl Reader<'_> {
    /// The names in a text that speaks of these.
    fn names(&self, of: &[Var], text: &str) -> DataNames {
        let mut data = of.to_vec();
        data.extend(self.model.constants().iter().map(|c| c.var.clone()));
        for (k, name) in unknowns(text).into_iter().enumerate() {
            if let Some(sort) = self.sorts.get(&base(&name)) {
                let id = VarId::new(space::UNKNOWN, FIRST + k);
                data.push(Var::new(id, &name, sort.clone()));
            }
        }
        DataNames::over(&data)
    }

    fn allowed(&self, text: &str) -> Option<Entry> {
        let (what, rest) = if let Some(rest) = text.strip_prefix("delta") {
            (Shown::Delta, rest)
        } else {
            let text = text.strip_prefix('!')?;
            let end = text.find(" [").unwrap_or(text.len());
            let end = text.find('(').map_or(end, |args| args.min(end));
            let gate = self.model.find_gate(LabelKind::Output, &text[..end])?;
            (Shown::Output(gate), &text[end..])
        };
        let mut parts = Vec::new();
        let mut rest = rest;
        let mut params: &[Var] = &[];
        if let Shown::Output(gate) = what {
            params = &self.model.gate(gate).params;
        }
        let names = self.names(params, text);
        if !params.is_empty() {
            let inside = rest.strip_prefix('(')?;
            let end = closing(inside)?;
            let pieces = split_outside(&inside[..end], ',');
            if pieces.len() != params.len() {
                return None;
            }
            for (param, piece) in params.iter().zip(pieces) {
                if piece.trim() != &*param.name {
                    parts.push(is(&names, param, piece.trim())?);
                }
            }
            rest = &inside[end + 1..];
        }
        if !rest.is_empty() {
            let condition = rest.strip_prefix(" [")?.strip_suffix(']')?;
            parts.push(names.read(condition).ok()?);
        }
        let condition = Term::all(parts);
        Some(Entry { what, condition })
    }

    fn place(&self, text: &str) -> Option<Entry> {
        let ends = |rest: &str| rest.is_empty() || rest.starts_with(" (") || is_condition(rest);
        let locations = self.model.locations();
        let named = locations.filter_map(|(id, location)| {
            let rest = text.strip_prefix(&*location.name)?;
            ends(rest).then_some((id, rest))
        });
        let (location, mut rest) = named.min_by_key(|(_, rest)| rest.len())?;
        let variables: Vec<Var> = self
            .model
            .variables()
            .iter()
            .map(|v| v.var.clone())
            .collect();
        let names = self.names(&variables, text);
        let mut parts = Vec::new();
        if !variables.is_empty() {
            let inside = rest.strip_prefix(" (")?;
            let end = closing(inside)?;
            let pieces = split_outside(&inside[..end], ',');
            if pieces.len() != variables.len() {
                return None;
            }
            for (var, piece) in variables.iter().zip(pieces) {
                let (name, value) = piece.trim().split_once(" = ")?;
                if name != &*var.name {
                    return None;
                }
                parts.push(is(&names, var, value)?);
            }
            rest = &inside[end + 1..];
        }
        if !rest.is_empty() {
            parts.push(names.read(rest.strip_prefix(WHEN)?).ok()?);
        }
        Some(Entry {
            what: Shown::Place(location),
            condition: Term::all(parts),
        })
    }
}

const WHEN: &str = " when ";

fn is_condition(rest: &str) -> bool {
    rest.starts_with(WHEN)
}

/// `var == text`.
fn is(names: &DataNames, var: &Var, text: &str) -> Option<Term> {
    if let Ok(value) = names.read_value(text, &var.sort) {
        return var.term().equals_value(&value).ok();
    }
    let own = names.name(var)?;
    // A term of another sort, such as an empty array, is compared only where the language lets it be.
    names.read(&format!("{own} == ({text})")).ok()
}

/// Where the parenthesis is closed that was opened before a text.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (i, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '[' | '{' | '(' if !quoted => depth += 1,
            ')' if !quoted && depth == 0 => return Some(i),
            ']' | '}' | ')' if !quoted => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

fn base(name: &str) -> String {
    let base = name.split('\'').next();
    base.unwrap_or_default().to_owned()
}

/// The names of unknown values in a text, `m'1`, each once and in order.
fn unknowns(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    // Every second piece is quoted; an escaped quotation mark ends none.
    let plain = text.replace("\\\\", "").replace("\\\"", "");
    for piece in plain.split('"').step_by(2) {
        let own = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
        for word in piece.split(|c| !own(c)) {
            let number = word.rsplit_once('\'').map(|(_, number)| number);
            let numbered =
                number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
            if numbered && !found.iter().any(|name| name == word) {
                found.push(word.to_owned());
            }
        }
    }
    found
}

/// `a == b`, where the two can be compared.
pub(super) fn equal(a: &Term, b: &Term) -> Option<Term> {
    Term::apply(Op::Eq, vec![a.clone(), b.clone()], Span::NONE).ok()
}
