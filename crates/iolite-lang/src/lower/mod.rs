//! From the tree to systems: explicit ones, lazy compositions, automata over a given alphabet.
//!
//! What cannot be lowered is said by name: a system with data has its own semantics elsewhere.

pub(crate) mod automaton;
mod collection;
mod composition;
mod data;
mod data_names;
mod formula_events;
mod guarded_actions;
pub(crate) mod machine;
mod parts;
mod process;
mod property;
mod property_alphabet;
mod sum;
mod term;
mod test;
mod unfolded;
mod value;

use std::sync::Arc;

use iolite_lts::{Lts, Semantics, StateId, System};

pub use automaton::{
    Automaton, AutomatonState, ObserverAutomaton, PurposeAutomaton, lower_observer, lower_purpose,
    lower_traces,
};
pub use data::{
    DataObserver, DataPurpose, data_observer_lints, has_data, lower_data, lower_data_observer,
    lower_data_purpose,
};
pub use data_names::DataNames;
pub(crate) use formula_events::formula_events;
pub use guarded_actions::ActionSignature;
pub use parts::MOST_COMPONENTS;
pub use property::{guard_lints, lower_property, property_alphabet};
pub use property_alphabet::{ActionLetters, action_letters};
pub use test::{lower_test, lower_test_over};
pub use unfolded::{data_lints, data_unreached, parse_action, parse_value, unfold_data};

use self::term::{Scope, Terms};
use crate::names::Names;
use crate::syntax::ast::{File, Item, Machine, Role};
use crate::{Diagnostic, Span, codes, gate_parameters};

/// A system of a shape known only at run time.
pub(crate) type LazySystem = Box<dyn Semantics<State = StateId>>;

/// The states a lowering may make before it gives up, when the user names no other number.
pub const DEFAULT_BUDGET: usize = 1_000_000;

/// A declared system or process as an explicit system of at most `budget` states.
///
/// Behaviour expressions are unfolded by the rules of [LTS96, def. 2.4], with a bound on
/// steps as well as states, so that a state with very many steps ends the attempt, too. The
/// declaration should be free of errors: see [`crate::check()`].
pub fn lower_system(file: &File, name: &str, budget: usize) -> Result<Lts, Vec<Diagnostic>> {
    let file = &gate_parameters::distinct_file(file);
    lower_distinct(file, name, budget).map_err(gate_parameters::unmark)
}

fn lower_distinct(file: &File, name: &str, budget: usize) -> Result<Lts, Vec<Diagnostic>> {
    let names = Names::new(file);
    let item = names
        .behaviour(name, Span::default())
        .map_err(|d| vec![d])?;
    let Item::Definition(definition) = item else {
        return match item {
            Item::Machine(machine) => machine::lower(file, machine),
            _ => Err(Vec::new()),
        };
    };
    let context = process::Context {
        file,
        names: &names,
        terms: &Terms::new(file),
    };
    let scope = context
        .terms
        .parameters(definition, &[], &Scope::new(), definition.name.span)
        .map_err(|d| vec![d])?;
    let ending = process::Ending::Internal;
    Ok(process::lower(context, item, &scope, ending, budget)?.lts)
}

/// A declared system or process on demand: parallel composition, hiding and renaming outside of
/// sequential behaviour stay lazy views of the kernel; their components are explicit, of at most
/// `budget` states. Explored, it is the system that [`lower_system`] gives by another route.
pub fn lower_lazily(file: &File, name: &str, budget: usize) -> Result<System, Vec<Diagnostic>> {
    let file = &gate_parameters::distinct_file(file);
    let built = composition::build(file, name, budget).map_err(gate_parameters::unmark)?;
    Ok(match built {
        composition::Built::Explicit(lts) => System::Explicit(Arc::new(lts)),
        composition::Built::Lazy(view) => System::OnDemand(view.into()),
    })
}

/// The systems and processes of a file, in its order: what [`lower_system`] takes. Processes with
/// parameters are not among them.
pub fn systems(file: &File) -> Vec<&str> {
    file.items
        .iter()
        .filter(|item| match item {
            Item::Definition(d) => !d.is_open(),
            Item::Machine(m) => m.role == Role::System,
            _ => false,
        })
        .map(|item| item.name().text.as_str())
        .collect()
}

fn over_budget(file: &File, name: &str, budget: usize) -> Diagnostic {
    let span = Names::new(file)
        .get(name)
        .map_or(Span::default(), |i| i.name().span);
    Diagnostic::error(
        codes::OVER_BUDGET,
        span,
        format!("`{name}` has more than {budget} reachable states"),
    )
    .hint("a process that calls itself beside `|||` or `||` grows without bound; else allow more states")
}

fn not_yet(machine: &Machine) -> Diagnostic {
    let watches = matches!(machine.role, Role::Observer | Role::Purpose);
    let hint = watches.then_some(
        "`verify`, `test` and `monitor` take it as it is; `show --view pruned` shows the test case of an \
         observer",
    );
    Diagnostic::error(
        codes::NOT_EXPLICIT,
        machine.name.span,
        format!(
            "{} `{}` has data, so it is no explicit system",
            machine.role.keyword(),
            machine.name.text
        ),
    )
    .maybe_hint(hint.map(str::to_owned))
}
