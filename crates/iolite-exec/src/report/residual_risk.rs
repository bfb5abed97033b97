//! The chance that one more run shows something new.
//!
//! A run is a sample; what it shows are pairs of consecutive actions. By exchangeability the share of
//! runs that show something which no other run shows is an unbiased estimate of the chance that a further
//! run, after all but one of them, shows something new: the argument of Good and Turing, as used for
//! fuzzing by Böhme ("STADS: Software Testing as Species Discovery", 2018), with whole runs as the units
//! of sampling, since the steps of one run depend on each other.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::{Event, ExecError, Sink};

/// Runs that are looked at; the estimate is about the next run after these.
const MOST_RUNS: u64 = 2_000;
/// Steps of each of them that are looked at.
const MOST_STEPS: u64 = 2_000;
/// Different things that are kept; a system that shows more has no end of them.
const MOST_THINGS: usize = 200_000;
/// Runs that an estimate needs.
const FEWEST_RUNS: u64 = 10;

/// Two consecutive actions, without their values. `START` comes before the first.
type Pair = (u32, u32);
const START: u32 = 0;

/// In how many runs something was seen, and in which, as far as that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Incidence {
    Once(u64),
    Twice(u64, u64),
    More,
}

/// Reads the events of a campaign and estimates what is left to see.
#[derive(Debug, Default)]
pub struct ResidualRisk {
    names: FxHashMap<Box<str>, u32>,
    incidence: FxHashMap<Pair, Incidence>,
    /// The runs under way: the last action, the number of steps and the pairs.
    open: BTreeMap<u64, OpenRun>,
    runs: u64,
    started: u64,
    endless: bool,
}

#[derive(Debug, Default)]
struct OpenRun {
    last: u32,
    steps: u64,
    pairs: BTreeSet<Pair>,
}

/// What a campaign leaves to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Discovery {
    /// Runs that it rests on.
    pub runs: u64,
    /// Different pairs of consecutive actions that they showed.
    pub pairs: usize,
    /// Runs that showed a pair which no other run showed.
    pub singular_runs: u64,
    /// The estimated chance that the next run shows a pair that none of these showed.
    pub chance: f64,
    /// An interval that holds this chance in at least 95% of campaigns.
    pub interval: (f64, f64),
}

impl Discovery {
    /// What has to be true for the numbers to mean something.
    pub const ASSUMPTIONS: &str = "runs are independent of each other and the next one is chosen as \
        these were; new means a pair of consecutive actions, silence included and values aside, that no run \
        showed: it need not be a fault, and a fault need not be new";

    /// The estimate in words, without what it rests on.
    pub fn tell(&self) -> String {
        let percent = |p: f64| format!("{:.0}%", p * 100.0);
        let (low, high) = self.interval;
        format!(
            "something new with a chance of about {} ({} to {}, by {} runs that showed {} pairs of actions)",
            percent(self.chance),
            percent(low),
            percent(high),
            self.runs,
            self.pairs
        )
    }

    /// The estimate from the number of runs, of those that showed something which no other run showed, and
    /// of the others that showed something which one other run showed. `None` where the runs are too few.
    #[expect(
        clippy::cast_precision_loss,
        reason = "numbers of runs are far below 2^52"
    )]
    pub(crate) fn estimate(runs: u64, singular: u64, shared: u64) -> Option<(f64, (f64, f64))> {
        if runs < FEWEST_RUNS || singular > runs {
            return None;
        }
        let (n, r1, r2) = (runs as f64, singular as f64, shared as f64);
        let chance = r1 / n;
        // Below: the normal bound of Esty (1983), whose variance counts what was seen twice as well, and
        // one more, because a few lucky runs may have seen the last that there is. Above: the exact
        // binomial bound of Clopper and Pearson. Both at 99% each, which simulation shows to be 95%
        // together also for ten runs (tests).
        let spread = 2.6 * (r1 * (1.0 - chance) + 2.0 * r2 + 1.0).sqrt() / n;
        let lower = (chance - spread).max(0.0);
        Some((chance, (lower, upper_bound(singular, runs, 0.005))))
    }
}

