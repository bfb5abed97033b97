//! Steps per second of CPU time of one long run, at its begin and at its end.

use std::fs;

use iolite_derive::{Alphabet, ConformanceTester, Menu, Step, SymbolicOracle, Verdict};
use iolite_exec::{Choice, InProcess, Limits, Options, Quiescence, RunId, Strategy, Uniform, run};
use iolite_expr::Solver;
use iolite_lts::QuiescencePolicy;
use iolite_sts::Symbolic;
use nix::sys::resource::{UsageWho, getrusage};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::models::Case;

/// CPU seconds of this process and of the solvers that it started.
pub fn cpu() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("usage is known");
    let time = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + t.tv_usec() as f64 / 1e6;
    let own = time(usage.user_time()) + time(usage.system_time());
    let me = std::process::id();
    let mut children = 0.0;
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        // The name may have blanks; what follows it has none.
        let Some((_, rest)) = stat.rsplit_once(')') else {
            continue;
        };
        let numbers: Vec<u64> = rest
            .split_whitespace()
            .skip(1)
            .map_while(|n| n.parse::<i64>().ok())
            .map(i64::unsigned_abs)
            .collect();
        if numbers.first() == Some(&u64::from(me)) {
            children += (numbers[10] + numbers[11]) as f64 / 100.0;
        }
    }
    own + children
}

/// Steps of each of the two stretches that are measured.
const STRETCH: u64 = 200;

/// Chooses at random, and looks at the clock where a stretch begins or ends.
struct Clocked {
    steps: u64,
    /// The run is given up, between stretches, after so many CPU seconds.
    most: f64,
    begin: f64,
    /// CPU time at the begin and the end of stretches.
    marks: Vec<(u64, f64)>,
    wanted: u64,
}

impl Strategy for Clocked {
    fn choose(&mut self, menu: &Menu, rng: &mut Xoshiro256PlusPlus) -> Choice {
        if self.steps.is_multiple_of(STRETCH) && self.marks.last().is_none_or(|m| m.0 < self.steps)
        {
            self.marks.push((self.steps, cpu()));
            let spent = self.marks.last().map_or(0.0, |m| m.1) - self.begin;
            if spent > self.most && self.steps < self.wanted {
                return Choice::Finish;
            }
        }
        // Silence says nothing new and costs nothing, so it is not counted.
        if menu.stimuli.is_empty() {
            Choice::Observe
        } else {
            let mut busy = menu.clone();
            busy.observe = false;
            Uniform.choose(&busy, rng)
        }
    }

    fn happened(&mut self, _: Step, _: bool) {
        self.steps += 1;
    }
}

/// What a run came to.
pub(crate) struct Rates {
    /// Steps per CPU second around the hundredth step.
    pub(crate) first: f64,
    /// The same at the end.
    pub(crate) last: f64,
    /// The steps that were made.
    pub(crate) steps: u64,
    /// Queries to the solver a step.
    pub(crate) queries: f64,
}

/// One run of so many steps, given up after `most` CPU seconds.
pub(crate) fn rates(case: &Case, solver: Solver, wanted: u64, most: f64) -> Rates {
    let policy = QuiescencePolicy::Livelock;
    let semantics =
        Symbolic::new(case.model.clone(), &[], policy, solver).expect("no constants are missing");
    let alphabet = Alphabet::default();
    let oracle = SymbolicOracle::new(semantics, &alphabet, 1, iolite_expr::Strategy::Mixed)
        .expect("there are initial states");
    let mut tester = ConformanceTester::new(oracle);
    let mut adapter = InProcess::new(case.system(&alphabet));
    let options = Options {
        limits: Limits {
            steps: Some(wanted),
            ..Limits::default()
        },
        quiescence: Quiescence::after(std::time::Duration::from_secs(5)),
        ..Options::default()
    };
    let mut strategy = Clocked {
        steps: 0,
        most,
        begin: cpu(),
        marks: Vec::new(),
        wanted,
    };
    let outcome = run(
        &mut tester,
        &mut adapter,
        &mut strategy,
        &options,
        RunId::of(1, 0),
        &mut (),
    )
    .expect("no faults");
    if outcome.verdict != Verdict::Pass {
        eprintln!("{}: {:?}, {:?}", case.name, outcome.verdict, tester.doubt());
        if let Some(certificate) = &outcome.certificate {
            eprintln!("{certificate:?}");
        }
    }
    let mut marks = strategy.marks;
    marks.push((strategy.steps, cpu()));
    let rate = |a: (u64, f64), b: (u64, f64)| (b.0 - a.0) as f64 / (b.1 - a.1).max(1e-6);
    let n = marks.len();
    let last = if n > 2 && marks[n - 1].0 - marks[n - 2].0 < STRETCH / 2 {
        rate(marks[n - 3], marks[n - 2])
    } else {
        rate(marks[n - 2], marks[n - 1])
    };
    let queries = tester.oracle_mut().semantics().solver().stats().queries;
    Rates {
        first: rate(marks[0], marks[1]),
        last,
        steps: outcome.steps,
        queries: queries as f64 / outcome.steps.max(1) as f64,
    }
}
