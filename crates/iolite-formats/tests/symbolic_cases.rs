//! Test cases with data against the definitions on the unfolded model [SYM04, def. 11 to 15]: derived,
//! written, read again and executed along every trace, so against every implementation.

mod data_models;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use data_models::{actions, picks, step, text};
use iolite_derive::{
    Alphabet, Menu, ModelRef, Progress, SymbolicCaseTester, SymbolicOracleError, SymbolicTestCase,
    Tester, Verdict, valued_action,
};
use iolite_expr::{Solver, Strategy, Value};
use iolite_formats::symbolic_test_case::{iol, json, ttcn3};
use iolite_lang::{
    diagnostic, lower_data, lower_data_observer, lower_data_purpose, parse_and_check,
};
use iolite_lts::{Determinised, LabelId, Lts, QuiescencePolicy, SetId, Suspension};
use iolite_sts::{Iosts, LabelKind, LocationId, PruningGoal, State, SymbolicTest, UnfoldBudget};

/// Where S^δ and the goal are: a set of states of the unfolded S, and a state of the goal, `None` once it
/// has stopped.
type Node = (SetId, Option<State>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Next {
    Node(Node),
    End(Verdict),
}

/// test(S, ω) on the unfolded S, from the definitions.
struct Explicit<'a> {
    system: Determinised<Suspension<&'a Lts>>,
    labels: Vec<Option<LabelId>>,
    goal: &'a Iosts,
    constants: Vec<Value>,
    /// Violating, or accepting.
    marked: &'a [LocationId],
    refused: &'a [LocationId],
    purpose: bool,
}

impl Explicit<'_> {
    fn goal_step(&self, at: &State, action: &(LabelKind, &str, Vec<Value>)) -> Option<State> {
        let (kind, name, values) = action;
        let gate = self.goal.find_gate(*kind, name)?;
        self.goal.outgoing(at.location).iter().find_map(|&t| {
            let fits = self.goal.transition(t).action == gate;
            let fire = || self.goal.fire(at, &self.constants, t, values);
            fits.then(|| fire().expect("no faults"))?
        })
    }

    fn next(&mut self, (set, goal): &Node, action: usize) -> Option<Next> {
        let all = actions();
        let (kind, ..) = all[action];
        let label = self.labels[action];
        let after = label.and_then(|l| self.system.after(*set, l));
        let moved = goal.as_ref().and_then(|g| self.goal_step(g, &all[action]));
        if kind == LabelKind::Input {
            return Some(Next::Node((after?, Some(moved?))));
        }
        let marked = moved
            .as_ref()
            .is_some_and(|g| self.marked.contains(&g.location));
        let refused = moved
            .as_ref()
            .is_some_and(|g| self.refused.contains(&g.location));
        Some(match after {
            None if marked && !self.purpose => Next::End(Verdict::ViolateFail),
            None => Next::End(Verdict::Fail),
            Some(_) if marked && self.purpose => Next::End(Verdict::Pass),
            Some(_) if marked => Next::End(Verdict::Violate),
            Some(_) if refused => Next::End(Verdict::Inconc),
            Some(set) => Next::Node((set, moved)),
        })
    }

    /// The nodes from which one of the verdicts can be reached.
    fn coreachable(&mut self, first: &Node, wanted: &[Verdict]) -> BTreeSet<String> {
        let mut before: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut seen = BTreeSet::from([key(first)]);
        let mut open = VecDeque::from([first.clone()]);
        let mut live: Vec<String> = Vec::new();
        while let Some(node) = open.pop_front() {
            for a in 0..actions().len() {
                match self.next(&node, a) {
                    Some(Next::End(v)) if wanted.contains(&v) => live.push(key(&node)),
                    Some(Next::Node(next)) => {
                        before.entry(key(&next)).or_default().push(key(&node));
                        if seen.insert(key(&next)) {
                            open.push_back(next);
                        }
                    }
                    _ => {}
                }
            }
        }
        let mut all = BTreeSet::new();
        while let Some(node) = live.pop() {
            if all.insert(node.clone()) {
                live.extend(before.get(&node).cloned().unwrap_or_default());
            }
        }
        all
    }
}

fn key(node: &Node) -> String {
    format!("{node:?}")
}

fn tester(case: &Arc<SymbolicTestCase>, k: &Value, alphabet: &Alphabet) -> SymbolicCaseTester {
    let known = [("k".to_owned(), k.clone())];
    let solver = || Ok::<_, SymbolicOracleError>(Solver::embedded());
    SymbolicCaseTester::new(Arc::clone(case), &known, alphabet, Strategy::Small, solver)
        .expect("a tester")
}

#[derive(Default, Debug)]
struct Counts {
    steps: usize,
    inconc: usize,
    /// Steps that are inconclusive by the definition and not found so: the condition is an
    /// over-approximation.
    late: usize,
    stimuli: usize,
    astray: usize,
    met: BTreeSet<Option<Verdict>>,
}

