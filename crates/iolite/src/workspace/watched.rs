//! Whether what watches a system is used with the system that it is for.

use std::path::Path;

use iolite_lang::{File, is_instance_of, missing_actions, systems, watched_system};

use super::Failure;
use super::property_source::is_iol;
use super::source::{self, ModelRef};

/// Tells of a declaration `for S` that is used with another system than S; where that one does not
/// have its actions, it is a mistake.
pub(super) fn check(path: &Path, file: &File, name: &str, model: &ModelRef) -> Result<(), Failure> {
    let Some(of) = watched_system(file, name).filter(|_| is_iol(model)) else {
        // A system in a format other than our own has no name, and may be any.
        return Ok(());
    };
    let opened = source::open(model)?;
    let same_name = is_instance_of(&opened.file, &opened.name, of);
    if same_name && (!systems(file).contains(&of) || same_file(path, &model.path)) {
        return Ok(());
    }
    let item = file.items.iter().find(|item| item.name().text == name);
    let keyword = item.map_or("declaration", iolite_lang::syntax::ast::Item::keyword);
    let (path, model) = (path.display(), &opened.reference);
    let other = if same_name {
        format!("{keyword} `{name}` is for the system `{of}` of {path}, not for {model}")
    } else {
        format!("{keyword} `{name}` of {path} is for system `{of}`, not for {model}")
    };
    match missing_actions(file, name, &opened.file, &opened.name).as_slice() {
        [] => {
            eprintln!("warning: {other}");
            Ok(())
        }
        missing => Err(Failure::input(format!(
            "{other}, which has no `{}`",
            missing.join("`, `")
        ))),
    }
}

/// The same for a declaration that is read elsewhere: a property, or a set of traces, which needs no
/// name where it is the only one.
pub(super) fn check_reference(reference: &ModelRef, model: &ModelRef) -> Result<(), Failure> {
    if !is_iol(reference) {
        return Ok(());
    }
    let file = source::parse(&reference.path, &source::read(&reference.path)?)?;
    let name = match (
        &reference.name,
        source::declared(&file, "traces").as_slice(),
    ) {
        (Some(name), _) => name,
        (None, [only]) => *only,
        _ => return Ok(()),
    };
    check(&reference.path, &file, name, model)
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}
