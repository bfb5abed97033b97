//! How long silence must last to be quiescence.

use std::collections::BTreeMap;
use std::time::Duration;

/// A default timeout, and others for certain places of the model and after certain actions.
///
/// The system may be in any of the places the tester names, so the longest of their timeouts counts;
/// a place without one has that of the last action, or the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quiescence {
    /// Where nothing else is said.
    pub default: Duration,
    /// By the name of a place of the model, without values.
    pub states: BTreeMap<String, Duration>,
    /// By the last action, in `?a`, `!x` notation.
    pub actions: BTreeMap<String, Duration>,
}

impl Default for Quiescence {
    fn default() -> Self {
        // Long enough for an interpreter to start on a busy machine: silence that is called too early
        // is a false `fail`, and whoever needs speed measures (`iolite calibrate`) and says so.
        Self::after(Duration::from_secs(1))
    }
}

impl Quiescence {
    /// One timeout everywhere.
    pub fn after(default: Duration) -> Self {
        Self {
            default,
            states: BTreeMap::new(),
            actions: BTreeMap::new(),
        }
    }

    /// Whether one timeout counts everywhere, so that nobody needs to ask where the run is.
    pub(crate) fn is_uniform(&self) -> bool {
        self.states.is_empty() && self.actions.is_empty()
    }

    /// The timeout at these places, after this action.
    pub fn timeout(&self, places: &[String], last: Option<&str>) -> Duration {
        let by_action = last
            .and_then(|action| {
                self.actions
                    .get(action)
                    .or_else(|| self.actions.get(bare(action)))
            })
            .copied()
            .unwrap_or(self.default);
        if self.states.is_empty() {
            return by_action;
        }
        places
            .iter()
            .map(|place| self.states.get(place).copied().unwrap_or(by_action))
            .max()
            .unwrap_or(by_action)
    }
}

/// `?BUTTON` of `?BUTTON(3)`: a timeout may be for all values of an action.
fn bare(action: &str) -> &str {
    action.split_once('(').map_or(action, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_of_the_possible_places_counts() {
        let ms = Duration::from_millis;
        let quiescence = Quiescence {
            default: ms(100),
            states: [("Idle".into(), ms(10)), ("Brewing".into(), ms(900))].into(),
            actions: [("?brew".into(), ms(300))].into(),
        };
        let at = |places: &[&str], last| {
            let places: Vec<_> = places.iter().map(|&p| p.to_owned()).collect();
            quiescence.timeout(&places, last)
        };
        assert_eq!(at(&["Idle"], None), ms(10));
        assert_eq!(at(&["Idle", "Other"], None), ms(100));
        assert_eq!(at(&["Idle", "Other"], Some("?brew(3)")), ms(300));
        assert_eq!(at(&["Idle", "Brewing"], Some("?brew")), ms(900));
        assert_eq!(at(&[], Some("!x")), ms(100));
    }
}
