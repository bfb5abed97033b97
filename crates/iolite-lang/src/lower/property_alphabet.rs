//! The alphabet of a declared property: what it says itself, or what it speaks of.

use iolite_lts::{LabelId, LabelKind, Labels};
use iolite_property::{Alphabet, Letter};

use super::data::{has_data, lower_data};
use super::formula_events::{PropertyAtom, formula_atoms};
use super::guarded_actions::{ActionSignature, GuardedActions};
use crate::gate::is_instance;
use crate::names::{Names, event_ids};
use crate::syntax::ast::{Event, EventKind, Expr, File, Item, Property};
use crate::{Diagnostic, codes};

/// Σ of a property, with the guards that make its letters.
#[derive(Debug)]
pub(super) struct PropertyAlphabet {
    pub(super) alphabet: Alphabet,
    guarded: GuardedActions,
}

pub(super) fn alphabet<'f>(
    file: &'f File,
    names: &Names<'f>,
    property: &'f Property,
    beside: &[ActionSignature],
) -> Result<PropertyAlphabet, Vec<Diagnostic>> {
    let occurring = formula_atoms(names, &property.body);
    let over: Vec<PropertyAtom<'f>> = property.over.iter().flatten().map(Into::into).collect();
    let of = property.of.as_ref().map(|of| of.text.as_str());
    let mut labels = Labels::new();
    let mut letters: Vec<LabelId> = Vec::new();
    let add = |letters: &mut Vec<LabelId>, id: LabelId| {
        if !letters.contains(&id) {
            letters.push(id);
        }
    };
    let system = of.and_then(|of| names.alphabet(of));
    match (&property.over, system) {
        (Some(_), _) => {
            for id in over.iter().filter_map(|e| intern(e.event, &mut labels)) {
                add(&mut letters, id);
            }
        }
        (None, Some(known)) => {
            for (_, label) in known.iter().skip(2) {
                if label.kind != LabelKind::Internal {
                    add(&mut letters, labels.intern(label.kind, &label.name));
                }
            }
        }
        (None, None) => {
            for id in occurring
                .iter()
                .filter_map(|e| intern(e.event, &mut labels))
            {
                add(&mut letters, id);
            }
        }
    }
    if occurring.iter().any(|e| e.event.kind == EventKind::Delta) {
        add(&mut letters, LabelId::DELTA);
    }
    let guards = occurring.iter().any(|a| a.guard.is_some());
    let signature = match of {
        Some(of) if guards && has_data(file, of) => {
            let model = lower_data(file, of)?;
            ActionSignature::of_model(&model)
        }
        _ => beside.to_vec(),
    };
    let mut atoms = over;
    atoms.extend(occurring);
    let made = PropertyAlphabet::new(file, &signature, &atoms, &labels, &letters)?;
    made.map_err(|e| {
        vec![
            Diagnostic::error(
                codes::NO_AUTOMATON,
                property.name.span,
                format!("property `{}`: {e}", property.name.text),
            )
            .hint("name the actions after `over`, as in `over {?a, !x}`"),
        ]
    })
}

