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
//! away if need be, and without direction where the property has none. Where a property has guards on the
//! values of an action, it keeps its values, and the guards say which letter it is.

use std::cell::Cell;
use std::sync::Arc;

use iolite_derive::{Action, ActionId, Alphabet};
use iolite_exec::codec::{CodecError, Decoded, Dictionary, Message};
use iolite_exec::{ConcreteAction, WireValue, brief};
use iolite_expr::Value;
use iolite_lts::{Label, LabelId, LabelKind, Labels};
use iolite_property::{ActionPattern, AlphabetMap, Image};
use serde::Deserialize;

use crate::{Error, SourceFile};

/// What an event that no property sees is to the tester, once it has met too many kinds of them to
/// remember their names.
const UNSEEN: &str = "(unseen)";

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
pub(crate) struct Abstraction {
    labels: Arc<Labels>,
    alphabet: Alphabet,
    unseen: LabelId,
    map: AlphabetMap<[WireValue]>,
    /// What stands for an input letter on the wire.
    sends: Vec<(LabelId, ConcreteAction)>,
    /// The actions on whose values a property has guards.
    guarded: Vec<(LabelKind, String)>,
    strict: bool,
}

/// What an event is to the properties.
enum Seen {
    /// A letter.
    Letter(LabelId),
    /// A letter that its values decide.
    Valued,
    /// Nothing.
    Unseen,
    /// The map must know it and does not.
    NoRule,
}

impl Abstraction {
    /// Over the letters of the properties; `extra` are inputs that no property need know, `guarded` the actions
    /// on whose values a property has guards.
    pub(crate) fn new(
        mut labels: Labels,
        extra: &[String],
        guarded: Vec<(LabelKind, String)>,
        file: Option<&SourceFile>,
    ) -> Result<Self, Error> {
        let known = labels.clone();
        for name in extra {
            let name = name.trim().trim_start_matches('?');
            let own = Value::split_action(name).0;
            if !guarded
                .iter()
                .any(|(k, n)| *k == LabelKind::Input && n == own)
            {
                labels.intern(LabelKind::Input, name);
            }
        }
        let unseen = labels.intern(LabelKind::Undirected, UNSEEN);
        let mut abstraction = Self {
            alphabet: Alphabet::of_labels(&labels),
            labels: Arc::new(labels),
            unseen,
            map: AlphabetMap::new(),
            sends: Vec::new(),
            guarded,
            strict: false,
        };
        if let Some(file) = file {
            abstraction.read_rules(&known, file)?;
        }
        Ok(abstraction)
    }

    fn read_rules(&mut self, known: &Labels, file: &SourceFile) -> Result<(), Error> {
        let path = file.path().display();
        let wrong = |e: &dyn std::fmt::Display| Error::input(format!("{path}: {e}"));
        let found: MapFile = toml::from_str(file.text()?).map_err(|e| wrong(&e))?;
        self.strict = found.unmapped == Unmapped::Error;
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
                        self.sends.push((id, ConcreteAction::parse(&text)));
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
            let map = std::mem::take(&mut self.map);
            self.map = if rule.when.is_empty() {
                map.rule(pattern, image)
            } else {
                let when = rule.when;
                let holds =
                    move |args: &[WireValue]| when.iter().all(|condition| condition.holds(args));
                map.rule_if(pattern, holds, image)
            };
        }
        Ok(())
    }

    /// The letters, and what else a tester of them has.
    pub(crate) fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    /// The same as actions. Each job forks it.
    pub(crate) fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn image(&self, kind: LabelKind, action: &ConcreteAction) -> Seen {
        let label = Label::new(kind, &action.name);
        match self.map.image(&label, &action.args) {
            Some(Image::Letter(id)) => return Seen::Letter(id),
            Some(Image::Unseen) => return Seen::Unseen,
            None => {}
        }
        if self.is_guarded(kind, &action.name) {
            return Seen::Valued;
        }
        let text = action.to_string();
        let own = [kind, LabelKind::Undirected]
            .into_iter()
            .flat_map(|kind| [(kind, text.as_str()), (kind, action.name.as_str())])
            .find_map(|(kind, name)| self.labels.get(kind, name));
        match own {
            Some(letter) => Seen::Letter(letter),
            None if self.strict => Seen::NoRule,
            None => Seen::Unseen,
        }
    }

    fn is_guarded(&self, kind: LabelKind, action: &str) -> bool {
        let kinds = [kind, LabelKind::Undirected];
        let mut guarded = self.guarded.iter();
        guarded.any(|(k, name)| kinds.contains(k) && name == action)
    }

    /// Whether an action of this alphabet stands for something that no property sees.
    pub(crate) fn is_unseen(&self, alphabet: &Alphabet, action: ActionId) -> bool {
        if action.index() < self.labels.len() {
            return action == self.unseen.into();
        }
        let met = alphabet.action(action);
        !met.is_some_and(|a| self.is_guarded(a.kind, Value::split_action(&a.name).0))
    }
}

/// The letters of properties in the words of a system.
#[derive(Clone)]
pub(crate) struct LetterDictionary {
    abstraction: Arc<Abstraction>,
    alphabet: Alphabet,
    /// How many unseen events were given a name.
    remembered: Cell<usize>,
}

impl LetterDictionary {
    pub(crate) fn new(abstraction: &Arc<Abstraction>, alphabet: &Alphabet) -> Self {
        Self {
            abstraction: Arc::clone(abstraction),
            alphabet: alphabet.clone(),
            remembered: Cell::new(0),
        }
    }

