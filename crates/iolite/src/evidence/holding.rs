//! Certificates of positive answers: the pairs of states in which nothing is wrong.
//!
//! The searches drop pairs that others stand for, and remember no more than they need. Here all of them are
//! listed, by the plain rules, so that the checker needs no cleverness.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use iolite_derive::{Criterion, ModelRef, location};
use iolite_lts::relation::{Relation, TraceSet};
use iolite_lts::{
    Completed, Completion, Determinised, LabelId, LabelKind, QuiescencePolicy, Semantics, SetId,
    StateId, Suspension,
};
use iolite_property::Observer;
use iolite_recheck::{Certificate, Model, Pairs};

use super::certify::{named, policy_name};
use super::holding_queues::QueueRules;
use super::tables;
use crate::{
    Error, ExplicitSpec, PropertyReadOptions, RelationDocument, Verification, VerificationOptions,
    VerifiedProperty, Workspace,
};

/// States of each model that a certificate of a positive answer holds.
pub(super) const STATES: usize = 20_000;

/// Pairs that it holds.
pub(super) const PAIRS: usize = 200_000;

pub(super) fn too_many(what: &str, limit: usize) -> Error {
    Error::undecided(format!(
        "no certificate is written: it would have more than {limit} {what}"
    ))
}

impl Workspace {
    /// The whole certificate of a relation that holds.
    ///
    /// # Errors
    ///
    /// Where it would be too large.
    pub fn certify_holding(&self, document: &RelationDocument) -> Result<Certificate, Error> {
        let relation: Relation = document
            .relation
            .parse()
            .map_err(|_| Error::input("no relation"))?;
        if document.holds != Some(true) {
            return Err(Error::undecided(
                "no certificate is written: the relation does not hold",
            ));
        }
        if let Some(found) = &document.evidence {
            return self.certify_relation_proof(document, found);
        }
        let implementation = ModelRef::from(document.implementation.as_str());
        let specification = ModelRef::from(document.specification.as_str());
        let (i, s) = (
            self.explicit(&implementation)?,
            self.explicit(&specification)?,
        );
        let (system_i, system_s) = (i.system(), s.system());
        let whole = |system| tables::whole_table(system, STATES);
        let (Some((table_i, numbers_i)), Some((table_s, numbers_s))) =
            (whole(&system_i), whole(&system_s))
        else {
            return Err(too_many("states", STATES));
        };
        let policy = document.semantics.policy();
        let completion = document.semantics.complete_inputs.map(Completion::from);
        let traces = document.traces.as_ref().map(|traces| {
            let reference = ModelRef::from(traces.as_str());
            let set = self.traces_between(&reference, &s, &i);
            Ok::<_, Error>((reference, set?))
        });
        let traces = traces.transpose()?;
        let rules = Rules {
            relation,
            policy,
            traces: traces.as_ref().map(|(_, (set, _))| set),
        };
        let number = |state: StateId| match completion {
            // The states of chaos come after those of the table.
            Some(Completion::Chaos) => match state.index().checked_sub(3) {
                None => table_i.states.len() + state.index(),
                Some(own) => numbers_i[&StateId::new(own)],
            },
            _ => numbers_i[&state],
        };
        let followed = traces.as_ref().map(|(reference, (set, labels))| {
            tables::numbered_trace_set(reference.to_string(), set, labels)
        });
        let members = |set: &Vec<StateId>| set.iter().map(|q| numbers_s[q]).collect();
        let pairs = if let Some(max_in_flight) = document.max_in_flight {
            let rules = QueueRules {
                relation,
                policy,
                max_in_flight,
            };
            let mut found = match completion {
                None => rules.places(&system_i, &system_s)?,
                Some(how) => {
                    rules.places(&Completed::over(&system_i, how, s.labels()), &system_s)?
                }
            };
            for (state, ..) in &mut found.places.places {
                *state = number(found.states[*state]);
            }
            Pairs {
                sets: found.sets.iter().map(members).collect(),
                queues: Some(found.places),
                ..Pairs::default()
            }
        } else {
            let (found, sets) = match completion {
                None => rules.pairs(&system_i, &system_s)?,
                Some(how) => {
                    rules.pairs(&Completed::over(&system_i, how, s.labels()), &system_s)?
                }
            };
            let place = |f: StateId| followed.as_ref().and_then(|(_, n)| n.get(&f).copied());
            Pairs {
                sets: sets.iter().map(members).collect(),
                pairs: found.iter().map(|&(p, set, _)| (number(p), set)).collect(),
                traces: found.iter().filter_map(|&(.., f)| place(f?)).collect(),
                ..Pairs::default()
            }
        };
        let mut certificate = Certificate {
            model: named(s.reference()),
            complete_inputs: document
                .semantics
                .complete_inputs
                .map(|how| how.name().to_owned()),
            context: document.context.name().to_owned(),
            pairs: Some(pairs),
            specification: Some(model(&s, table_s)),
            ..Certificate::new(relation.name(), "holds", policy_name(policy))
        };
        certificate.implementation = Some(model(&i, table_i));
        certificate.traces = followed.map(|(table, _)| table);
        let mut references = vec![implementation, specification];
        references.extend(traces.map(|(reference, _)| reference));
        self.add_files(
            &mut certificate,
            &references,
            &PropertyReadOptions::default(),
        )?;
        Ok(certificate)
    }

