//! What a guard asks of its variables, taken apart once, so that values can be tried against it by
//! evaluation.

use rustc_hash::FxHashSet;

use super::part::Part;
use crate::term::{Kind, Op};
use crate::{Int, Regex, Sort, Term, Value, Var, VarId};

/// Comparisons and literals of one guard that are looked at.
const MOST: usize = 256;
/// Arrays, sets and maps of one guard that elements are taken from.
const MOST_COLLECTIONS: usize = 16;

/// A guard over some variables, as conjuncts with what each of them compares. Other variables that it
/// reads have values of their own.
#[derive(Clone, Debug)]
pub struct GuardProfile {
    pub(super) vars: Vec<Var>,
    pub(super) conjuncts: Vec<Conjunct>,
    /// The literals, each once.
    pub(super) numbers: Vec<Int>,
    pub(super) texts: Vec<Value>,
    /// The arrays, sets and maps in it that do not depend on its variables.
    pub(super) collections: Vec<Term>,
    /// What else it reads.
    others: Vec<VarId>,
}

/// One conjunct.
#[derive(Clone, Debug)]
pub(super) struct Conjunct {
    pub(super) term: Term,
    pub(super) atoms: Vec<Atom>,
    /// What of the variables it reads.
    pub(super) parts: Vec<Part>,
}

/// Something in a conjunct that values can be aimed at.
#[derive(Clone, Debug)]
pub(super) struct Atom {
    pub(super) aim: Aim,
    /// The elements of arrays that it speaks of, from the outside inwards: variable and array.
    pub(super) binders: Vec<(Var, Term)>,
    pub(super) parts: Vec<Part>,
}

/// What an atom wants.
#[derive(Clone, Debug)]
pub(super) enum Aim {
    /// Two integers are compared.
    Numbers(Term, Term),
    /// A part is compared with a value of another sort.
    Equal(Part, Term),
    /// A text is to be of a form.
    Form(Part, Regex),
    /// A sum is to be of a variant.
    Variant(Part, u32),
    /// A part is to be an element of a set, or a key of a map.
    Member(Part, Term),
    /// Anything else that reads a part.
    Other,
}

impl GuardProfile {
    /// The profile of a guard over these variables.
    pub fn new(guard: &Term, vars: &[Var]) -> Self {
        Self::of_all(std::iter::once(guard), vars)
    }

