//! `iolite-recheck FILE`: the checker by itself, for those who trust nothing else. `-` is standard input, so
//! that packed certificates need no library here: `gunzip -c c.json.gz | iolite-recheck -`.

use std::io::Read;
use std::process::ExitCode;

use iolite_recheck::{Certificate, Fault, check};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a command")]
fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: iolite-recheck CERTIFICATE");
        return ExitCode::from(2);
    };
    let read = if path == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(&path)
    };
    let read = read.map_err(|e| e.to_string());
    let read = read.and_then(|bytes| {
        serde_json::from_slice::<Certificate>(&bytes).map_err(|e| format!("no certificate: {e}"))
    });
    let certificate = match read {
        Ok(certificate) => certificate,
        Err(reason) => {
            eprintln!("{}: {reason}", path.display());
            return ExitCode::from(2);
        }
    };
    match check(&certificate) {
        Ok(report) => {
            for line in &report.confirmed {
                println!("confirmed  {line}");
            }
            for line in &report.notes {
                println!("note       {line}");
            }
            for line in &report.told {
                println!("told       {line}");
            }
            println!(
                "told       that the tables are what the texts mean (`iolite explain` compares them)"
            );
            ExitCode::SUCCESS
        }
        Err(Fault::Rejected(reason)) => {
            println!("rejected   {reason}");
            ExitCode::from(1)
        }
        Err(Fault::Undecided(reason)) => {
            println!("undecided  {reason}");
            ExitCode::from(3)
        }
    }
}
