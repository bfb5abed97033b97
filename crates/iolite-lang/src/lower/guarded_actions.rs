//! The guards of a property on the values of its actions, as terms over their parameters.

use std::collections::BTreeMap;

use iolite_expr::{Solver, Sort as TermSort, Term, Var, VarId};
use iolite_lts::LabelKind;
use iolite_property::GuardedAction;
use iolite_sts::{Iosts, space};

use super::formula_events::PropertyAtom;
use super::term::{Scope, Terms};
use crate::syntax::ast::{Expr, File};
use crate::{Diagnostic, codes};

/// The parameters of an action, as a model or an alphabet declares them.
#[derive(Clone, Debug)]
pub struct ActionSignature {
    /// Input, output or undirected.
    pub kind: LabelKind,
    /// Its name.
    pub name: String,
    /// Names and sorts.
    pub params: Vec<(String, TermSort)>,
}

impl ActionSignature {
    /// The visible actions of a model with data.
    pub fn of_model(model: &Iosts) -> Vec<Self> {
        let visible = |k: LabelKind| matches!(k, LabelKind::Input | LabelKind::Output);
        let gates = model.gates().filter(|(_, g)| visible(g.kind));
        let gates = gates.map(|(_, gate)| {
            let params = gate.params.iter();
            Self {
                kind: gate.kind,
                name: gate.name.to_string(),
                params: params
                    .map(|p| (p.name.to_string(), p.sort.clone()))
                    .collect(),
            }
        });
        gates.collect()
    }
}

/// Parameters whose sorts are guessed at most.
const MOST_GUESSED: usize = 4;

/// Sorts that a parameter may have where none is declared.
const GUESSES: [TermSort; 3] = [TermSort::Int, TermSort::String, TermSort::Bool];

/// A guard in the text and the action that it stands beside.
type Key = (usize, usize, LabelKind, String);

/// The actions of a property that have guards, or parameters with sorts.
#[derive(Debug, Default)]
pub(super) struct GuardedActions {
    pub(super) actions: Vec<GuardedAction>,
    /// The number of each guard among those of its action.
    numbers: BTreeMap<Key, usize>,
}

fn key(guard: &Expr, kind: LabelKind, name: &str) -> Key {
    (guard.span.start, guard.span.end, kind, name.to_owned())
}

impl GuardedActions {
    /// Those of these atoms. `declared` are the parameters that are known from elsewhere; the first of an
    /// action counts.
    pub(super) fn new(
        file: &File,
        declared: &[ActionSignature],
        atoms: &[PropertyAtom<'_>],
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut result = Self::default();
        let mut found = Vec::new();
        let terms = Terms::new(file);
        let mut solver = Solver::embedded();
        let mut done: Vec<(LabelKind, &str)> = Vec::new();
        // Declared sorts without guards tell testers which values to give.
        let wanted = |a: &&PropertyAtom<'_>| a.guard.is_some() || !a.sorts.is_empty();
        for atom in atoms.iter().filter(wanted) {
            let Some((kind, name, _)) = atom.label() else {
                let span = atom.event.span;
                let error = "a guard stands behind an action, and this is none";
                found.push(Diagnostic::error(codes::EVENT_NOT_HERE, span, error));
                continue;
            };
            if done.contains(&(kind, name)) {
                continue;
            }
            done.push((kind, name));
            let same =
                |a: &&PropertyAtom<'_>| a.label().is_some_and(|l| (l.0, l.1) == (kind, name));
            let own: Vec<&PropertyAtom<'_>> = atoms.iter().filter(same).collect();
            let action = Action {
                kind,
                name,
                terms: &terms,
                atoms: &own,
            };
            match action.guards(declared) {
                Err(errors) => found.extend(errors),
                Ok((params, guards)) => {
                    let mut distinct: Vec<Term> = Vec::new();
                    for (guard, term) in guards {
                        let known = distinct.iter().position(|t| *t == term);
                        let number = known.unwrap_or(distinct.len());
                        if known.is_none() {
                            distinct.push(term);
                        }
                        result.numbers.insert(key(guard, kind, name), number);
                    }
                    match GuardedAction::new(kind, name, params, distinct, &mut solver) {
                        Ok(action) => result.actions.push(action),
                        Err(e) => {
                            let span = atom.event.span;
                            found.push(Diagnostic::error(codes::NO_AUTOMATON, span, e.to_string()));
                        }
                    }
                }
            }
        }
        if found.is_empty() {
            Ok(result)
        } else {
            Err(found)
        }
    }

    pub(super) fn get(&self, kind: LabelKind, name: &str) -> Option<&GuardedAction> {
        let fits = |a: &&GuardedAction| a.kind() == kind && a.name() == name;
        self.actions.iter().find(fits)
    }

    /// The number of a guard among those of its action.
    pub(super) fn number(&self, guard: &Expr, kind: LabelKind, name: &str) -> Option<usize> {
        self.numbers.get(&key(guard, kind, name)).copied()
    }
}

struct Action<'a, 'f> {
    kind: LabelKind,
    name: &'a str,
    terms: &'a Terms<'f>,
    atoms: &'a [&'a PropertyAtom<'a>],
}

type Guards<'a> = Vec<(&'a Expr, Term)>;

