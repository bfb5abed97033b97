//! Campaigns that somebody steers while they run: pause, one step at a time, a stimulus by hand, the end.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use iolite_derive::{Alphabet, Menu, Step};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Choice, Coverage, Strategy, interrupted};

/// What can be said to a running campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Choose nothing more until another order comes. What the system does meanwhile waits in its channel.
    Pause,
    /// Go on.
    Resume,
    /// Choose so many times, then pause.
    Steps(u32),
    /// Give this stimulus, in `?a(1)` notation, at the next choice.
    Give(String),
    /// Wait for an output or silence at the next choice.
    Observe,
    /// End the run, and begin no other.
    Stop,
}

/// A text that is no order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an order: pause, resume, step [N], give ?a, observe or stop")]
pub struct UnknownOrder(String);

impl FromStr for Order {
    type Err = UnknownOrder;

    fn from_str(text: &str) -> Result<Self, UnknownOrder> {
        let unknown = || UnknownOrder(text.to_owned());
        let text = text.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match (word, rest.trim()) {
            ("pause", "") => Ok(Self::Pause),
            ("resume", "") => Ok(Self::Resume),
            ("step", "") => Ok(Self::Steps(1)),
            ("step", n) => n.parse().map(Self::Steps).map_err(|_| unknown()),
            ("give", stimulus) if stimulus.starts_with('?') => Ok(Self::Give(stimulus.to_owned())),
            ("observe", "") => Ok(Self::Observe),
            ("stop", "") => Ok(Self::Stop),
            _ => Err(unknown()),
        }
    }
}

#[derive(Debug, Default)]
struct State {
    paused: bool,
    stopped: bool,
    /// Choices that are made although it is paused.
    steps: u32,
    /// What the next choices are, as far as the menu has them.
    wanted: VecDeque<Order>,
}

/// Who hears of stimuli that cannot be given: the stimulus, and those that can.
type Refused = Box<dyn Fn(&str, &[String]) + Send + Sync>;

/// Orders on their way to the strategies of a campaign. Cheap to clone; all clones steer the same one.
#[derive(Clone)]
pub struct Steering {
    shared: Arc<(Mutex<State>, Condvar)>,
    refused: Arc<Refused>,
}

impl fmt::Debug for Steering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Steering").field(&self.shared.0).finish()
    }
}

/// How often a paused campaign looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Orders for coming choices that are kept; a script that pours in more does not take memory.
const MOST_WANTED: usize = 1000;

