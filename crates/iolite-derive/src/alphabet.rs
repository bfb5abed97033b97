//! The one table of actions that tester, codec, strategy, coverage and journal share.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use iolite_lts::{LabelId, LabelKind, Labels};
use rustc_hash::FxHashMap;

use crate::{Action, ActionId, Undecided};

/// Actions that a run meets beside the declared ones and that keep their ids to its end. A trace
/// keeps no more steps than that.
const KEPT: usize = 1 << 20;

/// Beyond them, only the latest ones are known: a run may meet new values for ever.
const RECENT: usize = 1 << 16;

/// From so many on, what earlier runs met is forgotten when a run begins.
const CROWDED: usize = 1 << 18;

/// Bytes of a text that is not kept beside its action.
const LONG: usize = 1 << 10;

/// Interned actions. A clone is another handle to the same table; [`Alphabet::fork`] makes another
/// table.
///
/// What the specification declares comes first and is shared by all forks, the labels of an explicit
/// specification in their own order, so that for them an [`ActionId`] and a [`LabelId`] have the same
/// index. What a run meets beside them, other values and actions that nobody declared, is added as
/// it turns up.
#[derive(Clone, Debug)]
pub struct Alphabet(Arc<Mutex<Table>>);

#[derive(Debug)]
struct Table {
    declared: Arc<Declared>,
    /// What was met, in order, from the id after the declared ones.
    met: Vec<Entry>,
    /// The latest ones after the first [`KEPT`].
    recent: VecDeque<Entry>,
    /// How many were dropped between the two.
    dropped: usize,
    index: FxHashMap<Arc<Action>, ActionId>,
    /// How many of `met` a record refers to; these are never forgotten.
    pinned: usize,
}

#[derive(Debug, Default)]
struct Declared {
    entries: Vec<Entry>,
    index: FxHashMap<Arc<Action>, ActionId>,
    texts: FxHashMap<Arc<str>, ActionId>,
}

#[derive(Clone, Debug)]
struct Entry {
    action: Arc<Action>,
    /// How it is shown, once somebody asked; long texts are made again instead of being kept.
    text: OnceLock<Arc<str>>,
}

impl Entry {
    fn text(&self) -> Arc<str> {
        if let Some(text) = self.text.get() {
            return Arc::clone(text);
        }
        let text: Arc<str> = self.action.to_string().into();
        if text.len() <= LONG {
            // Nobody else has set it meanwhile: the table is locked.
            let _ = self.text.set(Arc::clone(&text));
        }
        text
    }
}

impl Default for Alphabet {
    fn default() -> Self {
        Self::of_labels(&Labels::new())
    }
}

impl Alphabet {
    /// The labels of a specification, each an action without values.
    pub fn of_labels(labels: &Labels) -> Self {
        Self::of_actions(labels, |id| labels.label(id).into())
    }

    /// The labels of a specification; `read` tells what each stands for. Where two stand for the same
    /// action, the first is meant.
    pub fn of_actions(labels: &Labels, read: impl Fn(LabelId) -> Action) -> Self {
        let mut declared = Declared::default();
        for (id, label) in labels.iter() {
            let text: Arc<str> = label.to_string().into();
            let entry = Entry {
                action: Arc::new(read(id)),
                text: OnceLock::from(Arc::clone(&text)),
            };
            let action = entry.action.clone();
            declared.index.entry(action).or_insert_with(|| id.into());
            declared.texts.entry(text).or_insert_with(|| id.into());
            declared.entries.push(entry);
        }
        Self::over(Arc::new(declared))
    }

    fn over(declared: Arc<Declared>) -> Self {
        Self(Arc::new(Mutex::new(Table {
            declared,
            met: Vec::new(),
            recent: VecDeque::new(),
            dropped: 0,
            index: FxHashMap::default(),
            pinned: 0,
        })))
    }

