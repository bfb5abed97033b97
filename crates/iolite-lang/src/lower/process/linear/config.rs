//! Control points: behaviour terms whose data are terms over variables.

use std::collections::BTreeMap;
use std::rc::Rc;

use iolite_expr::{Sort, Substitution, Term, TermTooLarge, Var, VarId};
use iolite_lts::StateId;
use iolite_sts::{LocationId, space};

use super::super::term::{GateMap, Node};
use crate::gate_parameters;
use crate::lower::term::Scope;
use crate::names::Names;
use crate::syntax::ast::{BehaviourKind, Item};

/// A known value of a sort with at most so many values belongs to the control point; others are data.
pub(super) const MOST_STATIC: u64 = 64;

/// A behaviour term. Names stand for known values, for variables of the model, or, in a step that is
/// being made, for terms over them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Config<'f> {
    Stop,
    /// A prefix after some of its events, a choice, a guard or an exit.
    At(Node<'f>, u32, Scope),
    Parallel(Node<'f>, Scope, Vec<Config<'f>>),
    Relabelled(Node<'f>, Scope, Box<Config<'f>>),
    /// What stands before `>>`, with what follows reads.
    Enable(Node<'f>, Scope, Box<Config<'f>>),
    Disable(Box<[Config<'f>; 2]>),
    Gated(Rc<GateMap>, Box<Config<'f>>),
    State(u32, StateId),
    /// A location of a system with data, with the values of its variables.
    Data(Rc<DataPlace>, Scope),
}

/// A location of a system with data, told from others by its place.
#[derive(Clone, Debug)]
pub(super) struct DataPlace {
    pub(super) machine: u32,
    pub(super) location: LocationId,
    /// As people read it.
    pub(super) text: String,
    pub(super) span: crate::Span,
}

impl PartialEq for DataPlace {
    fn eq(&self, other: &Self) -> bool {
        (self.machine, self.location) == (other.machine, other.location)
    }
}

impl Eq for DataPlace {}

impl std::hash::Hash for DataPlace {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.machine, self.location).hash(state);
    }
}

impl Config<'_> {
    /// A process with actions for its formal gates; see `Table::gated`.
    pub(super) fn gated(map: &GateMap, inner: Self) -> Self {
        let (map, inner) = match inner {
            Self::Gated(before, inner) => {
                let through = |name: &String| map.get(name).unwrap_or(name).clone();
                let composed = before.iter().map(|(old, new)| (old.clone(), through(new)));
                (composed.collect::<GateMap>(), *inner)
            }
            inner => (map.clone(), inner),
        };
        if map.is_empty() || inner == Self::Stop {
            return inner;
        }
        Self::Gated(Rc::new(map), Box::new(inner))
    }

    fn parts(&self) -> &[Self] {
        match self {
            Self::Stop | Self::At(..) | Self::State(..) | Self::Data(..) => &[],
            Self::Relabelled(_, _, inner) | Self::Enable(_, _, inner) | Self::Gated(_, inner) => {
                std::slice::from_ref(inner)
            }
            Self::Parallel(_, _, parts) => parts,
            Self::Disable(parts) => &parts[..],
        }
    }

    fn parts_mut(&mut self) -> &mut [Self] {
        match self {
            Self::Stop | Self::At(..) | Self::State(..) | Self::Data(..) => &mut [],
            Self::Relabelled(_, _, inner) | Self::Enable(_, _, inner) | Self::Gated(_, inner) => {
                std::slice::from_mut(inner)
            }
            Self::Parallel(_, _, parts) => parts,
            Self::Disable(parts) => &mut parts[..],
        }
    }

    pub(super) fn depth(&self) -> usize {
        1 + self.parts().iter().map(Self::depth).max().unwrap_or(0)
    }

    /// The data that it carries itself.
    fn scope_mut(&mut self) -> Option<&mut Scope> {
        match self {
            Self::At(_, _, scope) | Self::Enable(_, scope, _) | Self::Data(_, scope) => Some(scope),
            _ => None,
        }
    }

    pub(super) fn substitute(&mut self, map: &Substitution) -> Result<(), TermTooLarge> {
        for term in self.scope_mut().into_iter().flat_map(BTreeMap::values_mut) {
            *term = term.substitute(map)?;
        }
        self.parts_mut()
            .iter_mut()
            .try_for_each(|part| part.substitute(map))
    }

    pub(super) fn reads(&self, var: VarId) -> bool {
        let own = match self {
            Self::At(_, _, scope) | Self::Enable(_, scope, _) | Self::Data(_, scope) => {
                scope.values().any(|t| t.reads(var))
            }
            _ => false,
        };
        own || self.parts().iter().any(|p| p.reads(var))
    }

    /// The place in the text.
    pub(super) fn span(&self) -> crate::Span {
        match self {
            Self::At(node, k, _) => match &node.0.kind {
                BehaviourKind::Prefix { events, .. } => events[*k as usize].span,
                _ => node.0.span,
            },
            Self::Parallel(node, ..) | Self::Relabelled(node, ..) => node.0.span,
            Self::Data(place, _) => place.span,
            _ => self
                .parts()
                .first()
                .map_or(crate::Span::default(), Self::span),
        }
    }

    /// As people read it: where a process begins it has the name of the process.
    pub(super) fn text(&self, names: &Names<'_>) -> String {
        match self {
            Self::Stop => "stop".to_owned(),
            Self::State(_, state) => format!("state {}", state.index()),
            Self::Data(place, scope) => with_known(place.text.clone(), scope),
            Self::At(node, k, scope) => {
                let text = beginning(names, *node)
                    .filter(|_| *k == 0)
                    .unwrap_or_else(|| {
                        let text = crate::fmt::behaviour_text(node.0, *k as usize);
                        shortened(&gate_parameters::unmarked(&text))
                    });
                with_known(text, scope)
            }
            Self::Enable(node, _, left) => {
                let after = match &node.0.kind {
                    BehaviourKind::Enable { parts, .. } => crate::fmt::behaviour_text(&parts[1], 0),
                    _ => String::new(),
                };
                let after = shortened(&gate_parameters::unmarked(&after));
                format!("{} >> {after}", left.text(names))
            }
            Self::Disable(parts) => {
                format!("{} [> {}", parts[0].text(names), parts[1].text(names))
            }
            Self::Relabelled(_, _, inner) | Self::Gated(_, inner) => inner.text(names),
            Self::Parallel(_, _, parts) => {
                let parts: Vec<String> = parts.iter().map(|p| p.text(names)).collect();
                format!("({})", parts.join(", "))
            }
        }
    }
}

