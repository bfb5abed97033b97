//! Flags that several commands share, and the options of the library that they stand for.

pub(crate) mod bounds;
pub(crate) mod data;
pub(crate) mod effort;
pub(crate) mod judge;
pub(crate) mod manners;
pub(crate) mod overwriting;
pub(crate) mod property;
pub(crate) mod target;

use iolite::{ReadOptions, Workspace};
use iolite_lang::Style;

use crate::output::status;

/// The snapshot of a command. Warnings go to standard error as they come up.
pub(crate) fn workspace(read: &ReadOptions) -> Workspace {
    let colour = manners::colour();
    Workspace::with_options(read.clone())
        .with_style(Style { colour })
        .with_budget(bounds::budget())
        .on_warning(|text| status::remark(&text))
}

/// How many things are done at the same time.
pub(crate) fn parse_jobs(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(0) => {
            Err("with 0 at the same time nothing is done; 1 is one after the other".to_owned())
        }
        Ok(jobs) => Ok(jobs),
        Err(e) => Err(e.to_string()),
    }
}
