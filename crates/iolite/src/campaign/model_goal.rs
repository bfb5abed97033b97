//! What there is to reach in a model, as people read it.

use iolite_lang::LineIndex;
use iolite_sts::{CoverageGoal, CriterionGoals, Iosts, LocationId, TransitionId};
use serde::Serialize;

/// The kind of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GoalKind {
    /// A state or location.
    State,
    /// A transition.
    Transition,
    /// A transition while one side of an `||` in its guard is true.
    Branch,
    /// A transition with values at the edge of a comparison in its guard.
    Boundary,
    /// Two transitions, one at once after the other.
    SwitchPair,
}

impl GoalKind {
    pub(super) const ALL: [Self; 5] = [
        Self::State,
        Self::Transition,
        Self::Branch,
        Self::Boundary,
        Self::SwitchPair,
    ];

    /// Several of them.
    pub(super) fn plural(self) -> &'static str {
        match self {
            Self::State => "states",
            Self::Transition => "transitions",
            Self::Branch => "branches of guards",
            Self::Boundary => "boundary values",
            Self::SwitchPair => "switch pairs",
        }
    }
}

/// Something that a run may reach.
#[derive(Clone, Debug, Serialize)]
pub struct ModelGoal {
    /// Its kind.
    pub kind: GoalKind,
    /// Its name, as the model writes it.
    pub name: String,
    /// The line of the model file where it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The node of the model's graph that has to be reached first.
    #[serde(skip)]
    pub(super) place: usize,
}

/// A goal of a model with data, with its line. Where the goals are switch pairs, they are of a split model,
/// and `model` is the one that was written.
pub(crate) fn named_goal(
    model: &Iosts,
    lines: &LineIndex,
    goal: &CoverageGoal,
    goals: Option<&CriterionGoals>,
) -> ModelGoal {
    let line = |span: iolite_expr::Span| {
        let is_known = span.is_some();
        is_known.then(|| lines.line(span.start as usize))
    };
    if let CoverageGoal::Transition(id) = goal
        && let Some((before, own)) = goals.and_then(|goals| goals.pair(*id))
    {
        let t = model.transition(own);
        return ModelGoal {
            kind: GoalKind::SwitchPair,
            name: format!("{}, then {}", written(model, before), written(model, own)),
            line: line(t.span),
            place: t.source.index(),
        };
    }
    let (kind, name, span, place) = match goal {
        CoverageGoal::Location(l) => {
            let location = model.location(*l);
            let name = location.name.to_string();
            (GoalKind::State, name, location.span, l.index())
        }
        CoverageGoal::Transition(id)
        | CoverageGoal::Branch(id, _)
        | CoverageGoal::Boundary(id, _) => {
            let t = model.transition(*id);
            let (kind, with) = match goal {
                CoverageGoal::Branch(_, c) => (GoalKind::Branch, format!(" with {c}")),
                CoverageGoal::Boundary(_, c) => (GoalKind::Boundary, format!(" with {c}")),
                _ => (GoalKind::Transition, String::new()),
            };
            let name = written(model, *id) + &with;
            (kind, name, t.span, t.source.index())
        }
    };
    ModelGoal {
        kind,
        name,
        line: line(span),
        place,
    }
}

/// A transition with its guard.
fn written(model: &Iosts, id: TransitionId) -> String {
    let t = model.transition(id);
    let gate = model.gate(t.action);
    let guard = if t.guard.is_true() {
        String::new()
    } else {
        format!(" [{}]", t.guard)
    };
    let name = |l: LocationId| &model.location(l).name;
    let params: Vec<&str> = gate.params.iter().map(|p| &*p.name).collect();
    let params = if params.is_empty() {
        String::new()
    } else {
        format!("({})", params.join(", "))
    };
    format!(
        "{} {}{}{params}{guard} -> {}",
        name(t.source),
        gate.kind.sigil(),
        gate.name,
        name(t.target)
    )
}
