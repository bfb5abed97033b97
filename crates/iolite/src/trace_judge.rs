//! One trace of a log while it is judged.

use iolite_derive::{ActionId, Alphabet, Step, Tester};
use iolite_exec::{LogStep, LoggedTrace, MonitorOptions, Monitored};
use rustc_hash::FxHashMap;

use crate::{Judge, LogReport};

/// Texts of events whose meaning is remembered.
const REMEMBERED: usize = 1 << 12;

/// What a text means.
#[derive(Clone, Copy)]
struct Known {
    step: Step,
    /// Whether the text is an action that no property sees; silences are none.
    is_unseen: Option<bool>,
}

/// What texts mean: this does not change, and logs have few texts that come often.
#[derive(Default)]
struct KnownTexts {
    by_text: FxHashMap<Box<str>, Known>,
    by_number: Vec<Option<Known>>,
}

impl KnownTexts {
    fn get(&self, step: &LogStep<'_>) -> Option<Known> {
        match step.number {
            Some(number) => self.by_number.get(number).copied().flatten(),
            None if step.is_plain() => self.by_text.get(step.text).copied(),
            None => None,
        }
    }

    fn insert(&mut self, step: &LogStep<'_>, known: Known) {
        match step.number {
            Some(number) if number < REMEMBERED => {
                if self.by_number.len() <= number {
                    self.by_number.resize(number + 1, None);
                }
                self.by_number[number] = Some(known);
            }
            // The same text may mean something else in a line that says more of its sorts.
            None if self.by_text.len() < REMEMBERED && step.is_plain() => {
                self.by_text.insert(step.text.into(), known);
            }
            _ => {}
        }
    }
}

/// Somebody who judges a trace step by step.
pub(crate) trait LogFollower {
    /// Takes a step, unless the verdict is there; whether it is there now, or why the step cannot be read.
    fn step(&mut self, step: &LogStep<'_>) -> Result<bool, String>;
    /// The log ends here.
    fn end(&mut self);
    /// The log goes on from this line, and nobody judges the rest.
    fn break_off(&mut self, line: usize, reason: String);
}

/// One trace, and the tester that judges it.
pub(crate) struct TraceJudge<'a, T> {
    judge: &'a Judge,
    alphabet: Alphabet,
    tester: T,
    options: MonitorOptions,
    trace: LoggedTrace,
    known: KnownTexts,
    /// Events that some property sees, and events that none does.
    seen: (u64, u64),
    /// What it came to, once that is so.
    judged: Option<Monitored>,
}

impl<'a, T: Tester> TraceJudge<'a, T> {
    pub(crate) fn new(
        judge: &'a Judge,
        alphabet: Alphabet,
        mut tester: T,
        options: MonitorOptions,
    ) -> Self {
        // Tester and alphabet may have judged other traces, whose actions must not count as those of this one.
        tester.begin(0);
        Self {
            judge,
            alphabet,
            tester,
            options,
            trace: LoggedTrace::default(),
            known: KnownTexts::default(),
            seen: (0, 0),
            judged: None,
        }
    }

    /// Whether the verdict is there.
    pub(crate) fn is_over(&self) -> bool {
        self.judged.is_some()
    }

    pub(crate) fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// What it came to, and the tester for what else there is to ask.
    pub(crate) fn report(mut self) -> (T, LogReport) {
        let judged = self.judged.take();
        let judged = judged.unwrap_or_else(|| self.trace.end(&mut self.tester, &self.options));
        let report = LogReport {
            seen: self.seen,
            ..LogReport::from(judged)
        };
        (self.tester, report)
    }

    fn read(&mut self, step: &LogStep<'_>) -> Result<Known, String> {
        if let Some(known) = self.known.get(step) {
            return Ok(known);
        }
        let read = |text: &str| self.judge.read_action(&self.alphabet, text);
        let parsed = step.parsed(&read)?;
        let is_unseen = |action: ActionId| {
            let properties = self.judge.properties();
            properties.is_some_and(|p| p.is_unseen(&self.alphabet, action))
        };
        let known = Known {
            step: parsed,
            is_unseen: match parsed {
                Step::Stimulus(action) | Step::Output(action) => Some(is_unseen(action)),
                Step::Quiescence | Step::Deadlock => None,
            },
        };
        // What the alphabet may forget would mean nothing, or something else, when it comes again.
        if self.alphabet.keeps(parsed.action()) {
            self.known.insert(step, known);
        }
        Ok(known)
    }
}

impl<T: Tester> LogFollower for TraceJudge<'_, T> {
    fn step(&mut self, step: &LogStep<'_>) -> Result<bool, String> {
        if self.judged.is_some() {
            return Ok(true);
        }
        let known = self.read(step)?;
        match known.is_unseen {
            Some(true) => self.seen.1 += 1,
            Some(false) => self.seen.0 += 1,
            None => {}
        }
        let tester = &mut self.tester;
        // What is not there is not moved about: this is done for every step.
        if let Some(judged) = self.trace.step(tester, step, known.step, &self.options) {
            self.judged = Some(judged);
            return Ok(true);
        }
        Ok(false)
    }

    fn end(&mut self) {
        if self.judged.is_none() {
            self.judged = Some(self.trace.end(&mut self.tester, &self.options));
        }
    }

    fn break_off(&mut self, line: usize, reason: String) {
        if self.judged.is_none() {
            let tester = &mut self.tester;
            self.judged = Some(self.trace.break_off(tester, line, reason, &self.options));
        }
    }
}
