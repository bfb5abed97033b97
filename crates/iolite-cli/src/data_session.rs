//! `iolite simulate` by hand for models with data, whether finite or not.

use iolite_derive::{Observation, Progress, SymbolicTester, Tester};
use iolite_lts::LabelKind;
use iolite_sts::{TraceStep, ValuedAction};

use super::dialogue::converse;
use super::symbolic_run::SymbolicJudge;
use super::{Exit, Failure, print};

/// A walk through the symbolic states.
pub(super) struct DataSession<'m> {
    judge: &'m SymbolicJudge,
    tester: SymbolicTester,
    trace: Vec<TraceStep>,
    /// What the numbers on the screen stand for.
    offers: Vec<TraceStep>,
}

impl<'m> DataSession<'m> {
    pub(super) fn new(judge: &'m SymbolicJudge) -> Result<Self, Failure> {
        Ok(Self {
            judge,
            tester: judge.valued_tester()?,
            trace: Vec::new(),
            offers: Vec::new(),
        })
    }

    pub(super) fn run(mut self) -> Result<Exit, Failure> {
        self.describe()?;
        converse(|word| {
            match word {
                "q" | "quit" | "exit" => return Ok(false),
                "" => self.describe()?,
                "b" | "back" => self.back()?,
                "t" | "trace" => {
                    let texts: Vec<String> = self.trace.iter().map(|s| self.text(s)).collect();
                    print(&format!("{}\n", texts.join(" ")))?;
                }
                "h" | "help" => print(
                    "a number takes that action with its values, ?a(1) or !x(2) any other; delta, \
                     back, trace, quit\n",
                )?,
                word => self.take(word)?,
            }
            Ok(true)
        })
    }

    fn text(&self, step: &TraceStep) -> String {
        match step {
            TraceStep::Action(action) => self.tester.show(action),
            TraceStep::Delta => "delta".to_owned(),
        }
    }

    fn parse(&self, word: &str) -> Option<TraceStep> {
        if let Ok(n) = word.parse::<usize>() {
            return self.offers.get(n.checked_sub(1)?).cloned();
        }
        match word {
            "delta" => Some(TraceStep::Delta),
            _ => self.judge.parse_valued(word).map(TraceStep::Action),
        }
    }

    fn take(&mut self, word: &str) -> Result<(), Failure> {
        let Some(step) = self.parse(word) else {
            let what = if word.parse::<usize>().is_ok() {
                "no number of those above"
            } else {
                "no action of the model"
            };
            return print(&format!(
                "`{word}` is {what}; `help` lists what can be said\n"
            ));
        };
        match self.step(&step) {
            Progress::Continue => {
                self.trace.push(step);
                self.describe()
            }
            Progress::Ended(verdict) => {
                let why = match self.tester.doubt() {
                    Some(doubt) => format!("is undecided: {}", doubt.reason),
                    None => format!("is not possible here ({verdict} in a test)"),
                };
                let text = self.text(&step);
                self.again();
                print(&format!("{text} {why}\n"))
            }
        }
    }

    fn step(&mut self, step: &TraceStep) -> Progress {
        match step {
            TraceStep::Delta => self.tester.observe(&Observation::Quiescence),
            TraceStep::Action(action) if self.is_input(action) => self.tester.stimulate(action),
            TraceStep::Action(action) => self.tester.observe(&Observation::Output(action.clone())),
        }
    }

    fn is_input(&self, action: &ValuedAction) -> bool {
        self.tester.model().gate(action.action).kind == LabelKind::Input
    }

    fn back(&mut self) -> Result<(), Failure> {
        if self.trace.pop().is_none() {
            print("this is the start\n")?;
        }
        self.again();
        self.describe()
    }

    /// Walks the trace from the start.
    fn again(&mut self) {
        self.tester.reset();
        for step in self.trace.clone() {
            self.step(&step);
        }
    }

    fn describe(&mut self) -> Result<(), Failure> {
        let wrong = |e: iolite_sts::SymbolicError| Failure::input(e.to_string());
        let mut text = format!("in {}\n", self.tester.locations().join(", "));
        self.offers.clear();
        for (action, guard) in self.tester.offers().map_err(wrong)? {
            let shown = self.tester.show(&action);
            let all = if guard == shown {
                String::new()
            } else {
                format!("   of {guard}")
            };
            self.offers.push(TraceStep::Action(action));
            text += &format!("  {:>2}  {shown}{all}\n", self.offers.len());
        }
        match self.tester.may_be_silent().map_err(wrong)? {
            Some(true) => {
                self.offers.push(TraceStep::Delta);
                text += &format!("  {:>2}  delta\n", self.offers.len());
            }
            Some(false) => {}
            None => text += "      delta is undecided\n",
        }
        if self.offers.is_empty() {
            text += "  nothing is possible here; `back` takes the last action back\n";
        }
        print(&text)
    }
}
