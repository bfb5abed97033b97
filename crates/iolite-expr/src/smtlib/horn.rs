//! Constrained Horn clauses, as SMT-LIB's logic HORN has them, and programs that solve them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::print::{Printer, Unprintable};
use super::process::{Process, Trouble};
use super::read;
use super::sexpr::{Sexpr, parse};
use crate::solver::Limits;
use crate::{Sort, Term, Var};

/// A relation of [`HornClauses`] applied to terms.
#[derive(Clone, Debug)]
pub struct HornAtom {
    /// The number of the relation.
    pub relation: usize,
    /// Its arguments.
    pub args: Vec<Term>,
}

/// `body ∧ condition ⇒ head`; without a head, that the premise never holds.
#[derive(Clone, Debug)]
pub struct HornRule {
    /// A premise, if there is one beside the condition.
    pub body: Option<HornAtom>,
    /// A condition over the rule's variables.
    pub condition: Term,
    /// The conclusion.
    pub head: Option<HornAtom>,
}

/// Rules over unknown relations.
#[derive(Clone, Debug, Default)]
pub struct HornClauses {
    /// For each relation the variables in whose words its solution is told.
    pub relations: Vec<Vec<Var>>,
    /// The rules.
    pub rules: Vec<HornRule>,
}

/// What a program says of Horn clauses. Nobody has checked it.
#[derive(Clone, Debug)]
pub enum HornAnswer {
    /// A condition for each relation with which all rules hold.
    Solution(Vec<Term>),
    /// There are no such relations.
    Unsolvable,
    /// It was not found out, and why.
    Unknown(Arc<str>),
}

impl HornClauses {
    /// The rules as a script.
    ///
    /// # Errors
    ///
    /// What cannot be said: data other than Booleans and integers.
    pub fn script(&self) -> Result<String, Arc<str>> {
        let mut printer = Printer::default();
        let mut out = String::from("(set-logic HORN)\n");
        for (k, params) in self.relations.iter().enumerate() {
            let sorts: Result<Vec<&str>, Arc<str>> =
                params.iter().map(|v| sort_name(&v.sort)).collect();
            let _ = writeln!(out, "(declare-fun r{k} ({}) Bool)", sorts?.join(" "));
        }
        for rule in &self.rules {
            let text = clause(&mut printer, rule);
            out += &text.map_err(|Unprintable(why)| Arc::<str>::from(why))?;
        }
        Ok(out + "(check-sat)\n")
    }

    /// Asks a program; Z3 has Spacer for this logic.
    pub fn solve(&self, program: &Path, limits: &Limits) -> HornAnswer {
        let script = match self.script() {
            Ok(script) => script,
            Err(why) => return HornAnswer::Unknown(why),
        };
        match ask(program, &script, limits) {
            Ok(answer) => self.read(&answer),
            Err(Trouble::Timeout) => HornAnswer::Unknown("it takes too long".into()),
            Err(Trouble::Memory) => HornAnswer::Unknown("it needs too much memory".into()),
            Err(Trouble::Died) => HornAnswer::Unknown("the program ended".into()),
            Err(Trouble::Noise) => HornAnswer::Unknown("it writes what is no answer".into()),
            Err(Trouble::Confused(what)) => HornAnswer::Unknown(what.into()),
        }
    }

    fn read(&self, answer: &str) -> HornAnswer {
        let (said, model) = answer.split_once('\n').unwrap_or((answer, ""));
        match said.trim() {
            "unsat" => HornAnswer::Unsolvable,
            "sat" => match self.solution(model) {
                Some(terms) => HornAnswer::Solution(terms),
                None => HornAnswer::Unknown("its solution cannot be read".into()),
            },
            "unknown" => HornAnswer::Unknown("it does not know".into()),
            other => HornAnswer::Unknown(other.chars().take(100).collect::<String>().into()),
        }
    }

    fn solution(&self, model: &str) -> Option<Vec<Term>> {
        let Sexpr::List(definitions) = parse(model)? else {
            return None;
        };
        let mut found: FxHashMap<&str, (&Sexpr, &Sexpr)> = FxHashMap::default();
        for definition in &definitions {
            let Sexpr::List(parts) = definition else {
                continue;
            };
            if let [_, Sexpr::Atom(name), params, _, body] = parts.as_slice() {
                found.insert(name, (params, body));
            }
        }
        let relations = self.relations.iter().enumerate();
        let terms = relations.map(|(k, vars)| {
            let Some((Sexpr::List(params), body)) = found.get(format!("r{k}").as_str()) else {
                return None;
            };
            let mut names = FxHashMap::default();
            for (param, var) in params.iter().zip(vars) {
                let Sexpr::List(param) = param else {
                    return None;
                };
                let Some(Sexpr::Atom(name)) = param.first() else {
                    return None;
                };
                names.insert(name.clone(), var.term());
            }
            let term = read::term(body, &names)?;
            (*term.sort() == Sort::Bool && params.len() == vars.len()).then_some(term)
        });
        terms.collect()
    }
}

/// What the program prints.
fn ask(program: &Path, script: &str, limits: &Limits) -> Result<String, Trouble> {
    let mut process = Process::start(program, limits.memory_mb)?;
    let said = process.ask(script, limits)?;
    if said.trim() != "sat" {
        return Ok(said);
    }
    Ok(said + &process.ask("(get-model)\n", limits)?)
}

fn sort_name(sort: &Sort) -> Result<&'static str, Arc<str>> {
    match sort {
        Sort::Bool => Ok("Bool"),
        Sort::Int | Sort::Range(_) => Ok("Int"),
        other => Err(format!("data of sort {other} are beyond it").into()),
    }
}

fn clause(printer: &mut Printer, rule: &HornRule) -> Result<String, Unprintable> {
    let atoms = [&rule.body, &rule.head];
    let args = atoms.into_iter().flatten().flat_map(|atom| &atom.args);
    let mut vars = BTreeMap::new();
    for term in args.chain([&rule.condition]) {
        term.collect_vars(&mut vars, &mut FxHashSet::default());
    }
    let mut bound = String::new();
    let mut premises = Vec::new();
    let mut declared = String::new();
    for var in vars.values() {
        printer.declare_sort(&var.sort, &mut declared);
        let name = printer.name(var);
        let _ = write!(bound, "({name} {}) ", printer.sort_name(&var.sort));
        premises.extend(printer.constraint(&name, &var.sort));
    }
    printer.declare_inner_sorts(&rule.condition, &mut declared);
    if !declared.is_empty() {
        return Err(Unprintable("data that are no numbers are beyond it"));
    }
    let mut atom = |atom: &HornAtom| {
        let args: Result<Vec<String>, Unprintable> =
            atom.args.iter().map(|a| printer.print(a)).collect();
        let args = args?.join(" ");
        Ok(match args.as_str() {
            "" => format!("r{}", atom.relation),
            args => format!("(r{} {args})", atom.relation),
        })
    };
    let head = rule.head.as_ref().map(&mut atom).transpose()?;
    premises.extend(rule.body.as_ref().map(&mut atom).transpose()?);
    premises.push(printer.print(&rule.condition)?);
    let head = head.unwrap_or_else(|| "false".to_owned());
    let implied = format!("(=> (and {}) {head})", premises.join(" "));
    Ok(match bound.trim_end() {
        "" => format!("(assert {implied})\n"),
        bound => format!("(assert (forall ({bound}) {implied}))\n"),
    })
}
