//! Any SMT-LIB 2 solver as a child process.
//!
//! The process is long-lived: each assertion lives on a level of its own, and a query only sends
//! what differs from the one before. When it exceeds its time or memory it is killed hard; the
//! next query starts a new one and replays its assertions. Whatever the process does, the worst
//! that leaves this module is "unknown".

mod horn;
mod print;
mod process;
mod read;
mod sexpr;
mod sum;

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

pub use self::horn::{HornAnswer, HornAtom, HornClauses, HornFact, HornRule};
use self::print::{Printer, Unprintable};
use self::process::{Process, Trouble};
use self::sexpr::Sexpr;
use crate::solver::{Answer, Backend, Limits, Model};
use crate::{Int, Sort, Substitution, Term, Value, Var};

/// Names that are looked for on the PATH.
const KNOWN: [&str; 3] = ["z3", "cvc5", "cvc4"];
/// The environment variable that names a solver.
pub const SOLVER_VARIABLE: &str = "IOLITE_SOLVER";
/// Longest array that is read back from a model.
const MAX_ARRAY: usize = 4_096;

/// Why there is no process solver.
#[derive(Debug, thiserror::Error)]
pub enum SmtlibError {
    /// Nothing found.
    #[error(
        "no SMT-LIB solver: none given, {SOLVER_VARIABLE} not set, none of z3, cvc5, cvc4 on the PATH"
    )]
    NotFound,
    /// It does not run.
    #[error("solver {path} does not run: {error}")]
    DoesNotRun {
        /// The program.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// It runs, and does not answer as a solver does.
    #[error("{path} does not answer as an SMT-LIB solver does")]
    NoSolver {
        /// The program.
        path: PathBuf,
    },
}

impl SmtlibError {
    /// Whether the program is at fault, and not who named it.
    pub fn is_fault(&self) -> bool {
        matches!(self, Self::NoSolver { .. })
    }
}

/// A process backend.
#[derive(Debug)]
pub struct Smtlib {
    path: PathBuf,
    version: String,
    running: Option<Dialogue>,
    restarts: u64,
    /// How often it ended by itself or printed nonsense since it last answered.
    died: u32,
    /// Whether it once wrote what is no answer.
    noisy: bool,
}

#[derive(Debug)]
struct Dialogue {
    process: Process,
    printer: Printer,
    asserted: Vec<Term>,
}

impl Smtlib {
    /// The solver to use: the given one, else `IOLITE_SOLVER`, else the first known one on the
    /// PATH.
    pub fn find(explicit: Option<&Path>) -> Option<PathBuf> {
        if let Some(path) = explicit {
            return Some(path.to_owned());
        }
        if let Some(path) = std::env::var_os(SOLVER_VARIABLE).filter(|p| !p.is_empty()) {
            return Some(path.into());
        }
        let path = std::env::var_os("PATH")?;
        let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
        KNOWN.iter().find_map(|name| {
            dirs.iter()
                .map(|d| d.join(name))
                .find(|candidate| candidate.is_file())
        })
    }

    /// A backend that runs this program. Asks it for its version once.
    pub fn new(path: &Path) -> Result<Self, SmtlibError> {
        let version = process::version(path).map_err(|error| SmtlibError::DoesNotRun {
            path: path.to_owned(),
            error,
        })?;
        Ok(Self {
            path: path.to_owned(),
            version: if version.is_empty() {
                "unknown version".to_owned()
            } else {
                version
            },
            running: None,
            restarts: 0,
            died: 0,
            noisy: false,
        })
    }

    /// Starts the program and asks it something that every solver knows, so that another program is
    /// found out before anything depends on it.
    pub fn probe(&mut self) -> Result<(), SmtlibError> {
        let limits = Limits::new(process::HANDSHAKE, Limits::default().memory_mb);
        let absurd: Term = false.into();
        let known = self.try_check(&[absurd], &[], &limits);
        if matches!(known, Ok(Answer::Unsat)) {
            return Ok(());
        }
        self.running = None;
        Err(SmtlibError::NoSolver {
            path: self.path.clone(),
        })
    }