impl PropertyAlphabet {
    /// These letters, with the cells of a guarded action in its place.
    fn new(
        file: &File,
        signature: &[ActionSignature],
        atoms: &[PropertyAtom<'_>],
        labels: &Labels,
        letters: &[LabelId],
    ) -> Result<Result<Self, iolite_property::alphabet::AlphabetError>, Vec<Diagnostic>> {
        let guarded = GuardedActions::new(file, signature, atoms)?;
        let mut own = Labels::new();
        let mut all = Vec::new();
        let mut split = Vec::new();
        for &letter in letters {
            let label = labels.label(letter);
            match guarded.get(label.kind, &label.name) {
                Some(action) => {
                    let cells = 0..action.cells().len();
                    all.extend(cells.map(|c| own.intern(label.kind, &action.cell_name(c))));
                    split.push(action.clone());
                }
                None if letter == LabelId::DELTA => all.push(letter),
                None => all.push(own.intern(label.kind, &label.name)),
            }
        }
        for action in &split {
            let instance = letters.iter().map(|&l| labels.label(l)).find(|l| {
                l.kind == action.kind()
                    && *l.name != *action.name()
                    && is_instance(&l.name, action.name())
            });
            if let Some(instance) = instance {
                let atom = atoms.iter().find(|a| a.guard.is_some());
                let span = atom.map(|a| a.event.span).unwrap_or_default();
                return Err(vec![
                    Diagnostic::error(
                        codes::NO_AUTOMATON,
                        span,
                        format!(
                            "`{instance}` cannot be a letter beside guards on `{}{}`",
                            action.kind().sigil(),
                            action.name()
                        ),
                    )
                    .hint("say it with a guard, too"),
                ]);
            }
        }
        Ok(Alphabet::new(own, all).map(|alphabet| Self {
            alphabet: alphabet.with_guarded(split),
            guarded,
        }))
    }

    /// The letters that an event with a guard stands for: several where the actions of the alphabet carry
    /// their values or are told apart by guards. `None` where the alphabet does not know the event.
    pub(super) fn letters(
        &self,
        event: &Event,
        guard: Option<&Expr>,
    ) -> Result<Option<Vec<Letter>>, Diagnostic> {
        let labels = self.alphabet.labels();
        if let EventKind::Label { kind, name, .. } = &event.kind
            && let Some(action) = self.guarded.get(*kind, &name.text)
        {
            let number = guard.and_then(|g| self.guarded.number(g, *kind, &name.text));
            let holds = |cell: usize| number.is_none_or(|n| action.cells()[cell].holds(n));
            let cells = (0..action.cells().len()).map(|c| labels.get(*kind, &action.cell_name(c)));
            if let Some(cells) = cells.collect::<Option<Vec<_>>>() {
                let cells = cells.into_iter().enumerate().filter(|(c, _)| holds(*c));
                let letters = cells.filter_map(|(_, l)| self.alphabet.letter(l));
                return Ok(Some(letters.collect()));
            }
            // The letters carry values of their own: `put(0, 2)`.
            let instances = labels
                .iter()
                .filter(|(_, l)| l.kind == *kind && is_instance(&l.name, &name.text));
            let mut letters = Vec::new();
            let mut known = false;
            for (id, label) in instances {
                known = true;
                let (_, values) = iolite_expr::Value::split_action(&label.name);
                let cell = action.cell(&values).map_err(|why| {
                    Diagnostic::error(codes::BAD_TERM, guard.map_or(event.span, |g| g.span), why)
                })?;
                if holds(cell) {
                    letters.extend(self.alphabet.letter(id));
                }
            }
            return Ok(known.then_some(letters));
        }
        let known = event_ids(event, labels).into_iter();
        let known: Vec<Letter> = known.filter_map(|id| self.alphabet.letter(id)).collect();
        Ok((!known.is_empty()).then_some(known))
    }
}

fn intern(event: &Event, labels: &mut Labels) -> Option<LabelId> {
    match &event.kind {
        EventKind::Label { kind, name, .. } | EventKind::Offer { kind, name, .. } => {
            Some(labels.intern(*kind, &name.text))
        }
        EventKind::Delta => Some(LabelId::DELTA),
        EventKind::Tau | EventKind::Any => None,
    }
}

/// An action as events are written: one that is no name of the language gets quotes.
fn as_event(action: &str) -> String {
    let bare = action.trim_start_matches(['?', '!']);
    let sigil = &action[..action.len() - bare.len()];
    let declared = bare.split_once('(').is_some_and(|(name, params)| {
        crate::syntax::is_plain_name(name.trim_end()) && params.contains(':')
    });
    match action {
        "delta" | "δ" => "delta".to_owned(),
        _ if declared || crate::syntax::is_plain_name(bare) => action.to_owned(),
        _ => format!("{sigil}{}", crate::syntax::quote(bare)),
    }
}

/// An alphabet made of actions and of atoms with guards, and what the atoms are in it.
#[derive(Debug)]
pub struct ActionLetters {
    /// Σ.
    pub alphabet: Alphabet,
    /// For each atom, in order, the letters that it stands for.
    pub atoms: Vec<Vec<Letter>>,
}

/// The letters of these actions, `?a` or `!reply(code: int)`, where these atoms, such as
/// `!reply(code) [code >= 500]`, are told apart. Parameters that no action declares are as in `signature`.
/// Sorts and functions are those of `file`.
pub fn action_letters(
    file: &File,
    signature: &[ActionSignature],
    actions: &[String],
    atoms: &[String],
) -> Result<ActionLetters, String> {
    let told = |found: Vec<Diagnostic>| {
        let first = found.into_iter().next();
        first.map_or_else(String::new, |d| match d.hint {
            Some(hint) => format!("{} ({hint})", d.message),
            None => d.message,
        })
    };
    let parsed = |text: &str, what: &str| {
        let (tree, found) = crate::parse(text);
        match found.into_iter().next() {
            Some(d) => Err(format!("{what}: {}", told(vec![d]))),
            None => Ok(tree),
        }
    };
    let mut over = String::new();
    for action in actions {
        let action = as_event(action);
        parsed(
            &format!("property P over {{ {action} }} = ltl true"),
            &action,
        )?;
        over += if over.is_empty() { "" } else { ", " };
        over += &action;
    }
    let mut formula = "true".to_owned();
    for atom in atoms {
        let event = if actions.contains(atom) {
            as_event(atom)
        } else {
            atom.clone()
        };
        parsed(&format!("property P over {{ a }} = ltl {event}"), atom)?;
        formula += &format!(" or {event}");
    }
    let text = format!("property P over {{ {over} }} = ltl {formula}");
    let tree = parsed(&text, "the formula")?;
    let names = Names::new(&tree);
    let Some(Item::Property(property)) = names.get("P") else {
        return Err("no formula".to_owned());
    };
    let occurring = formula_atoms(&names, &property.body);
    let mut all: Vec<PropertyAtom<'_>> = property.over.iter().flatten().map(Into::into).collect();
    let mut labels = Labels::new();
    let mut letters: Vec<LabelId> = Vec::new();
    for id in all.iter().filter_map(|e| intern(e.event, &mut labels)) {
        if letters.contains(&id) {
            return Err(format!(
                "letter {} occurs twice in the alphabet",
                labels.text(id)
            ));
        }
        letters.push(id);
    }
    all.extend(occurring.iter().copied());
    let made = PropertyAlphabet::new(file, signature, &all, &labels, &letters).map_err(told)?;
    let made = made.map_err(|e| e.to_string())?;
    let mut found = Vec::new();
    for (atom, text) in occurring.iter().zip(atoms) {
        let letters = made
            .letters(atom.event, atom.guard)
            .map_err(|d| d.message)?;
        found.push(letters.ok_or_else(|| format!("{text} is no action of the alphabet"))?);
    }
    Ok(ActionLetters {
        alphabet: made.alphabet,
        atoms: found,
    })
}
