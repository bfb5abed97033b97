//! Input-output symbolic transition systems [SYM04, def. 1].

use std::fmt;

use iolite_expr::{Op, Span, Term, Value, Var, VarId};
pub use iolite_lts::LabelKind;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);

        impl $name {
            /// The id with this index.
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 of them"))
            }

            /// The index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A location of Q.
    LocationId
}
id! {
    /// An action of Σ.
    GateId
}
id! {
    /// A transition of 𝒯.
    TransitionId
}

/// The spaces of [`VarId`]s that models use.
pub mod space {
    /// State variables V.
    pub const VARIABLE: u8 = 0;
    /// Symbolic constants C.
    pub(crate) const CONSTANT: u8 = 1;
    /// Parameters P, numbered by their position in the action's signature: the tuples π of two
    /// transitions of one action are then the same variables, and "replace each parameter of π₂
    /// by the same-position one of π₁" [def. 6] is the identity.
    pub const PARAMETER: u8 = 2;
    /// Values that a symbolic state does not know.
    pub const UNKNOWN: u8 = 3;
}

/// A state variable of V.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Name, sort and identity.
    pub var: Var,
    /// Its initial value, a term over C; without one any value that Θ allows.
    pub initial: Option<Term>,
    /// Where it is declared.
    pub span: Span,
}

/// A symbolic constant of C.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Name, sort and identity.
    pub var: Var,
    /// Where it is declared.
    pub span: Span,
}

/// A gate: an action of Σ with its signature. A valued action is a gate with values for its parameters.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Bare name.
    pub name: Box<str>,
    /// Input, output or internal; δ in a quiescent system.
    pub kind: LabelKind,
    /// Its parameters. The paper gives internal actions none; here they may have some, chosen by
    /// the system, because that is what hiding an output with parameters makes.
    pub params: Vec<Var>,
    /// Where it is declared.
    pub span: Span,
}

impl Gate {
    /// Whether these are values of its parameters, by number and sorts.
    pub fn takes(&self, values: &[Value]) -> bool {
        let mut pairs = self.params.iter().zip(values);
        self.params.len() == values.len() && pairs.all(|(p, v)| p.sort.contains(v))
    }
}

/// A location of Q.
#[derive(Clone, Debug)]
pub struct Location {
    /// Name.
    pub name: Box<str>,
    /// Where it is declared.
    pub span: Span,
}

/// A transition ⟨q, a, π, G, A, q'⟩. Variables without an assignment keep their value.
#[derive(Clone, Debug)]
pub struct Transition {
    /// q, the origin.
    pub source: LocationId,
    /// a.
    pub action: GateId,
    /// G, over V ∪ C ∪ π.
    pub guard: Term,
    /// A: index of the variable in V and its new value over V ∪ C ∪ π; all at once.
    pub assignments: Vec<(usize, Term)>,
    /// q', the destination.
    pub target: LocationId,
    /// Where it is written.
    pub span: Span,
}

impl Transition {
    /// Whether guard and assignments have a value whatever they read.
    pub(crate) fn never_faults(&self) -> bool {
        self.guard.is_total() && self.assignments.iter().all(|(_, e)| e.is_total())
    }
}

/// An IOSTS ⟨D, Θ, Q, q⁰, Σ, 𝒯⟩ [SYM04, def. 1]. Made by a
/// [`Builder`](crate::Builder), so that all its parts fit.
#[derive(Clone, Debug)]
pub struct Iosts {
    pub(crate) name: Box<str>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) constants: Vec<Constant>,
    pub(crate) assumptions: Vec<Term>,
    pub(crate) locations: Vec<Location>,
    pub(crate) initial: LocationId,
    pub(crate) gates: Vec<Gate>,
    pub(crate) transitions: Vec<Transition>,
    /// By location: its transitions in the order they were written.
    pub(crate) outgoing: Vec<Vec<TransitionId>>,
}

impl Iosts {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// V.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// C.
    pub fn constants(&self) -> &[Constant] {
        &self.constants
    }

    /// The conjuncts of Θ that were written as assumptions, over V ∪ C.
    pub fn assumptions(&self) -> &[Term] {
        &self.assumptions
    }

    /// Θ, the initial condition: the assumptions, and each initialised variable equals its
    /// initial value.
    pub(crate) fn initial_condition(&self) -> Term {
        let initial = self.variables.iter().filter_map(|v| {
            Term::apply(Op::Eq, vec![v.var.term(), v.initial.clone()?], v.span).ok()
        });
        Term::all(self.assumptions.iter().cloned().chain(initial))
    }

