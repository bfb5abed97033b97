//! Numbers for actions with values: the command line runs, records and replays label numbers, so
//! valued actions get them as they turn up, and both sides of one job share the table.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use iolite_lts::LabelId;
use iolite_sts::{GateId, ValuedAction};

/// Numbers of valued actions, in the order they turned up.
#[derive(Clone, Default)]
pub(super) struct ActionTable(Arc<Mutex<Numbers>>);

#[derive(Default)]
struct Numbers {
    actions: Vec<ValuedAction>,
    index: HashMap<ValuedAction, LabelId>,
    /// Actions of a record, which keep their numbers.
    pinned: usize,
}

/// Numbers that are kept from one run to the next; a long campaign meets ever new values.
const KEPT_NUMBERS: usize = 1 << 18;

impl ActionTable {
    fn lock(&self) -> MutexGuard<'_, Numbers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A table of one job, with the numbers that were given so far.
    pub(super) fn fork(&self) -> Self {
        let numbers = self.lock();
        Self(Arc::new(Mutex::new(Numbers {
            actions: numbers.actions.clone(),
            index: numbers.index.clone(),
            pinned: numbers.actions.len(),
        })))
    }

    /// Between runs nobody holds a number but those of a record.
    pub(super) fn trim(&self) {
        let mut numbers = self.lock();
        if numbers.actions.len() > KEPT_NUMBERS + numbers.pinned {
            let pinned = numbers.pinned;
            for action in numbers.actions.split_off(pinned) {
                numbers.index.remove(&action);
            }
        }
    }

    pub(super) fn number(&self, action: &ValuedAction) -> LabelId {
        let mut numbers = self.lock();
        if let Some(&id) = numbers.index.get(action) {
            return id;
        }
        let id = LabelId::new(numbers.actions.len());
        numbers.actions.push(action.clone());
        numbers.index.insert(action.clone(), id);
        id
    }

    pub(super) fn action(&self, id: LabelId) -> Option<ValuedAction> {
        self.lock().actions.get(id.index()).cloned()
    }

    /// The action of the model that a number stands for, whatever its values.
    pub(super) fn gate(&self, id: LabelId) -> Option<GateId> {
        let numbers = self.lock();
        numbers.actions.get(id.index()).map(|valued| valued.action)
    }
}
