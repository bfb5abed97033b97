//! Views of models with data that keep the data [SYM04, §3 and §5]: S^δ, det(S), test(S, ω), prune(S, ω).

use iolite_derive::{ModelRef, SymbolicTestCase, Verdict, verdict_locations};
use iolite_formats::drawing::{Drawing, Edge, Meaning, Node, NodeId};
use iolite_lts::LabelKind;
use iolite_property::ObserverRules;
use iolite_sts::{
    DeterminiseError, Iosts, LocationId, PrunedTransition, PruningGoal, SymbolicTest,
    SymbolicTestError, Transition,
};
use serde::Serialize;

use crate::{Error, Spec, Workspace, answers_count, as_iosts, solver};

/// What is made of a model with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolicView {
    /// The model as it is.
    Model,
    /// S^δ [SYM04, def. 7].
    Suspension,
    /// det(S) [SYM04, §3.3].
    Determinised,
    /// det(S^δ).
    SuspensionAutomaton,
    /// S^δ || ω: the model beside an observer.
    Product,
    /// test(S, ω) [SYM04, def. 13].
    Test,
    /// prune(S, ω), mirrored [SYM04, def. 15].
    Pruned,
}

/// A view with the verdicts of its locations.
#[derive(Clone, Debug)]
pub struct SymbolicGraph {
    /// The view.
    pub model: Iosts,
    /// The locations with a verdict.
    pub verdicts: Vec<(LocationId, Verdict)>,
    /// What pruning took away or led elsewhere.
    pub pruned: Vec<PruningReason>,
}

/// A transition that pruning removed, narrowed or redirected, and the coreachability formula that says so
/// [SYM04, def. 14 and 15].
#[derive(Clone, Debug, Serialize)]
pub struct PruningReason {
    /// Where it leaves.
    pub source: String,
    /// What is given or observed.
    pub action: String,
    /// Its guard in brackets; empty where it has none.
    pub guard: String,
    /// Where it led.
    pub target: String,
    /// The condition under which the goal may be reached from its source.
    pub coreachable: String,
    /// Whether it leads to Inconc where that does not hold; otherwise it is not given there.
    pub redirected: bool,
    /// Whether something of it is left.
    pub kept: bool,
}

/// Locations of a determinised view.
pub(crate) const MOST_LOCATIONS: usize = 2_000;
/// Steps of the search for coreachable states.
pub(crate) const PRUNING_STEPS: u64 = 40_000;

impl Workspace {
    /// A view of a model that keeps its data. `observer` names ω where the view has one.
    pub fn symbolic_view(
        &self,
        model: &ModelRef,
        view: SymbolicView,
        observer: Option<&ModelRef>,
        solver_name: Option<&str>,
    ) -> Result<SymbolicGraph, Error> {
        let spec = self.spec(model)?;
        let own;
        let system: &Iosts = match &*spec {
            Spec::Symbolic(symbolic) => symbolic.model(),
            Spec::Explicit(explicit) => {
                own = as_iosts::system(explicit)?;
                &own
            }
            Spec::Properties(_) => {
                return Err(Error::input(format!("{model} is a property, not a model")));
            }
        };
        let mut solver = solver(solver_name)?;
        let plain = |model: Iosts| SymbolicGraph {
            model,
            verdicts: Vec::new(),
            pruned: Vec::new(),
        };
        let determinised = |s: &Iosts, solver: &mut _| {
            let result = s.determinised(solver, MOST_LOCATIONS);
            result.map(plain).map_err(|e| undetermined(model, &e))
        };
        let graph = match view {
            SymbolicView::Model => Ok(plain(system.clone())),
            SymbolicView::Suspension => Ok(plain(system.quiescent())),
            SymbolicView::Determinised => determinised(system, &mut solver),
            SymbolicView::SuspensionAutomaton => determinised(&system.quiescent(), &mut solver),
            SymbolicView::Product | SymbolicView::Test | SymbolicView::Pruned => {
                let Some(reference) = observer else {
                    return Err(
                        Error::input("this view is that of a model beside an observer")
                            .hint("name an observer: --observer FILE#W"),
                    );
                };
                let mut all =
                    self.data_observers(reference, system, &spec, ObserverRules::Definition5)?;
                let (Some((_, observer, violate)), true) = (all.pop(), all.is_empty()) else {
                    return Err(Error::input(format!("{reference} means several observers"))
                        .hint("pick one as FILE#W"));
                };
                if view == SymbolicView::Product {
                    let product = system.observed_by(&observer, &violate);
                    let (product, violate) =
                        product.map_err(|e| Error::input(format!("{reference}: {e}")))?;
                    let violate = violate.into_iter().map(|l| (l, Verdict::Violate));
                    return Ok(SymbolicGraph {
                        model: product,
                        verdicts: violate.collect(),
                        pruned: Vec::new(),
                    });
                }
                let most = MOST_LOCATIONS;
                let test = SymbolicTest::new(system, &observer, &violate, &mut solver, most);
                let test = test.map_err(|e| no_test(model, reference, &e))?;
                if view == SymbolicView::Test {
                    return Ok(SymbolicGraph::of(test, Vec::new()));
                }
                let goal = PruningGoal::default();
                let (test, pruned) = pruned(&test, goal, &mut solver);
                // Without locations that pruning left behind.
                Ok(SymbolicGraph::of(test.compacted(), pruned))
            }
        };
        answers_count(&solver)?;
        graph
    }
}

