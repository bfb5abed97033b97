//! Arrays of processes and values in processes: each is what its expansion by hand is.

mod common;

use common::bisimilar;
use iolite_expr::Solver;
use iolite_lang::{
    codes, diagnostic, lower_lazily, lower_property, lower_system, parse_and_check, systems,
    unfold_data,
};
use iolite_lts::{LabelKind, Lts, LtsBuilder, explore};
use iolite_sts::UnfoldBudget;
use proptest::prelude::*;

const PROCESSES: &str = "\
process P(n: int) = a(n); (b; P(n = n % 2) [] [n > 1] -> ?c(n - 1); stop)
process Q(n: int, m: 0..9) = [n < m] -> !a(n, m); Q(n = n + 1, m = m) [] [n >= m] -> b; stop
system M { input \"c(1)\", b  output a  initial state s { ?b -> t ?\"c(1)\" -> s } state t { !a -> s } }
";

fn lower(text: &str, name: &str) -> Lts {
    let (file, found) = parse_and_check(text);
    assert!(!diagnostic::has_errors(&found), "{text}\n{found:?}");
    lower_system(&file, name, 20_000).unwrap_or_else(|d| panic!("{text}\n{d:?}"))
}

/// A behaviour in which `@` stands for the index, and `#` for the index of an `each` inside.
fn body(depth: u32, index: &'static str) -> BoxedStrategy<String> {
    let action = prop::sample::select(vec![
        "a(@)",
        "?a(@)",
        "!a(@ + 1)",
        "b",
        "?c(2 * @, true)",
        "i",
        "a(0)",
        "!a(1)",
    ]);
    let leaf = prop_oneof![
        3 => Just("stop".to_owned()),
        1 => Just("P(n = @)".to_owned()),
        1 => Just("Q(n = @, m = 2)".to_owned()),
        1 => Just("M".to_owned()),
        2 => (action.clone(), action.clone()).prop_map(|(a, b)| format!("{a}; {b}; stop")),
    ];
    leaf.prop_recursive(depth, 8, 2, move |inner| {
        let action = action.clone();
        prop_oneof![
            3 => (action, inner.clone()).prop_map(|(a, b)| format!("{a}; ({b})")),
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(({a}) [] ({b}))")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(({a}) |[a(@)]| ({b}))")),
            1 => inner.clone().prop_map(|b| format!("[@ > 0] -> ({b})")),
            1 => inner.clone().prop_map(|b| format!("(hide a in ({b}))")),
            1 => inner.clone().prop_map(|b| format!("(hide a(@) in ({b}))")),
            1 => inner.clone().prop_map(|b| format!("(rename b -> c(@) in ({b}))")),
            1 => inner.clone().prop_map(|b| format!("(rename a -> d(@, 7), c(2, true) -> e in ({b}))")),
            1 => inner.clone().prop_map(|b| format!("m(x: 0..1); n(x + @); ({b})")),
        ]
    })
    .prop_map(move |text| text.replace('@', index))
    .boxed()
}

fn operator() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["|||", "||", "|[a]|", "|[b, c]|", "|[a(1)]|"])
}

/// The instances of a text, side by side.
fn expansion(text: &str, index: char, range: std::ops::RangeInclusive<i32>, sync: &str) -> String {
    let instances: Vec<_> = range
        .map(|k| format!("({})", text.replace(index, &format!("({k})"))))
        .collect();
    format!("({})", instances.join(&format!(" {sync} ")))
}

