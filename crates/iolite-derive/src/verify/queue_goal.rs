//! A goal behind queues: what the system did first is not known, so a violation must be one in every
//! order.

use crate::{ActionId, Alphabet, Breach, Goal, Move, Undecided, Verdict, Wish};
use iolite_expr::Term;
use iolite_lts::LabelKind;

/// Inputs under way beyond which a trace that somebody else chose is not followed any more.
const MOST_PENDING: usize = 1024;

/// A goal whose verdict is about the system's own order of messages, seen through queues.
///
/// The tester sees an input before an output that the system sent first. So all orders are followed
/// that a FIFO each way allows, whatever the specification says of them (the system may be wrong): an
/// output may have been sent before any of the inputs that were given before it and not taken yet, δ
/// only after all. The goal is reached with a verdict when it is in *every* order. Where it is in some
/// only, nothing is proved, and a run that ends there is `inconc`.
///
/// Through several channels, or where messages are lost or reordered, orders are not followed: what
/// the tester's order calls reached is then given up as undecided.
#[derive(Debug)]
pub struct QueueGoal<G> {
    goal: G,
    alphabet: Alphabet,
    order: MessageOrder,
    too_many: bool,
}

/// What is known of the order of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageOrder {
    /// That of a FIFO each way.
    Fifo,
    /// Nothing that is followed.
    Unknown,
}

/// The goal in every order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueueGoalState<S> {
    /// The inputs that some order has not taken, oldest first.
    pending: Vec<ActionId>,
    orders: Vec<Order<S>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Order<S> {
    fate: Fate<S>,
    /// How many of the pending inputs, the last ones, are not taken.
    untaken: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Fate<S> {
    At(S),
    Reached(Verdict),
    Lost,
}

impl<G: Goal> QueueGoal<G> {
    /// The goal over actions of this alphabet.
    pub fn new(goal: G, alphabet: &Alphabet, order: MessageOrder) -> Self {
        Self {
            goal,
            alphabet: alphabet.clone(),
            order,
            too_many: false,
        }
    }

    fn is_input(&self, action: ActionId) -> bool {
        let action = self.alphabet.action(action);
        action.is_some_and(|action| action.kind == LabelKind::Input)
    }

    /// Every order after an observation; `observe` is what it means in one. `None` where that is not
    /// decided.
    fn orders_after(
        &mut self,
        at: &QueueGoalState<G::State>,
        observation: ActionId,
        mut observe: impl FnMut(&mut G, &G::State) -> Move<G::State>,
    ) -> Option<Vec<Order<G::State>>> {
        let mut to: Vec<Order<G::State>> = Vec::new();
        let mut add = |fate: Fate<G::State>, untaken: usize| {
            let order = Order { fate, untaken };
            if !to.contains(&order) {
                to.push(order);
            }
        };
        for order in &at.orders {
            let mut now = match &order.fate {
                Fate::At(state) => state.clone(),
                other => {
                    add(other.clone(), 0);
                    continue;
                }
            };
            let untaken = &at.pending[at.pending.len() - order.untaken..];
            for taken in 0..=untaken.len() {
                let left = untaken.len() - taken;
                if observation != ActionId::DELTA || left == 0 {
                    match observe(&mut self.goal, &now) {
                        Move::To(next) => add(Fate::At(next), left),
                        Move::Goal(verdict) => add(Fate::Reached(verdict), 0),
                        Move::Lost => add(Fate::Lost, 0),
                        Move::Open => return None,
                    }
                }
                let Some(&input) = untaken.get(taken) else {
                    break;
                };
                match self.goal.allowed(&now, input) {
                    Move::To(next) => now = next,
                    Move::Goal(verdict) => {
                        add(Fate::Reached(verdict), 0);
                        break;
                    }
                    Move::Lost => {
                        add(Fate::Lost, 0);
                        break;
                    }
                    Move::Open => return None,
                }
            }
        }
        Some(to)
    }

    /// The verdict that every order has.
    fn agreed(orders: &[Order<G::State>]) -> Option<Verdict> {
        let verdict = |order: &Order<G::State>| match order.fate {
            Fate::Reached(verdict) => Some(verdict),
            Fate::At(_) | Fate::Lost => None,
        };
        let first = verdict(orders.first()?)?;
        orders
            .iter()
            .all(|order| verdict(order) == Some(first))
            .then_some(first)
    }

    fn states<'a>(at: &'a QueueGoalState<G::State>) -> impl Iterator<Item = &'a G::State>
    where
        G: 'a,
    {
        at.orders.iter().filter_map(|order| match &order.fate {
            Fate::At(state) => Some(state),
            Fate::Reached(_) | Fate::Lost => None,
        })
    }
}

