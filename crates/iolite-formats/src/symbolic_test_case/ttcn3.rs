//! Test cases with data as TTCN-3 modules.
//!
//! Locations are labels of one function, so a test that goes round in circles needs no stack. Constants
//! are module parameters, variables those of the component. An observation whose values the guard fixes is
//! received by a template; the others are received with whatever values, and then compared. Which values
//! a stimulus has, and whether one is given now, external functions say: TTCN-3 solves no guards. The
//! guard stands there as the condition under which the values are sent.
//!
//! Variants are unions of records, decimals are integers that count units of the last place, sets are `set of`
//! without repetition, maps sets of keys with values. Functions that call themselves and quantifiers have no
//! counterpart that evaluates no more than it needs, so test cases with them are not exported.

use std::fmt::Write;

use iolite_derive::{SymbolicTestCase, Verdict};
use iolite_expr::{Kind, Op, Sort, SumSort, Term, Value, Var};
use iolite_lts::LabelKind;
use iolite_sts::{Gate, GateId, LocationId, Transition};

use super::identifiers::{Identifiers, identifier};
use super::sort::Sorts;
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
    let terms = program.assumptions().iter().chain(initial);
    let taken = program.transitions();
    let taken = taken.flat_map(|(_, t)| t.assignments.iter().map(|(_, e)| e).chain([&t.guard]));
    if let Some(term) = terms.chain(taken).find_map(without_counterpart) {
        return Err(WriteError::Term {
            term: term.to_string(),
            format: "TTCN-3",
        });
    }
    let module = Module {
        case,
        names: Identifiers::of(case.program(), &RESERVED),
    };
    let mut out = String::new();
    module.write(&mut out)?;
    Ok(out)
}

/// A call or a quantifier in a term.
fn without_counterpart(term: &Term) -> Option<&Term> {
    match term.kind() {
        Kind::App(Op::Call(_) | Op::ForAll(_) | Op::ForSome(_) | Op::Exists(_), _) => Some(term),
        Kind::App(_, args) => args.iter().find_map(without_counterpart),
        Kind::Var(_) | Kind::Lit(_) => None,
    }
}

struct Module<'a> {
    case: &'a SymbolicTestCase,
    names: Identifiers,
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

    /// A term whose parameters are fields of a message.
    fn read(&self, term: &Term, action: GateId, held: &str) -> String {
        text(term, &|v| {
            let own = self.names.of_var(v, Some(action));
            let gate = self.case.program().gate(action);
            if gate.params.iter().any(|p| p.id == v.id) {
                format!("{held}.{own}")
            } else {
                own.to_owned()
            }
        })
    }

    fn term(&self, term: &Term, action: Option<GateId>) -> String {
        text(term, &|v| self.names.of_var(v, action).to_owned())
    }
}

/// A term, with words for its variables.
fn text(term: &Term, var: &dyn Fn(&Var) -> String) -> String {
    let (op, args) = match term.kind() {
        Kind::Var(v) => return var(v),
        Kind::Lit(value) => return literal(value),
        Kind::App(op, args) => (op, args),
    };
    let texts: Vec<String> = args.iter().map(|a| text(a, var)).collect();
    let between = |sign: &str| match texts.as_slice() {
        [one] => one.clone(),
        _ => format!("({})", texts.join(&format!(" {sign} "))),
    };
    match op {
        Op::Not => format!("not ({})", texts[0]),
        Op::And if texts.is_empty() => "true".into(),
        Op::Or if texts.is_empty() => "false".into(),
        Op::And => between("and"),
        Op::Or => between("or"),
        Op::Implies => format!("(not ({}) or {})", texts[0], texts[1]),
        Op::Eq => between("=="),
        Op::Ne => between("!="),
        Op::Lt => between("<"),
        Op::Le => between("<="),
        Op::Gt => between(">"),
        Op::Ge => between(">="),
        Op::Neg => format!("(-{})", texts[0]),
        Op::Add if texts.is_empty() => "0".into(),
        Op::Mul if texts.is_empty() => "1".into(),
        Op::Add => between("+"),
        Op::Sub => between("-"),
        Op::Mul => between("*"),
        // The remainder is never negative, so the quotient is exact.
        Op::Div => format!("(({0} - ({0} mod {1})) / {1})", texts[0], texts[1]),
        Op::Mod => between("mod"),
        Op::Concat | Op::Append => between("&"),
        Op::StrLen | Op::Len => format!("lengthof({})", texts[0]),
        Op::Select => format!("{}[{}]", texts[0], texts[1]),
        Op::Array | Op::Record => format!("{{ {} }}", texts.join(", ")),
        Op::Field(i) => match args[0].sort() {
            Sort::Record(r) => format!("{}.{}", texts[0], identifier(&r.fields[*i as usize].0)),
            _ => texts.concat(),
        },
        Op::Slice | Op::Substring => {
            format!("substr({0}, {1}, {2} - {1})", texts[0], texts[1], texts[2])
        }
        Op::Matches(regex) => format!("f_matches({}, {:?})", texts[0], regex.source()),
        // What TTCN-3 has no word for is a function of the harness.
        Op::Abs => format!("f_abs({})", texts[0]),
        Op::Ite => format!("f_if({})", texts.join(", ")),
        Op::Prefix => format!("f_prefix({})", texts.join(", ")),
        Op::Suffix => format!("f_suffix({})", texts.join(", ")),
        Op::Contains => format!("f_contains({})", texts.join(", ")),
        Op::Store => format!("f_store({})", texts.join(", ")),
        Op::Update(i) => format!("f_update_{i}({})", texts.join(", ")),
        Op::At => format!("substr({}, {}, 1)", texts[0], texts[1]),
        Op::IndexOf => format!("f_index_of({})", texts.join(", ")),
        // A decimal is the integer that counts its units.
        Op::Units | Op::Decimal | Op::Narrow => texts.concat(),
        Op::Set => format!("f_set({{ {} }})", texts.join(", ")),
        Op::Map => {
            let pairs = texts.chunks(2).map(|p| format!("{{ {} }}", p.join(", ")));
            format!("f_map({{ {} }})", pairs.collect::<Vec<_>>().join(", "))
        }
        Op::Has => format!("f_has({})", texts.join(", ")),
        Op::Insert => format!("f_insert({})", texts.join(", ")),
        Op::Put => format!("f_put({})", texts.join(", ")),
        Op::Remove => format!("f_remove({})", texts.join(", ")),
        Op::Lookup => format!("f_lookup({})", texts.join(", ")),
        Op::Keys => format!("f_keys({})", texts.join(", ")),
        Op::Union => format!("f_union({})", texts.join(", ")),
        Op::Intersection => format!("f_intersection({})", texts.join(", ")),
        Op::Difference => format!("f_difference({})", texts.join(", ")),
        Op::Construct(v) => match term.sort() {
            Sort::Sum(sum) => chosen(sum, *v, &texts),
            _ => texts.concat(),
        },
        Op::Is(v) => match args[0].sort() {
            Sort::Sum(sum) => format!("ischosen({}.{})", texts[0], choice(sum, *v)),
            _ => texts.concat(),
        },
        Op::Get(v, i) => match args[0].sort() {
            Sort::Sum(sum) => {
                let variant = sum.variant(*v);
                let field = variant.and_then(|v| v.fields.get(*i as usize));
                let field = field.map_or_else(String::new, |(n, _)| identifier(n));
                format!("{}.{}.{field}", texts[0], choice(sum, *v))
            }
            _ => texts.concat(),
        },
        // `write` refuses them.
        Op::Call(_) | Op::ForAll(_) | Op::ForSome(_) | Op::Exists(_) => String::new(),
    }
}