/// The same system by the rules, and by the views where they are asked.
fn same(text: &str, left: &str, right: &str) -> Result<(), TestCaseError> {
    let (file, found) = parse_and_check(text);
    prop_assert!(!diagnostic::has_errors(&found), "{text}\n{found:?}");
    let (Ok(a), Ok(b)) = (
        lower_system(&file, left, 300),
        lower_system(&file, right, 300),
    ) else {
        // A directed action may meet a plain one, and both refuse that; else both are too large.
        let (a, b) = (
            lower_system(&file, left, 300),
            lower_system(&file, right, 300),
        );
        let codes = |r: Result<Lts, Vec<iolite_lang::Diagnostic>>| r.map_err(|d| d[0].code).err();
        prop_assert_eq!(codes(a), codes(b), "{}", text);
        return Ok(());
    };
    prop_assert!(bisimilar(&a, &b), "{text}");
    if let Ok(view) = lower_lazily(&file, left, 300) {
        let views = explore(&view, 4000).expect("as finite as by the rules");
        prop_assert!(bisimilar(&a, &views), "views of {text}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn each_is_its_expansion(text in body(3, "@"), first in -1..2i32, more in 0..3i32, sync in operator()) {
        let last = first + more;
        let expanded = expansion(&text, '@', first..=last, sync);
        let each = text.replace('@', "k");
        let text = format!(
            "{PROCESSES}system Each = each k in {first}..{last} {sync} ({each})\nsystem Written = {expanded}"
        );
        same(&text, "Each", "Written")?;
    }

    #[test]
    fn each_in_each_is_its_expansion(
        inner in body(2, "#"), outer in body(1, "@"), syncs in (operator(), operator()),
    ) {
        let text = format!("hide b in (({inner}) {} ({outer}))", syncs.1);
        // The range of the inner one depends on the index of the outer one.
        let written: Vec<_> = (0..=1)
            .map(|k| {
                let one = text.replace('@', &format!("({k})"));
                format!("({})", expansion(&one, '#', k..=1, syncs.1))
            })
            .collect();
        let written = written.join(&format!(" {} ", syncs.0));
        let each = text.replace('@', "k").replace('#', "j");
        let text = format!(
            "{PROCESSES}system Each = each k in 0..1 {} (each j in k..1 {} ({each}))\nsystem Written = {written}",
            syncs.0, syncs.1
        );
        same(&text, "Each", "Written")?;
    }

    #[test]
    fn a_variable_is_the_choice_of_its_values(text in body(3, "@")) {
        let choice: Vec<_> = (0..=2)
            .map(|k| format!("m({k}, true); ({})", text.replace('@', &format!("({k})"))))
            .collect();
        let variable = text.replace('@', "v");
        let text = format!(
            "{PROCESSES}system Taken = m(v: 0..2, true); ({variable})\nsystem Written = {}",
            choice.join(" [] ")
        );
        same(&text, "Taken", "Written")?;
    }

    #[test]
    fn a_call_with_values_is_the_body_with_them(text in body(3, "@"), n in -1..3i32) {
        let text = format!(
            "{PROCESSES}process Called(v: int) = {}\nsystem Call = Called(v = {n})\nsystem Written = {}",
            text.replace('@', "v"), text.replace('@', &format!("({n})"))
        );
        same(&text, "Call", "Written")?;
    }
}

#[test]
fn the_index_may_stand_in_actions() {
    let text = "system Cells = each k in 0..2 ||| (?on(k); !done(k); stop)
system Written = (?\"on(0)\"; !\"done(0)\"; stop) ||| (?\"on(1)\"; !\"done(1)\"; stop) ||| (?\"on(2)\"; !\"done(2)\"; stop)";
    let cells = lower(text, "Cells");
    assert_eq!(cells.state_count(), 27);
    assert!(bisimilar(&cells, &lower(text, "Written")));
    let labels: Vec<String> = cells
        .labels()
        .iter()
        .skip(2)
        .map(|(_, l)| l.to_string())
        .collect();
    assert!(labels.contains(&"!done(2)".to_owned()), "{labels:?}");
    // The bare name of an action with values is no label.
    assert!(!labels.contains(&"?on".to_owned()), "{labels:?}");
}

#[test]
fn a_pipe_of_cells_passes_values() {
    let text = "\
process Cell(k: 0..3) = ?c(k, x: 0..1); !c(k + 1, x); Cell(k = k)
system Two = rename c(3, 0) -> out(0), c(3, 1) -> out(1) in rename c(0, 0) -> put(0), c(0, 1) -> put(1) in
  hide c(1, 0), c(1, 1), c(2, 0), c(2, 1) in ((Cell(k = 0) |[c(1, 0), c(1, 1)]| Cell(k = 1)) |[c(2, 0), c(2, 1)]| Cell(k = 2))";
    let (file, found) = parse_and_check(text);
    assert!(!diagnostic::has_errors(&found), "{found:?}");
    let two = lower_system(&file, "Two", 1000).expect("finite");
    let visible: Vec<String> = two
        .transitions()
        .map(|(_, l, _)| two.labels().text(l))
        .filter(|l| l != "i")
        .collect();
    for label in ["?put(0)", "?put(1)", "!out(0)", "!out(1)"] {
        assert!(
            visible.contains(&label.to_owned()),
            "{label} of {visible:?}"
        );
    }
    assert!(
        visible
            .iter()
            .all(|l| l.starts_with("?put") || l.starts_with("!out"))
    );
}

/// Internal actions without their names, which only symbolic systems keep.
fn anonymous(lts: &Lts) -> Lts {
    let mut builder = LtsBuilder::new();
    builder.ensure_states(lts.state_count());
    builder.set_initial(lts.initial());
    for (s, l, t) in lts.transitions() {
        let label = lts.labels().label(l);
        let l = match label.kind {
            LabelKind::Internal => iolite_lts::LabelId::TAU,
            kind => builder.label(kind, &label.name),
        };
        builder.transition(s, l, t);
    }
    builder.build().expect("states")
}

fn unfold(text: &str, name: &str) -> Lts {
    let (file, found) = parse_and_check(text);
    assert!(!diagnostic::has_errors(&found), "{text}\n{found:?}");
    let budget = UnfoldBudget {
        states: 5000,
        values: 100,
    };
    let lts = unfold_data(&file, name, &mut Solver::embedded(), budget);
    anonymous(&lts.unwrap_or_else(|d| panic!("{name}: {d:?}")))
}

const DATA: &str = "\
system Left { var v: 0..2 = 0  input put(x: 0..2)  output mid(x: 0..2)
  initial state A { ?put(x) / v := x -> B }  state B { !mid(x) [x == v] -> A } }
system Right { var w: 0..2 = 0  input mid(x: 0..2)  output get(x: 0..2)
  initial state A { ?mid(x) / w := x -> B }  state B { !get(x) [x == (w + 1) % 3] -> A } }
process Slim = ?mid(x: 0..2); !get((x + 1) % 3); Slim
system Cell { const id: int  var full: bool = false  input on(k: 0..2)  output done(k: 0..2)
  initial state S { ?on(k) [k == id] / full := true -> T }  state T { !done(k) [k == id] -> S } }
system Plain { input on output done  initial state S { ?on -> T }  state T { !done -> S } }
process Thin(k: 0..2) = ?on(k); !done(k); Thin(k = k)
process Row(n: 0..3) = each k in 0..n - 1 ||| Cell(id = k)
";

/// Processes with values, systems with data and machines under indexed names are one array.
#[test]
fn arrays_of_all_kinds_are_the_same() {
    let text = format!(
        "{DATA}\
system Cells = each k in 0..2 ||| Cell(id = k)
system Written = Cell(id = 0) ||| Cell(id = 1) ||| Cell(id = 2)
system Called = Row(n = 3)
system Mixed = Thin(k = 0) ||| Cell(id = 1) ||| (rename on -> on(2), done -> done(2) in Plain)
system Thins = each k in 0..2 ||| Thin(k = k)
system Plains = each k in 0..2 ||| rename on -> on(k), done -> done(k) in Plain"
    );
    let cells = unfold(&text, "Cells");
    for name in ["Written", "Called", "Mixed"] {
        assert!(bisimilar(&cells, &unfold(&text, name)), "{name}");
    }
    for name in ["Thins", "Plains"] {
        assert!(bisimilar(&cells, &lower(&text, name)), "{name}");
    }
}

#[test]
fn processes_pass_values_to_systems_with_data() {
    let text = format!(
        "{DATA}\
system Symbolic = hide mid in (Left |[mid]| Right)
system Mixed = hide mid in (Left |[mid]| Slim)
system Limited = hide put, mid in ((Left |[mid]| Slim) |[put]| (!put(2); stop))"
    );
    assert!(bisimilar(
        &unfold(&text, "Symbolic"),
        &unfold(&text, "Mixed")
    ));
    let limited = unfold(&text, "Limited");
    assert_eq!(limited.transition_count(), 3);
    assert!(limited.labels().get_text("!get(0)").is_some());
}

#[test]
fn what_cannot_be_is_said() {
    let lowered = |text: &str, name: &str| {
        let (file, found) = parse_and_check(text);
        assert!(!diagnostic::has_errors(&found), "{text}\n{found:?}");
        let found = if iolite_lang::has_data(&file, name) {
            iolite_lang::lower_data(&file, name).expect_err("refused")
        } else {
            lower_system(&file, name, 100).expect_err("refused")
        };
        (found[0].code, found[0].message.clone())
    };
    for (text, code, part) in [
        (
            "system T = each k in 3..2 ||| (a(k); stop)",
            codes::EACH_RANGE,
            "between 1 and 1024",
        ),
        (
            "system T = each k in 0..5000 ||| (a(k); stop)",
            codes::EACH_RANGE,
            "between 1 and 1024",
        ),
        (
            "process P(n: 0..2) = a(n); P(n = n + 1)\nsystem T = P(n = 0)",
            codes::BAD_TERM,
            "3",
        ),
        (
            "process P(n: int) = a(n); P(n = n + 1)\nsystem T = P(n = 0)",
            codes::OVER_BUDGET,
            "more than 100",
        ),
        (
            "process P(s: string) = a; P(s = s ++ s)\nsystem T = P(s = \"x\")",
            codes::BAD_TERM,
            "large",
        ),
        (
            "system T = a(x: 0..99, y: 0..99, z: 0..99); stop",
            codes::OVER_BUDGET,
            "more than 100",
        ),
        ("system T = a(1 / 0); stop", codes::BAD_TERM, "zero"),
        (
            "process T(n: int) = a(n); stop",
            codes::INSTANCE_ARGUMENT,
            "needs a value for `n`",
        ),
    ] {
        let (found, message) = lowered(text, "T");
        assert_eq!(found, code, "{text}: {message}");
        assert!(message.contains(part), "{text}: {message}");
    }
}

/// Cells with data, and processes that do the same, under operators that name one instance.
#[test]
fn instances_where_parts_have_data() {
    for operator in [
        "hide on(1) in @1",
        "hide on(1) in (@0 ||| @1)",
        "rename on -> on(1) in @1",
        "@0 |[on(1)]| @1",
        "each k in 0..1 |[on(1)]| hide done(k) in @1",
    ] {
        let with = |part: &str| {
            operator
                .replace("@0", &part.replace('#', "0"))
                .replace("@1", &part.replace('#', "1"))
        };
        let text = format!(
            "{DATA}system Cells = {}\nsystem Thins = {}",
            with("Cell(id = #)"),
            with("Thin(k = #)")
        );
        let (cells, thins) = (unfold(&text, "Cells"), lower(&text, "Thins"));
        assert!(bisimilar(&cells, &thins), "{operator}");
    }
}

#[test]
fn a_process_with_parameters_is_no_system_by_itself() {
    let (file, found) = parse_and_check("process P(n: 0..2) = a(n); stop\nsystem S = P(n = 1)");
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(systems(&file), ["S"]);
}

#[test]
fn watchers_name_instances() {
    let text = |label: &str| {
        format!(
            "system S = each k in 0..1 ||| (?on(k); !done(k); stop)\nobserver O for S {{ initial state s {{ !{label} -> v * -> s }} violate state v }}\nproperty P for S = ltl G !{label}"
        )
    };
    for label in ["\"done(1)\"", "done"] {
        let (_, found) = parse_and_check(&text(label));
        assert!(found.is_empty(), "{label}: {found:?}");
    }
    let (_, found) = parse_and_check(&text("\"done(7)\""));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|d| d.code == codes::UNKNOWN_LABEL));
    let hint = found[0].hint.clone().unwrap_or_default();
    assert!(hint.contains("did you mean"), "{hint}");
}

