//! Constants that an observer or a purpose shares with an instance of a system are those of the instance.

use std::collections::BTreeSet;

use iolite_derive::ModelRef;
use iolite_lang::parse_value;
use iolite_lang::syntax::ast::{BehaviourKind, Item};
use iolite_sts::Iosts;

use super::{Declared, SourceFile, Workspace};
use crate::Error;

/// The values that an instance gives, as they are written: `system S = Sender(max = 2)`.
fn given(declared: &Declared) -> Vec<(String, String)> {
    let file = declared.file();
    let bytes = declared.source.bytes();
    let mut found: Vec<(String, String)> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut name = declared.name.as_str();
    while seen.insert(name) {
        let item = file.items.iter().find(|item| item.name().text == name);
        let Some(Item::Definition(definition)) = item else {
            break;
        };
        let BehaviourKind::Call {
            name: called, args, ..
        } = &definition.body.kind
        else {
            break;
        };
        for (constant, value) in args {
            let text = bytes.get(value.span.start..value.span.end);
            let text = String::from_utf8_lossy(text.unwrap_or_default()).into_owned();
            if !found.iter().any(|(known, _)| *known == constant.text) {
                found.push((constant.text.clone(), text));
            }
        }
        name = &called.text;
    }
    found
}

impl Workspace {
    /// An observer or a purpose of a file, with the constants that an instance of a system gives.
    pub(crate) fn beside_instance(
        &self,
        automaton: Iosts,
        source: &SourceFile,
        system: &ModelRef,
    ) -> Result<Iosts, Error> {
        if automaton.constants().is_empty() || !system.is_iol() {
            return Ok(automaton);
        }
        let given = given(&self.declaration(system)?);
        let mut values = Vec::new();
        for constant in automaton.constants() {
            let name = &*constant.var.name;
            let Some((_, text)) = given.iter().find(|(known, _)| known == name) else {
                continue;
            };
            let value = parse_value(source.tree().0, text, &constant.var.sort).map_err(|e| {
                let automaton = automaton.name();
                Error::input(format!(
                    "`{name}` of `{automaton}` is that of {system}, {text}: {e}"
                ))
            })?;
            values.push((name, value));
        }
        if values.is_empty() {
            return Ok(automaton);
        }
        let name = automaton.name().to_owned();
        let instance = automaton.instance(&name, &values);
        instance.map_err(|e| Error::input(format!("{name} beside {system}: {e}")))
    }
}
