//! Positive answers through queues: places of a state of the implementation, the inputs that it was given
//! and has not taken, and all explanations that the specification has for what was observed. They contain
//! the start, are closed under all that may happen, and nothing that is seen in them is unexplained.

use std::collections::{BTreeMap, BTreeSet};

use crate::definitions::queues::{Explanation, Queues};
use crate::definitions::system::{DELTA, States, System};
use crate::format::document::{Certificate, Kind, Pairs, QueuePlaces};
use crate::{Outcome, Report, rejected};

/// A state of the implementation, what it has not taken, and the number of the explanations.
type Place = (usize, Vec<String>, usize);

struct Claim<'c> {
    i: &'c System,
    s: &'c System,
    suspension: bool,
    every_state: bool,
    most: usize,
    /// Numbers of sets of explanations that are the same are the same.
    numbers: BTreeMap<BTreeSet<Explanation>, usize>,
    places: BTreeSet<Place>,
}

/// The claim that a relation holds through queues, with so many inputs under way at most.
pub(crate) fn check(
    certificate: &Certificate,
    pairs: &Pairs,
    (i, s): (&System, &System),
    report: &mut Report,
) -> Outcome<()> {
    let kind = certificate.kind.as_str();
    if !matches!(kind, "ioco" | "uioco" | "ioconf") {
        return rejected(format!("`{kind}` is not asked through queues"));
    }
    let Some(told) = &pairs.queues else {
        return rejected("the places are missing");
    };
    if !pairs.pairs.is_empty() || !pairs.traces.is_empty() {
        return rejected("through queues there are places, and no pairs");
    }
    let mut claim = Claim {
        i,
        s,
        suspension: kind != "ioconf",
        every_state: kind == "uioco",
        most: told.max_in_flight,
        numbers: BTreeMap::new(),
        places: BTreeSet::new(),
    };
    claim.read(pairs, told)?;
    let numbers = claim.numbers.iter();
    let by_number: BTreeMap<usize, &BTreeSet<Explanation>> =
        numbers.map(|(set, &number)| (number, set)).collect();
    let start = BTreeSet::from([(s.start()?, Vec::new())]);
    claim.wants(i.initial(), &[], &start, "the start")?;
    for (p, word, number) in &claim.places {
        claim.check_place(*p, word, by_number[number])?;
    }
    report.confirmed.push(format!(
        "places: {} of them, with the start, closed under all that may happen with at most {} inputs under \
         way, and nothing in them is unexplained",
        claim.places.len(),
        claim.most
    ));
    Ok(())
}

impl Claim<'_> {
    fn read(&mut self, pairs: &Pairs, told: &QueuePlaces) -> Outcome<()> {
        let mut sets: Vec<States> = Vec::new();
        for set in &pairs.sets {
            let members: States = set.iter().copied().collect();
            let fits = members.iter().all(|&q| q < self.s.count());
            if !fits || self.s.close(members.clone())? != members {
                return rejected("a set is not closed under internal actions");
            }
            sets.push(members);
        }
        let mut numbers = Vec::new();
        for explanations in &told.explanations {
            let mut all = BTreeSet::new();
            for &(set, word) in explanations {
                let (Some(set), Some(word)) = (sets.get(set), told.words.get(word)) else {
                    return rejected("an explanation names a set or a word that is not there");
                };
                all.insert((set.clone(), word.clone()));
            }
            let next = self.numbers.len();
            numbers.push(*self.numbers.entry(all).or_insert(next));
        }
        for &(p, word, number) in &told.places {
            let (Some(word), Some(&number)) = (told.words.get(word), numbers.get(number)) else {
                return rejected("a place names a word or explanations that are not there");
            };
            if p >= self.i.count() {
                return rejected("a place names a state that is not there");
            }
            self.places.insert((p, word.clone(), number));
        }
        Ok(())
    }

    fn wants(
        &self,
        p: usize,
        word: &[String],
        explanations: &BTreeSet<Explanation>,
        what: &str,
    ) -> Outcome<()> {
        let number = self.numbers.get(explanations);
        let place = number.map(|&number| (p, word.to_vec(), number));
        if place.is_some_and(|place| self.places.contains(&place)) {
            return Ok(());
        }
        let p = self.i.state(p);
        rejected(format!("the place with {p} after {what} is missing"))
    }

    fn check_place(
        &self,
        p: usize,
        word: &[String],
        explanations: &BTreeSet<Explanation>,
    ) -> Outcome<()> {
        let at = Queues::from(
            self.s,
            self.suspension,
            self.every_state,
            explanations.clone(),
        );
        // Where an input may have been taken that is not specified, anything may follow.
        if at.is_open()? {
            return Ok(());
        }
        let unexplained = |what: &str| {
            let p = self.i.state(p);
            rejected(format!(
                "{p} of the implementation: nothing explains {what}"
            ))
        };
        for (kind, action, next) in self.i.steps(p)? {
            match kind {
                Kind::Internal => self.wants(next, word, explanations, "an internal action")?,
                Kind::Input if word.first().is_some_and(|first| first == action) => {
                    self.wants(next, &word[1..], explanations, "taking an input")?;
                }
                Kind::Output => {
                    let after = at.after(action)?;
                    if after.is_empty() {
                        return unexplained(action);
                    }
                    self.wants(next, word, after.all(), action)?;
                }
                Kind::Input | Kind::Plain => {}
            }
        }
        if word.is_empty() && self.i.is_quiescent(p)? {
            let after = at.after(DELTA)?;
            if after.is_empty() {
                return unexplained(DELTA);
            }
            // For ioconf it ends a trace.
            if self.suspension {
                self.wants(p, word, after.all(), DELTA)?;
            }
        }
        let pending = explanations.iter().map(|(_, pending)| pending.len()).max();
        if word.len().max(pending.unwrap_or(0)) >= self.most {
            return Ok(());
        }
        for input in self.s.texts(Kind::Input) {
            let after = at.after(input)?;
            if !after.is_open()? {
                let mut longer = word.to_vec();
                longer.push(input.clone());
                self.wants(p, &longer, after.all(), input)?;
            }
        }
        Ok(())
    }
}
