//! Observers and test purposes with or without data, as users name them.

use std::sync::Arc;

use iolite_derive::{
    Alphabet, DataGoal, DataGoalError, GoalMarks, LabelGoal, MixedGoal, ModelRef, PropertyObjective,
};
use iolite_expr::{Solver, Value};
use iolite_lang::{has_data, lower_data_observer, lower_data_purpose, parse_value};
use iolite_lts::Labels;
use iolite_property::{Observer, Purpose};
use iolite_sts::{Builder, Iosts};

use super::{ExplicitSpec, SourceFile, Spec, Workspace, pick_all};
use crate::Error;
use crate::label_gates::LabelGates;

/// An observer or a test purpose.
#[derive(Clone, Debug)]
pub enum GoalAutomaton {
    /// An observer over labels.
    Observer(Observer),
    /// A test purpose over labels.
    Purpose(Purpose),
    /// A property of any class.
    Property(PropertyObjective),
    /// Either with variables, constants, parameters or guards.
    Data(DataAutomaton),
}

/// An observer or a test purpose with data.
#[derive(Clone, Debug)]
pub struct DataAutomaton {
    /// ω over the gates of the specification.
    pub(crate) iosts: Arc<Iosts>,
    /// Its violating, or accepting and refusing, locations.
    pub(crate) marks: GoalMarks,
    /// The specification, or its actions alone.
    specification: Arc<Iosts>,
    source: Arc<SourceFile>,
}

impl DataAutomaton {
    /// Whether it is a test purpose.
    pub(crate) fn is_purpose(&self) -> bool {
        matches!(self.marks, GoalMarks::Purpose { .. })
    }

    /// The value of one of its constants, as it is written.
    pub(crate) fn constant(&self, name: &str, text: &str) -> Option<Result<Value, Error>> {
        let constant = self
            .iosts
            .constants()
            .iter()
            .find(|c| *c.var.name == *name)?;
        let value = parse_value(self.source.tree().0, text, &constant.var.sort);
        Some(value.map_err(|e| {
            let sort = &constant.var.sort;
            Error::input(format!("--const {name}={text}: {e}"))
                .hint(format!("`{name}` is of sort {sort}"))
        }))
    }
}

impl GoalAutomaton {
    /// The goal over an alphabet. `labels` are those of an explicit specification; `constants` are
    /// known values of constants, its own and the specification's.
    pub(crate) fn goal(
        &self,
        alphabet: &Alphabet,
        labels: Option<&Arc<Labels>>,
        constants: &[(String, Value)],
        solver: Solver,
    ) -> Result<MixedGoal, Error> {
        Ok(match (self, labels) {
            (Self::Observer(o), Some(labels)) => {
                MixedGoal::Observer(Box::new(LabelGoal::own(o.clone(), alphabet, labels)))
            }
            (Self::Observer(o), None) => {
                let goal = LabelGoal::by_text(o.clone(), alphabet, o.labels());
                MixedGoal::Observer(Box::new(goal))
            }
            (Self::Purpose(p), Some(labels)) => {
                MixedGoal::Purpose(Box::new(LabelGoal::own(p.clone(), alphabet, labels)))
            }
            (Self::Purpose(p), None) => {
                let goal = LabelGoal::by_text(p.clone(), alphabet, p.labels());
                MixedGoal::Purpose(Box::new(goal))
            }
            (Self::Property(p), Some(labels)) => {
                MixedGoal::Property(Box::new(LabelGoal::own(p.clone(), alphabet, labels)))
            }
            (Self::Property(p), None) => {
                let goal = LabelGoal::by_text(p.clone(), alphabet, p.labels());
                MixedGoal::Property(Box::new(goal))
            }
            (Self::Data(data), _) => {
                let goal = DataGoal::new(
                    &data.iosts,
                    data.marks.clone(),
                    &data.specification,
                    constants,
                    alphabet,
                    solver,
                );
                let goal = goal.map_err(|e| {
                    let path = data.source.path().display();
                    let message = format!("{path}#{}: {e}", data.iosts.name());
                    match e {
                        DataGoalError::Undecided(_) => Error::undecided(message),
                        _ => Error::input(message),
                    }
                })?;
                MixedGoal::Data(Box::new(goal))
            }
        })
    }
}