impl<G: Goal> Goal for QueueGoal<G> {
    type State = QueueGoalState<G::State>;

    fn name(&self) -> &str {
        self.goal.name()
    }

    fn initial(&self) -> Self::State {
        let fate = Fate::At(self.goal.initial());
        QueueGoalState {
            pending: Vec::new(),
            orders: vec![Order { fate, untaken: 0 }],
        }
    }

    fn allowed(&mut self, at: &Self::State, action: ActionId) -> Move<Self::State> {
        let input = self.is_input(action);
        if input && self.order == MessageOrder::Fifo {
            if at.pending.len() >= MOST_PENDING {
                self.too_many = true;
                return Move::Open;
            }
            let mut next = at.clone();
            next.pending.push(action);
            for order in &mut next.orders {
                if matches!(order.fate, Fate::At(_)) {
                    order.untaken += 1;
                }
            }
            return Move::To(next);
        }
        let orders = self.orders_after(at, action, |goal, state| goal.allowed(state, action));
        let Some(orders) = orders else {
            return Move::Open;
        };
        let ended = |order: &Order<G::State>| !matches!(order.fate, Fate::At(_));
        match Self::agreed(&orders) {
            Some(verdict) if self.order == MessageOrder::Fifo => return Move::Goal(verdict),
            _ if orders.iter().all(ended) => return Move::Lost,
            _ => {}
        }
        let most = orders.iter().map(|order| order.untaken).max();
        let most = most.unwrap_or_default();
        Move::To(QueueGoalState {
            pending: at.pending[at.pending.len() - most..].to_vec(),
            orders,
        })
    }

    fn forbidden(&mut self, at: &Self::State, action: ActionId) -> Breach {
        let reached = |goal: &mut G, state: &G::State| {
            let Breach { verdict, goal } = goal.forbidden(state, action);
            if goal {
                Move::Goal(verdict)
            } else {
                Move::Lost
            }
        };
        let orders = self.orders_after(at, action, reached).unwrap_or_default();
        let is_reached = |order: &Order<G::State>| matches!(order.fate, Fate::Reached(_));
        let all = !orders.is_empty() && orders.iter().all(is_reached);
        if all && self.order == MessageOrder::Fifo {
            // Orders that reached it before the observation did so with an allowed one.
            let verdict = Verdict::ViolateFail;
            return Breach {
                verdict,
                goal: true,
            };
        }
        Breach {
            verdict: Verdict::Fail,
            goal: false,
        }
    }

    /// All orders have to come to the goal; inputs under way may bring them nearer unseen.
    fn distance(&self, at: &Self::State) -> Option<u32> {
        let mut most = 1;
        for state in Self::states(at) {
            most = most.max(self.goal.distance(state)?);
        }
        if at.orders.iter().any(|order| order.fate == Fate::Lost) {
            return None;
        }
        let pending = u32::try_from(at.pending.len()).unwrap_or(u32::MAX);
        Some(most.saturating_sub(pending).max(1))
    }

    fn wants(&self, verdict: Verdict) -> bool {
        self.goal.wants(verdict)
    }

    fn observations(&self) -> &[ActionId] {
        self.goal.observations()
    }

    fn lists_observations(&self) -> bool {
        self.goal.lists_observations()
    }

    fn wishes(&self, at: &Self::State) -> Vec<Wish> {
        let state = Self::states(at).next();
        state
            .map(|state| self.goal.wishes(state))
            .unwrap_or_default()
    }

    fn asks_constants(&self) -> bool {
        self.goal.asks_constants()
    }

    fn learn(&mut self, known: Term) {
        self.goal.learn(known);
    }

    fn doubt(&self) -> Option<Undecided> {
        if self.too_many {
            return Some(Undecided::new(format!(
                "more than {MOST_PENDING} inputs may be under way, too many to follow every order"
            )));
        }
        self.goal.doubt()
    }

    fn open_verdict(&self) -> Verdict {
        self.goal.open_verdict()
    }

    /// `inconc` where some order, and not every one, is a failure.
    fn verdict_at(&self, at: &Self::State) -> Verdict {
        let failing = |order: &Order<G::State>| matches!(order.fate, Fate::Reached(verdict) if verdict.is_failing());
        if at.orders.iter().any(failing) {
            return Verdict::Inconc;
        }
        let verdicts = Self::states(at).map(|state| self.goal.verdict_at(state));
        Verdict::worst(verdicts).unwrap_or(Verdict::Inconc)
    }

    fn describe(&self, at: &Self::State) -> String {
        let mut places: Vec<String> = Vec::new();
        for state in Self::states(at) {
            let place = self.goal.describe(state);
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places.join(" or ")
    }
}
