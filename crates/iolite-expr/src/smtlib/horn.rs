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
use crate::{Sort, Term, Value, Var};

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

/// A relation with values: one of the facts that follow from rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HornFact {
    /// The number of the relation.
    pub relation: usize,
    /// Its arguments.
    pub values: Vec<Value>,
}

/// Parts of a refutation that are looked at.
const LONGEST: usize = 1_000_000;

/// Settings that keep Spacer from merging rules: each fact of its refutation is then what one of ours concludes.
const FACT_BY_FACT: &str = "\
(set-option :fp.engine spacer)
(set-option :fp.xform.inline_eager false)
(set-option :fp.xform.inline_linear false)
(set-option :fp.xform.slice false)
(set-option :fp.xform.coi false)
";

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
        let mut out = String::from("(set-logic HORN)\n");
        for (k, sorts) in self.sorts()?.iter().enumerate() {
            let _ = writeln!(out, "(declare-fun r{k} ({sorts}) Bool)");
        }
        for clause in self.clauses("false")? {
            let _ = writeln!(out, "(assert {clause})");
        }
        Ok(out + "(check-sat)\n")
    }

    /// The rules as a query of Z3's for a fact that breaks one of them.
    fn query(&self) -> Result<String, Arc<str>> {
        let mut out = String::from(FACT_BY_FACT);
        for (k, sorts) in self.sorts()?.iter().enumerate() {
            let _ = writeln!(out, "(declare-rel r{k} ({sorts}))");
        }
        out += "(declare-rel broken ())\n";
        for clause in self.clauses("broken")? {
            let _ = writeln!(out, "(rule {clause})");
        }
        Ok(out + "(query broken :print-certificate true)\n")
    }

    /// The sorts of each relation's arguments.
    fn sorts(&self) -> Result<Vec<String>, Arc<str>> {
        let of = |params: &Vec<Var>| {
            let sorts: Result<Vec<&str>, _> = params.iter().map(|v| sort_name(&v.sort)).collect();
            sorts.map(|sorts| sorts.join(" "))
        };
        self.relations.iter().map(of).collect()
    }

    /// The rules; those without a head conclude `otherwise`.
    fn clauses(&self, otherwise: &str) -> Result<Vec<String>, Arc<str>> {
        let mut printer = Printer::default();
        let clauses = self.rules.iter();
        let clauses = clauses.map(|rule| clause(&mut printer, rule, otherwise));
        let clauses: Result<Vec<String>, Unprintable> = clauses.collect();
        clauses.map_err(|Unprintable(why)| why.into())
    }

    /// How Z3 refutes the rules: facts, each of which follows from the one before by a rule, the last of which
    /// breaks one. `None` where it finds no such facts within the limits. Nobody has checked them.
    pub fn refutation(&self, program: &Path, limits: &Limits) -> Option<Vec<HornFact>> {
        let query = self.query().ok()?;
        let mut process = Process::start(program, limits.memory_mb).ok()?;
        let said = process.ask(&query, limits).ok()?;
        let (answer, refutation) = said.split_once('\n')?;
        (answer.trim() == "sat").then_some(())?;
        self.facts(&parse(refutation)?)
    }

    /// The conclusions of a chain of resolution steps, the first of them first.
    fn facts(&self, refutation: &Sexpr) -> Option<Vec<HornFact>> {
        let mut named: FxHashMap<&str, &Sexpr> = FxHashMap::default();
        let mut facts = Vec::new();
        let mut at = Some(refutation);
        // Each step looks at another part of the text, or at what a name stands for; names are not
        // defined by themselves, but nobody has promised that.
        let mut steps = 0;
        while let Some(node) = at {
            steps += 1;
            if steps > LONGEST {
                return None;
            }
            at = match node {
                Sexpr::Atom(name) => Some(*named.get(name.as_str())?),
                Sexpr::List(parts) => match parts.as_slice() {
                    [Sexpr::Atom(word), Sexpr::List(bindings), body] if word == "let" => {
                        for binding in bindings {
                            let Sexpr::List(pair) = binding else {
                                return None;
                            };
                            if let [Sexpr::Atom(name), value] = pair.as_slice() {
                                named.insert(name, value);
                            }
                        }
                        Some(body)
                    }
                    [Sexpr::Atom(word), premise, ..] if word == "mp" => Some(premise),
                    // The rule, the facts that it is applied to, and the conclusion.
                    [Sexpr::List(_), _, premises @ .., conclusion] => {
                        if let Some((relation, args)) = self.applied(conclusion) {
                            facts.push(self.fact(relation, args)?);
                        }
                        match premises {
                            [] => None,
                            [premise] => Some(premise),
                            _ => return None,
                        }
                    }
                    _ => return None,
                },
                Sexpr::Text(_) => return None,
            };
        }
        facts.reverse();
        Some(facts)
    }

    /// The relation of a fact and its arguments; `None` for the words that a query adds.
    fn applied<'s>(&self, said: &'s Sexpr) -> Option<(usize, &'s [Sexpr])> {
        let (name, args) = match said {
            Sexpr::Atom(name) => (name, &[][..]),
            Sexpr::List(parts) => match parts.split_first()? {
                (Sexpr::Atom(name), args) => (name, args),
                _ => return None,
            },
            Sexpr::Text(_) => return None,
        };
        let relation = name.strip_prefix('r')?.parse().ok()?;
        (relation < self.relations.len()).then_some((relation, args))
    }

    /// The fact, where all its arguments are values.
    fn fact(&self, relation: usize, args: &[Sexpr]) -> Option<HornFact> {
        let value = |e: &Sexpr| {
            let term = read::term(e, &FxHashMap::default())?;
            term.simplify().as_value().cloned()
        };
        let values: Vec<Value> = args.iter().map(value).collect::<Option<_>>()?;
        let fits = values.len() == self.relations[relation].len();
        fits.then_some(HornFact { relation, values })
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

/// A rule; without a head it concludes `otherwise`.
fn clause(printer: &mut Printer, rule: &HornRule, otherwise: &str) -> Result<String, Unprintable> {
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
    let head = head.unwrap_or_else(|| otherwise.to_owned());
    let implied = format!("(=> (and {}) {head})", premises.join(" "));
    Ok(match bound.trim_end() {
        "" => implied,
        bound => format!("(forall ({bound}) {implied})"),
    })
}