    /// The whole certificate of an observer or a property that a specification satisfies; `None` for any other
    /// answer.
    ///
    /// # Errors
    ///
    /// Where it would be too large, and where the model or the observer has data.
    pub fn certify_proof(
        &self,
        verification: &Verification,
        property: &VerifiedProperty,
        options: &VerificationOptions,
    ) -> Result<Option<Certificate>, Error> {
        if !matches!(property.proof, crate::Proof::Proved { .. }) {
            return Ok(None);
        }
        let reference = ModelRef {
            hash: None,
            ..verification.system.clone()
        };
        let data =
            "no certificate is written: pairs of states prove what models without data satisfy";
        let spec = self
            .explicit(&reference)
            .map_err(|_| Error::undecided(data))?;
        let system = spec.system();
        let Some((table, numbers)) = tables::whole_table(&system, STATES) else {
            return Err(too_many("states", STATES));
        };
        for watcher in &options.properties {
            if self.is_safety_property(watcher)? {
                continue;
            }
            let Ok(observers) = self.observers_of(watcher, &spec) else {
                continue;
            };
            let Some(observer) = observers.iter().find(|o| o.name() == property.name) else {
                continue;
            };
            let pairs = observed_pairs(&system, observer, options.quiescence)?;
            let pairs = pairs.into_iter().map(|(q, w)| (numbers[&q], w.index()));
            let automaton = observer.automaton();
            let watched =
                tables::observer(watcher.to_string(), automaton, |w| observer.is_violate(w));
            let mut certificate = Certificate {
                model: named(spec.reference()),
                observers: vec![watched],
                pairs: Some(Pairs {
                    pairs: pairs.collect(),
                    ..Pairs::default()
                }),
                specification: Some(model(&spec, table)),
                ..Certificate::new(
                    Criterion::Safety.name(),
                    "proved",
                    policy_name(options.quiescence),
                )
            };
            let references = [reference, watcher.clone()];
            self.add_files(
                &mut certificate,
                &references,
                &PropertyReadOptions::default(),
            )?;
            return Ok(Some(certificate));
        }
        let satisfied = self.certify_satisfied(&spec, property, options)?;
        satisfied.map(Some).ok_or_else(|| Error::undecided(data))
    }
}

pub(super) fn model(spec: &ExplicitSpec, table: iolite_recheck::Table) -> Model {
    Model {
        reference: spec.reference().to_string(),
        table: Some(table),
    }
}

/// The pairs of a state and a state of the observer that are reached, where it is not left for good.
fn observed_pairs<M: Semantics<State = StateId>>(
    system: &M,
    observer: &Observer,
    policy: QuiescencePolicy,
) -> Result<BTreeSet<(StateId, StateId)>, Error> {
    let view = Suspension::new(system, policy);
    let start = (view.initial(), observer.initial());
    let mut seen = BTreeSet::from([start]);
    let mut todo = vec![start];
    let mut row = Vec::new();
    while let Some((q, w)) = todo.pop() {
        if observer.is_violate(w) {
            let place = location(system, q);
            return Err(Error::fault(format!("proved, and violated in {place}")));
        }
        row.clear();
        view.successors(&q, &mut row);
        for &(label, next) in &row {
            let kind = view.labels().kind(label);
            let to = match kind {
                LabelKind::Internal => Some(w),
                _ => observer.step(w, label),
            };
            if let Some(to) = to
                && seen.insert((next, to))
            {
                todo.push((next, to));
            }
        }
        if seen.len() > PAIRS {
            return Err(too_many("pairs", PAIRS));
        }
    }
    Ok(seen)
}