impl<'a> Action<'a, '_> {
    fn guards(
        &self,
        declared: &[ActionSignature],
    ) -> Result<(Vec<Var>, Guards<'a>), Vec<Diagnostic>> {
        let one = |d: Diagnostic| vec![d];
        if let Some((names, sorts)) = self.declared(declared).map_err(one)? {
            self.check_arity(names.len()).map_err(one)?;
            let params = variables(&names, &sorts);
            let guards = self.lowered(&params)?;
            return Ok((params, guards));
        }
        let named = self.atoms.iter().filter_map(|a| a.label()?.2);
        let count = named.clone().map(<[_]>::len).next().unwrap_or(0);
        self.check_arity(count).map_err(one)?;
        let name = |i: usize| {
            let names = named.clone().filter_map(|args| args.get(i));
            let mut names = names.filter(|n| n.text != "_");
            names
                .next()
                .map_or_else(|| format!("p{i}"), |n| n.text.clone())
        };
        let names: Vec<String> = (0..count).map(name).collect();
        self.inferred(&names)
    }

    /// Names and sorts of the parameters, where they are written or known.
    #[allow(clippy::type_complexity)]
    fn declared(
        &self,
        declared: &[ActionSignature],
    ) -> Result<Option<(Vec<String>, Vec<TermSort>)>, Diagnostic> {
        let known = declared
            .iter()
            .find(|s| s.kind == self.kind && s.name == self.name);
        let mut result = known.map(|s| s.params.iter().cloned().unzip());
        for atom in self.atoms.iter().filter(|a| !a.sorts.is_empty()) {
            let sorts = atom.sorts.iter().map(|s| self.terms.sort(s));
            let sorts: Vec<TermSort> = sorts.collect::<Result<_, _>>()?;
            let names = atom.label().and_then(|l| l.2).into_iter().flatten();
            match &result {
                None => result = Some((names.map(|n| n.text.clone()).collect(), sorts)),
                Some((_, known)) if *known == sorts => {}
                Some(_) => {
                    return Err(Diagnostic::error(
                        codes::BAD_TERM,
                        atom.event.span,
                        format!(
                            "the parameters of `{}{}` are of other sorts elsewhere",
                            self.kind.sigil(),
                            self.name
                        ),
                    ));
                }
            }
        }
        Ok(result)
    }

    fn check_arity(&self, count: usize) -> Result<(), Diagnostic> {
        for atom in self.atoms {
            if let Some((_, _, Some(args))) = atom.label()
                && args.len() != count
            {
                let parameters = if count == 1 {
                    "parameter"
                } else {
                    "parameters"
                };
                return Err(Diagnostic::error(
                    codes::EVENT_ARITY,
                    atom.event.span,
                    format!(
                        "`{}{}` has {count} {parameters}, and {} are named here",
                        self.kind.sigil(),
                        self.name,
                        args.len()
                    ),
                ));
            }
        }
        Ok(())
    }

    /// The guards as terms over these parameters.
    fn lowered(&self, params: &[Var]) -> Result<Guards<'a>, Vec<Diagnostic>> {
        let mut found = Vec::new();
        let mut guards = Vec::new();
        for atom in self.atoms {
            let Some(guard) = atom.guard else { continue };
            let args = atom.label().and_then(|l| l.2).unwrap_or_default();
            let named = args.iter().zip(params).filter(|(a, _)| a.text != "_");
            let scope: Scope = named.map(|(a, p)| (a.text.clone(), p.term())).collect();
            match self.terms.term(guard, &scope, Some(&TermSort::Bool)) {
                Ok(term) if *term.sort() == TermSort::Bool => guards.push((guard, term)),
                Ok(term) => found.push(Diagnostic::error(
                    codes::BAD_TERM,
                    guard.span,
                    format!(
                        "a guard is a condition, and this is of sort {}",
                        term.sort()
                    ),
                )),
                Err(error) => {
                    let names: Vec<&str> = args.iter().map(|a| a.text.as_str()).collect();
                    let whole = format!("{}{}", self.kind.sigil(), self.name);
                    let hint = error.code == codes::UNKNOWN_NAME && error.hint.is_none();
                    let hint = hint.then_some(names_hint(&whole, &names));
                    found.push(error.maybe_hint(hint));
                }
            }
        }
        if found.is_empty() {
            Ok(guards)
        } else {
            Err(found)
        }
    }

    /// The only choice of sorts under which all guards have a meaning.
    fn inferred(&self, names: &[String]) -> Result<(Vec<Var>, Guards<'a>), Vec<Diagnostic>> {
        let whole = format!("{}{}", self.kind.sigil(), self.name);
        let first = &self.atoms[0];
        let declare = |message: String| {
            let sorted: Vec<String> = names.iter().map(|n| format!("{n}: int")).collect();
            let declaration = format!("{whole}({})", sorted.join(", "));
            let span = first.guard.map_or(first.event.span, |g| g.span);
            vec![
                Diagnostic::error(codes::BAD_TERM, span, message).hint(format!(
                    "say them in the alphabet: `over {{ {declaration} }}`"
                )),
            ]
        };
        if names.len() > MOST_GUESSED {
            let message = format!(
                "the sorts of the {} parameters of `{whole}` are not known",
                names.len()
            );
            return Err(declare(message));
        }
        let mut fits = Vec::new();
        let mut errors = None;
        for choice in 0..GUESSES.len().pow(names.len() as u32) {
            let sort =
                |i: usize| GUESSES[choice / GUESSES.len().pow(i as u32) % GUESSES.len()].clone();
            let sorts: Vec<TermSort> = (0..names.len()).map(sort).collect();
            let params = variables(names, &sorts);
            match self.lowered(&params) {
                Ok(guards) => {
                    let read = |p: &Var| guards.iter().any(|(_, g)| g.reads(p.id));
                    // A parameter that no guard reads may be anything; as text, everything is read.
                    let idle = params
                        .iter()
                        .any(|p| !read(p) && p.sort != TermSort::String);
                    if !idle {
                        fits.push((params, guards));
                    }
                }
                Err(found) => {
                    errors.get_or_insert(found);
                }
            }
        }
        match (fits.len(), errors) {
            (0, Some(errors)) => Err(errors),
            (1, _) => Ok(fits.remove(0)),
            _ => Err(declare(format!(
                "the sorts of the parameters of `{whole}` are not determined by its guards"
            ))),
        }
    }
}

fn names_hint(whole: &str, names: &[&str]) -> String {
    match names.len() {
        0 => format!("name the parameters: `{whole}(x) [x > 0]`"),
        _ => format!("here `{whole}` has {}", names.join(", ")),
    }
}

fn variables(names: &[String], sorts: &[TermSort]) -> Vec<Var> {
    let pairs = names.iter().zip(sorts).enumerate();
    pairs
        .map(|(i, (name, sort))| {
            let id = VarId::new(space::PARAMETER, i);
            Var::new(id, name, sort.clone())
        })
        .collect()
}
