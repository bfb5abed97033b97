//! Values and terms as JSON.
//!
//! A value is a Boolean, a number, `{"int": "…"}` beyond 64 bits, `{"text": "…"}`, `{"decimal": ["12.50", 2]}`,
//! `{"enum": ["Colour", "red"]}`, `{"array": [sort, values]}`, `{"set": [sort, values]}`,
//! `{"map": [sort, pairs]}`, `{"record": ["Point", values]}` or `{"sum": ["List", "Cons", values]}`. A term is
//! a value, the name of a datum or parameter, or a list: the operator, then its arguments.

use std::collections::BTreeMap;

use iolite_expr::{Kind, Op, Sort, Span, SumSort, Term, TypeError, Value, Var, VarId};
use iolite_sts::space;
use serde_json::{Value as Json, json};

use super::function::Functions;
use super::sort::{Sorts, integer, write_int, write_sort};

/// Deeper terms are refused.
const DEEPEST: usize = 200;

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
        Value::Decimal(_, places) => json!({ "decimal": [value.to_string(), places] }),
        Value::Set(items) => {
            let element = match sort {
                Sort::Set(element) => (**element).clone(),
                _ => Sort::Int,
            };
            let items: Vec<Json> = items.iter().map(|v| write_value(v, &element)).collect();
            json!({ "set": [write_sort(sort), items] })
        }
        Value::Map(pairs) => {
            let (key, held) = match sort {
                Sort::Map(m) => (m.0.clone(), m.1.clone()),
                _ => (Sort::Int, Sort::Int),
            };
            let pairs: Vec<Json> = pairs
                .iter()
                .map(|(k, v)| json!([write_value(k, &key), write_value(v, &held)]))
                .collect();
            json!({ "map": [write_sort(sort), pairs] })
        }
        Value::Sum(sum) => {
            let sorts = sum.sort().field_sorts(sum.variant());
            let fields = sum.fields().iter().zip(&sorts);
            let fields: Vec<Json> = fields.map(|(v, s)| write_value(v, s)).collect();
            json!({ "sum": [sum.sort().name(), sum.variant_name(), fields] })
        }
    }
}

/// The operators that have no more than arguments.
const OPERATORS: [(&str, Op); 41] = [
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
    ("units", Op::Units),
    ("in", Op::Has),
    ("insert", Op::Insert),
    ("put", Op::Put),
    ("remove", Op::Remove),
    ("lookup", Op::Lookup),
    ("keys", Op::Keys),
    ("union", Op::Union),
    ("intersection", Op::Intersection),
    ("difference", Op::Difference),
];

/// Writes terms. Variables are named.
pub(super) struct Writer<'a> {
    functions: &'a Functions,
    /// The group of functions in whose bodies the terms stand.
    group: Option<usize>,
    /// The variables that quantifiers bind here, with names that nothing else has.
    bound: Vec<(VarId, String)>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(functions: &'a Functions) -> Self {
        Self {
            functions,
            group: None,
            bound: Vec::new(),
        }
    }

    pub(super) fn within(functions: &'a Functions, group: usize) -> Self {
        Self {
            group: Some(group),
            ..Self::new(functions)
        }
    }

    pub(super) fn write(&mut self, term: &Term) -> Json {
        let (op, args) = match term.kind() {
            Kind::Var(v) => return self.name(v).into(),
            Kind::Lit(value) => {
                return match (value, term.sort()) {
                    (Value::Int(n), Sort::Range(_)) => {
                        json!(["narrow", write_sort(term.sort()), write_int(n)])
                    }
                    (value, sort) => write_value(value, sort),
                };
            }
            Kind::App(op, args) => (op, args),
        };
        let mut all: Vec<Json> = match op {
            Op::Narrow => vec!["narrow".into(), write_sort(term.sort())],
            Op::Array => vec!["array".into(), write_sort(term.sort())],
            Op::Set => vec!["set".into(), write_sort(term.sort())],
            Op::Map => vec!["map".into(), write_sort(term.sort())],
            Op::Record => vec!["record".into(), write_sort(term.sort())],
            Op::Decimal => {
                let places = match term.sort() {
                    Sort::Decimal(places) => *places,
                    _ => 0,
                };
                vec!["decimal".into(), places.into()]
            }
            Op::Field(i) => vec!["field".into(), (*i).into()],
            Op::Update(i) => vec!["update".into(), (*i).into()],
            Op::Construct(v) => {
                let variant = variant_name(term.sort(), *v);
                vec!["construct".into(), write_sort(term.sort()), variant]
            }
            Op::Is(v) => vec!["is".into(), variant_name(args[0].sort(), *v)],
            Op::Get(v, field) => {
                let variant = variant_name(args[0].sort(), *v);
                vec!["get".into(), variant, (*field).into()]
            }
            Op::Call(callee) => {
                let group = self.functions.group(callee).or(self.group);
                vec!["call".into(), group.into(), callee.name().into()]
            }
            Op::Matches(regex) => vec!["matches".into(), regex.source().into()],
            Op::ForAll(x) | Op::ForSome(x) => {
                let word = if matches!(op, Op::ForAll(_)) {
                    "for-all"
                } else {
                    "for-some"
                };
                let over = self.write(&args[0]);
                let name = self.bound_name(x, &args[1]);
                self.bound.push((x.id, name.clone()));
                let body = self.write(&args[1]);
                self.bound.pop();
                return json!([word, [name, write_sort(&x.sort)], over, body]);
            }
            Op::Exists(vars) => {
                let before = self.bound.len();
                let mut told = Vec::new();
                for v in vars.iter() {
                    let name = self.bound_name(v, &args[0]);
                    told.push(json!([name, write_sort(&v.sort)]));
                    self.bound.push((v.id, name));
                }
                let body = self.write(&args[0]);
                self.bound.truncate(before);
                return json!(["exists", told, body]);
            }
            op => {
                let name = OPERATORS.iter().find(|(_, o)| o == op);
                vec![name.map_or("?", |(name, _)| *name).into()]
            }
        };
        all.extend(args.iter().map(|arg| self.write(arg)));
        Json::Array(all)
    }

    fn name(&self, var: &Var) -> String {
        let bound = self.bound.iter().rev().find(|(id, _)| *id == var.id);
        bound.map_or_else(|| var.name.to_string(), |(_, name)| name.clone())
    }

    /// A name for a bound variable that nothing else in the body has: what was substituted into it may have
    /// brought a datum of the same name.
    fn bound_name(&self, var: &Var, body: &Term) -> String {
        let others = body.free_vars();
        let others = others.iter().filter(|v| v.id != var.id);
        // Those that the same quantifier binds beside it are among the others.
        let taken: Vec<String> = others.map(|v| self.name(v)).collect();
        let mut name = var.name.to_string();
        while taken.contains(&name) {
            name.push('\'');
        }
        name
    }
}