/// prune(S, ω) as people read it: trimmed before and after.
pub(crate) fn pruned(
    test: &SymbolicTest,
    goal: PruningGoal,
    solver: &mut iolite_expr::Solver,
) -> (SymbolicTest, Vec<PruningReason>) {
    let test = test.trimmed(solver, PRUNING_STEPS);
    let (test, pruned) = test.pruned_towards(goal, solver, PRUNING_STEPS);
    explained(&test, &pruned, solver)
}

/// The same for a test that heads for a coverage goal.
pub(crate) fn pruned_to_cover(
    test: &SymbolicTest,
    solver: &mut iolite_expr::Solver,
) -> (SymbolicTest, Vec<PruningReason>) {
    let test = test.trimmed(solver, PRUNING_STEPS);
    let (test, pruned) = test.pruned_within_reach(solver, PRUNING_STEPS);
    explained(&test, &pruned, solver)
}

fn explained(
    test: &SymbolicTest,
    pruned: &[PrunedTransition],
    solver: &mut iolite_expr::Solver,
) -> (SymbolicTest, Vec<PruningReason>) {
    let reason = |p: &PrunedTransition| {
        let name = |l: LocationId| test.model.location(l).name.to_string();
        let t = &p.transition;
        let guard = t.guard.to_string();
        PruningReason {
            source: name(t.source),
            action: action(&test.model, t),
            guard: if t.guard.is_true() {
                String::new()
            } else {
                format!(" [{guard}]")
            },
            target: name(t.target),
            coreachable: p.coreachable.to_string(),
            redirected: p.redirected,
            kept: p.kept,
        }
    };
    let reasons = pruned.iter().map(reason).collect();
    (test.trimmed(solver, PRUNING_STEPS), reasons)
}

fn action(model: &Iosts, t: &Transition) -> String {
    let gate = model.gate(t.action);
    let params: Vec<&str> = gate.params.iter().map(|p| &*p.name).collect();
    let params = match params.len() {
        0 => String::new(),
        _ => format!("({})", params.join(", ")),
    };
    format!("{}{}{params}", gate.kind.sigil(), gate.name)
}

/// Why there is no symbolic test case.
pub(crate) fn no_test(model: &ModelRef, goal: &ModelRef, error: &SymbolicTestError) -> Error {
    match error {
        SymbolicTestError::Determinise(e) => undetermined(model, e),
        SymbolicTestError::Compose(e) => Error::input(format!("{goal}: {e}")),
    }
}

fn undetermined(model: &ModelRef, error: &DeterminiseError) -> Error {
    Error::undecided(format!(
        "{model} has no deterministic form that was found: {error}"
    ))
    .hint("testing on the fly needs none: `iolite test MODEL --observer FILE#W`")
}

#[derive(Serialize)]
struct GraphDocument {
    name: String,
    constants: Vec<String>,
    assumptions: Vec<String>,
    variables: Vec<String>,
    initial: String,
    locations: Vec<LocationDocument>,
    transitions: Vec<TransitionDocument>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pruned: Vec<PruningReason>,
}

#[derive(Serialize)]
struct LocationDocument {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
}

#[derive(Serialize)]
struct TransitionDocument {
    source: String,
    action: String,
    guard: String,
    assignments: Vec<String>,
    target: String,
}

impl SymbolicGraph {
    /// A test, and what its pruning took away.
    pub(crate) fn of(test: SymbolicTest, pruned: Vec<PruningReason>) -> Self {
        Self {
            verdicts: verdict_locations(&test),
            model: test.model,
            pruned,
        }
    }