    /// The backend that [`Smtlib::find`] finds.
    pub fn detect(explicit: Option<&Path>) -> Result<Self, SmtlibError> {
        Self::new(&Self::find(explicit).ok_or(SmtlibError::NotFound)?)
    }

    /// What the program says of its version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// How often the process had to be started again.
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    fn try_check(
        &mut self,
        assertions: &[Term],
        vars: &[Var],
        limits: &Limits,
    ) -> Result<Answer, Trouble> {
        if self.running.is_none() {
            self.running = Some(Dialogue::start(&self.path, limits)?);
        }
        let Some(dialogue) = &mut self.running else {
            return Err(Trouble::Died);
        };
        dialogue.check(assertions, vars, limits)
    }

    /// What the solver's tactics make of `∃ vars: body`; a claim that is still to be checked.
    fn try_eliminate(
        &mut self,
        vars: &[Var],
        body: &Term,
        limits: &Limits,
    ) -> Result<Option<Term>, Trouble> {
        if self.running.is_none() {
            self.running = Some(Dialogue::start(&self.path, limits)?);
        }
        let Some(dialogue) = &mut self.running else {
            return Err(Trouble::Died);
        };
        dialogue.eliminate(vars, body, limits)
    }
}

impl Dialogue {
    fn start(path: &Path, limits: &Limits) -> Result<Self, Trouble> {
        let mut process = Process::start(path, limits.memory_mb)?;
        process.ask(
            "(set-option :print-success false)\n(set-option :produce-models true)\n\
             (set-option :global-declarations true)\n(set-logic ALL)\n",
            limits,
        )?;
        Ok(Self {
            process,
            printer: Printer::default(),
            asserted: Vec::new(),
        })
    }

    fn check(
        &mut self,
        assertions: &[Term],
        vars: &[Var],
        limits: &Limits,
    ) -> Result<Answer, Trouble> {
        let same = self
            .asserted
            .iter()
            .zip(assertions)
            .take_while(|(a, b)| a == b)
            .count();
        let mut text = String::new();
        if same < self.asserted.len() {
            text.push_str(&format!("(pop {})\n", self.asserted.len() - same));
            self.asserted.truncate(same);
        }
        for a in &assertions[same..] {
            match self.printer.assertion(a) {
                Ok((declarations, assertion)) => {
                    text.push_str(&declarations);
                    text.push_str(&format!("(push 1)\n(assert {assertion})\n"));
                    self.asserted.push(a.clone());
                }
                Err(Unprintable(why)) => {
                    // What is sent already must still be sent: the printer counts on it.
                    self.process.ask(&text, limits)?;
                    return Ok(Answer::unknown(why));
                }
            }
        }
        // Sort constraints hold for every variable, read or not; the printer says them once.
        text.push_str("(check-sat)\n");
        let output = self.process.ask(&text, limits)?;
        let verdict = output
            .lines()
            .map(str::trim)
            .find(|l| matches!(*l, "sat" | "unsat" | "unknown"));
        if output.contains("(error") {
            // The levels of the process are not what we think they are any more.
            return Err(Trouble::Confused(first_error(&output)));
        }
        match verdict {
            Some("unsat") => Ok(Answer::Unsat),
            Some("sat") => self.model(vars, limits),
            Some(_) => Ok(Answer::unknown("the process solver answered unknown")),
            None => Err(Trouble::Noise),
        }
    }

