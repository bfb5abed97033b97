//! How actions meet bytes, as it is described.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::SutConfig;
use crate::ExecError;
use crate::codec::{ActionMap, ActionRule, ChannelId, MessagePart, OnUndecodable, Template};

/// What becomes of undecodable messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UndecodableKind {
    /// The run ends with an error.
    #[default]
    Error,
    /// They are the output `!undecodable`.
    Output,
}

/// How one action meets bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ActionConfig {
    /// The message of the stimulus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send: Option<String>,
    /// The message of the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recv: Option<String>,
    /// Header fields of the response, by name, and their templates.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Values in the JSON of the output, by path, and their templates.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub json: BTreeMap<String, String>,
    /// Names of the parameters in the order of the model, where the template has another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<String>>,
    /// The channel of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// How long silence lasts after this action until it is quiescence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

impl SutConfig {
    /// The templates of the actions.
    pub fn action_map(&self) -> Result<ActionMap, ExecError> {
        let mut map = ActionMap::new().on_undecodable(match self.undecodable {
            UndecodableKind::Error => OnUndecodable::Error,
            UndecodableKind::Output => OnUndecodable::Output,
        });
        for (i, channel) in self.system.channels().iter().enumerate() {
            if channel.transport.is_http() {
                map.is_http(ChannelId::new(i));
            }
        }
        for (name, config) in &self.actions {
            let rule = self
                .rule(config)
                .map_err(|e| ExecError::Config(format!("action {name}: {e}")))?;
            map.insert(name.clone(), rule);
        }
        check_kept(&map)?;
        Ok(map)
    }

    /// Header fields that actions ask for.
    pub(super) fn header_names(&self) -> BTreeSet<String> {
        let names = self.actions.values().flat_map(|a| a.headers.keys());
        names.map(|name| name.to_ascii_lowercase()).collect()
    }

    fn rule(&self, config: &ActionConfig) -> Result<ActionRule, String> {
        let template = |text: &Option<String>| -> Result<Option<Template>, String> {
            let text = text.as_deref().map(Template::parse);
            text.transpose().map_err(|e| e.to_string())
        };
        let (mut send, mut recv) = (template(&config.send)?, template(&config.recv)?);
        let channel = config.channel.as_deref();
        let channel = channel
            .map(|c| self.channel_id(Some(c)))
            .transpose()
            .map_err(|e| e.to_string())?;
        let mut parts = Vec::new();
        for (name, text) in &config.headers {
            parts.push(MessagePart::header(name, text)?);
        }
        for (path, text) in &config.json {
            parts.push(MessagePart::json(path, text)?);
        }
        if !parts.is_empty() && recv.is_none() {
            return Err(
                "headers and json say more about a message that recv reads; add recv, such as \
                        recv = \"{_}\""
                    .into(),
            );
        }
        if !config.headers.is_empty() && !self.has_headers(channel) {
            return Err("headers are those of http responses, and its channel is none".into());
        }
        let order = match (&config.params, &recv) {
            (Some(params), _) => Some(params.clone()),
            (None, Some(recv)) if !parts.is_empty() => {
                // Those of `recv`, then what headers and paths add, in the order of their names.
                let mut order = recv.params().to_vec();
                for name in parts.iter().flat_map(|part| part.template().params()) {
                    if !order.contains(name) {
                        order.push(name.clone());
                    }
                }
                Some(order)
            }
            (None, _) => None,
        };
        if let Some(order) = &order {
            let ordered = |template: Option<Template>| {
                let template = template.map(|t| t.with_params(order));
                template.transpose().map_err(|e| e.to_string())
            };
            // What is sent has an order of its own, unless one is given for both.
            if config.params.is_some() {
                send = ordered(send)?;
            }
            recv = ordered(recv)?;
            let ordered = parts.into_iter().map(|part| part.with_params(order));
            parts = ordered.collect::<Result<_, _>>()?;
        }
        if let Some(recv) = &recv {
            recv.check_holes_end().map_err(|e| e.to_string())?;
            for (i, name) in recv.params().iter().enumerate() {
                if !recv.reads(i) && !parts.iter().any(|part| part.template().reads(i)) {
                    return Err(format!("parameter {name} has no hole"));
                }
            }
        }
        Ok(ActionRule {
            send,
            recv,
            parts,
            is_ordered: config.params.is_some(),
            channel,
        })
    }

    /// Whether messages of a channel, or of one of them, have header fields. A model that plays the system
    /// has no messages, and nothing of this matters.
    fn has_headers(&self, channel: Option<ChannelId>) -> bool {
        let channels = self.system.channels();
        match channel {
            _ if self.system.model().is_some() => true,
            Some(channel) => channels[channel.index()].transport.is_http(),
            None => channels.iter().any(|c| c.transport.is_http()),
        }
    }
}

/// What is sent again must be read somewhere, and what is kept is there to be sent.
fn check_kept(map: &ActionMap) -> Result<(), ExecError> {
    let (mut sent, mut read) = (BTreeSet::new(), BTreeSet::new());
    for (_, rule) in map.rules() {
        sent.extend(rule.send.iter().flat_map(Template::kept));
        read.extend(rule.recv.iter().flat_map(Template::kept));
        let parts = rule.parts.iter().map(MessagePart::template);
        read.extend(parts.flat_map(Template::kept));
    }
    if let Some(name) = sent.difference(&read).next() {
        return Err(ExecError::Config(format!(
            "${name} is sent, and no recv, headers or json has a hole {{${name}}} that reads it"
        )));
    }
    if let Some(name) = read.difference(&sent).next() {
        return Err(ExecError::Config(format!(
            "${name} is kept, and no send has a hole {{${name}}}; write {{_}} for what is dropped"
        )));
    }
    Ok(())
}
