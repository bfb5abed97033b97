//! Test cases that head for a coverage goal of the symbolic model.

use iolite_expr::{Solver, Span, Term};

use crate::coverage_goal::CoverageGoal;
use crate::iosts::{Iosts, LabelKind, Location, LocationId, Transition};
use crate::symbolic_test::{SymbolicTest, SymbolicTestError, TestKind};

/// Marks what lies behind the goal: a character that no name of a model has.
const MARK: char = '\u{3}';

impl SymbolicTest {
    /// Σ!(det(S^δ)) that accepts where a trace may have reached the goal, for a goal that lies behind the
    /// initial state. An internal transition is reached when something visible, δ too, shows it.
    pub fn covering(
        system: &Iosts,
        goal: &CoverageGoal,
        solver: &mut Solver,
        most: usize,
    ) -> Result<Self, SymbolicTestError> {
        let marked = system.marked_behind(goal);
        let deterministic = marked.quiescent_with(solver).determinised(solver, most)?;
        let (mut model, fail) = deterministic.output_completed();
        let mut accept = Vec::new();
        for (i, l) in model.locations.iter_mut().enumerate() {
            let id = LocationId::new(i);
            if id == fail {
                continue;
            }
            if l.name.contains(MARK) {
                accept.push(id);
                l.name = match accept.len() {
                    1 => "Accept".into(),
                    n => format!("Accept{n}").into(),
                };
            } else {
                // As in the product with a purpose: a location of S, and one of what is headed for.
                l.name = format!("{}.Open", l.name).into();
            }
        }
        Ok(Self::of_parts(model, TestKind::Purpose, vec![fail], accept))
    }
}

impl Iosts {
    /// The system in which whatever shows that the goal was reached leads to a marked location. Up to there
    /// its traces are the same; after it there are none.
    fn marked_behind(&self, goal: &CoverageGoal) -> Self {
        let mut result = self.clone();
        let count = self.locations.len();
        let mark = |name: &str| Location {
            name: format!("{MARK}{name}").into(),
            span: Span::NONE,
        };
        // After an internal goal: the same locations again, until something is seen.
        let unseen = self.locations.iter().map(|l| mark(&l.name));
        result.locations.extend(unseen);
        result.locations.push(mark("reached"));
        let seen = LocationId::new(2 * count);
        let copy = |l: LocationId| LocationId::new(count + l.index());
        let behind = |t: &Transition| match self.gate(t.action).kind {
            LabelKind::Internal => copy(t.target),
            _ => seen,
        };
        let mut probes = Vec::new();
        for (id, t) in self.transitions() {
            let redirected = match goal {
                CoverageGoal::Location(l) => t.target == *l,
                CoverageGoal::Transition(own) => *own == id,
                CoverageGoal::Branch(own, condition) | CoverageGoal::Boundary(own, condition) => {
                    if *own == id {
                        probes.push(Transition {
                            guard: Term::all([t.guard.clone(), condition.clone()]),
                            target: behind(t),
                            ..t.clone()
                        });
                    }
                    false
                }
            };
            if redirected {
                result.transitions[id.index()].target = behind(t);
            }
            probes.push(Transition {
                source: copy(t.source),
                target: behind(t),
                ..t.clone()
            });
        }
        result.transitions.extend(probes);
        result.index_outgoing();
        result
    }
}
