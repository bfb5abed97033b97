//! Certificates of properties that a specification satisfies: all pairs of states, and in which order an
//! execution leaves the groups of them that it must not stay in.

use std::collections::BTreeMap;

use iolite_derive::{Criterion, Environment, Executions, Fairness, LetterMap, ModelRef};
use iolite_lts::{LabelId, LabelKind, Quiescence, Semantics, StateId, Suspension, Tarjan};
use iolite_property::StreettAutomaton;
use iolite_recheck::{Certificate, Group, Pairs};

use super::certify::{named, policy_name};
use super::execution::{environment_name, fairness_name};
use super::holding::{PAIRS, STATES, model, too_many};
use super::tables;
use crate::property_verification::actions;
use crate::workspace::formula;
use crate::{
    Error, ExplicitSpec, PropertyReadOptions, VerificationOptions, VerifiedProperty, Workspace,
};

/// Actions that one execution after the other neglects, in one argument; a reader of JSON follows lists in
/// lists only so far.
const NESTED: usize = 40;

impl Workspace {
    /// The whole certificate of a property of any class that a specification satisfies; `None` where the
    /// name is not that of a property.
    pub(super) fn certify_satisfied(
        &self,
        spec: &ExplicitSpec,
        property: &VerifiedProperty,
        options: &VerificationOptions,
    ) -> Result<Option<Certificate>, Error> {
        for reference in &options.properties {
            if !self.is_safety_property(reference)? {
                continue;
            }
            let read = PropertyReadOptions {
                over: actions(spec.labels(), formula(reference)),
                beside: Some(spec.reference().clone()),
                ..PropertyReadOptions::default()
            };
            let found = self.properties(reference, &read)?;
            let Some(found) = found.into_iter().find(|p| p.name == property.name) else {
                continue;
            };
            let system = spec.system();
            let Some((table, numbers)) = tables::whole_table(&system, STATES) else {
                return Err(too_many("states", STATES));
            };
            let events: Vec<String> = spec.labels().iter().map(|(_, l)| l.to_string()).collect();
            let automaton = &found.automaton;
            let executions = Executions {
                fairness: options.fairness.into(),
                environment: options.environment.into(),
                quiescence: options.quiescence,
            };
            let product = Product::new(&system, automaton, executions)?;
            let pairs = product.pairs.iter();
            let pairs = pairs.map(|(s, q)| (numbers[s], q.index()));
            let mut whole = Certificate {
                model: named(spec.reference()),
                fairness: fairness_name(options.fairness),
                environment: environment_name(options.environment),
                property: Some(tables::closed_property(
                    found.reference.to_string(),
                    automaton,
                    &events,
                )),
                pairs: Some(Pairs {
                    pairs: pairs.collect(),
                    descents: product.descents(automaton)?,
                    ..Pairs::default()
                }),
                specification: Some(model(spec, table)),
                ..Certificate::new(
                    Criterion::Property.name(),
                    "proved",
                    policy_name(options.quiescence),
                )
            };
            let own = ModelRef {
                hash: None,
                ..spec.reference().clone()
            };
            self.add_files(&mut whole, &[own, found.reference.clone()], &read)?;
            return match iolite_recheck::check(&whole) {
                Ok(_) => Ok(Some(whole)),
                Err(iolite_recheck::Fault::Undecided(reason)) => Err(Error::undecided(format!(
                    "no certificate is written: {reason}"
                ))),
                Err(iolite_recheck::Fault::Rejected(reason)) => Err(Error::fault(format!(
                    "{}: proved, and its certificate does not stand: {reason}",
                    property.name
                ))),
            };
        }
        Ok(None)
    }
}

struct Step {
    label: LabelId,
    to: usize,
    seen: bool,
}

/// All pairs that are reached.
struct Product<'a, M> {
    system: &'a M,
    executions: Executions,
    pairs: Vec<(StateId, StateId)>,
    silence: Vec<Option<Quiescence>>,
    steps: Vec<Vec<Step>>,
}

/// What an execution must not stay among.
#[derive(Clone, Copy, PartialEq)]
enum Aim {
    /// Pairs where what the property sees of it has ended, and is not in it.
    Finite,
    /// Pairs outside R of this Streett pair.
    Pair(usize),
}

impl<'a, M: Semantics<State = StateId>> Product<'a, M> {
    fn new(
        system: &'a M,
        property: &StreettAutomaton,
        executions: Executions,
    ) -> Result<Self, Error> {
        let view = Suspension::new(system, executions.quiescence);
        let letters = LetterMap::new(property.alphabet(), system.labels());
        let structure = property.structure();
        let start = (system.initial(), structure.initial());
        let mut number = BTreeMap::from([(start, 0)]);
        let mut product = Self {
            system,
            executions,
            pairs: vec![start],
            silence: Vec::new(),
            steps: Vec::new(),
        };
        let mut row = Vec::new();
        while let Some(&(state, q)) = product.pairs.get(product.steps.len()) {
            row.clear();
            system.successors(&state, &mut row);
            let silence = view.quiescence(state);
            let mut next: Vec<(LabelId, StateId, Option<_>)> = row
                .iter()
                .map(|&(label, to)| (label, to, letters.letter(label)))
                .collect();
            if let Some(letter) = silence.and_then(|kind| letters.silence(kind)) {
                next.push((LabelId::DELTA, state, Some(letter)));
            }
            let mut steps = Vec::new();
            for (label, to, letter) in next {
                let q = letter.map_or(q, |letter| structure.step(q, letter));
                let new = product.pairs.len();
                let to = *number.entry((to, q)).or_insert_with(|| {
                    product.pairs.push((to, q));
                    new
                });
                let seen = letter.is_some();
                steps.push(Step { label, to, seen });
            }
            product.silence.push(silence);
            product.steps.push(steps);
            if product.pairs.len() > PAIRS {
                return Err(too_many("pairs", PAIRS));
            }
        }
        Ok(product)
    }

