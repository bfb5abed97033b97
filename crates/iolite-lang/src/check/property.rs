//! Properties and sets of traces.

use std::collections::BTreeSet;

use iolite_lts::{Label, LabelId, LabelKind, Labels};

use super::target_system;
use crate::lower::machine as lowered;
use crate::names::{Names, event_ids, unknown_label};
use crate::syntax::ast::{
    Event, EventKind, File, Formula, FormulaKind, Item, Ltl, LtlKind, Property, Regex, RegexKind,
    Streett, TraceList,
};
use crate::{Diagnostic, codes, diagnostic};

pub(super) fn traces(
    file: &File,
    list: &TraceList,
    names: &Names<'_>,
    found: &mut Vec<Diagnostic>,
) {
    let known = list
        .of
        .as_ref()
        .filter(|of| target_system(of, names, found))
        .and_then(|of| names.alphabet(&of.text));
    if let Some(labels) = known {
        let result = crate::lower::lower_traces(file, &list.name.text, &labels);
        found.extend(result.err().unwrap_or_default());
    }
}

pub(super) fn check(property: &Property, names: &Names<'_>, found: &mut Vec<Diagnostic>) {
    let system = property
        .of
        .as_ref()
        .filter(|of| target_system(of, names, found));
    let alphabet = match (&property.over, system) {
        (Some(events), _) => {
            let mut labels = Labels::new();
            for letter in events {
                let event = &letter.event;
                match &event.kind {
                    EventKind::Label { kind, name, args } => {
                        labels.intern(*kind, &name.text);
                        if args.as_ref().is_some_and(|a| a.len() != letter.sorts.len()) {
                            let error =
                                "an alphabet gives the parameters of an action with their sorts";
                            let error = Diagnostic::error(codes::EVENT_NOT_HERE, event.span, error);
                            found.push(error.hint("write `!reply(code: int)`, or the name alone"));
                        }
                    }
                    EventKind::Delta => {}
                    _ => found.push(Diagnostic::error(
                        codes::EVENT_NOT_HERE,
                        event.span,
                        "an alphabet consists of actions",
                    )),
                }
                if let Some(guard) = &letter.guard {
                    let error =
                        "guards stand behind the actions of the property, not of its alphabet";
                    found.push(Diagnostic::error(codes::EVENT_NOT_HERE, guard.span, error));
                }
            }
            Some((labels, format!("the alphabet of `{}`", property.name.text)))
        }
        (None, Some(of)) => names
            .alphabet(&of.text)
            .map(|labels| (labels, format!("system `{}`", of.text))),
        (None, None) => None,
    };
    let mut walk = Walk {
        names,
        alphabet,
        found,
    };
    walk.formula(&property.body);
    if reaches(names, &property.body, &property.name.text) {
        found.push(Diagnostic::error(
            codes::CYCLIC_PROPERTY,
            property.name.span,
            format!("property `{}` is defined by itself", property.name.text),
        ));
    }
}

fn mentioned<'f>(formula: &'f Formula, out: &mut Vec<&'f str>) {
    match &formula.kind {
        FormulaKind::Not(inner) => mentioned(inner, out),
        FormulaKind::And(parts) | FormulaKind::Or(parts) => {
            for p in parts {
                mentioned(p, out);
            }
        }
        FormulaKind::Name(name) => out.push(&name.text),
        _ => {}
    }
}

fn reaches(names: &Names<'_>, formula: &Formula, goal: &str) -> bool {
    let mut open = Vec::new();
    mentioned(formula, &mut open);
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop() {
        if name == goal {
            return true;
        }
        if seen.insert(name)
            && let Some(Item::Property(p)) = names.get(name)
        {
            mentioned(&p.body, &mut open);
        }
    }
    false
}

struct Walk<'a, 'f> {
    names: &'a Names<'f>,
    alphabet: Option<(Labels, String)>,
    found: &'a mut Vec<Diagnostic>,
}

