//! A specification that satisfies a property: every execution of it is in Π [PROP12, def. 3].
//!
//! The claim lists pairs of a state and a state of the automaton that contain the start and every step. Where
//! an execution may end is seen pair by pair. That none without end is rejected is shown by descents: an
//! execution that is rejected stays from some point on where it never is in R of a Streett pair, or where
//! the property sees nothing of it any more. Such a part of the pairs is cut into groups that no step leads
//! back from, so that the execution stays in one of them; and in each group something is missing that an
//! execution needs which counts and is rejected.

use std::collections::{BTreeMap, BTreeSet};

use crate::definitions::executions::{Fairness, check_alone, fairness};
use crate::definitions::streett::letter;
use crate::definitions::system::{DELTA, Policy, States, System};
use crate::format::document::{Certificate, Group, Kind, Property};
use crate::{LETTERS_OF_VALUES, Outcome, Report, rejected};

/// A step between pairs.
struct Step<'a> {
    /// Nothing for δ.
    kind: Option<Kind>,
    action: &'a str,
    to: usize,
    /// Whether the property sees it.
    seen: bool,
}

struct Claim<'a> {
    s: &'a System,
    property: &'a Property,
    fair: Fairness,
    pairs: &'a [(usize, usize)],
    steps: Vec<Vec<Step<'a>>>,
}

/// What an execution that stays in a group would be rejected for.
#[derive(Clone, Copy)]
enum Wrong<'a> {
    /// What the property sees of it ends, and is not in Π.
    Finite,
    /// It is not in P of a Streett pair again and again.
    Outside(&'a [usize]),
}

pub(crate) fn check(certificate: &Certificate, report: &mut Report) -> Outcome<()> {
    let (Some(property), Some(told)) = (&certificate.property, &certificate.pairs) else {
        return rejected("the property is missing");
    };
    check_alone(certificate, property)?;
    if certificate.verdict != "proved" || !certificate.trace.is_empty() {
        return rejected("pairs prove a property, without a trace");
    }
    if !told.sets.is_empty() || !told.traces.is_empty() || told.queues.is_some() {
        return rejected("the pairs are of states, without queues");
    }
    let policy = Policy::parse(&certificate.quiescence)?;
    let s = System::of(certificate.specification.as_ref(), policy)?;
    if !s.is_whole() {
        return rejected("a part of a model proves nothing of the rest");
    }
    let claim = Claim::new(&s, property, fairness(certificate)?, &told.pairs)?;
    claim.check_ends()?;
    let [finite, infinite @ ..] = told.descents.as_slice() else {
        return rejected("a descent is missing");
    };
    if infinite.len() != property.pairs.len() {
        return rejected("there is one descent for each pair of the automaton");
    }
    let rejects = |k: &usize| !property.finite.contains(&claim.pairs[*k].1);
    let numbers = claim.numbers();
    let among = numbers.iter().copied().filter(rejects).collect();
    claim.descends(&among, finite, Wrong::Finite)?;
    for (pair, groups) in property.pairs.iter().zip(infinite) {
        let stays = |k: &usize| !pair.recurrent.contains(&claim.pairs[*k].1);
        let among = numbers.iter().copied().filter(stays).collect();
        claim.descends(&among, groups, Wrong::Outside(&pair.persistent))?;
    }
    if numbers.len() < told.pairs.len() {
        report
            .notes
            .push("pairs: something is there twice".to_owned());
    }
    if !property.values.is_empty() {
        report.told.push(LETTERS_OF_VALUES.to_owned());
    }
    report.confirmed.push(format!(
        "pairs: {} of them, with the start, closed under all steps; no execution ends in one wrongly",
        numbers.len()
    ));
    report.confirmed.push(format!(
        "descents: {}; no execution that counts goes on for ever and is rejected",
        told.descents.len()
    ));
    Ok(())
}

impl<'a> Claim<'a> {
    fn new(
        s: &'a System,
        property: &'a Property,
        fair: Fairness,
        pairs: &'a [(usize, usize)],
    ) -> Outcome<Self> {
        let mut number: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (k, &(state, q)) in pairs.iter().enumerate() {
            if state >= s.count() || q >= property.rows.len() {
                return rejected("a pair names a state that is not there");
            }
            number.entry((state, q)).or_insert(k);
        }
        if !number.contains_key(&(s.initial(), property.initial)) {
            return rejected("the pair of the initial states is missing");
        }
        let mut steps = Vec::new();
        for &(state, q) in pairs {
            let mut row: Vec<(Option<Kind>, &str, usize)> = Vec::new();
            for (kind, action, to) in s.steps(state)? {
                row.push((Some(kind), action, to));
            }
            if letter(property, DELTA).is_some() && s.is_quiescent(state)? {
                row.push((None, DELTA, state));
            }
            let mut own = Vec::new();
            for (kind, action, to) in row {
                let seen = match kind {
                    Some(Kind::Internal) => None,
                    _ => letter(property, action),
                };
                let next = seen.map_or(q, |letter| property.rows[q][letter]);
                let Some(&to) = number.get(&(to, next)) else {
                    let state = s.state(state);
                    return rejected(format!("the pair with {state} after {action} is missing"));
                };
                let seen = seen.is_some();
                own.push(Step {
                    kind,
                    action,
                    to,
                    seen,
                });
            }
            steps.push(own);
        }
        Ok(Self {
            s,
            property,
            fair,
            pairs,
            steps,
        })
    }

