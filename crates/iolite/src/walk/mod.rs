//! Walks through a model by hand: where it can be, what is possible there, one visible action after
//! another.

mod explicit;
mod symbolic;

use iolite_derive::ModelRef;
use serde::Serialize;

use self::explicit::ExplicitWalk;
use self::symbolic::SymbolicWalk;
use crate::{Error, Judge, JudgeOptions, Spec, Workspace};

/// A visible action that is possible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// In `?a`, `!x`, `delta` notation, with values where the model has data.
    pub action: String,
    /// All values that are possible, where the action shows one of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
}

/// What became of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The walk went on.
    Moved,
    /// The model has no such action.
    NoAction,
    /// The model has it, and not here; or nobody can decide that. In words.
    NotPossible(String),
}

/// Where a walk is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Position {
    /// The states that the trace may have led to.
    pub places: Vec<String>,
    /// What is possible there.
    pub offers: Vec<Offer>,
    /// Whether nobody can decide if the model may stay silent there.
    pub silence_undecided: bool,
}

enum Walker {
    Explicit(Box<ExplicitWalk>),
    Symbolic(Box<SymbolicWalk>),
}

/// A walk through the suspension traces of a model, with or without data.
///
/// ```
/// # fn main() -> Result<(), iolite::Error> {
/// use iolite::{Taken, Walk, Workspace};
///
/// let workspace = Workspace::new();
/// let text = "system S { input a output x initial state P { ?a -> Q } state Q { !x -> P } }";
/// workspace.insert("s.iol".as_ref(), text);
/// let mut walk = Walk::new(&workspace, &"s.iol".into(), &Default::default())?;
/// assert_eq!(walk.take("?a")?, Taken::Moved);
/// assert_eq!(walk.position()?.offers[0].action, "!x");
/// # Ok(())
/// # }
/// ```
pub struct Walk {
    walker: Walker,
    trace: Vec<String>,
}

impl Walk {
    /// A walk that stands at the start. Of the options, those of data, quiescence and seed count.
    pub fn new(
        workspace: &Workspace,
        model: &ModelRef,
        options: &JudgeOptions,
    ) -> Result<Self, Error> {
        let keeps_data = matches!(&*workspace.spec(model)?, Spec::Symbolic(_));
        if keeps_data && let Judge::Symbolic(judge) = Judge::new(workspace, model, options)? {
            let walker = Walker::Symbolic(Box::new(SymbolicWalk::new(judge)?));
            return Ok(Self::at_start(walker));
        }
        Self::unfolded(workspace, model, options)
    }

    /// The same through the states of a model whose data, if it has any, are finite.
    pub fn unfolded(
        workspace: &Workspace,
        model: &ModelRef,
        options: &JudgeOptions,
    ) -> Result<Self, Error> {
        let spec = workspace.explicit(model)?;
        let walker = Walker::Explicit(Box::new(ExplicitWalk::new(spec, options.quiescence)));
        Ok(Self::at_start(walker))
    }

    fn at_start(walker: Walker) -> Self {
        Self {
            walker,
            trace: Vec::new(),
        }
    }

    /// Where the walk is, and what is possible there.
    pub fn position(&mut self) -> Result<Position, Error> {
        match &mut self.walker {
            Walker::Explicit(walk) => walk.position(),
            Walker::Symbolic(walk) => walk.position(),
        }
    }

    /// Takes an action in `?a(1)`, `!x`, `delta` notation; for models without data a bare name will do.
    pub fn take(&mut self, action: &str) -> Result<Taken, Error> {
        let taken = match &mut self.walker {
            Walker::Explicit(walk) => walk.take(action)?,
            Walker::Symbolic(walk) => walk.take(action)?,
        };
        Ok(match taken {
            Ok(text) => {
                self.trace.push(text);
                Taken::Moved
            }
            Err(why) => why,
        })
    }

    /// Takes the last action back; `false` at the start.
    pub fn back(&mut self) -> bool {
        match &mut self.walker {
            Walker::Explicit(walk) => walk.back(),
            Walker::Symbolic(walk) => walk.back(),
        }
        self.trace.pop().is_some()
    }

    /// The actions that were taken.
    pub fn trace(&self) -> &[String] {
        &self.trace
    }
}