    /// A table of its own for another job, in which the actions of this one keep the ids they have
    /// here, for ever; of more than 2^20 that were met, the first ones do.
    #[must_use]
    pub fn fork(&self) -> Self {
        let table = self.lock();
        let fork = Self::over(Arc::clone(&table.declared));
        {
            let mut new = fork.lock();
            new.met.clone_from(&table.met);
            new.pinned = table.met.len();
            new.dropped = table.dropped + table.recent.len();
            let pinned = table.declared.entries.len() + new.pinned;
            let kept = table.index.iter().filter(|(_, id)| id.index() < pinned);
            new.index = kept.map(|(a, id)| (a.clone(), *id)).collect();
        }
        fork
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id of an action, which is added when it is new.
    pub fn intern(&self, action: Action) -> ActionId {
        self.lock().intern(action, OnceLock::new)
    }

    /// The same; `text` is how a new one is shown, sigil included.
    pub fn intern_as(&self, action: Action, text: impl FnOnce(&Action) -> String) -> ActionId {
        let mut table = self.lock();
        if let Some(id) = table.get(&action) {
            return id;
        }
        let text: Arc<str> = text(&action).into();
        table.intern(action, || OnceLock::from(text))
    }

    /// Keeps all that was met so far: whoever asks holds ids across runs. Returns how much was kept
    /// before, for [`Alphabet::unpin`].
    pub fn pin(&self) -> usize {
        let mut table = self.lock();
        let met = table.met.len();
        std::mem::replace(&mut table.pinned, met)
    }

    /// Takes a [`Alphabet::pin`] back: what was met after `kept` may be forgotten again.
    pub fn unpin(&self, kept: usize) {
        let mut table = self.lock();
        table.pinned = kept.min(table.met.len());
    }

    /// The id of an action, if the table has it.
    pub fn get(&self, action: &Action) -> Option<ActionId> {
        self.lock().get(action)
    }

    /// The id of a declared action by its text, `?a`, `!x(1)` or `delta`.
    pub fn declared(&self, text: &str) -> Option<ActionId> {
        self.lock().declared.texts.get(text).copied()
    }

    /// The labels of the specification, in their order.
    pub fn declared_labels(&self) -> Labels {
        let declared = Arc::clone(&self.lock().declared);
        let mut labels = Labels::new();
        for entry in &declared.entries {
            labels.intern_text(&entry.text());
        }
        labels
    }

    /// Whether the specification has it as a label. Actions of a symbolic specification are met, and
    /// its gates tell which of them it knows.
    pub fn is_declared(&self, id: ActionId) -> bool {
        id.index() < self.lock().declared.entries.len()
    }

    /// The action behind an id of this table; `None` for one that was forgotten.
    pub fn action(&self, id: ActionId) -> Option<Arc<Action>> {
        self.lock().entry(id).map(|e| Arc::clone(&e.action))
    }

    /// Whether the id stands for its action to the end of the run, whatever else is met.
    pub fn keeps(&self, id: ActionId) -> bool {
        let table = self.lock();
        id.index() < table.declared.entries.len() + table.met.len()
    }

    /// An id that means nothing any more is no action that the specification lacks: what it stood for is not known.
    pub(crate) fn reject_forgotten(&self, id: ActionId) -> Result<(), Box<Undecided>> {
        let table = self.lock();
        // An id that was never given stands for nothing that there was.
        let given =
            table.declared.entries.len() + table.met.len() + table.dropped + table.recent.len();
        if id.index() >= given || table.entry(id).is_some() {
            return Ok(());
        }
        let why = "the action is one of more than are remembered in a run, and was forgotten";
        Err(Box::new(Undecided::new(why)))
    }

    /// The action in `?a`, `!x(1)`, `delta` notation.
    pub fn text(&self, id: ActionId) -> Arc<str> {
        let table = self.lock();
        let entry = table.entry(id);
        entry.map_or_else(|| "forgotten action".into(), Entry::text)
    }

    /// Forgets what earlier runs met, where it is much. Only for whoever begins a run: nobody holds
    /// ids of an earlier one then but those of a record.
    pub fn begin_run(&self) {
        let mut table = self.lock();
        if table.met.len() + table.recent.len() > CROWDED + table.pinned {
            let pinned = table.pinned;
            table.met.truncate(pinned);
            table.recent.clear();
            table.dropped = 0;
            let known = table.declared.entries.len() + pinned;
            table.index.retain(|_, id| id.index() < known);
        }
    }
}

impl Table {
    fn get(&self, action: &Action) -> Option<ActionId> {
        // δ has one spelling here, whatever the model calls it.
        if action.kind == LabelKind::Delta {
            return Some(ActionId::DELTA);
        }
        let declared = self.declared.index.get(action);
        declared.or_else(|| self.index.get(action)).copied()
    }

