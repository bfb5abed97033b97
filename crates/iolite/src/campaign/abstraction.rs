//! From a system's concrete events to a property's letters [PROP12, §11].
//!
//! Rules come from a small TOML file:
//!
//! ```toml
//! unmapped = "error"              # default: "unseen"
//!
//! [[map]]
//! action = "?op_*"                # `*` is any text; without ? or ! the direction does not matter
//! when = [{ arg = 1, is = "root" }, { arg = 2, at-least = 10 }]
//! to = "?op"                      # a letter of a property; without it, the event is not seen
//! send = "op_write(root, 10)"     # what the tester sends when it wants `?op`
//! ```
//!
//! The first rule that fits decides. An event without a rule is its own letter, its parameters left
//! away if need be, and without direction where the property has none.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use iolite_exec::codec::{
    ActionCodec, ActionMap, ChannelId, CodecError, Decoded, OnUndecodable, UNDECODABLE,
};
use iolite_exec::{ConcreteAction, WireValue, brief};
use iolite_lts::{Label, LabelId, LabelKind, Labels};
use iolite_property::{ActionPattern, AlphabetMap, Image};
use serde::Deserialize;

use super::{Failure, source};

/// What an event that no property sees is to the tester, once it has met too many kinds of them to
/// remember their names.
pub(super) const UNSEEN: &str = "(unseen)";

