//! `iolite relate --matrix`: every model against every other.

use iolite::{CounterexampleDocument, Error, ExplicitSpec};
use serde::Serialize;

use super::relate::{Args, Guard};
use crate::args::workspace;
use crate::output::{Exit, print, print_json};

/// One row of the table, as JSON.
#[derive(Serialize)]
struct Row {
    implementation: String,
    /// One answer a specification, in the order of the models.
    holds: Vec<Option<bool>>,
    counterexamples: Vec<Option<CounterexampleDocument>>,
}

#[derive(Serialize)]
struct Matrix {
    relation: String,
    models: Vec<String>,
    rows: Vec<Row>,
}

/// Every model against every other. Each specification is prepared once, and its sets serve all
/// implementations.
pub(crate) fn matrix(args: &Args) -> Result<Exit, Error> {
    let workspace = workspace(&args.read);
    let options = args.options();
    let models = args.models.iter().map(|m| workspace.explicit(m));
    let models = models.collect::<Result<Vec<ExplicitSpec>, Error>>()?;
    let mut rows: Vec<Row> = models
        .iter()
        .map(|m| Row {
            implementation: m.reference().to_string(),
            holds: Vec::new(),
            counterexamples: Vec::new(),
        })
        .collect();
    let mut exit = Exit::Holds;
    for specification in &models {
        let mut prepared = workspace.specification(specification, &options)?;
        for (implementation, row) in models.iter().zip(&mut rows) {
            let mut guard = Guard::new();
            let decision = prepared.decide(implementation, &mut |effort| guard.watch(effort));
            let decision = decision?;
            exit = match decision.holds {
                Some(false) => Exit::Fails,
                None if exit == Exit::Holds => Exit::Inconclusive,
                _ => exit,
            };
            row.holds.push(decision.holds);
            row.counterexamples
                .push(decision.counterexamples.into_iter().next());
        }
    }
    let references = models.iter().map(|m| m.reference().to_string()).collect();
    let matrix = Matrix {
        relation: args.relation.name().to_owned(),
        models: references,
        rows,
    };
    if args.json {
        print_json(&matrix)?;
    } else {
        print(&tell_matrix(&matrix))?;
    }
    Ok(exit)
}

/// The table, with a legend; a cell says after how many actions the two part.
fn tell_matrix(matrix: &Matrix) -> String {
    let mut text = format!(
        "{}: rows are implementations, columns specifications; yes, or the length of a shortest \
         trace that parts the two\n\n",
        matrix.relation
    );
    for (k, model) in matrix.models.iter().enumerate() {
        text += &format!("  {:>3}  {model}\n", k + 1);
    }
    text += "\n     ";
    for k in 1..=matrix.models.len() {
        text += &format!("{k:>5}");
    }
    text.push('\n');
    for (k, row) in matrix.rows.iter().enumerate() {
        text += &format!("{:>5}", k + 1);
        for (holds, found) in row.holds.iter().zip(&row.counterexamples) {
            let cell = match (holds, found) {
                (Some(true), _) => "yes".to_owned(),
                (Some(false), Some(c)) => (c.trace.len() + 1).to_string(),
                _ => "?".to_owned(),
            };
            text += &format!("{cell:>5}");
        }
        text.push('\n');
    }
    text
}
