//! Names in the description of a system under test that the model does not know: mostly misspelt ones.

use std::collections::BTreeSet;

use iolite_exec::codec::Shadow;
use iolite_exec::{SutConfig, UndecodableKind};
use iolite_lang::diagnostic::did_you_mean;
use iolite_lts::LabelKind;

use super::judge::Judge;
use crate::{Error, Workspace};

/// Larger models are not walked for the names of their states.
const LARGEST: usize = 100_000;

/// Tells of actions and states that the description names and the model does not know. Where
/// properties judge alone, actions may be abstractions and there are no states, so there is no warning.
pub(super) fn warn(workspace: &Workspace, config: &SutConfig, judge: &Judge) {
    if judge.properties().is_some() {
        return;
    }
    let model = judge.reference();
    let mut actions = judge.actions();
    if config.undecodable == UndecodableKind::Output {
        actions.insert((LabelKind::Output, "undecodable".to_owned()));
    }
    let tell = |wrong: &str, name: &str, known: &BTreeSet<&str>| {
        let hint = did_you_mean(name, known.iter().copied());
        let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        workspace.warn(&format!(
            "warning: the description names {wrong} of that name{hint}"
        ));
    };
    let plain: BTreeSet<&str> = actions.iter().map(|(_, name)| name.as_str()).collect();
    for (action, rule) in &config.actions {
        let name = bare(action.trim_start_matches(['?', '!']));
        if !plain.contains(name) {
            tell(
                &format!("action `{action}`, and {model} has none"),
                name,
                &plain,
            );
            continue;
        }
        if action != name {
            workspace.warn(&format!(
                "warning: the description names action `{action}`, which has no effect; actions are \
                 named without sigil and values: [actions.{name}]"
            ));
            continue;
        }
        let is = |kind| actions.contains(&(kind, name.to_owned()));
        for (key, given, needed, other) in [
            ("send", rule.send.is_some(), LabelKind::Input, "an output"),
            ("recv", rule.recv.is_some(), LabelKind::Output, "an input"),
        ] {
            if given && !is(needed) {
                let right = if key == "send" { "recv" } else { "send" };
                workspace.warn(&format!(
                    "warning: `{key}` of action `{name}` has no effect: it is {other} of {model}; did you \
                     mean `{right}`?"
                ));
            }
        }
    }
    warn_of_shadows(workspace, config, judge);
    let signed: BTreeSet<String> = actions
        .iter()
        .map(|(kind, name)| format!("{}{name}", kind.sigil()))
        .collect();
    let signed: BTreeSet<&str> = signed.iter().map(String::as_str).collect();
    for action in config.quiescence.actions.keys() {
        let name = bare(action);
        if !signed.contains(name) {
            let wrong = format!("a timeout after `{action}`, and {model} has none");
            tell(&wrong, name, &signed);
        }
    }
    let states = &config.quiescence.states;
    if states.is_empty() {
        return;
    }
    let Some(places) = judge.places(LARGEST) else {
        return;
    };
    let places: BTreeSet<&str> = places.iter().map(String::as_str).collect();
    for state in states.keys() {
        if !places.contains(state.as_str()) {
            let wrong = format!("a timeout in `{state}`, and {model} gets to no state");
            tell(&wrong, state, &places);
        }
    }
}

/// Tells of outputs that are never observed, because the template of another one reads their messages first.
fn warn_of_shadows(workspace: &Workspace, config: &SutConfig, judge: &Judge) {
    // Where the description is wrong, that is said when the system is reached.
    let Ok(map) = config.action_map() else {
        return;
    };
    // Letters of properties are no messages.
    let actions = match judge.properties() {
        Some(_) => BTreeSet::new(),
        None => judge.actions(),
    };
    let outputs = actions.into_iter();
    let outputs = outputs.filter(|(kind, _)| *kind == LabelKind::Output);
    let outputs = outputs.map(|(_, name)| name);
    for Shadow { hidden, by } in map.shadows(outputs, |name, params, holes| {
        judge.takes(name, params, holes)
    }) {
        let has_rule = config.actions.get(&hidden);
        let why = if has_rule.is_some_and(|rule| rule.recv.is_some()) {
            "every message that its template reads is read"
        } else {
            "it has no `recv`, and its notation is read"
        };
        workspace.warn(&format!(
            "warning: output `{hidden}` is never observed: {why} as `{by}` first, since templates are tried in the \
             order of the names, and notations after them; make `recv` of `{by}` narrower, rename, or give `{hidden}` a `recv`"
        ));
    }
}

/// Over HTTP alone, an input is sent as a request, which its bare name is not.
pub(super) fn check_requests(config: &SutConfig, judge: &Judge) -> Result<(), Error> {
    let channels = config.system.channels();
    let only_http = !channels.is_empty() && channels.iter().all(|c| c.transport.is_http());
    if !only_http || judge.properties().is_some() {
        return Ok(());
    }
    for (kind, name) in judge.actions() {
        if kind != LabelKind::Input {
            continue;
        }
        let send = config
            .actions
            .get(&name)
            .and_then(|rule| rule.send.as_deref());
        let wrong = match send {
            None => format!("the description does not say which request input `{name}` is"),
            Some(send) if !is_request(send) => {
                let first = send.lines().next().unwrap_or_default();
                format!(
                    "`send` of action `{name}` begins with {first:?}, which is no `METHOD /path`"
                )
            }
            Some(_) => continue,
        };
        return Err(Error::input(wrong).hint(format!(
            "[actions.{name}] and below it send = \"GET /{name}\", with headers in the lines below and a body after an empty line; an output has recv = \"200 {{_}}\""
        )));
    }
    Ok(())
}

/// Whether the first line of a template can become `METHOD /path`; a hole may stand for anything.
fn is_request(template: &str) -> bool {
    let first = template.lines().next().unwrap_or_default();
    let Some((method, path)) = first.split_once(' ') else {
        return first.contains('{');
    };
    let is_hole = |text: &str| text.starts_with('{');
    let named = !method.is_empty() && method.bytes().all(|b| b.is_ascii_uppercase());
    (named || method.contains('{')) && (path.starts_with('/') || is_hole(path)) && !has_space(path)
}

/// Whether a space stands in a template, outside of its holes: a body behind the path would never be sent.
fn has_space(template: &str) -> bool {
    let mut in_hole = false;
    let mut rest = template.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '{' | '}' if rest.peek() == Some(&c) && !in_hole => {
                rest.next();
            }
            '{' => in_hole = true,
            '}' => in_hole = false,
            ' ' if !in_hole => return true,
            _ => {}
        }
    }
    false
}

/// `?BUTTON` of `?BUTTON(3)`.
fn bare(action: &str) -> &str {
    action.split('(').next().unwrap_or(action)
}

#[cfg(test)]
mod tests {
    use super::is_request;

    #[test]
    fn first_lines_of_requests() {
        for (template, is) in [
            ("GET /a", true),
            ("POST /a\n\n{{\"v\": {v}}}", true),
            ("POST /a {{\"v\": {v}}}", false),
            ("GET /a?q={q:/[a b]+/}", true),
            ("GET {path}", true),
            ("{request}", true),
            ("GET a", false),
            ("coin", false),
        ] {
            assert_eq!(is_request(template), is, "{template}");
        }
    }
}
