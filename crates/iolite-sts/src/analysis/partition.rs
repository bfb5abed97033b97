//! Locations in parts: what one abstract value says too weakly, one for each side of a predicate may
//! say well enough (dynamic partitioning).

use iolite_expr::{Kind, Op, Sort, Span, Term, Value};

use super::problem::{Problem, equation};
use crate::iosts::{Iosts, LocationId};

/// Cells of all locations together.
const MOST_CELLS: usize = 48;
/// The same where cells are valuations of control: most of them are never reached.
const MOST_CONTROL: usize = 256;
/// Values of a variable that holds control.
const MOST_VALUES: u64 = 8;

/// The states of a location that satisfy a condition over V ∪ C.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) location: LocationId,
    pub(super) condition: Term,
}

/// The cells of all locations; those of one location are disjoint, and together they are all of it.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    pub(super) cells: Vec<Cell>,
    /// By location.
    of: Vec<Vec<usize>>,
    /// By location: the predicates that it was split on.
    split: Vec<Vec<Term>>,
}

impl Partition {
    /// One cell a location.
    pub(super) fn whole(model: &Iosts) -> Self {
        let cell = |(location, _): (LocationId, _)| Cell {
            location,
            condition: true.into(),
        };
        let cells: Vec<Cell> = model.locations().map(cell).collect();
        Self {
            of: (0..cells.len()).map(|k| vec![k]).collect(),
            split: vec![Vec::new(); cells.len()],
            cells,
        }
    }

    /// A cell for each valuation of the variables that hold control: small ranges that are only ever set to
    /// literals. A location that is written as a number is a location again. `None` where there are no such
    /// variables.
    pub(super) fn by_control(problem: &Problem<'_>) -> Option<Self> {
        let model = problem.model;
        let mut result = Self::whole(model);
        let splits = |l: LocationId| !problem.is_violating(l) && problem.leads_to_violation(l);
        let locations: Vec<LocationId> = model.locations().map(|(l, _)| l).collect();
        let locations: Vec<LocationId> = locations.into_iter().filter(|l| splits(*l)).collect();
        let mut count = locations.len();
        for (x, v) in model.variables().iter().enumerate() {
            let Some(values) = control_values(problem, x) else {
                continue;
            };
            if count * values.len() > MOST_CONTROL {
                continue;
            }
            count *= values.len();
            for location in &locations {
                for k in result.of[location.index()].clone() {
                    let old = result.cells[k].condition.clone();
                    let part = |value| Term::all([old.clone(), equation(&v.var, value)]).simplify();
                    let (first, others) = values.split_first()?;
                    result.cells[k].condition = part(first);
                    for value in others {
                        result.of[location.index()].push(result.cells.len());
                        result.cells.push(Cell {
                            location: *location,
                            condition: part(value),
                        });
                    }
                }
            }
        }
        (result.cells.len() > model.locations().len()).then_some(result)
    }

    /// The numbers of a location's cells.
    pub(super) fn of(&self, location: LocationId) -> &[usize] {
        &self.of[location.index()]
    }

    /// Splits each location on the first predicate of the model, its own guards before those of
    /// others, of which `mixes` says that a cell has states on both sides. `None` where there is none.
    pub(super) fn refined(
        &self,
        problem: &Problem<'_>,
        mixes: impl Fn(usize, &Term) -> bool,
    ) -> Option<Self> {
        let model = problem.model;
        let mut all = Vec::new();
        for (t, _) in model.transitions() {
            predicates(problem.fireable(t), problem, &mut all);
        }
        let mut next = self.clone();
        let mut room = MOST_CELLS.saturating_sub(self.cells.len());
        for (location, _) in model.locations() {
            let own = &self.of[location.index()];
            if room < own.len() {
                break;
            }
            let mut wanted = Vec::new();
            for &t in model.outgoing(location) {
                predicates(problem.fireable(t), problem, &mut wanted);
            }
            wanted.extend(all.iter().cloned());
            let used = &self.split[location.index()];
            let found = wanted
                .into_iter()
                .find(|p| !used.contains(p) && own.iter().any(|&k| mixes(k, p)));
            if let Some(predicate) = found {
                room -= own.len();
                next.split(location, predicate);
            }
        }
        (next.cells.len() > self.cells.len()).then_some(next)
    }

    fn split(&mut self, location: LocationId, predicate: Term) {
        for k in self.of[location.index()].clone() {
            let old = self.cells[k].condition.clone();
            let part = |p: Term| Term::all([old.clone(), p]).simplify();
            self.cells[k].condition = part(predicate.clone());
            self.of[location.index()].push(self.cells.len());
            self.cells.push(Cell {
                location,
                condition: part(predicate.negated()),
            });
        }
        self.split[location.index()].push(predicate);
    }
}

/// The values of a variable of a small range whose every assignment is a literal, or leaves it as it is.
fn control_values(problem: &Problem<'_>, variable: usize) -> Option<Vec<Value>> {
    let model = problem.model;
    let var = &model.variables()[variable].var;
    matches!(var.sort, Sort::Range(_)).then_some(())?;
    let set = model.transitions().flat_map(|(_, t)| &t.assignments);
    let mut set = set.filter(|(x, _)| *x == variable).map(|(_, e)| e);
    let plain = |e: &Term| e.as_value().is_some() || e.as_var() == Some(var);
    set.all(plain).then(|| var.sort.values(MOST_VALUES))?
}

/// The comparisons of a condition that speak of variables and constants alone; an equation as the two
/// inequalities that it is made of, since its negation has two sides.
fn predicates(term: &Term, problem: &Problem<'_>, all: &mut Vec<Term>) {
    let Kind::App(op, args) = term.kind() else {
        return;
    };
    match op {
        Op::And | Op::Or | Op::Not | Op::Implies => {
            for arg in args {
                predicates(arg, problem, all);
            }
        }
        Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Eq | Op::Ne => {
            let data = problem.data();
            let known = term.free_vars().iter().all(|v| data.contains(v));
            if !known || !term.is_total() {
                return;
            }
            let ops = match op {
                Op::Eq | Op::Ne => vec![Op::Le, Op::Ge],
                op => vec![op.clone()],
            };
            for op in ops {
                // Booleans and names are equal or not, and have no order.
                let predicate = Term::apply(op, args.to_vec(), Span::NONE);
                let predicate = predicate.map(|p| p.simplify());
                all.extend(predicate.ok().filter(|p| !all.contains(p)));
            }
        }
        _ => {}
    }
}
