//! Pictures of declarations as they are written.

use iolite_derive::ModelRef;
use iolite_formats::drawing::Drawing;
use iolite_lang::syntax::ast::{Definition, Item, Machine, Role};

use super::{Format, Workspace};
use crate::Error;

impl Workspace {
    /// The parts of a composition as boxes, connected by what they do together.
    pub fn composition(&self, reference: &ModelRef) -> Result<Drawing, Error> {
        let reference = self.resolved(reference);
        let none = || {
            Error::input(format!("{reference} is no composition of several parts"))
                .hint("one is written `system Net = Left |[mid]| Right`")
        };
        if Format::of(reference.path()).ok() != Some(Format::Iol) {
            return Err(none());
        }
        let source = self.source(reference.path())?;
        let (file, text) = (source.file()?, source.text()?);
        let definitions = file.items.iter().filter_map(|item| match item {
            Item::Definition(definition) => Some(definition),
            _ => None,
        });
        let composed = |d: &&Definition| match &reference.name {
            Some(name) => d.name.text == *name,
            None => d.is_system,
        };
        let mut found = definitions
            .filter(composed)
            .filter_map(|d| Drawing::of_composition(file, text, d));
        let drawing = found.next().ok_or_else(none)?;
        match found.next() {
            None => Ok(drawing),
            Some(_) => Err(
                Error::input(format!("{reference} has several compositions"))
                    .hint("pick one as FILE#Name"),
            ),
        }
    }

    /// The picture of a declaration with states of its own, guards and effects on the edges: an
    /// observer, a purpose, a test case, a set of traces, or a system with data, which has no finite
    /// picture otherwise. `None` for everything else; without a name, for a file whose only such
    /// declaration it is.
    pub fn picture(&self, reference: &ModelRef) -> Result<Option<Drawing>, Error> {
        let reference = self.resolved(reference);
        if Format::of(reference.path()).ok() != Some(Format::Iol) {
            return Ok(None);
        }
        let source = self.source(reference.path())?;
        let file = source.file()?;
        let machines: Vec<&Machine> = file
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Machine(machine) => Some(machine),
                _ => None,
            })
            .collect();
        let machine = match (&reference.name, &machines[..]) {
            (Some(name), machines) => machines.iter().copied().find(|m| m.name.text == *name),
            (None, [only]) if iolite_lang::systems(file).len() <= 1 => Some(*only),
            (None, machines) => {
                let mut systems = machines.iter().filter(|m| m.role == Role::System);
                let first = systems.next().copied();
                first.filter(|_| systems.next().is_none() && iolite_lang::systems(file).len() == 1)
            }
        };
        let drawn = machine.filter(|m| m.role != Role::System || m.has_data());
        Ok(drawn.map(|m| Drawing::of_machine(m, &file.lines)))
    }
}