/// The largest p for which a binomial count of at most k out of n has a probability of `tail`.
#[expect(
    clippy::cast_precision_loss,
    reason = "numbers of runs are far below 2^52"
)]
fn upper_bound(k: u64, n: u64, tail: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    let (mut low, mut high) = (k as f64 / n as f64, 1.0);
    for _ in 0..60 {
        let p = f64::midpoint(low, high);
        if at_most(k, n, p) > tail {
            low = p;
        } else {
            high = p;
        }
    }
    high
}

/// P(X ≤ k) for X binomial with n and p.
#[expect(
    clippy::cast_precision_loss,
    reason = "numbers of runs are far below 2^52"
)]
fn at_most(k: u64, n: u64, p: f64) -> f64 {
    let (n, mut log) = (n as f64, n as f64 * (-p).ln_1p());
    let odds = p.ln() - (-p).ln_1p();
    let mut sum = log.exp();
    for i in 0..k {
        let i = i as f64;
        log += ((n - i) / (i + 1.0)).ln() + odds;
        sum += log.exp();
    }
    sum.min(1.0)
}

impl ResidualRisk {
    /// What is left to see; `None` where the runs are too few, or show ever more.
    pub fn discovery(&self) -> Option<Discovery> {
        if self.endless {
            return None;
        }
        let mut singular = BTreeSet::new();
        let mut shared = BTreeSet::new();
        for incidence in self.incidence.values() {
            match *incidence {
                Incidence::Once(run) => _ = singular.insert(run),
                Incidence::Twice(first, second) => shared.extend([first, second]),
                Incidence::More => {}
            }
        }
        let shared = shared.difference(&singular).count() as u64;
        let singular_runs = singular.len() as u64;
        let (chance, interval) = Discovery::estimate(self.runs, singular_runs, shared)?;
        Some(Discovery {
            runs: self.runs,
            pairs: self.incidence.len(),
            singular_runs,
            chance,
            interval,
        })
    }

    fn step(&mut self, run: u64, action: &str) {
        let Some(open) = self.open.get_mut(&run) else {
            return;
        };
        if open.steps >= MOST_STEPS {
            return;
        }
        open.steps += 1;
        let name = action.split_once('(').map_or(action, |(name, _)| name);
        let id = match self.names.get(name) {
            Some(&id) => id,
            None if self.names.len() >= MOST_THINGS => {
                self.endless = true;
                return;
            }
            None => {
                let id = self.names.len() as u32 + 1;
                self.names.insert(name.into(), id);
                id
            }
        };
        open.pairs.insert((open.last, id));
        open.last = id;
    }

    /// A run with a verdict is a sample.
    fn end(&mut self, run: u64) {
        let Some(open) = self.open.remove(&run) else {
            return;
        };
        self.runs += 1;
        for pair in open.pairs {
            let incidence = self.incidence.entry(pair);
            incidence
                .and_modify(|i| {
                    *i = match *i {
                        Incidence::Once(first) => Incidence::Twice(first, run),
                        _ => Incidence::More,
                    }
                })
                .or_insert(Incidence::Once(run));
        }
        self.endless |= self.incidence.len() > MOST_THINGS;
    }
}

impl Sink for ResidualRisk {
    fn event(&mut self, event: &Event) -> Result<(), ExecError> {
        match event {
            Event::RunStarted { run, .. } if self.started < MOST_RUNS && !self.endless => {
                self.started += 1;
                let first = OpenRun {
                    last: START,
                    ..OpenRun::default()
                };
                self.open.insert(*run, first);
            }
            Event::Stimulus { run, action, .. } | Event::Output { run, action, .. } => {
                self.step(*run, action);
            }
            Event::Quiescence { run, .. } => self.step(*run, "delta"),
            Event::Deadlock { run, .. } => self.step(*run, "deadlock"),
            Event::RunEnded { run, .. } => self.end(*run),
            Event::Fault { run, .. } => _ = self.open.remove(run),
            _ => {}
        }
        Ok(())
    }

