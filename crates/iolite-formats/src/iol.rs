//! Explicit systems as `.iol`.

use std::collections::BTreeSet;
use std::fmt::Write;

use iolite_lang::syntax::{is_plain_name, quote};
use iolite_lts::{Label, LabelKind, Lts, StateId};

use crate::WriteError;

/// Writes a system under a name. Labels keep their order, states theirs; states whose names do not
/// tell them apart are numbered.
pub fn write(lts: &Lts, name: &str, out: &mut dyn Write) -> Result<(), WriteError> {
    let names = state_names(lts);
    let system = if is_plain_name(name) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        name
    } else {
        "System"
    };
    writeln!(out, "system {system} {{")?;
    declarations(lts, out)?;
    for state in lts.states() {
        let initial = if state == lts.initial() {
            "initial "
        } else {
            ""
        };
        write!(
            out,
            "  {initial}state {}",
            plain_or_quoted(&names[state.index()])
        )?;
        if lts.steps(state).is_empty() {
            out.write_char('\n')?;
            continue;
        }
        out.write_str(" {\n")?;
        for &(label, target) in lts.steps(state) {
            let label = lts.labels().label(label);
            let target = plain_or_quoted(&names[target.index()]);
            writeln!(out, "    {} -> {target}", event(label)?)?;
        }
        out.write_str("  }\n")?;
    }
    out.write_str("}\n")?;
    Ok(())
}

/// One line for each run of labels of the same kind, so that their order survives.
fn declarations(lts: &Lts, out: &mut dyn Write) -> Result<(), WriteError> {
    let mut bare = BTreeSet::new();
    let mut before = None;
    for (_, label) in lts.labels().iter().skip(2) {
        let keyword = match label.kind {
            LabelKind::Input => "input",
            LabelKind::Output => "output",
            LabelKind::Internal => "internal",
            LabelKind::Undirected => "action",
            LabelKind::Delta => continue,
        };
        // A bare name in a transition stands for one label only.
        let shares = match label.kind {
            LabelKind::Internal | LabelKind::Undirected => !bare.insert(&*label.name),
            _ => false,
        };
        if shares || label.name.is_empty() {
            return Err(refused(label));
        }
        if before == Some(label.kind) {
            out.write_str(", ")?;
        } else {
            if before.is_some() {
                out.write_char('\n')?;
            }
            write!(out, "  {keyword} ")?;
        }
        out.write_str(&plain_or_quoted(&label.name))?;
        before = Some(label.kind);
    }
    if before.is_some() {
        out.write_char('\n')?;
    }
    let clash = lts
        .labels()
        .iter()
        .skip(2)
        .find(|(_, l)| l.kind.sigil() != "" && bare.contains(&*l.name));
    match clash {
        Some((_, label)) => Err(refused(label)),
        None => Ok(()),
    }
}

fn refused(label: &Label) -> WriteError {
    WriteError::Label {
        label: label.to_string(),
        format: ".iol",
    }
}

fn event(label: &Label) -> Result<String, WriteError> {
    Ok(match label.kind {
        LabelKind::Delta => return Err(refused(label)),
        LabelKind::Internal if &*label.name == "i" => "i".to_owned(),
        LabelKind::Input | LabelKind::Output => {
            format!("{}{}", label.kind.sigil(), plain_or_quoted(&label.name))
        }
        LabelKind::Internal | LabelKind::Undirected => match &*label.name {
            "i" | "tau" | "τ" | "delta" | "δ" => quote(&label.name),
            name => plain_or_quoted(name),
        },
    })
}

/// A name as the language reads it.
pub(crate) fn plain_or_quoted(name: &str) -> String {
    if is_plain_name(name) {
        name.to_owned()
    } else {
        quote(name)
    }
}

fn state_names(lts: &Lts) -> Vec<String> {
    let names: Vec<String> = lts.states().map(|s: StateId| lts.name(s)).collect();
    let distinct: BTreeSet<&String> = names.iter().collect();
    if lts.has_names() && distinct.len() == names.len() {
        return names;
    }
    (0..names.len()).map(|k| format!("s{k}")).collect()
}
