//! Sorts, values and terms as JSON.
//!
//! A sort is `"bool"`, `"int"`, `"string"`, `{"range": [0, 7]}`, `{"array": sort}`, or the name of an
//! enumeration or record, declared at the top. A value is a Boolean, a number, `{"int": "…"}` beyond 64
//! bits, `{"text": "…"}`, `{"enum": ["Colour", "red"]}`, `{"array": [sort, values]}` or
//! `{"record": ["Point", values]}`. A term is a value, the name of a datum or parameter, or a list: the
//! operator, then its arguments.

use std::collections::BTreeMap;

use iolite_expr::{Int, Kind, Op, Sort, Span, Term, TypeError, Value, Var, VarId};
use iolite_sts::space;
use serde_json::{Value as Json, json};

/// Deeper terms are refused.
const DEEPEST: usize = 200;

/// The enumerations and records of a test case, by name.
#[derive(Default)]
pub(super) struct Sorts(BTreeMap<String, Sort>);

impl Sorts {
    /// Notes the named sorts within a sort.
    pub(super) fn note(&mut self, sort: &Sort) {
        match sort {
            Sort::Enum(e) => {
                self.0.insert(e.name.to_string(), sort.clone());
            }
            Sort::Record(r) => {
                for (_, field) in &r.fields {
                    self.note(field);
                }
                self.0.insert(r.name.to_string(), sort.clone());
            }
            Sort::Array(element) => self.note(element),
            // Test cases with variants are not stored: `is_storable`.
            Sort::Sum(_)
            | Sort::Member(_)
            | Sort::Bool
            | Sort::Int
            | Sort::String
            | Sort::Range(_) => {}
        }
    }

    /// Notes those of the variables and literals of a term.
    pub(super) fn note_term(&mut self, term: &Term) {
        self.note(term.sort());
        if let Kind::App(_, args) = term.kind() {
            for arg in args {
                self.note_term(arg);
            }
        }
    }

    /// All of them, those that others contain first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Sort> {
        let depth = |s: &&Sort| contained(s);
        let mut all: Vec<&Sort> = self.0.values().collect();
        all.sort_by_key(depth);
        all.into_iter()
    }

    pub(super) fn declare(&mut self, declared: &Json) -> Result<(), String> {
        let name = text(&declared["name"])?;
        let sort = match (declared.get("values"), declared.get("fields")) {
            (Some(values), None) => {
                let values = list(values)?
                    .iter()
                    .map(text)
                    .collect::<Result<Vec<_>, _>>()?;
                Sort::enumeration(name, &values)
            }
            (None, Some(fields)) => {
                let field = |f: &Json| {
                    let [name, sort] = pair(f)?;
                    Ok::<_, String>((text(name)?.into(), self.read(sort)?))
                };
                let fields: Result<Vec<_>, String> = list(fields)?.iter().map(field).collect();
                Sort::record(name, fields?)
            }
            _ => return Err(format!("sort {name} needs values or fields")),
        };
        let sort = sort.map_err(|e| e.to_string())?;
        if self.0.insert(name.to_owned(), sort).is_some() {
            return Err(format!("sort {name} is declared twice"));
        }
        Ok(())
    }

    pub(super) fn read(&self, json: &Json) -> Result<Sort, String> {
        if let Some(name) = json.as_str() {
            return match name {
                "bool" => Ok(Sort::Bool),
                "int" => Ok(Sort::Int),
                "string" => Ok(Sort::String),
                name => self.named(name),
            };
        }
        if let Some(range) = json.get("range") {
            let [lo, hi] = pair(range)?;
            return Sort::range(integer(lo)?, integer(hi)?).map_err(|e| e.to_string());
        }
        match json.get("array") {
            Some(element) => Sort::array(self.read(element)?).map_err(|e| e.to_string()),
            None => Err(format!("{json} is no sort")),
        }
    }

    fn named(&self, name: &str) -> Result<Sort, String> {
        let known = self.0.get(name).cloned();
        known.ok_or_else(|| format!("sort {name} is not declared"))
    }
}

fn contained(sort: &Sort) -> usize {
    match sort {
        Sort::Record(r) => {
            1 + r
                .fields
                .iter()
                .map(|(_, s)| contained(s))
                .max()
                .unwrap_or(0)
        }
        Sort::Array(element) => contained(element),
        _ => 0,
    }
}

