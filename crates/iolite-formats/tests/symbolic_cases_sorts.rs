//! Test cases over variants, functions that call themselves, decimals, sets, maps and quantifiers: what was
//! written and read again, as JSON and as `.iol`, does the same in every state as what it was made of.

use iolite_derive::{Criterion, ModelRef, SymbolicTestCase, Verdict};
use iolite_expr::{Int, Sort, Term, Value};
use iolite_formats::WriteError;
use iolite_formats::symbolic_test_case::{iol, json, ttcn3};
use iolite_lang::{diagnostic, lower_data, lower_data_observer, parse_and_check};
use iolite_sts::{Iosts, LocationId, State};

const DECLARED: &str = "
enum Colour { red, green }
type Item = Nothing | Coin(worth: 0..2, of: Colour) | Pair(left: Item, right: Item) | Box(of: Colour, held: Bag)
type Bag = Empty | Bagged(item: Item, tag: Tag)
record Tag { text: string, seal: Colour }
record Slot { item: Item, at: 0..2 }
fn worth(i: Item): int = match i {
  Nothing => 0, Coin(w, _) => w, Pair(l, r) => worth(l) + worth(r), Box(_, b) => inside(b) }
fn inside(b: Bag): int = match b { Empty => 0, Bagged(i, _) => 1 + worth(i) }
fn leftmost(i: Item): Item = if i is Pair then leftmost(i.left) else i
fn share(i: Item, n: int): int = if i is Pair then share(i.left, n - 1) + 6 / n else 6 / n
fn even(n: int): bool = if n <= 0 then n == 0 else odd(n - 1)
fn odd(n: int): bool = if n <= 0 then false else even(n - 1)
";

const GUARDS: [&str; 24] = [
    "worth(i) > n",
    "inside(b) == worth(j)",
    "leftmost(i) == j",
    "leftmost(j) is Coin && leftmost(j).worth == n",
    "share(j, n) < 5",
    "even(worth(j)) || odd(n)",
    "j is Box && j.of == green",
    "i.of == red",
    "j == Coin(1, red) || i == Pair(Nothing, Coin(2, green))",
    "b is Bagged && b.tag.text == \"x\" && b.item == i",
    "d + 0.25 > 1.5",
    "d * 1.5 == 0.75 || d / 2 < -0.50",
    "units(d) % 3 == 1",
    "round(d, 1) == 0.3 || floor(d) == n",
    "n in s",
    "s == {0, 2} || len(s) > n",
    "subset(s, insert({1}, n))",
    "union(s, keys(m)) != difference(s, {n})",
    "n in m && m[n] > d",
    "m[n] == 0.50",
    "forall x in s: x != n && x in m",
    "exists k in m: m[k] < d && (exists x in s: x == k)",
    "forall t in q: t.text != \"x\" || t.seal == red",
    "slot.at == n && slot.item == j",
];

const EFFECTS: [&str; 16] = [
    "i := Pair(i, j)",
    "i := leftmost(j)",
    "i := if even(n) then Coin(n, red) else Box(green, b)",
    "b := Bagged(j, Tag { text = \"x\", seal = green })",
    "b := Empty",
    "d := d + 0.05",
    "d := decimal(worth(j), 2)",
    "d := m[n]",
    "s := insert(s, n)",
    "s := intersection(remove(s, n), keys(m))",
    "s := {}",
    "m[n] := d",
    "m := remove(m, n)",
    "m := {n: 0.50, 1: d}",
    "q := q ++ [Tag { text = \"\", seal = red }]",
    "slot.item := j, slot.at := n",
];

/// Numbers that look chosen at random, the same in every run.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    fn value(&mut self, sort: &Sort, depth: usize) -> Value {
        match sort {
            Sort::Int => Value::int([-1, 0, 1, 2, 3][self.below(5)]),
            Sort::String => Value::str(["", "x", "é\""][self.below(3)]),
            Sort::Decimal(places) => {
                let units = [-150, -5, 0, 25, 50, 125, 300][self.below(7)];
                Value::Decimal(Int::from(units), *places)
            }
            Sort::Array(element) => {
                let n = self.below(3);
                Value::array((0..n).map(|_| self.value(element, depth)).collect())
            }
            Sort::Set(element) => {
                let n = self.below(3);
                Value::set((0..n).map(|_| self.value(element, depth)).collect())
            }
            Sort::Map(of) => {
                let n = self.below(3);
                let pair = |_| (self.value(&of.0, depth), self.value(&of.1, depth));
                Value::map((0..n).map(pair).collect())
            }
            Sort::Record(r) => {
                let fields = r.fields.iter().map(|(_, s)| self.value(s, depth));
                let fields = fields.collect();
                Value::record(sort, fields).expect("fields of their sorts")
            }
            Sort::Sum(sum) => {
                let variant = match depth {
                    0 => sum.plainest(),
                    _ => self.below(sum.variants().len()) as u32,
                };
                let sorts = sum.field_sorts(variant);
                let fields = sorts.iter().map(|s| self.value(s, depth.saturating_sub(1)));
                Value::sum(sum, variant, fields.collect()).expect("fields of their sorts")
            }
            finite => {
                let all = finite.values(10).expect("few values");
                all[self.below(all.len())].clone()
            }
        }
    }
}

