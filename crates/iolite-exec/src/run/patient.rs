//! Stimuli after silence only, in a share of the runs.

use iolite_derive::{Menu, Step};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Choice, Coverage, Strategy};

/// One run of so many is patient.
const ONE_OF: u32 = 4;

/// Where messages queue, a stimulus that crosses an output blurs what the system did: two orders
/// explain what is seen. So in a share of the runs, chosen at random (seeded), this strategy gives a
/// stimulus only after the system was seen quiescent, when nothing is under way; the other runs are
/// those of the strategy inside, in which stimuli and outputs race.
#[derive(Clone, Debug)]
pub struct Patient<S> {
    inner: S,
    /// Whether this run is patient, once that was drawn.
    waits: Option<bool>,
    /// Whether silence was the last that happened.
    silent: bool,
    menu: Menu,
}

impl<S: Strategy> Patient<S> {
    /// A strategy that lets another choose, and waits for silence first in some runs.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            waits: None,
            silent: false,
            menu: Menu::default(),
        }
    }
}

impl<S: Strategy> Strategy for Patient<S> {
    fn begin(&mut self) {
        self.waits = None;
        self.silent = false;
        self.inner.begin();
    }

    fn choose(&mut self, menu: &Menu, rng: &mut Xoshiro256PlusPlus) -> Choice {
        let draw = || rng.random_range(0..ONE_OF) == 0;
        let patient = *self.waits.get_or_insert_with(draw);
        if !patient || self.silent || !menu.observe {
            return self.inner.choose(menu, rng);
        }
        self.menu.clear();
        self.menu.observe = true;
        self.menu.stop = menu.stop;
        self.menu.settled = menu.settled;
        self.inner.choose(&self.menu, rng)
    }

    fn happened(&mut self, step: Step, preempted: bool) {
        self.silent = matches!(step, Step::Quiescence | Step::Deadlock);
        self.inner.happened(step, preempted);
    }

    fn coverage(&self) -> Option<Coverage> {
        self.inner.coverage()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Uniform;
    use iolite_derive::ActionId;
    use rand::SeedableRng;

    #[test]
    fn a_share_of_the_runs_stimulates_after_silence_only() {
        let mut strategy = Patient::new(Uniform);
        let menu = Menu {
            stimuli: vec![ActionId::new(2)],
            observe: true,
            stop: true,
            ..Menu::default()
        };
        let mut patient = 0;
        for seed in 0..400 {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            strategy.begin();
            let mut stimulated = false;
            for _ in 0..20 {
                stimulated |= matches!(strategy.choose(&menu, &mut rng), Choice::Stimulate(_));
            }
            if !stimulated {
                patient += 1;
                strategy.happened(Step::Quiescence, false);
                let mut choices = (0..20).map(|_| strategy.choose(&menu, &mut rng));
                assert!(choices.any(|c| matches!(c, Choice::Stimulate(_))));
            }
        }
        assert!((60..140).contains(&patient), "{patient}");
    }
}
