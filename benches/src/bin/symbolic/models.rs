//! The models whose steps are counted, after examples of TorXakis but written anew, and systems that
//! conform to them.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use iolite_derive::{Action, ActionId, Alphabet};
use iolite_exec::SystemUnderTest;
use iolite_expr::{Int, Sequence, Sort, Value};
use iolite_sts::{Iosts, LabelKind};

const POINT: &str = "\
record Spot { x: int, y: int }
fn isProper(p: Spot): bool = p.x != 0 && p.y != 0
system Point {
  var last: Spot = Spot { x = 1, y = 1 }
  input set(p: Spot)
  output shown(q: Spot)
  initial state Waits { ?set(p) [isProper(p)] / last := p -> Shows }
  state Shows { !shown(q) [isProper(q) && (q.x == last.x || q.y == last.y)] -> Waits }
}
";

const ADDER: &str = "\
type Operation = Plus(a: int, b: int) | Minus(c: int, d: int)
fn fits(n: int): bool = -2147483648 <= n && n <= 2147483647
fn value(o: Operation): int = match o { Plus(a, b) => a + b, Minus(c, d) => c - d }
fn isFine(o: Operation): bool = match o { Plus(a, b) => fits(a) && fits(b), Minus(c, d) => fits(c) && fits(d) }
system Adder {
  var answer: int = 0
  input act(o: Operation)
  output result(n: int)
  initial state Waits {
    ?act(o) [o is Plus && isFine(o) && fits(value(o))] / answer := value(o) -> Answers
    ?act(o) [o is Minus && isFine(o) && fits(value(o))] / answer := value(o) -> Answers
  }
  state Answers { !result(n) [n == answer] -> Waits }
}
system Adder3 = (rename act -> act1, result -> result1 in Adder)
  ||| (rename act -> act2, result -> result2 in Adder)
  ||| (rename act -> act3, result -> result3 in Adder)
";

/// A model and a system that conforms to it.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) model: Arc<Iosts>,
    answer: fn(&mut Desk, &Action),
    /// What the system says before anything else.
    first: fn(&mut Desk),
}

impl Case {
    /// The system, with actions of this alphabet.
    pub(crate) fn system(&self, alphabet: &Alphabet) -> Conforming {
        Conforming {
            alphabet: alphabet.clone(),
            desk: Desk::new(Arc::clone(&self.model)),
            answer: self.answer,
            first: self.first,
            random: 1,
        }
    }
}

fn lowered(text: &str, system: &str) -> Arc<Iosts> {
    let (file, problems) = iolite_lang::parse(text);
    assert!(problems.is_empty(), "{system}: {problems:?}");
    Arc::new(iolite_lang::lower_data(&file, system).expect("it lowers"))
}

fn example_text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples")
        .join(path);
    std::fs::read_to_string(path).expect("the model is there")
}

fn example(path: &str, system: &str) -> Arc<Iosts> {
    lowered(&example_text(path), system)
}

/// Customers and orders that the desk with a bound keeps.
const KEPT: usize = 20;

/// The same desk with room for the latest customers and orders alone, so that what a step reads is as long at the
/// end of a run as at its begin.
fn bounded_orders() -> Arc<Iosts> {
    let mut text = example_text("orders/orders.iol");
    for (list, new, sort) in [("customers", "c", "Customer"), ("orders", "o", "Order")] {
        let grows = format!("{list} := [{new}] ++ {list}");
        assert!(text.contains(&grows), "the desk enters {list}");
        text = text.replace(
            &grows,
            &format!("{list} := latest{sort}([{new}] ++ {list})"),
        );
        text += &format!(
            "\nfn latest{sort}(a: {sort}[]): {sort}[] = if len(a) > {KEPT} then slice(a, 0, {KEPT}) else a\n"
        );
    }
    lowered(&text, "Orders")
}

