//! One run of a tester against a system under test.

use std::time::{Duration, Instant};

use iolite_derive::{ActionId, Menu, Notice, Progress, Step, Tester, Verdict};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::run::pace::Pacer;
use crate::run::run_setup::RunSetup;
use crate::run::step_clock::StepClock;
use crate::transport::interrupt;
use crate::{
    Adapter, Certificate, Choice, End, Event, ExecError, Exit, OnExit, Options, Received, RunId,
    RunOutcome, Sent, Sink, Strategy, Trace, Traffic,
};

/// Steps between two looks at the clock, where waiting costs no time.
const CLOCK_STRIDE: u64 = 4096;

/// The same for steps that do not wait, where waiting costs time.
const TIMED_CLOCK_STRIDE: u64 = 16;

/// How long a system that is not touched is given, at least, to end by itself.
const START_GRACE: Duration = Duration::from_millis(500);

/// Events of actions that a run keeps.
const MOST_TOLD: usize = 4096;

/// Observations after the end of a run that an output without an explanation is given, at most, to get one. A system that is
/// never silent leaves it open.
const MOST_AWAITED: usize = 64;

/// Time between two signs of life.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// One run. The event of its end is left to the caller; that of a fault is emitted here. `explanation` is how long an output is
/// waited for that explains another one, where that is not the timeout.
pub(crate) fn execute<T, P, S, K>(
    setup: &mut RunSetup<'_, T, P, S, K>,
    explanation: Option<Duration>,
) -> Result<RunOutcome, ExecError>
where
    T: Tester,
    P: Adapter + ?Sized,
    S: Strategy + ?Sized,
    K: Sink + ?Sized,
{
    if setup.options.limits.steps == Some(0) {
        return Err(ExecError::Config(
            "a run of 0 steps says nothing of the system".into(),
        ));
    }
    let begin = Instant::now();
    let timed = setup.adapter.is_timed();
    let shares_process = setup.adapter.shares_process();
    let (options, id) = (setup.options, setup.id);
    let mut engine = Engine {
        talks: setup.sink.wants_steps(),
        timed,
        waited: false,
        tester: &mut *setup.tester,
        adapter: &mut *setup.adapter,
        strategy: &mut *setup.strategy,
        options,
        id,
        sink: &mut *setup.sink,
        trace: Trace::new(options.limits.trace),
        steps: 0,
        begin,
        next_progress: begin,
        last_action: None,
        last_patience: None,
        explanation,
        pacer: Pacer::new(&options.pace, id, timed, options.quiescence.default),
        crash: None,
        observed: false,
        shares_process,
        clock: StepClock::new(begin, timed),
        told: Vec::new(),
        traffic: Vec::new(),
    };
    let result = engine.run();
    if let Err(error) = &result {
        let _ = engine.tell_traffic();
        // The fault itself is what matters, should the journal fail as well.
        let _ = engine.sink.event(&Event::Fault {
            run: id.number,
            steps: engine.steps,
            code: error.code().into(),
            message: error.to_string(),
        });
    }
    result
}

pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "what is known of the run, each by itself"
)]
struct Engine<'a, T: Tester, P: ?Sized, S: ?Sized, K: ?Sized> {
    tester: &'a mut T,
    adapter: &'a mut P,
    strategy: &'a mut S,
    options: &'a Options,
    id: RunId,
    sink: &'a mut K,
    /// Whether the sink wants an event for each step.
    talks: bool,
    /// Whether waiting costs time.
    timed: bool,
    /// Whether time was spent on waiting since the last look at the clock.
    waited: bool,
    trace: Trace,
    steps: u64,
    begin: Instant,
    /// When the next sign of life is due.
    next_progress: Instant,
    /// For timeouts that depend on it; `None` where none does.
    last_action: Option<String>,
    /// How long the last silence lasted, where waiting costs time.
    last_patience: Option<Duration>,
    /// How long an output that explains another one is waited for, where that is not the timeout.
    explanation: Option<Duration>,
    /// Who says how long to wait before stimuli.
    pacer: Pacer,
    /// How the system ended, where that is its crash.
    crash: Option<Exit>,
    /// Whether the system has shown anything, silence included.
    observed: bool,
    /// Whether the system may end this process.
    shares_process: bool,
    /// Gives events their times.
    clock: StepClock,
    /// The last events of declared actions, by their ids; `None` where an action was not met. They are told again with another step
    /// and time: a step in process is too short for an allocation, or for the alphabet's lock, or to move texts about.
    told: Vec<Option<Event>>,
    /// Memory for the bytes that the adapter gives.
    traffic: Vec<Traffic>,
}

