//! How actions meet bytes, as it is described.

use serde::{Deserialize, Serialize};

use super::SutConfig;
use crate::ExecError;
use crate::codec::{ActionMap, ActionRule, OnUndecodable, Template};

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
        for (name, config) in &self.actions {
            let fail =
                |e: &dyn ToString| ExecError::Config(format!("action {name}: {}", e.to_string()));
            let template = |text: &Option<String>| -> Result<Option<Template>, ExecError> {
                text.as_ref()
                    .map(|text| {
                        let template = Template::parse(text).map_err(|e| fail(&e))?;
                        match &config.params {
                            Some(params) => template.with_params(params).map_err(|e| fail(&e)),
                            None => Ok(template),
                        }
                    })
                    .transpose()
            };
            let rule = ActionRule {
                send: template(&config.send)?,
                recv: template(&config.recv)?,
                channel: config
                    .channel
                    .as_deref()
                    .map(|c| self.channel_id(Some(c)))
                    .transpose()?,
            };
            if let Some(recv) = &rule.recv {
                recv.check_readable().map_err(|e| fail(&e))?;
            }
            map.insert(name.clone(), rule);
        }
        Ok(map)
    }
}