impl Steering {
    /// Steers nothing yet. `refused` hears of stimuli that are not among those the tester may give.
    pub fn new(refused: impl Fn(&str, &[String]) + Send + Sync + 'static) -> Self {
        Self {
            shared: Arc::default(),
            refused: Arc::new(Box::new(refused)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives an order.
    pub fn order(&self, order: Order) {
        let mut state = self.state();
        match order {
            Order::Pause => (state.paused, state.steps) = (true, 0),
            Order::Resume => state.paused = false,
            Order::Steps(n) => {
                state.paused = true;
                state.steps = state.steps.saturating_add(n);
            }
            Order::Stop => state.stopped = true,
            Order::Give(_) | Order::Observe => {
                if state.wanted.len() < MOST_WANTED {
                    // A paused campaign carries the order out and stays paused.
                    state.steps = state.steps.saturating_add(u32::from(state.paused));
                    state.wanted.push_back(order);
                }
            }
        }
        drop(state);
        self.shared.1.notify_all();
    }

    /// Whether the end was ordered.
    pub fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    /// Waits for the turn of the next choice; `Err` where there is none any more.
    fn turn(&self) -> Result<Option<Order>, ()> {
        let mut state = self.state();
        loop {
            if state.stopped || interrupted().is_some() {
                return Err(());
            }
            if !state.paused {
                break;
            }
            if state.steps > 0 {
                state.steps -= 1;
                break;
            }
            let waited = self.shared.1.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(state.wanted.pop_front())
    }
}

/// Carries out orders, and lets another strategy choose where there are none.
pub struct Steered<S> {
    inner: S,
    steering: Steering,
    alphabet: Alphabet,
}

impl<S: Strategy> Steered<S> {
    /// The strategy `inner`, steered; `alphabet` is the one of its job.
    pub fn new(inner: S, steering: Steering, alphabet: &Alphabet) -> Self {
        Self {
            inner,
            steering,
            alphabet: alphabet.clone(),
        }
    }
}

impl<S: Strategy> Strategy for Steered<S> {
    fn begin(&mut self) {
        self.inner.begin();
    }

    fn choose(&mut self, menu: &Menu, rng: &mut Xoshiro256PlusPlus) -> Choice {
        match self.steering.turn() {
            Err(()) => Choice::Finish,
            Ok(Some(Order::Observe)) if menu.observe => Choice::Observe,
            Ok(Some(Order::Give(wanted))) => {
                let texts = menu.stimuli.iter().map(|&id| self.alphabet.text(id));
                let possible: Vec<String> = texts.map(|text| text.to_string()).collect();
                if let Some(index) = possible.iter().position(|text| *text == wanted) {
                    return Choice::Stimulate(index);
                }
                (self.steering.refused)(&wanted, &possible);
                self.inner.choose(menu, rng)
            }
            Ok(_) => self.inner.choose(menu, rng),
        }
    }

    fn happened(&mut self, step: Step, preempted: bool) {
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
    use iolite_derive::{Action, ActionId};
    use iolite_lts::LabelKind;
    use rand::SeedableRng;
    use std::thread;

    fn alphabet() -> (Alphabet, Vec<ActionId>) {
        let alphabet = Alphabet::default();
        let input = |name: &str| Action {
            kind: LabelKind::Input,
            name: name.into(),
            args: Vec::new(),
        };
        let ids = ["a", "b", "c"].map(|name| alphabet.intern(input(name)));
        (alphabet, ids.to_vec())
    }

    #[test]
    fn orders_are_read() {
        assert_eq!("step 3".parse(), Ok(Order::Steps(3)));
        assert_eq!("give ?a(1, 2)".parse(), Ok(Order::Give("?a(1, 2)".into())));
        for wrong in ["", "give a", "step x", "pause now", "step -1"] {
            assert!(wrong.parse::<Order>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_stimulus_by_hand_is_the_next_one_and_others_are_refused() {
        let (alphabet, stimuli) = alphabet();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let keep = Arc::clone(&heard);
        let steering = Steering::new(move |what, possible| {
            keep.lock().unwrap().push((what.to_owned(), possible.len()));
        });
        let mut strategy = Steered::new(Uniform, steering.clone(), &alphabet);
        let menu = Menu {
            stimuli,
            observe: true,
            ..Menu::default()
        };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        for (text, choice) in [
            ("give ?c", Choice::Stimulate(2)),
            ("give ?a", Choice::Stimulate(0)),
            ("observe", Choice::Observe),
        ] {
            steering.order(text.parse().unwrap());
            assert_eq!(strategy.choose(&menu, &mut rng), choice);
        }
        steering.order(Order::Give("?d".into()));
        strategy.choose(&menu, &mut rng);
        assert_eq!(*heard.lock().unwrap(), [("?d".to_owned(), 3)]);
        steering.order(Order::Stop);
        assert_eq!(strategy.choose(&menu, &mut rng), Choice::Finish);
    }

    #[test]
    fn a_paused_campaign_takes_the_steps_that_are_ordered() {
        let (alphabet, stimuli) = alphabet();
        let steering = Steering::new(|_, _| ());
        steering.order(Order::Steps(2));
        let orders = steering.clone();
        let made = thread::spawn(move || {
            let mut strategy = Steered::new(Uniform, orders, &alphabet);
            let menu = Menu {
                stimuli,
                ..Menu::default()
            };
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
            let choices = std::iter::repeat_with(|| strategy.choose(&menu, &mut rng));
            choices.take_while(|c| *c != Choice::Finish).count()
        });
        // The third choice waits for an order.
        while steering.state().steps > 0 {
            thread::yield_now();
        }
        assert!(!made.is_finished());
        steering.order(Order::Give("?b".into()));
        while !steering.state().wanted.is_empty() {
            thread::yield_now();
        }
        steering.order(Order::Stop);
        assert_eq!(made.join().unwrap(), 3);
    }
}
