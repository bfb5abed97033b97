//! Who chooses among what the tester may do.

use std::time::Duration;

use iolite_derive::{ActionId, Menu, Step};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Give the stimulus with this index in the menu.
    Stimulate(usize),
    /// Give this stimulus, if the tester takes it, menu or not; the run ends where it does not.
    Give(ActionId),
    /// Wait for an output or δ.
    Observe,
    /// The same, after a look at what is there already: an output that once pre-empted a stimulus is
    /// scheduled by that look.
    Await,
    /// The same as observing, with this patience instead of what the options say.
    ObserveFor(Duration),
    /// End the run as the menu allows.
    Stop,
    /// End the run, menu or not: there is nothing left to try.
    Finish,
}

/// How much of the model has been seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Items seen.
    pub seen: u64,
    /// Items there are, as far as is known.
    pub total: u64,
}

impl Coverage {
    /// Between 0 and 1.
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn ratio(self) -> f64 {
        if self.total == 0 {
            1.0
        } else {
            self.seen as f64 / self.total as f64
        }
    }
}

/// Chooses; soundness does not depend on it, since the system may always choose otherwise, and
/// whatever it does the tester judges.
pub trait Strategy {
    /// A new run begins.
    fn begin(&mut self) {}

    /// The choice, among what the menu offers.
    fn choose(&mut self, menu: &Menu, rng: &mut Xoshiro256PlusPlus) -> Choice;

    /// What really happened; `preempted` when a stimulus was chosen and an output came first.
    fn happened(&mut self, _step: Step, _preempted: bool) {}

    /// What has been covered, where the strategy keeps count.
    fn coverage(&self) -> Option<Coverage> {
        None
    }
}

impl<S: Strategy + ?Sized> Strategy for Box<S> {
    fn begin(&mut self) {
        (**self).begin();
    }

    #[inline]
    fn choose(&mut self, menu: &Menu, rng: &mut Xoshiro256PlusPlus) -> Choice {
        (**self).choose(menu, rng)
    }

    #[inline]
    fn happened(&mut self, step: Step, preempted: bool) {
        (**self).happened(step, preempted);
    }

    fn coverage(&self) -> Option<Coverage> {
        (**self).coverage()
    }
}

/// One choice of so many waits again although silence was just observed and would tell nothing new: a specification says that
/// it stays, and a system may show otherwise. Every silence of the model can so be seen in time.
pub(super) const AGAIN: u32 = 16;

/// Stimulates or observes with equal probability, and so for the stimuli; stops only where nothing else can
/// be done. After silence that stays it mostly stimulates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform;

impl Strategy for Uniform {
    fn choose(&mut self, menu: &Menu, rng: &mut Xoshiro256PlusPlus) -> Choice {
        match (menu.stimuli.len(), menu.observe) {
            (0, true) if menu.settled && menu.stop && !waits_again(rng) => Choice::Stop,
            (0, true) => Choice::Observe,
            (0, false) if menu.stop => Choice::Stop,
            (0, false) => Choice::Finish,
            (n, observe) => {
                let observe = observe
                    && if menu.settled {
                        waits_again(rng)
                    } else {
                        rng.random::<bool>()
                    };
                if observe {
                    Choice::Observe
                } else if n == 1 {
                    Choice::Stimulate(0)
                } else {
                    Choice::Stimulate(rng.random_range(0..n))
                }
            }
        }
    }
}

fn waits_again(rng: &mut Xoshiro256PlusPlus) -> bool {
    rng.random_range(0..AGAIN) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Weighted;
    use rand::SeedableRng;

    #[test]
    fn after_silence_that_stays_it_mostly_stimulates() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let menu = Menu {
            stimuli: vec![iolite_derive::ActionId::new(2)],
            observe: true,
            stop: true,
            settled: true,
        };
        let choices: Vec<Choice> = (0..1600).map(|_| Uniform.choose(&menu, &mut rng)).collect();
        let observed = choices.iter().filter(|c| **c == Choice::Observe).count();
        assert!((50..160).contains(&observed), "{observed}");
    }

    #[test]
    fn an_empty_menu_ends_the_run() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut menu = Menu::default();
        assert_eq!(Uniform.choose(&menu, &mut rng), Choice::Finish);
        menu.stop = true;
        assert_eq!(Uniform.choose(&menu, &mut rng), Choice::Stop);
        let mut weighted = Weighted::default();
        assert_eq!(weighted.choose(&menu, &mut rng), Choice::Stop);
    }
}
