//! Sorts as JSON.
//!
//! A sort is `"bool"`, `"int"`, `"string"`, `{"range": [0, 7]}`, `{"decimal": 2}`, `{"array": sort}`,
//! `{"set": sort}`, `{"map": [sort, sort]}`, or the name of an enumeration, a record or a sort with variants,
//! declared at the top. Sorts with variants that contain one another are declared together; among their fields
//! `{"member": 0}` is the first of them, and a record with such a field is written out as `{"record": [name, fields]}`.

use std::collections::BTreeMap;

use iolite_expr::{Int, Kind, MAX_SCALE, Sort, SumDeclaration, Term, Variant};
use serde_json::{Value as Json, json};

use super::term::{list, pair, text};

/// The named sorts of a test case.
#[derive(Default)]
pub(super) struct Sorts {
    named: BTreeMap<String, Sort>,
    /// A name that means two sorts, in models of different files.
    ambiguous: Option<String>,
}

impl Sorts {
    /// Notes the named sorts within a sort.
    pub(super) fn note(&mut self, sort: &Sort) {
        match sort {
            Sort::Enum(e) => {
                self.note_named(&e.name, sort);
            }
            Sort::Record(r) => {
                if self.note_named(&r.name, sort) {
                    for (_, field) in &r.fields {
                        self.note(field);
                    }
                }
            }
            Sort::Sum(s) => {
                // A sort that contains itself is met again among its fields.
                if !self.note_named(s.name(), sort) {
                    return;
                }
                let (group, _) = s.group();
                for sum in Sort::sums(group.to_vec()).unwrap_or_default() {
                    self.note(&sum);
                }
                for variant in 0..s.variants().len() as u32 {
                    for field in s.field_sorts(variant) {
                        self.note(&field);
                    }
                }
            }
            Sort::Array(element) | Sort::Set(element) => self.note(element),
            Sort::Map(m) => {
                self.note(&m.0);
                self.note(&m.1);
            }
            Sort::Decimal(_)
            | Sort::Member(_)
            | Sort::Bool
            | Sort::Int
            | Sort::String
            | Sort::Range(_) => {}
        }
    }

    /// Whether the sort was not known before.
    fn note_named(&mut self, name: &str, sort: &Sort) -> bool {
        let Some(known) = self.named.get(name) else {
            self.named.insert(name.to_owned(), sort.clone());
            return true;
        };
        if known != sort {
            self.ambiguous = Some(name.to_owned());
        }
        false
    }

    /// A name that means two sorts: what refers to it could not be read again.
    pub(super) fn ambiguous(&self) -> Option<&str> {
        self.ambiguous.as_deref()
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
        let mut all: Vec<&Sort> = self.named.values().collect();
        all.sort_by_key(depth);
        all.into_iter()
    }

    /// Their declarations.
    pub(super) fn declarations(&self) -> Vec<Json> {
        self.iter().filter_map(declaration).collect()
    }

    pub(super) fn declare(&mut self, declared: &Json) -> Result<(), String> {
        if let Some(sums) = declared.get("sums") {
            return self.declare_sums(list(sums)?);
        }
        let name = text(&declared["name"])?;
        let sort = match (declared.get("values"), declared.get("fields")) {
            (Some(values), None) => {
                let values = list(values)?
                    .iter()
                    .map(text)
                    .collect::<Result<Vec<_>, _>>()?;
                Sort::enumeration(name, &values)
            }
            (None, Some(fields)) => Sort::record(name, self.fields(list(fields)?, 0)?),
            _ => return Err(format!("sort {name} needs values or fields")),
        };
        self.add(name, sort.map_err(|e| e.to_string())?)
    }

    /// Sorts with variants that may contain one another.
    fn declare_sums(&mut self, sums: &[Json]) -> Result<(), String> {
        let members = sums.len();
        let declaration = |sum: &Json| {
            let variant = |v: &Json| {
                let Some((name, fields)) = list(v)?.split_first() else {
                    return Err("a variant is [name, fields…]".to_owned());
                };
                Ok(Variant {
                    name: text(name)?.into(),
                    fields: self.fields(fields, members)?,
                })
            };
            let variants: Result<Vec<Variant>, String> =
                list(&sum["variants"])?.iter().map(variant).collect();
            Ok(SumDeclaration {
                name: text(&sum["name"])?.into(),
                variants: variants?,
            })
        };
        let group: Result<Vec<SumDeclaration>, String> = sums.iter().map(declaration).collect();
        for sort in Sort::sums(group?).map_err(|e| e.to_string())? {
            self.add(&sort.to_string(), sort)?;
        }
        Ok(())
    }

    fn add(&mut self, name: &str, sort: Sort) -> Result<(), String> {
        match self.named.insert(name.to_owned(), sort) {
            Some(_) => Err(format!("sort {name} is declared twice")),
            None => Ok(()),
        }
    }

    fn fields(&self, fields: &[Json], members: usize) -> Result<Vec<(Box<str>, Sort)>, String> {
        let field = |f: &Json| {
            let [name, sort] = pair(f)?;
            Ok((text(name)?.into(), self.read_among(sort, members)?))
        };
        fields.iter().map(field).collect()
    }

    pub(super) fn read(&self, json: &Json) -> Result<Sort, String> {
        self.read_among(json, 0)
    }

