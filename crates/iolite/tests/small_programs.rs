//! Small programs with data whose answers are known, decided without a process solver.
#![allow(missing_docs)]

mod programs;

use iolite::{ModelRef, Proof, VerificationOptions, Workspace};
use programs::{PROGRAMS, text};

#[test]
fn small_programs_are_decided_as_they_should() {
    let (mut unknown, mut wrong) = (Vec::new(), Vec::new());
    let mut how = std::collections::BTreeMap::new();
    for program in PROGRAMS {
        let file = format!("{}.iol", program.name);
        let workspace = Workspace::new();
        workspace.insert(file.as_ref(), text(program));
        let model = ModelRef::from(file.as_str());
        let options = VerificationOptions {
            properties: vec![model.clone()],
            ..VerificationOptions::default()
        };
        let found = workspace
            .verify(&model, &options)
            .unwrap_or_else(|e| panic!("{}: {e}", program.name));
        match &found.properties[0].proof {
            Proof::Proved { invariant, .. } if program.holds => {
                let by = invariant.as_ref().map(|(how, _)| how.clone());
                *how.entry(by.unwrap_or_default()).or_insert(0) += 1;
            }
            Proof::Refuted { .. } if !program.holds => {}
            Proof::Unknown { .. } => unknown.push(program.name),
            other => wrong.push((program.name, other.clone())),
        }
    }
    assert!(PROGRAMS.len() >= 90, "{}", PROGRAMS.len());
    assert!(wrong.is_empty(), "{wrong:?}");
    println!("{how:?}, unknown: {unknown:?}");
    assert!(unknown.len() <= 3, "{unknown:?}");
}
