//! Messages to actions of the tester's alphabet and back.

use std::borrow::Cow;

use iolite_derive::ActionId;
use iolite_lts::LabelKind;
use rustc_hash::FxHashMap;

use super::template::KeptValues;
use super::{ActionMap, ChannelId, CodecError, Decoded, Dictionary, OnUndecodable};
use crate::{ConcreteAction, ExecError};

/// The output that an undecodable message becomes where the user wants that.
pub(crate) const UNDECODABLE: &str = "undecodable";

/// The one codec: templates between bytes and names with values, a dictionary between these and
/// actions. A message of a declared action that was seen before, and every such stimulus, costs one
/// look-up.
pub struct WireCodec {
    map: ActionMap,
    dictionary: Box<dyn Dictionary>,
    /// What is read: outputs by a tester, inputs by a model that plays the system.
    reads: LabelKind,
    encoded: FxHashMap<ActionId, (ChannelId, Box<[u8]>)>,
    /// One table a channel, so that a look-up needs no owned key.
    decoded: Vec<FxHashMap<Box<[u8]>, ActionId>>,
    /// What messages of this run said in holes `{$name}`.
    kept: KeptValues,
}

/// Distinct messages that are remembered; an output with a time stamp would fill memory otherwise.
const REMEMBERED: usize = 4096;

/// Longer messages are decoded each time.
const REMEMBERED_BYTES: usize = 256;

fn fitted(map: ActionMap, dictionary: &impl Dictionary) -> Result<ActionMap, ExecError> {
    map.by_parameters(&|kind, action| dictionary.parameters(kind, action))
        .map_err(|e| ExecError::Config(e.0))
}

impl WireCodec {
    /// The codec of a tester, which reads outputs. An error where templates do not fit the parameters that the
    /// model declares.
    pub fn new(map: ActionMap, dictionary: impl Dictionary + 'static) -> Result<Self, ExecError> {
        let map = fitted(map, &dictionary)?;
        Ok(Self::with_fitted(map, LabelKind::Output, dictionary))
    }

    fn with_fitted(
        map: ActionMap,
        reads: LabelKind,
        dictionary: impl Dictionary + 'static,
    ) -> Self {
        Self {
            map,
            dictionary: Box::new(dictionary),
            reads,
            encoded: FxHashMap::default(),
            decoded: Vec::new(),
            kept: KeptValues::new(),
        }
    }

    /// A run begins: nothing was kept yet.
    pub(crate) fn begin_run(&mut self) {
        self.kept.clear();
    }

