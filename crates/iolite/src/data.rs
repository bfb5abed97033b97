//! What a user says about the data of a model: constants, the solver, which values to try.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use iolite_expr::{Distribution, Draw, SOLVER_VARIABLE, Smtlib, Solver, Sort, Strategy, Value};
use iolite_lang::diagnostic::did_you_mean;
use iolite_lang::{File, parse_value};
use iolite_lts::{LabelKind, QuiescencePolicy};
use iolite_sts::{GateId, Iosts, Symbolic};

use crate::{DataAutomaton, Error, GoalAutomaton, SymbolicSpec};

/// How a model with data is understood.
#[derive(Clone, Debug, Default)]
pub struct DataOptions {
    /// Values of constants, such as `max=3,f=[1,2]`; others are narrowed by what is seen.
    pub constants: Vec<String>,
    /// The solver: `embedded`, an SMT-LIB program, or `auto` for one that is found; without it, what
    /// the environment names, else the embedded one.
    pub solver: Option<String>,
    /// When solving has to end; what is not decided by then is `unknown`.
    pub until: Option<Instant>,
    /// Where a query is saved that a running model's solver could not decide.
    pub unknown_query: Option<PathBuf>,
}

/// Which values inputs carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Values {
    /// The least and greatest possible ones, and their neighbours
    Boundary,
    /// Close to zero, short
    Small,
    /// Far from zero, long
    Large,
    /// Anywhere
    Random,
    /// Constants of the model, words of --dictionary and values of the run, and their neighbours
    Known,
    /// Each of the others at random
    #[default]
    Mixed,
}

impl Values {
    const ALL: [(&'static str, Self); 6] = [
        ("boundary", Self::Boundary),
        ("small", Self::Small),
        ("large", Self::Large),
        ("random", Self::Random),
        ("known", Self::Known),
        ("mixed", Self::Mixed),
    ];
}

impl From<Values> for Strategy {
    fn from(values: Values) -> Self {
        match values {
            Values::Boundary => Self::Boundary,
            Values::Small => Self::Small,
            Values::Large => Self::Large,
            Values::Random => Self::Random,
            Values::Known => Self::Known,
            Values::Mixed => Self::Mixed,
        }
    }
}

/// How the values of inputs are drawn.
#[derive(Clone, Debug, Default)]
pub struct ValueOptions {
    /// Which values inputs carry.
    pub values: Values,
    /// How the values of one parameter are drawn: `REQ.l=[1..3:8, 1000]`.
    pub pool: Vec<String>,
    /// Files of values that may matter, one a line.
    pub dictionary: Vec<PathBuf>,
}

/// The largest dictionary that is read.
const MOST_DICTIONARY: u64 = 1 << 20;

/// How a parameter of an input, given by its position, is drawn.
pub(crate) type Drawing = (GateId, usize, Distribution);

impl ValueOptions {
    /// The words of the dictionaries: each line is one, and in quotes one with escapes. Empty lines and
    /// those that begin with # are left out.
    pub(crate) fn words(&self) -> Result<Vec<String>, Error> {
        let mut words = Vec::new();
        for path in &self.dictionary {
            let read = |path| -> std::io::Result<Vec<u8>> {
                let mut bytes = Vec::new();
                let file = std::fs::File::open(path)?;
                file.take(MOST_DICTIONARY + 1).read_to_end(&mut bytes)?;
                Ok(bytes)
            };
            let bytes = read(path).map_err(|e| Error::reading(path, &e))?;
            let place = path.display();
            if bytes.len() as u64 > MOST_DICTIONARY {
                return Err(Error::input(format!(
                    "--dictionary {place}: it has more than {MOST_DICTIONARY} bytes"
                )));
            }
            let text = String::from_utf8(bytes)
                .map_err(|_| Error::input(format!("--dictionary {place}: it is not UTF-8")))?;
            for (number, line) in text.lines().enumerate() {
                if line.trim().is_empty() || line.starts_with('#') {
                    continue;
                }
                if !line.starts_with('"') {
                    words.push(line.to_owned());
                    continue;
                }
                let word: String = serde_json::from_str(line).map_err(|e| {
                    let line = number + 1;
                    Error::input(format!("--dictionary {place}, line {line}: {e}")).hint(
                        "a line that begins with a quote is a text in JSON, such as \"a\\tb\"",
                    )
                })?;
                words.push(word);
            }
        }
        Ok(words)
    }

