//! Models that several tests use.
#![allow(dead_code, missing_docs, unreachable_pub)]

use iolite_expr::{Op, Sort, Span, Term, Value, Var};
use iolite_sts::{Builder, Iosts, LabelKind, LocationId};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const HERE: Span = Span { start: 0, end: 1 };

/// The sender of the BRP protocol [SYM04, fig. 1]. The figure is lost in the text;
/// this is rebuilt from what §2 and §3 say of it: five locations, `rn` counts the transmissions
/// of a packet and may reach `max`, the status tells whether all, all but the last, or fewer
/// packets were acknowledged, and δ's guard in `Wait_Ack` is `rn > max`.
pub fn brp_sender(with_assumption: bool) -> Iosts {
    let mut b = Builder::new("Sender");
    let max = b.constant("max", Sort::Int, HERE).unwrap();
    let f = b
        .constant("f", Sort::array(Sort::Int).unwrap(), HERE)
        .unwrap();
    if with_assumption {
        b.assume(max.term().ge(1).unwrap()).unwrap();
    }
    let mut var = |name: &str, sort: Sort, initial: Term| {
        b.variable(name, sort, Some(initial), HERE).unwrap()
    };
    let rn = var("rn", Sort::Int, 0.into());
    let head = var("head", Sort::Int, 0.into());
    let last = var("last", Sort::Int, 0.into());
    let bit = var("bit", Sort::Bool, true.into());
    let mut action =
        |kind, name: &str, params: &[(&str, Sort)]| b.gate(kind, name, params, HERE).unwrap();
    let req = action(LabelKind::Input, "REQ", &[("l", Sort::Int)]);
    let ack = action(LabelKind::Input, "ACK", &[]);
    let msg = action(
        LabelKind::Output,
        "MSG",
        &[("pMsg", Sort::Int), ("pBit", Sort::Bool)],
    );
    let ok = action(LabelKind::Output, "OK", &[]);
    let not_ok = action(LabelKind::Output, "NOT_OK", &[]);
    let dont_know = action(LabelKind::Output, "DONT_KNOW", &[]);
    let tau1 = action(LabelKind::Internal, "tau1", &[]);
    let tau2 = action(LabelKind::Internal, "tau2", &[]);
    let wait_req = b.location("Wait_Req", true, HERE).unwrap();
    let send_file = b.location("Send_File", false, HERE).unwrap();
    let wait_ack = b.location("Wait_Ack", false, HERE).unwrap();
    let wait_timeout2 = b.location("Wait_Timeout2", false, HERE).unwrap();
    let send_complete = b.location("Send_Complete", false, HERE).unwrap();

    let l = b.params(req)[0].term();
    let (m, p) = (b.params(msg)[0].term(), b.params(msg)[1].term());
    let next = head.term().plus(1).unwrap();
    let mut t = |from, a, guard: Option<Term>, assign: Vec<(Var, Term)>, to| {
        b.transition(from, a, guard, assign, to, HERE).unwrap();
    };
    t(
        wait_req,
        req,
        Some(l.gt(&head).unwrap()),
        vec![(last.clone(), l)],
        send_file,
    );
    let packet = m.equals(f.term().select(&head).unwrap()).unwrap();
    let guard = packet.and(p.equals(&bit).unwrap()).unwrap();
    t(
        send_file,
        msg,
        Some(guard),
        vec![(rn.clone(), rn.term().plus(1).unwrap())],
        wait_ack,
    );
    let acknowledged = || {
        vec![
            (head.clone(), next.clone()),
            (bit.clone(), bit.term().negated()),
            (rn.clone(), 0.into()),
        ]
    };
    t(
        wait_ack,
        ack,
        Some(next.lt(&last).unwrap()),
        acknowledged(),
        send_file,
    );
    t(
        wait_ack,
        ack,
        Some(next.equals(&last).unwrap()),
        acknowledged(),
        send_complete,
    );
    t(
        wait_ack,
        tau1,
        Some(rn.term().lt(&max).unwrap()),
        vec![],
        send_file,
    );
    t(
        wait_ack,
        tau1,
        Some(rn.term().equals(&max).unwrap()),
        vec![],
        wait_timeout2,
    );
    t(wait_timeout2, tau2, None, vec![], send_complete);
    let done = || vec![(head.clone(), Term::from(0)), (rn.clone(), 0.into())];
    t(
        send_complete,
        ok,
        Some(head.term().equals(&last).unwrap()),
        done(),
        wait_req,
    );
    t(
        send_complete,
        dont_know,
        Some(next.equals(&last).unwrap()),
        done(),
        wait_req,
    );
    t(
        send_complete,
        not_ok,
        Some(next.lt(&last).unwrap()),
        done(),
        wait_req,
    );
    b.build().unwrap()
}

