//! Test cases with data as `.iol`: test(S, ω) is an observer again [SYM04, §4].
//!
//! Violating locations are those of `violate-fail` and `violate`, so the file can be used wherever an
//! observer can: with `verify`, `test` and `monitor`. A test case for a purpose is a purpose. Other verdicts
//! are told by comments.

use std::collections::BTreeMap;
use std::fmt::Write;

use iolite_derive::{Criterion, SymbolicTestCase, Verdict};
use iolite_expr::{Kind, Op, Sort, Term, Value};
use iolite_lang::syntax::{is_plain_name, quote};
use iolite_lts::LabelKind;
use iolite_sts::{GateId, Transition};

use super::identifiers::{Identifiers, identifier};
use super::term::Sorts;
use crate::WriteError;
use crate::iol::plain_or_quoted;

/// Words that are no names, and the functions that terms call.
const RESERVED: [&str; 53] = [
    "accept", "action", "and", "assume", "bool", "const", "each", "else", "enum", "false", "fn",
    "for", "hide", "if", "in", "initial", "inconc", "input", "int", "internal", "not", "observer",
    "or", "output", "over", "pass", "process", "property", "purpose", "record", "refuse", "rename",
    "state", "stop", "string", "system", "test", "then", "traces", "true", "type", "var",
    "violate", "abs", "len", "prefix", "suffix", "contains", "matches", "store", "slice", "delta",
    "tau",
];

/// The test case as an observer or a purpose.
pub fn write(case: &SymbolicTestCase) -> Result<String, WriteError> {
    let mut text = Text {
        case,
        names: Identifiers::of(case.program(), &RESERVED),
        ranges: BTreeMap::new(),
        sorts: Sorts::default(),
    };
    let body = text.machine()?;
    let mut out = format!(
        "// The {} test case {} of {}, as what it watches for.\n",
        case.criterion(),
        on_one_line(case.name()),
        on_one_line(&case.model().to_string())
    );
    for sort in text.sorts.iter() {
        match sort {
            Sort::Enum(e) => writeln!(out, "enum {} {{ {} }}", e.name, e.variants.join(", "))?,
            Sort::Record(r) => {
                let fields: Vec<String> =
                    r.fields.iter().map(|(n, s)| format!("{n}: {s}")).collect();
                writeln!(out, "record {} {{ {} }}", r.name, fields.join(", "))?;
            }
            _ => {}
        }
    }
    for (name, sort) in &text.ranges {
        writeln!(out, "fn {name}(n: int): {sort} = n")?;
    }
    Ok(out + &body)
}

fn on_one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

struct Text<'a> {
    case: &'a SymbolicTestCase,
    names: Identifiers,
    /// Functions that narrow an integer to a range.
    ranges: BTreeMap<String, Sort>,
    sorts: Sorts,
}

