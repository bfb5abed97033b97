//! Which labels of a foreign file are inputs and which are outputs.

use iolite_lts::{Label, LabelKind};

use crate::label_text::INTERNAL_PREFIX;

/// How label texts of foreign files become labels.
///
/// `?a`, `!x`, `i`, `tau` and `delta` mean what they mean everywhere. A plain label is an
/// undirected action, unless the user names it, or a prefix of it, as input or output: nothing is
/// guessed from its looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directions {
    /// Plain names that are inputs; `send` stands for `send(1)` too.
    pub inputs: Vec<String>,
    /// Plain names that are outputs.
    pub outputs: Vec<String>,
    /// Prefixes of plain names that are inputs, such as `I_`.
    pub input_prefixes: Vec<String>,
    /// Prefixes of plain names that are outputs, such as `O_`.
    pub output_prefixes: Vec<String>,
    /// Whether a matching prefix is taken off the name.
    pub strip_prefixes: bool,
}

impl Directions {
    /// The label a text stands for.
    pub fn label(&self, text: &str) -> Label {
        if let Some(name) = text.strip_prefix(INTERNAL_PREFIX)
            && !name.is_empty()
        {
            return Label::new(LabelKind::Internal, name);
        }
        if matches!(text, "QUIESCENCE" | "quiescence") {
            return Label::parse("delta");
        }
        let label = Label::parse(text);
        if label.kind == LabelKind::Undirected {
            self.direct(text).unwrap_or(label)
        } else {
            label
        }
    }

    fn direct(&self, text: &str) -> Option<Label> {
        let named = |list: &[String]| list.iter().any(|name| names_label(name, text));
        if named(&self.inputs) {
            return Some(Label::new(LabelKind::Input, text));
        }
        if named(&self.outputs) {
            return Some(Label::new(LabelKind::Output, text));
        }
        [
            (&self.input_prefixes, LabelKind::Input),
            (&self.output_prefixes, LabelKind::Output),
        ]
        .into_iter()
        .find_map(|(prefixes, kind)| {
            let rest = prefixes
                .iter()
                .find_map(|p| text.strip_prefix(p.as_str()))
                .filter(|rest| !rest.is_empty())?;
            Some(Label::new(
                kind,
                if self.strip_prefixes { rest } else { text },
            ))
        })
    }
}

/// Whether a name that a user gives is that of a label: the whole of it, or the part before its values.
pub fn names_label(name: &str, label: &str) -> bool {
    let rest = label.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_labels_are_directed_only_by_request() {
        let plain = Directions::default();
        assert_eq!(plain.label("I_KEX").to_string(), "I_KEX");
        assert_eq!(plain.label("?I_KEX").to_string(), "?I_KEX");
        let ssh = Directions {
            input_prefixes: vec!["I_".into()],
            output_prefixes: vec!["O_".into()],
            outputs: vec!["bye".into()],
            ..Directions::default()
        };
        assert_eq!(ssh.label("I_KEX").to_string(), "?I_KEX");
        assert_eq!(ssh.label("I_").to_string(), "I_");
        assert_eq!(ssh.label("bye").to_string(), "!bye");
        let short = Directions {
            strip_prefixes: true,
            ..ssh
        };
        assert_eq!(short.label("O_KEX").to_string(), "!KEX");
        let named = Directions {
            inputs: vec!["send".into(), "put(2)".into()],
            ..Directions::default()
        };
        assert_eq!(named.label("send(1)").to_string(), "?send(1)");
        assert_eq!(named.label("send").to_string(), "?send");
        assert_eq!(named.label("sender").to_string(), "sender");
        assert_eq!(named.label("put(2)").to_string(), "?put(2)");
        assert_eq!(named.label("put(3)").to_string(), "put(3)");
        assert_eq!(plain.label("QUIESCENCE").kind, LabelKind::Delta);
        assert_eq!(plain.label("i:timeout").kind, LabelKind::Internal);
    }
}