    /// What the pools ask for.
    pub(crate) fn drawing(&self, file: &File, model: &Iosts) -> Result<Vec<Drawing>, Error> {
        let mut all = Vec::new();
        for (place, text) in assignments(&self.pool)? {
            let found = place.split_once('.').and_then(|(action, parameter)| {
                let gate = model.find_gate(LabelKind::Input, action)?;
                let params = &model.gate(gate).params;
                let position = params.iter().position(|p| *p.name == *parameter)?;
                Some((gate, position))
            });
            let Some((gate, position)) = found else {
                return Err(Error::input(format!(
                    "--pool: the model has no input and parameter `{place}`"
                ))
                .hint(places(model)));
            };
            let sort = &model.gate(gate).params[position].sort;
            let distribution = distribution(file, sort, text)
                .map_err(|e| Error::input(format!("--pool {place}={text}: {e}")))?;
            all.push((gate, position, distribution));
        }
        Ok(all)
    }
}

/// The parameters of inputs, for people.
fn places(model: &Iosts) -> String {
    let gates = model.gates().map(|(_, a)| a);
    let places = gates
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
    let reason = match parse_value(file, text, sort) {
        Ok(value) => return Ok(Draw::Value(value)),
        Err(reason) => reason,
    };
    if let Some((_, values)) = Values::ALL.iter().find(|(name, _)| *name == text) {
        return Ok(Draw::By((*values).into()));
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

/// `a=1,b=[1,2]` at its outer commas.
fn assignments(texts: &[String]) -> Result<Vec<(&str, &str)>, Error> {
    let pieces = texts.iter().flat_map(|text| split_outside(text, ','));
    pieces
        .map(|piece| {
            let (name, value) = piece
                .split_once('=')
                .ok_or_else(|| Error::input(format!("`{piece}` is not of the form NAME=VALUE")))?;
            Ok((name.trim(), value.trim()))
        })
        .collect()
}

/// The pieces between separators that are in no quotes and no brackets.
pub(crate) fn split_outside(text: &str, separator: char) -> Vec<&str> {
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

impl DataOptions {
    /// Takes out the constants that goals have and the model does not, with their values.
    pub(crate) fn take_goal_constants(
        &mut self,
        model: &Iosts,
        goals: &[GoalAutomaton],
    ) -> Result<Vec<(String, Value)>, Error> {
        let automata: Vec<_> = goals
            .iter()
            .filter_map(|goal| match goal {
                GoalAutomaton::Data(automaton) => Some(automaton),
                GoalAutomaton::Observer(_)
                | GoalAutomaton::Purpose(_)
                | GoalAutomaton::Property(_) => None,
            })
            .collect();
        let mut values: Vec<(String, Value)> = Vec::new();
        let mut others = Vec::new();
        for text in &self.constants {
            for piece in split_outside(text, ',') {
                let own = piece.split_once('=').and_then(|(name, value)| {
                    let (name, value) = (name.trim(), value.trim());
                    let models = model.constants().iter().any(|c| *c.var.name == *name);
                    let read = |a: &&DataAutomaton| a.constant(name, value);
                    let read = (!models).then(|| automata.iter().copied().find_map(|a| read(&a)));
                    Some((name, read.flatten()?))
                });
                match own {
                    None => others.push(piece.to_owned()),
                    Some((name, _)) if values.iter().any(|(n, _)| n == name) => {
                        return Err(Error::input(format!("--const: `{name}` is given twice")));
                    }
                    Some((name, value)) => values.push((name.to_owned(), value?)),
                }
            }
        }
        self.constants = others;
        Ok(values)
    }
}

/// The values that `--const` gives.
fn constants(file: &File, model: &Iosts, texts: &[String]) -> Result<Vec<(String, Value)>, Error> {
    let mut values: Vec<(String, Value)> = Vec::new();
    for (name, text) in assignments(texts)? {
        let known = model.constants().iter().map(|c| &*c.var.name);
        let Some(constant) = model.constants().iter().find(|c| *c.var.name == *name) else {
            let list: Vec<&str> = known.clone().collect();
            let hint = did_you_mean(name, known).unwrap_or_else(|| {
                if list.is_empty() {
                    "it has no constants without a value".to_owned()
                } else {
                    format!("its constants are: {}", list.join(", "))
                }
            });
            return Err(Error::input(format!(
                "--const: system `{}` has no constant `{name}`",
                model.name()
            ))
            .hint(hint));
        };
        if values.iter().any(|(n, _)| n == name) {
            return Err(Error::input(format!("--const: `{name}` is given twice")));
        }
        let value = parse_value(file, text, &constant.var.sort).map_err(|e| {
            let sort = &constant.var.sort;
            Error::input(format!("--const {name}={text}: {e}"))
                .hint(format!("`{name}` is of sort {sort}"))
        })?;
        values.push((name.to_owned(), value));
    }
    Ok(values)
}

/// A solver by name; without one, what the environment names, else our own.
pub fn solver(name: Option<&str>) -> Result<Solver, Error> {
    let named = named_solver();
    let process = match name.or(named.as_deref()) {
        None | Some("embedded") => return Ok(Solver::embedded()),
        Some("auto") => Smtlib::detect(None),
        Some(path) => Smtlib::new(path.as_ref()),
    };
    let probed = process.and_then(|mut process| process.probe().map(|()| process));
    let process = probed.map_err(|e| {
        let hint = "`iolite doctor` lists the solvers it finds; `--solver embedded` needs none";
        let text = format!("--solver: {e}");
        let error = if e.is_fault() {
            Error::fault(text)
        } else {
            Error::input(text)
        };
        error.hint(hint)
    })?;
    Ok(Solver::new(Box::new(process)))
}

fn named_solver() -> Option<String> {
    let named = std::env::var(SOLVER_VARIABLE).ok();
    named.filter(|n| !n.is_empty())
}

/// The program of the solver, where it is Z3, which also solves Horn clauses.
pub(crate) fn z3(name: Option<&str>) -> Option<PathBuf> {
    let named = named_solver();
    let path = match name.or(named.as_deref())? {
        "embedded" => return None,
        "auto" => Smtlib::find(None)?,
        path => path.into(),
    };
    let version = Smtlib::new(&path).ok()?.version().to_owned();
    version.contains("Z3").then_some(path)
}

/// An error where the solver's answers are worth nothing: it ended by itself, wrote something that is
/// no answer, or said "unsatisfiable" of what has a model.
pub fn answers_count(solver: &Solver) -> Result<(), Error> {
    match solver.fault() {
        Some(why) => Err(Error::fault(format!("--solver: {why}"))
            .hint("`iolite doctor` lists the solvers it finds; `--solver embedded` needs none")),
        None => Ok(()),
    }
}

/// A model with data together with the values of its constants, as far as they are known.
#[derive(Clone, Debug)]
pub struct KnownModel {
    spec: SymbolicSpec,
    constants: Vec<(String, Value)>,
    solver: Option<String>,
    until: Option<Instant>,
    unknown_query: Option<PathBuf>,
}

impl KnownModel {
    /// The model with the constants that the options give.
    pub fn new(spec: &SymbolicSpec, options: &DataOptions) -> Result<Self, Error> {
        Ok(Self {
            constants: constants(spec.file(), spec.model(), &options.constants)?,
            spec: spec.clone().with_constants(&options.constants),
            solver: options.solver.clone(),
            until: options.until,
            unknown_query: options.unknown_query.clone(),
        })
    }

    /// Where a query is saved that a running model's solver could not decide.
    pub(crate) fn unknown_query(&self) -> Option<&PathBuf> {
        self.unknown_query.as_ref()
    }

    /// The model.
    pub fn spec(&self) -> &SymbolicSpec {
        &self.spec
    }

    /// The values of constants that are known.
    pub fn constants(&self) -> &[(String, Value)] {
        &self.constants
    }

    /// Which solver the options ask for, and until when it works.
    pub(crate) fn solver_options(&self) -> (Option<String>, Option<Instant>) {
        (self.solver.clone(), self.until)
    }

    /// A solver as the options ask for it.
    pub(crate) fn solver(&self) -> Result<Solver, Error> {
        let mut solver = solver(self.solver.as_deref())?;
        solver.set_deadline(self.until);
        Ok(solver)
    }

    /// The constants without a value.
    pub(crate) fn unknown_constants(&self) -> Vec<String> {
        let given = |name: &str| self.constants.iter().any(|(known, _)| known == name);
        let names = self.spec.model().constants().iter();
        let names = names.map(|c| c.var.name.to_string());
        names.filter(|name| !given(name)).collect()
    }

    /// Its semantics, with a solver of its own.
    pub fn semantics(&self, policy: QuiescencePolicy) -> Result<Symbolic, Error> {
        self.semantics_of(self.spec.model(), policy)
    }

    /// The same of another form of the model, with the same constants.
    pub(crate) fn semantics_of(
        &self,
        model: &Arc<Iosts>,
        policy: QuiescencePolicy,
    ) -> Result<Symbolic, Error> {
        let constants: Vec<(&str, Value)> = self
            .constants
            .iter()
            .map(|(n, v)| (n.as_str(), v.clone()))
            .collect();
        Symbolic::new(Arc::clone(model), &constants, policy, self.solver()?)
            .map_err(|e| Error::input(format!("{}: {e}", self.spec.reference())))
    }
}
