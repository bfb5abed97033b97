//! The labels of an explicit system as gates: `reply(200)` and `reply(503)` are one gate with a parameter.
//!
//! An observer with guards asks for values, and the labels of an automaton in a file have them in their text.
//! Labels of one name become a gate with parameters where each has as many values, and these can be told
//! apart as integers, truth values or texts. Other labels stay gates without parameters.

use std::collections::BTreeMap;

use iolite_expr::{Sort, Span, Term, Value};
use iolite_lts::{LabelId, LabelKind, Labels};
use iolite_sts::{BuildError, Builder, GateId};

/// The first sort that all values of a parameter can be read as is its sort.
const SORTS: [Sort; 3] = [Sort::Int, Sort::Bool, Sort::String];

/// The gate that a label is, and the values it carries.
#[derive(Clone, Debug)]
pub(crate) struct LabelGate {
    pub(crate) gate: GateId,
    pub(crate) values: Vec<Value>,
}

impl LabelGate {
    /// That the parameters have the values of the label; none for a gate without parameters.
    pub(crate) fn condition(&self, builder: &Builder) -> Option<Term> {
        let params = builder.params(self.gate).iter().zip(&self.values);
        let equal: Vec<Term> = params
            .map(|(p, v)| p.term().equals_value(v).expect("a value of the sort"))
            .collect();
        (!equal.is_empty()).then(|| Term::all(equal))
    }
}

/// The gates of the visible labels, by label.
#[derive(Debug)]
pub(crate) struct LabelGates {
    of: Vec<Option<LabelGate>>,
}

impl LabelGates {
    /// Declares the gates of all inputs and outputs of a table.
    pub(crate) fn declare(builder: &mut Builder, labels: &Labels) -> Result<Self, BuildError> {
        let mut of = vec![None; labels.len()];
        for ((kind, name), group) in groups(labels) {
            let whole = |(label, _): &(LabelId, Vec<&str>)| labels.label(*label).name.clone();
            let Some((sorts, values)) = signature(&group) else {
                for one in &group {
                    let gate = builder.gate(kind, &whole(one), &[], Span::NONE)?;
                    of[one.0.index()] = Some(LabelGate {
                        gate,
                        values: Vec::new(),
                    });
                }
                continue;
            };
            let names: Vec<String> = (1..=sorts.len()).map(|i| format!("p{i}")).collect();
            let params: Vec<(&str, Sort)> = names.iter().map(String::as_str).zip(sorts).collect();
            let gate = builder.gate(kind, name, &params, Span::NONE)?;
            for ((label, _), values) in group.iter().zip(values) {
                of[label.index()] = Some(LabelGate { gate, values });
            }
        }
        Ok(Self { of })
    }

    /// The gate of a label; none for internal ones and δ.
    pub(crate) fn get(&self, label: LabelId) -> Option<&LabelGate> {
        self.of[label.index()].as_ref()
    }
}

type Group<'a> = ((LabelKind, &'a str), Vec<(LabelId, Vec<&'a str>)>);

/// The visible labels by what they are called without values, in the order of the table.
fn groups(labels: &Labels) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut place: BTreeMap<(LabelKind, &str), usize> = BTreeMap::new();
    for (id, label) in labels.iter() {
        if matches!(label.kind, LabelKind::Input | LabelKind::Output) {
            let (name, values) = Value::split_action(&label.name);
            let key = (label.kind, name);
            let at = *place.entry(key).or_insert(groups.len());
            if at == groups.len() {
                groups.push((key, Vec::new()));
            }
            groups[at].1.push((id, values));
        }
    }
    groups
}

/// The sorts of the parameters that labels of one name have, and the values of each label; none where they
/// are better taken as they are written.
fn signature(group: &[(LabelId, Vec<&str>)]) -> Option<(Vec<Sort>, Vec<Vec<Value>>)> {
    let arity = group.first()?.1.len();
    if arity == 0 || group.iter().any(|(_, texts)| texts.len() != arity) {
        return None;
    }
    let reads = |position: usize, sort: &Sort| {
        let read = |(_, texts): &(LabelId, Vec<&str>)| Value::read(texts[position], sort);
        group.iter().all(|label| read(label).is_some())
    };
    let sort = |position| SORTS.into_iter().find(|sort| reads(position, sort));
    let sorts: Vec<Sort> = (0..arity).map(sort).collect::<Option<_>>()?;
    let values = |(_, texts): &(LabelId, Vec<&str>)| {
        let read = texts.iter().zip(&sorts).map(|(t, s)| Value::read(t, s));
        read.collect::<Option<Vec<Value>>>()
    };
    let values: Vec<Vec<Value>> = group.iter().map(values).collect::<Option<_>>()?;
    // `a(1)` and `a(01)` are two labels with one value.
    let twice = |(i, v): (usize, &Vec<Value>)| values[..i].contains(v);
    (!values.iter().enumerate().any(twice)).then_some((sorts, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gates(texts: &[&str]) -> Vec<String> {
        let mut labels = Labels::new();
        for text in texts {
            labels.intern_text(text);
        }
        let mut builder = Builder::new("system");
        let gates = LabelGates::declare(&mut builder, &labels).unwrap();
        let shown = |(id, _): (LabelId, _)| {
            let LabelGate { gate, values } = gates.get(id)?;
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            let gate = builder.model().gate(*gate);
            Some(
                format!("{} {}", gate.name, values.join(","))
                    .trim_end()
                    .to_owned(),
            )
        };
        labels.iter().filter_map(shown).collect()
    }

    #[test]
    fn labels_of_one_name_with_values_are_one_gate() {
        assert_eq!(
            gates(&[
                "!reply(200)",
                "!reply(503)",
                "?get(bob, true)",
                "?get(eve, false)"
            ]),
            [
                "reply 200",
                "reply 503",
                r#"get "bob",true"#,
                r#"get "eve",false"#
            ]
        );
    }

    #[test]
    fn labels_that_do_not_fit_together_stay_as_they_are() {
        assert_eq!(gates(&["!r", "!r(1)"]), ["r", "r(1)"]);
        assert_eq!(gates(&["!r(1)", "!r(1, 2)"]), ["r(1)", "r(1, 2)"]);
        assert_eq!(gates(&["!r(1)", "!r(01)"]), ["r(1)", "r(01)"]);
        assert_eq!(gates(&["?r(1)", "!r(x)"]), ["r 1", r#"r "x""#]);
    }
}
