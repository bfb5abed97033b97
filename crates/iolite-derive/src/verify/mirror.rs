//! Mirror: what the implementation takes in, the tester gives out, and the other way round.

use std::sync::Arc;

use iolite_lts::{LabelId, LabelKind, Labels, Lts};

/// The alphabet with inputs and outputs exchanged; every label keeps its id.
fn mirror_labels(labels: &Labels) -> Labels {
    let mut mirrored = Labels::new();
    for (id, label) in labels.iter() {
        let kind = match label.kind {
            LabelKind::Input => LabelKind::Output,
            LabelKind::Output => LabelKind::Input,
            kind => kind,
        };
        let new = mirrored.intern(kind, &label.name);
        debug_assert_eq!(id, new);
    }
    mirrored
}

/// The system with inputs and outputs exchanged [SAFE04, §4].
pub fn mirror(lts: &Lts) -> Lts {
    let labels = mirror_labels(lts.labels());
    let same: Vec<LabelId> = (0..labels.len()).map(LabelId::new).collect();
    lts.over(Arc::new(labels), &same)
}
