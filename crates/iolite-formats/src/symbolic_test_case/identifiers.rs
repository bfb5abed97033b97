//! Identifiers for the data of a test case in languages that take letters, digits and underscores.

use std::collections::{BTreeMap, BTreeSet};

use iolite_expr::{Var, VarId};
use iolite_sts::{GateId, Iosts};

/// Distinct identifiers for variables and constants, and for the parameters of each action.
pub(super) struct Identifiers {
    data: BTreeMap<VarId, String>,
    params: BTreeMap<(GateId, VarId), String>,
}

impl Identifiers {
    /// Those of a program; none is one of `reserved`.
    pub(super) fn of(program: &Iosts, reserved: &[&str]) -> Self {
        let mut taken: BTreeSet<String> = reserved.iter().map(|r| (*r).to_owned()).collect();
        let mut data = BTreeMap::new();
        let constants = program.constants().iter().map(|c| &c.var);
        for v in constants.chain(program.variables().iter().map(|v| &v.var)) {
            data.insert(v.id, distinct(&v.name, &mut taken));
        }
        let mut params = BTreeMap::new();
        for (id, gate) in program.gates() {
            let mut here = taken.clone();
            for p in &gate.params {
                params.insert((id, p.id), distinct(&p.name, &mut here));
            }
        }
        Self { data, params }
    }

    /// The identifier of a variable in a term of a transition of this action.
    pub(super) fn of_var(&self, var: &Var, action: Option<GateId>) -> &str {
        let param = action.and_then(|a| self.params.get(&(a, var.id)));
        let known = param.or_else(|| self.data.get(&var.id));
        known.map_or("unknown", String::as_str)
    }

    /// Whether some variable, constant or parameter has this identifier.
    pub(super) fn is_taken(&self, name: &str) -> bool {
        let mut all = self.data.values().chain(self.params.values());
        all.any(|own| own == name)
    }
}

fn distinct(name: &str, taken: &mut BTreeSet<String>) -> String {
    let base = identifier(name);
    let mut own = base.clone();
    let mut n = 1;
    while !taken.insert(own.clone()) {
        n += 1;
        own = format!("{base}_{n}");
    }
    own
}

/// Letters, digits and underscores, starting with a letter.
pub(super) fn identifier(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut out: String = text.chars().map(plain).collect();
    if !out.starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.insert(0, 'x');
    }
    out
}
