//! The table of actions: ids of labels, forks, and what is forgotten when.

use std::sync::Arc;

use iolite_derive::{Action, ActionId, Alphabet, LabelMap};
use iolite_expr::Value;
use iolite_lts::{LabelId, LabelKind, Labels};

/// The bounds of the table, as its documentation tells them.
const KEPT: usize = 1 << 20;
const RECENT: usize = 1 << 16;
const CROWDED: usize = 1 << 18;

fn labels() -> Arc<Labels> {
    let mut labels = Labels::new();
    for text in ["?a", "!x", "!o(1)", "!o(…)"] {
        labels.intern_text(text);
    }
    Arc::new(labels)
}

fn value(n: usize) -> Action {
    Action {
        kind: LabelKind::Output,
        name: "v".into(),
        args: vec![Value::from(i64::try_from(n).expect("a small number"))],
    }
}

/// Interns `!v(from)` up to `!v(to - 1)`; the ids, in order.
fn meet(alphabet: &Alphabet, from: usize, to: usize) -> Vec<ActionId> {
    let name: Arc<str> = "v".into();
    (from..to)
        .map(|n| {
            let name = Arc::clone(&name);
            alphabet.intern(Action { name, ..value(n) })
        })
        .collect()
}

#[test]
fn labels_come_first_in_their_order() {
    let labels = labels();
    let alphabet = Alphabet::of_labels(&labels);
    for (id, label) in labels.iter() {
        let action = ActionId::from(id);
        assert_eq!(action.index(), id.index());
        assert_eq!(*alphabet.text(action), labels.text(id));
        assert_eq!(alphabet.declared(&labels.text(id)), Some(action));
        assert_eq!(alphabet.get(&label.into()), Some(action));
        assert_eq!(alphabet.intern(label.into()), action);
        assert_eq!(*alphabet.action(action).unwrap(), label.into());
        assert!(alphabet.is_declared(action));
    }
    assert_eq!(ActionId::from(LabelId::DELTA), ActionId::DELTA);
    // δ has one id, whatever it is called.
    let silence = Action::plain(LabelKind::Delta, "quiescence");
    assert_eq!(alphabet.intern(silence.clone()), ActionId::DELTA);
    assert_eq!(alphabet.get(&silence), Some(ActionId::DELTA));

    let unknown = Action::plain(LabelKind::Output, "y");
    assert_eq!(alphabet.get(&unknown), None);
    assert_eq!(alphabet.declared("!y"), None);
    let met = alphabet.intern(unknown.clone());
    assert_eq!(met.index(), labels.len());
    assert_eq!(alphabet.intern(unknown.clone()), met);
    assert_eq!(*alphabet.action(met).unwrap(), unknown);
    assert_eq!(&*alphabet.text(met), "!y");
    assert!(!alphabet.is_declared(met));
    // The name alone does not make an action: kind and values do.
    let input = Action::plain(LabelKind::Input, "y");
    let valued = Action {
        args: vec![Value::from(1), Value::from(true)],
        ..unknown
    };
    let others = [alphabet.intern(input), alphabet.intern(valued)];
    assert!(others[0] != met && others[1] != met && others[0] != others[1]);
    assert_eq!(&*alphabet.text(others[1]), "!y(1, true)");
    // A clone is another handle to the same table.
    assert_eq!(&*alphabet.clone().text(others[0]), "?y");
}

#[test]
fn labels_stand_for_what_they_are_read_as() {
    let labels = labels();
    let one = Action {
        name: "o".into(),
        ..value(1)
    };
    let read = |id: LabelId| match labels.label(id).name.split_once('(') {
        Some(_) => one.clone(),
        None => labels.label(id).into(),
    };
    let alphabet = Alphabet::of_actions(&labels, read);
    let first = alphabet.declared("!o(1)").unwrap();
    // Two labels for one action: the first is meant, and both keep their places.
    assert_eq!(alphabet.get(&one), Some(first));
    let second = alphabet.declared("!o(…)").unwrap();
    assert_eq!(second.index(), first.index() + 1);
    assert_eq!(alphabet.action(first), alphabet.action(second));
    assert_eq!(&*alphabet.text(second), "!o(…)");
    // How a new one is shown is for the caller to say; an old one is as it was.
    let shown = alphabet.intern_as(value(2), |_| "!v = two".to_owned());
    assert_eq!(&*alphabet.text(shown), "!v = two");
    assert_eq!(alphabet.intern(value(2)), shown);
    assert_eq!(&*alphabet.text(shown), "!v = two");
}