struct Rules<'a> {
    relation: Relation,
    policy: QuiescencePolicy,
    /// The set F of `ioconf_F`.
    traces: Option<&'a TraceSet>,
}

/// Pairs of a state and the number of a set, each with the state of F where there is one, and the sets.
type HoldingPairs = (Vec<(StateId, usize, Option<StateId>)>, Vec<Vec<StateId>>);

impl Rules<'_> {
    fn suspension(&self) -> bool {
        matches!(self.relation, Relation::Ioco | Relation::Uioco)
    }

    /// All pairs that the relation speaks of.
    fn pairs<M, N>(&self, implementation: &M, specification: &N) -> Result<HoldingPairs, Error>
    where
        M: Semantics<State = StateId>,
        N: Semantics<State = StateId>,
    {
        let view = Suspension::new(implementation, self.policy);
        let mut sets = Determinised::new(Suspension::new(specification, self.policy));
        let known: Vec<Option<LabelId>> = implementation
            .labels()
            .iter()
            .map(|(_, l)| specification.labels().get(l.kind, &l.name))
            .collect();
        // F is over the labels of both.
        let mut labels = specification.labels().clone();
        let joint = labels.join(implementation.labels());
        // The empty set is one of its own: ≤te and ≤iot speak of traces outside the specification.
        let f = self.traces.map(TraceSet::initial);
        let start = (view.initial(), Some(sets.initial()), f);
        let mut seen = BTreeSet::from([start]);
        let mut todo = vec![start];
        let mut row = Vec::new();
        while let Some((p, set, f)) = todo.pop() {
            row.clear();
            view.successors(&p, &mut row);
            for &(label, next) in &row {
                let kind = implementation.labels().kind(label);
                let mut followed = f;
                if let (Some(traces), Some(f), true) = (self.traces, f, kind != LabelKind::Internal)
                {
                    followed = traces.follow(f, joint[label.index()]);
                    if followed.is_none() {
                        continue;
                    }
                }
                let after = match kind {
                    LabelKind::Internal => set,
                    LabelKind::Delta if !self.suspension() => continue,
                    LabelKind::Input
                        if self.relation == Relation::Uioco
                            && is_refused(&mut sets, set, known[label.index()]) =>
                    {
                        continue;
                    }
                    _ => match (set, known[label.index()]) {
                        (Some(set), Some(label)) => sets.after(set, label),
                        _ => None,
                    },
                };
                let everywhere = matches!(
                    self.relation,
                    Relation::Testing | Relation::Iot | Relation::IoconfF
                );
                if kind != LabelKind::Internal && after.is_none() && !everywhere {
                    continue;
                }
                if seen.insert((next, after, followed)) {
                    todo.push((next, after, followed));
                }
            }
            if seen.len() > PAIRS {
                return Err(too_many("pairs", PAIRS));
            }
        }
        let mut numbers: BTreeMap<Option<SetId>, usize> = BTreeMap::new();
        let mut members: Vec<Vec<StateId>> = Vec::new();
        let mut pairs = Vec::new();
        for (p, set, f) in seen {
            let number = *numbers.entry(set).or_insert_with(|| {
                members.push(set.map_or(Vec::new(), |set| sets.members(set).to_vec()));
                members.len() - 1
            });
            pairs.push((p, number, f));
        }
        let size: usize = members.iter().map(Vec::len).sum();
        if size > 10 * PAIRS {
            return Err(too_many("members of sets", 10 * PAIRS));
        }
        Ok((pairs, members))
    }
}

/// Whether a state of the set does not take an input, not even after internal actions.
pub(super) fn is_refused<N: Semantics<State = StateId>>(
    sets: &mut Determinised<Suspension<N>>,
    set: Option<SetId>,
    input: Option<LabelId>,
) -> bool {
    let (Some(set), Some(input)) = (set, input) else {
        return true;
    };
    let members = sets.members(set).to_vec();
    members.into_iter().any(|q| {
        let closed = sets.set_of(&[q]);
        sets.after(closed, input).is_none()
    })
}
