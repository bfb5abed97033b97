//! Test cases with data as TTCN-3 modules.
//!
//! Locations are labels of one function, so a test that goes round in circles needs no stack. Constants
//! are module parameters, variables those of the component. An observation whose values the guard fixes is
//! received by a template; the others are received with whatever values, and then compared. Which values
//! a stimulus has, and whether one is given now, external functions say: TTCN-3 solves no guards. The
//! guard stands there as the condition under which the values are sent.
//!
//! Variants are unions of records, decimals are integers that count units of the last place, sets are `set of`
//! without repetition, maps sets of keys with values. A quantifier over elements, or over few values of a sort, is a
//! function with a loop. Functions that call themselves have no counterpart that evaluates no more than it needs, so test
//! cases with them are not exported.

use std::fmt::Write;

use iolite_derive::{SymbolicTestCase, Verdict};
use iolite_expr::{Kind, Op, Sort, Term, Value, Var};
use iolite_lts::LabelKind;
use iolite_sts::{Gate, GateId, LocationId, Transition};

use super::identifiers::{Identifiers, identifier};
use super::quantifier::place_of;
use super::sort::Sorts;
use super::ttcn3_term::{
    LISTED, list, literal, note_quantified, read_by, sort, text, without_counterpart,
};
use crate::WriteError;

const RESERVED: [&str; 31] = [
    "alt",
    "and",
    "boolean",
    "charstring",
    "component",
    "control",
    "create",
    "else",
    "external",
    "fail",
    "false",
    "float",
    "for",
    "function",
    "if",
    "in",
    "integer",
    "label",
    "mod",
    "module",
    "not",
    "or",
    "out",
    "pass",
    "port",
    "record",
    "return",
    "select",
    "stop",
    "timer",
    "true",
];

/// The test case as a TTCN-3 module of its own.
pub fn write(case: &SymbolicTestCase) -> Result<String, WriteError> {
    let program = case.program();
    let initial = program.variables().iter().flat_map(|v| &v.initial);
    let data = program.assumptions().iter().chain(initial);
    let data = data.map(|term| (None, term));
    let taken = program.transitions().flat_map(|(_, t)| {
        let effects = t.assignments.iter().map(|(_, e)| e);
        effects.chain([&t.guard]).map(move |term| (Some(t), term))
    });
    let mut quantified = Vec::new();
    for (t, term) in data.chain(taken) {
        if let Some((term, reason)) = without_counterpart(term) {
            return Err(WriteError::Term {
                place: t.map_or_else(|| "the data".to_owned(), |t| place_of(program, t)),
                term: term.to_string(),
                reason,
                format: "TTCN-3",
            });
        }
        note_quantified(term, &mut quantified);
    }
    let module = Module {
        case,
        names: Identifiers::of(case.program(), &RESERVED),
        quantified,
    };
    let mut out = String::new();
    module.write(&mut out)?;
    Ok(out)
}

struct Module<'a> {
    case: &'a SymbolicTestCase,
    names: Identifiers,
    /// What is a function with a loop.
    quantified: Vec<Term>,
}