#[test]
fn actions_meet_labels() {
    let labels = labels();
    let alphabet = Alphabet::of_labels(&labels);
    let l = |text: &str| labels.get_text(text);
    let o = |n| Action {
        name: "o".into(),
        ..value(n)
    };
    let one = alphabet.intern(o(1));
    let seven = alphabet.intern(o(7));
    let foreign = alphabet.intern(Action::plain(LabelKind::Output, "y"));
    // Same name, but no output: `!o(…)` is not for it.
    let input = alphabet.intern(Action {
        kind: LabelKind::Input,
        ..o(7)
    });
    let beyond = ActionId::new(1000);
    for mut map in [
        LabelMap::own(&alphabet, &labels),
        LabelMap::by_text(&alphabet, &labels),
    ] {
        for (id, _) in labels.iter() {
            assert_eq!(map.label(id.into()), Some(id));
            assert_eq!(map.action(id), id.into());
        }
        assert_eq!(map.label(one), l("!o(1)"));
        assert_eq!(map.label(seven), l("!o(…)"));
        assert_eq!(map.label(foreign), None);
        assert_eq!(map.label(input), None);
        assert_eq!(map.label(beyond), None);
    }
    // Another table, in another order, with more and with less.
    let mut other = Labels::new();
    for text in ["!y", "!x", "!z"] {
        other.intern_text(text);
    }
    let other = Arc::new(other);
    let mut map = LabelMap::by_text(&alphabet, &other);
    let a = alphabet.declared("?a").unwrap();
    let x = alphabet.declared("!x").unwrap();
    for _ in 0..2 {
        assert_eq!(map.label(x), other.get_text("!x"));
        assert_eq!(map.label(foreign), other.get_text("!y"));
        assert_eq!(map.label(a), None);
        assert_eq!(map.label(one), None);
        assert_eq!(map.label(ActionId::DELTA), Some(LabelId::DELTA));
    }
    assert_eq!(map.action(other.get_text("!x").unwrap()), x);
    assert_eq!(map.action(other.get_text("!y").unwrap()), foreign);
    let z = map.action(other.get_text("!z").unwrap());
    assert_eq!(&*alphabet.text(z), "!z");
    assert_eq!(map.label(z), other.get_text("!z"));
}

#[test]
fn a_fork_keeps_ids_and_goes_its_own_way() {
    let labels = labels();
    let alphabet = Alphabet::of_labels(&labels);
    let met = meet(&alphabet, 0, 3);
    let fork = alphabet.fork();
    for (n, &id) in met.iter().enumerate() {
        assert_eq!(fork.get(&value(n)), Some(id));
        assert_eq!(fork.intern(value(n)), id);
        assert_eq!(fork.action(id), alphabet.action(id));
        assert_eq!(fork.text(id), alphabet.text(id));
    }
    assert_eq!(fork.declared("?a"), alphabet.declared("?a"));
    assert!(fork.is_declared(ActionId::DELTA) && !fork.is_declared(met[0]));
    let [here, there] = [(&alphabet, 10), (&fork, 20)].map(|(a, n)| a.intern(value(n)));
    assert_eq!(here, there);
    assert_eq!(&*alphabet.text(here), "!v(10)");
    assert_eq!(&*fork.text(there), "!v(20)");
    assert_eq!(alphabet.get(&value(20)), None);
    assert_eq!(fork.get(&value(10)), None);
    // A fork of the fork knows what both knew.
    let grandchild = fork.fork();
    assert_eq!(grandchild.get(&value(20)), Some(there));
    assert_eq!(grandchild.get(&value(0)), Some(met[0]));
}