/// The declaration of an enumeration or record.
pub(super) fn declaration(sort: &Sort) -> Json {
    match sort {
        Sort::Enum(e) => json!({ "name": *e.name, "values": e.variants }),
        Sort::Record(r) => {
            let fields: Vec<Json> = r
                .fields
                .iter()
                .map(|(n, s)| json!([n, write_sort(s)]))
                .collect();
            json!({ "name": *r.name, "fields": fields })
        }
        _ => Json::Null,
    }
}

pub(super) fn write_sort(sort: &Sort) -> Json {
    match sort {
        Sort::Bool => "bool".into(),
        Sort::Int => "int".into(),
        Sort::String => "string".into(),
        Sort::Range(r) => json!({ "range": [write_int(&r.lo), write_int(&r.hi)] }),
        Sort::Array(element) => json!({ "array": write_sort(element) }),
        Sort::Enum(e) => (*e.name).into(),
        Sort::Record(r) => (*r.name).into(),
        Sort::Sum(_) | Sort::Member(_) => Json::Null,
    }
}

fn write_int(n: &Int) -> Json {
    match n.to_i64() {
        Some(small) => small.into(),
        None => json!({ "int": n.to_string() }),
    }
}

fn write_value(value: &Value, sort: &Sort) -> Json {
    match value {
        Value::Bool(b) => (*b).into(),
        Value::Int(n) => write_int(n),
        Value::Str(s) => json!({ "text": **s }),
        Value::Enum(e, i) => json!({ "enum": [*e.name, *e.variants[*i as usize]] }),
        Value::Array(items) => {
            let element = match sort {
                Sort::Array(element) => (**element).clone(),
                _ => Sort::Int,
            };
            let items: Vec<Json> = items.iter().map(|v| write_value(v, &element)).collect();
            json!({ "array": [write_sort(sort), items] })
        }
        Value::Record(r, fields) => {
            let sorts = r.fields.iter().map(|(_, s)| s);
            let fields: Vec<Json> = fields
                .iter()
                .zip(sorts)
                .map(|(v, s)| write_value(v, s))
                .collect();
            json!({ "record": [*r.name, fields] })
        }
        Value::Sum(_) => Json::Null,
    }
}

/// The operators that have no more than arguments.
const OPERATORS: [(&str, Op); 31] = [
    ("not", Op::Not),
    ("and", Op::And),
    ("or", Op::Or),
    ("=>", Op::Implies),
    ("if", Op::Ite),
    ("==", Op::Eq),
    ("!=", Op::Ne),
    ("<", Op::Lt),
    ("<=", Op::Le),
    (">", Op::Gt),
    (">=", Op::Ge),
    ("neg", Op::Neg),
    ("+", Op::Add),
    ("-", Op::Sub),
    ("*", Op::Mul),
    ("/", Op::Div),
    ("%", Op::Mod),
    ("abs", Op::Abs),
    ("concat", Op::Concat),
    ("str-len", Op::StrLen),
    ("prefix", Op::Prefix),
    ("suffix", Op::Suffix),
    ("contains", Op::Contains),
    ("select", Op::Select),
    ("store", Op::Store),
    ("len", Op::Len),
    ("append", Op::Append),
    ("slice", Op::Slice),
    ("at", Op::At),
    ("substring", Op::Substring),
    ("index-of", Op::IndexOf),
];

/// A term. Variables are named.
pub(super) fn write(term: &Term) -> Json {
    match term.kind() {
        Kind::Var(v) => (*v.name).into(),
        Kind::Lit(value) => match (value, term.sort()) {
            (Value::Int(n), Sort::Range(_)) => {
                json!(["narrow", write_sort(term.sort()), write_int(n)])
            }
            (value, sort) => write_value(value, sort),
        },
        Kind::App(op, args) => {
            let mut all: Vec<Json> = match op {
                Op::Narrow => vec!["narrow".into(), write_sort(term.sort())],
                Op::Array => vec!["array".into(), write_sort(term.sort())],
                Op::Record => vec!["record".into(), write_sort(term.sort())],
                Op::Field(i) => vec!["field".into(), (*i).into()],
                Op::Update(i) => vec!["update".into(), (*i).into()],
                Op::Matches(regex) => vec!["matches".into(), regex.source().into()],
                Op::Exists(vars) => {
                    let vars = vars.iter().map(|v| json!([*v.name, write_sort(&v.sort)]));
                    vec!["exists".into(), Json::Array(vars.collect())]
                }
                op => {
                    let name = OPERATORS.iter().find(|(_, o)| o == op);
                    vec![name.map_or("?", |(name, _)| *name).into()]
                }
            };
            all.extend(args.iter().map(write));
            Json::Array(all)
        }
    }
}

