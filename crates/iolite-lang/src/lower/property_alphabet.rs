//! The alphabet of a declared property: what it says itself, or what it speaks of.

use iolite_lts::{LabelId, LabelKind, Labels};
use iolite_property::Alphabet;

use super::formula_events::formula_events;
use crate::names::Names;
use crate::syntax::ast::{Event, EventKind, Property};
use crate::{Diagnostic, codes};

pub(super) fn alphabet<'f>(
    names: &Names<'f>,
    property: &'f Property,
) -> Result<Alphabet, Vec<Diagnostic>> {
    let occurring = formula_events(names, &property.body);
    let mut labels = Labels::new();
    let mut letters: Vec<LabelId> = Vec::new();
    let add = |letters: &mut Vec<LabelId>, id: LabelId| {
        if !letters.contains(&id) {
            letters.push(id);
        }
    };
    let system = property.of.as_ref().and_then(|of| names.alphabet(&of.text));
    match (&property.over, system) {
        (Some(events), _) => {
            for id in events.iter().filter_map(|e| intern(e, &mut labels)) {
                add(&mut letters, id);
            }
        }
        (None, Some(known)) => {
            for (_, label) in known.iter().skip(2) {
                if label.kind != LabelKind::Internal {
                    add(&mut letters, labels.intern(label.kind, &label.name));
                }
            }
        }
        (None, None) => {
            for id in occurring.iter().filter_map(|e| intern(e, &mut labels)) {
                add(&mut letters, id);
            }
        }
    }
    if occurring.iter().any(|e| e.kind == EventKind::Delta) {
        add(&mut letters, LabelId::DELTA);
    }
    Alphabet::new(labels, letters).map_err(|e| {
        vec![
            Diagnostic::error(
                codes::NO_AUTOMATON,
                property.name.span,
                format!("property `{}`: {e}", property.name.text),
            )
            .hint("name the actions after `over`, as in `over {?a, !x}`"),
        ]
    })
}

fn intern(event: &Event, labels: &mut Labels) -> Option<LabelId> {
    match &event.kind {
        EventKind::Label { kind, name, .. } | EventKind::Offer { kind, name, .. } => {
            Some(labels.intern(*kind, &name.text))
        }
        EventKind::Delta => Some(LabelId::DELTA),
        EventKind::Tau | EventKind::Any => None,
    }
}
