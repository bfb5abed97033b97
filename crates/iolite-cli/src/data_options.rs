//! What a user says about the data of a model: constants, the solver, which values to try.

use std::path::PathBuf;

use iolite_expr::{Distribution, Draw, SOLVER_VARIABLE, Smtlib, Solver, Sort, Strategy, Value};
use iolite_lang::File;
use iolite_lts::LabelKind;
use iolite_sts::{GateId, Iosts};

use super::Failure;
use super::source::ModelRef;

/// How a model with data is understood.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Data")]
pub(super) struct DataOptions {
    /// Values of constants, such as max=3,f=[1,2]; others are narrowed by what is seen
    #[arg(long = "const", value_name = "NAME=VALUE,…")]
    pub(super) constants: Vec<String>,
    /// The solver: `embedded`, an SMT-LIB program, or `auto` for one that is found
    /// [default: `IOLITE_SOLVER`, else embedded]
    #[arg(long, value_name = "PATH")]
    pub(super) solver: Option<String>,
    /// Unfold finite data into an explicit model instead of solving for values
    #[arg(long)]
    pub(super) unfold: bool,
    /// Where the query is saved that a solver could not decide
    #[arg(long, value_name = "FILE", default_value = "iolite.unknown.smt2")]
    pub(super) unknown_query: PathBuf,
}

/// Which values inputs carry.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Data")]
pub(super) struct ValueOptions {
    /// Which values inputs carry
    #[arg(long, value_enum, default_value_t = ValuesFlag::Mixed)]
    values: ValuesFlag,
    /// How the values of one parameter of an input are drawn, where its guard allows (repeatable):
    /// values and ranges with weights, such as REQ.l=[1..3:8, 1000], and the names of --values,
    /// such as login.p=["":1, boundary:3]. Without such a name, a draw in four is left to --values
    #[arg(long, value_name = "INPUT.PARAMETER=[DRAWS]")]
    pool: Vec<String>,
}

/// How a parameter of an input, given by its position, is drawn.
pub(super) type Drawing = (GateId, usize, Distribution);

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ValuesFlag {
    /// The least and greatest possible ones, and their neighbours
    Boundary,
    /// Close to zero, short
    Small,
    /// Far from zero, long
    Large,
    /// Anywhere
    Random,
    /// Each of the others by lot
    Mixed,
}

impl From<ValuesFlag> for Strategy {
    fn from(flag: ValuesFlag) -> Self {
        match flag {
            ValuesFlag::Boundary => Self::Boundary,
            ValuesFlag::Small => Self::Small,
            ValuesFlag::Large => Self::Large,
            ValuesFlag::Random => Self::Random,
            ValuesFlag::Mixed => Self::Mixed,
        }
    }
}

impl DataOptions {
    /// A flag that only symbolic runs know, if one was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        [
            (!self.constants.is_empty(), "--const"),
            (self.solver.is_some(), "--solver"),
        ]
        .into_iter()
        .find_map(|(given, flag)| given.then_some(flag))
    }
}

impl DataOptions {
    /// What is only for solving is refused where nothing is solved: the model has no data, or
    /// `reason` needs them unfolded.
    pub(super) fn reject_without_solving(
        &self,
        model: &ModelRef,
        reason: Option<&str>,
    ) -> Result<(), Failure> {
        match self.given() {
            Some(flag) => Err(not_solved(flag, model, reason)),
            None => Ok(()),
        }
    }
}

/// A flag of solving, where nothing is solved.
pub(super) fn not_solved(flag: &str, model: &ModelRef, reason: Option<&str>) -> Failure {
    match reason {
        Some(reason) => Failure::input(format!(
            "{flag} is for models whose data are solved for, and {reason} needs them unfolded"
        ))
        .hint("give constants with the model, as in `FILE#Sender(max = 3)`"),
        None => Failure::input(format!(
            "{flag} is for models with data, and {model} has none"
        )),
    }
}

impl Default for ValueOptions {
    fn default() -> Self {
        Self {
            values: ValuesFlag::Mixed,
            pool: Vec::new(),
        }
    }
}

impl ValueOptions {
    /// A flag that only symbolic runs know, if one was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        (!self.pool.is_empty()).then_some("--pool")
    }

    pub(super) fn strategy(&self) -> Strategy {
        self.values.into()
    }

    /// What `--pool` asks for.
    pub(super) fn drawing(&self, file: &File, model: &Iosts) -> Result<Vec<Drawing>, Failure> {
        let mut all = Vec::new();
        for (place, text) in assignments(&self.pool)? {
            let found = place.split_once('.').and_then(|(action, parameter)| {
                let action = model.find_gate(LabelKind::Input, action)?;
                let params = &model.gate(action).params;
                let position = params.iter().position(|p| *p.name == *parameter)?;
                Some((action, position))
            });
            let Some((action, position)) = found else {
                return Err(Failure::input(format!(
                    "--pool: the model has no input and parameter `{place}`"
                ))
                .hint(places(model)));
            };
            let sort = &model.gate(action).params[position].sort;
            let distribution = distribution(file, sort, text)
                .map_err(|e| Failure::input(format!("--pool {place}={text}: {e}")))?;
            all.push((action, position, distribution));
        }
        Ok(all)
    }
}

