//! Test cases with data as `.iol`: test(S, ω) is an observer again [SYM04, §4].
//!
//! Violating locations are those of `violate-fail` and `violate`, so the file can be used wherever an
//! observer can: with `verify`, `test` and `monitor`. A test case for a purpose is a purpose. Other verdicts
//! are told by comments. Functions that the terms call are written out, and so are those that say where a function
//! has a value, which no model states.

use std::collections::BTreeMap;
use std::fmt::Write;

use iolite_derive::{Criterion, SymbolicTestCase, Verdict};
use iolite_expr::{Callee, Kind, Op, Sort, SumSort, Term, Var, VarId};
use iolite_lang::syntax::{is_plain_name, quote};
use iolite_lts::LabelKind;
use iolite_sts::{GateId, Transition};

use super::identifiers::{Identifiers, identifier};
use super::iol_term::{empty, infix, literal, record, variant};
use super::quantifier::{finite_values, place_of};
use super::sort::Sorts;
use crate::WriteError;
use crate::iol::plain_or_quoted;

/// Words that are no names, and the functions that terms call.
const RESERVED: &[&str] = &[
    "accept",
    "action",
    "and",
    "assume",
    "bool",
    "const",
    "decimal",
    "each",
    "else",
    "enum",
    "exists",
    "false",
    "fn",
    "for",
    "forall",
    "hide",
    "if",
    "in",
    "inconc",
    "initial",
    "input",
    "int",
    "internal",
    "is",
    "let",
    "match",
    "not",
    "observer",
    "or",
    "output",
    "over",
    "pass",
    "process",
    "property",
    "purpose",
    "record",
    "refuse",
    "rename",
    "state",
    "stop",
    "string",
    "system",
    "test",
    "then",
    "traces",
    "true",
    "type",
    "var",
    "violate",
    "abs",
    "ceil",
    "contains",
    "delta",
    "difference",
    "floor",
    "indexOf",
    "insert",
    "intersection",
    "keys",
    "len",
    "matches",
    "prefix",
    "put",
    "remove",
    "round",
    "slice",
    "store",
    "subset",
    "suffix",
    "tau",
    "union",
    "units",
];

/// The test case as an observer or a purpose.
pub fn write(case: &SymbolicTestCase) -> Result<String, WriteError> {
    let mut text = Text {
        case,
        names: Identifiers::of(case.program(), RESERVED),
        ranges: BTreeMap::new(),
        sorts: Sorts::default(),
        functions: Vec::new(),
        bound: Vec::new(),
        place: "the data".to_owned(),
    };
    let body = text.machine()?;
    let functions = text.functions()?;
    if let Some(name) = text.sorts.ambiguous() {
        return Err(WriteError::Ambiguous {
            name: name.to_owned(),
            format: ".iol",
        });
    }
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
            Sort::Sum(s) => writeln!(out, "type {} = {}", s.name(), variants(s))?,
            _ => {}
        }
    }
    for (name, sort) in &text.ranges {
        writeln!(out, "fn {name}(n: int): {sort} = n")?;
    }
    Ok(out + &functions + &body)
}

fn variants(sum: &SumSort) -> String {
    let variant = |(i, v): (usize, &iolite_expr::Variant)| {
        let sorts = sum.field_sorts(i as u32);
        let fields = v.fields.iter().zip(sorts);
        let fields: Vec<String> = fields.map(|((n, _), s)| format!("{n}: {s}")).collect();
        match fields.as_slice() {
            [] => v.name.to_string(),
            fields => format!("{}({})", v.name, fields.join(", ")),
        }
    };
    let variants: Vec<String> = sum.variants().iter().enumerate().map(variant).collect();
    variants.join(" | ")
}

fn on_one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Values that a quantifier may list.
const LISTED: u64 = 1_024;