    fn eliminate(
        &mut self,
        vars: &[Var],
        body: &Term,
        limits: &Limits,
    ) -> Result<Option<Term>, Trouble> {
        let quantified = Term::exists(vars.to_vec(), body.clone());
        let free = quantified.free_vars();
        if free
            .iter()
            .any(|v| v.sort != Sort::Bool && !v.sort.is_int())
        {
            return Ok(None);
        }
        let Ok((declarations, assertion)) = self.printer.assertion(&quantified) else {
            // The printer has forgotten what it declared, so the process has to go.
            return Err(Trouble::Confused("the guard cannot be printed".to_owned()));
        };
        // The goal of a tactic is all that is asserted.
        let mut text = String::new();
        if !self.asserted.is_empty() {
            text.push_str(&format!("(pop {})\n", self.asserted.len()));
            self.asserted.clear();
        }
        text.push_str(&declarations);
        text.push_str(&format!(
            "(push 1)\n(assert {assertion})\n(apply (then simplify qe2 simplify))\n(pop 1)\n"
        ));
        let output = self.process.ask(&text, limits)?;
        if output.contains("(error") {
            return Err(Trouble::Confused(first_error(&output)));
        }
        let names = free
            .iter()
            .filter_map(|v| Some((self.printer.known_name(v)?, v.term())))
            .collect();
        Ok(sexpr::parse(&output).and_then(|goals| disjunction(&goals, &names)))
    }

    fn model(&mut self, vars: &[Var], limits: &Limits) -> Result<Answer, Trouble> {
        let mut wanted = Vec::new();
        for v in vars {
            match self.printer.known_name(v) {
                Some(name) => wanted.push((name, v.sort.clone())),
                None => return Ok(Answer::unknown("a variable is unknown to the solver")),
            }
        }
        let values = self.values(&wanted, limits)?;
        let Some(values) = values else {
            return Ok(Answer::unknown("the solver's model could not be read"));
        };
        Ok(Answer::Sat(Model::new(
            vars.iter().map(|v| v.id).zip(values).collect(),
        )))
    }

    /// The values of terms under the current model, arrays element by element.
    fn values(
        &mut self,
        wanted: &[(String, Sort)],
        limits: &Limits,
    ) -> Result<Option<Vec<Value>>, Trouble> {
        let mut scalars: Vec<String> = Vec::new();
        for (term, sort) in wanted {
            match sort {
                Sort::Array(_) => scalars.push(self.printer.length_of(term, sort)),
                Sort::Record(_) => {}
                Sort::Sum(_) => scalars.push(self.printer.tag_of(term, sort)),
                _ => scalars.push(term.clone()),
            }
        }
        let mut read = if scalars.is_empty() {
            Vec::new()
        } else {
            let output = self
                .process
                .ask(&format!("(get-value ({}))\n", scalars.join(" ")), limits)?;
            match get_value(&output, scalars.len()) {
                Some(read) => read,
                None => return Ok(None),
            }
        }
        .into_iter();
        let mut out = Vec::new();
        for (term, sort) in wanted {
            let value = match sort {
                Sort::Record(r) => {
                    let parts: Vec<(String, Sort)> = r
                        .fields
                        .iter()
                        .enumerate()
                        .map(|(i, (_, s))| (self.printer.field_of(term, sort, i), s.clone()))
                        .collect();
                    match self.values(&parts, limits)? {
                        Some(fields) => Value::Record(r.clone(), fields.into()),
                        None => return Ok(None),
                    }
                }
                Sort::Sum(sum) => {
                    let tag = read.next().and_then(|e| int(&e)).and_then(|n| n.to_usize());
                    let Some(variant) = tag.map(|v| v as u32) else {
                        return Ok(None);
                    };
                    let fields = sum.field_sorts(variant).into_iter().enumerate();
                    let parts: Vec<(String, Sort)> = fields
                        .map(|(i, s)| (self.printer.part_of(term, sort, variant, i as u32), s))
                        .collect();
                    // Each level of a value wraps its selectors once more.
                    if term.len() > MAX_SELECTED {
                        return Ok(None);
                    }
                    let fields = self.values(&parts, limits)?;
                    match fields.and_then(|fields| Value::sum(sum, variant, fields)) {
                        Some(value) => value,
                        None => return Ok(None),
                    }
                }
                Sort::Array(element) => {
                    let length = read.next().and_then(|e| int(&e)).and_then(|n| n.to_usize());
                    let Some(length) = length.filter(|n| *n <= MAX_ARRAY) else {
                        return Ok(None);
                    };
                    let items: Vec<(String, Sort)> = (0..length)
                        .map(|i| (self.printer.element_of(term, sort, i), (**element).clone()))
                        .collect();
                    match self.values(&items, limits)? {
                        Some(items) => Value::array(items),
                        None => return Ok(None),
                    }
                }
                _ => match read.next().and_then(|e| scalar(&e, sort)) {
                    Some(v) => v,
                    None => return Ok(None),
                },
            };
            out.push(value);
        }
        Ok(Some(out))
    }
}

