//! Each file is read once, and everything that is asked later is answered from there.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use iolite::{
    Campaign, CheckError, ExplainOptions, Judge, JudgeOptions, ModelRef, ReadOptions, Relation,
    RelationOptions, SystemUnderTest, Verdict, VerificationOptions, Workspace,
};

const MODEL: &str = "
    system Door {
      input open, close
      output creak, click
      initial state Shut { ?open -> Opening }
      state Opening { !creak -> Wide }
      state Wide { ?close -> Closing }
      state Closing { !click -> Shut }
    }
    observer NoClick {
      initial state Any { !click -> Heard  * -> Any }
      violate state Heard
    }
    observer NoCreak {
      initial state Any { !creak -> Heard  * -> Any }
      violate state Heard
    }
    purpose Closed {
      initial state Any { !click -> Done  * -> Any }
      accept state Done
    }";

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A door that, while it is tested, takes its model away or writes another one in its place.
struct Saboteur {
    model: PathBuf,
    outputs: VecDeque<String>,
    steps: u32,
    broken: bool,
}

impl Saboteur {
    fn new(model: &Path, broken: bool) -> Self {
        Self {
            model: model.to_owned(),
            outputs: VecDeque::new(),
            steps: 0,
            broken,
        }
    }
}

impl SystemUnderTest<String> for Saboteur {
    fn reset(&mut self) {
        self.outputs.clear();
    }

    fn stimulate(&mut self, stimulus: &String) {
        self.steps += 1;
        match self.steps {
            // Labels permuted: what was the creak is now the click.
            2 => {
                let other = MODEL.replace("!creak", "!x").replace("!click", "!creak");
                std::fs::write(&self.model, other.replace("!x", "!click")).expect("written");
            }
            6 => std::fs::remove_file(&self.model).expect("removed"),
            _ => {}
        }
        let said = match (stimulus.as_str(), self.broken && self.steps > 8) {
            ("open", false) | (_, true) => "creak",
            _ => "click",
        };
        self.outputs.push_back(said.to_owned());
    }

    fn output(&mut self, _: Duration) -> Option<String> {
        self.outputs.pop_front()
    }
}

fn judged(workspace: &Workspace, model: &Path) -> Judge {
    let reference = ModelRef::from(model.display().to_string().as_str());
    let options = JudgeOptions {
        observers: vec![
            reference.with_name("NoClick"),
            reference.with_name("NoCreak"),
        ],
        ..JudgeOptions::default()
    };
    Judge::new(workspace, &reference, &options).expect("a sound model")
}

#[test]
fn a_model_that_changes_under_a_campaign_changes_nothing() {
    let folder = folder("changes");
    let model = folder.join("door.iol");
    std::fs::write(&model, MODEL).expect("written");
    let workspace = Workspace::new();
    let reference = ModelRef::from(model.display().to_string().as_str());
    let judge = Judge::new(&workspace, &reference, &JudgeOptions::default()).expect("sound");
    let campaign = Campaign::new(judge).runs(20).steps(20);
    let passed = campaign
        .check(Saboteur::new(&model, false))
        .expect("it conforms to the model as it was");
    assert_eq!(passed.summary.verdict(), Some(Verdict::Pass));
    assert!(!model.exists());

    // Goals are those of the snapshot, too, and each has its own result.
    std::fs::write(&model, MODEL).expect("written");
    let workspace = Workspace::new();
    let campaign = Campaign::new(judged(&workspace, &model)).runs(5).steps(20);
    let error = campaign.check(Saboteur::new(&model, false)).unwrap_err();
    let CheckError::Fails(certificate) = error else {
        panic!("{error:?}");
    };
    assert_eq!(certificate.verdict, Verdict::Violate);
    assert_eq!(certificate.observed.as_deref(), Some("!creak"));

    // The certificate is about the text that judged, and says which.
    std::fs::write(&model, MODEL).expect("written");
    let workspace = Workspace::new();
    let hash = workspace.source(&model).expect("read").hash().to_owned();
    let campaign = Campaign::of(&workspace, &model.display().to_string()).expect("sound");
    let error = campaign
        .runs(20)
        .steps(20)
        .check(Saboteur::new(&model, true))
        .unwrap_err();
    let CheckError::Fails(certificate) = error else {
        panic!("{error:?}");
    };
    assert_eq!(certificate.model.hash.as_ref(), Some(&hash));
    let path = folder.join("certificate.json");
    let text = serde_json::to_vec(&*certificate).expect("a document");
    std::fs::write(&path, text).expect("written");
    let explained = workspace
        .explain(&path, &ExplainOptions::default())
        .expect("explained");
    assert_eq!(explained.checked, iolite::CheckOutcome::Confirmed);
    assert!(explained.models_changed.is_empty());
}

