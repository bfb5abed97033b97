//! Choices by weight.

use std::sync::Arc;

use iolite_derive::{ActionId, Menu, Step};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::strategy::AGAIN;
use crate::{Choice, Coverage, Strategy};

/// How much stimuli weigh among each other.
pub trait Weights {
    /// The weight of a stimulus; nothing below 0.
    fn weight(&self, stimulus: ActionId) -> f64;
}

/// A stimulus that is not named weighs 1.
impl Weights for Vec<(ActionId, f64)> {
    fn weight(&self, stimulus: ActionId) -> f64 {
        self.iter()
            .find(|(a, _)| *a == stimulus)
            .map_or(1.0, |(_, weight)| weight.max(0.0))
    }
}

impl<W: Weights + ?Sized> Weights for Arc<W> {
    fn weight(&self, stimulus: ActionId) -> f64 {
        (**self).weight(stimulus)
    }
}

/// Weights for stopping, stimulating and observing, and for single stimuli.
#[derive(Clone, Debug)]
pub struct Weighted<W> {
    /// Weight of stopping.
    pub stop: f64,
    /// Weight of stimulating.
    pub stimulate: f64,
    /// Weight of observing.
    pub observe: f64,
    /// Weights of stimuli among each other.
    pub stimuli: W,
}

impl Default for Weighted<Vec<(ActionId, f64)>> {
    fn default() -> Self {
        Self {
            stop: 0.0,
            stimulate: 1.0,
            observe: 1.0,
            stimuli: Vec::new(),
        }
    }
}

impl<W: Weights> Strategy for Weighted<W> {
    fn choose(&mut self, menu: &Menu, rng: &mut Xoshiro256PlusPlus) -> Choice {
        let total: f64 = menu.stimuli.iter().map(|&a| self.stimuli.weight(a)).sum();
        let stop = if menu.stop { self.stop.max(0.0) } else { 0.0 };
        let stimulate = if total > 0.0 {
            self.stimulate.max(0.0)
        } else {
            0.0
        };
        // What would tell nothing new is mostly left where something else can be done.
        let idle = menu.settled && (stimulate > 0.0 || menu.stop);
        let observe = match (menu.observe, idle) {
            (true, false) => self.observe.max(0.0),
            (true, true) if stimulate > 0.0 => self.observe.max(0.0) / f64::from(AGAIN),
            _ => 0.0,
        };
        let sum = stop + stimulate + observe;
        if sum <= 0.0 {
            // Everything that is possible has weight 0: what the menu allows goes before the end.
            return match (menu.observe && !idle, menu.stimuli.len(), menu.stop) {
                (true, _, _) => Choice::Observe,
                (_, 1.., _) => Choice::Stimulate(rng.random_range(0..menu.stimuli.len())),
                (_, _, true) => Choice::Stop,
                _ => Choice::Finish,
            };
        }
        let draw = rng.random::<f64>() * sum;
        if draw < stop {
            return Choice::Stop;
        }
        if draw < stop + observe {
            return Choice::Observe;
        }
        let mut draw = rng.random::<f64>() * total;
        let mut last = 0;
        for (i, &stimulus) in menu.stimuli.iter().enumerate() {
            let weight = self.stimuli.weight(stimulus);
            if weight > 0.0 {
                last = i;
                if draw < weight {
                    break;
                }
                draw -= weight;
            }
        }
        Choice::Stimulate(last)
    }
}

/// A strategy that does not get to see stimuli of weight 0, unless there is nothing else to do: for
/// those that follow a lead and do not weigh.
#[derive(Clone, Debug)]
pub struct WithoutWeightless<S, W> {
    strategy: S,
    stimuli: W,
}

impl<S, W> WithoutWeightless<S, W> {
    /// Leaves the choice to `strategy`.
    pub fn new(strategy: S, stimuli: W) -> Self {
        Self { strategy, stimuli }
    }
}

impl<S: Strategy, W: Weights> Strategy for WithoutWeightless<S, W> {
    fn begin(&mut self) {
        self.strategy.begin();
    }

    fn choose(&mut self, menu: &Menu, rng: &mut Xoshiro256PlusPlus) -> Choice {
        let weighty = |a: ActionId| self.stimuli.weight(a) > 0.0;
        let kept: Vec<usize> = (0..menu.stimuli.len())
            .filter(|&i| weighty(menu.stimuli[i]))
            .collect();
        let nothing_else = kept.is_empty() && !menu.observe;
        if nothing_else || kept.len() == menu.stimuli.len() {
            return self.strategy.choose(menu, rng);
        }
        let lean = Menu {
            stimuli: kept.iter().map(|&i| menu.stimuli[i]).collect(),
            ..*menu
        };
        match self.strategy.choose(&lean, rng) {
            Choice::Stimulate(i) => Choice::Stimulate(kept[i]),
            choice => choice,
        }
    }

    fn happened(&mut self, step: Step, preempted: bool) {
        self.strategy.happened(step, preempted);
    }

    fn coverage(&self) -> Option<Coverage> {
        self.strategy.coverage()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Uniform;
    use rand::SeedableRng;

    #[test]
    fn weights_hold_in_the_long_run() {
        let mut strategy = Weighted {
            stop: 1.0,
            stimulate: 2.0,
            observe: 1.0,
            stimuli: vec![(ActionId::new(3), 3.0), (ActionId::new(4), 0.0)],
        };
        let menu = Menu {
            stimuli: [2, 3, 4].map(ActionId::new).to_vec(),
            observe: true,
            stop: true,
            settled: false,
        };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut counts = [0u32; 5];
        for _ in 0..8000 {
            match strategy.choose(&menu, &mut rng) {
                Choice::Stimulate(i) => counts[i] += 1,
                Choice::Observe | Choice::Await => counts[3] += 1,
                _ => counts[4] += 1,
            }
        }
        for (count, expected) in counts.into_iter().zip([1000, 3000, 0, 2000, 2000u32]) {
            assert!(count.abs_diff(expected) < 200, "{counts:?}");
        }
        assert_eq!(counts[2], 0);
    }

    #[test]
    fn what_weighs_nothing_is_chosen_only_where_nothing_else_is_possible() {
        let weights = vec![(ActionId::new(2), 0.0)];
        let mut menu = Menu {
            stimuli: [2, 3].map(ActionId::new).to_vec(),
            observe: true,
            stop: true,
            settled: false,
        };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut sparing = WithoutWeightless::new(Uniform, weights.clone());
        let mut weighted = Weighted {
            stimuli: weights,
            ..Weighted::default()
        };
        let mut strategies: [&mut dyn Strategy; 2] = [&mut sparing, &mut weighted];
        for strategy in &mut strategies {
            for _ in 0..100 {
                assert_ne!(strategy.choose(&menu, &mut rng), Choice::Stimulate(0));
            }
        }
        menu.stimuli.pop();
        for strategy in &mut strategies {
            assert_eq!(strategy.choose(&menu, &mut rng), Choice::Observe);
        }
        menu.observe = false;
        for strategy in &mut strategies {
            assert_eq!(strategy.choose(&menu, &mut rng), Choice::Stimulate(0));
        }
    }
}
