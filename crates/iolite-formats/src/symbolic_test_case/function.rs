//! Functions that call themselves, as JSON.
//!
//! Functions that call one another form a group and are declared together:
//! `[{"name": "length", "params": [["l", "List"]], "result": "int", "body": term}]`. A call is
//! `["call", group, name, arguments…]`. Where a function may fault, `length is defined` says where it does not.

use std::collections::BTreeMap;

use iolite_expr::{Callee, Kind, Op, ResultSort, Signature, Term, Var, VarId};
use serde_json::{Value as Json, json};

use super::sort::{Sorts, write_sort};
use super::term::{Reader, Writer, list, pair, text};

/// The functions of a test case, by group.
#[derive(Default)]
pub(super) struct Functions {
    /// The functions of each group; those that a group calls come before it.
    groups: Vec<Vec<Callee>>,
}

impl Functions {
    /// Notes the functions that a term calls, and their sorts.
    pub(super) fn note_term(&mut self, term: &Term, sorts: &mut Sorts) {
        let Kind::App(op, args) = term.kind() else {
            return;
        };
        for arg in args {
            self.note_term(arg, sorts);
        }
        let Op::Call(callee) = op else {
            return;
        };
        // A call within a body names a member of the group that is being noted.
        if callee.body().is_none() || self.group(callee).is_some() {
            return;
        }
        for (signature, body) in callee.definitions() {
            for param in &signature.params {
                sorts.note(&param.sort);
            }
            sorts.note(&signature.result.0);
            sorts.note_term(body);
            self.note_term(body, sorts);
        }
        self.groups.push(vec![callee.clone()]);
    }

    /// The group of a function; `None` within a body.
    pub(super) fn group(&self, callee: &Callee) -> Option<usize> {
        let is_here = |group: &Vec<Callee>| group.iter().any(|c| c.is_of_group(callee));
        self.groups.iter().position(is_here)
    }

    pub(super) fn declarations(&self) -> Vec<Json> {
        let groups = self.groups.iter().enumerate();
        let declared = groups.map(|(i, group)| {
            let function = |(signature, body): (&Signature, &Term)| {
                let params = signature.params.iter();
                let params: Vec<Json> = params
                    .map(|p| json!([*p.name, write_sort(&p.sort)]))
                    .collect();
                json!({
                    "name": *signature.name,
                    "params": params,
                    "result": write_sort(&signature.result.0),
                    "body": Writer::within(self, i).write(body),
                })
            };
            let first = group.iter().take(1);
            Json::Array(first.flat_map(|c| c.definitions().map(function)).collect())
        });
        declared.collect()
    }

    /// Reads a group, whose number is how many there are before it.
    pub(super) fn declare(&mut self, declared: &Json, sorts: &Sorts) -> Result<(), String> {
        let declared = list(declared)?;
        let mut members: Vec<Callee> = Vec::new();
        for function in declared {
            let param = |(i, p): (usize, &Json)| {
                let [name, sort] = pair(p)?;
                let id = VarId::new(VarId::FUNCTION_SPACE, i);
                Ok(Var::new(id, text(name)?, sorts.read(sort)?))
            };
            let params = list(&function["params"])?.iter().enumerate().map(param);
            let name = text(&function["name"])?;
            if members.iter().any(|m| m.name() == name) {
                return Err(format!("function {name} is declared twice"));
            }
            let signature = Signature {
                name: name.into(),
                params: params.collect::<Result<Vec<_>, String>>()?,
                result: ResultSort(sorts.read(&function["result"])?),
            };
            members.push(Callee::member(signature, members.len() as u32));
        }
        // Bodies may call one another.
        self.groups.push(members.clone());
        let mut bodies = Vec::new();
        for (member, function) in members.iter().zip(declared) {
            let scope = member.params().iter().map(|p| (&*p.name, p));
            let reader = Reader {
                sorts,
                functions: self,
                scope: scope.collect::<BTreeMap<_, _>>(),
            };
            let body = reader.term(&function["body"]);
            bodies.push(body.map_err(|e| format!("{}: {e}", member.name()))?);
        }
        self.groups.pop();
        let group = Callee::group(members.into_iter().zip(bodies).collect());
        self.groups.push(group.map_err(|e| e.to_string())?);
        Ok(())
    }

    /// The function of this name of a group, or the one that says where it has a value.
    pub(super) fn named(&self, group: u32, name: &str) -> Result<Callee, String> {
        let all = self.groups.get(group as usize);
        let found = all.into_iter().flatten().find_map(|callee| {
            let defined = || callee.definedness();
            if callee.name() == name {
                Some(callee.clone())
            } else {
                // Of those without a body nothing is known yet.
                let stated = callee.body().is_some() && !callee.is_total();
                stated.then(defined).filter(|d| d.name() == name)
            }
        });
        found.ok_or_else(|| format!("function {name} is not declared in group {group}"))
    }
}
