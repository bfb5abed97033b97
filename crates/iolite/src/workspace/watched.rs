//! Whether what watches a system is used with the system that it is for.

use std::path::Path;

use iolite_derive::ModelRef;
use iolite_lang::{is_instance_of, missing_actions, systems, watched_system};

use super::{SourceFile, Workspace, conformance_model};
use crate::Error;

impl Workspace {
    /// Tells of a declaration `for S` that is used with another system than S; where that one does
    /// not have its actions, it is a mistake.
    pub(crate) fn check_watched(
        &self,
        source: &SourceFile,
        name: &str,
        model: &ModelRef,
    ) -> Result<(), Error> {
        let file = source.tree().0;
        let Some(of) = watched_system(file, name).filter(|_| model.is_iol()) else {
            // A system in a format other than our own has no name, and may be any.
            return Ok(());
        };
        let declared = self.declaration(model)?;
        let same_name = is_instance_of(declared.file(), &declared.name, of);
        if same_name && (!systems(file).contains(&of) || same_file(source.path(), model.path())) {
            return Ok(());
        }
        let item = file.items.iter().find(|item| item.name().text == name);
        let keyword = item.map_or("declaration", iolite_lang::syntax::ast::Item::keyword);
        let (path, model) = (source.path().display(), &declared.reference);
        let other = if same_name {
            format!("{keyword} `{name}` is for the system `{of}` of {path}, not for {model}")
        } else {
            format!("{keyword} `{name}` of {path} is for system `{of}`, not for {model}")
        };
        match missing_actions(file, name, declared.file(), &declared.name).as_slice() {
            [] => {
                self.warn(&format!("warning: {other}"));
                Ok(())
            }
            missing => Err(Error::input(format!(
                "{other}, which has no `{}`",
                missing.join("`, `")
            ))),
        }
    }

    /// The same for a declaration that is read elsewhere: a property, or a set of traces, which needs
    /// no name where it is the only one.
    pub(crate) fn check_watched_reference(
        &self,
        reference: &ModelRef,
        model: &ModelRef,
    ) -> Result<(), Error> {
        if !reference.is_iol() || conformance_model(reference).is_some() {
            return Ok(());
        }
        let source = self.source(reference.path())?;
        let name = match (&reference.name, source.declared("traces")?.as_slice()) {
            (Some(name), _) => name.as_str(),
            (None, [only]) => *only,
            _ => return Ok(()),
        };
        self.check_watched(&source, name, model)
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}