    /// The location with this id.
    pub fn location(&self, id: LocationId) -> &Location {
        &self.locations[id.index()]
    }

    /// All locations.
    pub fn locations(&self) -> impl ExactSizeIterator<Item = (LocationId, &Location)> {
        self.locations
            .iter()
            .enumerate()
            .map(|(i, l)| (LocationId::new(i), l))
    }

    /// q⁰.
    pub fn initial(&self) -> LocationId {
        self.initial
    }

    /// The action with this id.
    pub fn gate(&self, id: GateId) -> &Gate {
        &self.gates[id.index()]
    }

    /// All actions.
    pub fn gates(&self) -> impl ExactSizeIterator<Item = (GateId, &Gate)> {
        self.gates
            .iter()
            .enumerate()
            .map(|(i, a)| (GateId::new(i), a))
    }

    /// The action of this kind and bare name.
    pub fn find_gate(&self, kind: LabelKind, name: &str) -> Option<GateId> {
        self.gates
            .iter()
            .position(|a| a.kind == kind && &*a.name == name)
            .map(GateId::new)
    }

    /// The location of this name.
    pub fn find_location(&self, name: &str) -> Option<LocationId> {
        self.locations
            .iter()
            .position(|l| &*l.name == name)
            .map(LocationId::new)
    }

    /// The transition with this id.
    pub fn transition(&self, id: TransitionId) -> &Transition {
        &self.transitions[id.index()]
    }

    /// All transitions.
    pub fn transitions(&self) -> impl ExactSizeIterator<Item = (TransitionId, &Transition)> {
        self.transitions
            .iter()
            .enumerate()
            .map(|(i, t)| (TransitionId::new(i), t))
    }

    /// The transitions that leave a location.
    pub fn outgoing(&self, location: LocationId) -> &[TransitionId] {
        &self.outgoing[location.index()]
    }

    /// The kind of a transition's action.
    pub fn kind(&self, transition: TransitionId) -> LabelKind {
        self.gate(self.transition(transition).action).kind
    }

    pub(crate) fn index_outgoing(&mut self) {
        self.outgoing = vec![Vec::new(); self.locations.len()];
        for (i, t) in self.transitions.iter().enumerate() {
            self.outgoing[t.source.index()].push(TransitionId::new(i));
        }
    }
}

/// The parameter variable at a position.
pub(crate) fn parameter_id(position: usize) -> VarId {
    VarId::new(space::PARAMETER, position)
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind.sigil(), self.name)?;
        for (i, p) in self.params.iter().enumerate() {
            write!(
                f,
                "{}{}: {}",
                if i == 0 { "(" } else { ", " },
                p.name,
                p.sort
            )?;
        }
        if self.params.is_empty() {
            Ok(())
        } else {
            write!(f, ")")
        }
    }
}

/// The system as a list of transitions, for people and for snapshot tests.
impl fmt::Display for Iosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.name)?;
        for c in &self.constants {
            writeln!(f, "  const {}: {}", c.var.name, c.var.sort)?;
        }
        for a in &self.assumptions {
            writeln!(f, "  assume {a}")?;
        }
        for v in &self.variables {
            write!(f, "  var {}: {}", v.var.name, v.var.sort)?;
            match &v.initial {
                Some(t) => writeln!(f, " = {t}")?,
                None => writeln!(f)?,
            }
        }
        for (id, l) in self.locations() {
            writeln!(
                f,
                "  {}{}",
                if id == self.initial { "initial " } else { "" },
                l.name
            )?;
            for &t in self.outgoing(id) {
                let t = self.transition(t);
                let a = self.gate(t.action);
                write!(f, "    {}{}", a.kind.sigil(), a.name)?;
                for (i, p) in a.params.iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { "(" } else { ", " }, p.name)?;
                }
                if !a.params.is_empty() {
                    write!(f, ")")?;
                }
                if !t.guard.is_true() {
                    write!(f, " [{}]", t.guard)?;
                }
                for (i, (x, e)) in t.assignments.iter().enumerate() {
                    let name = &self.variables[*x].var.name;
                    write!(f, "{} {name} := {e}", if i == 0 { " /" } else { "," })?;
                }
                writeln!(f, " -> {}", self.location(t.target).name)?;
            }
        }
        Ok(())
    }
}