impl Text<'_> {
    fn machine(&mut self) -> Result<String, WriteError> {
        let case = self.case;
        let program = case.program();
        let purpose = case.criterion() == Criterion::Purpose;
        let mut out = String::new();
        let keyword = if purpose { "purpose" } else { "observer" };
        let name = identifier(case.name());
        write!(out, "{keyword} {name}")?;
        let model = case.model().name.as_deref().unwrap_or_default();
        let model = model.split('(').next().unwrap_or_default().trim();
        if is_plain_name(model) {
            write!(out, " for {model}")?;
        }
        out.push_str(" {\n");
        for c in program.constants() {
            self.sorts.note(&c.var.sort);
            writeln!(
                out,
                "  const {}: {}",
                self.names.of_var(&c.var, None),
                c.var.sort
            )?;
        }
        for v in program.variables() {
            self.sorts.note(&v.var.sort);
            write!(
                out,
                "  var {}: {}",
                self.names.of_var(&v.var, None),
                v.var.sort
            )?;
            match &v.initial {
                Some(t) => writeln!(out, " = {}", self.term(unnarrowed(t), None)?)?,
                None => out.push('\n'),
            }
        }
        for a in program.assumptions() {
            writeln!(out, "  assume {}", self.term(a, None)?)?;
        }
        for (id, location) in program.locations() {
            let verdict = case.verdict(id);
            let mark = match verdict {
                Some(Verdict::ViolateFail | Verdict::Violate) => "violate ",
                Some(Verdict::Pass) => "accept ",
                Some(Verdict::Inconc) if purpose => "refuse ",
                _ => "",
            };
            let initial = if id == program.initial() {
                "initial "
            } else {
                ""
            };
            let name = plain_or_quoted(&location.name);
            write!(out, "  {initial}{mark}state {name}")?;
            if program.outgoing(id).is_empty() {
                match verdict {
                    Some(verdict) => writeln!(out, " // {verdict}")?,
                    None => out.push('\n'),
                }
                continue;
            }
            out.push_str(" {\n");
            for &t in program.outgoing(id) {
                let line = self.transition(program.transition(t))?;
                writeln!(out, "    {line}")?;
            }
            out.push_str("  }\n");
        }
        out.push_str("}\n");
        Ok(out)
    }

    fn transition(&mut self, t: &Transition) -> Result<String, WriteError> {
        let program = self.case.program();
        let gate = program.gate(t.action);
        let mut out = match gate.kind {
            LabelKind::Delta => "delta".to_owned(),
            // The program is the mirror image of what the system does.
            LabelKind::Output => format!("?{}", plain_or_quoted(&gate.name)),
            _ => format!("!{}", plain_or_quoted(&gate.name)),
        };
        if !gate.params.is_empty() {
            let names = gate.params.iter();
            let names: Vec<&str> = names
                .map(|p| self.names.of_var(p, Some(t.action)))
                .collect();
            write!(out, "({})", names.join(", "))?;
        }
        if !t.guard.is_true() {
            write!(out, " [{}]", self.term(&t.guard, Some(t.action))?)?;
        }
        for (i, (x, e)) in t.assignments.iter().enumerate() {
            let sign = if i == 0 { " /" } else { "," };
            let var = &program.variables()[*x].var;
            let name = self.names.of_var(var, None).to_owned();
            let value = self.term(unnarrowed(e), Some(t.action))?;
            write!(out, "{sign} {name} := {value}")?;
        }
        let target = plain_or_quoted(&program.location(t.target).name);
        write!(out, " -> {target}")?;
        Ok(out)
    }

    fn term(&mut self, term: &Term, action: Option<GateId>) -> Result<String, WriteError> {
        let text = self.inner(term, action)?;
        // The outermost parentheses are not needed where the whole is one operation.
        let whole = matches!(term.kind(), Kind::App(op, _) if infix(op).is_some());
        let bare = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
        Ok(match bare {
            Some(bare) if whole => bare.to_owned(),
            _ => text,
        })
    }

    fn inner(&mut self, term: &Term, action: Option<GateId>) -> Result<String, WriteError> {
        let (op, args) = match term.kind() {
            Kind::Var(v) => return Ok(self.names.of_var(v, action).to_owned()),
            Kind::Lit(value) => {
                self.sorts.note(term.sort());
                return Ok(literal(value));
            }
            Kind::App(op, args) => (op, args),
        };
        let mut texts = Vec::new();
        for arg in args {
            texts.push(self.inner(arg, action)?);
        }
        if let Some(sign) = infix(op) {
            return Ok(match texts.as_slice() {
                [] => empty(op).to_owned(),
                [one] => one.clone(),
                _ => format!("({})", texts.join(&format!(" {sign} "))),
            });
        }
        let call = |name: &str| Ok(format!("{name}({})", texts.join(", ")));
        match op {
            Op::Not => Ok(format!("!({})", texts[0])),
            Op::Neg => Ok(format!("(-{})", texts[0])),
            Op::Ite => Ok(format!(
                "(if {} then {} else {})",
                texts[0], texts[1], texts[2]
            )),
            Op::Abs => call("abs"),
            Op::StrLen | Op::Len => call("len"),
            Op::Prefix => call("prefix"),
            Op::Suffix => call("suffix"),
            Op::Contains => call("contains"),
            Op::Store => call("store"),
            Op::Slice => call("slice"),
            Op::Matches(regex) => Ok(format!("matches({}, {})", texts[0], quote(regex.source()))),
            Op::Select => Ok(format!("{}[{}]", texts[0], texts[1])),
            Op::Array => Ok(format!("[{}]", texts.join(", "))),
            Op::Record | Op::Field(_) | Op::Update(_) => Ok(record(op, term, args, &texts)),
            Op::Narrow => {
                let Sort::Range(range) = term.sort() else {
                    return Ok(texts.concat());
                };
                let name = identifier(&format!("within_{}_{}", range.lo, range.hi));
                let name = name.replace('-', "m");
                self.ranges.insert(name.clone(), term.sort().clone());
                // A number that does not fit is a mistake of a text, and none of a sum.
                let sum = match args[0].kind() {
                    Kind::Lit(_) => " + 0",
                    _ => "",
                };
                Ok(format!("{name}({}{sum})", texts[0]))
            }
            _ => Err(WriteError::Term {
                term: term.to_string(),
                format: ".iol",
            }),
        }
    }
}

