//! The codec of testers over plain labels.

use std::sync::Arc;

use iolite_lts::{LabelId, LabelKind, Labels};
use rustc_hash::FxHashMap;

use crate::{ConcreteAction, ExecError, brief};

use super::{ActionCodec, ActionMap, ChannelId, CodecError, Decoded, OnUndecodable};

/// The output that an undecodable message becomes where the user wants that. It must be in the
/// alphabet then.
pub const UNDECODABLE: &str = "undecodable";

/// Messages to labels by templates, through a table: a message that was seen before, and every
/// stimulus, costs one look-up.
#[derive(Clone, Debug)]
pub struct LabelCodec {
    labels: Arc<Labels>,
    map: ActionMap,
    outputs: FxHashMap<ConcreteAction, LabelId>,
    undecodable: Option<LabelId>,
    encoded: Vec<Option<(ChannelId, Box<[u8]>)>>,
    /// One table a channel, so that a look-up needs no owned key.
    decoded: Vec<FxHashMap<Box<[u8]>, LabelId>>,
}

/// Distinct messages that are remembered; an output with a time stamp would fill memory otherwise.
const REMEMBERED: usize = 4096;

/// Longer messages are decoded each time.
const REMEMBERED_BYTES: usize = 256;

impl LabelCodec {
    /// A codec over an alphabet. With [`OnUndecodable::Output`] the alphabet must hold
    /// `!undecodable`.
    pub fn new(labels: Arc<Labels>, map: ActionMap) -> Result<Self, ExecError> {
        let mut outputs = FxHashMap::default();
        for (id, label) in labels.iter() {
            if matches!(label.kind, LabelKind::Output | LabelKind::Undirected) {
                outputs
                    .entry(ConcreteAction::parse(&label.name))
                    .or_insert(id);
            }
        }
        let undecodable = match map.undecodable_policy() {
            OnUndecodable::Error => None,
            OnUndecodable::Output => {
                Some(labels.get(LabelKind::Output, UNDECODABLE).ok_or_else(|| {
                    ExecError::Config(
                        "undecodable messages are to be outputs, and the alphabet has no \
                             !undecodable"
                            .into(),
                    )
                })?)
            }
        };
        Ok(Self {
            encoded: vec![None; labels.len()],
            labels,
            map,
            outputs,
            undecodable,
            decoded: Vec::new(),
        })
    }

    fn decode_new(&self, channel: ChannelId, bytes: &[u8]) -> Result<LabelId, CodecError> {
        let action = self.map.decode(channel, bytes)?;
        let known = self.outputs.get(&action).copied();
        let other = || self.labels.other_values(LabelKind::Output, &action.name);
        known.or_else(other).ok_or_else(|| {
            CodecError(format!(
                "no output of the model is {}{}",
                brief(&action.to_string()),
                self.map.mismatches(channel, bytes)
            ))
        })
    }
}

impl ActionCodec<LabelId> for LabelCodec {
    fn encode(&mut self, stimulus: &LabelId, bytes: &mut Vec<u8>) -> Result<ChannelId, CodecError> {
        let slot = &mut self.encoded[stimulus.index()];
        if slot.is_none() {
            let action = ConcreteAction::parse(&self.labels.label(*stimulus).name);
            let mut message = Vec::new();
            let channel = self.map.encode(&action, &mut message)?;
            *slot = Some((channel, message.into()));
        }
        let (channel, message) = slot.as_ref().expect("filled above");
        bytes.extend_from_slice(message);
        Ok(*channel)
    }

    fn decode(&mut self, channel: ChannelId, bytes: &[u8]) -> Result<Decoded<LabelId>, CodecError> {
        let seen = self.decoded.get(channel.index());
        if let Some(&label) = seen.and_then(|table| table.get(bytes)) {
            return Ok(Decoded::plain(label));
        }
        match self.decode_new(channel, bytes) {
            Ok(label) => {
                if self.decoded.len() <= channel.index() {
                    self.decoded
                        .resize_with(channel.index() + 1, FxHashMap::default);
                }
                let table = &mut self.decoded[channel.index()];
                if bytes.len() <= REMEMBERED_BYTES && table.len() < REMEMBERED {
                    table.insert(bytes.into(), label);
                }
                Ok(Decoded::plain(label))
            }
            Err(reason) => match self.undecodable {
                Some(label) => Ok(Decoded {
                    action: label,
                    note: Some(reason.0),
                }),
                None => Err(reason),
            },
        }
    }

    fn show(&self, stimulus: &LabelId) -> String {
        self.labels.text(*stimulus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{ActionRule, Template};

    fn labels() -> Arc<Labels> {
        let mut labels = Labels::new();
        for text in [
            "?BUTTON(2)",
            "!MSG(3,true)",
            "!coffee",
            "?coffee",
            "!undecodable",
        ] {
            labels.intern_text(text);
        }
        Arc::new(labels)
    }

    fn map() -> ActionMap {
        let mut map = ActionMap::new();
        map.insert(
            "BUTTON",
            ActionRule {
                send: Some(Template::parse("press {n}").unwrap()),
                ..ActionRule::default()
            },
        );
        map.insert(
            "MSG",
            ActionRule {
                recv: Some(Template::parse("msg {m:int}/{b:bool}").unwrap()),
                ..ActionRule::default()
            },
        );
        map
    }

    #[test]
    fn labels_meet_bytes() {
        let labels = labels();
        let mut codec = LabelCodec::new(Arc::clone(&labels), map()).unwrap();
        let mut bytes = Vec::new();
        codec
            .encode(&labels.get_text("?BUTTON(2)").unwrap(), &mut bytes)
            .unwrap();
        assert_eq!(bytes, b"press 2");
        for _ in 0..2 {
            let decoded = codec.decode(ChannelId::FIRST, b"msg 3/true").unwrap();
            assert_eq!(labels.text(decoded.action), "!MSG(3,true)");
            let decoded = codec.decode(ChannelId::FIRST, b"coffee").unwrap();
            assert_eq!(labels.text(decoded.action), "!coffee");
        }
    }

    #[test]
    fn what_is_unknown_is_an_error_or_an_output() {
        let mut codec = LabelCodec::new(labels(), map()).unwrap();
        for message in [&b"msg 4/true"[..], b"msg x", b"MSG(3, true)", b"\xff", b""] {
            assert!(codec.decode(ChannelId::FIRST, message).is_err());
        }
        let map = map().on_undecodable(OnUndecodable::Output);
        let mut codec = LabelCodec::new(labels(), map.clone()).unwrap();
        let decoded = codec.decode(ChannelId::FIRST, b"msg 4/true").unwrap();
        assert_eq!(labels().text(decoded.action), "!undecodable");
        assert!(decoded.note.unwrap().contains("MSG(4, true)"));
        assert!(LabelCodec::new(Arc::new(Labels::new()), map).is_err());
    }
}
