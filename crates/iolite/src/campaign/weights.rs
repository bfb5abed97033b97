//! `ACTION=N`: how often inputs are chosen, beside each other.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::sync::Arc;

use iolite_derive::{ActionId, Alphabet};
use iolite_exec::Weights;
use iolite_lang::diagnostic::did_you_mean;
use iolite_lts::{LabelKind, Labels};

use crate::Error;

/// An action and its weight, `?coin=3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionWeight {
    action: String,
    weight: u32,
}

impl FromStr for ActionWeight {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (action, weight) = text
            .rsplit_once('=')
            .ok_or_else(|| "it is not of the form ACTION=N".to_owned())?;
        let weight = weight
            .trim()
            .parse()
            .map_err(|_| format!("`{weight}` is no whole number from 0 to {}", u32::MAX))?;
        Ok(Self {
            action: action.trim().to_owned(),
            weight,
        })
    }
}

/// The weights of inputs: of a whole label, or of a name with whatever values.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputWeights(Arc<BTreeMap<String, f64>>);

fn bare(name: &str) -> &str {
    name.split('(').next().unwrap_or(name)
}

impl InputWeights {
    /// Checks that there are such inputs. `actions` are those of the model by kind and name, `labels`
    /// those with values where it has labels for them.
    pub(crate) fn new(
        given: &[ActionWeight],
        actions: &BTreeSet<(LabelKind, String)>,
        labels: Option<&Labels>,
    ) -> Result<Self, Error> {
        let mut weights = BTreeMap::new();
        for ActionWeight { action, weight } in given {
            let name = action.strip_prefix('?').unwrap_or(action);
            let known = |kind| {
                actions.contains(&(kind, name.to_owned()))
                    || labels.is_some_and(|labels| labels.get(kind, name).is_some())
            };
            if !known(LabelKind::Input) {
                return Err(unknown(actions, name));
            }
            if weights
                .insert(name.to_owned(), f64::from(*weight))
                .is_some()
            {
                return Err(Error::input(format!("--weight: `{name}` is given twice")));
            }
        }
        Ok(Self(Arc::new(weights)))
    }

    /// For the stimuli of one job.
    pub(crate) fn of_job(&self, alphabet: &Alphabet) -> StimulusWeights {
        StimulusWeights {
            weights: self.clone(),
            alphabet: alphabet.clone(),
        }
    }
}

fn unknown(actions: &BTreeSet<(LabelKind, String)>, name: &str) -> Error {
    let error = Error::input(format!("--weight: the model has no input `{name}`"));
    let output = name.strip_prefix('!').unwrap_or(name);
    if actions.contains(&(LabelKind::Output, bare(output).to_owned())) {
        return error.hint(format!(
            "`!{output}` is an output, and outputs are the system's choice"
        ));
    }
    let inputs = actions.iter().filter(|(kind, _)| *kind == LabelKind::Input);
    let inputs: Vec<&str> = inputs.map(|(_, name)| name.as_str()).collect();
    let hint = did_you_mean(name, inputs.iter().copied())
        .unwrap_or_else(|| format!("its inputs are: {}", inputs.join(", ")));
    error.hint(hint)
}

/// The weights of what one job may give.
#[derive(Clone)]
pub(crate) struct StimulusWeights {
    weights: InputWeights,
    alphabet: Alphabet,
}

impl Weights for StimulusWeights {
    fn weight(&self, stimulus: ActionId) -> f64 {
        let text = self.alphabet.text(stimulus);
        let name = text.strip_prefix('?').unwrap_or(&text);
        let weights = &self.weights.0;
        let weight = weights.get(name).or_else(|| weights.get(bare(name)));
        weight.copied().unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(labels: &Labels, given: &[&str], input: &str) -> Result<f64, String> {
        let given: Vec<ActionWeight> = given.iter().map(|g| g.parse().unwrap()).collect();
        let actions = labels.iter();
        let actions = actions.map(|(_, l)| (l.kind, bare(&l.name).to_owned()));
        let weights = InputWeights::new(&given, &actions.collect(), Some(labels));
        let weights = weights.map_err(|f| f.to_string())?;
        let alphabet = Alphabet::of_labels(labels);
        let input = alphabet.declared(input).unwrap();
        Ok(weights.of_job(&alphabet).weight(input))
    }

    #[test]
    fn a_name_stands_for_all_values_and_a_whole_label_for_itself() {
        let mut labels = Labels::new();
        for text in ["?REQ(1)", "?REQ(2)", "?ack", "!x"] {
            labels.intern_text(text);
        }
        let given = ["?REQ(1)=5", "REQ=2", "ack=0"];
        assert_eq!(weight(&labels, &given, "?REQ(1)"), Ok(5.0));
        assert_eq!(weight(&labels, &given, "?REQ(2)"), Ok(2.0));
        assert_eq!(weight(&labels, &given, "?ack"), Ok(0.0));
        assert_eq!(weight(&labels, &[], "?ack"), Ok(1.0));
        for (given, part) in [
            (&["REK=1"][..], "did you mean `REQ`?"),
            (&["!x=1"], "`!x` is an output"),
            (&["beer=1"], "its inputs are: REQ, ack"),
            (&["ack=1", "?ack=2"], "given twice"),
        ] {
            let error = weight(&labels, given, "?ack").unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        for text in ["ack", "ack=-1", "ack=0.5", "ack="] {
            assert!(text.parse::<ActionWeight>().is_err(), "{text}");
        }
    }
}