/// Whether a sort has a form in test cases: variants have none.
pub(super) fn is_storable_sort(sort: &Sort) -> bool {
    match sort {
        Sort::Array(element) => is_storable_sort(element),
        Sort::Record(r) => r.fields.iter().all(|(_, field)| is_storable_sort(field)),
        Sort::Sum(_) | Sort::Member(_) => false,
        Sort::Bool | Sort::Int | Sort::Range(_) | Sort::String | Sort::Enum(_) => true,
    }
}

/// Whether a term has a form in test cases: variants, functions that call themselves and quantifiers over
/// arrays have none.
pub(super) fn is_storable(term: &Term) -> bool {
    let own = match term.kind() {
        Kind::App(op, args) => {
            let within = !matches!(
                op,
                Op::Construct(_)
                    | Op::Is(_)
                    | Op::Get(..)
                    | Op::Call(_)
                    | Op::ForAll(_)
                    | Op::ForSome(_)
            );
            within && args.iter().all(is_storable)
        }
        Kind::Var(_) | Kind::Lit(_) => true,
    };
    own && is_storable_sort(term.sort())
}

/// Whether a term can be written and read again: quantifiers bind variables that have no name of
/// their own.
pub(super) fn is_quantified(term: &Term) -> bool {
    match term.kind() {
        Kind::App(Op::Exists(_), _) => true,
        Kind::App(_, args) => args.iter().any(is_quantified),
        _ => false,
    }
}

/// Reads terms over the variables of a scope.
pub(super) struct Reader<'a> {
    pub(super) sorts: &'a Sorts,
    pub(super) scope: BTreeMap<&'a str, &'a Var>,
}

