//! `iolite test --relation conf --suite`: test cases that offer actions, against a model.

use iolite::{Error, ModelRef, SymmetricCase, Verdict, Workspace};

use super::test::Args;
use crate::output::campaign::counts;
use crate::output::{Exit, print, print_json};

pub(crate) fn run(args: &Args, workspace: &Workspace) -> Result<Exit, Error> {
    let Some(model) = &args.model else {
        return Err(Error::input("--suite needs a MODEL"));
    };
    let Some(sut) = args.target.sut.strip_prefix("model:") else {
        return Err(Error::input(
            "test cases for conf need a system that agrees to actions or refuses them: --sut \
             model:FILE#Name",
        )
        .hint("a Rust program implements `SymmetricSystem`; `iolite passes` decides it exactly"));
    };
    if let Some(flag) = args.report.files() {
        return Err(Error::input(format!(
            "{flag} is not written for conf: its runs have no inputs and outputs"
        ))
        .hint("`iolite passes … --certificate FILE` proves that a model fails a test case"));
    }
    let runs = (args.repeat, args.effort.seed);
    let cases = workspace.run_symmetric(model, &args.suite, &ModelRef::from(sut), runs)?;
    if args.report.json {
        print_json(&cases)?;
    } else {
        for case in &cases {
            print(&tell(case))?;
        }
    }
    let worst = Verdict::worst(cases.iter().filter_map(|case| case.verdict));
    Ok(worst.map_or(Exit::Inconclusive, Exit::from))
}

fn tell(case: &SymmetricCase) -> String {
    let mut text = format!("{}: {}\n", case.case, counts(&case.verdicts));
    if let Some(failing) = &case.failing {
        let trace = match failing.trace.as_slice() {
            [] => "nothing (at the start)".to_owned(),
            trace => trace.join(" "),
        };
        let refused = failing.refuses.as_ref();
        let refused = refused.map(|set| format!(", then it refuses {{{}}}", set.join(", ")));
        text += &format!("  run   {trace}{}\n", refused.unwrap_or_default());
    }
    text
}