impl Walk<'_, '_> {
    fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Tau => self.found.push(Diagnostic::error(
                codes::EVENT_NOT_HERE,
                event.span,
                "a property cannot see internal actions",
            )),
            EventKind::Label { .. } => {
                if let Some((labels, whose)) = &self.alphabet {
                    match event_ids(event, labels).first() {
                        Some(&id) if labels.kind(id) == LabelKind::Internal => {
                            self.found.push(Diagnostic::error(
                                codes::EVENT_NOT_HERE,
                                event.span,
                                "a property cannot see internal actions",
                            ));
                        }
                        Some(_) => {}
                        None => self.found.push(unknown_label(event, labels, whose)),
                    }
                }
            }
            EventKind::Delta | EventKind::Any | EventKind::Offer { .. } => {}
        }
    }

    /// Whether a word of a temporal formula is no label, and means something all the same: `GFa`, `!a` for
    /// `not a`, `1`. Lowering reads it as the command line does.
    fn is_spelled_otherwise(&self, event: &Event) -> bool {
        let EventKind::Label {
            kind,
            name,
            args: None,
        } = &event.kind
        else {
            return false;
        };
        let Some((labels, _)) = &self.alphabet else {
            return false;
        };
        if !event_ids(event, labels).is_empty() {
            return false;
        }
        let plain = |text: &str| {
            let is_it = |l: &Label| *l.name == *text && l.kind.sigil().is_empty();
            labels.iter().skip(2).any(|(_, l)| is_it(l))
        };
        match kind.sigil() {
            "" => {
                let mut rest = name.text.as_str();
                while let Some(next) = rest.strip_prefix(['F', 'G', 'X']) {
                    rest = next;
                    if plain(rest) {
                        return true;
                    }
                }
                matches!(name.text.as_str(), "0" | "1")
            }
            "!" => plain(&name.text),
            _ => false,
        }
    }

    fn formula(&mut self, formula: &Formula) {
        match &formula.kind {
            FormulaKind::Not(inner) => self.formula(inner),
            FormulaKind::And(parts) | FormulaKind::Or(parts) => {
                for p in parts {
                    self.formula(p);
                }
            }
            FormulaKind::Ltl(ltl) => self.ltl(ltl),
            FormulaKind::Language { regex, .. } => self.regex(regex),
            FormulaKind::Streett(automaton) => self.streett(automaton, formula),
            FormulaKind::Name(name) => match self.names.get(&name.text) {
                Some(Item::Property(_)) => {}
                Some(item) => self.found.push(
                    Diagnostic::error(
                        codes::WRONG_KIND,
                        name.span,
                        format!(
                            "`{}` is declared as {}, not as a property",
                            name.text,
                            item.keyword()
                        ),
                    )
                    .related(item.name().span, "declared here"),
                ),
                None if self.names.is_spoilt(&name.text) => {}
                None => {
                    let candidates = self
                        .names
                        .iter()
                        .filter(|i| i.keyword() == "property")
                        .map(|i| i.name().text.as_str());
                    self.found.push(
                        Diagnostic::error(
                            codes::UNKNOWN_NAME,
                            name.span,
                            format!("no property is called `{}`", name.text),
                        )
                        .maybe_hint(diagnostic::did_you_mean(&name.text, candidates)),
                    );
                }
            },
            FormulaKind::Error => {}
        }
    }

    fn ltl(&mut self, ltl: &Ltl) {
        match &ltl.kind {
            LtlKind::Atom(event) if self.is_spelled_otherwise(&event.event) => {}
            LtlKind::Atom(event) => self.event(&event.event),
            LtlKind::Unary(_, a) => self.ltl(a),
            LtlKind::Binary(_, a, b) => {
                self.ltl(a);
                self.ltl(b);
            }
            LtlKind::Constant(_) | LtlKind::Error => {}
        }
    }

    fn regex(&mut self, regex: &Regex) {
        match &regex.kind {
            RegexKind::Atom(event) => self.event(&event.event),
            RegexKind::Sequence(parts) | RegexKind::Alternatives(parts) => {
                for p in parts {
                    self.regex(p);
                }
            }
            RegexKind::Star(a) | RegexKind::Plus(a) => self.regex(a),
            RegexKind::Traces(name) => {
                let known = self
                    .names
                    .get(&name.text)
                    .is_some_and(|i| i.keyword() == "traces");
                if !known && !self.names.is_spoilt(&name.text) {
                    self.found.push(Diagnostic::error(
                        codes::UNKNOWN_NAME,
                        name.span,
                        format!("no set of traces is called `{}`", name.text),
                    ));
                }
            }
            RegexKind::Empty | RegexKind::Any | RegexKind::Error => {}
        }
    }

    /// States, targets, determinism, pairs.
    fn streett(&mut self, automaton: &Streett, formula: &Formula) {
        let whose = "the automaton";
        let table = lowered::StateTable::new(automaton.states.iter(), self.found);
        lowered::initial_of(
            automaton.states.iter(),
            &table,
            formula.span,
            whose,
            self.found,
        );
        for state in &automaton.states {
            let mut labels = Labels::new();
            let mut seen: Vec<(LabelId, &str)> = Vec::new();
            for transition in &state.transitions {
                table.find(&transition.target, whose, self.found);
                // Whether guards exclude one another is asked when the automaton is made.
                let guarded = transition.guard.is_some();
                for event in &transition.events {
                    self.event(event);
                    if guarded {
                        continue;
                    }
                    let id = match &event.kind {
                        EventKind::Label { kind, name, .. } => labels.intern(*kind, &name.text),
                        EventKind::Delta => LabelId::DELTA,
                        // At most one `*` a state: τ, which is no action here, stands for it.
                        _ => LabelId::TAU,
                    };
                    if seen
                        .iter()
                        .any(|(l, t)| *l == id && *t != transition.target.text)
                    {
                        self.found.push(Diagnostic::error(
                            codes::NONDETERMINISTIC,
                            event.span,
                            format!(
                                "the same action leads from state `{}` to two states",
                                state.name.text
                            ),
                        ));
                    }
                    seen.push((id, &transition.target.text));
                }
            }
        }
        for pair in &automaton.pairs {
            for name in pair.recurrent.iter().chain(&pair.persistent) {
                table.find(name, whose, self.found);
            }
        }
    }
}