/// A system as a test case would have it: an observer of itself, with δ.
fn text(random: &mut Lcg) -> String {
    let mut guard = || GUARDS[random.below(GUARDS.len())];
    let guards: Vec<&str> = (0..6).map(|_| guard()).collect();
    let mut effect = || EFFECTS[random.below(EFFECTS.len())];
    let effects: Vec<&str> = (0..3).map(|_| effect()).collect();
    format!(
        "{DECLARED}
         system S {{
           const k: set<0..2>
           assume forall x in k: x < 2
           var i: Item = Pair(Coin(1, red), Nothing), b: Bag = Empty, d: decimal(2) = 0.25
           var s: set<0..2> = {{1}}, m: map<0..2, decimal(2)> = {{1: 0.50}}, q: Tag[] = []
           var slot: Slot = Slot {{ item = Box(red, Empty), at = 0 }}
           input a(n: 0..2, j: Item)
           output c(n: 0..2, j: Item), e(n: 0..2, j: Item)
           initial state P {{
             ?a(n, j) [{} && {}] / {} -> Q
             !c(n, j) [{} || !({})] / {} -> P
           }}
           state Q {{
             !c(n, j) [n in k => {}] / {} -> P
             !e(n, j) [{}] -> Bad
           }}
           state Bad
         }}",
        guards[0],
        guards[1],
        effects[0],
        guards[2],
        guards[3],
        effects[1],
        guards[4],
        effects[2],
        guards[5]
    )
}

fn case_of(system: &Iosts) -> SymbolicTestCase {
    let verdict = |(_, l): (LocationId, &iolite_sts::Location)| {
        (&*l.name == "Bad").then_some(Verdict::ViolateFail)
    };
    let verdicts = system.locations().map(verdict).collect();
    let conditions = vec![Term::from(true); system.locations().len()];
    let (program, model) = (system.mirrored(), ModelRef::from("m.iol#S"));
    SymbolicTestCase::new("W", Criterion::Safety, model, program, verdicts, conditions)
        .expect("a test case")
}

/// What firing the transitions of a location comes to: names of targets with values, or faults.
fn fired(
    model: &Iosts,
    location: &str,
    values: &[Value],
    k: &Value,
    args: &[Value],
) -> Vec<String> {
    let location = model.find_location(location).expect("of this name");
    let state = State {
        location,
        values: values.into(),
    };
    let constants: Vec<Value> = model.constants().iter().map(|_| k.clone()).collect();
    let fire = |&t: &_| match model.fire(&state, &constants, t, args) {
        Ok(Some(next)) => {
            let name = &model.location(next.location).name;
            format!("{name} {:?}", next.values)
        }
        Ok(None) => "not enabled".to_owned(),
        Err(e) => format!(
            "fault {}",
            e.to_string().split(':').next().unwrap_or_default()
        ),
    };
    model.outgoing(location).iter().map(fire).collect()
}

#[test]
fn what_is_read_again_does_the_same_in_every_state() {
    let mut random = Lcg(7);
    let (mut taken, mut faults, mut exported) = (0, 0, 0);
    for round in 0..60 {
        let text = text(&mut random);
        let (file, found) = parse_and_check(&text);
        assert!(!diagnostic::has_errors(&found), "{found:?}\n{text}");
        let system = lower_data(&file, "S").expect("a system");
        let case = case_of(&system);
        let written = json::write(&case).expect("every term has a form");
        let read = json::read(&written).expect("what was written");
        assert_eq!(json::write(&read).expect("again"), written, "{text}");
        let export = iol::write(&case).expect("every term has a form");
        let (file, found) = parse_and_check(&export);
        assert!(!diagnostic::has_errors(&found), "{found:?}\n{export}");
        let observer = lower_data_observer(&file, "W", &system);
        let observer = observer.unwrap_or_else(|e| panic!("{e:?}\n{export}")).iosts;
        exported += 1;
        for _ in 0..60 {
            let data = system.variables().iter();
            let values: Vec<Value> = data.map(|v| random.value(&v.var.sort, 3)).collect();
            let k = random.value(&system.constants()[0].var.sort, 0);
            let (_, gate) = system.gates().next().expect("a gate");
            let args: Vec<Value> = gate
                .params
                .iter()
                .map(|p| random.value(&p.sort, 2))
                .collect();
            for location in ["P", "Q"] {
                let own = fired(case.program(), location, &values, &k, &args);
                let again = fired(read.program(), location, &values, &k, &args);
                assert_eq!(own, again, "round {round}, {values:?} {args:?}\n{text}");
                let other = fired(&observer, location, &values, &k, &args);
                // A guard may have a value where the language asks in another order; what is taken is the same.
                assert_eq!(own, other, "round {round}, {values:?} {args:?}\n{export}");
                taken += own
                    .iter()
                    .filter(|s| s.starts_with(['P', 'Q', 'B']))
                    .count();
                faults += own.iter().filter(|s| s.starts_with("fault")).count();
            }
        }
        // Calls have no counterpart in TTCN-3; the rest has.
        match ttcn3::write(&case) {
            Ok(module) => assert!(module.contains("type union U_Item"), "{module}"),
            Err(WriteError::Term { format, reason, .. }) => {
                assert_eq!(format, "TTCN-3");
                assert!(reason.contains("calls itself"), "{reason}");
            }
            Err(e) => panic!("{e}"),
        }
    }
    assert!(
        taken > 1_000 && faults > 100 && exported == 60,
        "{taken} {faults} {exported}"
    );
}

