//! A walk through the sets of states of a suspension automaton.

use iolite_lts::{Determinised, LabelId, QuiescencePolicy, SetId, Suspension};

use super::{Offer, Position, Taken};
use crate::{Error, ExplicitSpec, System};

pub(super) struct ExplicitWalk {
    spec: ExplicitSpec,
    view: Determinised<Suspension<System>>,
    start: SetId,
    /// Where the walk was after each of its actions.
    path: Vec<SetId>,
}

impl ExplicitWalk {
    pub(super) fn new(spec: ExplicitSpec, policy: QuiescencePolicy) -> Self {
        let mut view = Determinised::new(Suspension::new(spec.system(), policy));
        Self {
            spec,
            start: view.initial(),
            view,
            path: Vec::new(),
        }
    }

    fn at(&self) -> SetId {
        self.path.last().copied().unwrap_or(self.start)
    }

    pub(super) fn position(&mut self) -> Result<Position, Error> {
        let at = self.at();
        let row = self.view.row(at).to_vec();
        self.spec.believe()?;
        let offer = |&(label, _): &(LabelId, SetId)| Offer {
            action: self.view.labels().text(label),
            guard: None,
        };
        Ok(Position {
            offers: row.iter().map(offer).collect(),
            places: self.view.describe(at),
            silence_undecided: false,
        })
    }

    /// Goes on with an action; its full text.
    pub(super) fn take(&mut self, action: &str) -> Result<Result<String, Taken>, Error> {
        let wanted = if action == "δ" { "delta" } else { action };
        let row = self.view.row(self.at()).to_vec();
        self.spec.believe()?;
        let labels = self.view.labels();
        let named = |label: LabelId| {
            let label = labels.label(label);
            label.to_string() == wanted || &*label.name == wanted
        };
        let Some(&(label, set)) = row.iter().find(|&&(label, _)| named(label)) else {
            let known = wanted == "delta" || labels.iter().any(|(id, _)| named(id));
            return Ok(Err(if known {
                Taken::NotPossible("is not possible here".to_owned())
            } else {
                Taken::NoAction
            }));
        };
        let text = labels.text(label);
        self.path.push(set);
        Ok(Ok(text))
    }

    pub(super) fn back(&mut self) {
        self.path.pop();
    }
}
