//! How the channels between tester and system carry messages.

use serde::{Deserialize, Serialize};

/// One of several ways between tester and system, or one that loses or reorders messages. Order is kept
/// within a channel, unless it reorders, and never between channels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// Its name in the description.
    pub name: String,
    /// The names of the inputs that it carries. One that no channel lists is carried by the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// The names of the outputs that it alone carries. One that no channel lists may come through any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// Whether messages, of either direction, may be lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loss: bool,
    /// Whether messages of one direction may overtake each other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reorder: bool,
}

/// The channel that an input takes.
pub(crate) fn channel_of_input(channels: &[Channel], name: &str) -> usize {
    let lists = |c: &Channel| c.inputs.iter().any(|input| input == name);
    channels.iter().position(lists).unwrap_or_default()
}

/// The channel that an output comes through; `None` where it may be any of several.
pub(crate) fn channel_of_output(channels: &[Channel], name: &str) -> Option<usize> {
    let lists = |c: &Channel| c.outputs.iter().any(|output| output == name);
    match channels {
        [_] => Some(0),
        _ => channels.iter().position(lists),
    }
}
