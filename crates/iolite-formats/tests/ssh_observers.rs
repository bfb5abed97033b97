//! The bug patterns of the SSH server under `shared/cases`, where that folder is there.

use std::fs;
use std::path::Path;

use iolite_derive::{Satisfaction, verify};
use iolite_formats::Directions;
use iolite_formats::dot::{Acceptor, DotOptions, read_acceptor};
use iolite_lts::{Lts, LtsBuilder, QuiescencePolicy, Suspension};
use iolite_property::{AutomatonSource, Observer, ObserverRules};

const FOLDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../shared/cases/ssh-observers"
);

fn read(path: &Path) -> Acceptor {
    let options = DotOptions {
        directions: Directions {
            input_prefixes: vec!["I_".into()],
            output_prefixes: vec!["O_".into()],
            ..Directions::default()
        },
        ..DotOptions::default()
    };
    read_acceptor(&fs::read(path).unwrap(), &options)
        .unwrap_or_else(|e| panic!("{}: {e:?}", path.display()))
        .value
}

/// The language of a server is what stays in accepting states.
fn accepted_part(acceptor: &Acceptor) -> Lts {
    let keep = |s| acceptor.accepting.contains(&s);
    let mut b = LtsBuilder::with_labels(acceptor.lts.labels().clone());
    b.ensure_states(acceptor.lts.state_count());
    b.set_initial(acceptor.lts.initial());
    for (s, l, t) in acceptor.lts.transitions() {
        if keep(s) && keep(t) {
            b.transition(s, l, t);
        }
    }
    b.build().unwrap()
}

#[test]
fn the_known_violations_are_found_and_no_others() {
    let folder = Path::new(FOLDER);
    if !folder.is_dir() {
        println!("skipped: {FOLDER} is not there");
        return;
    }
    let server = accepted_part(&read(&folder.join("sutLanguage.dot")));
    let mut expected: Vec<String> = fs::read_to_string(folder.join("violated.txt"))
        .unwrap()
        .lines()
        .map(|name| name.replace(' ', ""))
        .filter(|name| !name.is_empty())
        .collect();
    expected.sort();

    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix("Language.dot").map(str::to_owned))
        .filter(|name| name != "sut")
        .collect();
    names.sort();
    assert!(names.len() > 20);
    let observers: Vec<Observer> = names
        .iter()
        .map(|name| {
            let acceptor = read(&folder.join(format!("{name}Language.dot")));
            let source = AutomatonSource::from_lts(name, &acceptor.lts);
            Observer::new(source, &acceptor.accepting, ObserverRules::Acceptor)
                .unwrap()
                .over(server.shared_labels())
        })
        .collect();

    // All in one pass, and each alone.
    let together = verify(&server, &observers, usize::MAX);
    let mut violated = Vec::new();
    for (k, answer) in together.answers.iter().enumerate() {
        let alone = verify(&server, &observers[k..=k], usize::MAX);
        match answer {
            Satisfaction::Violated { trace, .. } => {
                violated.push(names[k].clone());
                let end = trace
                    .iter()
                    .try_fold(server.initial(), |s, &l| {
                        server.steps_on(s, l).first().map(|&(_, t)| t)
                    })
                    .expect("a trace of the server");
                assert!(end.index() < server.state_count());
                let q = trace
                    .iter()
                    .try_fold(observers[k].initial(), |q, &l| observers[k].step(q, l));
                assert!(observers[k].is_violate(q.unwrap()));
                let Satisfaction::Violated { trace: other, .. } = &alone.answers[0] else {
                    panic!("{} holds alone", names[k]);
                };
                assert_eq!(other.len(), trace.len());
            }
            other => assert_eq!(other, &alone.answers[0]),
        }
    }
    assert_eq!(violated, expected);
    // The suspension view adds δ, which these patterns do not speak of.
    let view = Suspension::new(&server, QuiescencePolicy::Livelock);
    let suspended = verify(&view, &observers, usize::MAX);
    let holds = |v: &Satisfaction| *v == Satisfaction::Holds;
    assert_eq!(
        suspended.answers.iter().map(holds).collect::<Vec<_>>(),
        together.answers.iter().map(holds).collect::<Vec<_>>()
    );
}
