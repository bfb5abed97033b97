//! The on-the-fly ioco tester: the algorithm of [IOCO99, §4], derived as far as the run goes.

use iolite_lts::{
    BudgetExceeded, DEFAULT_MEMO_BYTES, Determinised, LabelId, LabelKind, Labels, QuiescencePolicy,
    Semantics, SetId, StateId, Suspension,
};

use crate::location::{locations, places};
use crate::{Coverage, CoverageReport, Guide, Hint, Menu, Observation, Progress, Tester, Verdict};

/// Tests for ioco, or watches (it judges any sequence of stimuli and observations, whoever chose
/// them).
///
/// It stands in `S after σ`, where σ is what happened so far. An observation outside
/// `out(S after σ)` is `fail`; a stimulus that S does not specify leads to where S says nothing, and
/// the run ends `inconc`. Once the sets of the run are known, a step is one look-up and allocates
/// nothing; the memo is kept under its byte budget.
#[derive(Debug)]
pub struct IocoTester<M> {
    view: Determinised<Suspension<M>>,
    initial: Option<SetId>,
    state: SetId,
    sets_at_last_trim: usize,
    verdict: Verdict,
    ended: bool,
    coverage: Option<Box<Coverage>>,
}

impl<M: Semantics<State = StateId>> IocoTester<M> {
    /// A tester for `specification` with the default memo budget.
    pub fn new(specification: M, policy: QuiescencePolicy) -> Self {
        Self::with_budget(specification, policy, DEFAULT_MEMO_BYTES)
    }

    /// A tester whose memo of visited sets stays under `bytes`.
    pub fn with_budget(specification: M, policy: QuiescencePolicy, bytes: usize) -> Self {
        let mut view = Determinised::with_budget(Suspension::new(specification, policy), bytes);
        let state = view.initial();
        Self {
            view,
            initial: Some(state),
            state,
            sets_at_last_trim: 0,
            verdict: Verdict::Pass,
            ended: false,
            coverage: None,
        }
    }

    /// Starts to record coverage, which walks the whole determinised suspension automaton once, up
    /// to `limit` sets. From then on the memo is complete and is not trimmed.
    pub fn track_coverage(&mut self, limit: usize) -> Result<(), BudgetExceeded> {
        let coverage = Coverage::explore(&mut self.view, limit)?;
        self.coverage = Some(Box::new(coverage));
        self.initial = None;
        self.reset();
        Ok(())
    }

    /// The coverage so far, if it is recorded.
    pub fn coverage(&self) -> Option<&Coverage> {
        self.coverage.as_deref()
    }

    /// The coverage so far in words, with at most `left` transitions that are left.
    pub fn coverage_report(&self, left: usize) -> Option<CoverageReport> {
        self.coverage.as_ref().map(|c| c.report(&self.view, left))
    }

    /// The alphabet of the actions.
    pub fn labels(&self) -> &Labels {
        self.view.labels()
    }

    /// The states of the specification where the run can be now.
    pub fn states(&self) -> &[StateId] {
        self.view.members(self.state)
    }

    /// The first livelock that the strict policy met, in words.
    pub fn livelock(&self) -> Option<String> {
        let state = self.view.inner().livelock()?;
        Some(self.view.inner().describe(&state))
    }

    /// Bytes of the memo.
    pub fn bytes(&self) -> usize {
        self.view.bytes()
    }

    fn end(&mut self, verdict: Verdict) -> Progress {
        self.verdict = verdict;
        self.ended = true;
        Progress::Ended(verdict)
    }

    #[inline]
    fn step(&mut self, label: LabelId, otherwise: Verdict) -> Progress {
        if self.ended {
            return Progress::Ended(self.verdict);
        }
        let Some(next) = self.view.after(self.state, label) else {
            return self.end(otherwise);
        };
        if let Some(coverage) = &mut self.coverage {
            coverage.step(self.state, label);
            self.state = next;
        } else {
            self.state = next;
            if self.view.set_count() != self.sets_at_last_trim {
                self.trim();
            }
        }
        Progress::Continue
    }

    #[cold]
    fn trim(&mut self) {
        let before = self.view.set_count();
        self.state = self.view.trim(self.state);
        self.sets_at_last_trim = self.view.set_count();
        if self.sets_at_last_trim != before {
            self.initial = None;
        }
    }
}

impl<M: Semantics<State = StateId>> Tester for IocoTester<M> {
    type Action = LabelId;

    fn reset(&mut self) {
        let initial = match self.initial {
            Some(initial) => initial,
            None => *self.initial.insert(self.view.initial()),
        };
        self.state = initial;
        self.verdict = Verdict::Pass;
        self.ended = false;
    }

    fn menu(&mut self, menu: &mut Menu<LabelId>) {
        menu.stop = true;
        if self.ended {
            return;
        }
        menu.observe = true;
        self.view.row(self.state);
        let kinds = self.view.labels().kinds();
        let row = self.view.known_row(self.state).unwrap_or_default();
        menu.stimuli.extend(
            row.iter()
                .map(|&(label, _)| label)
                .filter(|l| kinds[l.index()] == LabelKind::Input),
        );
    }

    fn stimulate(&mut self, stimulus: &LabelId) -> Progress {
        self.step(*stimulus, Verdict::Inconc)
    }

    fn observe(&mut self, observation: &Observation<LabelId>) -> Progress {
        let label = match observation {
            Observation::Output(label) => *label,
            Observation::Quiescence | Observation::Deadlock => LabelId::DELTA,
        };
        self.step(label, Verdict::Fail)
    }

    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn allowed(&mut self) -> Vec<String> {
        let out = self.view.out(self.state);
        out.iter().map(|&l| self.view.labels().text(l)).collect()
    }

    fn locations(&mut self) -> Vec<String> {
        locations(&self.view, self.state)
    }

    fn places(&mut self) -> Vec<String> {
        places(&self.view, self.state)
    }

    fn show(&self, action: &LabelId) -> String {
        show(self.view.labels(), *action)
    }
}

impl<M: Semantics<State = StateId>> Guide for IocoTester<M> {
    /// Towards a transition of the determinised suspension automaton that no run has seen yet; needs
    /// [`IocoTester::track_coverage`].
    fn hint(&mut self) -> Option<Hint<LabelId>> {
        if self.ended {
            return None;
        }
        self.coverage.as_mut()?.hint(self.state)
    }
}

/// An action of a table that the caller may have grown since.
pub(crate) fn show(labels: &Labels, label: LabelId) -> String {
    if label.index() < labels.len() {
        labels.text(label)
    } else {
        format!("unknown action {}", label.index())
    }
}
