//! What runs came to, read from their events.

use std::sync::Arc;
use std::time::Duration;

use iolite_derive::Notice;

use crate::{Event, ExecError, Summary};

impl Summary {
    /// The summary of recorded runs. Coverage, and what was learnt of constants, is not in the events:
    /// whoever has the model finds it out again.
    pub fn of_events<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut summary = Self::default();
        for event in events {
            summary.read(event);
        }
        summary
    }

    /// Adds an event.
    pub fn read(&mut self, event: &Event) {
        match event {
            Event::RunEnded {
                run,
                verdict,
                steps,
                certificate,
                results,
                ..
            } => {
                *self.verdicts.entry(*verdict).or_default() += 1;
                self.steps = self.steps.saturating_add(*steps);
                if let Some(certificate) = certificate {
                    self.keep_certificate(*verdict, *run, || (**certificate).clone());
                }
                for (goal, verdict) in results {
                    let counts = self.goals.entry(goal.clone()).or_default();
                    *counts.entry(*verdict).or_default() += 1;
                }
            }
            // A signal is not a fault of the run that it ended.
            Event::Fault { code, .. } if code == "interrupted" => {}
            Event::Fault {
                run, code, message, ..
            } => {
                let (code, message) = (code.clone(), message.clone());
                let error = ExecError::Recorded { code, message };
                self.faults.insert(*run, error);
            }
            Event::Stimulus { action, .. } => {
                let name = action.strip_prefix('?').unwrap_or(action);
                let name = name.split('(').next().unwrap_or(name);
                if !self.tried.contains(name) {
                    self.tried.insert(name.to_owned());
                }
            }
            Event::Notice { kind, message, .. } => self.read_notice(kind, message),
            Event::CampaignEnded { elapsed, .. } => {
                let more = Duration::from_micros(*elapsed);
                self.elapsed = self.elapsed.saturating_add(more);
            }
            _ => {}
        }
    }

    /// Notices that are words; solver queries and learnt conditions are not.
    fn read_notice(&mut self, kind: &str, message: &str) {
        let input = || message.strip_prefix('?').unwrap_or(message);
        let notice = match kind {
            "untried" => {
                let (input, reason) = input().split_once(": ").unwrap_or((input(), ""));
                let (input, reason) = (input.to_owned(), Arc::from(reason));
                let known = self.untried.entry(input.clone());
                known.or_insert_with(|| Arc::clone(&reason));
                Notice::Untried { input, reason }
            }
            "guessed" => Notice::Guessed {
                input: input().to_owned(),
            },
            "crossed" => Notice::Crossed {
                input: message.to_owned(),
            },
            "not-repeated" => Notice::NotRepeated,
            "left-goal" => Notice::LeftGoal(message.to_owned()),
            _ => return,
        };
        self.keep_notice(notice);
    }
}
