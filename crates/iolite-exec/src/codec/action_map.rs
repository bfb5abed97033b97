//! The templates of a system's actions, and the channels they use.

use std::collections::BTreeMap;

use crate::ConcreteAction;

use super::{ChannelId, CodecError, Message, Template};

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
    /// The channel of both; `None` sends on the first and receives on any.
    pub channel: Option<ChannelId>,
}

/// All rules. An action without one is its own message: `?coffee` is `coffee`, `!MSG(3, true)` is
/// `MSG(3, true)`, on the first channel.
#[derive(Clone, Debug, Default)]
pub struct ActionMap {
    rules: BTreeMap<String, ActionRule>,
    on_undecodable: OnUndecodable,
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
                        channel: None,
                    };
                    (name.clone(), rule)
                })
                .collect(),
            on_undecodable: self.on_undecodable,
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
        match self.rules.get(&action.name) {
            Some(ActionRule {
                send: Some(template),
                channel,
                ..
            }) => {
                template.write(&action.args, bytes)?;
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
        for (name, rule) in &self.rules {
            let Some(template) = &rule.recv else {
                continue;
            };
            if rule.channel.is_some_and(|c| c != channel) {
                continue;
            }
            let message = template.read(bytes).map(|args| Message {
                action: ConcreteAction {
                    name: name.clone(),
                    args,
                },
                typing: template.typing(),
            });
            match message.and_then(&known) {
                Ok(action) => return Ok(action),
                Err(reason) => reasons.push(format!("{name}: {reason}")),
            }
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
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