/// All of them.
pub(crate) fn all() -> Vec<Case> {
    let silent: fn(&mut Desk) = |_| {};
    let case = |name, model, answer| Case {
        name,
        model,
        answer,
        first: silent,
    };
    vec![
        case("Point", lowered(POINT, "Point"), point),
        case("Adder", lowered(ADDER, "Adder"), adder),
        case("Adder3", lowered(ADDER, "Adder3"), adder),
        case("LuckyPeople", example("lucky/lucky.iol", "Lucky"), lucky),
        Case {
            first: Desk::report,
            ..case(
                "CustomersOrders",
                example("orders/orders.iol", "Orders"),
                orders,
            )
        },
        Case {
            first: Desk::report,
            ..case(
                "CustomersOrders, the latest 20",
                bounded_orders(),
                |desk, input| {
                    enter(desk, input, KEPT);
                },
            )
        },
        case(
            "DispatchProcess",
            example("dispatch/dispatch.iol", "Dispatch"),
            dispatch,
        ),
    ]
}

/// One input with `n` parameters, each greater than the one before.
pub(crate) fn ordered(n: usize) -> Case {
    let params: Vec<String> = (0..n).map(|i| format!("x{i}: int")).collect();
    let names: Vec<String> = (0..n).map(|i| format!("x{i}")).collect();
    let guard: Vec<String> = names
        .windows(2)
        .map(|w| format!("{} < {}", w[0], w[1]))
        .collect();
    let text = format!(
        "system Ordered {{\n input go({})\n output done\n initial state A {{ ?go({}) [{}] -> B }}\n state B {{ !done -> A }}\n}}\n",
        params.join(", "),
        names.join(", "),
        guard.join(" && ")
    );
    let name = match n {
        8 => "Ordered8",
        16 => "Ordered16",
        _ => "Ordered32",
    };
    Case {
        name,
        model: lowered(&text, "Ordered"),
        answer: |desk, _| desk.say("done", Vec::new()),
        first: |_| {},
    }
}

/// What the systems remember and say.
pub(crate) struct Desk {
    model: Arc<Iosts>,
    out: VecDeque<Action>,
    /// Of `lucky`: who came last, and how many of the sex in a row.
    before: u32,
    row: u32,
    /// Of `orders`, the latest first.
    customers: Sequence,
    orders: Sequence,
    /// Of `dispatch`: which processors work.
    busy: [bool; 4],
    waiting: VecDeque<Value>,
}

impl Desk {
    fn new(model: Arc<Iosts>) -> Self {
        Self {
            model,
            out: VecDeque::new(),
            before: 0,
            row: 0,
            customers: Sequence::default(),
            orders: Sequence::default(),
            busy: [false; 4],
            waiting: VecDeque::new(),
        }
    }

    fn say(&mut self, name: &str, args: Vec<Value>) {
        self.out.push_back(Action {
            kind: LabelKind::Output,
            name: name.into(),
            args,
        });
    }

    /// The sort of the parameter of an output.
    fn sort(&self, output: &str) -> Sort {
        let gate = self
            .model
            .find_gate(LabelKind::Output, output)
            .expect("declared");
        self.model.gate(gate).params[0].sort.clone()
    }

    fn report(&mut self) {
        let lists = vec![
            Value::Array(self.customers.clone()),
            Value::Array(self.orders.clone()),
        ];
        // Built without a look at each item: what the system does is not what is measured.
        let Sort::Record(sort) = self.sort("report") else {
            panic!("a report is a record")
        };
        self.say("report", vec![Value::Record(sort, lists.into())]);
    }

    /// Idle processors take what waits; an answer is there at once, and given when the system likes.
    fn work(&mut self) {
        while let (Some(free), false) = (self.busy.iter().position(|b| !b), self.waiting.is_empty())
        {
            let Some(job) = self.waiting.pop_front() else {
                return;
            };
            self.busy[free] = true;
            let fields = fields(&job);
            let number = |i: usize| fields[i].as_int().expect("a number");
            let done = vec![
                fields[0].clone(),
                Value::from(free as i64 + 1),
                Value::Int(number(2).gcd(number(3))),
            ];
            let Sort::Sum(outcome) = self.sort("finish") else {
                panic!("an outcome is a sum")
            };
            let done = Value::sum(&outcome, 0, done).expect("an outcome");
            self.say("finish", vec![done]);
        }
    }
}

