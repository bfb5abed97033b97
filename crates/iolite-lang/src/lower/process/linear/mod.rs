//! Processes with infinite data as symbolic transition systems: linearisation.
//!
//! Locations are control points, behaviour terms in which every name that is no known value stands for
//! a variable; names at one place in the structure of a term share one. The rules of
//! [`super::rules`] are applied to them with guards instead of values. Finitely many control points are
//! enough unless the structure itself grows, which is refused within bounds. Variables that a control
//! point does not read have the default of their sort there, so that states differ only in what matters.

mod config;
mod data_machine;
mod emission;
mod rules;
mod step;

use std::collections::BTreeMap;

use iolite_expr::Term;
use iolite_sts::Iosts;
use rustc_hash::FxHashMap;

use self::config::{Config, Variables, canonical};
use self::emission::Emission;
use self::rules::Rules;
use self::step::{Action, Step};
use super::{Context, Ending, Stop};
use crate::lower::term::Scope;
use crate::syntax::ast::{Behaviour, Event};
use crate::{Diagnostic, check, codes};

/// Control points beyond which a process is taken to have unboundedly many.
const MOST_CONTROL_POINTS: usize = 2_000;
/// Transitions that a linear form may have.
const MOST_TRANSITIONS: usize = 50_000;
/// Operators nested in one another beyond this belong to a process that grows.
const DEEPEST_CONTROL_POINT: usize = 48;

/// A control point with the values that its variables get on the way there.
struct Arrival {
    location: usize,
    values: BTreeMap<usize, Term>,
}

/// A transition between control points, by number.
struct LinearStep<'f> {
    source: usize,
    step: Step<'f>,
}

/// What has been found of a process.
struct Exploration<'f> {
    rules: Rules<'f>,
    variables: Variables,
    points: Vec<Config<'f>>,
    /// The variables that a control point reads.
    live: Vec<Vec<usize>>,
    ids: FxHashMap<Config<'f>, usize>,
}

impl<'f> Exploration<'f> {
    /// The control point of a configuration; it may be a new one.
    fn arrive(&mut self, config: Config<'f>) -> Result<Arrival, Stop> {
        if config.depth() > DEEPEST_CONTROL_POINT || self.points.len() > MOST_CONTROL_POINTS {
            return Err(Stop::Budget);
        }
        let (config, values) = canonical(config, &mut self.variables);
        let location = if let Some(&known) = self.ids.get(&config) {
            known
        } else {
            let new = self.points.len();
            self.points.push(config.clone());
            self.live.push(values.keys().copied().collect());
            self.ids.insert(config, new);
            new
        };
        Ok(Arrival { location, values })
    }
}

/// A behaviour of the definition called `name` in linear form.
pub(in crate::lower) fn lower<'f>(
    context: Context<'f>,
    body: &'f Behaviour,
    scope: &Scope,
    over: &[Event],
    name: &str,
    ending: Ending,
) -> Result<Iosts, Vec<Diagnostic>> {
    let unguarded = check::unguarded(context.names, body);
    if !unguarded.is_empty() {
        return Err(unguarded);
    }
    linearise(context, body, scope, over, name, ending).map_err(|stop| match stop {
        Stop::Budget => vec![
            Diagnostic::error(
                codes::UNBOUNDED_PROCESS,
                context.names.get(name).map_or(body.span, |i| i.name().span),
                format!(
                    "`{name}` has infinite data, and more than {MOST_CONTROL_POINTS} control points or \
                     {DEEPEST_CONTROL_POINT} operators within one another"
                ),
            )
            .hint(
                "a process that calls itself beside `|||`, before `>>` or `[>`, or within `hide` or \
                 `rename` grows without bound",
            ),
        ],
        Stop::Found(found) => found,
    })
}

fn linearise<'f>(
    context: Context<'f>,
    body: &'f Behaviour,
    scope: &Scope,
    over: &[Event],
    name: &str,
    ending: Ending,
) -> Result<Iosts, Stop> {
    let mut found = Exploration {
        rules: Rules::new(context),
        variables: Variables::default(),
        points: Vec::new(),
        live: Vec::new(),
        ids: FxHashMap::default(),
    };
    let initial = found.rules.initial(body, scope)?;
    let initial = found.arrive(initial)?;
    let mut steps: Vec<LinearStep<'f>> = Vec::new();
    let mut targets: Vec<Arrival> = Vec::new();
    let mut next = 0;
    while next < found.points.len() {
        let config = found.points[next].clone();
        for mut step in found.rules.steps(&config)? {
            if matches!(step.action, Action::Exit(_)) {
                match ending {
                    Ending::Internal => step.action = Action::Internal,
                    Ending::Never => continue,
                }
            }
            if step.is_impossible() {
                continue;
            }
            let target = std::mem::replace(&mut step.target, Config::Stop);
            targets.push(found.arrive(target)?);
            steps.push(LinearStep { source: next, step });
            if steps.len() > MOST_TRANSITIONS {
                return Err(Stop::Budget);
            }
        }
        next += 1;
    }
    let mut emission = Emission::new(context, name, body.span);
    emission.declare(over, body, &steps)?;
    emission.data(&found.variables.vars, &initial.values)?;
    emission.locations(&found.points)?;
    for (linear, arrival) in steps.into_iter().zip(targets) {
        let live = &found.live[linear.source];
        emission.transition(linear, arrival, live, &found.variables.vars)?;
    }
    emission.build()
}