struct Text<'a> {
    /// Where the term stands that is written.
    place: String,
    case: &'a SymbolicTestCase,
    names: Identifiers,
    /// Functions that narrow an integer to a range.
    ranges: BTreeMap<String, Sort>,
    sorts: Sorts,
    /// The functions that are called, with their names.
    functions: Vec<(Callee, String)>,
    /// What parameters of the function that is written, and variables that quantifiers bind, are called.
    bound: Vec<(VarId, String)>,
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
        self.place = place_of(program, t);
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

    /// The functions that were called so far, and those that they call.
    fn functions(&mut self) -> Result<String, WriteError> {
        "a function".clone_into(&mut self.place);
        let mut out = String::new();
        let mut next = 0;
        while let Some((callee, name)) = self.functions.get(next).cloned() {
            next += 1;
            let Some(body) = callee.body() else {
                continue;
            };
            self.bound.clear();
            let mut params = Vec::new();
            for param in callee.params() {
                self.sorts.note(&param.sort);
                let own = self.bind(param, body);
                params.push(format!("{own}: {}", param.sort));
            }
            self.sorts.note(callee.result());
            // A call within the body names a function of the group of this one.
            let value = self.within(body, None, Some(&callee))?;
            let params = params.join(", ");
            writeln!(out, "fn {name}({params}): {} = {value}", callee.result())?;
        }
        self.bound.clear();
        Ok(out)
    }

    /// The name of a function, one of its own for each.
    fn function(&mut self, callee: &Callee) -> String {
        if let Some((_, name)) = self.functions.iter().find(|(c, _)| c == callee) {
            return name.clone();
        }
        let mut name = identifier(callee.name());
        let taken = |name: &str| {
            let called = self.functions.iter().any(|(_, n)| n == name);
            called || RESERVED.contains(&name) || self.names.is_taken(name)
        };
        while taken(&name) {
            name.push('_');
        }
        self.functions.push((callee.clone(), name.clone()));
        name
    }

    /// A name for a bound variable or a parameter of a function that nothing else in the term has.
    fn bind(&mut self, var: &Var, body: &Term) -> String {
        let others = body.free_vars();
        let others = others.iter().filter(|v| v.id != var.id);
        let taken: Vec<&str> = others.map(|v| self.name(v, None)).collect();
        let mut name = identifier(&var.name);
        let is_taken = |name: &str| {
            let bound = self.bound.iter().any(|(_, n)| n == name);
            let known = taken.contains(&name) || RESERVED.contains(&name);
            bound || known || self.names.is_taken(name)
        };
        while is_taken(&name) {
            name.push('_');
        }
        self.bound.push((var.id, name.clone()));
        name
    }

    fn name<'t>(&'t self, var: &Var, action: Option<GateId>) -> &'t str {
        let bound = self.bound.iter().rev().find(|(id, _)| *id == var.id);
        match bound {
            Some((_, name)) => name,
            None => self.names.of_var(var, action),
        }
    }

    fn term(&mut self, term: &Term, action: Option<GateId>) -> Result<String, WriteError> {
        self.within(term, action, None)
    }

    /// The same in the body of a function.
    fn within(
        &mut self,
        term: &Term,
        action: Option<GateId>,
        caller: Option<&Callee>,
    ) -> Result<String, WriteError> {
        let text = self.inner(term, action, caller)?;
        // The outermost parentheses are not needed where the whole is one operation.
        let whole = matches!(term.kind(), Kind::App(op, _) if infix(op).is_some());
        let bare = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
        Ok(match bare {
            Some(bare) if whole => bare.to_owned(),
            _ => text,
        })
    }

    fn inner(
        &mut self,
        term: &Term,
        action: Option<GateId>,
        caller: Option<&Callee>,
    ) -> Result<String, WriteError> {
        let (op, args) = match term.kind() {
            Kind::Var(v) => return Ok(self.name(v, action).to_owned()),
            Kind::Lit(value) => {
                self.sorts.note(term.sort());
                return Ok(literal(value));
            }
            Kind::App(op, args) => (op, args),
        };
        self.sorts.note(term.sort());
        if let Op::ForAll(x) | Op::ForSome(x) = op {
            let word = if matches!(op, Op::ForAll(_)) {
                "forall"
            } else {
                "exists"
            };
            let over = self.inner(&args[0], action, caller)?;
            let name = self.bind(x, &args[1]);
            let body = self.inner(&args[1], action, caller);
            self.bound.pop();
            return Ok(format!("({word} {name} in {over}: {})", body?));
        }
        if let Op::Exists(vars) = op {
            let over = finite_values(vars, LISTED).map_err(|reason| self.refused(term, reason))?;
            let before = self.bound.len();
            let mut out = String::new();
            for (var, values) in vars.iter().zip(over) {
                let values: Vec<String> = values.iter().map(literal).collect();
                let name = self.bind(var, &args[0]);
                write!(out, "exists {name} in [{}]: ", values.join(", "))?;
            }
            let body = self.inner(&args[0], action, caller);
            self.bound.truncate(before);
            return Ok(format!("({out}{})", body?));
        }
        let mut texts = Vec::new();
        for arg in args {
            texts.push(self.inner(arg, action, caller)?);
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
            Op::Slice | Op::Substring => call("slice"),
            Op::IndexOf => call("indexOf"),
            Op::Insert => call("insert"),
            Op::Put => call("put"),
            Op::Remove => call("remove"),
            Op::Keys => call("keys"),
            Op::Union => call("union"),
            Op::Intersection => call("intersection"),
            Op::Difference => call("difference"),
            Op::Units => call("units"),
            Op::Decimal => match term.sort() {
                Sort::Decimal(places) => Ok(format!("decimal({}, {places})", texts[0])),
                _ => Ok(texts.concat()),
            },
            Op::Set => Ok(format!("{{{}}}", texts.join(", "))),
            Op::Map => {
                let pairs = texts.chunks(2).map(|pair| pair.join(": "));
                Ok(format!("{{{}}}", pairs.collect::<Vec<_>>().join(", ")))
            }
            Op::Construct(_) | Op::Is(_) | Op::Get(..) => Ok(variant(op, term, args, &texts)),
            Op::Call(callee) => {
                let callee = match caller {
                    Some(caller) => callee.outside(caller),
                    None => callee.clone(),
                };
                call(&self.function(&callee))
            }
            Op::Matches(regex) => Ok(format!("matches({}, {})", texts[0], quote(regex.source()))),
            Op::Select | Op::At | Op::Lookup => Ok(format!("{}[{}]", texts[0], texts[1])),
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
            _ => Err(self.refused(term, "the language has no word for it".to_owned())),
        }
    }

    fn refused(&self, term: &Term, reason: String) -> WriteError {
        WriteError::Term {
            place: self.place.clone(),
            term: term.to_string(),
            reason,
            format: ".iol",
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