    /// A sort among the fields of so many sorts with variants.
    fn read_among(&self, json: &Json, members: usize) -> Result<Sort, String> {
        if let Some(name) = json.as_str() {
            return match name {
                "bool" => Ok(Sort::Bool),
                "int" => Ok(Sort::Int),
                "string" => Ok(Sort::String),
                name => self.named(name),
            };
        }
        let inner = |sort: &Json| self.read_among(sort, members);
        let parts = json.as_object().filter(|parts| parts.len() == 1);
        let Some((kind, of)) = parts.and_then(|parts| parts.iter().next()) else {
            return Err(format!("{json} is no sort"));
        };
        let sort = match kind.as_str() {
            "range" => {
                let [lo, hi] = pair(of)?;
                Sort::range(integer(lo)?, integer(hi)?)
            }
            "decimal" => {
                let places = of.as_u64().and_then(|n| u8::try_from(n).ok());
                let places = places.filter(|n| (1..=MAX_SCALE).contains(n));
                return match places {
                    Some(places) => Ok(Sort::Decimal(places)),
                    None => Err(format!("{of} is no number of places")),
                };
            }
            "array" => Sort::array(inner(of)?),
            "set" => Sort::set(inner(of)?),
            "map" => {
                let [key, value] = pair(of)?;
                Sort::map(inner(key)?, inner(value)?)
            }
            "member" => {
                let index = of.as_u64().filter(|i| *i < members as u64);
                let index = index.and_then(|i| u32::try_from(i).ok());
                return match index {
                    Some(index) => Ok(Sort::Member(index)),
                    None => Err(format!("{of} is none of the sorts that are declared here")),
                };
            }
            "record" if members > 0 => {
                let [name, fields] = pair(of)?;
                Sort::record(text(name)?, self.fields(list(fields)?, members)?)
            }
            _ => return Err(format!("{json} is no sort")),
        };
        sort.map_err(|e| e.to_string())
    }

    pub(super) fn named(&self, name: &str) -> Result<Sort, String> {
        let known = self.named.get(name).cloned();
        known.ok_or_else(|| format!("sort {name} is not declared"))
    }
}

/// How deep named sorts nest in it.
fn contained(sort: &Sort) -> usize {
    let deepest = |fields: &[(Box<str>, Sort)]| {
        let depths = fields.iter().map(|(_, s)| contained(s));
        depths.max().unwrap_or(0)
    };
    match sort {
        Sort::Record(r) => 1 + deepest(&r.fields),
        Sort::Sum(s) => {
            let variants = s.group().0.iter().flat_map(|sum| &sum.variants);
            1 + variants.map(|v| deepest(&v.fields)).max().unwrap_or(0)
        }
        Sort::Array(element) | Sort::Set(element) => contained(element),
        Sort::Map(m) => contained(&m.0).max(contained(&m.1)),
        _ => 0,
    }
}

/// The declaration of a named sort. Sorts with variants are declared with the first of their group.
fn declaration(sort: &Sort) -> Option<Json> {
    match sort {
        Sort::Enum(e) => Some(json!({ "name": *e.name, "values": e.variants })),
        Sort::Record(r) => Some(json!({ "name": *r.name, "fields": write_fields(&r.fields) })),
        Sort::Sum(s) => {
            let (group, index) = s.group();
            let sum = |sum: &SumDeclaration| {
                let variant = |v: &Variant| {
                    let mut all: Vec<Json> = vec![(*v.name).into()];
                    all.extend(write_fields(&v.fields));
                    Json::Array(all)
                };
                let variants: Vec<Json> = sum.variants.iter().map(variant).collect();
                json!({ "name": *sum.name, "variants": variants })
            };
            let sums: Vec<Json> = group.iter().map(sum).collect();
            (index == 0).then(|| json!({ "sums": sums }))
        }
        _ => None,
    }
}

fn write_fields(fields: &[(Box<str>, Sort)]) -> Vec<Json> {
    let field = |(name, sort): &(Box<str>, Sort)| json!([name, write_sort(sort)]);
    fields.iter().map(field).collect()
}

pub(super) fn write_sort(sort: &Sort) -> Json {
    match sort {
        Sort::Bool => "bool".into(),
        Sort::Int => "int".into(),
        Sort::String => "string".into(),
        Sort::Range(r) => json!({ "range": [write_int(&r.lo), write_int(&r.hi)] }),
        Sort::Decimal(places) => json!({ "decimal": places }),
        Sort::Array(element) => json!({ "array": write_sort(element) }),
        Sort::Set(element) => json!({ "set": write_sort(element) }),
        Sort::Map(m) => json!({ "map": [write_sort(&m.0), write_sort(&m.1)] }),
        Sort::Enum(e) => (*e.name).into(),
        Sort::Record(r) if sort.is_open() => {
            json!({ "record": [*r.name, write_fields(&r.fields)] })
        }
        Sort::Record(r) => (*r.name).into(),
        Sort::Sum(s) => s.name().into(),
        Sort::Member(index) => json!({ "member": index }),
    }
}

pub(super) fn write_int(n: &Int) -> Json {
    match n.to_i64() {
        Some(small) => small.into(),
        None => json!({ "int": n.to_string() }),
    }
}

/// Digits of a number that is read.
const DIGITS: usize = 10_000;

pub(super) fn integer(json: &Json) -> Result<Int, String> {
    if let Some(n) = json.as_i64() {
        return Ok(n.into());
    }
    let digits = json.get("int").and_then(Json::as_str);
    let digits = digits.filter(|d| d.len() <= DIGITS);
    let number = digits.and_then(|d| d.parse().ok());
    number.ok_or_else(|| format!("{json} is no integer"))
}