#[test]
fn whatever_is_asked_each_file_is_read_once() {
    let folder = folder("reads");
    let model = folder.join("door.iol");
    std::fs::write(&model, MODEL).expect("written");
    let workspace = Workspace::with_options(ReadOptions::default());
    let reference = ModelRef::from(model.display().to_string().as_str());
    judged(&workspace, &model);
    let purposes = JudgeOptions {
        purposes: vec![reference.clone()],
        ..JudgeOptions::default()
    };
    Judge::new(&workspace, &reference, &purposes).expect("sound");
    workspace
        .verify(
            &reference,
            &VerificationOptions {
                properties: vec![reference.with_name("NoClick")],
                ..VerificationOptions::default()
            },
        )
        .expect("an answer");
    let options = RelationOptions::new(Relation::Trace);
    let answer = workspace.relate(&reference, &reference, &options, &mut |_| None);
    assert_eq!(answer.expect("an answer").holds, Some(true));
    let reads: Vec<usize> = workspace.reads().into_values().collect();
    assert_eq!(reads, [1]);
}

/// Without texts, large files are still read once and related as they are, also to themselves; what was
/// given up and is asked for again is the same file or an error.
#[test]
fn large_files_whose_texts_are_given_up_are_related() {
    let folder = folder("snapshot-large");
    let states = 40_000;
    let row = |state: usize| {
        let label = ["?a", "!x"][state % 2];
        format!("({state}, \"{label}\", {})\n", (state + 1) % states)
    };
    let rows: Vec<String> = (0..states).map(row).collect();
    let text = format!("des (0, {states}, {states})\n{}", rows.concat());
    assert!(text.len() > 1 << 19);
    let padded = format!("{text}{}", "\n".repeat(1 << 20));
    for workspace in [
        Workspace::new().without_texts(),
        Workspace::new().without_texts().without_hashes(),
    ] {
        relate_large(&workspace, &folder, &text, &padded);
    }
}

fn relate_large(workspace: &Workspace, folder: &Path, text: &str, padded: &str) {
    let [one, other] = ["one.aut", "other.aut"].map(|name| folder.join(name));
    std::fs::write(&one, padded).expect("a file");
    std::fs::write(&other, padded).expect("a file");
    let [i, s] = [ModelRef::file(&one), ModelRef::file(&other)];
    let options = RelationOptions {
        certificate: false,
        ..RelationOptions::new(Relation::Trace)
    };
    for (i, s) in [(&i, &s), (&s, &s), (&i, &i)] {
        let document = workspace.relate(i, s, &options, &mut |_| None);
        assert_eq!(document.expect("an answer").holds, Some(true));
    }
    assert!(
        workspace.reads().values().all(|&reads| reads == 1),
        "{:?}",
        workspace.reads()
    );
    // A certificate has the text, which is read again.
    let certified = RelationOptions {
        certificate: true,
        ..RelationOptions::new(Relation::Trace)
    };
    let cut = folder.join("cut.aut");
    std::fs::write(&cut, "des (0, 1, 2)\n(0, \"?b\", 1)\n").expect("a file");
    let small = ModelRef::file(&cut);
    let document = workspace.relate(&small, &s, &certified, &mut |_| None);
    let certificate = document.expect("an answer").certificate.expect("refuted");
    let large = certificate
        .files
        .iter()
        .find(|file| file.path.ends_with("other.aut"));
    assert_eq!(large.expect("the specification").text, padded);
    // By another reference the system is not known any more, and the file has changed meanwhile.
    std::fs::write(&one, text).expect("a file");
    let late = workspace.relate(&small, &i, &certified, &mut |_| None);
    let error = late.expect_err("another file");
    assert!(error.message().contains("changed"), "{}", error.message());
    let again = i.with_hash("0");
    let error = workspace.explicit(&again).expect_err("another file");
    assert!(error.message().contains("changed"), "{}", error.message());
}