/// A text with the values that are known.
fn with_known(mut text: String, scope: &Scope) -> String {
    let known = scope.iter().filter(|(_, term)| term.is_ground());
    for (k, (name, value)) in known.enumerate() {
        let separator = if k == 0 { " with" } else { "," };
        text.push_str(&format!("{separator} {name} = {value}"));
    }
    text
}

/// The name of the process that begins here.
fn beginning(names: &Names<'_>, node: Node<'_>) -> Option<String> {
    let process = names.iter().find(|item| match item {
        Item::Definition(d) => Node(&d.body) == node,
        _ => false,
    });
    process.map(|item| item.name().text.clone())
}

/// Characters of a text that a name of a location shows.
const LONGEST: usize = 40;

fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}

/// Variables of one name and place, by sort.
type Alternatives = Vec<(Sort, usize)>;

/// The variables of the model that is being made. A name at one place in the structure of a term is
/// one variable, wherever the control is.
#[derive(Default)]
pub(super) struct Variables {
    known: BTreeMap<(Vec<u32>, String), Alternatives>,
    pub(super) vars: Vec<Var>,
    names: BTreeMap<String, usize>,
}

impl Variables {
    fn at(&mut self, path: &[u32], name: &str, sort: &Sort) -> usize {
        let same = self
            .known
            .entry((path.to_vec(), name.to_owned()))
            .or_default();
        if let Some((_, var)) = same.iter().find(|(s, _)| s == sort) {
            return *var;
        }
        let index = self.vars.len();
        same.push((sort.clone(), index));
        let count = self.names.entry(name.to_owned()).or_default();
        *count += 1;
        // No name of a text has a dot.
        let unique = match *count {
            1 => name.to_owned(),
            n => format!("{name}.{n}"),
        };
        let id = VarId::new(space::VARIABLE, index);
        self.vars.push(Var::new(id, &unique, sort.clone()));
        index
    }
}

fn is_static(term: &Term) -> bool {
    let few = |n: u64| n <= MOST_STATIC;
    term.as_value().is_some() && term.sort().cardinality().is_some_and(few)
}

/// A configuration in which every name that is no known value stands for a variable, and what these
/// variables become.
pub(super) fn canonical<'f>(
    mut config: Config<'f>,
    variables: &mut Variables,
) -> (Config<'f>, BTreeMap<usize, Term>) {
    let mut assignments = BTreeMap::new();
    place(&mut config, &mut Vec::new(), variables, &mut assignments);
    (config, assignments)
}

fn place(
    config: &mut Config<'_>,
    path: &mut Vec<u32>,
    variables: &mut Variables,
    assignments: &mut BTreeMap<usize, Term>,
) {
    if let Some(scope) = config.scope_mut() {
        for (name, term) in scope.iter_mut().filter(|(_, term)| !is_static(term)) {
            let var = variables.at(path, name, term.sort());
            let value = std::mem::replace(term, variables.vars[var].term());
            assignments.insert(var, value);
        }
    }
    // What is relabelled stands where it stood before; parts have places of their own.
    let own = matches!(config, Config::Relabelled(..) | Config::Gated(..));
    for (k, part) in config.parts_mut().iter_mut().enumerate() {
        if !own {
            path.push(k as u32);
        }
        place(part, path, variables, assignments);
        if !own {
            path.pop();
        }
    }
}