/// The name of a variant in its union.
fn choice(sum: &SumSort, variant: u32) -> String {
    let variant = sum.variant(variant);
    variant.map_or_else(String::new, |v| identifier(&v.name))
}

/// A value of a union.
fn chosen(sum: &SumSort, variant: u32, fields: &[String]) -> String {
    let fields = match fields {
        [] => "{}".to_owned(),
        fields => format!("{{ {} }}", fields.join(", ")),
    };
    format!("{{ {} := {fields} }}", choice(sum, variant))
}

/// The type of the messages of an action.
fn message(id: GateId, gate: &Gate) -> String {
    format!("M{}_{}", id.index(), identifier(&gate.name))
}

/// The last message of an action.
fn held(id: GateId) -> String {
    format!("m{}", id.index())
}

fn sort(sort: &Sort) -> String {
    match sort {
        Sort::Bool => "boolean".into(),
        Sort::Int | Sort::Decimal(_) => "integer".into(),
        Sort::Range(r) => format!("integer ({}..{})", r.lo, r.hi),
        Sort::String => "universal charstring".into(),
        Sort::Array(element) => format!("record of {}", self::sort(element)),
        Sort::Enum(e) => format!("E_{}", identifier(&e.name)),
        Sort::Record(r) => format!("R_{}", identifier(&r.name)),
        Sort::Set(element) => format!("set of {}", self::sort(element)),
        Sort::Map(m) => {
            let (key, value) = (self::sort(&m.0), self::sort(&m.1));
            format!("set of record {{ {key} key, {value} held }}")
        }
        Sort::Sum(s) => format!("U_{}", identifier(s.name())),
        // No datum has this sort.
        Sort::Member(_) => "anytype".into(),
    }
}

fn list<'a>(items: impl IntoIterator<Item = &'a Value>) -> String {
    let items: Vec<String> = items.into_iter().map(literal).collect();
    format!("{{ {} }}", items.join(", "))
}

fn literal(value: &Value) -> String {
    match value {
        Value::Bool(b) => b.to_string(),
        Value::Int(n) if n.signum() < 0 => format!("({n})"),
        Value::Int(n) => n.to_string(),
        Value::Str(s) => format!(
            "\"{}\"",
            s.replace('"', "\"\"").replace(char::is_control, " ")
        ),
        Value::Enum(e, i) => identifier(&e.variants[*i as usize]),
        Value::Array(items) => list(items),
        Value::Set(items) => list(&**items),
        Value::Record(_, fields) => list(&**fields),
        Value::Decimal(units, _) if units.signum() < 0 => format!("({units})"),
        Value::Decimal(units, _) => units.to_string(),
        Value::Map(pairs) => {
            let pair = |(k, v): &(Value, Value)| format!("{{ {}, {} }}", literal(k), literal(v));
            let pairs: Vec<String> = pairs.iter().map(pair).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        Value::Sum(sum) => {
            let fields: Vec<String> = sum.fields().iter().map(literal).collect();
            chosen(sum.sort(), sum.variant(), &fields)
        }
    }
}

fn set_verdict(verdict: Verdict) -> String {
    crate::test_case::ttcn3::set_verdict(verdict)
}
