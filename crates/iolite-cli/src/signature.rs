//! What the labels of an unfolded model stand for: actions with values of their sorts.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use iolite_derive::{Menu, Observation, Progress, Tester, Verdict};
use iolite_exec::codec::{
    ActionCodec, ActionMap, ChannelId, CodecError, Decoded, Heard, OnUndecodable, UNDECODABLE,
};
use iolite_exec::{ConcreteAction, brief};
use iolite_lang::File;
use iolite_lts::{LabelId, LabelKind, Labels};
use iolite_sts::{Iosts, ValuedAction};

use super::test::AnyTester;
use super::wire_value::{to_wire, valued};

/// The model that was unfolded, with its file for the notation of values.
pub(super) struct Signature {
    file: File,
    model: Iosts,
}

impl Signature {
    pub(super) fn new(file: File, model: Iosts) -> Self {
        Self { file, model }
    }

    /// An action in the language's notation, or in that of messages, where words need no quotes and
    /// records have colons.
    fn parse(&self, text: &str) -> Option<ValuedAction> {
        iolite_lang::parse_action(&self.file, &self.model, text).or_else(|| {
            let (kind, text) = match text.strip_prefix('?') {
                Some(text) => (LabelKind::Input, text),
                None => (LabelKind::Output, text.strip_prefix('!')?),
            };
            valued(&self.model, kind, &Heard::exact(text)).ok()
        })
    }

    /// The names of the inputs that take values.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &str> {
        let actions = self.model.gates().map(|(_, a)| a);
        let valued = actions.filter(|a| a.kind == LabelKind::Input && !a.params.is_empty());
        valued.map(|a| &*a.name)
    }

    /// The label of an action; one with values that no transition has is known all the same, and
    /// what it really was is kept.
    fn label(&self, labels: &Labels, action: &ValuedAction, seen: &SeenValues) -> Option<LabelId> {
        let declared = self.model.gate(action.action);
        let text = self.model.label(action);
        labels.get(declared.kind, &text).or_else(|| {
            let other = labels.other_values(declared.kind, &declared.name)?;
            let sigil = declared.kind.sigil();
            seen.lock().insert(other, format!("{sigil}{text}"));
            Some(other)
        })
    }

    /// The label that an action in `?a(1)`, `!x(2)` notation stands for.
    pub(super) fn find(&self, labels: &Labels, text: &str, seen: &SeenValues) -> Option<LabelId> {
        self.label(labels, &self.parse(text)?, seen)
    }
}

/// What actions with values that no transition has really were, the last of each. Such an output is
/// allowed nowhere and such an input specified nowhere, so it is the last of its run.
#[derive(Clone, Default)]
pub(super) struct SeenValues(Arc<Mutex<BTreeMap<LabelId, String>>>);

impl SeenValues {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<LabelId, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tester, which shows these outputs with their values.
    pub(super) fn shown_by(&self, tester: AnyTester) -> AnyTester {
        let seen = self.clone();
        Box::new(Showing { tester, seen })
    }
}

struct Showing {
    tester: AnyTester,
    seen: SeenValues,
}

impl Tester for Showing {
    type Action = LabelId;

    fn reset(&mut self) {
        self.tester.reset();
    }

    fn menu(&mut self, menu: &mut Menu<LabelId>) {
        self.tester.menu(menu);
    }

    fn stimulate(&mut self, stimulus: &LabelId) -> Progress {
        self.tester.stimulate(stimulus)
    }

    fn observe(&mut self, observation: &Observation<LabelId>) -> Progress {
        self.tester.observe(observation)
    }

    fn verdict(&self) -> Verdict {
        self.tester.verdict()
    }

    fn allowed(&mut self) -> Vec<String> {
        self.tester.allowed()
    }

    fn locations(&mut self) -> Vec<String> {
        self.tester.locations()
    }

    fn places(&mut self) -> Vec<String> {
        self.tester.places()
    }

    fn show(&self, action: &LabelId) -> String {
        let known = self.seen.lock().get(action).cloned();
        known.unwrap_or_else(|| self.tester.show(action))
    }
}

/// Messages to labels of an unfolded model and back, by way of values of the model's sorts.
pub(super) struct UnfoldedCodec {
    map: ActionMap,
    signature: Arc<Signature>,
    labels: Arc<Labels>,
    seen: SeenValues,
    /// What stimuli are on the wire, as far as they were given.
    stimuli: HashMap<LabelId, ConcreteAction>,
}

impl UnfoldedCodec {
    pub(super) fn new(
        map: ActionMap,
        signature: Arc<Signature>,
        labels: Arc<Labels>,
        seen: SeenValues,
    ) -> Self {
        Self {
            map,
            signature,
            labels,
            seen,
            stimuli: HashMap::new(),
        }
    }

    fn output(&self, heard: &Heard) -> Result<LabelId, CodecError> {
        let unknown = || {
            let action = heard.action.to_string();
            CodecError(format!("no output of the model is {}", brief(&action)))
        };
        let model = &self.signature.model;
        // The alphabet may have names that the model has not.
        if model
            .find_gate(LabelKind::Output, &heard.action.name)
            .is_none()
        {
            let named = heard.action.to_string();
            let foreign = self.labels.get(LabelKind::Output, &named);
            return foreign.ok_or_else(unknown);
        }
        let action = valued(model, LabelKind::Output, heard)?;
        self.signature
            .label(&self.labels, &action, &self.seen)
            .ok_or_else(unknown)
    }
}

impl ActionCodec<LabelId> for UnfoldedCodec {
    fn encode(&mut self, stimulus: &LabelId, bytes: &mut Vec<u8>) -> Result<ChannelId, CodecError> {
        let concrete = self.stimuli.entry(*stimulus).or_insert_with(|| {
            let text = self.labels.text(*stimulus);
            match self.signature.parse(&text) {
                Some(action) => ConcreteAction {
                    name: self.signature.model.gate(action.action).name.to_string(),
                    args: action.values.iter().map(to_wire).collect(),
                },
                None => ConcreteAction::parse(&self.labels.label(*stimulus).name),
            }
        });
        self.map.encode(concrete, bytes)
    }

    fn decode(&mut self, channel: ChannelId, bytes: &[u8]) -> Result<Decoded<LabelId>, CodecError> {
        let read = self
            .map
            .decode_as(channel, bytes, |heard| self.output(&heard));
        match read {
            Ok(label) => Ok(Decoded::plain(label)),
            Err(reason) if self.map.undecodable_policy() == OnUndecodable::Output => {
                let label = self.labels.get(LabelKind::Output, UNDECODABLE);
                let action = label.ok_or_else(|| reason.clone())?;
                Ok(Decoded {
                    action,
                    note: Some(reason.0),
                })
            }
            Err(reason) => Err(reason),
        }
    }

    fn show(&self, stimulus: &LabelId) -> String {
        self.labels.text(*stimulus)
    }
}