    /// A stored test case.
    pub fn of_case(case: &SymbolicTestCase) -> Self {
        Self {
            model: (**case.program()).clone(),
            verdicts: case.verdicts().collect(),
            pruned: Vec::new(),
        }
    }

    fn verdict(&self, location: LocationId) -> Option<Verdict> {
        let found = self.verdicts.iter().find(|(l, _)| *l == location);
        found.map(|(_, verdict)| *verdict)
    }

    fn name(&self, location: LocationId) -> String {
        self.model.location(location).name.to_string()
    }

    fn assignments(&self, t: &Transition) -> Vec<String> {
        let assignment = |(x, e): &(usize, _)| {
            let name = &self.model.variables()[*x].var.name;
            format!("{name} := {e}")
        };
        t.assignments.iter().map(assignment).collect()
    }

    /// Locations and transitions as text, in the notation of the language, then the verdicts.
    pub fn text(&self) -> String {
        let mut text = self.model.to_string();
        for (location, verdict) in &self.verdicts {
            text += &format!("verdict {verdict}: {}\n", self.name(*location));
        }
        text
    }

    /// What pruning took away or led elsewhere, a line a transition.
    pub fn pruning(&self) -> String {
        let line = |p: &PruningReason| {
            let what = match (p.redirected, p.kept) {
                (true, true) => "led to Inconc elsewhere",
                (true, false) => "led to Inconc",
                (false, true) => "given only there",
                (false, false) => "removed",
            };
            let PruningReason { source, .. } = p;
            format!(
                "{source} {}{} -> {}: {what}; from {source} the goal can be reached only where {}\n",
                p.action, p.guard, p.target, p.coreachable
            )
        };
        self.pruned.iter().map(line).collect()
    }

    /// One JSON document.
    pub fn document(&self) -> impl Serialize + use<> {
        let model = &self.model;
        let variable = |v: &iolite_sts::Variable| {
            let initial = v.initial.as_ref().map(|t| format!(" = {t}"));
            format!(
                "{}: {}{}",
                v.var.name,
                v.var.sort,
                initial.unwrap_or_default()
            )
        };
        GraphDocument {
            name: model.name().to_owned(),
            constants: model
                .constants()
                .iter()
                .map(|c| format!("{}: {}", c.var.name, c.var.sort))
                .collect(),
            assumptions: model
                .assumptions()
                .iter()
                .map(ToString::to_string)
                .collect(),
            variables: model.variables().iter().map(variable).collect(),
            initial: self.name(model.initial()),
            locations: model
                .locations()
                .map(|(id, l)| LocationDocument {
                    name: l.name.to_string(),
                    verdict: self.verdict(id),
                })
                .collect(),
            transitions: model
                .transitions()
                .map(|(_, t)| TransitionDocument {
                    source: self.name(t.source),
                    action: action(&self.model, t),
                    guard: t.guard.to_string(),
                    assignments: self.assignments(t),
                    target: self.name(t.target),
                })
                .collect(),
            pruned: self.pruned.clone(),
        }
    }

    /// The picture: guards and effects on the edges, verdicts coloured.
    pub fn drawing(&self) -> Drawing {
        let node = |(id, l): (LocationId, &iolite_sts::Location)| Node {
            name: match self.verdict(id) {
                Some(verdict) => format!("{} ({verdict})", l.name),
                None => l.name.to_string(),
            },
            meaning: self.verdict(id).map(Meaning::from).unwrap_or_default(),
            ..Node::default()
        };
        let edge = |t: &Transition| {
            let gate = self.model.gate(t.action);
            let mut label = match gate.kind {
                LabelKind::Delta => "δ".to_owned(),
                _ => action(&self.model, t),
            };
            if !t.guard.is_true() {
                label += &format!(" [{}]", t.guard);
            }
            if !t.assignments.is_empty() {
                label += &format!(" / {}", self.assignments(t).join(", "));
            }
            Edge {
                source: NodeId::new(t.source.index()),
                target: NodeId::new(t.target.index()),
                label,
                kind: gate.kind,
            }
        };
        Drawing {
            path: None,
            title: self.model.name().to_owned(),
            nodes: self.model.locations().map(node).collect(),
            edges: self.model.transitions().map(|(_, t)| edge(t)).collect(),
            initial: Some(NodeId::new(self.model.initial().index())),
        }
    }
}
