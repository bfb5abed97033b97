//! Building an [`Iosts`] with every check that does not need a solver.

use iolite_expr::{Sort, Span, Term, TypeError, Var, VarId};

use crate::iosts::{
    Constant, Gate, GateId, Iosts, LabelKind, Location, LocationId, Transition, Variable,
    parameter_id, space,
};

/// Why a model cannot be, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct BuildError {
    /// What is wrong.
    pub kind: BuildErrorKind,
    /// The place in the source text.
    pub span: Span,
}

/// What is wrong with a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildErrorKind {
    /// Two declarations of one name.
    #[error("{0} is declared twice")]
    Twice(Box<str>),
    /// A term reads what is not in scope.
    #[error("{what} reads {name}, which is not in scope")]
    OutOfScope {
        /// Guard, assignment, …
        what: &'static str,
        /// The variable.
        name: Box<str>,
    },
    /// A term of a wrong sort.
    #[error("{0}")]
    Type(#[from] TypeError),
    /// A variable that one transition assigns twice.
    #[error("{0} is assigned twice")]
    AssignedTwice(Box<str>),
    /// Something that is no state variable is assigned.
    #[error("{0} is no variable and cannot be assigned")]
    NotAVariable(Box<str>),
    /// No initial location.
    #[error("no initial location")]
    NoInitialLocation,
    /// A second initial location.
    #[error("a second initial location")]
    SecondInitialLocation,
    /// An action of a kind that models do not declare.
    #[error("an action must be an input, an output or internal")]
    BadKind,
}

/// Collects the parts of an [`Iosts`]. Declarations return the variables that terms are made of.
#[derive(Debug)]
pub struct Builder {
    model: Iosts,
    has_initial: bool,
}

fn error(kind: BuildErrorKind, span: Span) -> BuildError {
    BuildError { kind, span }
}

impl Builder {
    /// An empty model.
    pub fn new(name: &str) -> Self {
        Self {
            model: Iosts {
                name: name.into(),
                variables: Vec::new(),
                constants: Vec::new(),
                assumptions: Vec::new(),
                locations: Vec::new(),
                initial: LocationId::new(0),
                gates: Vec::new(),
                transitions: Vec::new(),
                outgoing: Vec::new(),
            },
            has_initial: false,
        }
    }

    fn data_is_new(&self, name: &str, span: Span) -> Result<(), BuildError> {
        let variables = self.model.variables.iter().map(|v| &v.var.name);
        let constants = self.model.constants.iter().map(|c| &c.var.name);
        if variables.chain(constants).any(|n| &**n == name) {
            return Err(error(BuildErrorKind::Twice(name.into()), span));
        }
        Ok(())
    }

    /// Declares a symbolic constant.
    pub fn constant(&mut self, name: &str, sort: Sort, span: Span) -> Result<Var, BuildError> {
        self.data_is_new(name, span)?;
        let id = VarId::new(space::CONSTANT, self.model.constants.len());
        let var = Var::new(id, name, sort);
        self.model.constants.push(Constant {
            var: var.clone(),
            span,
        });
        Ok(var)
    }

    /// Declares a variable; its initial value may read constants.
    pub fn variable(
        &mut self,
        name: &str,
        sort: Sort,
        initial: Option<Term>,
        span: Span,
    ) -> Result<Var, BuildError> {
        self.data_is_new(name, span)?;
        let initial = match initial {
            Some(t) => {
                self.in_scope(&t, "an initial value", false, None)?;
                Some(t.coerce(&sort).map_err(|e| {
                    let span = e.span.or(span);
                    error(e.into(), span)
                })?)
            }
            None => None,
        };
        let id = VarId::new(space::VARIABLE, self.model.variables.len());
        let var = Var::new(id, name, sort);
        self.model.variables.push(Variable {
            var: var.clone(),
            initial,
            span,
        });
        Ok(var)
    }

    /// Adds a conjunct to the initial condition.
    pub fn assume(&mut self, condition: Term) -> Result<(), BuildError> {
        self.in_scope(&condition, "an assumption", true, None)?;
        let condition = boolean(condition)?;
        self.model.assumptions.push(condition);
        Ok(())
    }

    /// Declares a location.
    pub fn location(
        &mut self,
        name: &str,
        initial: bool,
        span: Span,
    ) -> Result<LocationId, BuildError> {
        if self.model.find_location(name).is_some() {
            return Err(error(BuildErrorKind::Twice(name.into()), span));
        }
        let id = LocationId::new(self.model.locations.len());
        self.model.locations.push(Location {
            name: name.into(),
            span,
        });
        if initial {
            if self.has_initial {
                return Err(error(BuildErrorKind::SecondInitialLocation, span));
            }
            self.has_initial = true;
            self.model.initial = id;
        }
        Ok(id)
    }