/// The language narrows what is assigned by itself.
fn unnarrowed(term: &Term) -> &Term {
    match term.kind() {
        Kind::App(Op::Narrow, args) => &args[0],
        _ => term,
    }
}

fn infix(op: &Op) -> Option<&'static str> {
    Some(match op {
        Op::And => "&&",
        Op::Or => "||",
        Op::Implies => "=>",
        Op::Eq => "==",
        Op::Ne => "!=",
        Op::Lt => "<",
        Op::Le => "<=",
        Op::Gt => ">",
        Op::Ge => ">=",
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::Div => "/",
        Op::Mod => "%",
        Op::Concat | Op::Append => "++",
        _ => return None,
    })
}

/// The empty sum, product, conjunction, disjunction and string.
fn empty(op: &Op) -> &'static str {
    match op {
        Op::And => "true",
        Op::Or => "false",
        Op::Add => "0",
        Op::Mul => "1",
        _ => "\"\"",
    }
}

fn record(op: &Op, term: &Term, args: &[Term], texts: &[String]) -> String {
    let of = match op {
        Op::Record => term.sort(),
        _ => args[0].sort(),
    };
    let Sort::Record(r) = of else {
        return texts.concat();
    };
    let field = |(i, (name, _)): (usize, &(Box<str>, Sort))| match op {
        Op::Update(at) if *at as usize == i => format!("{name} = {}", texts[1]),
        Op::Update(_) => format!("{name} = {}.{name}", texts[0]),
        _ => format!("{name} = {}", texts[i]),
    };
    if let Op::Field(i) = op {
        return format!("{}.{}", texts[0], r.fields[*i as usize].0);
    }
    let fields: Vec<String> = r.fields.iter().enumerate().map(field).collect();
    format!("{} {{ {} }}", r.name, fields.join(", "))
}

fn literal(value: &Value) -> String {
    match value {
        Value::Bool(b) => b.to_string(),
        Value::Int(n) if n.signum() < 0 => format!("({n})"),
        Value::Int(n) => n.to_string(),
        Value::Str(s) => quote(s),
        Value::Enum(e, i) => e.variants[*i as usize].to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(literal).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Record(r, fields) => {
            let named = r.fields.iter().zip(fields.iter());
            let fields: Vec<String> = named
                .map(|((n, _), v)| format!("{n} = {}", literal(v)))
                .collect();
            format!("{} {{ {} }}", r.name, fields.join(", "))
        }
        Value::Sum(_) => value.to_string(),
    }
}
