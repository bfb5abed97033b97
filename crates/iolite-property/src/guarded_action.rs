//! Actions whose letters depend on the values they carry.
//!
//! An atom `!reply(code) [code >= 500]` is a proposition over the actions `!reply(…)`. The letters of such an
//! action are its *cells*: the combinations of guards, each true or false, that some values meet. A solver
//! says which these are, so that `[x > 3]` and `[x > 5]` give three letters and not four; a property is then
//! judged over what can happen. Values on which a guard has no value (a division by zero) are in no cell.

use std::collections::BTreeMap;

use iolite_expr::{Answer, Kind, Op, Solver, Term, Value, Var};
use iolite_lts::LabelKind;
use thiserror::Error;

use crate::alphabet::Letter;

/// Guards of one action that are told apart at most.
pub const MAX_GUARDS: usize = 32;

/// Cells of one action at most.
pub const MAX_CELLS: usize = 1024;

/// Why an action has no cells.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum GuardError {
    /// More guards than are told apart.
    #[error("{action} has {found} different guards, at most {MAX_GUARDS} are told apart")]
    TooManyGuards {
        /// The action.
        action: String,
        /// How many.
        found: usize,
    },
    /// More cells than are listed.
    #[error("the guards of {0} part its values into more than {MAX_CELLS} letters")]
    TooManyCells(String),
    /// No values meet any combination of guards.
    #[error("no values of {0} give all of its guards a value")]
    NoCells(String),
}

/// One letter of a guarded action: the values on which each guard is what its sign says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    signs: Box<[bool]>,
    condition: Term,
}

impl Cell {
    /// Whether a guard, by its position, holds here.
    pub fn holds(&self, guard: usize) -> bool {
        self.signs[guard]
    }

    /// The condition on the parameters, without what the rest of it implies.
    pub fn condition(&self) -> &Term {
        &self.condition
    }
}

/// An action with parameters, the guards on them, and the cells that these give; one where there are no guards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedAction {
    kind: LabelKind,
    name: String,
    params: Vec<Var>,
    guards: Vec<Term>,
    cells: Vec<Cell>,
    doubts: Vec<String>,
    faults: Vec<String>,
}

impl GuardedAction {
    /// Asks the solver which combinations of guards are possible. Where it does not know, the combination
    /// is kept, and [`GuardedAction::doubts`] names it.
    ///
    /// # Errors
    ///
    /// Where there are too many guards or combinations, or none.
    pub fn new(
        kind: LabelKind,
        name: &str,
        params: Vec<Var>,
        guards: Vec<Term>,
        solver: &mut Solver,
    ) -> Result<Self, GuardError> {
        let shown = format!("{}{name}", kind.sigil());
        if guards.len() > MAX_GUARDS {
            let found = guards.len();
            return Err(GuardError::TooManyGuards {
                action: shown,
                found,
            });
        }
        let mut action = Self {
            kind,
            name: name.to_owned(),
            params,
            guards,
            cells: Vec::new(),
            doubts: Vec::new(),
            faults: Vec::new(),
        };
        action.find_faults(solver);
        let defined = Term::all(action.guards.iter().map(Term::defined));
        let mut found: Vec<Vec<bool>> = vec![Vec::new()];
        for depth in 0..action.guards.len() {
            let mut longer = Vec::new();
            for signs in found {
                for sign in [true, false] {
                    let mut signs = signs.clone();
                    signs.push(sign);
                    let last = depth + 1 == action.guards.len();
                    let condition = Term::all([defined.clone(), action.literals(&signs)]);
                    let answer = solver.check_with(&condition);
                    if answer == Answer::Unsat {
                        continue;
                    }
                    if let (Answer::Unknown(why), true) = (answer, last) {
                        let text = action.literals(&signs).simplify();
                        action.doubts.push(format!("{shown} with {text}: {why}"));
                    }
                    longer.push(signs);
                }
            }
            if longer.len() > MAX_CELLS {
                return Err(GuardError::TooManyCells(shown));
            }
            found = longer;
        }
        if found.is_empty() {
            return Err(GuardError::NoCells(shown));
        }
        for signs in found {
            let condition = action.shortest(&signs, &defined, solver);
            action.cells.push(Cell {
                signs: signs.into(),
                condition,
            });
        }
        Ok(action)
    }

    fn find_faults(&mut self, solver: &mut Solver) {
        for guard in &self.guards {
            let undefined = guard.defined().negated();
            if let Answer::Sat(model) = solver.check_with(&undefined) {
                let values = undefined.free_vars();
                let values = values
                    .iter()
                    .filter_map(|v| Some(format!("{} = {}", v.name, model.value(v.id)?)));
                let values: Vec<String> = values.collect();
                let at = values.join(", ");
                self.faults.push(format!("[{guard}] has no value for {at}"));
            }
        }
    }

