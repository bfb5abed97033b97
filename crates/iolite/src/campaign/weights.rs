//! `--weight ACTION=N`: how often inputs are chosen, beside each other.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::Arc;

use iolite_exec::{ConcreteAction, Weights};
use iolite_lang::diagnostic::did_you_mean;
use iolite_lts::{LabelId, LabelKind, Labels};
use iolite_sts::Iosts;

use super::Failure;
use super::action_table::ActionTable;

/// An action and its weight, `?coin=3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ActionWeight {
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

/// The weights of all inputs.
#[derive(Clone, Debug)]
pub(super) struct InputWeights(Arc<[f64]>);

impl InputWeights {
    /// By label. A label with values has the weight of its name, unless it is named itself.
    pub(super) fn of_labels(labels: &Labels, given: &[ActionWeight]) -> Result<Self, Failure> {
        let actions = labels.iter().map(|(_, label)| (label.kind, &*label.name));
        weigh(actions, given).map(Self)
    }

    /// By action of a model with data, whatever values it carries.
    pub(super) fn of_gates(model: &Iosts, given: &[ActionWeight]) -> Result<Self, Failure> {
        let actions = model
            .gates()
            .map(|(_, action)| (action.kind, &*action.name));
        weigh(actions, given).map(Self)
    }

    /// For the stimuli of one job.
    pub(super) fn of_job(&self, valued: Option<ActionTable>) -> StimulusWeights {
        StimulusWeights {
            weights: Arc::clone(&self.0),
            valued,
        }
    }
}

fn weigh<'a>(
    actions: impl Iterator<Item = (LabelKind, &'a str)>,
    given: &[ActionWeight],
) -> Result<Arc<[f64]>, Failure> {
    let actions: Vec<(LabelKind, &str, String)> = actions
        .map(|(kind, name)| (kind, name, ConcreteAction::parse(name).name))
        .collect();
    let mut weights = vec![1.0; actions.len()];
    let mut exact = vec![false; actions.len()];
    let mut seen = BTreeSet::new();
    for ActionWeight { action, weight } in given {
        let name = action.strip_prefix('?').unwrap_or(action);
        if !seen.insert(name) {
            return Err(Failure::input(format!("--weight: `{name}` is given twice")));
        }
        let mut found = false;
        for (i, (kind, whole, bare)) in actions.iter().enumerate() {
            let named = *whole == name;
            if *kind == LabelKind::Input && (named || bare == name) {
                found = true;
                if named || !exact[i] {
                    weights[i] = f64::from(*weight);
                    exact[i] = named;
                }
            }
        }
        if !found {
            return Err(unknown(&actions, name));
        }
    }
    Ok(weights.into())
}

fn unknown(actions: &[(LabelKind, &str, String)], name: &str) -> Failure {
    let failure = Failure::input(format!("--weight: the model has no input `{name}`"));
    let output = name.strip_prefix('!').unwrap_or(name);
    let same = |(kind, whole, bare): &&(LabelKind, &str, String)| {
        *kind == LabelKind::Output && (*whole == output || bare == output)
    };
    if actions.iter().any(|action| same(&action)) {
        return failure.hint(format!(
            "`!{output}` is an output, and outputs are the system's choice"
        ));
    }
    let inputs: BTreeSet<&str> = actions
        .iter()
        .filter(|(kind, ..)| *kind == LabelKind::Input)
        .map(|(_, _, bare)| bare.as_str())
        .collect();
    let hint = did_you_mean(name, inputs.iter().copied()).unwrap_or_else(|| {
        let list: Vec<&str> = inputs.into_iter().collect();
        format!("its inputs are: {}", list.join(", "))
    });
    failure.hint(hint)
}

/// The weights of what one job may give.
#[derive(Clone)]
pub(super) struct StimulusWeights {
    weights: Arc<[f64]>,
    valued: Option<ActionTable>,
}

impl Weights<LabelId> for StimulusWeights {
    fn weight(&self, stimulus: &LabelId) -> f64 {
        let index = match &self.valued {
            Some(table) => table.gate(*stimulus).map(iolite_sts::GateId::index),
            None => Some(stimulus.index()),
        };
        index
            .and_then(|i| self.weights.get(i))
            .copied()
            .unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(labels: &Labels, given: &[&str], input: &str) -> Result<f64, String> {
        let given: Vec<ActionWeight> = given.iter().map(|g| g.parse().unwrap()).collect();
        let weights = InputWeights::of_labels(labels, &given).map_err(|f| f.to_string())?;
        Ok(weights
            .of_job(None)
            .weight(&labels.get_text(input).unwrap()))
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
