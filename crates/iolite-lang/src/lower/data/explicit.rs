//! Parts without data.

use std::collections::BTreeMap;

use iolite_lts::{LabelId, LabelKind, Lts};
use iolite_sts::{ActionId, BuildError, Builder, Iosts};

use super::{Result, build_error};
use crate::Span;
use crate::lower::term::place;

/// An explicit system as a symbolic one without data.
pub(super) fn lower(name: &str, lts: &Lts, span: Span) -> Result<Iosts> {
    let at = place(span);
    let wrong = |e: BuildError| vec![build_error(&e, span)];
    let mut builder = Builder::new(name);
    let mut actions: BTreeMap<LabelId, ActionId> = BTreeMap::new();
    for (id, label) in lts.labels().iter() {
        if id == LabelId::DELTA {
            continue;
        }
        let (kind, text) = if id == LabelId::TAU {
            (LabelKind::Internal, "i")
        } else {
            (label.kind, &*label.name)
        };
        actions.insert(id, builder.action(kind, text, &[], at).map_err(wrong)?);
    }
    let mut locations = Vec::new();
    for state in lts.states() {
        let text = format!("{}.{}", name, state.index());
        let initial = state == lts.initial();
        locations.push(builder.location(&text, initial, at).map_err(wrong)?);
    }
    for state in lts.states() {
        for (label, target) in lts.steps(state) {
            let Some(&action) = actions.get(label) else {
                continue;
            };
            let (source, target) = (locations[state.index()], locations[target.index()]);
            builder
                .transition(source, action, None, Vec::new(), target, at)
                .map_err(wrong)?;
        }
    }
    builder.build().map_err(wrong)
}