    fn intern(&mut self, action: Action, text: impl FnOnce() -> OnceLock<Arc<str>>) -> ActionId {
        if let Some(id) = self.get(&action) {
            return id;
        }
        let kept = self.declared.entries.len() + self.met.len();
        if kept + self.dropped + self.recent.len() >= u32::MAX as usize {
            // A run without end has used up all ids: the latest ones begin anew.
            self.recent.clear();
            self.dropped = 0;
            self.index.retain(|_, id| id.index() < kept);
        }
        let id = ActionId::new(kept + self.dropped + self.recent.len());
        let action = Arc::new(action);
        self.index.insert(Arc::clone(&action), id);
        let entry = Entry {
            action,
            text: text(),
        };
        let in_order = self.dropped == 0 && self.recent.is_empty();
        if in_order && self.met.len() < KEPT + self.pinned {
            self.met.push(entry);
            return id;
        }
        if self.recent.len() == RECENT
            && let Some(old) = self.recent.pop_front()
        {
            self.dropped += 1;
            self.index.remove(&old.action);
        }
        self.recent.push_back(entry);
        id
    }

    fn entry(&self, id: ActionId) -> Option<&Entry> {
        let index = id.index();
        let Some(met) = index.checked_sub(self.declared.entries.len()) else {
            return Some(&self.declared.entries[index]);
        };
        let Some(late) = met.checked_sub(self.met.len()) else {
            return Some(&self.met[met]);
        };
        self.recent.get(late.checked_sub(self.dropped)?)
    }
}

/// What the actions of an alphabet are as labels of a table: of an explicit specification, of a test
/// case, of an observer.
#[derive(Clone, Debug)]
pub struct LabelMap {
    alphabet: Alphabet,
    labels: Arc<Labels>,
    /// Whether ids below the number of labels are those of the labels.
    same: bool,
    /// The labels of declared actions, as far as they were asked for.
    known: FxHashMap<ActionId, Option<LabelId>>,
}

impl LabelMap {
    /// For the table that the alphabet was made of.
    pub fn own(alphabet: &Alphabet, labels: &Arc<Labels>) -> Self {
        Self {
            alphabet: alphabet.clone(),
            labels: Arc::clone(labels),
            same: true,
            known: FxHashMap::default(),
        }
    }

    /// For any other table; actions and labels meet by their text.
    pub fn by_text(alphabet: &Alphabet, labels: &Arc<Labels>) -> Self {
        Self {
            same: false,
            ..Self::own(alphabet, labels)
        }
    }

    /// The labels.
    pub fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    /// The alphabet.
    pub fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// The label of an action. One with values that no label has is the label for such values, where
    /// there is one: `o(…)`.
    #[inline]
    pub fn label(&mut self, action: ActionId) -> Option<LabelId> {
        if self.same && action.index() < self.labels.len() {
            return Some(LabelId::new(action.index()));
        }
        self.other(action)
    }

    fn other(&mut self, action: ActionId) -> Option<LabelId> {
        // Declared actions keep their ids; others may be forgotten and their ids used again.
        let keep = self.alphabet.is_declared(action);
        if keep && let Some(known) = self.known.get(&action) {
            return *known;
        }
        let label = self.find(action);
        if keep {
            self.known.insert(action, label);
        }
        label
    }

    fn find(&self, id: ActionId) -> Option<LabelId> {
        let text = self.alphabet.text(id);
        let action = self.alphabet.action(id)?;
        let other = || self.labels.other_values(action.kind, &action.name);
        self.labels.get_text(&text).or_else(other)
    }

    /// The action of a label.
    #[inline]
    pub fn action(&self, label: LabelId) -> ActionId {
        if self.same {
            return label.into();
        }
        let label = self.labels.label(label);
        let declared = self.alphabet.declared(&label.to_string());
        declared.unwrap_or_else(|| self.alphabet.intern(label.into()))
    }
}
