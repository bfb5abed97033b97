//! Where a model may be after a trace, and what it may show next, one formula for each way.

use std::sync::Arc;

use iolite_expr::{Op, Solver, Span, Substitution, Term};
use iolite_lts::QuiescencePolicy;

use super::{Point, Search, Silence};
use crate::iosts::{GateId, Iosts, LabelKind, LocationId};

/// Where a run may be: a location, its values as terms over constants and what is not known, and the condition
/// for it.
#[derive(Clone, Debug)]
pub struct PathPlace {
    /// The location.
    pub location: LocationId,
    /// The value of each variable.
    pub values: Vec<Term>,
    /// When a run comes here.
    pub condition: Term,
    /// The number of the last unknown value.
    pub(super) fresh: usize,
}

impl Iosts {
    /// The outputs of a place, each with the condition over its parameters, constants and what is not known.
    ///
    /// # Errors
    ///
    /// A term grows too large.
    pub fn outputs_at(&self, place: &PathPlace) -> Result<Vec<(GateId, Term)>, Arc<str>> {
        let map = self.map_at(&place.values);
        let outgoing = self.outgoing(place.location).iter();
        let outputs = outgoing.filter(|&&t| self.kind(t) == LabelKind::Output);
        outputs
            .map(|&t| {
                let transition = self.transition(t);
                let guard = &transition.guard;
                let effects = transition.assignments.iter().map(|(_, e)| e.defined());
                let parts = [guard.defined(), guard.clone()].into_iter().chain(effects);
                let fires = substituted(&Term::all(parts), &map)?;
                let condition = Term::all([place.condition.clone(), fires]).simplify();
                Ok((transition.action, condition))
            })
            .collect()
    }

    /// When a place is quiescent, one condition for each way to be so.
    ///
    /// # Errors
    ///
    /// What was not found out, and why.
    pub fn silence_at(
        &self,
        place: &PathPlace,
        policy: QuiescencePolicy,
        solver: &mut Solver,
        budget: usize,
    ) -> Result<Vec<Term>, Arc<str>> {
        let map = self.map_at(&place.values);
        let quiet = substituted(&Term::all(self.nothing_fires(place.location)), &map)?;
        let mut ways = vec![Term::all([place.condition.clone(), quiet]).simplify()];
        let point = Point {
            location: place.location,
            shown: 0,
            values: place.values.clone(),
            condition: place.condition.clone(),
        };
        let (circles, _) = self.circles(&point, place.fresh, policy, solver, budget)?;
        ways.extend(circles);
        Ok(ways)
    }

    fn map_at(&self, values: &[Term]) -> Substitution {
        let mut map = Substitution::new();
        for (v, t) in self.variables().iter().zip(values) {
            map.insert(v.var.id, t.clone());
        }
        map
    }

    /// δ, as [SYM04, def. 7] writes it: for each output and internal action no values of its parameters satisfy
    /// its guard.
    pub(super) fn nothing_fires(&self, location: LocationId) -> Vec<Term> {
        let outgoing = self.outgoing(location).iter();
        let own = outgoing.filter(|&&t| {
            let kind = self.kind(t);
            matches!(kind, LabelKind::Output | LabelKind::Internal)
        });
        own.map(|&t| {
            let transition = self.transition(t);
            let params = self.gate(transition.action).params.clone();
            let guard = &transition.guard;
            let fireable = Term::any([guard.defined().negated(), guard.clone()]);
            Term::exists(params, fireable).negated()
        })
        .collect()
    }

    /// When a point comes back to itself by internal actions alone, where that is silence: all ways from it are
    /// followed, whatever values they go through. With the number of the last unknown value then.
    pub(super) fn circles(
        &self,
        point: &Point,
        fresh: usize,
        policy: QuiescencePolicy,
        solver: &mut Solver,
        budget: usize,
    ) -> Result<(Vec<Term>, usize), Arc<str>> {
        if policy == QuiescencePolicy::Strict || !self.internal_cycles()[point.location.index()] {
            return Ok((Vec::new(), fresh));
        }
        if policy == QuiescencePolicy::Fair {
            let stays = self.stays_silent(point, fresh, solver, budget)?;
            let always = stays.then(|| point.condition.clone());
            return Ok((always.into_iter().collect(), fresh));
        }
        let mut search = Search::new(self, &[], Silence::Declared, solver, budget);
        search.own_unknowns_after(fresh);
        let start = Point {
            shown: 0,
            ..point.clone()
        };
        search.circle = Some((start.clone(), Vec::new()));
        search.begin_at(start);
        search.explore(false)?;
        let found = search.circle.map_or_else(Vec::new, |(_, found)| found);
        Ok((found, search.fresh))
    }
}

impl Search<'_> {
    /// Notes when a point is the one that ways are to come back to.
    pub(super) fn note_circle(&mut self, point: &Point) {
        let Some((start, found)) = &mut self.circle else {
            return;
        };
        if start.location != point.location {
            return;
        }
        let mut parts = vec![point.condition.clone()];
        for (own, other) in start.values.iter().zip(&point.values) {
            let sides = vec![own.clone(), other.clone()];
            let Ok(same) = Term::apply(Op::Eq, sides, Span::NONE) else {
                let why = "values of a cycle of internal actions cannot be compared";
                self.doubt.get_or_insert(why.into());
                return;
            };
            parts.push(same);
        }
        let back = Term::all(parts).simplify();
        if !back.is_false() && !found.contains(&back) {
            found.push(back);
        }
    }
}

fn substituted(term: &Term, map: &Substitution) -> Result<Term, Arc<str>> {
    let term = term.substitute(map);
    term.map_err(|_| "an expression grows too large".into())
}