fn variant_name(sort: &Sort, variant: u32) -> Json {
    let name = match sort {
        Sort::Sum(s) => s.variant(variant).map(|v| (*v.name).into()),
        _ => None,
    };
    name.unwrap_or(Json::Null)
}

/// Whether elimination left a quantifier over all values of a sort in a term.
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
    pub(super) functions: &'a Functions,
    pub(super) scope: BTreeMap<&'a str, &'a Var>,
}

/// The variables that quantifiers bind around a term, the innermost last.
type Bound = Vec<Var>;

impl Reader<'_> {
    pub(super) fn term(&self, json: &Json) -> Result<Term, String> {
        self.at_depth(json, 0, &mut Vec::new())
    }

    fn at_depth(&self, json: &Json, depth: usize, bound: &mut Bound) -> Result<Term, String> {
        if depth > DEEPEST {
            return Err("the term is too deep".to_owned());
        }
        if let Some(name) = json.as_str() {
            let own = bound.iter().rev().find(|v| *v.name == *name);
            return match own.or_else(|| self.scope.get(name).copied()) {
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
        let nowhere = Span::NONE;
        if let ("for-all" | "for-some", [var, over, body]) = (op.as_str(), rest) {
            let over = self.at_depth(over, depth + 1, bound)?;
            let [name, sort] = pair(var)?;
            let id = VarId::new(VarId::BOUND_SPACE, bound.len());
            let var = Var::new(id, text(name)?, self.sorts.read(sort)?);
            bound.push(var.clone());
            let body = self.at_depth(body, depth + 1, bound);
            bound.pop();
            let op = match op.as_str() {
                "for-all" => Op::ForAll(var),
                _ => Op::ForSome(var),
            };
            return Term::apply(op, vec![over, body?], nowhere).map_err(|e| e.to_string());
        }
        if let ("exists", [Json::Array(vars), body]) = (op.as_str(), rest) {
            let before = bound.len();
            for var in vars {
                let [name, sort] = pair(var)?;
                let id = VarId::new(VarId::BOUND_SPACE, bound.len());
                bound.push(Var::new(id, text(name)?, self.sorts.read(sort)?));
            }
            let body = self.at_depth(body, depth + 1, bound);
            let vars = bound.split_off(before);
            return match body? {
                body if *body.sort() == Sort::Bool => Ok(Term::exists(vars, body)),
                body => Err(format!("{body} is no condition")),
            };
        }
        let mut terms = |all: &[Json]| {
            let terms = all.iter().map(|a| self.at_depth(a, depth + 1, bound));
            terms.collect::<Result<Vec<Term>, String>>()
        };
        let typed = match (op.as_str(), rest) {
            ("narrow", [sort, arg]) => {
                let sort = self.sorts.read(sort)?;
                let arg = self.at_depth(arg, depth + 1, bound)?;
                if !matches!(sort, Sort::Range(_)) {
                    return Err("only integers are narrowed, to a range".to_owned());
                }
                narrowed(arg, &sort)?
            }
            ("array", [sort, items @ ..]) => {
                Term::array(&self.sorts.read(sort)?, terms(items)?, nowhere)
            }
            ("set", [sort, items @ ..]) => {
                Term::set(&self.sorts.read(sort)?, terms(items)?, nowhere)
            }
            ("map", [sort, items @ ..]) => {
                let items = terms(items)?;
                if items.len() % 2 != 0 {
                    return Err("a key of a map has no value".to_owned());
                }
                let pairs = items.chunks(2).map(|p| (p[0].clone(), p[1].clone()));
                Term::map(&self.sorts.read(sort)?, pairs.collect(), nowhere)
            }
            ("record", [sort, fields @ ..]) => {
                Term::record(&self.sorts.read(sort)?, terms(fields)?, nowhere)
            }
            ("decimal", [places, arg]) => {
                let sort = self.sorts.read(&json!({ "decimal": places }))?;
                let Sort::Decimal(places) = sort else {
                    return Err(format!("{places} is no number of places"));
                };
                let arg = self.at_depth(arg, depth + 1, bound)?;
                Term::of_units(arg, places, nowhere)
            }
            ("construct", [sort, variant, fields @ ..]) => {
                let sum = self.sum(sort)?;
                let variant = variant_index(&sum, text(variant)?)?;
                Term::construct(&sum, variant, terms(fields)?, nowhere)
            }
            ("is", [variant, arg]) => {
                let arg = self.at_depth(arg, depth + 1, bound)?;
                let variant = variant_of(&arg, variant)?;
                Term::apply(Op::Is(variant), vec![arg], nowhere)
            }
            ("get", [variant, Json::Number(field), arg]) => {
                let arg = self.at_depth(arg, depth + 1, bound)?;
                let variant = variant_of(&arg, variant)?;
                Term::apply(Op::Get(variant, index(field)?), vec![arg], nowhere)
            }
            ("call", [Json::Number(group), name, args @ ..]) => {
                let callee = self.functions.named(index(group)?, text(name)?)?;
                Term::call(&callee, terms(args)?, nowhere)
            }
            ("field", [Json::Number(i), record]) => {
                let record = self.at_depth(record, depth + 1, bound)?;
                Term::apply(Op::Field(index(i)?), vec![record], nowhere)
            }
            ("update", [Json::Number(i), args @ ..]) => {
                Term::apply(Op::Update(index(i)?), terms(args)?, nowhere)
            }
            ("matches", [Json::String(pattern), arg]) => {
                Term::matches(self.at_depth(arg, depth + 1, bound)?, pattern, nowhere)
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

    fn sum(&self, sort: &Json) -> Result<SumSort, String> {
        match self.sorts.read(sort)? {
            Sort::Sum(sum) => Ok(sum),
            sort => Err(format!("{sort} has no variants")),
        }
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
        if let Some(decimal) = json.get("decimal") {
            let [shown, places] = pair(decimal)?;
            let sort = self.sorts.read(&json!({ "decimal": places }))?;
            let value = match sort {
                Sort::Decimal(places) => Value::decimal(text(shown)?, places),
                _ => None,
            };
            let value = value.ok_or_else(|| format!("{shown} is no value of {sort}"))?;
            return Ok((value, sort));
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
        if let Some(set) = json.get("set") {
            let [sort, values] = pair(set)?;
            return Ok((Value::set(items(values)?), self.sorts.read(sort)?));
        }
        if let Some(map) = json.get("map") {
            let [sort, pairs] = pair(map)?;
            let entry = |entry: &Json| match <[Value; 2]>::try_from(items(entry)?) {
                Ok([key, value]) => Ok((key, value)),
                Err(_) => Err(format!("{entry} is no pair")),
            };
            let pairs: Result<Vec<_>, String> = list(pairs)?.iter().map(entry).collect();
            return Ok((Value::map(pairs?), self.sorts.read(sort)?));
        }
        if let Some(sum) = json.get("sum") {
            let [sort, variant, fields] = list(sum)?.as_slice() else {
                return Err(format!("{sum} is no [sort, variant, fields]"));
            };
            let sum = self.sum(sort)?;
            let variant = variant_index(&sum, text(variant)?)?;
            let value = Value::sum(&sum, variant, items(fields)?);
            let value = value.ok_or_else(|| format!("{fields} are no fields of {}", sum.name()))?;
            return Ok((value, Sort::Sum(sum)));
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

pub(super) fn list(json: &Json) -> Result<&Vec<Json>, String> {
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

fn variant_index(sum: &SumSort, name: &str) -> Result<u32, String> {
    let index = sum.variant_index(name);
    index.ok_or_else(|| format!("{name} is no variant of {}", sum.name()))
}

/// The number of the variant of this name that a term may be of.
fn variant_of(term: &Term, name: &Json) -> Result<u32, String> {
    match term.sort() {
        Sort::Sum(sum) => variant_index(sum, text(name)?),
        sort => Err(format!("{sort} has no variants")),
    }
}
