//! The embedded solver: pure Rust, nothing to install.
//!
//! Boolean search with conflict learning over a simplex with branch and bound; the Omega test
//! decides what branch and bound does not, so that Booleans, enumerations, ranges and linear
//! integer arithmetic with division by constants are decided completely (within a budget of
//! steps). Products and unknown divisors are refined by lemmas, which is complete when one
//! factor has few values. Strings are solved by derivatives of regular expressions together with
//! their lengths, and concatenations over the cells of words of known lengths; arrays by reads. Everything else is answered with an honest "unknown".
//!
//! It was written and not taken from a crate: a lean build, models that are small numbers, one
//! regular-expression semantics with evaluation, and answers that depend on steps and not on
//! time are worth more here than a larger logic; that one is there by the SMT-LIB backend.

mod activity_heap;
mod cells;
mod interval;
mod lower;
mod lower_arithmetic;
mod lower_array;
mod lower_substring;
mod lower_sum;
mod lower_text;
mod nonlinear;
mod omega;
mod problem;
mod rational;
pub(crate) mod sat;
mod search;
mod simplex;
mod words;

use std::collections::BTreeMap;

use self::lower::{Low, Lowering};
use self::lower_array::{Arr, MAX_ARRAY};
use self::lower_sum::Sum;
use self::search::{Assignment, Budget, Outcome, Search};
use crate::solver::{Answer, Backend, Limits, Model};
use crate::term::{Kind, Op};
use crate::{Sort, SumSort, Term, Value, Var, VarId, qe};

/// The pure-Rust default backend.
#[derive(Debug, Default)]
pub struct Embedded {
    work: u64,
}

impl Embedded {
    /// A new one. It keeps nothing between queries but the count of its steps.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Backend for Embedded {
    fn name(&self) -> String {
        format!("embedded {}", env!("CARGO_PKG_VERSION"))
    }

    fn work(&self) -> u64 {
        self.work
    }

    fn check(&mut self, assertions: &[Term], vars: &[Var], limits: &Limits) -> Answer {
        let mut removal = QuantifierRemoval {
            fresh: 0,
            limits,
            work: 0,
        };
        let mut ready = Vec::new();
        for a in assertions {
            let rest = removal.without_quantifiers(a, true);
            self.work += std::mem::take(&mut removal.work);
            match rest {
                Some(t) => ready.push(t),
                None => return Answer::unknown("a quantifier could not be eliminated"),
            }
        }
        let budget = Budget::default().part(limits.per_mille(), limits.outer_deadline());
        match solve(&ready, vars, budget, true, &mut self.work) {
            // Perhaps only because arrays were kept short, and sums shallow.
            (Answer::Unsat, true) => match solve(&ready, vars, budget, false, &mut self.work) {
                (Answer::Unsat, _) => Answer::Unsat,
                (Answer::Unknown(why), _) => Answer::Unknown(why),
                (Answer::Sat(_), _) => {
                    let why = "needs an array longer than";
                    Answer::unknown(&format!("{why} {MAX_ARRAY}, or a value that nests deeply"))
                }
            },
            (Answer::Unknown(why), _) => {
                guess(assertions, vars).map_or(Answer::Unknown(why), Answer::Sat)
            }
            (answer, _) => answer,
        }
    }
}

/// Valuations that are tried where everything else gave up.
const GUESSES: u64 = 1_000;

/// Plain values that happen to satisfy everything: what is hard to decide in general often has an
/// easy model.
fn guess(assertions: &[Term], vars: &[Var]) -> Option<Model> {
    let columns: Vec<Vec<Value>> = vars.iter().map(|v| plain_values(&v.sort)).collect();
    // The plainest first; then at random (seeded), always the same one.
    let mut state = 0u64;
    for _ in 0..GUESSES {
        let mut draw = state;
        let row = vars.iter().zip(&columns).map(|(v, column)| {
            let value = column[(draw % column.len() as u64) as usize].clone();
            draw /= column.len() as u64;
            (v.id, value)
        });
        let model = Model::new(row.collect());
        if assertions.iter().all(|a| a.eval_bool(&model) == Ok(true)) {
            return Some(model);
        }
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
    }
    None
}