    /// An event that no property sees, by its name where there is room.
    fn unseen(&self, label: &Label) -> ActionId {
        // A record must not take it for the letter of the same name.
        if self
            .abstraction
            .labels
            .get(label.kind, &label.name)
            .is_some()
        {
            return self.abstraction.unseen.into();
        }
        let action = Action::from(label);
        if let Some(known) = self.alphabet.get(&action) {
            return known;
        }
        if self.remembered.get() >= REMEMBERED {
            return self.abstraction.unseen.into();
        }
        self.remembered.set(self.remembered.get() + 1);
        self.alphabet.intern(action)
    }

    /// An event whose letter depends on its values: it stays what it is.
    fn valued(&self, label: &Label) -> ActionId {
        self.alphabet.intern(Action::from(label))
    }

    /// What an event in `?a(1)`, `!x` notation, or a plain one, is to the tester; `None` where the map
    /// must know it and does not.
    pub(crate) fn event(&self, text: &str) -> Option<ActionId> {
        if text == UNSEEN {
            return Some(self.abstraction.unseen.into());
        }
        let label = Label::parse(text);
        match self
            .abstraction
            .image(label.kind, &ConcreteAction::parse(&label.name))
        {
            Seen::Letter(letter) => Some(letter.into()),
            Seen::Valued => Some(self.valued(&label)),
            Seen::Unseen => Some(self.unseen(&label)),
            Seen::NoRule => None,
        }
    }

    /// What a step that a tester recorded is: the map was applied then.
    pub(crate) fn recorded(&self, text: &str) -> ActionId {
        if let Some(letter) = self.abstraction.labels.get_text(text) {
            return letter.into();
        }
        let label = Label::parse(text);
        let (name, _) = Value::split_action(&label.name);
        if self.abstraction.is_guarded(label.kind, name) {
            return self.valued(&label);
        }
        self.unseen(&label)
    }
}

impl Dictionary for LetterDictionary {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn read(&self, kind: LabelKind, message: &Message) -> Result<Decoded, CodecError> {
        self.foreign(kind, &message.action)
    }

    fn foreign(&self, kind: LabelKind, action: &ConcreteAction) -> Result<Decoded, CodecError> {
        let text = action.to_string();
        let label = Label::new(kind, &text);
        let (action, known) = match self.abstraction.image(kind, action) {
            Seen::NoRule => {
                let rule = brief(&text);
                return Err(CodecError(format!("the map has no rule for {rule}")));
            }
            Seen::Letter(letter) => {
                let same = *self.abstraction.labels.label(letter) == label;
                (ActionId::from(letter), same)
            }
            Seen::Valued => (self.valued(&label), true),
            Seen::Unseen => {
                let action = self.unseen(&label);
                (action, action != self.abstraction.unseen.into())
            }
        };
        // The journal keeps what it really was.
        let note = (!known).then_some(text);
        Ok(Decoded { action, note })
    }

    fn write(&self, action: ActionId) -> Message {
        let sends = &self.abstraction.sends;
        let rule = sends.iter().find(|(id, _)| ActionId::from(*id) == action);
        if let Some((_, action)) = rule {
            return Message::notation(&action.to_string());
        }
        let text = self.alphabet.text(action);
        Message::notation(text.strip_prefix('?').unwrap_or(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dictionary(letters: &[&str], toml: Option<&str>) -> LetterDictionary {
        let mut labels = Labels::new();
        for letter in letters {
            labels.intern_text(letter);
        }
        let workspace = crate::Workspace::new();
        let file = toml.map(|text| workspace.insert("map.toml".as_ref(), text));
        let made = Abstraction::new(labels, &["?more".to_owned()], Vec::new(), file.as_deref());
        let abstraction = Arc::new(made.unwrap_or_else(|e| panic!("{e}")));
        let alphabet = abstraction.alphabet().clone();
        LetterDictionary::new(&abstraction, &alphabet)
    }

    fn image(a: &LetterDictionary, event: &str) -> Option<String> {
        let action = a.event(event)?;
        let text = a.alphabet.text(action);
        Some(if a.abstraction.is_unseen(&a.alphabet, action) {
            format!("unseen {text}")
        } else {
            text.to_string()
        })
    }

    #[test]
    fn without_a_map_events_are_their_own_letters() {
        let a = dictionary(&["?a", "!x", "!y(1)", "plain"], None);
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
        let a = dictionary(
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
        let op = a.event("?op_read(root, 3)").expect("a letter");
        assert_eq!(a.write(op).action.to_string(), "op_write(root, 4)");
    }

    /// A rule for the rest must not swallow what was mapped before it was recorded.
    #[test]
    fn records_are_mapped_once() {
        let rules = "[[map]]\naction = \"!journal\"\nto = \"!log\"\n[[map]]\naction = \"*\"\n";
        let a = dictionary(&["!log"], Some(rules));
        let letter = a.event("!journal(1)").expect("a letter");
        assert_eq!(&*a.alphabet.text(letter), "!log");
        assert_eq!(a.recorded("!log"), letter);
        // The system's own `log` is not the letter, and is not recorded as one.
        let own = a.event("!log").expect("unseen");
        assert_eq!(&*a.alphabet.text(own), UNSEEN);
        assert_eq!(a.recorded(UNSEEN), own);
        let other = a.event("!tick").expect("unseen");
        assert_eq!(a.recorded(&a.alphabet.text(other)), other);
    }

    #[test]
    fn memory_is_bounded() {
        let a = dictionary(&["?a"], None);
        let tick = |k| a.event(&format!("!tick({k})")).expect("unseen");
        assert!((0..3 * REMEMBERED).all(|k| a.abstraction.is_unseen(&a.alphabet, tick(k))));
        assert_eq!(&*a.alphabet.text(tick(3 * REMEMBERED)), UNSEEN);
    }
}
