//! A strategy that follows the tester's own advice.

use std::cell::RefCell;
use std::rc::Rc;

use iolite_derive::{Alphabet, Guide, Hint, Menu, Notice, Progress, Step, Tester, Verdict};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Choice, Coverage, Strategy, Uniform};

/// A tester whose advice the [`GuidedStrategy`] it was made with can ask for.
pub struct AdvisedTester<T> {
    tester: Rc<RefCell<T>>,
    alphabet: Alphabet,
}

/// Follows the tester's hints, and chooses at random where there is none, and now and then anyway:
/// a system that always chooses otherwise must not keep the run in one place.
pub struct GuidedStrategy<T, S = Uniform> {
    tester: Rc<RefCell<T>>,
    /// Of ten choices, how many are random although there is a hint.
    wander: u32,
    /// How to choose at random.
    otherwise: S,
}

impl<T, S> GuidedStrategy<T, S> {
    /// The same with another way to choose at random.
    pub fn otherwise<R: Strategy>(self, otherwise: R) -> GuidedStrategy<T, R> {
        GuidedStrategy {
            tester: self.tester,
            wander: self.wander,
            otherwise,
        }
    }
}

/// Couples a tester that knows a way with the strategy that follows it.
pub fn guided<T: Guide>(tester: T) -> (AdvisedTester<T>, GuidedStrategy<T>) {
    let alphabet = tester.alphabet().clone();
    let tester = Rc::new(RefCell::new(tester));
    let strategy = GuidedStrategy {
        tester: Rc::clone(&tester),
        wander: 1,
        otherwise: Uniform,
    };
    (AdvisedTester { tester, alphabet }, strategy)
}

impl<T: Tester> Tester for AdvisedTester<T> {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn reset(&mut self) {
        self.tester.borrow_mut().reset();
    }

    fn begin(&mut self, seed: u64) {
        self.tester.borrow_mut().begin(seed);
    }

    fn menu(&mut self, menu: &mut Menu) {
        self.tester.borrow_mut().menu(menu);
    }

    fn step(&mut self, step: Step) -> Progress {
        self.tester.borrow_mut().step(step)
    }

    fn refused(&mut self) -> Option<Progress> {
        self.tester.borrow_mut().refused()
    }

    fn verdict(&self) -> Verdict {
        self.tester.borrow().verdict()
    }

    fn awaits_explanation(&self) -> bool {
        self.tester.borrow().awaits_explanation()
    }

    fn allowed(&mut self) -> Vec<String> {
        self.tester.borrow_mut().allowed()
    }

    fn locations(&mut self) -> Vec<String> {
        self.tester.borrow_mut().locations()
    }

    fn places(&mut self) -> Vec<String> {
        self.tester.borrow_mut().places()
    }

    fn results(&self) -> Vec<(String, Verdict)> {
        self.tester.borrow().results()
    }

    fn conclude(&mut self) -> Vec<Notice> {
        self.tester.borrow_mut().conclude()
    }
}

impl<T: Guide, S: Strategy> Strategy for GuidedStrategy<T, S> {
    fn begin(&mut self) {
        self.otherwise.begin();
    }

    fn choose(&mut self, menu: &Menu, rng: &mut Xoshiro256PlusPlus) -> Choice {
        if rng.random_range(0..10) >= self.wander {
            match self.tester.borrow_mut().hint(menu) {
                Some(Hint::Observe) if menu.observe => return Choice::Observe,
                Some(Hint::Stimulate(a)) => {
                    if let Some(index) = menu.stimuli.iter().position(|&s| s == a) {
                        return Choice::Stimulate(index);
                    }
                }
                _ => {}
            }
        }
        self.otherwise.choose(menu, rng)
    }

    fn happened(&mut self, step: Step, preempted: bool) {
        self.otherwise.happened(step, preempted);
    }

    fn coverage(&self) -> Option<Coverage> {
        self.otherwise.coverage()
    }
}
