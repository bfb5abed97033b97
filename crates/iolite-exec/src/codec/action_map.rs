//! The templates of a system's actions, and the channels they use.

use std::collections::{BTreeMap, BTreeSet};

use crate::ConcreteAction;

use super::message_part::{MessagePart, MessageView};
use super::slot_values::SlotValues;
use super::template::KeptValues;
use super::{ChannelId, CodecError, Message, Template, Typing};

/// What becomes of a message that no action stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUndecodable {
    /// An error that shows the bytes.
    #[default]
    Error,
    /// The output `!undecodable`.
    Output,
}

/// How one action meets bytes.
#[derive(Clone, Debug, Default)]
pub struct ActionRule {
    /// The message of the stimulus.
    pub send: Option<Template>,
    /// The message of the output.
    pub recv: Option<Template>,
    /// What else the message of the output says, in its headers or at paths of its JSON.
    pub parts: Vec<MessagePart>,
    /// Whether the description gives the order of the parameters (`params`).
    pub is_ordered: bool,
    /// The channel of both; `None` sends on the first and receives on any.
    pub channel: Option<ChannelId>,
}

/// All rules. An action without one is its own message: `?coffee` is `coffee`, `!MSG(3, true)` is
/// `MSG(3, true)`, on the first channel.
#[derive(Clone, Debug, Default)]
pub struct ActionMap {
    rules: BTreeMap<String, ActionRule>,
    on_undecodable: OnUndecodable,
    /// Channels whose messages are responses of HTTP.
    http: BTreeSet<ChannelId>,
    /// Whether a model that plays the system speaks: rules are turned round.
    reversed: bool,
}

/// The action of a message, if it is this one's.
fn read(
    name: &str,
    template: &Template,
    parts: &[MessagePart],
    view: &MessageView<'_>,
) -> Result<Message, CodecError> {
    let mut values = SlotValues::new(template.params().len());
    values.take(template.read_slots(&view.text)?)?;
    for part in parts {
        let read = part.read(view).and_then(|read| values.take(read));
        read.map_err(|e| CodecError(format!("{}: {e}", part.name())))?;
    }
    let mut typing = template.typing();
    for part in parts {
        for (param, known) in typing.iter_mut().enumerate() {
            if let Some(said) = part.template().typing_of(param) {
                // A value of JSON's types is one if nothing else says it in words.
                let only = template.typing_of(param).is_none();
                if only || said == Typing::Text {
                    *known = said;
                }
            }
        }
    }
    let (args, kept) = values.finish();
    let action = ConcreteAction {
        name: name.to_owned(),
        args,
    };
    Ok(Message {
        action,
        typing,
        kept,
    })
}

impl ActionMap {
    /// No rules.
    pub fn new() -> Self {
        Self::default()
    }

    /// What becomes of messages that no action stands for.
    #[must_use]
    pub(crate) fn on_undecodable(mut self, policy: OnUndecodable) -> Self {
        self.on_undecodable = policy;
        self
    }

    /// The policy for messages that no action stands for.
    pub(crate) fn undecodable_policy(&self) -> OnUndecodable {
        self.on_undecodable
    }

    /// The messages of this channel are responses of HTTP.
    pub(crate) fn is_http(&mut self, channel: ChannelId) {
        self.http.insert(channel);
    }

    /// The channels of actions, without the first one.
    pub(crate) fn other_channels(&self) -> BTreeSet<ChannelId> {
        let channels = self.rules.values().filter_map(|rule| rule.channel);
        channels.filter(|c| *c != ChannelId::FIRST).collect()
    }

    /// The rules by name.
    pub(crate) fn rules(&self) -> impl Iterator<Item = (&str, &ActionRule)> {
        self.rules.iter().map(|(name, rule)| (name.as_str(), rule))
    }

    pub(super) fn rules_mut(&mut self) -> impl Iterator<Item = (&str, &mut ActionRule)> {
        let rules = self.rules.iter_mut();
        rules.map(|(name, rule)| (name.as_str(), rule))
    }

    /// The templates of stimuli, by the names of their actions.
    pub fn sent(&self) -> impl Iterator<Item = (&str, &Template)> {
        self.rules()
            .filter_map(|(name, rule)| Some((name, rule.send.as_ref()?)))
    }

