//! `iolite explain-code`: the long form of a diagnostic's code.

use crate::output::{Exit, print};
use iolite::Error;

/// Say what a diagnostic code such as IOL104 means, with an example
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The code; without it, all codes are listed
    code: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    use iolite_lang::codes;
    let Some(code) = &args.code else {
        for explanation in codes::ALL {
            print(&format!("{}  {}\n", explanation.code, explanation.title))?;
        }
        return Ok(Exit::Holds);
    };
    let Some(explanation) = codes::explain(code) else {
        return Err(Error::input(format!("no diagnostic has the code `{code}`"))
            .hint("`iolite explain-code` lists all codes"));
    };
    print(&format!(
        "{}: {}\n\n{}\n",
        explanation.code, explanation.title, explanation.text
    ))?;
    Ok(Exit::Holds)
}