#[test]
fn what_earlier_runs_met_is_forgotten_where_it_is_much() {
    let labels = labels();
    let alphabet = Alphabet::of_labels(&labels);
    let met = meet(&alphabet, 0, CROWDED);
    // Not yet much.
    alphabet.begin_run();
    assert_eq!(alphabet.get(&value(0)), Some(met[0]));
    assert_eq!(alphabet.get(&value(CROWDED - 1)), met.last().copied());
    let one_more = alphabet.intern(value(CROWDED));
    // As long as the run lasts, nothing goes.
    assert_eq!(alphabet.get(&value(0)), Some(met[0]));
    alphabet.begin_run();
    for (n, id) in [
        (0, met[0]),
        (CROWDED - 1, met[CROWDED - 1]),
        (CROWDED, one_more),
    ] {
        assert_eq!(alphabet.get(&value(n)), None);
        assert_eq!(alphabet.action(id), None);
        assert_eq!(&*alphabet.text(id), "forgotten action");
    }
    for (id, _) in labels.iter() {
        assert_eq!(*alphabet.text(id.into()), labels.text(id));
    }
    // Ids are given anew, and mean the new action to everybody who looks now.
    let mut map = LabelMap::own(&alphabet, &labels);
    assert_eq!(map.label(met[0]), None);
    let o = Action {
        name: "o".into(),
        ..value(7)
    };
    assert_eq!(alphabet.intern(o), met[0]);
    assert_eq!(map.label(met[0]), labels.get_text("!o(…)"));
    assert_eq!(&*alphabet.text(met[0]), "!o(7)");
}

#[test]
fn pinned_ids_survive() {
    let alphabet = Alphabet::of_labels(&labels());
    let pinned = meet(&alphabet, 0, 100);
    let fork = alphabet.fork();
    meet(&fork, 100, 100 + CROWDED + 1);
    fork.begin_run();
    for (n, &id) in pinned.iter().enumerate() {
        assert_eq!(fork.get(&value(n)), Some(id));
        assert_eq!(*fork.action(id).unwrap(), value(n));
    }
    assert_eq!(fork.get(&value(100)), None);
    assert_eq!(
        fork.intern(value(100 + CROWDED)).index(),
        pinned[99].index() + 1
    );
    // The table it was made of knows nothing of all this.
    assert_eq!(alphabet.get(&value(100)), None);
    assert_eq!(alphabet.get(&value(99)), Some(pinned[99]));
}

#[test]
fn a_very_long_run_keeps_its_first_and_its_latest_actions() {
    let labels = labels();
    let alphabet = Alphabet::of_labels(&labels);
    let dropped = 1000;
    let all = KEPT + RECENT + dropped;
    let met = meet(&alphabet, 0, all);
    let known = |n: usize| {
        alphabet.get(&value(n)) == Some(met[n])
            && alphabet.action(met[n]).is_some_and(|a| *a == value(n))
            && *alphabet.text(met[n]) == value(n).to_string()
    };
    let forgotten = |n: usize| {
        alphabet.get(&value(n)).is_none()
            && alphabet.action(met[n]).is_none()
            && &*alphabet.text(met[n]) == "forgotten action"
    };
    for n in [0, 1, KEPT / 2, KEPT - 1] {
        assert!(known(n), "{n}");
    }
    for n in KEPT..KEPT + dropped {
        assert!(forgotten(n), "{n}");
    }
    for n in KEPT + dropped..all {
        assert!(known(n), "{n}");
    }
    // No id is used twice within a run: what comes again after it was dropped is new.
    let again = alphabet.intern(value(KEPT));
    assert_eq!(again.index(), met[all - 1].index() + 1);
    assert_eq!(*alphabet.action(again).unwrap(), value(KEPT));
    assert_eq!(alphabet.action(met[KEPT]), None);
    assert!(forgotten(KEPT + dropped), "it made room");
    assert!(known(all - 1) && known(0));
    // The next run has the whole table again.
    alphabet.begin_run();
    assert!(forgotten(0) && forgotten(all - 1));
    assert_eq!(alphabet.intern(value(5)), met[0]);
}
