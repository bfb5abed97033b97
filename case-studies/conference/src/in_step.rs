//! An entity in step with its tester.

use std::collections::VecDeque;
use std::time::Duration;

use iolite::SystemUnderTest;

use crate::Entity;
use crate::driver::{action, datagram};

/// An entity without sockets, in step with its tester: test cases are derived for such a one.
pub struct InStep {
    fault: u8,
    entity: Entity,
    outputs: VecDeque<String>,
}

impl InStep {
    /// A fresh entity.
    pub fn new(fault: u8) -> Self {
        Self {
            fault,
            entity: Entity::new(fault),
            outputs: VecDeque::new(),
        }
    }
}

impl SystemUnderTest<String> for InStep {
    fn reset(&mut self) {
        *self = Self::new(self.fault);
    }

    fn stimulate(&mut self, stimulus: &String) {
        // What the model of the entity alone takes from the inbox came from the network.
        let stimulus = match stimulus
            .strip_prefix("take")
            .and_then(|s| s.split_once('('))
        {
            Some((kind, arguments)) => {
                let mut kind = kind.to_owned();
                kind.make_ascii_lowercase();
                format!("{kind}From({arguments}")
            }
            None => stimulus.clone(),
        };
        let (sap, message) = datagram(&stimulus);
        let sent = self.entity.take(sap, &message).into_iter();
        self.outputs
            .extend(sent.map(|(sap, text)| action(sap, &text)));
    }

    fn output(&mut self, _: Duration) -> Option<String> {
        self.outputs.pop_front()
    }
}
