//! Suspension traces, listed.

use crate::{Determinised, LabelId, Semantics, SetId, StateId};

/// The traces of a determinised view up to a length, shortest first and in label order; over a
/// suspension view these are Straces [IOCO99, §4]. Stops after `limit` traces; the flag
/// says whether all were listed.
pub fn straces<M: Semantics<State = StateId>>(
    view: &mut Determinised<M>,
    length: usize,
    limit: usize,
) -> (Vec<Vec<LabelId>>, bool) {
    let mut found: Vec<(Vec<LabelId>, SetId)> = vec![(Vec::new(), view.initial())];
    let mut next = 0;
    while next < found.len() && found.len() <= limit {
        let (trace, set) = found[next].clone();
        next += 1;
        if trace.len() == length {
            break;
        }
        for &(label, target) in view.row(set) {
            let mut longer = trace.clone();
            longer.push(label);
            found.push((longer, target));
        }
    }
    let complete = found.len() <= limit;
    found.truncate(limit);
    (
        found.into_iter().map(|(trace, _)| trace).collect(),
        complete,
    )
}