/// A verdict and why the run ended with it.
type Ending = (Verdict, End);

impl<T, P, S, K> Engine<'_, T, P, S, K>
where
    T: Tester,
    P: Adapter + ?Sized,
    S: Strategy + ?Sized,
    K: Sink + ?Sized,
{
    fn run(&mut self) -> Result<RunOutcome, ExecError> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.id.seed);
        self.tester.begin(self.id.seed);
        self.strategy.begin();
        self.adapter.keep_traffic(self.talks && self.timed);
        self.adapter.start(self.id.seed)?;
        self.next_progress = Instant::now() + PROGRESS_EVERY;
        self.sink.event(&Event::RunStarted {
            run: self.id.number,
            seed: self.id.seed,
        })?;
        self.talks = self.sink.wants_steps();
        let mut menu = Menu::default();
        let mut preemptions = 0;
        let ending = loop {
            if let Some(ending) = self.limit()? {
                break ending;
            }
            menu.clear();
            self.tester.menu(&mut menu);
            // Where waiting costs nothing, nothing is saved.
            menu.settled &= self.timed && !self.options.repeat_silence;
            let choice = self.strategy.choose(&menu, &mut rng);
            let ending = match choice {
                Choice::Stop => Some((self.tester.verdict(), End::Stopped)),
                Choice::Finish => {
                    let idle = menu.stimuli.is_empty() && !menu.observe && !menu.stop;
                    let end = if idle {
                        End::NothingToDo
                    } else {
                        End::Finished
                    };
                    Some((self.tester.verdict(), end))
                }
                Choice::Observe => self.observe(None)?,
                Choice::ObserveFor(patience) => self.observe(Some(patience))?,
                Choice::Await => match self.adapter.poll()? {
                    Some(received) => self.take(received, None, Duration::ZERO)?,
                    None => self.observe(None)?,
                },
                Choice::Stimulate(index) => {
                    self.stimulate(menu.stimuli[index], true, &mut preemptions)?
                }
                Choice::Give(stimulus) => self.stimulate(stimulus, false, &mut preemptions)?,
            };
            if let Some(ending) = ending {
                break ending;
            }
        };
        let (verdict, end) = self.await_explanation(ending)?;
        if self.timed {
            let patience = self.patience();
            self.adapter.leave_time(patience);
        }
        self.tell_traffic()?;
        let results = self.tester.results();
        let notices = self.tester.conclude();
        for notice in &notices {
            if let Notice::SolverFault(why) = notice {
                return Err(ExecError::system("solving", why));
            }
            if let Notice::ModelFault(why) = notice {
                return Err(ExecError::system("the model", why));
            }
            if let Some(event) = Event::notice(self.id.number, notice) {
                self.sink.event(&event)?;
            }
        }
        let certificate = verdict.is_failing().then(|| {
            let crash = self.crash.take();
            let by_observation = crash.is_none() && (end == End::Tester || end == End::SystemEnded);
            let Options {
                criterion,
                model,
                context,
                channels,
                ..
            } = self.options;
            let about = (*criterion, model, *context, channels.as_slice());
            let certificate = Certificate::of(
                self.tester,
                &self.trace,
                by_observation,
                self.last_patience,
                verdict,
                about,
                self.id,
            );
            match crash {
                Some(exit) => certificate.crashed(exit),
                None => certificate,
            }
        });
        Ok(RunOutcome {
            id: self.id,
            verdict,
            end,
            steps: self.steps,
            trace: std::mem::replace(&mut self.trace, Trace::new(0)),
            certificate,
            results,
            notices,
            pauses: self.pacer.take_pauses(),
            elapsed: self.begin.elapsed(),
        })
    }

    /// Where the run has come to its end with an output that only others still to come would explain, looks for them: another
    /// one may explain it, and silence says that none does. No stimulus is given, and the time limit holds.
    fn await_explanation(&mut self, ending: Ending) -> Result<Ending, ExecError> {
        let (_, end) = ending;
        let decided = matches!(end, End::Tester | End::SystemEnded | End::TimeLimit);
        if decided || !self.tester.awaits_explanation() {
            return Ok(ending);
        }
        for _ in 0..MOST_AWAITED {
            if !self.tester.awaits_explanation() {
                break;
            }
            interrupt::check()?;
            let until = self.options.limits.until;
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok((self.tester.verdict(), End::TimeLimit));
            }
            if let Some(ending) = self.observe(self.explanation)? {
                return Ok(ending);
            }
        }
        Ok((self.tester.verdict(), end))
    }

    /// Whether a limit ends the run; now and then, a sign of life.
    fn limit(&mut self) -> Result<Option<Ending>, ExecError> {
        interrupt::check()?;
        let limits = &self.options.limits;
        if limits.steps.is_some_and(|steps| self.steps >= steps) {
            return Ok(Some((self.tester.verdict(), End::StepLimit)));
        }
        if let Some(wanted) = limits.coverage
            && self
                .strategy
                .coverage()
                .is_some_and(|c| c.ratio() >= wanted)
        {
            return Ok(Some((self.tester.verdict(), End::Coverage)));
        }
        let due = if self.timed {
            self.waited || self.steps.is_multiple_of(TIMED_CLOCK_STRIDE)
        } else {
            self.steps.is_multiple_of(CLOCK_STRIDE)
        };
        if due {
            self.waited = false;
            let now = Instant::now();
            if limits.until.is_some_and(|until| now >= until) {
                return Ok(Some((self.tester.verdict(), End::TimeLimit)));
            }
            if now >= self.next_progress {
                self.next_progress = now + PROGRESS_EVERY;
                self.sink.event(&Event::Progress {
                    run: self.id.number,
                    steps: self.steps,
                    coverage: self.strategy.coverage(),
                })?;
            }
        }
        Ok(None)
    }

    fn patience(&mut self) -> Duration {
        let quiescence = &self.options.quiescence;
        if quiescence.is_uniform() {
            return quiescence.default;
        }
        let places = if quiescence.states.is_empty() {
            Vec::new()
        } else {
            self.tester.places()
        };
        quiescence.timeout(&places, self.last_action.as_deref())
    }

    fn observe(&mut self, patience: Option<Duration>) -> Result<Option<Ending>, ExecError> {
        let patience = patience.unwrap_or_else(|| self.patience());
        let received = self.receive(patience)?;
        self.waited = true;
        self.take(received, None, patience)
    }

    fn receive(&mut self, patience: Duration) -> Result<Received, ExecError> {
        self.secure()?;
        self.adapter.receive(patience)
    }

    /// Has everything written before a system is asked that may end this process.
    #[inline]
    fn secure(&mut self) -> Result<(), ExecError> {
        if self.shares_process && self.talks {
            self.sink.write_now()?;
        }
        Ok(())
    }

    /// Lets some time pass before a stimulus, as the pace says. An output that comes meanwhile goes
    /// first.
    fn pause(&mut self) -> Result<Option<Received>, ExecError> {
        let Some(pause) = self.pacer.before_stimulus(self.steps) else {
            return Ok(None);
        };
        if self.talks {
            self.sink.event(&Event::Pause {
                run: self.id.number,
                step: self.steps,
                length: micros(pause),
            })?;
        }
        self.waited = true;
        Ok(match self.receive(pause)? {
            Received::Nothing => None,
            received => Some(received),
        })
    }

    /// Gives a stimulus, unless an output is there already.
    fn stimulate(
        &mut self,
        stimulus: ActionId,
        offered: bool,
        preemptions: &mut u64,
    ) -> Result<Option<Ending>, ExecError> {
        let early = match self.pause()? {
            Some(received) => Some(received),
            None => self.adapter.poll()?,
        };
        if let Some(received) = early {
            *preemptions += 1;
            if *preemptions > self.options.limits.preemptions {
                return Err(ExecError::Flooding {
                    statement: format!(
                        "{} stimuli in a row were pre-empted by outputs",
                        *preemptions
                    ),
                });
            }
            return self.take(received, Some(stimulus), Duration::ZERO);
        }
        *preemptions = 0;
        let step = Step::Stimulus(stimulus);
        let progress = self.tester.step(step);
        if !offered && progress == Progress::Ended(Verdict::Inconc) {
            return Ok(Some((Verdict::Inconc, End::Finished)));
        }
        if self.talks {
            self.tell_stimulus(stimulus)?;
            self.talks = self.sink.wants_steps();
        }
        self.secure()?;
        let sent = self.adapter.send(stimulus)?;
        self.tell_traffic()?;
        self.pacer.stimulated();
        self.record(step, false);
        let progress = match sent {
            Sent::Given => progress,
            Sent::Refused { reason } => self.tester.refused().ok_or_else(|| {
                let stimulus = self.tester.alphabet().text(stimulus).to_string();
                ExecError::Refused { stimulus, reason }
            })?,
        };
        Ok(match progress {
            Progress::Continue => None,
            Progress::Ended(verdict) => Some((verdict, End::Tester)),
        })
    }

    /// Lets the tester judge what was received.
    fn take(
        &mut self,
        received: Received,
        preempted: Option<ActionId>,
        patience: Duration,
    ) -> Result<Option<Ending>, ExecError> {
        let (step, exit) = match received {
            Received::Output(output) => {
                self.pacer.answered();
                (Step::Output(output), None)
            }
            Received::Nothing => {
                self.last_patience = self.timed.then_some(patience);
                (Step::Quiescence, None)
            }
            Received::Ended(exit) => match self.options.on_exit {
                OnExit::Crash if self.steps > 0 && exit.is_of_the_system() => {
                    return self.crash(*exit).map(Some);
                }
                OnExit::Crash | OnExit::Error => return Err(ExecError::Ended(*exit)),
                OnExit::Deadlock => (Step::Deadlock, Some(exit)),
            },
        };
        self.observed = true;
        if self.talks {
            let at = self.clock.now();
            if self.timed {
                self.tell_traffic_at(at)?;
            }
            self.tell(step, preempted, patience, exit, at)?;
            self.talks = self.sink.wants_steps();
        }
        let progress = self.tester.step(step);
        let ended = step == Step::Deadlock;
        self.record(step, preempted.is_some());
        Ok(match progress {
            Progress::Ended(verdict) => Some((verdict, End::Tester)),
            // Nothing can follow: every later observation would be δ_d again, every input is lost.
            Progress::Continue if ended => Some((self.tester.verdict(), End::SystemEnded)),
            Progress::Continue => None,
        })
    }

    /// The system has ended, and no step stands for that: every later observation would be its
    /// absence.
    fn crash(&mut self, exit: Exit) -> Result<Ending, ExecError> {
        // It was stimulated before it showed a sign of life. One that ends without being touched does
        // not start, which is a fault.
        if !self.observed {
            self.adapter.start(self.id.seed)?;
            let patience = self.options.quiescence.default.max(START_GRACE);
            if let Received::Ended(exit) = self.adapter.receive(patience)? {
                return Err(ExecError::Ended(*exit));
            }
        }
        self.tell_traffic()?;
        self.sink.event(&Event::Crash {
            run: self.id.number,
            step: self.steps,
            at: self.clock.now(),
            exit: exit.clone(),
        })?;
        self.crash = Some(exit);
        Ok((Verdict::Crash, End::SystemEnded))
    }

    /// Passes on which bytes went either way.
    fn tell_traffic(&mut self) -> Result<(), ExecError> {
        if !self.talks || !self.timed {
            return Ok(());
        }
        let at = self.clock.now();
        self.tell_traffic_at(at)
    }

    /// Passes on which bytes went either way up to a time.
    fn tell_traffic_at(&mut self, at: u64) -> Result<(), ExecError> {
        self.adapter.take_traffic(&mut self.traffic);
        let (run, step) = (self.id.number, self.steps);
        for slot in &mut self.traffic {
            let event = Event::Bytes {
                run,
                step,
                at,
                traffic: std::mem::take(slot),
            };
            let told = self.sink.event(&event);
            // Its memory goes back to the adapter.
            if let Event::Bytes { traffic, .. } = event {
                *slot = traffic;
            }
            told?;
        }
        Ok(())
    }

    fn tell(
        &mut self,
        step: Step,
        preempted: Option<ActionId>,
        patience: Duration,
        exit: Option<Box<Exit>>,
        at: u64,
    ) -> Result<(), ExecError> {
        let (run, number) = (self.id.number, self.steps);
        let event = match (step, exit) {
            (Step::Output(output) | Step::Stimulus(output), _) => {
                return self.tell_output(output, preempted, at);
            }
            (Step::Deadlock, Some(exit)) => Event::Deadlock {
                run,
                step: number,
                at,
                exit: *exit,
            },
            (Step::Deadlock | Step::Quiescence, _) => Event::Quiescence {
                run,
                step: number,
                at,
                patience: micros(patience),
            },
        };
        self.sink.event(&event)
    }

    fn tell_stimulus(&mut self, stimulus: ActionId) -> Result<(), ExecError> {
        let now = self.clock.now();
        let again = self.told.get_mut(stimulus.index());
        if let Some(Some(event @ Event::Stimulus { .. })) = again {
            if let Event::Stimulus { step, at, .. } = event {
                (*step, *at) = (self.steps, now);
            }
            return self.sink.event(event);
        }
        let event = Event::Stimulus {
            run: self.id.number,
            step: self.steps,
            action: self.tester.alphabet().text(stimulus).into(),
            at: now,
        };
        self.sink.event(&event)?;
        self.keep(stimulus, event);
        Ok(())
    }

    fn tell_output(
        &mut self,
        output: ActionId,
        preempted: Option<ActionId>,
        now: u64,
    ) -> Result<(), ExecError> {
        let note = self.adapter.take_note();
        let is_plain = preempted.is_none() && note.is_none();
        let again = self.told.get_mut(output.index()).filter(|_| is_plain);
        if let Some(Some(event @ Event::Output { .. })) = again {
            if let Event::Output { step, at, .. } = event {
                (*step, *at) = (self.steps, now);
            }
            return self.sink.event(event);
        }
        let event = Event::Output {
            run: self.id.number,
            step: self.steps,
            action: self.tester.alphabet().text(output).into(),
            at: now,
            preempted: preempted.map(|a| self.tester.alphabet().text(a).as_ref().to_owned()),
            note,
        };
        self.sink.event(&event)?;
        if is_plain {
            self.keep(output, event);
        }
        Ok(())
    }

    /// Keeps an event of an action, to be told again.
    fn keep(&mut self, action: ActionId, event: Event) {
        let index = action.index();
        if index >= self.told.len() {
            // Others than declared actions may be forgotten, and their ids mean something else then.
            if index >= MOST_TOLD || !self.tester.alphabet().is_declared(action) {
                return;
            }
            self.told.resize_with(index + 1, || None);
        }
        self.told[index] = Some(event);
    }

    fn record(&mut self, step: Step, preempted: bool) {
        self.steps += 1;
        if !self.options.quiescence.actions.is_empty() {
            self.last_action = Some(step.text(self.tester.alphabet()));
        }
        self.strategy.happened(step, preempted);
        if self.trace.is_full() {
            self.trace.omit(step);
        } else {
            self.trace.push(step);
        }
    }
}
