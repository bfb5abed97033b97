//! A model as a running program, tested over a real connection; and testers that know the way.

mod support;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use iolite_derive::{ActionId, Alphabet, Guide, Hint, Menu, Progress, Step, Tester, Verdict};
use iolite_exec::codec::{ActionMap, LabelDictionary, WireCodec};
use iolite_exec::{
    Choice, Coverage, End, ExecError, Framing, InProcess, Instance, ModelSut, Plan, RefusedInput,
    RunId, Simulator, Strategy, SutConfig, SystemUnderTest, Uniform, campaign, guided, run,
};
use iolite_lts::Lts;
use support::{SpecTester, lts, options, quick};

fn vending() -> Lts {
    lts(&[
        (0, "?coin", 1),
        (1, "?coin", 1),
        (1, "!tea(1)", 0),
        (1, "!tea(2)", 2),
        (2, "i", 0),
    ])
}

/// Serves a model over TCP, with messages of its own, and tests it against the specification.
fn verdict_of(model: Lts) -> Verdict {
    let spec = vending();
    let toml = "[actions.coin]\nsend = \"COIN\"\n[actions.tea]\nrecv = \"TEA no {n:int}\"\n[quiescence]\ntimeout-ms = 150\nactions = { \"?coin\" = 5000 }";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let config = SutConfig::parse(&format!("tcp = \"{address}\"\n{toml}")).unwrap();
    let map: ActionMap = config.action_map().unwrap();
    thread::spawn(move || {
        let alphabet = Alphabet::of_labels(model.labels());
        let dictionary = LabelDictionary::new(&alphabet, model.labels());
        let sut =
            ModelSut::new(model, dictionary.clone(), 9).on_refused_input(RefusedInput::SelfLoop);
        let codec = WireCodec::of_system(&map, dictionary).unwrap();
        let delay = Duration::from_millis(2);
        Simulator::new(Box::new(sut), codec, Framing::Line, delay, 1)
            .listen(&listener)
            .unwrap();
    });
    let mut options = options(&config);
    options.limits.steps = Some(16);
    let plan = Plan {
        runs: 4,
        ..Plan::default()
    };
    let summary = campaign(&plan, &options, &mut (), |job| {
        let tester = SpecTester::new(spec.clone());
        Ok::<_, ExecError>(Instance {
            adapter: tester.adapter(&config, job)?,
            tester,
            strategy: Uniform,
        })
    })
    .unwrap();
    assert!(summary.faults.is_empty(), "{:?}", summary.faults);
    summary.verdict().unwrap()
}

#[test]
fn a_simulated_model_is_tested_over_tcp() {
    assert_eq!(verdict_of(vending()), Verdict::Pass);
    let broken = lts(&[(0, "?coin", 1), (1, "!tea(1)", 2), (2, "!tea(2)", 0)]);
    assert_eq!(verdict_of(broken), Verdict::Fail);
}

/// A corridor: only `?on` leads on, and of many inputs one is right in each state.
fn corridor() -> Lts {
    let mut transitions = Vec::new();
    for state in 0..12 {
        transitions.push((state, "?on", state + 1));
        for back in ["?a", "?b", "?c", "?d"] {
            transitions.push((state, back, 0));
        }
    }
    lts(&transitions)
}

/// Knows the way, and which states it has seen.
struct WayFinder {
    tester: SpecTester,
    on: ActionId,
    seen: Rc<RefCell<BTreeSet<String>>>,
}

impl Tester for WayFinder {
    fn alphabet(&self) -> &Alphabet {
        self.tester.alphabet()
    }

    fn reset(&mut self) {
        self.tester.reset();
    }

    fn menu(&mut self, menu: &mut Menu) {
        self.seen.borrow_mut().extend(self.tester.locations());
        self.tester.menu(menu);
    }

    fn step(&mut self, step: Step) -> Progress {
        self.tester.step(step)
    }

    fn verdict(&self) -> Verdict {
        self.tester.verdict()
    }

    fn allowed(&mut self) -> Vec<String> {
        self.tester.allowed()
    }

    fn locations(&mut self) -> Vec<String> {
        self.tester.locations()
    }
}

impl Guide for WayFinder {
    fn hint(&mut self, _: &Menu) -> Option<Hint> {
        Some(Hint::Stimulate(self.on))
    }
}

/// Chooses at random, and counts what the tester has seen.
struct Counted(Rc<RefCell<BTreeSet<String>>>);

impl Strategy for Counted {
    fn choose(&mut self, menu: &Menu, rng: &mut rand_xoshiro::Xoshiro256PlusPlus) -> Choice {
        Uniform.choose(menu, rng)
    }

    fn coverage(&self) -> Option<Coverage> {
        let seen = self.0.borrow().len() as u64;
        Some(Coverage { seen, total: 13 })
    }
}

struct Silent;

impl SystemUnderTest<ActionId> for Silent {
    fn reset(&mut self) {}

    fn stimulate(&mut self, _: &ActionId) {}

    fn output(&mut self, _: Duration) -> Option<ActionId> {
        None
    }
}

#[test]
fn hints_are_followed_until_everything_is_covered() {
    let seen = Rc::new(RefCell::new(BTreeSet::new()));
    let tester = SpecTester::new(corridor());
    let finder = WayFinder {
        on: tester.action("?on"),
        tester,
        seen: Rc::clone(&seen),
    };
    let (mut tester, strategy) = guided(finder);
    let mut strategy = strategy.otherwise(Counted(Rc::clone(&seen)));
    let mut options = quick();
    options.limits.coverage = Some(1.0);
    options.limits.steps = Some(2000);
    let mut adapter = InProcess::new(Silent);
    let outcome = run(
        &mut tester,
        &mut adapter,
        &mut strategy,
        &options,
        RunId::of(1, 0),
        &mut (),
    )
    .unwrap();
    assert_eq!(
        (outcome.verdict, outcome.end),
        (Verdict::Pass, End::Coverage)
    );
    assert!(outcome.steps < 300, "{}", outcome.steps);
    assert_eq!(seen.borrow().len(), 13);
}