/// Longest term of selectors that the model is asked for: a list of some hundred elements.
const MAX_SELECTED: usize = 4_096;

/// `(goals (goal f … :precision precise :depth n) …)`: some goal, of which every formula.
fn disjunction(goals: &Sexpr, names: &FxHashMap<String, Term>) -> Option<Term> {
    let Sexpr::List(goals) = goals else {
        return None;
    };
    let atom = |e: &Sexpr, text: &str| matches!(e, Sexpr::Atom(a) if a == text);
    let goals = goals.strip_prefix(&[Sexpr::Atom("goals".to_owned())])?;
    let mut cases = Vec::new();
    for goal in goals {
        let Sexpr::List(parts) = goal else {
            return None;
        };
        let parts = parts.strip_prefix(&[Sexpr::Atom("goal".to_owned())])?;
        let end = parts.iter().position(|p| atom(p, ":precision"))?;
        if !parts.get(end + 1).is_some_and(|p| atom(p, "precise")) {
            return None;
        }
        let formulas = parts[..end].iter().map(|f| read::term(f, names));
        cases.push(Term::all(formulas.collect::<Option<Vec<Term>>>()?));
    }
    Some(Term::any(cases))
}

fn first_error(output: &str) -> String {
    output
        .lines()
        .find(|l| l.contains("(error"))
        .unwrap_or("error")
        .trim()
        .to_owned()
}

fn get_value(output: &str, count: usize) -> Option<Vec<Sexpr>> {
    let Sexpr::List(pairs) = sexpr::parse(output)? else {
        return None;
    };
    let values: Vec<Sexpr> = pairs
        .into_iter()
        .filter_map(|p| match p {
            Sexpr::List(mut pair) if pair.len() == 2 => pair.pop(),
            _ => None,
        })
        .collect();
    (values.len() == count).then_some(values)
}

fn int(e: &Sexpr) -> Option<Int> {
    match e {
        Sexpr::Atom(a) => a.parse().ok(),
        Sexpr::List(l) => match l.as_slice() {
            [Sexpr::Atom(minus), n] if minus == "-" => Some(-int(n)?),
            _ => None,
        },
        Sexpr::Text(_) => None,
    }
}

fn scalar(e: &Sexpr, sort: &Sort) -> Option<Value> {
    Some(match (sort, e) {
        (Sort::Bool, Sexpr::Atom(a)) if a == "true" => Value::Bool(true),
        (Sort::Bool, Sexpr::Atom(a)) if a == "false" => Value::Bool(false),
        (Sort::Int | Sort::Range(_), _) => Value::Int(int(e)?),
        (Sort::Decimal(scale), _) => Value::Decimal(int(e)?, *scale),
        (Sort::Enum(s), _) => {
            let i = int(e)?.to_usize().filter(|i| *i < s.variants.len())?;
            Value::Enum(s.clone(), i as u32)
        }
        (Sort::String, Sexpr::Text(text)) => Value::str(&print::unescape(text)?),
        _ => return None,
    })
}

impl Backend for Smtlib {
    fn name(&self) -> String {
        self.version.clone()
    }

    fn fault(&self) -> Option<String> {
        let path = self.path.display();
        if self.noisy {
            return Some(format!("solver {path} writes what is no answer"));
        }
        (self.died > 0).then(|| format!("solver {path} ended by itself"))
    }

    fn is_trusted(&self) -> bool {
        false
    }