fn fields(record: &Value) -> Vec<Value> {
    match record {
        Value::Record(_, fields) => fields.to_vec(),
        other => panic!("not a record: {other}"),
    }
}

fn point(desk: &mut Desk, input: &Action) {
    desk.say("shown", input.args.clone());
}

fn adder(desk: &mut Desk, input: &Action) {
    let Value::Sum(operation) = &input.args[0] else {
        panic!("an operation is a sum")
    };
    let int = |i: usize| operation.fields()[i].as_int().expect("a number");
    let value = match operation.variant() {
        0 => int(0) + int(1),
        _ => int(0) - int(1),
    };
    let name = input.name.replace("act", "result");
    desk.say(&name, vec![Value::Int(value)]);
}

fn lucky(desk: &mut Desk, input: &Action) {
    let person = fields(&input.args[0]);
    let sex = match &person[0] {
        Value::Sum(sex) => sex.variant(),
        Value::Enum(_, sex) => *sex,
        other => panic!("not a sex: {other}"),
    };
    let initial = |i: usize| person[i].as_str().and_then(|s| s.chars().next());
    let lucky =
        sex != desk.before && desk.row >= 5 || initial(1) == initial(2) || person[3] == person[4];
    desk.row = if sex == desk.before { desk.row + 1 } else { 1 };
    desk.before = sex;
    desk.say("lucky", vec![Value::Bool(lucky)]);
}

fn orders(desk: &mut Desk, input: &Action) {
    enter(desk, input, usize::MAX);
}

/// Enters a customer or an order, and forgets those that there is no room for.
fn enter(desk: &mut Desk, input: &Action, most: usize) {
    let list = if &*input.name == "customer" {
        &mut desk.customers
    } else {
        &mut desk.orders
    };
    *list = Sequence::from(vec![input.args[0].clone()]).followed_by(list);
    if list.len() > most {
        *list = list.iter().take(most).cloned().collect();
    }
    desk.report();
}

fn dispatch(desk: &mut Desk, input: &Action) {
    desk.waiting.push_back(input.args[0].clone());
    desk.work();
}

/// A system that answers soon, but not always before the next stimulus.
pub(crate) struct Conforming {
    alphabet: Alphabet,
    desk: Desk,
    answer: fn(&mut Desk, &Action),
    first: fn(&mut Desk),
    random: u64,
}

impl SystemUnderTest<ActionId> for Conforming {
    fn reset(&mut self) {
        self.desk = Desk::new(Arc::clone(&self.desk.model));
        (self.first)(&mut self.desk);
        self.random = 1;
    }

    fn stimulate(&mut self, stimulus: &ActionId) {
        let input = self.alphabet.action(*stimulus).expect("an action");
        (self.answer)(&mut self.desk, &input);
    }

    fn output(&mut self, patience: Duration) -> Option<ActionId> {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        // It is never far behind: which of its changes a report is about would be anybody's guess.
        if patience.is_zero() && self.random >> 62 == 0 && self.desk.out.len() < 4 {
            return None;
        }
        let mut output = self.desk.out.pop_front()?;
        if &*output.name == "finish" {
            // Any of the processors that work may be the first to end.
            let at = (self.random >> 40) as usize % (self.desk.out.len() + 1);
            if at > 0 {
                std::mem::swap(&mut output, &mut self.desk.out[at - 1]);
            }
            if let Value::Sum(done) = &output.args[0] {
                let processor = done.fields()[1].as_int().and_then(Int::to_i64);
                self.desk.busy[processor.expect("a number") as usize - 1] = false;
            }
            self.desk.work();
        }
        Some(self.alphabet.intern(output))
    }
}
