//! `iolite explain-code`: the long form of a diagnostic's code.

use super::{Exit, Failure, print};

/// Say what a diagnostic code such as IOL104 means, with an example
#[derive(clap::Args)]
pub(super) struct Args {
    /// The code; without it, all codes are listed
    code: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    use iolite_lang::codes;
    let Some(code) = &args.code else {
        for explanation in codes::ALL {
            print(&format!("{}  {}\n", explanation.code, explanation.title))?;
        }
        return Ok(Exit::Holds);
    };
    let Some(explanation) = codes::explain(code) else {
        return Err(
            Failure::input(format!("no diagnostic has the code `{code}`"))
                .hint("`iolite explain-code` lists all codes"),
        );
    };
    print(&format!(
        "{}: {}\n\n{}\n",
        explanation.code, explanation.title, explanation.text
    ))?;
    Ok(Exit::Holds)
}
