//! What can be said about a file without running it: names, kinds, sorts, well-formedness, lints.

mod behaviour;
mod builtin;
mod call;
mod exits;
mod expr;
mod machine;
mod operator;
mod pattern;
mod property;
mod scope;
mod sorts;
mod structured;

pub use sorts::{ResolvedSort, Sorts};

pub(crate) use behaviour::{calls_itself, unguarded};

use std::collections::BTreeMap;

use crate::names::Names;
use crate::syntax::ast::{File, Item, Name, Role};
use crate::{Diagnostic, codes, diagnostic};

/// Findings beyond this are only counted.
const MOST_FINDINGS: usize = 200;

/// Checks a parsed file: every error and every lint, in the order of the file.
///
/// Declarations with syntax errors are left out, and nothing is said about names that may be theirs,
/// so that a slip does not drown in its consequences.
pub fn check(file: &File) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    duplicates(
        file.sound_items().map(Item::name),
        "declaration",
        codes::DUPLICATE_NAME,
        &mut found,
    );
    let names = Names::new(file);
    let sorts = Sorts::new(file, &mut found);
    let exits = behaviour::exit_table(&names, &sorts);
    for item in file.sound_items() {
        match item {
            Item::Machine(m) => machine::check(file, m, &names, &sorts, &mut found),
            Item::Definition(d) => behaviour::check(d, &names, &sorts, &exits, &mut found),
            Item::Traces(t) => property::traces(file, t, &names, &mut found),
            Item::Property(p) => property::check(p, &names, &mut found),
            Item::Function(f) => expr::function(f, &sorts, &mut found),
            Item::Enum(_) | Item::Record(_) | Item::Sum(_) | Item::Alias(_) => {}
        }
    }
    found.extend(behaviour::unguarded_definitions(file, &names));
    diagnostic::sort(&mut found);
    found.dedup();
    if found.len() > MOST_FINDINGS {
        let more = found.len() - MOST_FINDINGS;
        found.truncate(MOST_FINDINGS);
        if let Some(last) = found.last_mut() {
            last.hint = Some(format!("{more} more findings are not shown"));
        }
    }
    found
}

/// Parses and checks in one go.
pub fn parse_and_check(text: &str) -> (File, Vec<Diagnostic>) {
    checked(crate::parse(text))
}

/// Parses and checks bytes that may be no text at all.
pub fn parse_and_check_bytes(bytes: &[u8]) -> (File, Vec<Diagnostic>) {
    checked(crate::parse_bytes(bytes))
}

fn checked((file, mut found): (File, Vec<Diagnostic>)) -> (File, Vec<Diagnostic>) {
    found.extend(check(&file));
    diagnostic::sort(&mut found);
    (file, found)
}

/// Reports every name that occurs a second time.
fn duplicates<'a>(
    names: impl Iterator<Item = &'a Name>,
    what: &str,
    code: crate::Code,
    found: &mut Vec<Diagnostic>,
) {
    let mut first: BTreeMap<&str, &Name> = BTreeMap::new();
    for name in names {
        if let Some(earlier) = first.get(name.text.as_str()) {
            found.push(
                Diagnostic::error(
                    code,
                    name.span,
                    format!("{what} `{}` is declared twice", name.text),
                )
                .related(earlier.span, "first declared here"),
            );
        } else {
            first.insert(&name.text, name);
        }
    }
}

/// The system after `for`: it may live in another file, but a slip of the fingers is worth a word.
fn target_system(of: &Name, names: &Names<'_>, found: &mut Vec<Diagnostic>) -> bool {
    match names.get(&of.text) {
        Some(Item::Definition(d)) if d.is_open() => {
            found.push(
                Diagnostic::error(
                    codes::WRONG_KIND,
                    of.span,
                    format!(
                        "process `{}` has parameters, so it is no system by itself",
                        of.text
                    ),
                )
                .related(d.name.span, "declared here")
                .hint("name a system that calls it: `system S = P(n = 1)`"),
            );
            false
        }
        Some(Item::Definition(_)) => true,
        Some(Item::Machine(m)) if m.role == Role::System => true,
        Some(item) => {
            found.push(
                Diagnostic::error(
                    codes::WRONG_KIND,
                    of.span,
                    format!(
                        "`{}` is declared as {}, not as a system",
                        of.text,
                        item.keyword()
                    ),
                )
                .related(item.name().span, "declared here"),
            );
            false
        }
        None if names.is_spoilt(&of.text) => false,
        None => {
            let candidates: Vec<&str> = names
                .iter()
                .filter(|i| matches!(i.keyword(), "system" | "process"))
                .map(|i| i.name().text.as_str())
                .collect();
            if !candidates.is_empty() {
                found.push(
                    Diagnostic::warning(
                        codes::SYSTEM_ELSEWHERE,
                        of.span,
                        format!(
                            "no system is called `{}` here, so its labels are not checked",
                            of.text
                        ),
                    )
                    .maybe_hint(diagnostic::did_you_mean(&of.text, candidates)),
                );
            }
            false
        }
    }
}
