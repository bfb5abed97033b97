//! `iolite simulate` by hand for models with data, whether finite or not.

use iolite::{Alphabet, Error, Step, SymbolicJudge};
use iolite_derive::{ConformanceTester, Progress, SymbolicOracle, SymbolicPlace, Tester};
use iolite_lts::LabelKind;

use crate::output::dialogue::converse;
use crate::output::{Exit, print};

/// A walk through the symbolic states.
pub(crate) struct DataSession<'m> {
    judge: &'m SymbolicJudge,
    tester: ConformanceTester<SymbolicOracle>,
    alphabet: Alphabet,
    trace: Vec<Step>,
    /// What the numbers on the screen stand for.
    offers: Vec<Step>,
}

impl<'m> DataSession<'m> {
    pub(crate) fn new(judge: &'m SymbolicJudge) -> Result<Self, Error> {
        let alphabet = Alphabet::default();
        Ok(Self {
            judge,
            tester: ConformanceTester::new(judge.oracle(&alphabet)?),
            alphabet,
            trace: Vec::new(),
            offers: Vec::new(),
        })
    }

    pub(crate) fn run(mut self) -> Result<Exit, Error> {
        self.describe()?;
        converse(|word| {
            match word {
                "q" | "quit" | "exit" => return Ok(false),
                "" => self.describe()?,
                "b" | "back" => self.back()?,
                "t" | "trace" => {
                    let texts: Vec<String> =
                        self.trace.iter().map(|s| s.text(&self.alphabet)).collect();
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

    fn parse(&self, word: &str) -> Option<Step> {
        if let Ok(n) = word.parse::<usize>() {
            return self.offers.get(n.checked_sub(1)?).copied();
        }
        Step::parse(word, |text| {
            self.judge.spec().read_action(&self.alphabet, text)
        })
    }

    fn take(&mut self, word: &str) -> Result<(), Error> {
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
        let progress = self.tester.step(step);
        iolite::answers_count(self.tester.oracle_mut().semantics().solver())?;
        match progress {
            Progress::Continue => {
                self.trace.push(step);
                self.describe()
            }
            Progress::Ended(verdict) => {
                let why = match self.tester.doubt() {
                    Some(doubt) => format!("is undecided: {}", doubt.reason),
                    None => format!("is not possible here ({verdict} in a test)"),
                };
                let text = step.text(&self.alphabet);
                self.again();
                print(&format!("{text} {why}\n"))
            }
        }
    }

    fn back(&mut self) -> Result<(), Error> {
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
            self.tester.step(step);
        }
    }

    fn describe(&mut self) -> Result<(), Error> {
        let wrong = |e: iolite_sts::SymbolicError| Error::input(e.to_string());
        let mut text = format!("in {}\n", self.tester.locations().join(", "));
        self.offers.clear();
        let Some(at): Option<SymbolicPlace> = self.tester.state().cloned() else {
            iolite::answers_count(self.tester.oracle_mut().semantics().solver())?;
            return print("the initial states are undecided\n");
        };
        let oracle = self.tester.oracle_mut();
        for (action, guard) in oracle.offers(&at).map_err(wrong)? {
            let shown = self.alphabet.text(action);
            let all = if *guard == *shown {
                String::new()
            } else {
                format!("   of {guard}")
            };
            let kind = self.alphabet.action(action).map(|a| a.kind);
            self.offers.push(if kind == Some(LabelKind::Input) {
                Step::Stimulus(action)
            } else {
                Step::Output(action)
            });
            text += &format!("  {:>2}  {shown}{all}\n", self.offers.len());
        }
        match oracle.may_be_silent(&at).map_err(wrong)? {
            Some(true) => {
                self.offers.push(Step::Quiescence);
                text += &format!("  {:>2}  delta\n", self.offers.len());
            }
            Some(false) => {}
            None => text += "      delta is undecided\n",
        }
        iolite::answers_count(oracle.semantics().solver())?;
        if self.offers.is_empty() {
            text += "  nothing is possible here; `back` takes the last action back\n";
        }
        print(&text)
    }
}