/// Walks every trace up to a length, and compares what the test case says with the definition.
fn compare(
    case: &Arc<SymbolicTestCase>,
    system: &Iosts,
    k: &Value,
    explicit: &mut Explicit<'_>,
    live: &BTreeSet<String>,
    first: &Node,
    counts: &mut Counts,
) {
    let alphabet = Alphabet::default();
    let mut tester = tester(case, k, &alphabet);
    let step = |a: usize| step(system, &alphabet, a);
    let mut open: Vec<(Vec<usize>, Node)> = vec![(Vec::new(), first.clone())];
    while let Some((trace, node)) = open.pop() {
        let replay = |tester: &mut SymbolicCaseTester| {
            tester.reset();
            for &a in &trace {
                assert_eq!(tester.step(step(a)), Progress::Continue, "{trace:?}");
            }
        };
        let reachable = live.contains(&key(&node));
        replay(&mut tester);
        let mut menu = Menu::default();
        tester.menu(&mut menu);
        assert!(menu.observe);
        for id in &menu.stimuli {
            let action = alphabet.action(*id).expect("interned");
            let valued = valued_action(system, &action).expect("a gate of the system");
            let at = actions()
                .iter()
                .position(|(kind, name, values)| {
                    *kind == LabelKind::Input && *name == &*action.name && *values == valued.values
                })
                .expect("among all actions");
            let next = explicit.next(&node, at);
            assert!(
                next.is_some(),
                "{action:?} is not specified after {trace:?}"
            );
            counts.stimuli += 1;
            if let Some(Next::Node(next)) = next {
                counts.astray += usize::from(!live.contains(&key(&next)));
            }
        }
        for a in 0..actions().len() {
            let stimulus = actions()[a].0 == LabelKind::Input;
            let next = explicit.next(&node, a);
            if stimulus && (next.is_none() || !reachable) {
                continue;
            }
            replay(&mut tester);
            let got = match tester.step(step(a)) {
                Progress::Continue => None,
                Progress::Ended(verdict) => Some(verdict),
            };
            let next = next.expect("observations always mean something");
            let whole = match &next {
                Next::End(verdict) => Some(*verdict),
                Next::Node(_) => None,
            };
            let expected = if reachable {
                whole
            } else {
                Some(Verdict::Inconc)
            };
            counts.steps += 1;
            counts.met.insert(got);
            counts.inconc += usize::from(expected == Some(Verdict::Inconc));
            if got != expected && expected == Some(Verdict::Inconc) && got == whole {
                counts.late += 1;
            } else {
                assert_eq!(
                    got,
                    expected,
                    "{} after {trace:?} then {a}\n{}",
                    case.name(),
                    case.program()
                );
            }
            if let (Next::Node(next), None) = (next, got)
                && trace.len() < 3
            {
                let longer = trace.iter().copied().chain([a]).collect();
                open.push((longer, next));
            }
        }
    }
}

/// The locations of ω' that the exported observer comes to are those of the program, along every trace.
fn same_as_exported(case: &SymbolicTestCase, text: &str, system: &Iosts, k: &Value, purpose: bool) {
    let exported = iol::write(case).expect("a text");
    let whole = format!(
        "{}\n{exported}",
        text.split("observer W").next().expect("a system")
    );
    let (file, found) = parse_and_check(&whole);
    assert!(!diagnostic::has_errors(&found), "{found:?}\n{whole}");
    let name = case.name();
    let read = if purpose {
        lower_data_purpose(&file, name, system)
            .expect("a purpose")
            .iosts
    } else {
        lower_data_observer(&file, name, system)
            .expect("an observer")
            .iosts
    };
    let program = case.program().mirrored();
    let first = |m: &Iosts| {
        let values = m.variables().iter().map(|v| {
            let initial = v.initial.as_ref().expect("given");
            initial.as_value().expect("a literal").clone()
        });
        State {
            location: m.initial(),
            values: values.collect::<Vec<_>>().into(),
        }
    };
    let step = |m: &Iosts, at: &State, action: &(LabelKind, &str, Vec<Value>)| {
        let gate = m.find_gate(action.0, action.1)?;
        let constants: Vec<Value> = m.constants().iter().map(|_| k.clone()).collect();
        m.outgoing(at.location).iter().find_map(|&t| {
            let fits = m.transition(t).action == gate;
            fits.then(|| m.fire(at, &constants, t, &action.2).expect("no faults"))?
        })
    };
    let mut open = vec![(0, first(&program), first(&read))];
    while let Some((depth, own, other)) = open.pop() {
        for action in actions() {
            let (a, b) = (step(&program, &own, &action), step(&read, &other, &action));
            let names = |m: &Iosts, s: &Option<State>| {
                s.as_ref().map(|s| m.location(s.location).name.to_string())
            };
            let (a_name, b_name) = (names(&program, &a), names(&read, &b));
            // A purpose stays where it is under what it does not name.
            let stays = purpose && a.is_none();
            assert!(
                stays || a_name == b_name,
                "{action:?}: {a_name:?}, {b_name:?}\n{whole}"
            );
            if let (Some(a), Some(b), true) = (a, b, depth < 3) {
                open.push((depth + 1, a, b));
            }
        }
    }
}

