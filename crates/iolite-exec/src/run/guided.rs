//! A strategy that follows the tester's own advice.

use std::cell::RefCell;
use std::rc::Rc;

use iolite_derive::{Guide, Hint, Menu, Observation, Progress, Tester, Verdict};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Choice, Coverage, Step, Strategy, Uniform};

struct Advice<A> {
    hint: Option<Hint<A>>,
    coverage: Option<Coverage>,
}

/// A tester that passes its advice on to the [`Guided`] strategy it was made with.
pub struct Advised<T: Guide> {
    tester: T,
    covered: fn(&T) -> Option<Coverage>,
    advice: Rc<RefCell<Advice<T::Action>>>,
}

/// Follows the tester's hints, and chooses at random where there is none, and now and then anyway:
/// a system that always chooses otherwise must not keep the run in one place.
pub struct Guided<A, S = Uniform> {
    advice: Rc<RefCell<Advice<A>>>,
    /// Of ten choices, how many are random although there is a hint.
    wander: u32,
    /// How to choose at random.
    otherwise: S,
}

impl<A, S> Guided<A, S> {
    /// The same with another way to choose at random.
    pub fn otherwise<R: Strategy<A>>(self, otherwise: R) -> Guided<A, R> {
        Guided {
            advice: self.advice,
            wander: self.wander,
            otherwise,
        }
    }
}

/// Couples a tester that knows a way with the strategy that follows it. `covered` tells how much of
/// the goal is reached.
pub fn guided<T: Guide>(
    tester: T,
    covered: fn(&T) -> Option<Coverage>,
) -> (Advised<T>, Guided<T::Action>) {
    let advice = Rc::new(RefCell::new(Advice {
        hint: None,
        coverage: covered(&tester),
    }));
    let strategy = Guided {
        advice: Rc::clone(&advice),
        wander: 1,
        otherwise: Uniform,
    };
    (
        Advised {
            tester,
            covered,
            advice,
        },
        strategy,
    )
}

impl<T: Guide> Advised<T> {
    /// The tester itself.
    pub fn tester(&self) -> &T {
        &self.tester
    }
}

impl<T: Guide> Tester for Advised<T> {
    type Action = T::Action;

    fn reset(&mut self) {
        self.tester.reset();
    }

    fn begin(&mut self, seed: u64) {
        self.tester.begin(seed);
    }

    fn menu(&mut self, menu: &mut Menu<T::Action>) {
        self.tester.menu(menu);
        let hint = self.tester.hint();
        let mut advice = self.advice.borrow_mut();
        advice.hint = hint;
        advice.coverage = (self.covered)(&self.tester);
    }

    fn stimulate(&mut self, stimulus: &T::Action) -> Progress {
        self.tester.stimulate(stimulus)
    }

    fn observe(&mut self, observation: &Observation<T::Action>) -> Progress {
        self.tester.observe(observation)
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

    fn places(&mut self) -> Vec<String> {
        self.tester.places()
    }

    fn show(&self, action: &T::Action) -> String {
        self.tester.show(action)
    }
}

impl<A: Clone + PartialEq, S: Strategy<A>> Strategy<A> for Guided<A, S> {
    fn begin(&mut self) {
        self.otherwise.begin();
    }

    fn choose(&mut self, menu: &Menu<A>, rng: &mut Xoshiro256PlusPlus) -> Choice<A> {
        let advice = self.advice.borrow();
        if rng.random_range(0..10) >= self.wander {
            match &advice.hint {
                Some(Hint::Observe) if menu.observe => return Choice::Observe,
                Some(Hint::Stimulate(a)) => {
                    if let Some(index) = menu.stimuli.iter().position(|s| s == a) {
                        return Choice::Stimulate(index);
                    }
                }
                _ => {}
            }
        }
        drop(advice);
        self.otherwise.choose(menu, rng)
    }

    fn happened(&mut self, step: &Step<A>, preempted: bool) {
        self.otherwise.happened(step, preempted);
    }

    fn coverage(&self) -> Option<Coverage> {
        self.advice.borrow().coverage
    }
}