fn plain_values(sort: &Sort) -> Vec<Value> {
    let mut values = sort.values(16).unwrap_or_else(|| match sort {
        Sort::Int | Sort::Range(_) => [0, 1, -1, 2, -2, 3, 5, 10].map(Value::from).to_vec(),
        Sort::String => ["", "a", "ab", "0"].map(Value::str).to_vec(),
        _ => Vec::new(),
    });
    values.retain(|v| sort.contains(v));
    if values.is_empty() {
        values.push(sort.default_value());
    }
    values
}

/// Solves once; also says whether something was kept within bounds.
fn solve(
    assertions: &[Term],
    vars: &[Var],
    budget: Budget,
    bounded: bool,
    work: &mut u64,
) -> (Answer, bool) {
    let mut lowering = Lowering::new(bounded);
    let lowered = vars
        .iter()
        .try_for_each(|v| lowering.var(v).map(|_| ()))
        .and_then(|()| assertions.iter().try_for_each(|a| lowering.assert(a)))
        .and_then(|()| lowering.agree());
    if let Err(unsupported) = lowered {
        *work += lowering.work();
        return (Answer::unknown(unsupported.0), false);
    }
    let has_arrays = !lowering.arrays.is_empty() || lowering.cut;
    let outcome = Search::new(&mut lowering.problem, budget).run(work);
    *work += lowering.work();
    let answer = match outcome {
        Outcome::Unsat => Answer::Unsat,
        Outcome::Unknown(why) => Answer::unknown(why),
        Outcome::Sat(_) if !bounded && has_arrays => Answer::Sat(Model::default()),
        Outcome::Sat(assignment) => {
            let mut values: BTreeMap<VarId, Value> = BTreeMap::new();
            for v in vars {
                if let Some(low) = lowering.vars.get(&v.id) {
                    values.insert(v.id, value(&lowering, &assignment, low, &v.sort));
                }
            }
            Answer::Sat(Model::new(values))
        }
    };
    (answer, has_arrays)
}

fn value(lowering: &Lowering, model: &Assignment, low: &Low, sort: &Sort) -> Value {
    match (low, sort) {
        (Low::Bool(l), _) => Value::Bool(model.bool(*l)),
        (Low::Int(l), Sort::Enum(e)) => {
            let last = e.variants.len() as u32 - 1;
            let i = model.int(l).to_usize().map_or(0, |i| i as u32);
            Value::Enum(e.clone(), i.min(last))
        }
        (Low::Int(l), Sort::Decimal(scale)) => Value::Decimal(model.int(l), *scale),
        (Low::Int(l), _) => Value::Int(model.int(l)),
        (Low::Str(s), _) => Value::str(model.text(s)),
        (Low::Record(fields), Sort::Record(r)) => Value::Record(
            r.clone(),
            fields
                .iter()
                .zip(&r.fields)
                .map(|(l, (_, s))| value(lowering, model, l, s))
                .collect(),
        ),
        (Low::Sum(s), Sort::Sum(sort)) => sum_value(lowering, model, s, sort),
        (Low::Array(a), Sort::Array(element)) => match &**a {
            Arr::Var(v) => {
                let array = &lowering.arrays[*v];
                let length = model
                    .int(&problem::Lin::atom(array.length))
                    .to_usize()
                    .unwrap_or(0);
                let mut items = vec![element.default_value(); length.min(MAX_ARRAY as usize)];
                for (i, low) in &array.reads {
                    if let Some(slot) = model.int(i).to_usize().and_then(|i| items.get_mut(i)) {
                        *slot = value(lowering, model, low, element);
                    }
                }
                Value::array(items)
            }
            _ => sort.default_value(),
        },
        _ => sort.default_value(),
    }
}