#[test]
fn executed_test_cases_give_the_verdicts_of_the_definitions() {
    let mut counts = Counts::default();
    let mut cases = 0;
    for i in 0..48usize {
        let text = text(&picks(i));
        let (file, found) = parse_and_check(&text);
        assert!(!diagnostic::has_errors(&found), "{found:?}\n{text}");
        let system = lower_data(&file, "S").expect("a system");
        let observer = lower_data_observer(&file, "W", &system).expect("an observer");
        let purpose = lower_data_purpose(&file, "G", &system).expect("a purpose");
        let is_purpose = i % 3 == 0;
        let strong = i % 4 == 1;
        let mut solver = Solver::embedded();
        let test = if is_purpose {
            let (accept, refuse) = (&purpose.accept, &purpose.refuse);
            SymbolicTest::towards(&system, &purpose.iosts, accept, refuse, &mut solver, 200)
        } else {
            SymbolicTest::new(
                &system,
                &observer.iosts,
                &observer.violate,
                &mut solver,
                200,
            )
        };
        // Some choices cannot be postponed.
        let Ok(test) = test else { continue };
        let goal = if strong {
            PruningGoal::Violation
        } else {
            PruningGoal::ViolateFail
        };
        let trimmed = test.trimmed(&mut solver, 4_000);
        let (pruned, _) = trimmed.pruned_towards(goal, &mut solver, 4_000);
        let small = pruned.trimmed(&mut solver, 4_000).compacted();
        let name = if is_purpose { "G" } else { "W" };
        let case = SymbolicTestCase::of(name, ModelRef::from("m.iol#S"), &small);
        let written = json::write(&case).expect("no quantifiers");
        assert!(json::is_one(&written));
        let read = json::read(&written).expect("what was written");
        assert_eq!(json::write(&read).expect("again"), written);
        let module = ttcn3::write(&read).expect("no calls");
        assert!(module.contains("quiescence.timeout"));
        let case = Arc::new(read);
        cases += 1;
        for k in 0..3 {
            let k = Value::int(k);
            let instance = system.instance("S", &[("k", k.clone())]).expect("a value");
            let budget = UnfoldBudget {
                states: 10_000,
                values: 50,
            };
            let lts = instance
                .unfold(&mut Solver::embedded(), budget)
                .expect("finite");
            let all = actions();
            let labels = all.iter().map(|(kind, name, values)| {
                let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                let name = match values.as_slice() {
                    [] => (*name).to_owned(),
                    values => format!("{name}({})", values.join(", ")),
                };
                match kind {
                    LabelKind::Delta => Some(LabelId::DELTA),
                    kind => lts.labels().get(*kind, &name),
                }
            });
            let labels = labels.collect();
            let automaton = if is_purpose {
                &purpose.iosts
            } else {
                &observer.iosts
            };
            let none: &[LocationId] = &[];
            let mut explicit = Explicit {
                system: Determinised::new(Suspension::new(&lts, QuiescencePolicy::Strict)),
                labels,
                goal: automaton,
                constants: vec![k.clone()],
                marked: if is_purpose {
                    &purpose.accept
                } else {
                    &observer.violate
                },
                refused: if is_purpose { &purpose.refuse } else { none },
                purpose: is_purpose,
            };
            let start = State {
                location: automaton.initial(),
                values: Arc::from([Value::int(0)].as_slice()),
            };
            let first = (explicit.system.initial(), Some(start));
            let wanted: &[Verdict] = match (is_purpose, strong) {
                (true, _) => &[Verdict::Pass],
                (false, false) => &[Verdict::ViolateFail],
                (false, true) => &[Verdict::ViolateFail, Verdict::Violate],
            };
            let live = explicit.coreachable(&first, wanted);
            compare(
                &case,
                &system,
                &k,
                &mut explicit,
                &live,
                &first,
                &mut counts,
            );
            same_as_exported(&case, &text, &system, &k, is_purpose);
        }
    }
    println!("{cases} cases, {counts:?}");
    assert!(
        cases > 5 && counts.steps > 5_000 && counts.stimuli > 200,
        "{cases} {counts:?}"
    );
    assert!(
        counts.late * 20 < counts.inconc && counts.astray * 20 < counts.stimuli,
        "{counts:?}"
    );
    for verdict in [
        None,
        Some(Verdict::Pass),
        Some(Verdict::Fail),
        Some(Verdict::Violate),
        Some(Verdict::ViolateFail),
        Some(Verdict::Inconc),
    ] {
        assert!(counts.met.contains(&verdict), "{verdict:?} is not met");
    }
}