impl Module<'_> {
    fn write(&self, out: &mut String) -> std::fmt::Result {
        let case = self.case;
        let program = case.program();
        let name = format!("Test_{}", identifier(case.name()));
        let line = |text: &str| text.replace(char::is_control, " ");
        writeln!(
            out,
            "// {} test case {}",
            case.criterion(),
            line(case.name())
        )?;
        writeln!(out, "// model {}", line(&case.model().to_string()))?;
        writeln!(out, "module {name} {{\n")?;
        self.sorts(out)?;
        for c in program.constants() {
            let own = self.names.of_var(&c.var, None);
            writeln!(out, "  modulepar {} {own};", sort(&c.var.sort))?;
        }
        for a in program.assumptions() {
            writeln!(out, "  // assumed: {}", self.term(a, None))?;
        }
        let (mut gives, mut takes) = (Vec::new(), Vec::new());
        for (id, gate) in program.gates().filter(|(_, g)| g.kind != LabelKind::Delta) {
            let message = message(id, gate);
            let fields = gate.params.iter().map(|p| {
                let own = self.names.of_var(p, Some(id));
                format!("{} {own}", sort(&p.sort))
            });
            let fields: Vec<String> = fields.collect();
            writeln!(
                out,
                "  type record {message} {{ {} }} // {}",
                fields.join(", "),
                line(&gate.name)
            )?;
            match gate.kind {
                LabelKind::Output => gives.push(message),
                _ => takes.push(message),
            }
        }
        let port = |word: &str, all: &[String]| match all {
            [] => String::new(),
            all => format!("{word} {}; ", all.join(", ")),
        };
        let (gives, takes) = (port("out", &gives), port("in", &takes));
        writeln!(out, "\n  type port SystemPort message {{ {gives}{takes}}}")?;
        out.push_str("  type component TestComponent {\n    port SystemPort system_port;\n");
        out.push_str("    timer quiescence := 1.0;\n");
        for v in program.variables() {
            let own = self.names.of_var(&v.var, None);
            let initial = v
                .initial
                .as_ref()
                .map(|t| format!(" := {}", self.term(t, None)));
            let sort = sort(&v.var.sort);
            writeln!(out, "    var {sort} {own}{};", initial.unwrap_or_default())?;
        }
        out.push_str("  }\n\n  // Whether a stimulus is given here and now.\n");
        out.push_str("  external function stimulate_now(integer place) return boolean;\n");
        for (i, (_, t)) in program.transitions().enumerate() {
            let gate = program.gate(t.action);
            if gate.kind == LabelKind::Output && !gate.params.is_empty() {
                let message = message(t.action, gate);
                let guard = self.term(&t.guard, Some(t.action));
                writeln!(out, "  // Values with {guard}.")?;
                let data = program.variables().iter();
                let data: Vec<String> = data
                    .map(|v| format!("{} {}", sort(&v.var.sort), self.names.of_var(&v.var, None)))
                    .collect();
                writeln!(
                    out,
                    "  external function values_{i}({}) return {message};",
                    data.join(", ")
                )?;
            }
        }
        for (i, term) in self.quantified.iter().enumerate() {
            self.quantifier(i, term, out)?;
        }
        out.push_str("\n  function behaviour() runs on TestComponent {\n");
        for (id, gate) in program.gates().filter(|(_, g)| g.kind != LabelKind::Delta) {
            writeln!(out, "    var {} {};", message(id, gate), held(id))?;
        }
        for (id, _) in program.locations() {
            self.location(id, out)?;
        }
        out.push_str("  }\n");
        writeln!(
            out,
            "\n  testcase TC_{name}() runs on TestComponent system TestComponent {{"
        )?;
        out.push_str("    map(mtc:system_port, system:system_port);\n    behaviour();\n");
        out.push_str("    unmap(mtc:system_port, system:system_port);\n  }\n\n");
        writeln!(out, "  control {{ execute(TC_{name}()); }}\n}}")
    }

    fn sorts(&self, out: &mut String) -> std::fmt::Result {
        let program = self.case.program();
        let mut all = Sorts::default();
        let params = program.gates().flat_map(|(_, g)| g.params.iter());
        let data = program.variables().iter().map(|v| &v.var);
        let data = data.chain(program.constants().iter().map(|c| &c.var));
        for v in params.chain(data) {
            all.note(&v.sort);
        }
        for s in all.iter() {
            match s {
                Sort::Enum(e) => {
                    let values: Vec<String> = e.variants.iter().map(|v| identifier(v)).collect();
                    writeln!(
                        out,
                        "  type enumerated {} {{ {} }}",
                        sort(s),
                        values.join(", ")
                    )?;
                }
                Sort::Record(r) => {
                    let fields = r.fields.iter();
                    let fields: Vec<String> = fields
                        .map(|(n, s)| format!("{} {}", sort(s), identifier(n)))
                        .collect();
                    writeln!(out, "  type record {} {{ {} }}", sort(s), fields.join(", "))?;
                }
                Sort::Sum(sum) => {
                    let mut choices = Vec::new();
                    for (i, v) in sum.variants().iter().enumerate() {
                        let sorts = sum.field_sorts(i as u32);
                        let fields = v.fields.iter().zip(&sorts);
                        let fields =
                            fields.map(|((n, _), s)| format!("{} {}", sort(s), identifier(n)));
                        let fields: Vec<String> = fields.collect();
                        let own = format!("{}_{}", sort(s), identifier(&v.name));
                        writeln!(out, "  type record {own} {{ {} }}", fields.join(", "))?;
                        choices.push(format!("{own} {}", identifier(&v.name)));
                    }
                    writeln!(out, "  type union {} {{ {} }}", sort(s), choices.join(", "))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn location(&self, id: LocationId, out: &mut String) -> std::fmt::Result {
        let program = self.case.program();
        let name = program.location(id).name.replace(char::is_control, " ");
        writeln!(out, "    label place_{}; // {name}", id.index())?;
        if let Some(verdict) = self.case.verdict(id) {
            return writeln!(out, "    {}; return;", set_verdict(verdict));
        }
        let all = program.outgoing(id).iter();
        let all: Vec<(usize, &Transition)> =
            all.map(|t| (t.index(), program.transition(*t))).collect();
        let kind = |t: &Transition| program.gate(t.action).kind;
        let gives = |(_, t): &&(usize, &Transition)| kind(t) == LabelKind::Output;
        if all.iter().any(|t| gives(&t)) {
            writeln!(out, "    if (stimulate_now({})) {{", id.index())?;
            for (i, t) in all.iter().filter(gives) {
                let held = held(t.action);
                let guard = self.read(&t.guard, t.action, &held);
                let values = if program.gate(t.action).params.is_empty() {
                    "{}".to_owned()
                } else {
                    let data = program.variables().iter();
                    let data: Vec<&str> = data.map(|v| self.names.of_var(&v.var, None)).collect();
                    format!("values_{i}({})", data.join(", "))
                };
                writeln!(out, "      {held} := {values};")?;
                writeln!(
                    out,
                    "      if ({guard}) {{ system_port.send({held}); {} }}",
                    self.go(t, &held)
                )?;
            }
            out.push_str("    }\n");
        }
        out.push_str("    quiescence.start;\n    alt {\n");
        let observed = all.iter().filter(|(_, t)| kind(t) != LabelKind::Output);
        let (mut fixed, mut open): (Vec<&Transition>, Vec<&Transition>) = (Vec::new(), Vec::new());
        for (_, t) in observed {
            if self.template(t).is_some() {
                fixed.push(t);
            } else {
                open.push(t);
            }
        }
        for t in fixed {
            let Some((template, rest)) = self.template(t) else {
                continue;
            };
            let held = held(t.action);
            let condition = if rest.is_true() {
                String::new()
            } else {
                self.term(&rest, None)
            };
            if kind(t) == LabelKind::Delta {
                writeln!(
                    out,
                    "      [{condition}] quiescence.timeout {{ {} }}",
                    self.go(t, &held)
                )?;
            } else {
                let receive = format!("system_port.receive({template}) -> value {held}");
                writeln!(
                    out,
                    "      [{condition}] {receive} {{ {} }}",
                    self.go(t, &held)
                )?;
            }
        }
        let mut done: Vec<GateId> = Vec::new();
        for t in &open {
            if done.contains(&t.action) {
                continue;
            }
            done.push(t.action);
            let (held, message) = (held(t.action), message(t.action, program.gate(t.action)));
            writeln!(
                out,
                "      [] system_port.receive({message}:?) -> value {held} {{"
            )?;
            for same in open.iter().filter(|o| o.action == t.action) {
                let guard = self.read(&same.guard, same.action, &held);
                writeln!(out, "        if ({guard}) {{ {} }}", self.go(same, &held))?;
            }
            writeln!(
                out,
                "        {}; return;\n      }}",
                set_verdict(Verdict::Fail)
            )?;
        }
        let fail = set_verdict(Verdict::Fail);
        writeln!(out, "      [] system_port.receive {{ {fail}; return; }}")?;
        writeln!(
            out,
            "      [] quiescence.timeout {{ {fail}; return; }}\n    }}"
        )
    }

    /// The assignments and the jump of a transition.
    fn go(&self, t: &Transition, held: &str) -> String {
        let program = self.case.program();
        let mut out = String::new();
        // They happen at once, so new values wait until all are computed.
        let several = t.assignments.len() > 1;
        let mut later = String::new();
        for (x, e) in &t.assignments {
            let var = &program.variables()[*x].var;
            let own = self.names.of_var(var, None);
            let value = self.read(e, t.action, held);
            if several {
                out += &format!("var {} new_{own} := {value}; ", sort(&var.sort));
                later += &format!("{own} := new_{own}; ");
            } else {
                out += &format!("{own} := {value}; ");
            }
        }
        format!("{out}{later}goto place_{};", t.target.index())
    }

    /// A template that fixes the parameters, and the rest of the guard; `None` where the rest reads a
    /// parameter.
    fn template(&self, t: &Transition) -> Option<(String, Term)> {
        let gate = self.case.program().gate(t.action);
        let parts = match t.guard.kind() {
            Kind::App(Op::And, parts) => parts.to_vec(),
            _ => vec![t.guard.clone()],
        };
        let is_param = |v: &Var| gate.params.iter().any(|p| p.id == v.id);
        let reads = |e: &Term| e.free_vars().iter().any(is_param);
        let mut values: Vec<Option<String>> = vec![None; gate.params.len()];
        let mut rest = Vec::new();
        for part in parts {
            let (var, value) = match part.kind() {
                Kind::App(Op::Eq, sides) => match (sides[0].as_var(), sides[1].as_var()) {
                    (Some(v), _) if is_param(v) => (Some(v), Some(&sides[1])),
                    (_, Some(v)) if is_param(v) => (Some(v), Some(&sides[0])),
                    _ => (None, None),
                },
                _ => (None, None),
            };
            let at = var.and_then(|v| gate.params.iter().position(|p| p.id == v.id));
            match (at, value) {
                (Some(at), Some(value)) if values[at].is_none() && !reads(value) => {
                    values[at] = Some(self.term(value, None));
                }
                _ => rest.push(part),
            }
        }
        let rest = Term::all(rest);
        let values: Vec<String> = values
            .into_iter()
            .map(|v| v.unwrap_or_else(|| "?".into()))
            .collect();
        let template = match gate.params.len() {
            0 => format!("{}:{{}}", message(t.action, gate)),
            _ => format!("{}:{{ {} }}", message(t.action, gate), values.join(", ")),
        };
        (!reads(&rest)).then_some((template, rest))
    }

    /// A quantifier as a function of what it reads. Like the quantifier, it looks at every element.
    fn quantifier(&self, i: usize, term: &Term, out: &mut String) -> std::fmt::Result {
        let Kind::App(op, args) = term.kind() else {
            return Ok(());
        };
        let read = read_by(term);
        let param = |(k, v): (usize, &Var)| format!("{} p{k}", sort(&v.sort.widened()));
        let mut params: Vec<String> = read.iter().enumerate().map(param).collect();
        let (bound, body): (&[Var], &Term) = match op {
            Op::ForAll(x) | Op::ForSome(x) => {
                let over = sort(args[0].sort());
                params.insert(0, format!("{over} over"));
                (std::slice::from_ref(x), &args[1])
            }
            Op::Exists(vars) => (vars, &args[0]),
            _ => return Ok(()),
        };
        let all = matches!(op, Op::ForAll(_));
        writeln!(
            out,
            "\n  function f_quantifier_{i}({}) return boolean {{",
            params.join(", ")
        )?;
        writeln!(out, "    var boolean answer := {all};")?;
        for (k, x) in bound.iter().enumerate() {
            let (sort, counter) = (sort(&x.sort.widened()), format!("i{k}"));
            let element = match (op, &x.sort) {
                (Op::Exists(_), Sort::Range(r)) => {
                    writeln!(
                        out,
                        "    for (var integer x{k} := {0}; x{k} <= {1}; x{k} := x{k} + 1) {{",
                        literal(&Value::Int(r.lo.clone())),
                        literal(&Value::Int(r.hi.clone()))
                    )?;
                    continue;
                }
                (Op::Exists(_), other) => {
                    let values = other.values(LISTED).unwrap_or_default();
                    writeln!(out, "    var record of {sort} all{k} := {};", list(&values))?;
                    format!("all{k}")
                }
                _ => "over".to_owned(),
            };
            writeln!(
                out,
                "    for (var integer {counter} := 0; {counter} < lengthof({element}); {counter} := {counter} + 1) {{"
            )?;
            let of = match args[0].sort() {
                Sort::Map(_) if element == "over" => ".key",
                _ => "",
            };
            writeln!(out, "    var {sort} x{k} := {element}[{counter}]{of};")?;
        }
        let name = |v: &Var| {
            let own = bound.iter().position(|x| x.id == v.id);
            let given = read.iter().position(|x| x.id == v.id);
            match (own, given) {
                (Some(k), _) => format!("x{k}"),
                (None, Some(k)) => format!("p{k}"),
                (None, None) => "unknown".to_owned(),
            }
        };
        let body = text(body, &name, &self.quantified);
        if all {
            writeln!(out, "    if (not ({body})) {{ answer := false; }}")?;
        } else {
            writeln!(out, "    if ({body}) {{ answer := true; }}")?;
        }
        writeln!(out, "    {}", "} ".repeat(bound.len()).trim_end())?;
        out.push_str("    return answer;\n  }\n");
        Ok(())
    }

    /// A term whose parameters are fields of a message.
    fn read(&self, term: &Term, action: GateId, held: &str) -> String {
        let name = |v: &Var| {
            let own = self.names.of_var(v, Some(action));
            let gate = self.case.program().gate(action);
            if gate.params.iter().any(|p| p.id == v.id) {
                format!("{held}.{own}")
            } else {
                own.to_owned()
            }
        };
        text(term, &name, &self.quantified)
    }

    fn term(&self, term: &Term, action: Option<GateId>) -> String {
        let name = |v: &Var| self.names.of_var(v, action).to_owned();
        text(term, &name, &self.quantified)
    }
}

/// The type of the messages of an action.
fn message(id: GateId, gate: &Gate) -> String {
    format!("M{}_{}", id.index(), identifier(&gate.name))
}

/// The last message of an action.
fn held(id: GateId) -> String {
    format!("m{}", id.index())
}

fn set_verdict(verdict: Verdict) -> String {
    crate::test_case::ttcn3::set_verdict(verdict)
}