    /// The pairs, each once.
    fn numbers(&self) -> States {
        let mut met = BTreeSet::new();
        let pairs = self.pairs.iter().enumerate();
        let first = pairs.filter(|(_, pair)| met.insert(**pair));
        first.map(|(k, _)| k).collect()
    }

    /// Where silence is no letter, the sequence of an execution that ends in silence must be in Π.
    fn check_ends(&self) -> Outcome<()> {
        if letter(self.property, DELTA).is_some() {
            return Ok(());
        }
        for &(state, q) in self.pairs {
            let steps = self.s.steps(state)?;
            let speaks = |kind: Kind| matches!(kind, Kind::Output | Kind::Internal);
            let ends = !steps.iter().any(|&(kind, ..)| speaks(kind))
                && (steps.is_empty() || !self.fair.goes_on);
            if ends && !self.property.finite.contains(&q) {
                let state = self.s.state(state);
                return rejected(format!(
                    "an execution may end in {state} outside of the property"
                ));
            }
        }
        Ok(())
    }

    /// No execution that counts stays among these pairs and is rejected for that.
    fn descends(&self, among: &States, groups: &[Group], wrong: Wrong<'_>) -> Outcome<()> {
        let mut group_of: BTreeMap<usize, usize> = BTreeMap::new();
        for (g, group) in groups.iter().enumerate() {
            for pair in &group.pairs {
                if !among.contains(pair) || group_of.insert(*pair, g).is_some() {
                    return rejected("a group has a pair that does not belong there");
                }
            }
        }
        if group_of.len() < among.len() {
            return rejected("a pair is in no group");
        }
        for (from, g) in &group_of {
            for step in self.staying(*from, wrong) {
                if group_of.get(&step.to).is_some_and(|to| to < g) {
                    return rejected("a step leads back to an earlier group");
                }
            }
        }
        for group in groups {
            self.check_group(group, wrong)?;
        }
        Ok(())
    }

    /// The steps that an execution may take without becoming another one than is looked for.
    fn staying(&self, pair: usize, wrong: Wrong<'_>) -> impl Iterator<Item = &Step<'a>> {
        let all = matches!(wrong, Wrong::Outside(_));
        self.steps[pair]
            .iter()
            .filter(move |step| all || !step.seen)
    }

    fn check_group(&self, group: &Group, wrong: Wrong<'_>) -> Outcome<()> {
        let members: States = group.pairs.iter().copied().collect();
        let inside: Vec<(usize, &Step<'a>)> = members
            .iter()
            .flat_map(|&from| self.staying(from, wrong).map(move |step| (from, step)))
            .filter(|(_, step)| members.contains(&step.to))
            .collect();
        if let Some(action) = &group.neglects {
            return self.check_neglected(group, action, &members, &inside, wrong);
        }
        if !group.rest.is_empty() {
            return rejected("only an action that is neglected leaves a rest");
        }
        let harmless = match wrong {
            Wrong::Finite => {
                // Internal actions alone go on for ever only in a livelock, whose silence is a sequence without end
                // where the property sees it.
                let mut stays = inside
                    .iter()
                    .any(|(_, step)| step.kind != Some(Kind::Internal));
                let own_delta = letter(self.property, DELTA).is_some();
                for &(from, _) in inside.iter().filter(|_| !own_delta) {
                    stays |= self.s.is_quiescent(self.pairs[from].0)?;
                }
                !stays
            }
            Wrong::Outside(persistent) => {
                let within = |k: &usize| persistent.contains(&self.pairs[*k].1);
                members.iter().all(within)
                    || !inside.iter().any(|(_, step)| step.seen)
                    || self.fair.goes_on && self.only_waits(&inside)?
            }
        };
        if harmless {
            Ok(())
        } else {
            rejected("an execution may stay in a group and be rejected")
        }
    }

    /// Whether nothing happens there but waiting for an input, which the environment gives.
    fn only_waits(&self, inside: &[(usize, &Step<'a>)]) -> Outcome<bool> {
        for (from, step) in inside {
            let row = self.s.steps(self.pairs[*from].0)?;
            let waits = |kind: Kind| matches!(kind, Kind::Input | Kind::Plain);
            if step.kind.is_some() || row.is_empty() || !row.iter().all(|&(k, ..)| waits(k)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// An execution that stays in the group never takes an action that it owes.
    fn check_neglected(
        &self,
        group: &Group,
        action: &str,
        members: &States,
        inside: &[(usize, &Step<'a>)],
        wrong: Wrong<'_>,
    ) -> Outcome<()> {
        let owed = |kind: Option<Kind>| matches!(kind, Some(Kind::Output | Kind::Internal));
        let is_it = |step: &Step<'a>| owed(step.kind) && step.action == action;
        if inside.iter().any(|(_, step)| is_it(step)) {
            return rejected(format!("{action} is taken within its group"));
        }
        let enables = |k: &usize| self.steps[*k].iter().any(&is_it);
        let rest: States = members.iter().copied().filter(|k| !enables(k)).collect();
        if self.fair.strong && rest.len() < members.len() {
            return self.descends(&rest, &group.rest, wrong);
        }
        if self.fair.weak && rest.is_empty() && group.rest.is_empty() {
            return Ok(());
        }
        rejected(format!("fairness does not ask for {action}"))
    }
}