impl Workspace {
    /// The observers and purposes that references mean, beside a specification, with or without data
    /// of their own.
    pub fn goals(
        &self,
        observers: &[ModelRef],
        purposes: &[ModelRef],
        spec: &Spec,
    ) -> Result<Vec<GoalAutomaton>, Error> {
        let mut goals = Vec::new();
        for reference in observers {
            if self.is_safety_property(reference)? || !reference.is_iol() {
                let all = self.observers(reference, spec)?.into_iter();
                goals.extend(all.map(GoalAutomaton::Observer));
                continue;
            }
            let source = self.source(reference.path())?;
            for name in pick_all(reference, "observer", &source.declared("observer")?)? {
                if has_data(source.file()?, name) {
                    goals.push(self.data_goal(&source, name, spec, true)?);
                } else {
                    let one = reference.with_name(name);
                    let all = self.observers(&one, spec)?.into_iter();
                    goals.extend(all.map(GoalAutomaton::Observer));
                }
            }
        }
        for reference in purposes {
            if self.is_property_purpose(reference)? {
                let all = self.purposes(reference, spec)?.into_iter();
                goals.extend(all.map(GoalAutomaton::Purpose));
                continue;
            }
            let source = self.source(reference.path())?;
            for name in pick_all(reference, "purpose", &source.declared("purpose")?)? {
                if has_data(source.file()?, name) {
                    goals.push(self.data_goal(&source, name, spec, false)?);
                } else {
                    let one = reference.with_name(name);
                    let all = self.purposes(&one, spec)?.into_iter();
                    goals.extend(all.map(GoalAutomaton::Purpose));
                }
            }
        }
        Ok(goals)
    }

    /// Whether a reference means an observer or a purpose with data of its own.
    pub(crate) fn is_data_goal(&self, reference: &ModelRef, kind: &str) -> Result<bool, Error> {
        if kind == "observer" && self.is_safety_property(reference)?
            || kind == "purpose" && self.is_property_purpose(reference)?
        {
            return Ok(false);
        }
        let source = self.source(reference.path())?;
        for name in pick_all(reference, kind, &source.declared(kind)?)? {
            if has_data(source.file()?, name) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The test purposes of a reference over the gates of a system, with or without data of their own.
    pub(crate) fn data_purposes(
        &self,
        reference: &ModelRef,
        model: &Iosts,
        spec: &Spec,
    ) -> Result<Vec<(String, Iosts, GoalMarks)>, Error> {
        let source = self.source(reference.path())?;
        let file = source.file()?;
        let mut all = Vec::new();
        for name in pick_all(reference, "purpose", &source.declared("purpose")?)? {
            self.check_watched(&source, name, &spec.reference())?;
            let purpose =
                lower_data_purpose(file, name, model).map_err(|found| source.rejected(&found))?;
            if !purpose.warnings.is_empty() {
                self.warn(source.rendered(&purpose.warnings).trim_end());
            }
            let marks = GoalMarks::Purpose {
                accept: purpose.accept,
                refuse: purpose.refuse,
            };
            all.push((name.to_owned(), purpose.iosts, marks));
        }
        Ok(all)
    }

    fn data_goal(
        &self,
        source: &Arc<SourceFile>,
        name: &str,
        spec: &Spec,
        observer: bool,
    ) -> Result<GoalAutomaton, Error> {
        let (model, reference) = match spec {
            Spec::Symbolic(spec) => (Arc::clone(spec.model()), spec.reference()),
            Spec::Explicit(spec) => (actions_of(spec)?, spec.reference()),
            Spec::Properties(_) => {
                let none = "observers and purposes need a model beside them";
                return Err(Error::input(none));
            }
        };
        self.check_watched(source, name, reference)?;
        let rejected = |found: Vec<_>| source.rejected(&found);
        let file = source.file()?;
        let (iosts, marks, warnings) = if observer {
            let lowered = lower_data_observer(file, name, &model).map_err(rejected)?;
            let marks = GoalMarks::Violate(lowered.violate);
            (lowered.iosts, marks, lowered.warnings)
        } else {
            let lowered = lower_data_purpose(file, name, &model).map_err(rejected)?;
            let marks = GoalMarks::Purpose {
                accept: lowered.accept,
                refuse: lowered.refuse,
            };
            (lowered.iosts, marks, lowered.warnings)
        };
        if !warnings.is_empty() {
            self.warn(source.rendered(&warnings).trim_end());
        }
        let iosts = self.beside_instance(iosts, source, reference)?;
        Ok(GoalAutomaton::Data(DataAutomaton {
            iosts: Arc::new(iosts),
            marks,
            specification: model,
            source: Arc::clone(source),
        }))
    }
}

/// The actions of an explicit specification: those of the model that was unfolded, else its labels.
fn actions_of(spec: &ExplicitSpec) -> Result<Arc<Iosts>, Error> {
    if let Some(signature) = spec.signature() {
        return Ok(Arc::clone(signature.model()));
    }
    let wrong = |e: iolite_sts::BuildError| Error::input(format!("{}: {e}", spec.reference()));
    let mut builder = Builder::new(spec.reference().name.as_deref().unwrap_or("system"));
    let nowhere = iolite_expr::Span::NONE;
    builder.location("anywhere", true, nowhere).map_err(wrong)?;
    LabelGates::declare(&mut builder, spec.labels()).map_err(wrong)?;
    builder.build().map(Arc::new).map_err(wrong)
}
