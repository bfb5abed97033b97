//! Labels with values, and what `hide`, `rename` and `|[…]|` mean by a name.
//!
//! Once its values are known, an action of a process with values is a label like any other:
//! `on(1)`. A gate without values stands for the action, whatever it carries; one with values for
//! that instance alone.

use std::fmt::Write;

use iolite_expr::Value;

/// The label of an action with these values, as unfolded systems write it.
pub(crate) fn instance(name: &str, values: &[Value]) -> String {
    let mut text = name.to_owned();
    for (k, value) in values.iter().enumerate() {
        let separator = if k == 0 { '(' } else { ',' };
        text.push(separator);
        if k > 0 {
            text.push(' ');
        }
        let _ = write!(text, "{value}");
    }
    if !values.is_empty() {
        text.push(')');
    }
    text
}

/// Whether a label is the action of this name, with or without values.
pub(crate) fn is_instance(label: &str, name: &str) -> bool {
    values_in(label, name).is_some()
}

/// The values that a label of this action carries, as written; empty without any.
fn values_in<'l>(label: &'l str, name: &str) -> Option<&'l str> {
    let rest = label.strip_prefix(name)?;
    if rest.is_empty() {
        return Some(rest);
    }
    rest.strip_prefix('(')?.strip_suffix(')')
}

/// A gate whose values are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) name: String,
    /// Not empty where only one instance is meant.
    pub(crate) values: Vec<Value>,
    /// The action, or its instance.
    text: String,
}

impl Pattern {
    pub(crate) fn new(name: &str, values: Vec<Value>) -> Self {
        Self {
            name: name.to_owned(),
            text: instance(name, &values),
            values,
        }
    }

    pub(crate) fn is_instance(&self) -> bool {
        !self.values.is_empty()
    }

    /// The action, or its instance, as labels write it.
    pub(crate) fn label(&self) -> &str {
        &self.text
    }

    pub(crate) fn matches(&self, label: &str) -> bool {
        if self.is_instance() {
            self.text == label
        } else {
            is_instance(label, &self.text)
        }
    }

    /// What a label that `self` matches is called after `rename self -> new`: values that the gate
    /// does not fix come last.
    pub(crate) fn renamed(&self, label: &str, new: &Self) -> String {
        let values = if self.is_instance() {
            ""
        } else {
            values_in(label, &self.text).unwrap_or_default()
        };
        match (values, new.text.strip_suffix(')')) {
            ("", _) => new.text.clone(),
            (values, Some(first)) if new.is_instance() => format!("{first}, {values})"),
            (values, _) => format!("{}({values})", new.text),
        }
    }
}

/// The pair that renames a label; of several the first counts.
pub(crate) fn renaming<'p>(
    label: &str,
    pairs: &'p [(Pattern, Pattern)],
) -> Option<&'p (Pattern, Pattern)> {
    pairs.iter().find(|(old, _)| old.matches(label))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(name: &str, value: impl Into<Option<i64>>) -> Pattern {
        Pattern::new(name, value.into().into_iter().map(Value::from).collect())
    }

    #[test]
    fn instances_are_written_as_unfolded_systems_write_them() {
        let values = [Value::int(1), Value::Bool(true), Value::str("a")];
        assert_eq!(instance("on", &values), "on(1, true, \"a\")");
        assert_eq!(instance("on", &values[..1]), "on(1)");
        assert_eq!(instance("on", &[]), "on");
    }

    #[test]
    fn a_name_stands_for_all_its_instances() {
        let on = gate("on", None);
        for (label, matches) in [
            ("on", true),
            ("on(1)", true),
            ("on(1, 2)", true),
            ("one", false),
            ("one(1)", false),
            ("o", false),
            ("on(1", false),
        ] {
            assert_eq!(on.matches(label), matches, "{label}");
        }
        assert!(gate("on", 1).matches("on(1)"));
        assert!(!gate("on", 1).matches("on(1, 2)"));
    }

    #[test]
    fn renaming_puts_new_values_first() {
        for (old, new, label, result) in [
            (gate("a", None), gate("b", None), "a", "b"),
            (gate("a", None), gate("b", None), "a(1)", "b(1)"),
            (gate("a", None), gate("b", 7), "a", "b(7)"),
            (gate("a", None), gate("b", 7), "a(1, 2)", "b(7, 1, 2)"),
            (gate("a", 1), gate("b", None), "a(1)", "b"),
            (gate("a", 1), gate("b", 2), "a(1)", "b(2)"),
        ] {
            assert_eq!(old.renamed(label, &new), result);
            assert_eq!(renaming("c", &[(old, new)]), None);
        }
    }
}