    /// Declares an action; the parameters are those of every transition with the action.
    pub fn gate(
        &mut self,
        kind: LabelKind,
        name: &str,
        params: &[(&str, Sort)],
        span: Span,
    ) -> Result<GateId, BuildError> {
        if !matches!(
            kind,
            LabelKind::Input | LabelKind::Output | LabelKind::Internal
        ) {
            return Err(error(BuildErrorKind::BadKind, span));
        }
        if self.model.find_gate(kind, name).is_some() {
            return Err(error(BuildErrorKind::Twice(name.into()), span));
        }
        for (i, (p, _)) in params.iter().enumerate() {
            if params[..i].iter().any(|(q, _)| p == q) {
                return Err(error(BuildErrorKind::Twice((*p).into()), span));
            }
        }
        let params = params
            .iter()
            .enumerate()
            .map(|(i, (name, sort))| Var::new(parameter_id(i), name, sort.clone()))
            .collect();
        self.model.gates.push(Gate {
            name: name.into(),
            kind,
            params,
            span,
        });
        Ok(GateId::new(self.model.gates.len() - 1))
    }

    /// Declares δ as an action, for observers and purposes over a quiescent system S^δ; systems
    /// themselves do not name it.
    pub fn delta(&mut self, span: Span) -> GateId {
        if let Some(known) = self.model.find_gate(LabelKind::Delta, "delta") {
            return known;
        }
        self.model.gates.push(Gate {
            name: "delta".into(),
            kind: LabelKind::Delta,
            params: Vec::new(),
            span,
        });
        GateId::new(self.model.gates.len() - 1)
    }

    /// The parameters of an action, to build guards and assignments with.
    pub fn params(&self, action: GateId) -> &[Var] {
        &self.model.gate(action).params
    }

    /// The model as far as it is built, for lookups by name.
    pub fn model(&self) -> &Iosts {
        &self.model
    }

    /// Adds a transition. Assigned integers are narrowed to the range of their variable.
    pub fn transition(
        &mut self,
        source: LocationId,
        action: GateId,
        guard: Option<Term>,
        assignments: Vec<(Var, Term)>,
        target: LocationId,
        span: Span,
    ) -> Result<(), BuildError> {
        let guard = match guard {
            Some(g) => {
                self.in_scope(&g, "the guard", true, Some(action))?;
                boolean(g)?
            }
            None => true.into(),
        };
        let mut checked: Vec<(usize, Term)> = Vec::new();
        for (var, value) in assignments {
            let place = value.span().or(span);
            let known = self.model.variables.get(var.id.index());
            if var.id.space() != space::VARIABLE || known.is_none_or(|v| v.var != var) {
                return Err(error(
                    BuildErrorKind::NotAVariable((*var.name).into()),
                    place,
                ));
            }
            let x = var.id.index();
            if checked.iter().any(|(y, _)| *y == x) {
                return Err(error(
                    BuildErrorKind::AssignedTwice((*var.name).into()),
                    place,
                ));
            }
            self.in_scope(&value, "an assignment", true, Some(action))?;
            let value = value
                .coerce(&self.model.variables[x].var.sort)
                .map_err(|e| {
                    let at = e.span.or(place);
                    error(e.into(), at)
                })?;
            checked.push((x, value));
        }
        self.model.transitions.push(Transition {
            source,
            action,
            guard,
            assignments: checked,
            target,
            span,
        });
        Ok(())
    }

    fn in_scope(
        &self,
        term: &Term,
        what: &'static str,
        variables: bool,
        action: Option<GateId>,
    ) -> Result<(), BuildError> {
        for v in term.free_vars() {
            let i = v.id.index();
            let declared = match v.id.space() {
                space::VARIABLE if variables => self.model.variables.get(i).map(|x| &x.var),
                space::CONSTANT => self.model.constants.get(i).map(|x| &x.var),
                space::PARAMETER => action.and_then(|a| self.model.gate(a).params.get(i)),
                _ => None,
            };
            if declared.is_none_or(|d| d.sort != v.sort || d.name != v.name) {
                let kind = BuildErrorKind::OutOfScope {
                    what,
                    name: (*v.name).into(),
                };
                return Err(error(kind, term.span()));
            }
        }
        Ok(())
    }

    /// The finished model.
    pub fn build(mut self) -> Result<Iosts, BuildError> {
        if !self.has_initial {
            return Err(error(BuildErrorKind::NoInitialLocation, Span::NONE));
        }
        self.model.index_outgoing();
        Ok(self.model)
    }
}

fn boolean(term: Term) -> Result<Term, BuildError> {
    let span = term.span();
    term.coerce(&Sort::Bool).map_err(|e| error(e.into(), span))
}
