//! Test cases that keep the data of the model: prune(S, ω) [SYM04, def. 13 and 15], and the same for test
//! purposes.

use std::sync::Arc;

use iolite_derive::{GoalMarks, ModelRef, SymbolicTestCase, symbolic_model_hash};
use iolite_expr::Solver;
use iolite_lts::relation::Relation;
use iolite_property::ObserverRules;
use iolite_sts::{Iosts, SymbolicTest, SymbolicTestError};

use super::{Derivation, DerivationOptions, Derived, GoalDerivation, TakeDerived};
use crate::symbolic_view::{MOST_LOCATIONS, no_test, pruned};
use crate::{Error, Spec, SymbolicGraph, Workspace, as_iosts, solver};

/// What test cases with data are derived from.
pub(super) struct SymbolicSource<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) spec: Arc<Spec>,
    pub(super) reference: ModelRef,
    pub(super) system: Arc<Iosts>,
    pub(super) solver: Option<&'a str>,
}

/// A goal over the gates of the system.
struct SymbolicGoal {
    name: String,
    reference: ModelRef,
    automaton: Iosts,
    marks: GoalMarks,
}

impl Workspace {
    /// The source of test cases that keep data; `None` where nothing has data, or they are unfolded.
    pub(super) fn symbolic_source<'a>(
        &'a self,
        model: &ModelRef,
        options: &'a DerivationOptions,
        goals: Option<&GoalDerivation>,
    ) -> Result<Option<SymbolicSource<'a>>, Error> {
        let properties = goals.is_some_and(|goals| !goals.properties.is_empty());
        if options.unfold.is_some() || properties {
            return Ok(None);
        }
        let spec = self.spec(model)?;
        let system = match &*spec {
            Spec::Symbolic(symbolic) => Arc::clone(symbolic.model()),
            Spec::Explicit(explicit) => match goals {
                Some(goals) if self.has_data_goal(goals)? => Arc::new(as_iosts::system(explicit)?),
                _ => return Ok(None),
            },
            Spec::Properties(_) => return Ok(None),
        };
        if options.relation != Relation::Ioco {
            return Err(Error::input(format!(
                "test cases that keep data are for ioco, not for {}",
                options.relation
            ))
            .hint("--unfold derives for other relations, where the data are finite"));
        }
        Ok(Some(SymbolicSource {
            workspace: self,
            reference: spec.reference(),
            spec,
            system,
            solver: options.solver.as_deref(),
        }))
    }

    fn has_data_goal(&self, goals: &GoalDerivation) -> Result<bool, Error> {
        let kinds = [(&goals.observers, "observer"), (&goals.purposes, "purpose")];
        for (references, kind) in kinds {
            for reference in references.iter().filter(|r| r.is_iol()) {
                if self.is_data_goal(reference, kind)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

impl GoalDerivation {
    pub(super) fn derive_symbolic(
        &self,
        source: &SymbolicSource<'_>,
        take: &mut TakeDerived<'_>,
    ) -> Result<Derivation, Error> {
        let mut derivation = Derivation::default();
        let hash = symbolic_model_hash(&source.system);
        let model = source.reference.with_hash(hash);
        for goal in source.goals(self)? {
            let mut solver = solver(source.solver)?;
            let test = source.test(&goal, &mut solver)?;
            let (test, reasons) = pruned(&test, self.pruning, &mut solver);
            let test = test.compacted();
            let start = &test.coreachable[test.model.initial().index()];
            if start.is_false() || test.model.outgoing(test.model.initial()).is_empty() {
                derivation.notes.push(format!(
                    "{}: no trace of the specification comes near it",
                    goal.name
                ));
                continue;
            }
            let case = SymbolicTestCase::of(&goal.name, model.clone(), &test);
            let graph = Box::new(SymbolicGraph::of(test, reasons));
            let case = Box::new(case);
            let goal = None;
            if take(Derived::Symbolic { case, graph, goal })?.is_break() {
                break;
            }
        }
        Ok(derivation)
    }
}

impl SymbolicSource<'_> {
    fn goals(&self, goals: &GoalDerivation) -> Result<Vec<SymbolicGoal>, Error> {
        let mut all = Vec::new();
        let system = &self.system;
        for reference in &goals.observers {
            let observers = self.workspace.data_observers(
                reference,
                system,
                &self.spec,
                ObserverRules::Definition5,
            )?;
            for (name, automaton, violate) in observers {
                all.push(SymbolicGoal {
                    name,
                    reference: reference.clone(),
                    automaton,
                    marks: GoalMarks::Violate(violate),
                });
            }
        }
        for reference in &goals.purposes {
            let purposes = self
                .workspace
                .data_purposes(reference, system, &self.spec)?;
            for (name, automaton, marks) in purposes {
                all.push(SymbolicGoal {
                    name,
                    reference: reference.clone(),
                    automaton,
                    marks,
                });
            }
        }
        Ok(all)
    }

    fn test(&self, goal: &SymbolicGoal, solver: &mut Solver) -> Result<SymbolicTest, Error> {
        let (system, automaton) = (&self.system, &goal.automaton);
        let test: Result<SymbolicTest, SymbolicTestError> = match &goal.marks {
            GoalMarks::Violate(violate) => {
                SymbolicTest::new(system, automaton, violate, solver, MOST_LOCATIONS)
            }
            GoalMarks::Purpose { accept, refuse } => {
                SymbolicTest::towards(system, automaton, accept, refuse, solver, MOST_LOCATIONS)
            }
        };
        test.map_err(|e| no_test(&self.reference, &goal.reference, &e))
    }
}