    fn wants_steps(&self) -> bool {
        !self.endless && self.open.values().any(|run| run.steps < MOST_STEPS)
    }
}

#[cfg(test)]
#[expect(
    clippy::cast_precision_loss,
    reason = "numbers of things are small here"
)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::End;
    use iolite_derive::Verdict;

    /// A population of things to see: one a run, or each for itself with some chance.
    struct Population {
        chances: Vec<f64>,
        one_each: bool,
    }

    impl Population {
        fn draw(rng: &mut Xoshiro256PlusPlus) -> Self {
            let pick =
                |rng: &mut Xoshiro256PlusPlus, of: &[usize]| of[rng.random_range(0..of.len())];
            let weighted = |weights: Vec<f64>| {
                let sum: f64 = weights.iter().sum();
                weights.into_iter().map(|w| w / sum).collect()
            };
            match rng.random_range(0..5u32) {
                0 => {
                    let n = pick(rng, &[5, 20, 100, 1000]);
                    let chances = vec![1.0 / n as f64; n];
                    Self {
                        chances,
                        one_each: true,
                    }
                }
                1 => {
                    let (n, s) = (
                        pick(rng, &[50, 500]),
                        [0.8, 1.2, 2.0][rng.random_range(0..3)],
                    );
                    let chances = weighted((1..=n).map(|k| (k as f64).powf(-s)).collect());
                    Self {
                        chances,
                        one_each: true,
                    }
                }
                2 => {
                    let q: f64 = [0.3, 0.5, 0.9][rng.random_range(0..3)];
                    let chances = weighted((0..300).map(|k| q.powi(k)).collect());
                    Self {
                        chances,
                        one_each: true,
                    }
                }
                3 => {
                    let n = pick(rng, &[10, 50, 200]);
                    let chances = (0..n).map(|_| 10f64.powf(rng.random_range(-4.0..0.0)));
                    Self {
                        chances: chances.collect(),
                        one_each: false,
                    }
                }
                _ => {
                    let chances = (0..30).map(|_| [0.5, 0.9, 0.01, 0.003][rng.random_range(0..4)]);
                    Self {
                        chances: chances.collect(),
                        one_each: false,
                    }
                }
            }
        }

        fn run(&self, rng: &mut Xoshiro256PlusPlus) -> Vec<usize> {
            if self.one_each {
                let mut left = rng.random_range(0.0..1.0);
                let found = self.chances.iter().position(|p| {
                    left -= p;
                    left < 0.0
                });
                return vec![found.unwrap_or(0)];
            }
            let chances = self.chances.iter().enumerate();
            let shown = chances.filter(|(_, p)| rng.random_range(0.0..1.0) < **p);
            shown.map(|(k, _)| k).collect()
        }

        /// The chance that a run shows something that is not among `seen`, by definition.
        fn chance_of_new(&self, seen: &[bool]) -> f64 {
            let unseen = self.chances.iter().zip(seen).filter(|(_, seen)| !**seen);
            if self.one_each {
                unseen.map(|(p, _)| p).sum()
            } else {
                1.0 - unseen.map(|(p, _)| 1.0 - p).product::<f64>()
            }
        }
    }

    /// One thing a step: the pairs `(START, k)`, by runs of one step each within one run number.
    fn campaign(
        population: &Population,
        runs: u64,
        rng: &mut Xoshiro256PlusPlus,
    ) -> (Discovery, f64) {
        let mut risk = ResidualRisk::default();
        let mut seen = vec![false; population.chances.len()];
        for run in 0..runs {
            let event = |risk: &mut ResidualRisk, event: &Event| risk.event(event).unwrap();
            event(&mut risk, &Event::RunStarted { run, seed: 0 });
            for k in population.run(rng) {
                seen[k] = true;
                // Values are not looked at; the pair with what comes before is that of `start` alone.
                for action in ["?start".to_owned(), format!("!x{k}(7)")] {
                    let (step, at) = (0, 0);
                    event(
                        &mut risk,
                        &Event::Stimulus {
                            run,
                            step,
                            action: action.into(),
                            at,
                        },
                    );
                }
            }
            let ended = Event::RunEnded {
                run,
                verdict: Verdict::Pass,
                end: End::StepLimit,
                steps: 0,
                elapsed: 0,
                certificate: None,
                results: std::collections::BTreeMap::new(),
            };
            event(&mut risk, &ended);
        }
        // What follows each thing is `?start` or nothing; the former is seen with the thing or later, so
        // only the things themselves are compared: see `things`.
        (
            things(&risk).expect("enough runs"),
            population.chance_of_new(&seen),
        )
    }

    /// The estimate by things alone: pairs that end in one.
    fn things(risk: &ResidualRisk) -> Option<Discovery> {
        // Runs that show nothing at all have no start either.
        let start = risk.names.get("?start").copied().unwrap_or(START);
        let mut only = ResidualRisk {
            runs: risk.runs,
            ..ResidualRisk::default()
        };
        let pairs = risk.incidence.iter().filter(|((_, to), _)| *to != start);
        only.incidence = pairs.map(|(&pair, &i)| (pair, i)).collect();
        only.discovery()
    }

    #[test]
    fn the_interval_holds_the_truth_in_most_campaigns() {
        for (seed, runs) in [(1, 10), (2, 30), (3, 100), (4, 300)] {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let (mut held, mut width) = (0, 0.0);
            for _ in 0..1000 {
                let population = Population::draw(&mut rng);
                let (found, truth) = campaign(&population, runs, &mut rng);
                let (low, high) = found.interval;
                assert!(low <= found.chance && found.chance <= high, "{found:?}");
                held += u32::from(low <= truth && truth <= high);
                width += (high - low) / 1000.0;
            }
            assert!(held >= 950, "{runs} runs: {held} of 1000");
            // An interval of everything would hold the truth too.
            let widest = [(10, 0.7), (30, 0.5), (100, 0.25), (300, 0.12)];
            let &(_, most) = widest.iter().find(|(n, _)| *n == runs).unwrap();
            assert!(width < most, "{runs} runs: {width}");
        }
    }

    #[test]
    fn the_bound_is_that_of_the_definition() {
        // P(X = 0) = (1 - p)^n.
        assert!((upper_bound(0, 10, 0.005) - (1.0 - 0.005f64.powf(0.1))).abs() < 1e-9);
        // P(X ≤ n - 1) = 1 - p^n.
        assert!((upper_bound(9, 10, 0.005) - 0.995f64.powf(0.1)).abs() < 1e-9);
        assert!((upper_bound(10, 10, 0.005) - 1.0).abs() < f64::EPSILON);
        let exact: f64 = (0..=3)
            .zip([1.0, 8.0, 28.0, 56.0])
            .map(|(k, ways)| ways * 0.3f64.powi(k) * 0.7f64.powi(8 - k))
            .sum();
        assert!((at_most(3, 8, 0.3) - exact).abs() < 1e-12);
        assert_eq!(Discovery::estimate(9, 0, 0), None);
    }

    #[test]
    fn faults_are_no_samples_and_steps_are_wanted_for_a_while() {
        let mut risk = ResidualRisk::default();
        assert!(!risk.wants_steps());
        risk.event(&Event::RunStarted { run: 4, seed: 0 }).unwrap();
        assert!(risk.wants_steps());
        let (code, message) = (String::new(), String::new());
        let fault = Event::Fault {
            run: 4,
            steps: 0,
            code,
            message,
        };
        risk.event(&fault).unwrap();
        assert!(!risk.wants_steps());
        assert_eq!((risk.runs, risk.discovery()), (0, None));
    }
}