    fn eliminate(&mut self, vars: &[Var], body: &Term, limits: &Limits) -> Option<Term> {
        self.checked_elimination(vars, body, limits)
    }

    fn check(&mut self, assertions: &[Term], vars: &[Var], limits: &Limits) -> Answer {
        let fresh = self.running.is_none();
        match self.try_check(assertions, vars, limits) {
            Ok(answer) => {
                self.died = 0;
                answer
            }
            Err(trouble) => {
                self.running = None;
                self.restarts += 1;
                match trouble {
                    Trouble::Timeout => Answer::unknown("the process solver ran out of time"),
                    Trouble::Memory => Answer::unknown("the process solver ran out of memory"),
                    // It may have died of what came before; a new one gets one chance.
                    Trouble::Died if !fresh => {
                        if let Ok(answer) = self.try_check(assertions, vars, limits) {
                            answer
                        } else {
                            self.running = None;
                            self.died += 1;
                            Answer::unknown("the process solver died")
                        }
                    }
                    Trouble::Died => {
                        self.died += 1;
                        Answer::unknown("the process solver died")
                    }
                    Trouble::Noise => {
                        self.noisy = true;
                        Answer::unknown("the process solver writes what is no answer")
                    }
                    Trouble::Confused(why) => Answer::unknown(&why),
                }
            }
        }
    }
}

impl Smtlib {
    /// The claim of the tactics, if nothing speaks against it.
    fn checked_elimination(&mut self, vars: &[Var], body: &Term, limits: &Limits) -> Option<Term> {
        let Ok(claim) = self.try_eliminate(vars, body, limits) else {
            self.running = None;
            self.restarts += 1;
            return None;
        };
        let claim = claim?.simplify().bounded().ok()?;
        // A quantified query may stay open; an answer against the claim ends it.
        let quantified = Term::exists(vars.to_vec(), body.clone());
        let free = quantified.free_vars();
        let differ = [
            Term::all([quantified.clone(), claim.negated()]),
            Term::all([quantified.negated(), claim.clone()]),
        ];
        for d in &differ {
            if matches!(
                self.check(std::slice::from_ref(d), &free, limits),
                Answer::Sat(_)
            ) {
                return None;
            }
        }
        // With values for what is free, the quantifier is a plain question.
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        for round in 0..SPOT_CHECKS {
            let mut model = Model::default();
            let mut map = Substitution::new();
            for v in &free {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let value = plain(&v.sort, state >> 33, round);
                map.insert_value(v, value.clone());
                model.insert(v.id, value);
            }
            let closed = body.substitute(&map).ok()?.simplify();
            let exists = self.check(&[closed], vars, limits).decided()?;
            if claim.eval_bool(&model) != Ok(exists) {
                return None;
            }
        }
        Some(claim)
    }
}

/// Valuations at which an elimination is compared with what it stands for.
const SPOT_CHECKS: i64 = 32;

/// A value of a Boolean or integer sort, farther from zero with each round.
fn plain(sort: &Sort, random: u64, round: i64) -> Value {
    match sort {
        Sort::Bool => Value::Bool(random.is_multiple_of(2)),
        sort => {
            let width = 4 * (round + 1);
            let n = i64::try_from(random).unwrap_or(0) % (2 * width + 1) - width;
            let value = Value::from(n);
            if sort.contains(&value) {
                value
            } else {
                sort.default_value()
            }
        }
    }
}

/// A complete script for the terms, as far as they can be printed.
pub(crate) fn script(terms: &[Term]) -> String {
    let mut printer = Printer::default();
    let mut out = String::from("(set-logic ALL)\n");
    for t in terms {
        match printer.assertion(t) {
            Ok((declarations, assertion)) => {
                out.push_str(&declarations);
                out.push_str(&format!("(assert {assertion})\n"));
            }
            Err(Unprintable(why)) => out.push_str(&format!("; {why}: {t}\n")),
        }
    }
    out.push_str("(check-sat)\n(get-model)\n");
    out
}