/// A random model with finite data, free of faults.
pub fn random_model(seed: u64) -> Iosts {
    random_model_with(seed, 0, |_, _| Vec::new())
}

/// The same with so many further outputs, so that it shows what the other may not allow.
pub fn random_model_and_more(seed: u64, more: usize) -> Iosts {
    random_model_with(seed, more, |_, _| Vec::new())
}

/// The same with quotients whose divisor may be 0.
pub fn random_faulty_model(seed: u64) -> Iosts {
    random_model_with(seed, 0, |x, c| {
        vec![
            Term::from(2).div(x).unwrap(),
            Term::from(1).modulo(c).unwrap(),
            x.div(x.minus(c).unwrap()).unwrap(),
        ]
    })
}

/// A random model over a variable and a constant, and terms made of the two.
fn random_model_with(seed: u64, more: usize, terms: fn(&Term, &Term) -> Vec<Term>) -> Iosts {
    let mut g = Random {
        rng: Xoshiro256PlusPlus::seed_from_u64(seed),
    };
    let mut b = Builder::new("Random");
    let small = || Sort::range(0, 2).unwrap();
    let c = b.constant("c", small(), HERE).unwrap();
    if g.below(2) == 0 {
        b.assume(c.term().ge(1).unwrap()).unwrap();
    }
    let initial = [Some(0.into()), Some(c.term()), None][g.below(3)].clone();
    let x = b.variable("x", small(), initial, HERE).unwrap();
    let y = b
        .variable("y", Sort::Bool, Some(false.into()), HERE)
        .unwrap();
    let actions = [
        b.gate(LabelKind::Input, "a", &[("p", small())], HERE)
            .unwrap(),
        b.gate(LabelKind::Input, "b", &[], HERE).unwrap(),
        b.gate(LabelKind::Output, "u", &[("q", small())], HERE)
            .unwrap(),
        b.gate(LabelKind::Output, "v", &[], HERE).unwrap(),
        b.gate(LabelKind::Internal, "t", &[], HERE).unwrap(),
        b.gate(LabelKind::Internal, "h", &[("r", small())], HERE)
            .unwrap(),
    ];
    let locations: Vec<_> = (0..3)
        .map(|i| b.location(&format!("L{i}"), i == 0, HERE).unwrap())
        .collect();
    for _ in 0..4 + g.below(6) {
        // Internal actions with parameters are the rarest.
        let a = actions[[0, 0, 1, 2, 2, 3, 4, 5][g.below(8)]];
        let mut ints = vec![x.term(), c.term()];
        ints.extend(b.params(a).iter().map(Var::term));
        ints.extend(terms(&x.term(), &c.term()));
        let guard = g.guard(&ints, &y.term(), 2);
        let mut assign = Vec::new();
        if g.below(2) == 0 {
            let sum = g.int(&ints).plus(g.int(&ints)).unwrap().modulo(3).unwrap();
            assign.push((x.clone(), sum));
        }
        if g.below(3) == 0 {
            assign.push((y.clone(), g.guard(&ints, &y.term(), 1)));
        }
        let (from, to) = (locations[g.below(3)], locations[g.below(3)]);
        b.transition(from, a, Some(guard), assign, to, HERE)
            .unwrap();
    }
    for _ in 0..more {
        let a = actions[2 + g.below(2)];
        let mut ints = vec![x.term(), c.term()];
        ints.extend(b.params(a).iter().map(Var::term));
        let guard = g.guard(&ints, &y.term(), 1);
        let (from, to) = (locations[g.below(3)], locations[g.below(3)]);
        b.transition(from, a, Some(guard), Vec::new(), to, HERE)
            .unwrap();
    }
    b.build().unwrap()
}