    /// A message without its header fields.
    pub(crate) fn text<'a>(&self, channel: ChannelId, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.map.view(channel, bytes).text
    }

    /// The codec of a model that plays the system: what a tester sends is read, and what it reads is
    /// sent. `map` is the tester's.
    pub fn of_system(
        map: &ActionMap,
        dictionary: impl Dictionary + 'static,
    ) -> Result<Self, ExecError> {
        let map = fitted(map.clone(), &dictionary)?.reversed();
        Ok(Self::with_fitted(map, LabelKind::Input, dictionary))
    }

    /// Appends the message of an action to `bytes` and names the channel it goes to.
    pub fn encode(
        &mut self,
        action: ActionId,
        bytes: &mut Vec<u8>,
    ) -> Result<ChannelId, CodecError> {
        if let Some((channel, message)) = self.encoded.get(&action) {
            bytes.extend_from_slice(message);
            return Ok(*channel);
        }
        let start = bytes.len();
        let message = self.dictionary.write(action);
        let channel = self.map.encode_with(&message.action, &self.kept, bytes)?;
        // What a run meets may be forgotten and its id given to another action.
        if self.dictionary.alphabet().is_declared(action)
            && !self.map.sends_kept(&message.action.name)
        {
            self.encoded
                .insert(action, (channel, bytes[start..].into()));
        }
        Ok(channel)
    }

    /// The action that a message of a channel stands for.
    pub fn decode(&mut self, channel: ChannelId, bytes: &[u8]) -> Result<Decoded, CodecError> {
        let seen = self.decoded.get(channel.index());
        if let Some(&action) = seen.and_then(|table| table.get(bytes)) {
            return Ok(action.into());
        }
        let (dictionary, reads) = (&self.dictionary, self.reads);
        let read = self.map.decode_as(channel, bytes, |message| {
            let decoded = dictionary.read(reads, &message)?;
            Ok((decoded, message.kept))
        });
        match read {
            Ok((decoded, kept)) => {
                if kept.is_empty() {
                    self.remember(channel, bytes, &decoded);
                }
                self.kept.extend(kept);
                Ok(decoded)
            }
            Err(reason) if self.map.undecodable_policy() == OnUndecodable::Output => {
                let undecodable = ConcreteAction::bare(UNDECODABLE);
                let decoded = self.dictionary.foreign(self.reads, &undecodable)?;
                Ok(Decoded {
                    note: Some(decoded.note.unwrap_or(reason.0)),
                    ..decoded
                })
            }
            Err(reason) => Err(reason),
        }
    }

    fn remember(&mut self, channel: ChannelId, bytes: &[u8], decoded: &Decoded) {
        if decoded.note.is_some()
            || bytes.len() > REMEMBERED_BYTES
            || !self.dictionary.alphabet().is_declared(decoded.action)
        {
            return;
        }
        if self.decoded.len() <= channel.index() {
            self.decoded
                .resize_with(channel.index() + 1, FxHashMap::default);
        }
        let table = &mut self.decoded[channel.index()];
        if table.len() < REMEMBERED {
            table.insert(bytes.into(), decoded.action);
        }
    }

    /// The action as people write it, for error messages.
    pub fn show(&self, action: ActionId) -> String {
        self.dictionary.alphabet().text(action).to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use iolite_derive::Alphabet;
    use iolite_lts::Labels;

    use super::*;
    use crate::codec::{ActionRule, LabelDictionary, Template};

    fn labels() -> Arc<Labels> {
        let mut labels = Labels::new();
        for text in ["?BUTTON(2)", "!MSG(3,true)", "!coffee", "?coffee"] {
            labels.intern_text(text);
        }
        Arc::new(labels)
    }

    fn codec(map: ActionMap) -> (WireCodec, Alphabet) {
        let labels = labels();
        let alphabet = Alphabet::of_labels(&labels);
        let dictionary = LabelDictionary::new(&alphabet, &labels);
        (
            WireCodec::new(map, dictionary).expect("templates that fit"),
            alphabet,
        )
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
        let (mut codec, alphabet) = codec(map());
        let button = alphabet.declared("?BUTTON(2)").unwrap();
        for _ in 0..2 {
            let mut bytes = Vec::new();
            codec.encode(button, &mut bytes).unwrap();
            assert_eq!(bytes, b"press 2");
            let decoded = codec.decode(ChannelId::FIRST, b"msg 3/true").unwrap();
            assert_eq!(&*alphabet.text(decoded.action), "!MSG(3,true)");
            let decoded = codec.decode(ChannelId::FIRST, b"coffee").unwrap();
            assert_eq!(&*alphabet.text(decoded.action), "!coffee");
        }
    }

    #[test]
    fn what_is_unknown_is_an_error_or_an_output() {
        let (mut codec, _) = codec(map());
        for message in [&b"msg 4/true"[..], b"msg x", b"MSG(3, true)", b"\xff", b""] {
            assert!(codec.decode(ChannelId::FIRST, message).is_err());
        }
        let (mut codec, alphabet) = self::codec(map().on_undecodable(OnUndecodable::Output));
        let decoded = codec.decode(ChannelId::FIRST, b"msg 4/true").unwrap();
        assert_eq!(&*alphabet.text(decoded.action), "!undecodable");
        assert!(decoded.note.unwrap().contains("MSG(4, true)"));
    }
}