/// The parameters of inputs, for people.
fn places(model: &Iosts) -> String {
    let actions = model.gates().map(|(_, a)| a);
    let places = actions
        .filter(|a| a.kind == LabelKind::Input)
        .flat_map(|a| a.params.iter().map(|p| format!("{}.{}", a.name, p.name)));
    match places.collect::<Vec<_>>().join(", ") {
        places if places.is_empty() => "its inputs have no parameters".to_owned(),
        places => format!("it has {places}"),
    }
}

/// `[1..3:8, 1000, boundary:2]`.
fn distribution(file: &File, sort: &Sort, text: &str) -> Result<Distribution, String> {
    let inside = text
        .strip_prefix('[')
        .and_then(|t| t.strip_suffix(']'))
        .ok_or("it is no list in brackets")?;
    let mut draws = Vec::new();
    for piece in split_outside(inside, ',') {
        let (way, weight) = match split_outside(piece, ':').as_slice() {
            [way] => (*way, 1),
            [way, weight] => {
                let weight = weight.trim();
                let weight = weight
                    .parse()
                    .map_err(|_| format!("`{weight}` is no weight (0, 1, 2, …)"))?;
                (*way, weight)
            }
            _ => return Err(format!("`{piece}` has more than one weight")),
        };
        draws.push((draw(file, sort, way.trim())?, weight));
    }
    Ok(Distribution(draws))
}

fn draw(file: &File, sort: &Sort, text: &str) -> Result<Draw, String> {
    let value = iolite_lang::parse_value(file, text, sort);
    let reason = match value {
        Ok(value) => return Ok(Draw::Value(value)),
        Err(reason) => reason,
    };
    if let Ok(strategy) = <ValuesFlag as clap::ValueEnum>::from_str(text, false) {
        return Ok(Draw::By(strategy.into()));
    }
    let ends = text.split_once("..").filter(|_| sort.is_int());
    if let Some((low, high)) = ends
        && let (Ok(low), Ok(high)) = (low.trim().parse(), high.trim().parse())
    {
        if low > high {
            return Err(format!("`{text}` is an empty range"));
        }
        return Ok(Draw::Between(low, high));
    }
    Err(reason)
}

/// A solver as `--solver` names it; without it, the one that the environment names, else our own.
pub(super) fn solver(name: Option<&str>) -> Result<Solver, Failure> {
    let named = std::env::var(SOLVER_VARIABLE)
        .ok()
        .filter(|n| !n.is_empty());
    let process = match name.or(named.as_deref()) {
        None | Some("embedded") => return Ok(Solver::embedded()),
        Some("auto") => Smtlib::detect(None),
        Some(path) => Smtlib::new(path.as_ref()),
    };
    let process = process.map_err(|e| {
        let hint = "`iolite doctor` lists the solvers it finds; `--solver embedded` needs none";
        Failure::input(format!("--solver: {e}")).hint(hint)
    })?;
    Ok(Solver::new(Box::new(process)))
}

/// `a=1,b=[1,2]` at its outer commas.
fn assignments(texts: &[String]) -> Result<Vec<(&str, &str)>, Failure> {
    let pieces = texts.iter().flat_map(|text| split_outside(text, ','));
    pieces
        .map(|piece| {
            let (name, value) = piece.split_once('=').ok_or_else(|| {
                Failure::input(format!("`{piece}` is not of the form NAME=VALUE"))
            })?;
            Ok((name.trim(), value.trim()))
        })
        .collect()
}

/// The pieces between separators that are in no quotes and no brackets.
fn split_outside(text: &str, separator: char) -> Vec<&str> {
    let (mut depth, mut quoted, mut escaped, mut start) = (0usize, false, false, 0);
    let mut pieces = Vec::new();
    for (i, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '[' | '{' | '(' if !quoted => depth += 1,
            ']' | '}' | ')' if !quoted => depth = depth.saturating_sub(1),
            c if c == separator && !quoted && depth == 0 => {
                pieces.push(&text[start..i]);
                start = i + c.len_utf8();
            }
            _ => {}
        }
    }
    pieces.push(&text[start..]);
    pieces
}

/// The values that `--const` gives.
pub(super) fn constants(
    file: &File,
    model: &Iosts,
    texts: &[String],
) -> Result<Vec<(String, Value)>, Failure> {
    let mut values: Vec<(String, Value)> = Vec::new();
    for (name, text) in assignments(texts)? {
        let known = model.constants().iter().map(|c| &*c.var.name);
        let Some(constant) = model.constants().iter().find(|c| *c.var.name == *name) else {
            let list: Vec<&str> = known.clone().collect();
            let hint = iolite_lang::diagnostic::did_you_mean(name, known).unwrap_or_else(|| {
                if list.is_empty() {
                    "it has no constants without a value".to_owned()
                } else {
                    format!("its constants are: {}", list.join(", "))
                }
            });
            return Err(Failure::input(format!(
                "--const: system `{}` has no constant `{name}`",
                model.name()
            ))
            .hint(hint));
        };
        if values.iter().any(|(n, _)| n == name) {
            return Err(Failure::input(format!("--const: `{name}` is given twice")));
        }
        let value = iolite_lang::parse_value(file, text, &constant.var.sort).map_err(|e| {
            let sort = &constant.var.sort;
            Failure::input(format!("--const {name}={text}: {e}"))
                .hint(format!("`{name}` is of sort {sort}"))
        })?;
        values.push((name.to_owned(), value));
    }
    Ok(values)
}