/// Names of unseen events that are remembered; events with a time in them would fill memory.
const REMEMBERED: usize = 4096;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct MapFile {
    #[serde(default)]
    unmapped: Unmapped,
    #[serde(default)]
    map: Vec<RuleFile>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Unmapped {
    #[default]
    Unseen,
    Error,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RuleFile {
    action: String,
    #[serde(default)]
    when: Vec<Condition>,
    to: Option<String>,
    send: Option<String>,
}

/// A condition on one parameter, counted from 1. A parameter that is missing meets none.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Condition {
    arg: usize,
    is: Option<Scalar>,
    is_not: Option<Scalar>,
    one_of: Option<Vec<Scalar>>,
    at_least: Option<i64>,
    at_most: Option<i64>,
    /// A text with `*` for any part.
    like: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Scalar {
    Bool(bool),
    Int(i64),
    Text(String),
}

impl Scalar {
    fn equals(&self, value: &WireValue) -> bool {
        match (self, value) {
            (Self::Bool(a), WireValue::Bool(b)) => a == b,
            (Self::Int(a), value) => *value == WireValue::from(*a),
            (Self::Text(a), WireValue::Text(b)) => a == b,
            (Self::Text(a), value) => *a == value.to_string(),
            _ => false,
        }
    }
}

impl Condition {
    fn holds(&self, args: &[WireValue]) -> bool {
        let Some(value) = self.arg.checked_sub(1).and_then(|i| args.get(i)) else {
            return false;
        };
        let number = |bound: i64, below: bool| match (value, WireValue::from(bound)) {
            (WireValue::Int(n), WireValue::Int(bound)) => {
                if below {
                    *n <= bound
                } else {
                    *n >= bound
                }
            }
            _ => false,
        };
        let text = || match value {
            WireValue::Text(t) => t.clone(),
            other => other.to_string(),
        };
        let like = |pattern: &String| {
            // The pattern of an action without its direction is a pattern of texts.
            ActionPattern::parse(&format!("!{pattern}"))
                .fits(&Label::new(LabelKind::Output, &text()))
        };
        self.is.as_ref().is_none_or(|s| s.equals(value))
            && self.is_not.as_ref().is_none_or(|s| !s.equals(value))
            && self
                .one_of
                .as_ref()
                .is_none_or(|list| list.iter().any(|s| s.equals(value)))
            && self.at_least.is_none_or(|n| number(n, false))
            && self.at_most.is_none_or(|n| number(n, true))
            && self.like.as_ref().is_none_or(like)
    }
}

/// Takes events to letters.
pub(super) struct Abstraction {
    labels: Arc<Labels>,
    unseen: LabelId,
    map: AlphabetMap<[WireValue]>,
    /// What stands for an input letter on the wire.
    sends: Vec<(LabelId, ConcreteAction)>,
    strict: bool,
    /// Events that no property sees; their ids follow those of the labels.
    foreign: Mutex<Labels>,
}

impl Abstraction {
    /// Over the letters of the properties; `extra` are inputs that no property need know.
    pub(super) fn new(
        mut labels: Labels,
        extra: &[String],
        file: Option<&Path>,
    ) -> Result<Self, Failure> {
        let known = labels.clone();
        for name in extra {
            let name = name.trim().trim_start_matches('?');
            labels.intern(LabelKind::Input, name);
        }
        let unseen = labels.intern(LabelKind::Undirected, UNSEEN);
        let mut map = AlphabetMap::new();
        let mut sends = Vec::new();
        let mut strict = false;
        if let Some(path) = file {
            let bytes = source::read(path)?;
            let wrong =
                |e: &dyn std::fmt::Display| Failure::input(format!("{}: {e}", path.display()));
            let text = String::from_utf8(bytes).map_err(|_| wrong(&"no UTF-8 text"))?;
            let found: MapFile = toml::from_str(&text).map_err(|e| wrong(&e))?;
            strict = found.unmapped == Unmapped::Error;
            for rule in found.map {
                let image = match &rule.to {
                    None => Image::Unseen,
                    Some(to) => {
                        let id = known.get_text(to).ok_or_else(|| {
                            let letters: Vec<String> =
                                known.iter().skip(2).map(|(_, l)| l.to_string()).collect();
                            wrong(&format!("no property has the action `{to}`"))
                                .hint(format!("they have: {}", letters.join(" ")))
                        })?;
                        let exact = !rule.action.contains('*');
                        let bare = rule.action.trim_start_matches(['?', '!']).to_owned();
                        if let Some(text) = rule.send.or(exact.then_some(bare)) {
                            sends.push((id, ConcreteAction::parse(&text)));
                        }
                        Image::Letter(id)
                    }
                };
                let pattern = ActionPattern::parse(&rule.action);
                if let Some(bad) = rule.when.iter().find(|c| c.arg == 0) {
                    return Err(wrong(&format!(
                        "arg = {}: parameters are counted from 1",
                        bad.arg
                    )));
                }
                map = if rule.when.is_empty() {
                    map.rule(pattern, image)
                } else {
                    let when = rule.when;
                    let holds = move |args: &[WireValue]| {
                        when.iter().all(|condition| condition.holds(args))
                    };
                    map.rule_if(pattern, holds, image)
                };
            }
        }
        Ok(Self {
            labels: Arc::new(labels),
            unseen,
            map,
            sends,
            strict,
            foreign: Mutex::new(Labels::new()),
        })
    }

    fn unseen(&self, label: &Label) -> LabelId {
        // A record must not take it for the letter of the same name.
        if self.labels.get(label.kind, &label.name).is_some() {
            return self.unseen;
        }
        let mut foreign = self.foreign.lock().unwrap_or_else(PoisonError::into_inner);
        if foreign.len() >= REMEMBERED && foreign.get(label.kind, &label.name).is_none() {
            return self.unseen;
        }
        let id = foreign.intern(label.kind, &label.name);
        LabelId::new(self.labels.len() + id.index())
    }

    /// The name of an event that no property sees.
    pub(super) fn foreign_name(&self, label: LabelId) -> Option<String> {
        let foreign = self.foreign.lock().unwrap_or_else(PoisonError::into_inner);
        let index = label.index().checked_sub(self.labels.len())?;
        (index < foreign.len()).then(|| foreign.text(LabelId::new(index)))
    }

    /// The tester's labels.
    pub(super) fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    /// The letter of an event; `None` where the map must know it and does not.
    fn image(&self, kind: LabelKind, action: &ConcreteAction) -> Option<LabelId> {
        let label = Label::new(kind, &action.name);
        let text = action.to_string();
        let unseen = || self.unseen(&Label::new(kind, &text));
        match self.map.image(&label, &action.args) {
            Some(Image::Letter(id)) => return Some(id),
            Some(Image::Unseen) => return Some(unseen()),
            None => {}
        }
        let own = [kind, LabelKind::Undirected]
            .into_iter()
            .flat_map(|kind| [(kind, text.as_str()), (kind, action.name.as_str())])
            .find_map(|(kind, name)| self.labels.get(kind, name));
        own.or_else(|| (!self.strict).then(unseen))
    }

    /// The letter of an event in `?a(1)`, `!x` notation, or of a plain one.
    pub(super) fn parse(&self, text: &str) -> Option<LabelId> {
        if text == UNSEEN {
            return Some(self.unseen);
        }
        let label = Label::parse(text);
        self.image(label.kind, &ConcreteAction::parse(&label.name))
    }

    /// The letter of a step that a tester recorded: the map was applied then.
    pub(super) fn recorded(&self, text: &str) -> LabelId {
        let letter = self.labels.get_text(text);
        letter.unwrap_or_else(|| self.unseen(&Label::parse(text)))
    }

    /// Whether a label stands for something that no property sees.
    pub(super) fn is_unseen(&self, label: LabelId) -> bool {
        label == self.unseen || label.index() >= self.labels.len()
    }

    /// What the tester sends for an input.
    pub(super) fn concrete(&self, input: LabelId) -> ConcreteAction {
        let rule = self.sends.iter().find(|(id, _)| *id == input);
        rule.map_or_else(
            || ConcreteAction::parse(&self.labels.label(input).name),
            |(_, action)| action.clone(),
        )
    }
}

/// Messages to letters, by way of the system's own actions.
pub(super) struct AbstractingCodec {
    pub(super) actions: ActionMap,
    pub(super) abstraction: Arc<Abstraction>,
}

impl ActionCodec<LabelId> for AbstractingCodec {
    fn encode(&mut self, stimulus: &LabelId, bytes: &mut Vec<u8>) -> Result<ChannelId, CodecError> {
        let action = self.abstraction.concrete(*stimulus);
        self.actions.encode(&action, bytes)
    }

    fn decode(&mut self, channel: ChannelId, bytes: &[u8]) -> Result<Decoded<LabelId>, CodecError> {
        let action = match self.actions.decode(channel, bytes) {
            Err(_) if self.actions.undecodable_policy() == OnUndecodable::Output => {
                ConcreteAction::bare(UNDECODABLE)
            }
            decoded => decoded?,
        };
        let label = self.abstraction.image(LabelKind::Output, &action);
        let label = label.ok_or_else(|| {
            CodecError(format!(
                "the map has no rule for {}",
                brief(&action.to_string())
            ))
        })?;
        // The journal keeps what it really was.
        let seen = !self.abstraction.is_unseen(label);
        let same = seen && self.abstraction.labels.text(label) == format!("!{action}");
        let note = (seen && !same || label == self.abstraction.unseen).then(|| action.to_string());
        Ok(Decoded {
            action: label,
            note,
        })
    }

    fn show(&self, stimulus: &LabelId) -> String {
        self.abstraction.labels.text(*stimulus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn abstraction(letters: &[&str], toml: Option<&str>) -> Abstraction {
        let mut labels = Labels::new();
        for letter in letters {
            labels.intern_text(letter);
        }
        let file = toml.map(|text| {
            let name = format!(
                "iolite-map-{}-{}.toml",
                std::process::id(),
                source::hash(text.as_bytes())
            );
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, text).expect("a file");
            path
        });
        let made = Abstraction::new(labels, &["?more".to_owned()], file.as_deref());
        if let Some(path) = file {
            let _ = std::fs::remove_file(path);
        }
        made.unwrap_or_else(|e| panic!("{e}"))
    }

    fn image(a: &Abstraction, event: &str) -> Option<String> {
        let label = a.parse(event)?;
        Some(if a.is_unseen(label) {
            format!("unseen {}", a.foreign_name(label).unwrap_or_default())
        } else {
            a.labels().text(label)
        })
    }

    #[test]
    fn without_a_map_events_are_their_own_letters() {
        let a = abstraction(&["?a", "!x", "!y(1)", "plain"], None);
        for (event, expected) in [
            ("?a", "?a"),
            ("!x(3, true)", "!x"),
            ("!y(1)", "!y(1)"),
            ("!y(2)", "unseen !y(2)"),
            ("!a", "unseen !a"),
            ("?plain", "plain"),
            ("!plain(7)", "plain"),
            ("?more", "?more"),
        ] {
            assert_eq!(image(&a, event).as_deref(), Some(expected), "{event}");
        }
    }

    #[test]
    fn rules_with_conditions() {
        let a = abstraction(
            &["?op", "!log", "!other"],
            Some(
                r#"
                unmapped = "error"
                [[map]]
                action = "?op_*"
                when = [{ arg = 1, is = "root" }, { arg = 2, at-least = 3, at-most = 5 }]
                to = "?op"
                send = "op_write(root, 4)"
                [[map]]
                action = "?op_*"
                [[map]]
                action = "log"
                when = [{ arg = 1, like = "*.txt" }]
                to = "!log"
                [[map]]
                action = "log"
                when = [{ arg = 1, one-of = ["a", 7, true] }, { arg = 1, is-not = 7 }]
                to = "!other"
                "#,
            ),
        );
        for (event, expected) in [
            ("?op_read(root, 3)", Some("?op")),
            ("?op_read(root, 6)", Some("unseen ?op_read(root, 6)")),
            ("?op_read(root)", Some("unseen ?op_read(root)")),
            ("?op_read(guest, 3)", Some("unseen ?op_read(guest, 3)")),
            ("!log(\"a.txt\")", Some("!log")),
            ("!log(a)", Some("!other")),
            ("!log(7)", None),
            ("!log(true)", Some("!other")),
            ("?surprise", None),
        ] {
            let expected = expected.map(str::to_owned);
            // An action of the alphabet is itself where no rule fits.
            let expected =
                expected.or_else(|| event.starts_with("!log").then(|| "!log".to_owned()));
            assert_eq!(image(&a, event), expected, "{event}");
        }
        let op = a.labels().get_text("?op").expect("a letter");
        assert_eq!(a.concrete(op).to_string(), "op_write(root, 4)");
    }

    /// A rule for the rest must not swallow what was mapped before it was recorded.
    #[test]
    fn records_are_mapped_once() {
        let rules = "[[map]]\naction = \"!journal\"\nto = \"!log\"\n[[map]]\naction = \"*\"\n";
        let a = abstraction(&["!log"], Some(rules));
        let letter = a.parse("!journal(1)").expect("a letter");
        assert_eq!(a.labels().text(letter), "!log");
        assert_eq!(a.recorded("!log"), letter);
        // The system's own `log` is not the letter, and is not recorded as one.
        let own = a.parse("!log").expect("unseen");
        assert_eq!(a.labels().text(own), UNSEEN);
        assert_eq!(a.recorded(UNSEEN), own);
        let other = a.parse("!tick").expect("unseen");
        assert_eq!(a.recorded(&a.foreign_name(other).expect("a name")), other);
    }

    #[test]
    fn memory_is_bounded() {
        let a = abstraction(&["?a"], None);
        for k in 0..3 * REMEMBERED {
            assert!(a.is_unseen(a.parse(&format!("!tick({k})")).expect("unseen")));
        }
        let last = a
            .parse(&format!("!tick({})", 3 * REMEMBERED))
            .expect("unseen");
        assert_eq!(a.labels().text(last), UNSEEN);
    }
}