/// An action without its values is the choice of all of them, in each way to write a property.
#[test]
fn properties_name_actions_without_values() {
    let property = |body: &str| {
        let text = format!(
            "system S = each k in 0..2 ||| (?on(k); !done(k); stop)\nproperty P for S = {body}"
        );
        let (file, found) = parse_and_check(&text);
        assert!(found.is_empty(), "{text}\n{found:?}");
        lower_property(&file, "P", &[]).unwrap_or_else(|d| panic!("{text}\n{d:?}"))
    };
    let on = r#"?"on(0)", ?"on(1)", ?"on(2)""#;
    let done = r#"!"done(0)", !"done(1)", !"done(2)""#;
    let either = |labels: &str, with: &str| format!("({})", labels.replace(", ", with));
    let (on_ltl, done_ltl) = (either(on, " || "), either(done, " || "));
    let (on_regex, done_regex) = (either(on, " | "), either(done, " | "));
    for (short, long) in [
        (
            "ltl G (?on -> F !done)".to_owned(),
            format!("ltl G ({on_ltl} -> F {done_ltl})"),
        ),
        (
            "E((?on !done)*)".to_owned(),
            format!("E(({on_regex} {done_regex})*)"),
        ),
        (
            "streett { initial state p { ?on -> q  * -> p } state q { !done -> p  * -> q } pair recurrent {p} persistent {} }"
                .to_owned(),
            format!(
                "streett {{ initial state p {{ {on} -> q  * -> p }} state q {{ {done} -> p  * -> q }} pair recurrent {{p}} persistent {{}} }}"
            ),
        ),
    ] {
        assert_eq!(property(&short), property(&long), "{short}");
    }
}

/// States that differ in values which nothing reads any more are one.
#[test]
fn values_are_forgotten() {
    let lts = lower("system S = a(x: 0..9); b; c(y: 0..9); d(y); stop", "S");
    // `a`, `b`, `c`, ten of `d`, `stop`.
    assert_eq!(lts.state_count(), 14);
    let names: Vec<String> = lts.states().map(|s| lts.name(s)).collect();
    assert!(
        names.contains(&"d(y); stop with y = 7".to_owned()),
        "{names:?}"
    );
}