    fn literal(&self, guard: usize, sign: bool) -> Term {
        if sign {
            self.guards[guard].clone()
        } else {
            opposite(&self.guards[guard])
        }
    }

    fn literals(&self, signs: &[bool]) -> Term {
        let literals = signs.iter().enumerate();
        Term::all(literals.map(|(i, &sign)| self.literal(i, sign)))
    }

    /// The condition of a cell without the guards that the others imply.
    fn shortest(&self, signs: &[bool], defined: &Term, solver: &mut Solver) -> Term {
        let mut kept: Vec<usize> = (0..signs.len()).collect();
        for i in 0..signs.len() {
            let others = kept.iter().filter(|&&j| j != i);
            let others = others.map(|&j| self.literal(j, signs[j]));
            let without = Term::all(others.chain([defined.clone(), self.literal(i, !signs[i])]));
            if solver.check_with(&without) == Answer::Unsat {
                kept.retain(|&j| j != i);
            }
        }
        Term::all(kept.into_iter().map(|i| self.literal(i, signs[i])))
    }

    /// Input, output or undirected.
    pub fn kind(&self) -> LabelKind {
        self.kind
    }

    /// Its name without a sigil.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its parameters.
    pub fn params(&self) -> &[Var] {
        &self.params
    }

    /// The guards, in the order of the cells' signs.
    pub fn guards(&self) -> &[Term] {
        &self.guards
    }

    /// The cells, in the order of its letters.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Combinations of guards that are letters because the solver did not know whether they are possible.
    pub fn doubts(&self) -> &[String] {
        &self.doubts
    }

    /// Guards without a value for some values of the parameters.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// What the letter of a cell is called, without its sigil: `reply(code) [code >= 500]`.
    pub fn cell_name(&self, cell: usize) -> String {
        let condition = &self.cells[cell].condition;
        if condition.is_true() {
            return self.name.clone();
        }
        let params: Vec<&str> = self.params.iter().map(|p| &*p.name).collect();
        format!("{}({}) [{condition}]", self.name, params.join(", "))
    }

    /// The declaration of the action: `reply(code: int)`.
    pub fn declaration(&self) -> String {
        let params = self.params.iter();
        let params: Vec<String> = params.map(|p| format!("{}: {}", p.name, p.sort)).collect();
        format!("{}({})", self.name, params.join(", "))
    }

    /// The cell of these values, given as texts.
    ///
    /// # Errors
    ///
    /// Why they are in none, in words.
    pub fn cell(&self, values: &[&str]) -> Result<usize, String> {
        if self.guards.is_empty() {
            return Ok(0);
        }
        let shown = format!("{}{}", self.kind.sigil(), self.name);
        let (expected, found) = (self.params.len(), values.len());
        if expected != found {
            return Err(format!(
                "{shown} carries {found} values, and the property knows {expected}"
            ));
        }
        let mut env = BTreeMap::new();
        for (param, text) in self.params.iter().zip(values) {
            let value = Value::read(text, &param.sort).filter(|v| param.sort.contains(v));
            let value = value.ok_or_else(|| {
                format!("{text} is no {} for {} of {shown}", param.sort, param.name)
            });
            env.insert(param.id, value?);
        }
        let signs: Result<Vec<bool>, String> = self
            .guards
            .iter()
            .map(|guard| {
                guard.eval_bool(&env).map_err(|e| {
                    let values = values.join(", ");
                    format!("[{guard}] has no value for {shown}({values}): {e}")
                })
            })
            .collect();
        let signs = signs?;
        let cell = self.cells.iter().position(|c| *c.signs == *signs);
        cell.ok_or_else(|| {
            let values = values.join(", ");
            format!("{shown}({values}) meets guards that were held to exclude one another")
        })
    }
}

/// The negation of a condition, as people would write it: `x <= 5` for `x > 5`.
fn opposite(guard: &Term) -> Term {
    if let Kind::App(op, args) = guard.kind() {
        let op = match op {
            Op::Eq => Op::Ne,
            Op::Ne => Op::Eq,
            Op::Lt => Op::Ge,
            Op::Ge => Op::Lt,
            Op::Gt => Op::Le,
            Op::Le => Op::Gt,
            _ => return guard.negated(),
        };
        if let Ok(term) = Term::apply(op, args.to_vec(), guard.span()) {
            return term;
        }
    }
    guard.negated()
}

/// What an event is to a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventReading {
    /// This letter.
    Letter(Letter),
    /// Nothing: the property does not know the action.
    Unseen,
    /// The property knows the action and cannot say which letter it is: a guard has no value, or the values
    /// are not of the sorts that it knows. Why, in words.
    Undefined(String),
}

impl EventReading {
    /// The letter, if it is one.
    pub fn letter(&self) -> Option<Letter> {
        match self {
            Self::Letter(letter) => Some(*letter),
            Self::Unseen | Self::Undefined(_) => None,
        }
    }
}
