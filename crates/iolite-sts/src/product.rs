//! The parallel product of compatible systems [SYM04, def. 5 and 6].

use std::collections::BTreeSet;

use iolite_lts::Gates;

use crate::compose::ComposeError;
use crate::iosts::{Gate, Iosts};

impl Iosts {
    /// Whether the systems are compatible [def. 5]: the same inputs and outputs with the same
    /// signatures. Their data and internal actions are kept apart by the product itself.
    pub fn compatible(&self, other: &Self) -> Result<(), ComposeError> {
        let visible = |a: &&Gate| a.kind.is_visible();
        for (x, y) in [(self, other), (other, self)] {
            for a in x.gates.iter().filter(visible) {
                let twin = y.find_gate(a.kind, &a.name).map(|id| y.gate(id));
                let Some(twin) = twin else {
                    return Err(ComposeError::Incompatible {
                        action: format!("{}{}", a.kind.sigil(), a.name).into(),
                        has: x.name.clone(),
                        lacks: y.name.clone(),
                    });
                };
                let same = a.params.len() == twin.params.len()
                    && a.params
                        .iter()
                        .zip(&twin.params)
                        .all(|(p, q)| p.sort == q.sort);
                if !same {
                    return Err(ComposeError::Signature {
                        action: a.name.clone(),
                        left: x.name.clone(),
                        right: y.name.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// S₁ || S₂ [def. 6]: visible actions together, internal ones alone. Its traces are those of
    /// both [lemma 1].
    pub fn product(&self, other: &Self) -> Result<Self, ComposeError> {
        self.compatible(other)?;
        // A name may be an input and an output of one system at once; the product meets by kind
        // and name, so such actions are told apart by a mark while they are composed.
        let marked = |m: &Self| {
            let mut m = m.clone();
            for a in &mut m.gates {
                if a.kind.is_visible() {
                    a.name = format!("{}{}", a.kind.sigil(), a.name).into();
                }
            }
            m
        };
        let (left, right) = (marked(self), marked(other));
        let names: BTreeSet<String> = left
            .gates
            .iter()
            .filter(|a| a.kind.is_visible())
            .map(|a| a.name.to_string())
            .collect();
        let mut result = left.compose(&right, &Gates::Names(names))?;
        for a in &mut result.gates {
            if a.kind.is_visible() {
                let sigil = a.kind.sigil();
                a.name = a.name.strip_prefix(sigil).unwrap_or(&a.name).into();
            }
        }
        Ok(result)
    }
}
