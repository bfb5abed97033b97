//! What the actions of a tester are in the words of a system, and back.

use std::sync::Arc;

use iolite_derive::{Action, ActionId, Alphabet, action_of, valued_action};
use iolite_lts::{LabelKind, Labels};
use iolite_sts::Iosts;
use rustc_hash::FxHashMap;

use super::sorted_value::{concrete, valued};
use super::{CodecError, Decoded, Message};
use crate::{ConcreteAction, brief};

/// The meeting of two vocabularies: the tester's alphabet, and names with values as a system writes
/// them, over a wire or as another model.
pub trait Dictionary {
    /// The tester's alphabet.
    fn alphabet(&self) -> &Alphabet;

    /// What a message is to the tester. An error where it is none of the tester's actions.
    fn read(&self, kind: LabelKind, message: &Message) -> Result<Decoded, CodecError>;

    /// What an action is that the tester does not know, and whose name is known all the same: the
    /// output of another model, or `!undecodable`.
    fn foreign(&self, kind: LabelKind, action: &ConcreteAction) -> Result<Decoded, CodecError> {
        let name = action.to_string();
        let action = Action::plain(kind, &name);
        Ok(self.alphabet().intern(action).into())
    }

    /// What the tester's action is to the system.
    fn write(&self, action: ActionId) -> Message;

    /// Names of an action's parameters, where the model declares them.
    fn parameters(&self, _kind: LabelKind, _action: &str) -> Option<Vec<String>> {
        None
    }
}

impl<D: Dictionary + ?Sized> Dictionary for Box<D> {
    #[inline]
    fn alphabet(&self) -> &Alphabet {
        (**self).alphabet()
    }

    fn read(&self, kind: LabelKind, message: &Message) -> Result<Decoded, CodecError> {
        (**self).read(kind, message)
    }

    fn foreign(&self, kind: LabelKind, action: &ConcreteAction) -> Result<Decoded, CodecError> {
        (**self).foreign(kind, action)
    }

    fn write(&self, action: ActionId) -> Message {
        (**self).write(action)
    }

    fn parameters(&self, kind: LabelKind, action: &str) -> Option<Vec<String>> {
        (**self).parameters(kind, action)
    }
}

fn unknown(kind: LabelKind, action: &ConcreteAction) -> CodecError {
    let what = if kind == LabelKind::Input {
        "input"
    } else {
        "output"
    };
    let action = action.to_string();
    CodecError(format!("no {what} of the model is {}", brief(&action)))
}

fn without_sigil(text: &str) -> &str {
    text.strip_prefix(['?', '!']).unwrap_or(text)
}

/// A specification whose labels are names: `MSG(3,true)` of a model in another format is read as the
/// action it looks like.
#[derive(Clone, Debug)]
pub struct LabelDictionary {
    alphabet: Alphabet,
    actions: Arc<FxHashMap<(LabelKind, ConcreteAction), ActionId>>,
}

impl LabelDictionary {
    /// Over an alphabet that was made of these labels.
    pub fn new(alphabet: &Alphabet, labels: &Labels) -> Self {
        let mut actions = FxHashMap::default();
        for (id, label) in labels.iter() {
            // A plain label of the specification is an output where it is observed.
            let kind = match label.kind {
                LabelKind::Undirected => LabelKind::Output,
                kind => kind,
            };
            let action = ConcreteAction::parse(&label.name);
            actions.entry((kind, action)).or_insert_with(|| id.into());
        }
        Self {
            alphabet: alphabet.clone(),
            actions: Arc::new(actions),
        }
    }
}

impl Dictionary for LabelDictionary {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn read(&self, kind: LabelKind, message: &Message) -> Result<Decoded, CodecError> {
        let known = self.actions.get(&(kind, message.action.clone())).copied();
        known
            .map(Decoded::from)
            .ok_or_else(|| unknown(kind, &message.action))
    }

    fn foreign(&self, kind: LabelKind, action: &ConcreteAction) -> Result<Decoded, CodecError> {
        let known = self.actions.get(&(kind, action.clone())).copied();
        let foreign = || Action::plain(kind, &action.to_string());
        Ok(known
            .unwrap_or_else(|| self.alphabet.intern(foreign()))
            .into())
    }

    fn write(&self, action: ActionId) -> Message {
        Message::notation(without_sigil(&self.alphabet.text(action)))
    }
}

/// A specification that declares the sorts of its actions' values: a message is read by them, so a
/// record, a string that looks like a number and a number in a text hole mean the same whether the
/// model was unfolded or not.
#[derive(Clone, Debug)]
pub struct SortDictionary {
    alphabet: Alphabet,
    model: Arc<Iosts>,
}

impl SortDictionary {
    /// Over the gates of a model.
    pub fn new(alphabet: &Alphabet, model: &Arc<Iosts>) -> Self {
        Self {
            alphabet: alphabet.clone(),
            model: Arc::clone(model),
        }
    }
}

impl Dictionary for SortDictionary {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn read(&self, kind: LabelKind, message: &Message) -> Result<Decoded, CodecError> {
        let action = valued(&self.model, kind, message)?;
        Ok(action_of(&self.model, &self.alphabet, &action).into())
    }

    fn write(&self, action: ActionId) -> Message {
        let known = self.alphabet.action(action);
        match known.and_then(|known| valued_action(&self.model, &known)) {
            Some(action) => Message::typed(concrete(&self.model, &action)),
            None => Message::notation(without_sigil(&self.alphabet.text(action))),
        }
    }

    fn parameters(&self, kind: LabelKind, action: &str) -> Option<Vec<String>> {
        let gate = self.model.gate(self.model.find_gate(kind, action)?);
        Some(gate.params.iter().map(|p| p.name.to_string()).collect())
    }
}