    /// The profile of several conditions that hold together.
    pub(super) fn of_all<'a>(guards: impl Iterator<Item = &'a Term>, vars: &[Var]) -> Self {
        let mut profile = Self {
            vars: vars.to_vec(),
            conjuncts: Vec::new(),
            numbers: Vec::new(),
            texts: Vec::new(),
            collections: Vec::new(),
            others: Vec::new(),
        };
        let mut terms = Vec::new();
        for guard in guards {
            flatten(guard, &mut terms);
        }
        let mut seen = FxHashSet::default();
        for term in terms {
            let mut atoms = Vec::new();
            profile.atoms(&term, &[], &mut atoms);
            profile.literals(&term, &mut seen);
            profile.find_collections(&term);
            let mut parts = Vec::new();
            read_parts(&term, vars, &mut parts);
            for v in term.free_vars() {
                if !vars.contains(&v) && !profile.others.contains(&v.id) {
                    profile.others.push(v.id);
                }
            }
            profile.conjuncts.push(Conjunct { term, atoms, parts });
        }
        profile
    }

    fn atoms(&self, term: &Term, binders: &[(Var, Term)], found: &mut Vec<Atom>) {
        let vars = &self.vars;
        let mut parts = Vec::new();
        read_parts(term, vars, &mut parts);
        if parts.is_empty() || found.len() == MOST {
            return;
        }
        let aim = match term.kind() {
            Kind::App(Op::And | Op::Or | Op::Not | Op::Implies | Op::Ite, args) => {
                for a in args {
                    self.atoms(a, binders, found);
                }
                return;
            }
            Kind::App(Op::ForAll(x) | Op::ForSome(x), args) => {
                let mut inner = binders.to_vec();
                inner.push((x.clone(), args[0].clone()));
                return self.atoms(&args[1], &inner, found);
            }
            Kind::App(Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge, args)
                if args[0].sort().is_int() =>
            {
                Aim::Numbers(args[0].clone(), args[1].clone())
            }
            Kind::App(Op::Eq | Op::Ne, args) => {
                match (Part::of(&args[0], vars), Part::of(&args[1], vars)) {
                    (Some(part), _) => Aim::Equal(part, args[1].clone()),
                    (None, Some(part)) => Aim::Equal(part, args[0].clone()),
                    (None, None) => Aim::Other,
                }
            }
            Kind::App(Op::Matches(form), args) => match Part::of(&args[0], vars) {
                Some(part) => Aim::Form(part, form.clone()),
                None => Aim::Other,
            },
            Kind::App(Op::Has, args) => match Part::of(&args[0], vars) {
                Some(part) => Aim::Member(part, args[1].clone()),
                None => Aim::Other,
            },
            Kind::App(Op::Is(variant), args) => match Part::of(&args[0], vars) {
                Some(part) => Aim::Variant(part, *variant),
                None => Aim::Other,
            },
            _ => Aim::Other,
        };
        let binders = binders.to_vec();
        found.push(Atom {
            aim,
            binders,
            parts,
        });
    }

    fn literals(&mut self, term: &Term, seen: &mut FxHashSet<Term>) {
        let mut stack = vec![term.clone()];
        while let Some(term) = stack.pop() {
            if self.numbers.len() + self.texts.len() == MOST || !seen.insert(term.clone()) {
                continue;
            }
            match term.kind() {
                Kind::Lit(Value::Int(n)) => self.numbers.push(n.clone()),
                Kind::Lit(text @ Value::Str(_)) => self.texts.push(text.clone()),
                Kind::App(_, args) => stack.extend(args.iter().rev().cloned()),
                _ => {}
            }
        }
    }

    fn find_collections(&mut self, term: &Term) {
        let free = term.free_vars();
        let known = |v: &Var| free.contains(v) && !self.vars.contains(v);
        let mut stack = vec![term.clone()];
        let mut seen = FxHashSet::default();
        while let Some(term) = stack.pop() {
            if self.collections.len() == MOST_COLLECTIONS || !seen.insert(term.clone()) {
                continue;
            }
            if matches!(term.sort(), Sort::Array(_) | Sort::Set(_) | Sort::Map(_))
                && term.free_vars().iter().all(known)
            {
                if !self.collections.contains(&term) {
                    self.collections.push(term);
                }
            } else if let Kind::App(_, args) = term.kind() {
                stack.extend(args.iter().rev().cloned());
            }
        }
    }

    /// The variables beside its own that it reads.
    pub fn others(&self) -> &[VarId] {
        &self.others
    }

    /// The forms that a text is asked to have somewhere in the guard.
    pub(super) fn forms(&self, part: &Part) -> Vec<&Regex> {
        let atoms = self.conjuncts.iter().flat_map(|c| &c.atoms);
        let forms = atoms.filter_map(|atom| match &atom.aim {
            Aim::Form(p, form) if p == part => Some(form),
            _ => None,
        });
        forms.collect()
    }

    /// The atoms that read a part.
    pub(super) fn atoms_of<'a>(&'a self, part: &'a Part) -> impl Iterator<Item = &'a Atom> {
        let atoms = self.conjuncts.iter().flat_map(|c| &c.atoms);
        atoms.filter(move |atom| atom.parts.contains(part))
    }
}

fn flatten(term: &Term, out: &mut Vec<Term>) {
    match term.kind() {
        Kind::App(Op::And, args) => args.iter().for_each(|a| flatten(a, out)),
        _ if term.is_true() => {}
        _ => out.push(term.clone()),
    }
}

/// The parts of variables that a term reads, as far inside as it goes.
fn read_parts(term: &Term, vars: &[Var], found: &mut Vec<Part>) {
    let mut seen = FxHashSet::default();
    let mut stack = vec![term.clone()];
    while let Some(term) = stack.pop() {
        if !seen.insert(term.clone()) {
            continue;
        }
        if let Some(part) = Part::of(&term, vars) {
            if !found.contains(&part) {
                found.push(part);
            }
        } else if let Kind::App(_, args) = term.kind() {
            stack.extend(args.iter().rev().cloned());
        }
    }
}
