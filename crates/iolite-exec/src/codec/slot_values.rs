//! The values of an action, put together from what holes read.

use std::collections::BTreeMap;

use crate::WireValue;

use super::CodecError;
use super::template::Slot;

/// The values of an action, put together from the holes of one or several templates.
pub(crate) struct SlotValues {
    args: Vec<Option<WireValue>>,
    /// Fields that were read, by parameter and path.
    fields: BTreeMap<(usize, Vec<String>), WireValue>,
    kept: Vec<(String, WireValue)>,
}

impl SlotValues {
    pub(crate) fn new(params: usize) -> Self {
        Self {
            args: vec![None; params],
            fields: BTreeMap::new(),
            kept: Vec::new(),
        }
    }

    /// Adds what was read; a name that occurs twice must have the same value twice.
    pub(crate) fn take(&mut self, values: Vec<(&Slot, WireValue)>) -> Result<(), CodecError> {
        for (slot, value) in values {
            let before = match slot {
                Slot::Kept(name) => {
                    self.kept.push((name.clone(), value));
                    continue;
                }
                Slot::Param { param, path } if path.is_empty() => {
                    self.args[*param].replace(value.clone())
                }
                Slot::Param { param, path } => {
                    let key = (*param, path.clone());
                    self.fields.insert(key, value.clone())
                }
            };
            if let Some(before) = before
                && before != value
            {
                return Err(CodecError(format!(
                    "{before} in one place and {value} in another"
                )));
            }
        }
        Ok(())
    }

    /// The values of the parameters, and what is kept.
    pub(crate) fn finish(mut self) -> (Vec<WireValue>, Vec<(String, WireValue)>) {
        for ((param, path), value) in self.fields {
            let record = self.args[param].get_or_insert_with(|| WireValue::Record(Vec::new()));
            set_field(record, &path, value);
        }
        (self.args.into_iter().flatten().collect(), self.kept)
    }
}

fn set_field(record: &mut WireValue, path: &[String], value: WireValue) {
    let (WireValue::Record(fields), [name, rest @ ..]) = (record, path) else {
        return;
    };
    let at = fields.iter().position(|(n, _)| n == name);
    let at = at.unwrap_or_else(|| {
        fields.push((name.clone(), WireValue::Record(Vec::new())));
        fields.len() - 1
    });
    if rest.is_empty() {
        fields[at].1 = value;
    } else {
        set_field(&mut fields[at].1, rest, value);
    }
}