/// A large file that is read piece by piece is the same system, with the same hash, as the whole of it; and what is wrong with
/// it is said in the same words.
#[test]
fn large_files_are_read_piece_by_piece() {
    let folder = folder("snapshot-stream");
    let states = 60_000;
    let row = |state: usize| {
        let label = ["?a", "!x", "i"][state % 3];
        format!("({state}, \"{label}\", {})\n", (state * 7 + 1) % states)
    };
    let rows: Vec<String> = (0..states).map(row).collect();
    let good = format!("des (0, {states}, {states})\n{}", rows.concat());
    assert!(good.len() > 1 << 20);
    let bad = good.replace("(59999, ", "(59999 ");
    let cut = good[..good.len() - 9].to_owned();
    let path = folder.join("large.aut");
    for text in [&good, &bad, &cut] {
        std::fs::write(&path, text).expect("a file");
        let reference = ModelRef::file(&path);
        // A text that was put in the place of the file is read as a whole.
        let whole = Workspace::new();
        whole.insert(&path, text.as_bytes());
        let expected = whole.explicit(&reference);
        let labels = |spec: &iolite::ExplicitSpec| {
            let labels = spec.labels();
            let texts = labels.iter().map(|(_, label)| label.to_string());
            texts.collect::<Vec<_>>()
        };
        for (pieces, has_hash) in [
            (Workspace::new(), true),
            (Workspace::new().without_texts(), true),
            (Workspace::new().without_texts().without_hashes(), false),
        ] {
            match (&expected, pieces.explicit(&reference)) {
                (Ok(a), Ok(b)) => {
                    assert_eq!(labels(a), labels(&b));
                    assert_eq!(a.reference().path(), b.reference().path());
                    let hash = a.reference().hash.as_ref().filter(|_| has_hash);
                    assert_eq!(b.reference().hash.as_ref(), hash);
                    assert_eq!(pieces.hashes().is_empty(), !has_hash);
                    assert_eq!(pieces.reads().values().sum::<usize>(), 1);
                    // Who asks for the hash after all gets it.
                    let source = pieces.source(&path).expect("the file");
                    assert_eq!(Some(source.hash()), a.reference().hash.as_deref());
                    assert_eq!(pieces.hashes(), whole.hashes());
                }
                (Err(a), Err(b)) => assert_eq!(a.message(), b.message()),
                (a, b) => panic!("{:?} and {:?}", a.is_ok(), b.is_ok()),
            }
        }
    }
}

/// The text of a large file that is read piece by piece is kept where texts are.
#[test]
fn texts_of_large_files_are_kept() {
    let folder = folder("snapshot-kept");
    let path = folder.join("large.aut");
    let rows = "(0, \"?a\", 0)\n".repeat(100_000);
    let text = format!("des (0, 100000, 1)\n{rows}");
    std::fs::write(&path, &text).expect("a file");
    let workspace = Workspace::new();
    workspace.explicit(&ModelRef::file(&path)).expect("a model");
    std::fs::remove_file(&path).expect("a file");
    let source = workspace.source(&path).expect("the file as it was");
    assert!(source.bytes() == text.as_bytes());
}

/// Threads read large files, two at a time, with the answer of one: the document, the warnings in their order, and what is
/// wrong with a file.
#[test]
fn several_threads_read_what_one_reads() {
    let folder = folder("snapshot-threads");
    let states = 60_000;
    let text = |labels: [&str; 3]| {
        let row = |state: usize| {
            let next = (state * 7 + 1) % states;
            format!("({state}, \"{}\", {next})\n", labels[state % 3])
        };
        let rows: Vec<String> = (0..states).map(row).collect();
        format!("des (0, {states}, {states})\n{}", rows.concat())
    };
    let good = text(["?a", "!x", "b"]);
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file");
        ModelRef::file(&path)
    };
    let models = [
        write("good.aut", &good),
        write("other.aut", &text(["?a", "!y", "c"])),
        write("bad.aut", &good.replace("(59999, ", "(59999 ")),
        write("worse.aut", &good[..good.len() - 9]),
        write("small.aut", "des (0, 1, 2)\n(0, \"?a\", 1)\n"),
        ModelRef::file(&folder.join("missing.aut")),
    ];
    let answer = |i: &ModelRef, s: &ModelRef, jobs: usize| {
        let warnings = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&warnings);
        let jobs = NonZeroUsize::new(jobs).expect("at least one");
        let read = ReadOptions {
            input: vec!["idle".to_owned()],
            ..ReadOptions::default()
        };
        let workspace = Workspace::with_options(read)
            .without_texts()
            .with_jobs(jobs)
            .on_warning(move |text| heard.lock().expect("no panic").push(text.to_owned()));
        let options = RelationOptions {
            certificate: false,
            jobs,
            ..RelationOptions::new(Relation::Trace)
        };
        let document = workspace.relate(i, s, &options, &mut |_| None);
        let document = document.map(|document| {
            let mut document = serde_json::to_value(&document).expect("JSON");
            // Threads have copies, which take memory.
            let effort = document["effort"].as_object_mut().expect("counts");
            effort.remove("bytes").expect("a number");
            document.to_string()
        });
        let document = document.map_err(|e| e.message().to_owned());
        let warnings = std::mem::take(&mut *warnings.lock().expect("no panic"));
        (document, warnings, workspace.hashes())
    };
    for i in &models {
        for s in &models {
            let alone = answer(i, s, 1);
            for jobs in [2, 5] {
                assert_eq!(answer(i, s, jobs), alone, "{i} and {s} with {jobs} jobs");
            }
        }
    }
    let (document, warnings, _) = answer(&models[0], &models[1], 2);
    assert!(document.is_ok());
    let of = |name: &str| warnings.iter().position(|text| text.contains(name));
    assert!(of("good.aut").is_some() && of("good.aut") < of("other.aut"));
}
