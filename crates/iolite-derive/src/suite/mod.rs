//! The quality of a test suite: is it sound, what does it cover, how exhaustive is it [LTS96, §3 and 7;
//! IOCO99, §3].
//!
//! All three walk test cases beside `det` of the specification. A test case claims that an
//! implementation does not conform with the verdicts `fail` and `violate-fail`; the others say nothing of
//! that.

mod exhaustiveness;
mod reach;
mod soundness;

use iolite_lts::relation::Relation;
use iolite_lts::{Label, LabelId, Labels};

use crate::{TestCase, Verdict};

pub use exhaustiveness::{Exhaustiveness, Undetected, exhaustiveness};
pub use reach::{Reach, reach};
pub use soundness::{Unsound, soundness};

/// The relations whose suites can be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuiteRelation {
    /// ioco [IOCO99, §4].
    Ioco,
    /// ioconf [LTS96, def. 6.10].
    Ioconf,
    /// conf [LTS96, def. 4.7].
    Conf,
}

impl SuiteRelation {
    /// Those of all relations that are among them.
    pub fn of(relation: Relation) -> Option<Self> {
        match relation {
            Relation::Ioco => Some(Self::Ioco),
            Relation::Ioconf => Some(Self::Ioconf),
            Relation::Conf => Some(Self::Conf),
            _ => None,
        }
    }
}

/// Whether a verdict says that the implementation does not conform.
fn claims(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Fail | Verdict::ViolateFail)
}

/// For each label of `from` the one of `to` that means it: the same, or the one for other values of an
/// unfolded action, `o(…)`.
pub(crate) fn known_labels(from: &Labels, to: &Labels) -> Vec<Option<LabelId>> {
    let meant = |label: &Label| {
        let other = || {
            let (action, _) = label.name.split_once('(')?;
            to.other_values(label.kind, action)
        };
        to.get(label.kind, &label.name).or_else(other)
    };
    from.iter().map(|(_, label)| meant(label)).collect()
}

/// What the labels of a test case are to a specification.
struct Meanings {
    /// For each label of the specification the one of the test case, if it has one.
    known: Vec<Option<LabelId>>,
    /// For each label of the test case those of the specification that it stands for.
    stands_for: Vec<Vec<LabelId>>,
}

impl Meanings {
    fn new(specification: &Labels, case: &TestCase) -> Self {
        let known = known_labels(specification, case.labels());
        let mut stands_for = vec![Vec::new(); case.labels().len()];
        for (index, own) in known.iter().enumerate() {
            if let Some(own) = own {
                stands_for[own.index()].push(LabelId::new(index));
            }
        }
        Self { known, stands_for }
    }
}