    fn descents(&self, property: &StreettAutomaton) -> Result<Vec<Vec<Group>>, Error> {
        let among = |wanted: &dyn Fn(StateId) -> bool| -> Vec<usize> {
            let numbers = 0..self.pairs.len();
            numbers.filter(|&k| wanted(self.pairs[k].1)).collect()
        };
        let open = |q| !property.finite().contains(q) || property.open().contains(q);
        let mut all = vec![self.groups(&among(&open), Aim::Finite, property, 0)?];
        for (number, pair) in property.pairs().iter().enumerate() {
            let stays = |q| !pair.recurrent.contains(q);
            all.push(self.groups(&among(&stays), Aim::Pair(number), property, 0)?);
        }
        if all.iter().map(|groups| size(groups)).sum::<usize>() > 10 * PAIRS {
            return Err(too_many("members of groups", 10 * PAIRS));
        }
        Ok(all)
    }

    /// The strongly connected parts of these pairs, those that others lead to last.
    fn groups(
        &self,
        among: &[usize],
        aim: Aim,
        property: &StreettAutomaton,
        depth: usize,
    ) -> Result<Vec<Group>, Error> {
        if depth > NESTED {
            return Err(too_many("neglected actions after each other", NESTED));
        }
        let mut member = vec![false; self.pairs.len()];
        for &k in among {
            member[k] = true;
        }
        let mut search = Tarjan::new();
        let mut found: Vec<Vec<usize>> = Vec::new();
        for &root in among {
            search.visit(
                StateId::new(root),
                |k, next| {
                    let steps = self.staying(k.index(), aim).filter(|step| member[step.to]);
                    next.extend(steps.map(|step| StateId::new(step.to)));
                },
                |component| found.push(component.iter().map(|k| k.index()).collect()),
            );
        }
        found.reverse();
        let groups = found.into_iter().map(|mut pairs| {
            pairs.sort_unstable();
            let neglected = self.neglected(&pairs, aim, property);
            let mut group = Group {
                pairs,
                ..Group::default()
            };
            if let Some(label) = neglected {
                group.neglects = Some(self.system.labels().text(label));
                let rest: Vec<usize> = group.pairs.clone();
                let rest: Vec<usize> = rest
                    .into_iter()
                    .filter(|&k| !self.enables(k, label))
                    .collect();
                group.rest = self.groups(&rest, aim, property, depth + 1)?;
            }
            Ok(group)
        });
        groups.collect()
    }

    fn staying(&self, k: usize, aim: Aim) -> impl Iterator<Item = &Step> {
        let steps = self.steps[k].iter();
        steps.filter(move |step| aim != Aim::Finite || !step.seen)
    }

    fn enables(&self, k: usize, label: LabelId) -> bool {
        self.steps[k].iter().any(|step| step.label == label)
    }

    /// The action that an execution neglects which stays in a part; none where nothing stays there that
    /// counts and is wrong, whatever is fair.
    fn neglected(&self, part: &[usize], aim: Aim, property: &StreettAutomaton) -> Option<LabelId> {
        let kind = |label: LabelId| self.system.labels().kind(label);
        let inside = || {
            let steps = part.iter().flat_map(|&k| self.staying(k, aim));
            steps.filter(|step| part.binary_search(&step.to).is_ok())
        };
        let stays = match aim {
            Aim::Finite => {
                let visible = inside().any(|step| kind(step.label) != LabelKind::Internal);
                // One whose silence the property sees has a sequence without end.
                let shown = |k: usize| self.steps[k].iter().any(|s| s.label == LabelId::DELTA);
                let livelock =
                    |&k: &usize| self.silence[k] == Some(Quiescence::Livelock) && !shown(k);
                visible || inside().next().is_some() && part.iter().any(livelock)
            }
            Aim::Pair(number) => {
                let pair = &property.pairs()[number];
                let outside = |&k: &usize| !pair.persistent.contains(self.pairs[k].1);
                let waits = self.executions.environment == Environment::GoesOn
                    && inside().all(|step| step.label == LabelId::DELTA)
                    && self.silence[part[0]] == Some(Quiescence::OutputLock);
                part.iter().any(outside) && inside().any(|step| step.seen) && !waits
            }
        };
        if !stays {
            return None;
        }
        let owed = |label: LabelId| matches!(kind(label), LabelKind::Output | LabelKind::Internal);
        let taken = |label: LabelId| inside().any(|step| step.label == label);
        let due = |label: LabelId| match self.executions.fairness {
            Fairness::None => false,
            Fairness::Weak => part.iter().all(|&k| self.enables(k, label)),
            Fairness::Strong => true,
        };
        let labels = part
            .iter()
            .flat_map(|&k| self.steps[k].iter().map(|s| s.label));
        let mut labels: Vec<LabelId> = labels.filter(|&label| owed(label)).collect();
        labels.sort_unstable();
        labels.dedup();
        labels
            .into_iter()
            .find(|&label| due(label) && !taken(label))
    }
}

fn size(groups: &[Group]) -> usize {
    let own = |group: &Group| group.pairs.len() + size(&group.rest);
    groups.iter().map(own).sum()
}
