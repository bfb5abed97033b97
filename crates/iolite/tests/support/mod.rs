//! What tests of certificates of runs have in common: the claim that an engine makes of a run, and single edits of the
//! certificate that is made of it.
#![allow(dead_code, unreachable_pub, missing_docs)]

use std::collections::BTreeSet;

use iolite::{
    Certificate, CheckOutcome, Context, Criterion, RelationDocument, Verdict, WholeCertificate,
    Workspace,
};

use crate::common::explain;

/// The claim of a run that failed at once, to be filled in.
pub fn judged(kind: Criterion, model: &str, queues: bool) -> Certificate {
    Certificate {
        format: iolite_exec::CERTIFICATE_FORMAT.to_owned(),
        kind,
        model: model.into(),
        context: if queues {
            Context::Queues
        } else {
            Context::Synchronous
        },
        channels: Vec::new(),
        verdict: Verdict::Fail,
        trace: Vec::new(),
        observed: None,
        trace_omitted: 0,
        patience: None,
        instead: Vec::new(),
        unexplained: None,
        exit: None,
        allowed: Vec::new(),
        locations: Vec::new(),
        run: 0,
        seed: 0,
    }
}

/// Single edits that were looked at.
#[derive(Default)]
pub struct Edits {
    pub done: usize,
    still_true: usize,
    tries: usize,
    verdicts: BTreeSet<String>,
}

impl Edits {
    /// One more try to find a run that fails; most find none.
    pub fn try_again(&mut self) {
        self.tries += 1;
        assert!(self.tries < 500_000, "only {} edits", self.done);
    }

    /// Looks at a genuine certificate, which is confirmed, and at `times` single edits of it, which are confirmed where
    /// they are true. What nobody knows the truth of is passed over.
    pub fn check(
        &mut self,
        workspace: &Workspace,
        whole: &WholeCertificate,
        times: usize,
        mut edit: impl FnMut(&mut WholeCertificate),
        is_true: impl Fn(&WholeCertificate) -> Option<bool>,
    ) {
        self.verdicts.insert(whole.verdict.clone());
        let checked = explain(workspace, whole);
        assert_eq!(checked, CheckOutcome::Confirmed, "{whole:#?}");
        assert_eq!(is_true(whole), Some(true), "{whole:#?}");
        for _ in 0..times {
            let mut other = whole.clone();
            edit(&mut other);
            let Some(right) = is_true(&other) else {
                continue;
            };
            let checked = explain(workspace, &other);
            assert_eq!(
                checked == CheckOutcome::Confirmed,
                right,
                "{checked:?} {other:#?}"
            );
            self.done += 1;
            self.still_true += usize::from(right);
        }
    }

    /// Some edits kept the claim true, and there were claims of so many verdicts.
    pub fn finish(&self, verdicts: usize) {
        let still_true = self.still_true;
        assert!(still_true > 20, "only {still_true} edits keep it true");
        assert_eq!(self.verdicts.len(), verdicts, "{:?}", self.verdicts);
    }
}

/// The evidence that a relation holds is refuted once it is said of the implementation of another answer, for which the
/// relation does not hold.
pub fn refute_of_another(workspace: &Workspace, own: &RelationDocument, other: RelationDocument) {
    let mut forged = workspace.certify_holding(own).expect("a certificate");
    let certificate = other.certificate.expect("a counterexample");
    forged.implementation = certificate.implementation;
    forged.files = certificate.files;
    let checked = explain(workspace, &forged);
    assert!(
        matches!(checked, CheckOutcome::Refuted(_)),
        "{checked:?} {forged:#?}"
    );
}