fn sum_value(lowering: &Lowering, model: &Assignment, sum: &Sum, sort: &SumSort) -> Value {
    let of = |low: &Low, sort: &Sort| value(lowering, model, low, sort);
    let (variant, fields) = match sum {
        Sum::Known(known) => return Value::Sum(known.clone()),
        Sum::Ite(c, a, b) => {
            let taken = if model.bool(*c) { a } else { b };
            return sum_value(lowering, model, taken, sort);
        }
        Sum::Made(_, variant, fields, _) => {
            let sorts = sort.field_sorts(*variant);
            let fields = fields.iter().zip(&sorts).map(|(l, s)| of(l, s));
            (*variant, fields.collect())
        }
        Sum::Var(v) => {
            let var = &lowering.sums[*v];
            let tag = model.int(&problem::Lin::atom(var.tag));
            let variant = tag.to_usize().map_or(0, |i| i as u32);
            let fields = sort.field_sorts(variant).into_iter().enumerate();
            let read = |i: usize| {
                let at = (variant, i as u32);
                var.fields.iter().find(|(known, _)| *known == at)
            };
            let fields = fields.map(|(i, s)| match read(i) {
                Some((_, low)) => of(low, &s),
                None => s.default_value(),
            });
            (variant, fields.collect())
        }
    };
    Value::sum_of(sort.clone(), variant, fields)
        .unwrap_or_else(|| Sort::Sum(sort.clone()).default_value())
}

/// Variables that stand for what a quantifier claims to exist.
const SKOLEM_SPACE: u8 = 254;

/// Takes quantifiers out of terms.
struct QuantifierRemoval<'a> {
    fresh: usize,
    limits: &'a Limits,
    /// What questions of its own came to.
    work: u64,
}

impl QuantifierRemoval<'_> {
    /// The term without quantifiers, satisfiable when the original is and with the same models on
    /// the original's variables: positive ones name their witness, negative ones are eliminated.
    fn without_quantifiers(&mut self, term: &Term, positive: bool) -> Option<Term> {
        let Kind::App(op, args) = term.kind() else {
            return Some(term.clone());
        };
        match op {
            Op::Exists(vars) if positive => {
                let mut map = crate::Substitution::new();
                for v in vars.iter() {
                    self.fresh += 1;
                    let id = VarId::new(SKOLEM_SPACE, self.fresh);
                    map.insert(v.id, Var { id, ..v.clone() }.term());
                }
                let body = args[0].substitute(&map).ok()?;
                // The witness must make the body defined, not only "true" in the solver's logic.
                let body = Term::all([body.defined(), body]).simplify();
                self.without_quantifiers(&body, true)
            }
            Op::Exists(vars) => {
                qe::eliminate(vars, &args[0]).or_else(|| self.decided(term, vars, &args[0]))
            }
            Op::Not => Some(self.without_quantifiers(&args[0], !positive)?.negated()),
            Op::And | Op::Or => {
                let parts: Option<Vec<Term>> = args
                    .iter()
                    .map(|a| self.without_quantifiers(a, positive))
                    .collect();
                Some(if *op == Op::And {
                    Term::all(parts?)
                } else {
                    Term::any(parts?)
                })
            }
            Op::Implies => {
                let a = self.without_quantifiers(&args[0], !positive)?;
                let b = self.without_quantifiers(&args[1], positive)?;
                Some(Term::any([a.negated(), b]))
            }
            // Anywhere else both polarities count; the lowering refuses what is left.
            _ => Some(term.clone()),
        }
    }

    /// The truth of `∃ vars: body` where nothing else is free in it, as a question of its own: what
    /// elimination cannot say of all values, search often says of one.
    fn decided(&mut self, term: &Term, vars: &[Var], body: &Term) -> Option<Term> {
        if !term.free_vars().is_empty() {
            return None;
        }
        let body = Term::all([body.defined(), body.clone()]).simplify();
        let mut other = Embedded::new();
        let answer = other.check(std::slice::from_ref(&body), vars, self.limits);
        self.work += other.work;
        match answer {
            Answer::Unsat => Some(false.into()),
            Answer::Sat(mut witness) => {
                for v in vars {
                    if witness.value(v.id).is_none() {
                        witness.insert(v.id, v.sort.default_value());
                    }
                }
                // A model is believed where it satisfies the body.
                (body.eval_bool(&witness) == Ok(true)).then(|| true.into())
            }
            Answer::Unknown(_) => None,
        }
    }
}
