//! Sampling: models are right, diverse and reproducible.
#![allow(missing_docs)]

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_expr::{
    Answer, CandidateValues, Distribution, Draw, PairCover, Sampler, Solver, Sort, Span, Strategy,
    SumDeclaration, Term, Value, Var, VarId, Variant,
};

fn var(i: usize, sort: Sort) -> Var {
    Var::new(VarId::new(0, i), &format!("x{i}"), sort)
}

fn draw(strategy: Strategy, seed: u64, vars: &[Var], guard: &Term, n: usize) -> Vec<Vec<Value>> {
    let mut solver = Solver::embedded();
    solver.assert(guard);
    let mut sampler = Sampler::new(seed, strategy);
    (0..n)
        .map(|_| match sampler.sample(&mut solver, vars) {
            Answer::Sat(m) => {
                assert_eq!(guard.eval_bool(&m), Ok(true));
                vars.iter()
                    .map(|v| m.value(v.id).unwrap().clone())
                    .collect()
            }
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn boundaries_are_hit() {
    let x = var(0, Sort::Int);
    let guard = Term::all([x.term().gt(10).unwrap(), x.term().le(1_000).unwrap()]);
    let rows = draw(Strategy::Boundary, 1, std::slice::from_ref(&x), &guard, 12);
    for end in [11, 1_000] {
        assert!(
            rows.contains(&vec![Value::from(end)]),
            "{end} is drawn: {rows:?}"
        );
    }
}

#[test]
fn models_differ_and_repeat_with_the_seed() {
    let (x, s) = (var(0, Sort::Int), var(1, Sort::String));
    let name = Term::matches(s.term(), "[a-z]{2,9}", Span::NONE).unwrap();
    let guard = Term::all([x.term().modulo(3).unwrap().equals(1).unwrap(), name]);
    let vars = [x, s];
    let rows = draw(Strategy::Mixed, 7, &vars, &guard, 20);
    let distinct: BTreeSet<_> = rows.iter().collect();
    assert!(distinct.len() >= 15, "{rows:?}");
    assert_eq!(rows, draw(Strategy::Mixed, 7, &vars, &guard, 20));
    assert_ne!(rows, draw(Strategy::Mixed, 8, &vars, &guard, 20));
}

#[test]
fn few_models_are_all_drawn() {
    let x = var(0, Sort::range(0, 5).unwrap());
    let rows = draw(
        Strategy::Random,
        3,
        std::slice::from_ref(&x),
        &true.into(),
        6,
    );
    assert_eq!(rows.iter().collect::<BTreeSet<_>>().len(), 6, "{rows:?}");
}

#[test]
fn pools_are_used_where_they_fit() {
    let x = var(0, Sort::Int);
    let mut solver = Solver::embedded();
    solver.assert(&x.term().gt(100).unwrap());
    let mut sampler = Sampler::new(5, Strategy::Small);
    let pool = [Value::from(7), Value::from(4_711)];
    sampler.set_distribution(x.id, pool.into_iter().collect());
    let hits = (0..10)
        .filter(
            |_| match sampler.sample(&mut solver, std::slice::from_ref(&x)) {
                Answer::Sat(m) => m.value(x.id) == Some(&Value::from(4_711)),
                _ => false,
            },
        )
        .count();
    assert_eq!(hits, 10, "what the user asked for wins");
    solver.assert(&x.term().lt(50).unwrap());
    assert_eq!(sampler.sample(&mut solver, &[x]), Answer::Unsat);
}

#[test]
fn distributions_are_followed() {
    let x = var(0, Sort::Int);
    let mut solver = Solver::embedded();
    solver.assert(&x.term().gt(0).unwrap());
    let mut sampler = Sampler::new(5, Strategy::Large);
    let ways = vec![
        (Draw::Between(1.into(), 9.into()), 8),
        (Draw::By(Strategy::Large), 2),
        (Draw::Value(Value::from(-1)), 100),
    ];
    sampler.set_distribution(x.id, Distribution(ways));
    let mut inside = 0;
    for _ in 0..100 {
        match sampler.sample(&mut solver, std::slice::from_ref(&x)) {
            Answer::Sat(m) => {
                let value = m.value(x.id).unwrap().clone();
                let low = (1..=9).any(|n| value == Value::from(n));
                inside += usize::from(low);
            }
            other => panic!("{other:?}"),
        }
    }
    assert!((65..=95).contains(&inside), "{inside}");
}

#[test]
fn texts_beside_the_compared_one_are_tried() {
    let s = var(0, Sort::String);
    let secret = s.term().equals("abcdef").unwrap().negated();
    let rows = draw(Strategy::Boundary, 1, std::slice::from_ref(&s), &secret, 20);
    for near in ["abcdex", "abcde", "abcdefx", "ABCDEF"] {
        assert!(rows.contains(&vec![Value::str(near)]), "{near}: {rows:?}");
    }
}

/// How many of 400 draws equal the row used before, and how many have a value of the run; the means of some
/// seeds.
fn repeated(used: bool) -> (usize, usize) {
    let counts = (11..19).map(|seed| repeated_with(seed, used));
    let (same, met) = counts.fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    (same / 8, met / 8)
}

fn repeated_with(seed: u64, used: bool) -> (usize, usize) {
    let x = var(0, Sort::Int);
    let mut solver = Solver::embedded();
    solver.assert(&true.into());
    let mut sampler = Sampler::new(seed, Strategy::Mixed);
    sampler.meet(&Value::from(123_457));
    let (mut same, mut met) = (0, 0);
    let mut last: Option<Value> = None;
    for _ in 0..400 {
        let Answer::Sat(m) = sampler.sample(&mut solver, std::slice::from_ref(&x)) else {
            panic!("no model");
        };
        let value = m.value(x.id).unwrap().clone();
        same += usize::from(last.as_ref() == Some(&value));
        met += usize::from(value == Value::from(123_457));
        if used {
            sampler.use_row(std::slice::from_ref(&value));
            sampler.meet(&value);
        }
        last = Some(value);
    }
    (same, met)
}

#[test]
fn values_of_the_run_come_again_on_purpose() {
    let (same, _) = repeated(true);
    assert!(
        (20..=120).contains(&same),
        "{same} of 400 equal the one before"
    );
    let (_, met) = repeated(false);
    // The latest rows are avoided, so one value alone cannot come all the time.
    assert!(
        (12..=120).contains(&met),
        "{met} of 400 were seen in an output"
    );
}

#[test]
fn texts_are_not_alike() {
    let s = var(0, Sort::String);
    let rows = draw(
        Strategy::Random,
        3,
        std::slice::from_ref(&s),
        &true.into(),
        60,
    );
    let begins: BTreeSet<String> = rows
        .iter()
        .filter_map(|row| match &row[0] {
            Value::Str(text) if text.chars().count() >= 4 => Some(text.chars().take(4).collect()),
            _ => None,
        })
        .collect();
    assert!(begins.len() >= 20, "{begins:?}");
    let pattern = Term::matches(s.term(), "[0-9]{4}-[0-9]{2}", Span::NONE).unwrap();
    let rows = draw(Strategy::Random, 3, std::slice::from_ref(&s), &pattern, 20);
    let distinct: BTreeSet<_> = rows.iter().collect();
    assert!(distinct.len() >= 12, "{rows:?}");
}

#[test]
fn both_sides_of_a_comparison_are_tried() {
    let (x, y) = (var(0, Sort::Int), var(1, Sort::Int));
    let inside = x.term().lt(y.term().times(3).unwrap()).unwrap();
    let guard = Term::all([inside, y.term().gt(100).unwrap()]);
    let rows = draw(Strategy::Boundary, 4, &[x, y], &guard, 60);
    let int = |v: &Value| v.as_int().unwrap().to_i64().unwrap();
    let last = |row: &&Vec<Value>| int(&row[0]) == 3 * int(&row[1]) - 1;
    assert!(rows.iter().filter(last).count() >= 3, "{rows:?}");
}

/// The values drawn for one variable, with candidates.
fn drawn_with(candidates: CandidateValues, sort: Sort, guard: &Term, n: usize) -> Vec<Value> {
    let x = var(0, sort);
    let mut solver = Solver::embedded();
    solver.assert(guard);
    let mut sampler = Sampler::with_candidates(9, Strategy::Mixed, Arc::new(candidates));
    let mut draw = || match sampler.sample(&mut solver, std::slice::from_ref(&x)) {
        Answer::Sat(m) => {
            let value = m.value(x.id).unwrap().clone();
            sampler.use_row(std::slice::from_ref(&value));
            value
        }
        other => panic!("{other:?}"),
    };
    (0..n).map(|_| draw()).collect()
}

/// Where machine numbers end and where numbers get longer, what the model and the dictionary know: each is
/// tried once before chance decides, so that a few hundred draws are enough whatever the seed is.
#[test]
fn each_value_that_may_matter_is_tried_early() {
    let mut candidates = CandidateValues::default();
    candidates.add_constant(&Value::from(4_711));
    for word in 0..20 {
        candidates.add_word(&(31_337 + 1_000 * word).to_string());
    }
    let candidates = Arc::new(candidates);
    let x = var(0, Sort::Int);
    let mut wanted: Vec<i64> = vec![255, 256, 65_535, 65_536, 1 << 31, (1 << 31) - 1, i64::MAX];
    wanted.extend([0, 1, -1, 100, 1_000_000, 4_710, 4_711, 4_712]);
    wanted.extend((0..20).map(|word| 31_337 + 1_000 * word));
    // Of four draws one is used, as where a step has several inputs; and each of two transitions allows half.
    let negative = x.term().lt(0).unwrap();
    let all = Term::from(true);
    for (guards, draws) in [
        ([all.clone(), all], 1_600),
        ([negative.clone(), negative.negated()], 3_200),
    ] {
        for seed in 0..20 {
            let mut sampler =
                Sampler::with_candidates(seed, Strategy::Mixed, Arc::clone(&candidates));
            let mut seen = BTreeSet::new();
            let mut others = 0;
            for draw in 0..draws {
                let mut solver = Solver::embedded();
                solver.assert(&guards[draw % 2]);
                let Answer::Sat(m) = sampler.sample(&mut solver, std::slice::from_ref(&x)) else {
                    panic!("no model")
                };
                // The fourth, the third, the eighth, the seventh and so on.
                if draw % 4 != 3 - draw / 4 % 2 {
                    continue;
                }
                let value = m.value(x.id).unwrap().clone();
                sampler.use_row(std::slice::from_ref(&value));
                let n = value.as_int().and_then(iolite_expr::Int::to_i64);
                others += usize::from(n.is_none_or(|n| !wanted.contains(&n)));
                seen.insert(value);
            }
            for n in &wanted {
                assert!(seen.contains(&Value::from(*n)), "seed {seed}: {n}");
            }
            // Ordinary values are still drawn.
            assert!(
                others >= draws / 12,
                "seed {seed}: {others} of {}",
                draws / 4
            );
        }
    }
}

#[test]
fn constants_and_words_are_tried() {
    let mut candidates = CandidateValues::default();
    candidates.add_constant(&Value::from(77_777));
    let values = drawn_with(candidates.clone(), Sort::Int, &true.into(), 100);
    for n in [77_776, 77_777, 77_778] {
        assert!(values.contains(&Value::from(n)), "{n}: {values:?}");
    }
    candidates.add_word("4711");
    candidates.add_word("sesame");
    let values = drawn_with(candidates.clone(), Sort::Int, &true.into(), 60);
    assert!(values.contains(&Value::from(4_711)), "{values:?}");
    // A word is wished for, and the query wins.
    let s = var(0, Sort::String);
    let long = Term::apply(iolite_expr::Op::StrLen, vec![s.term()], Span::NONE).unwrap();
    let values = drawn_with(candidates.clone(), Sort::String, &long.ge(5).unwrap(), 60);
    assert!(values.contains(&Value::str("sesame")), "{values:?}");
    assert!(!values.contains(&Value::str("4711")), "{values:?}");
    // Without candidates such a value does not come.
    let values = drawn_with(CandidateValues::default(), Sort::Int, &true.into(), 100);
    assert!(!values.contains(&Value::from(77_777)), "{values:?}");
}

#[test]
fn words_of_messages_are_tried() {
    let x = var(0, Sort::Int);
    let mut solver = Solver::embedded();
    solver.assert(&true.into());
    // Also where the model has no constants that could be tried.
    for (strategy, draws) in [(Strategy::Known, 60), (Strategy::Mixed, 200)] {
        let mut sampler = Sampler::new(3, strategy);
        sampler.meet(&Value::str("error 31337: try later"));
        let mut met = 0;
        for _ in 0..draws {
            let Answer::Sat(m) = sampler.sample(&mut solver, std::slice::from_ref(&x)) else {
                panic!("no model");
            };
            met += usize::from(m.value(x.id) == Some(&Value::from(31_337)));
        }
        assert!(met >= 2, "{strategy:?}: {met}");
    }
}

/// The same where the message is a variant in a set, with texts and numbers within.
#[test]
fn parts_of_messages_are_tried() {
    let field = |name: &str, sort| (name.into(), sort);
    let ticket = Variant {
        name: "Ticket".into(),
        fields: vec![field("text", Sort::String), field("number", Sort::Int)],
    };
    let declaration = SumDeclaration {
        name: "Reply".into(),
        variants: vec![ticket],
    };
    let Some(Sort::Sum(reply)) = Sort::sums(vec![declaration]).unwrap().pop() else {
        panic!("a sum")
    };
    let fields = vec![Value::str("ticket 31337"), Value::from(4_711)];
    let ticket = Value::sum(&reply, 0, fields).unwrap();
    let x = var(0, Sort::Int);
    let mut solver = Solver::embedded();
    solver.assert(&true.into());
    let mut sampler = Sampler::new(3, Strategy::Mixed);
    sampler.meet(&Value::set(vec![ticket]));
    let mut values = BTreeSet::new();
    for _ in 0..200 {
        if let Answer::Sat(m) = sampler.sample(&mut solver, std::slice::from_ref(&x)) {
            values.insert(m.value(x.id).unwrap().clone());
        }
    }
    for n in [31_337, 4_711] {
        assert!(values.contains(&Value::from(n)), "{n}");
    }
}

/// Systems change where machine numbers end and where numbers get longer, whatever the guard compares.
#[test]
fn ends_of_machine_numbers_and_powers_of_ten_are_tried() {
    let values = drawn_with(CandidateValues::default(), Sort::Int, &true.into(), 8_000);
    for n in [
        255,
        256,
        65_535,
        65_536,
        999,
        1_000_000,
        1i64 << 31,
        i64::MAX,
        i64::MIN,
    ] {
        assert!(values.contains(&Value::from(n)), "{n}");
    }
    let wide = Sort::range(0, i64::MAX).unwrap();
    let values = drawn_with(CandidateValues::default(), wide, &true.into(), 8_000);
    for n in [65_535, 1i64 << 31, i64::MAX] {
        assert!(values.contains(&Value::from(n)), "{n}");
    }
    // All magnitudes up to a hundred thousand occur among the others.
    let long = |v: &&Value| matches!(v, Value::Int(n) if n.abs() > 20_000.into() && n.abs() < 131_073.into());
    let values = drawn_with(CandidateValues::default(), Sort::Int, &true.into(), 300);
    assert!(values.iter().filter(long).count() >= 3, "{values:?}");
}

#[test]
fn amounts_of_the_dictionary_are_tried() {
    let mut candidates = CandidateValues::default();
    candidates.add_word("77.7");
    let values = drawn_with(candidates, Sort::Decimal(2), &true.into(), 60);
    assert!(
        values.contains(&Value::decimal("77.70", 2).unwrap()),
        "{values:?}"
    );
}

/// Pairs are counted as the definition says, whatever the rows are; and a sampler that is let covers
/// all that the query allows.
#[test]
fn pairs_of_candidate_values_are_covered() {
    let color = Sort::enumeration("Color", &["RED", "GREEN", "BLUE"]).unwrap();
    let vars = [
        var(0, color.clone()),
        var(1, Sort::Bool),
        var(2, Sort::range(0, 9).unwrap()),
        var(3, Sort::range(0, 1).unwrap()),
    ];
    let mut candidates = CandidateValues::default();
    candidates.add_constant(&Value::from(7));
    let columns: [Vec<Value>; 4] = [
        color.values(3).unwrap(),
        vec![Value::Bool(false), Value::Bool(true)],
        [7, 0, 9].into_iter().map(Value::from).collect(),
        [0, 1].into_iter().map(Value::from).collect(),
    ];
    // A red one never has the number 9, so that one pair is impossible.
    let red = vars[0].term().equals_value(&columns[0][0]).unwrap();
    let nine = vars[2].term().equals(9).unwrap();
    let guard = Term::all([red, nine]).negated();
    let mut solver = Solver::embedded();
    solver.assert(&guard);
    let candidates = Arc::new(candidates);
    let mut sampler = Sampler::with_candidates(2, Strategy::Mixed, Arc::clone(&candidates));
    let mut cover = PairCover::new(&vars, &candidates);
    assert_eq!(cover.total(), 6 + 9 + 6 + 6 + 4 + 6);
    let mut seen: BTreeSet<(usize, usize, usize, usize)> = BTreeSet::new();
    for _ in 0..400 {
        let Answer::Sat(m) = sampler.sample(&mut solver, &vars) else {
            panic!("no model");
        };
        let row: Vec<Value> = vars
            .iter()
            .map(|v| m.value(v.id).unwrap().clone())
            .collect();
        sampler.use_row(&row);
        cover.cover(&row);
        for i in 0..row.len() {
            for j in i + 1..row.len() {
                let at = |k: usize| columns[k].iter().position(|v| *v == row[k]);
                if let (Some(a), Some(b)) = (at(i), at(j)) {
                    seen.insert((i, a, j, b));
                }
            }
        }
        assert_eq!(cover.tried(), seen.len());
    }
    assert_eq!(cover.tried(), cover.total() - 1, "{seen:?}");
}