    /// What a message of a channel says beside its header fields.
    pub(crate) fn view<'a>(&self, channel: ChannelId, bytes: &'a [u8]) -> MessageView<'a> {
        if self.http.contains(&channel) {
            MessageView::of_response(bytes)
        } else {
            MessageView::plain(bytes)
        }
    }

    /// Adds the rule of an action, by its bare name.
    pub fn insert(&mut self, name: impl Into<String>, rule: ActionRule) {
        self.rules.insert(name.into(), rule);
    }

    /// The same rules from the system's side: what was sent is read, what was read is sent.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            rules: self
                .rules
                .iter()
                .map(|(name, rule)| {
                    let rule = ActionRule {
                        send: rule.recv.clone(),
                        recv: rule.send.clone(),
                        parts: rule.parts.clone(),
                        is_ordered: rule.is_ordered,
                        channel: None,
                    };
                    (name.clone(), rule)
                })
                .collect(),
            on_undecodable: self.on_undecodable,
            http: BTreeSet::new(),
            reversed: !self.reversed,
        }
    }

    /// Names that have rules, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rules.keys().map(String::as_str)
    }

    /// Appends the message of a stimulus and names its channel.
    pub fn encode(
        &self,
        action: &ConcreteAction,
        bytes: &mut Vec<u8>,
    ) -> Result<ChannelId, CodecError> {
        self.encode_with(action, &KeptValues::new(), bytes)
    }

    /// Whether the message of an action depends on what was kept.
    pub(crate) fn sends_kept(&self, name: &str) -> bool {
        let send = self.rules.get(name).and_then(|rule| rule.send.as_ref());
        send.is_some_and(|send| send.kept().next().is_some())
    }

    pub(crate) fn encode_with(
        &self,
        action: &ConcreteAction,
        kept: &KeptValues,
        bytes: &mut Vec<u8>,
    ) -> Result<ChannelId, CodecError> {
        match self.rules.get(&action.name) {
            Some(rule) if self.reversed && !rule.parts.is_empty() => Err(CodecError(
                "its headers and paths of JSON are only read; nothing says what the rest of such a \
                 message is"
                    .into(),
            )),
            Some(ActionRule {
                send: Some(template),
                channel,
                ..
            }) => {
                template.write_with(&action.args, kept, bytes)?;
                Ok(channel.unwrap_or(ChannelId::FIRST))
            }
            rule => {
                bytes.extend_from_slice(action.to_string().as_bytes());
                Ok(rule.and_then(|r| r.channel).unwrap_or(ChannelId::FIRST))
            }
        }
    }

    /// The action of a message: the first rule, by name, whose template fits, else the message as
    /// the action's own notation. `Err` tells how near the templates came.
    pub fn decode(&self, channel: ChannelId, bytes: &[u8]) -> Result<ConcreteAction, CodecError> {
        self.decode_as(channel, bytes, |message| Ok(message.action))
    }

    /// The same, where the action must also be one that `known` takes: a message that fits several
    /// templates is the first action whose values make sense.
    pub(crate) fn decode_as<T>(
        &self,
        channel: ChannelId,
        bytes: &[u8],
        known: impl Fn(Message) -> Result<T, CodecError>,
    ) -> Result<T, CodecError> {
        let mut reasons = Vec::new();
        let view = self.view(channel, bytes);
        for (name, rule) in &self.rules {
            let Some(template) = &rule.recv else {
                continue;
            };
            if rule.channel.is_some_and(|c| c != channel) {
                continue;
            }
            // What a model that plays the system reads are stimuli, which have no parts.
            let parts: &[MessagePart] = if self.reversed { &[] } else { &rule.parts };
            let message = read(name, template, parts, &view);
            match message.and_then(&known) {
                Ok(action) => return Ok(action),
                Err(reason) => reasons.push(format!("{name}: {reason}")),
            }
        }
        let Ok(text) = std::str::from_utf8(&view.text) else {
            reasons.push("no UTF-8 text".into());
            return Err(CodecError(reasons.join("; ")));
        };
        let message = Message::notation(text);
        // A rule with `recv` is the only way to say that action.
        if self
            .rules
            .get(&message.action.name)
            .is_some_and(|r| r.recv.is_some())
            || text.is_empty()
        {
            if text.is_empty() {
                reasons.push("the message is empty".into());
            }
            return Err(CodecError(reasons.join("; ")));
        }
        known(message).map_err(|reason| {
            reasons.push(reason.0);
            CodecError(reasons.join("; "))
        })
    }
}