pub struct Random {
    pub rng: Xoshiro256PlusPlus,
}

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.rng.random_range(0..n)
    }

    fn int(&mut self, ints: &[Term]) -> Term {
        if self.below(3) == 0 {
            return iolite_expr::Int::from(self.below(3)).into();
        }
        ints[self.below(ints.len())].clone()
    }

    fn guard(&mut self, ints: &[Term], flag: &Term, depth: u32) -> Term {
        if depth > 0 && self.below(2) == 0 {
            let op = [Op::And, Op::Or][self.below(2)].clone();
            let args = vec![
                self.guard(ints, flag, depth - 1),
                self.guard(ints, flag, depth - 1),
            ];
            return Term::apply(op, args, HERE).unwrap();
        }
        match self.below(6) {
            0 => flag.clone(),
            1 => flag.negated(),
            2 => true.into(),
            n => {
                let op = [Op::Eq, Op::Lt, Op::Ne][n - 3].clone();
                Term::apply(op, vec![self.int(ints), self.int(ints)], HERE).unwrap()
            }
        }
    }
}

pub fn values(list: &[i64]) -> Vec<Value> {
    list.iter().map(|n| Value::from(*n)).collect()
}

/// A builder with the visible gates of a system and δ.
pub fn over(system: &Iosts, name: &str) -> Builder {
    let mut b = Builder::new(name);
    for (_, g) in system.gates().filter(|(_, g)| g.kind.is_visible()) {
        let params: Vec<(&str, Sort)> = g
            .params
            .iter()
            .map(|p| (&*p.name, p.sort.clone()))
            .collect();
        b.gate(g.kind, &g.name, &params, HERE).unwrap();
    }
    b.delta(HERE);
    b
}

/// "The sender is not quiescent between a request and a confirmation" [SYM04, fig. 4].
pub fn no_silence(system: &Iosts) -> (Iosts, Vec<LocationId>) {
    let mut b = over(system, "NoSilence");
    let idle = b.location("Idle", true, HERE).unwrap();
    let busy = b.location("Busy", false, HERE).unwrap();
    let bad = b.location("Violate", false, HERE).unwrap();
    let gates: Vec<_> = b
        .model()
        .gates()
        .map(|(id, g)| (id, g.kind, g.name.to_string()))
        .collect();
    for (id, kind, name) in gates {
        let (from_idle, from_busy) = match (kind, name.as_str()) {
            (LabelKind::Input, "REQ") => (busy, busy),
            (LabelKind::Output, "OK" | "NOT_OK" | "DONT_KNOW") => (idle, idle),
            (LabelKind::Delta, _) => (idle, bad),
            _ => (idle, busy),
        };
        b.transition(idle, id, None, vec![], from_idle, HERE)
            .unwrap();
        b.transition(busy, id, None, vec![], from_busy, HERE)
            .unwrap();
    }
    (b.build().unwrap(), vec![bad])
}

/// A random deterministic observer: at each location each gate splits by one condition, or does not
/// occur at all.
pub fn random_observer(system: &Iosts, seed: u64) -> (Iosts, Vec<LocationId>) {
    let mut g = Random {
        rng: Xoshiro256PlusPlus::seed_from_u64(seed ^ 0xabcd),
    };
    let mut b = over(system, "Watch");
    let n = b
        .variable("n", Sort::range(0, 2).unwrap(), Some(0.into()), HERE)
        .unwrap();
    let places: Vec<_> = (0..2)
        .map(|i| b.location(&format!("W{i}"), i == 0, HERE).unwrap())
        .collect();
    let bad = b.location("Bad", false, HERE).unwrap();
    let gates: Vec<_> = b
        .model()
        .gates()
        .map(|(id, gate)| (id, gate.kind))
        .collect();
    for &from in &places {
        for &(id, kind) in &gates {
            if g.below(6) == 0 {
                continue;
            }
            let limit = Term::from([0i64, 1, 2][g.below(3)]);
            let mut numbers: Vec<Term> = vec![n.term()];
            numbers.extend(b.params(id).iter().map(Var::term));
            let guard = numbers[g.below(numbers.len())].lt(&limit).unwrap();
            for guard in [guard.clone(), guard.negated()] {
                let enters = kind != LabelKind::Input && g.below(7) == 0;
                let to = if enters { bad } else { places[g.below(2)] };
                let next = n.term().plus(1).unwrap().modulo(3).unwrap();
                let assign = if g.below(2) == 0 {
                    vec![(n.clone(), next)]
                } else {
                    vec![]
                };
                b.transition(from, id, Some(guard), assign, to, HERE)
                    .unwrap();
            }
        }
    }
    (b.build().unwrap(), vec![bad])
}

/// All values of a small sort.
pub fn values_of(sort: &Sort) -> Vec<Value> {
    sort.values(10).expect("a small sort")
}