impl Reader<'_> {
    pub(super) fn term(&self, json: &Json) -> Result<Term, String> {
        self.at_depth(json, 0)
    }

    fn at_depth(&self, json: &Json, depth: usize) -> Result<Term, String> {
        if depth > DEEPEST {
            return Err("the term is too deep".to_owned());
        }
        if let Some(name) = json.as_str() {
            let var = self.scope.get(name);
            return match var {
                Some(var) => Ok(var.term()),
                None => Err(format!("{name} is not declared")),
            };
        }
        let Some(parts) = json.as_array() else {
            return self.value(json);
        };
        let Some((Json::String(op), rest)) = parts.split_first() else {
            return Err(format!("{json} does not begin with an operator"));
        };
        let terms = |all: &[Json]| {
            let terms = all.iter().map(|a| self.at_depth(a, depth + 1));
            terms.collect::<Result<Vec<Term>, String>>()
        };
        let nowhere = Span::NONE;
        let typed = match (op.as_str(), rest) {
            ("narrow", [sort, arg]) => {
                let sort = self.sorts.read(sort)?;
                let arg = self.at_depth(arg, depth + 1)?;
                if !matches!(sort, Sort::Range(_)) {
                    return Err("only integers are narrowed, to a range".to_owned());
                }
                narrowed(arg, &sort)?
            }
            ("array", [sort, items @ ..]) => {
                Term::array(&self.sorts.read(sort)?, terms(items)?, nowhere)
            }
            ("record", [sort, fields @ ..]) => {
                Term::record(&self.sorts.read(sort)?, terms(fields)?, nowhere)
            }
            ("field", [Json::Number(i), record]) => {
                let i = index(i)?;
                Term::apply(
                    Op::Field(i),
                    vec![self.at_depth(record, depth + 1)?],
                    nowhere,
                )
            }
            ("update", [Json::Number(i), args @ ..]) => {
                Term::apply(Op::Update(index(i)?), terms(args)?, nowhere)
            }
            ("matches", [Json::String(pattern), arg]) => {
                Term::matches(self.at_depth(arg, depth + 1)?, pattern, nowhere)
            }
            (name, args) => {
                let known = OPERATORS.iter().find(|(n, _)| *n == name);
                let Some((_, op)) = known else {
                    return Err(format!("{name} is no operator"));
                };
                Term::apply(op.clone(), terms(args)?, nowhere)
            }
        };
        typed.map_err(|e| e.to_string())
    }

    fn value(&self, json: &Json) -> Result<Term, String> {
        match json {
            Json::Bool(b) => Ok((*b).into()),
            Json::Number(_) => Ok(integer(json)?.into()),
            Json::Object(_) => {
                let (value, sort) = self.object(json, 0)?;
                Term::literal(value, &sort, Span::NONE).map_err(|e| e.to_string())
            }
            other => Err(format!("{other} is no term")),
        }
    }

    fn object(&self, json: &Json, depth: usize) -> Result<(Value, Sort), String> {
        if depth > DEEPEST {
            return Err("the value is too deep".to_owned());
        }
        if let Some(b) = json.as_bool() {
            return Ok((b.into(), Sort::Bool));
        }
        if json.is_number() || json.get("int").is_some() {
            return Ok((Value::int(integer(json)?), Sort::Int));
        }
        if let Some(s) = json.get("text") {
            return Ok((text(s)?.into(), Sort::String));
        }
        if let Some(named) = json.get("enum") {
            let [sort, name] = pair(named)?;
            let sort = self.sorts.named(text(sort)?)?;
            let value = Value::variant(&sort, text(name)?);
            let value = value.ok_or_else(|| format!("{name} is no value of {sort}"))?;
            return Ok((value, sort));
        }
        let items = |items: &Json| {
            let items = list(items)?.iter().map(|v| self.object(v, depth + 1));
            let values = items.map(|item| item.map(|(value, _)| value));
            values.collect::<Result<Vec<Value>, String>>()
        };
        if let Some(array) = json.get("array") {
            let [sort, values] = pair(array)?;
            return Ok((Value::array(items(values)?), self.sorts.read(sort)?));
        }
        if let Some(record) = json.get("record") {
            let [sort, values] = pair(record)?;
            let sort = self.sorts.named(text(sort)?)?;
            let value = Value::record(&sort, items(values)?);
            let value = value.ok_or_else(|| format!("no record of sort {sort}"))?;
            return Ok((value, sort));
        }
        Err(format!("{json} is no value"))
    }
}

/// An integer as one of a range. A number that does not fit has no value, and is no mistake: where it
/// stands is never reached.
fn narrowed(arg: Term, sort: &Sort) -> Result<Result<Term, TypeError>, String> {
    let wrong = |e: &dyn std::fmt::Display| e.to_string();
    match arg.as_value() {
        Some(value) if !sort.contains(value) => {
            let any = Var::new(VarId::new(space::UNKNOWN, 0), "any", Sort::Int);
            let narrow = any.term().coerce(sort).map_err(|e| wrong(&e))?;
            let map = [(any.id, arg.clone())].into_iter().collect();
            narrow.substitute(&map).map(Ok).map_err(|e| wrong(&e))
        }
        _ => Ok(arg.coerce(sort)),
    }
}

pub(super) fn text(json: &Json) -> Result<&str, String> {
    json.as_str().ok_or_else(|| format!("{json} is no text"))
}

fn list(json: &Json) -> Result<&Vec<Json>, String> {
    json.as_array().ok_or_else(|| format!("{json} is no list"))
}

pub(super) fn pair(json: &Json) -> Result<&[Json; 2], String> {
    let two = json
        .as_array()
        .and_then(|all| all.as_slice().try_into().ok());
    two.ok_or_else(|| format!("{json} is no pair"))
}

fn index(n: &serde_json::Number) -> Result<u32, String> {
    let small = n.as_u64().and_then(|n| u32::try_from(n).ok());
    small.ok_or_else(|| format!("{n} is no index"))
}

/// Digits of a number that is read.
const DIGITS: usize = 10_000;

fn integer(json: &Json) -> Result<Int, String> {
    if let Some(n) = json.as_i64() {
        return Ok(n.into());
    }
    let digits = json.get("int").and_then(Json::as_str);
    let digits = digits.filter(|d| d.len() <= DIGITS);
    let number = digits.and_then(|d| d.parse().ok());
    number.ok_or_else(|| format!("{json} is no integer"))
}