#[test]
fn variants_are_unions_in_ttcn3() {
    let text = "type Shape = Dot | Circle(r: int, at: Point)  record Point { x: int, y: int }
        system S { var p: decimal(1) = 0.5, seen: set<int> = {}
          input draw(s: Shape)  output area(n: int)
          initial state P { ?draw(s) [s is Circle && s.at.x > 0] / seen := insert(seen, s.r) -> Q }
          state Q { !area(n) [n in seen && p > 0.4 || n == len(seen)] -> Bad }
          state Bad }";
    let (file, found) = parse_and_check(text);
    assert!(!diagnostic::has_errors(&found), "{found:?}");
    let case = case_of(&lower_data(&file, "S").expect("a system"));
    let module = ttcn3::write(&case).expect("no calls");
    for line in [
        "type record U_Shape_Circle { integer r, R_Point at }",
        "type union U_Shape { U_Shape_Dot Dot, U_Shape_Circle Circle }",
        "ischosen(m0.s.Circle)",
        "m0.s.Circle.at.x",
        "var integer p := 5;",
        "var set of integer seen := {  };",
        "f_insert(seen, m0.s.Circle.r)",
    ] {
        assert!(module.contains(line), "{line}\n{module}");
    }
}

#[test]
fn broken_sorts_and_functions_are_told() {
    let good = r#"{ "format": "iolite-symbolic-test-case", "version": 1, "name": "W", "criterion": "safety",
        "model": { "path": "m.iol" },
        "sorts": [SORTS], "functions": [FUNCTIONS], "variables": [["v", SORT]],
        "stimuli": [], "observations": [], "locations": [{ "name": "P" }], "transitions": [] }"#;
    let list = r#"{"sums": [{"name": "List", "variants": [["Nil"], ["Cons", ["h", "int"], ["t", {"member": 0}]]]}]}"#;
    let of = |sorts: &str, functions: &str, sort: &str| {
        let text = good.replace("SORTS", sorts).replace("FUNCTIONS", functions);
        json::read(&text.replace("SORT", sort))
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    let length = r#"[{"name": "f", "params": [["l", "List"]], "result": "int",
        "body": ["if", ["is", "Nil", "l"], 0, ["+", 1, ["call", 0, "f", ["get", "Cons", 1, "l"]]]]}]"#;
    of(list, length, r#""List""#).expect("a recursive function over a list");
    for (sorts, functions, sort, said) in [
        (
            r#"{"sums": [{"name": "L", "variants": [["C", ["t", {"member": 1}]]]}]}"#,
            "",
            "\"int\"",
            "none of the sorts",
        ),
        (
            r#"{"sums": [{"name": "L", "variants": [["C", ["t", {"member": 0}]]]}]}"#,
            "",
            "\"int\"",
            "no finite value",
        ),
        ("", "", r#"{"member": 0}"#, "none of the sorts"),
        ("", "", r#"{"decimal": 0}"#, "no number of places"),
        ("", "", r#"{"set": {"set": "int"}}"#, "contain no sets"),
        ("", "", r#"{"map": ["int"]}"#, "no pair"),
        ("", "", r#"{"set": "int", "map": 1}"#, "no sort"),
        (
            list,
            &length.replace("\"Nil\"", "\"Nul\""),
            "\"int\"",
            "no variant of List",
        ),
        (
            list,
            &length.replace("\"call\", 0", "\"call\", 1"),
            "\"int\"",
            "not declared in group 1",
        ),
        (
            list,
            &length.replace("\"call\", 0, \"f\"", "\"call\", 0, \"f is defined\""),
            "\"int\"",
            "not declared",
        ),
        (
            list,
            &length.replace("\"Cons\", 1", "\"Cons\", 2"),
            "\"int\"",
            "f: ",
        ),
        (
            list,
            &length.replace("\"result\": \"int\"", "\"result\": \"bool\""),
            "\"int\"",
            "f: ",
        ),
    ] {
        let error = of(sorts, functions, sort).expect_err(said);
        assert!(error.contains(said), "{said}: {error}");
    }
}
