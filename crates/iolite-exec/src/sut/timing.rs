//! How long a system under test is waited for, and how much it may send, as it is described.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::SutConfig;
use crate::{Bounds, Quiescence};

/// When silence is quiescence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct QuiescenceConfig {
    /// The timeout where neither place nor action has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// By the name of a place of the model, without values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, u64>,
    /// By the last action, in `?a`, `!x` notation.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub actions: BTreeMap<String, u64>,
}

/// Limits against hostile systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LimitsConfig {
    /// Bytes of one message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_message_bytes: Option<usize>,
    /// Bytes that may wait unread while a stimulus is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pending_bytes: Option<usize>,
    /// How long the rest of a half-read message is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_timeout_ms: Option<u64>,
    /// How long the system may take to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub startup_timeout_ms: Option<u64>,
    /// How long a stimulus may take to be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_timeout_ms: Option<u64>,
    /// How long the process may take to end when asked to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_grace_ms: Option<u64>,
}

impl SutConfig {
    /// The same silence everywhere, whatever the description says of actions and states.
    pub fn set_one_timeout(&mut self, ms: u64) {
        self.quiescence = QuiescenceConfig {
            timeout_ms: Some(ms),
            ..QuiescenceConfig::default()
        };
        for action in self.actions.values_mut() {
            action.timeout_ms = None;
        }
    }

    /// A timeout for silence that is no time at all, where there is one.
    pub(super) fn zero_timeout(&self) -> Option<String> {
        let QuiescenceConfig {
            timeout_ms,
            states,
            actions,
        } = &self.quiescence;
        let named = states.iter().chain(actions).find(|(_, ms)| **ms == 0);
        let of_action = || self.actions.iter().find(|(_, a)| a.timeout_ms == Some(0));
        if *timeout_ms == Some(0) {
            return Some("timeout-ms".to_owned());
        }
        let named = named.map(|(name, _)| format!("the timeout of {name}"));
        named.or_else(|| of_action().map(|(name, _)| format!("timeout-ms of action {name}")))
    }

    /// When silence is quiescence.
    pub fn quiescence(&self) -> Quiescence {
        let times = |map: &BTreeMap<String, u64>| -> BTreeMap<String, Duration> {
            map.iter()
                .map(|(name, ms)| (name.clone(), Duration::from_millis(*ms)))
                .collect()
        };
        let mut quiescence = Quiescence {
            default: self
                .quiescence
                .timeout_ms
                .map_or(Quiescence::default().default, Duration::from_millis),
            states: times(&self.quiescence.states),
            actions: times(&self.quiescence.actions),
        };
        for (name, action) in &self.actions {
            if let Some(ms) = action.timeout_ms {
                let sigil = if action.recv.is_some() && action.send.is_none() {
                    '!'
                } else {
                    '?'
                };
                quiescence
                    .actions
                    .entry(format!("{sigil}{name}"))
                    .or_insert(Duration::from_millis(ms));
            }
        }
        quiescence
    }

    /// The limits.
    pub fn bounds(&self) -> Bounds {
        let limits = &self.limits;
        let default = Bounds::default();
        let time = |ms: Option<u64>, default| ms.map_or(default, Duration::from_millis);
        Bounds {
            max_message: limits.max_message_bytes.unwrap_or(default.max_message),
            max_pending: limits.max_pending_bytes.unwrap_or(default.max_pending),
            message_timeout: time(limits.message_timeout_ms, default.message_timeout),
            startup_timeout: time(limits.startup_timeout_ms, default.startup_timeout),
            send_timeout: time(limits.send_timeout_ms, default.send_timeout),
            stop_grace: time(limits.stop_grace_ms, default.stop_grace),
        }
    }
}
