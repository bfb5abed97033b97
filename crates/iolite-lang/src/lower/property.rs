//! Properties, in any of their views, to Streett automata [PROP12, §4].

use std::sync::Arc;

use iolite_property::ltl::Options;
use iolite_property::{
    Alphabet, Dfa, Letter, Ltl as Temporal, Operator, Pair, Regular, StateId, StateSet,
    StreettAutomaton, Structure,
};

use super::guarded_actions::ActionSignature;
use super::machine::{StateTable, initial_of};
use super::property_alphabet::{PropertyAlphabet, alphabet};
use crate::names::{Names, unknown_label};
use crate::syntax::ast::{
    Event, EventKind, Expr, File, Formula, FormulaKind, Item, Ltl, LtlBinary, LtlKind, LtlUnary,
    Name, Property, PropertyEvent, Quantifier, Regex, RegexKind, Streett,
};
use crate::{Diagnostic, Span, codes, diagnostic};

/// Properties that name one another are followed so far.
pub(super) const MAX_CHAIN: usize = 200;

/// A declared property as an automaton over its alphabet: what follows `over`, else the visible
/// labels of the system after `for`, else what occurs in it. δ is a letter where the property
/// speaks of it.
///
/// `signature` has the parameters of actions that the file does not declare. The declaration should be free of
/// errors: see [`crate::check()`].
pub fn lower_property(
    file: &File,
    name: &str,
    signature: &[ActionSignature],
) -> Result<StreettAutomaton, Vec<Diagnostic>> {
    let names = Names::new(file);
    let property = find(&names, name)?;
    let letters = alphabet(file, &names, property, signature)?;
    let mut lowering = Lowering {
        names: &names,
        alphabet: Arc::new(letters.alphabet.clone()),
        letters,
        whose: match (&property.over, &property.of) {
            (None, Some(of)) => format!("system `{}`", of.text),
            _ => format!("the alphabet of `{}`", property.name.text),
        },
        found: Vec::new(),
    };
    let automaton = lowering.formula(&property.body, 0);
    match automaton {
        Some(automaton) if lowering.found.is_empty() => Ok(automaton),
        _ => Err(lowering.found),
    }
}

/// What is doubtful about the guards of a declared property that became this automaton: values for which one
/// has none, and combinations that the solver did not decide.
pub fn guard_lints(file: &File, name: &str, automaton: &StreettAutomaton) -> Vec<Diagnostic> {
    let names = Names::new(file);
    let Some(Item::Property(property)) = names.get(name) else {
        return Vec::new();
    };
    let span = property.name.span;
    let mut found = Vec::new();
    for (action, _) in automaton.alphabet().guarded() {
        found.extend(action.faults().iter().map(|fault| {
            Diagnostic::warning(codes::GUARD_FAULT, span, fault.clone())
                .hint("the verdict is unknown from such an action on; ask first: `x != 0 && …`")
        }));
        found.extend(action.doubts().iter().map(|doubt| {
            let text = format!("whether there is {doubt}");
            Diagnostic::warning(codes::GUARD_DOUBT, span, text)
                .hint("it is taken to be possible, so the class may be too high")
        }));
    }
    found
}

/// The alphabet of a declared property.
pub fn property_alphabet(file: &File, name: &str) -> Result<Alphabet, Vec<Diagnostic>> {
    let names = Names::new(file);
    alphabet(file, &names, find(&names, name)?, &[]).map(|a| a.alphabet)
}

fn find<'f>(names: &Names<'f>, name: &str) -> Result<&'f Property, Vec<Diagnostic>> {
    if let Some(Item::Property(property)) = names.get(name) {
        return Ok(property);
    }
    let candidates = names
        .iter()
        .filter(|i| i.keyword() == "property")
        .map(|i| i.name().text.as_str());
    let hint = diagnostic::did_you_mean(name, candidates);
    Err(vec![
        Diagnostic::error(
            codes::UNKNOWN_NAME,
            Span::default(),
            format!("no property is called `{name}`"),
        )
        .maybe_hint(hint),
    ])
}

struct Lowering<'a, 'f> {
    names: &'a Names<'f>,
    alphabet: Arc<Alphabet>,
    letters: PropertyAlphabet,
    whose: String,
    found: Vec<Diagnostic>,
}

impl Lowering<'_, '_> {
    fn fail(&mut self, span: Span, error: &impl ToString) {
        let error = Diagnostic::error(codes::NO_AUTOMATON, span, error.to_string());
        self.found.push(error);
    }

    fn made<T, E: ToString>(&mut self, span: Span, result: Result<T, E>) -> Option<T> {
        result.map_err(|e| self.fail(span, &e)).ok()
    }

    /// `depth` counts the names on the way; the parser bounds everything else.
    fn formula(&mut self, formula: &Formula, depth: usize) -> Option<StreettAutomaton> {
        let span = formula.span;
        match &formula.kind {
            FormulaKind::Not(inner) => {
                let inner = self.formula(inner, depth)?;
                self.made(span, inner.negation())
            }
            FormulaKind::And(parts) => {
                self.fold(parts, span, depth, StreettAutomaton::intersection)
            }
            FormulaKind::Or(parts) => self.fold(parts, span, depth, StreettAutomaton::union),
            FormulaKind::Ltl(ltl) => {
                let formula = self.ltl(ltl)?;
                let made = formula.translate(&self.alphabet, Options::default());
                self.made(span, made).map(|t| t.automaton)
            }
            FormulaKind::Language {
                quantifier,
                finitary: true,
                ..
            } => {
                let word = quantifier.keyword();
                let error = Diagnostic::error(
                    codes::FINITE_LANGUAGE,
                    span,
                    format!(
                        "`{word}_f` gives a language of finite sequences, which is no property"
                    ),
                );
                self.found.push(error.hint(format!(
                    "write `{word}`: it means the pair of this language and its infinite partner"
                )));
                None
            }
            FormulaKind::Language {
                quantifier, regex, ..
            } => {
                let expression = self.regex(regex)?;
                let psi = self.made(span, Dfa::new(&expression, &self.alphabet))?;
                let operator = match quantifier {
                    Quantifier::Always => Operator::Always,
                    Quantifier::Eventually => Operator::Eventually,
                    Quantifier::Recurrently => Operator::Recurrently,
                    Quantifier::Persistently => Operator::Persistently,
                };
                self.made(span, operator.apply(&psi))
            }
            FormulaKind::Streett(automaton) => self.streett(automaton, span),
            FormulaKind::Name(name) => match self.names.get(&name.text) {
                Some(Item::Property(other)) if depth < MAX_CHAIN => {
                    self.formula(&other.body, depth + 1)
                }
                Some(Item::Property(_)) => {
                    self.fail(
                        name.span,
                        &"properties name one another in too long a chain",
                    );
                    None
                }
                _ => {
                    let text = format!("no property is called `{}`", name.text);
                    let error = Diagnostic::error(codes::UNKNOWN_NAME, name.span, text);
                    self.found.push(error);
                    None
                }
            },
            FormulaKind::Error => None,
        }
    }

    fn fold<E: ToString>(
        &mut self,
        parts: &[Formula],
        span: Span,
        depth: usize,
        join: fn(&StreettAutomaton, &StreettAutomaton) -> Result<StreettAutomaton, E>,
    ) -> Option<StreettAutomaton> {
        let mut whole: Option<StreettAutomaton> = None;
        for part in parts {
            let part = self.formula(part, depth)?;
            whole = Some(match whole {
                None => part,
                Some(before) => {
                    let joined = join(&before, &part);
                    self.made(span, joined)?.reduced()
                }
            });
        }
        whole
    }

    /// The letters that an event stands for: several where the actions of the alphabet carry
    /// their values or are told apart by guards; none where its guard is never true.
    fn letters(&mut self, event: &Event, guard: Option<&Expr>) -> Option<Vec<Letter>> {
        let error = match self.letters.letters(event, guard) {
            Ok(Some(letters)) => return Some(letters),
            Ok(None) => unknown_label(event, self.alphabet.labels(), &self.whose),
            Err(error) => error,
        };
        self.found.push(error);
        None
    }

    /// The letters that an event stands for, in the notation of the alphabet.
    fn texts(&mut self, event: &Event, guard: Option<&Expr>) -> Option<Vec<String>> {
        let letters = self.letters(event, guard)?.into_iter();
        Some(letters.map(|l| self.alphabet.text(l)).collect())
    }

    fn symbol(&mut self, event: &Event, guard: Option<&Expr>) -> Option<Regular> {
        let symbols = self.texts(event, guard)?.into_iter().map(Regular::Symbol);
        Some(balanced(symbols.collect(), &Regular::Empty, Regular::Alt))
    }

    /// A word that is no letter of the alphabet and has a meaning on the command line: `GFa`, `!a` for
    /// `not a`, `1`.
    fn spelled_otherwise(&self, event: &PropertyEvent) -> Option<Temporal> {
        let EventKind::Label {
            kind,
            name,
            args: None,
        } = &event.event.kind
        else {
            return None;
        };
        let plain = |c: char| c.is_alphanumeric() || c == '_';
        let unknown = matches!(self.letters.letters(&event.event, None), Ok(None));
        if event.guard.is_some() || !unknown || !name.text.chars().all(plain) {
            return None;
        }
        let text = format!("{}{}", kind.sigil(), name.text);
        let formula = Temporal::parse(&text, &self.alphabet).ok()?;
        // A name without its `?` or `!` is told, with a hint.
        (!matches!(formula, Temporal::Atom(_))).then_some(formula)
    }

    fn ltl(&mut self, ltl: &Ltl) -> Option<Temporal> {
        Some(match &ltl.kind {
            LtlKind::Constant(true) => Temporal::True,
            LtlKind::Constant(false) => Temporal::False,
            LtlKind::Atom(event) => {
                if let Some(formula) = self.spelled_otherwise(event) {
                    return Some(formula);
                }
                let texts = self.texts(&event.event, event.guard.as_ref())?;
                let mut atoms = texts.into_iter().map(Temporal::Atom);
                match (atoms.next(), atoms.len()) {
                    (None, _) => Temporal::False,
                    (Some(atom), 0) => atom,
                    (first, _) => Temporal::Or(first.into_iter().chain(atoms).collect()),
                }
            }
            LtlKind::Unary(operator, inner) => {
                let inner = Box::new(self.ltl(inner)?);
                match operator {
                    LtlUnary::Not => Temporal::Not(inner),
                    LtlUnary::Next => Temporal::Next(inner),
                    LtlUnary::Globally => Temporal::Always(inner),
                    LtlUnary::Finally => Temporal::Eventually(inner),
                    LtlUnary::Yesterday => Temporal::Previous(inner),
                    LtlUnary::WeakYesterday => Temporal::weak_previous(inner),
                    LtlUnary::Once => Temporal::Once(inner),
                    LtlUnary::Historically => Temporal::Historically(inner),
                }
            }
            LtlKind::Binary(operator @ (LtlBinary::And | LtlBinary::Or), ..) => {
                // A long chain leans to the left; as a list it stays within the depth that is
                // followed.
                let mut parts = Vec::new();
                let mut at = ltl;
                while let LtlKind::Binary(o, a, b) = &at.kind
                    && o == operator
                {
                    parts.push(self.ltl(b)?);
                    at = a;
                }
                parts.push(self.ltl(at)?);
                parts.reverse();
                if *operator == LtlBinary::And {
                    Temporal::And(parts)
                } else {
                    Temporal::Or(parts)
                }
            }
            LtlKind::Binary(operator, a, b) => {
                let (a, b) = (Box::new(self.ltl(a)?), Box::new(self.ltl(b)?));
                match operator {
                    LtlBinary::Implies => Temporal::Implies(a, b),
                    LtlBinary::Equivalent => Temporal::Iff(a, b),
                    LtlBinary::Until => Temporal::Until(a, b),
                    LtlBinary::WeakUntil => Temporal::WeakUntil(a, b),
                    LtlBinary::Release => Temporal::Release(a, b),
                    LtlBinary::StrongRelease => Temporal::StrongRelease(a, b),
                    LtlBinary::Since => Temporal::Since(a, b),
                    LtlBinary::Trigger => Temporal::trigger(a, b),
                    LtlBinary::And => Temporal::And(vec![*a, *b]),
                    LtlBinary::Or => Temporal::Or(vec![*a, *b]),
                }
            }
            LtlKind::Error => return None,
        })
    }

    fn regex(&mut self, regex: &Regex) -> Option<Regular> {
        Some(match &regex.kind {
            RegexKind::Empty => Regular::Epsilon,
            RegexKind::Any => Regular::Any,
            RegexKind::Atom(event) => self.symbol(&event.event, event.guard.as_ref())?,
            RegexKind::Sequence(parts) => {
                let parts = self.regexes(parts)?;
                balanced(parts, &Regular::Epsilon, Regular::Concat)
            }
            RegexKind::Alternatives(parts) => {
                let parts = self.regexes(parts)?;
                balanced(parts, &Regular::Empty, Regular::Alt)
            }
            RegexKind::Star(a) => Regular::Star(Box::new(self.regex(a)?)),
            RegexKind::Plus(a) => Regular::Plus(Box::new(self.regex(a)?)),
            RegexKind::Traces(name) => self.traces(name)?,
            RegexKind::Error => return None,
        })
    }

    fn regexes(&mut self, parts: &[Regex]) -> Option<Vec<Regular>> {
        parts.iter().map(|p| self.regex(p)).collect()
    }

    /// A declared list of traces, as the choice between them.
    fn traces(&mut self, name: &Name) -> Option<Regular> {
        let Some(Item::Traces(list)) = self.names.get(&name.text) else {
            let error = format!(
                "`{}` is no list of traces; only lists can stand in a regular expression",
                name.text
            );
            self.fail(name.span, &error);
            return None;
        };
        let words = list.traces.iter().map(|trace| {
            let letters: Option<Vec<Regular>> =
                trace.events.iter().map(|e| self.symbol(e, None)).collect();
            letters.map(|l| balanced(l, &Regular::Epsilon, Regular::Concat))
        });
        let words: Option<Vec<Regular>> = words.collect();
        words.map(|w| balanced(w, &Regular::Empty, Regular::Alt))
    }

    fn streett(&mut self, automaton: &Streett, span: Span) -> Option<StreettAutomaton> {
        let whose = "the automaton";
        let before = self.found.len();
        let table = StateTable::new(automaton.states.iter(), &mut self.found);
        let states = automaton.states.iter();
        let initial = initial_of(states, &table, span, whose, &mut self.found);
        let alphabet = Arc::clone(&self.alphabet);
        let n = automaton.states.len();
        let mut next = Vec::with_capacity(n * alphabet.len());
        for state in &automaton.states {
            let mut row: Vec<Option<StateId>> = vec![None; alphabet.len()];
            let mut rest = None;
            for transition in &state.transitions {
                if !transition.effects.is_empty() {
                    self.fail(transition.span, &"a property's automaton has no variables");
                }
                let target = table.find(&transition.target, whose, &mut self.found);
                for event in &transition.events {
                    let guard = transition.guard.as_ref();
                    if event.kind == EventKind::Any {
                        rest = target;
                        continue;
                    }
                    for letter in self.letters(event, guard).unwrap_or_default() {
                        let before = row[letter.index()].replace(target?);
                        if before.is_some_and(|b| Some(b) != target) {
                            let action = alphabet.text(letter);
                            let error = format!(
                                "`{action}` leads from state `{}` to two states",
                                state.name.text
                            );
                            let code = codes::NONDETERMINISTIC;
                            let error = Diagnostic::error(code, event.span, error);
                            self.found
                                .push(error.hint("let the guards exclude one another"));
                        }
                    }
                }
            }
            let missing: Vec<String> = alphabet
                .iter()
                .filter(|l| row[l.index()].or(rest).is_none())
                .map(|l| alphabet.text(l))
                .collect();
            if !missing.is_empty() && self.found.len() == before {
                let error = Diagnostic::error(
                    codes::INCOMPLETE,
                    state.name.span,
                    format!(
                        "state `{}` has no transition on {}",
                        state.name.text,
                        missing.join(", ")
                    ),
                );
                let sink = automaton.states.last().map_or("q", |s| &s.name.text);
                self.found.push(error.hint(format!(
                    "automata of properties are complete; `* -> {sink}` takes what is left"
                )));
            }
            next.extend(row.into_iter().map(|to| to.or(rest)));
        }
        let mut pairs = Vec::new();
        for pair in &automaton.pairs {
            let mut set = |list: &[Name]| {
                let mut set = StateSet::empty(n);
                for name in list {
                    if let Some(q) = table.find(name, whose, &mut self.found) {
                        set.insert(q);
                    }
                }
                set
            };
            pairs.push(Pair {
                recurrent: set(&pair.recurrent),
                persistent: set(&pair.persistent),
            });
        }
        if self.found.len() > before {
            return None;
        }
        let next: Option<Vec<StateId>> = next.into_iter().collect();
        let structure = self.made(span, Structure::new(alphabet, initial?, next?))?;
        let made = self.made(span, StreettAutomaton::new(structure, pairs))?;
        let names = automaton.states.iter().map(|s| s.name.text.clone());
        Some(made.with_names(names.collect()))
    }
}

/// One expression of a list, no deeper than its logarithm.
fn balanced(
    mut parts: Vec<Regular>,
    none: &Regular,
    join: fn(Box<Regular>, Box<Regular>) -> Regular,
) -> Regular {
    while parts.len() > 1 {
        let mut halved = Vec::with_capacity(parts.len().div_ceil(2));
        let mut list = parts.into_iter();
        while let Some(a) = list.next() {
            halved.push(match list.next() {
                Some(b) => join(Box::new(a), Box::new(b)),
                None => a,
            });
        }
        parts = halved;
    }
    parts.pop().unwrap_or_else(|| none.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_and_check;

    fn lower(text: &str, name: &str) -> Result<StreettAutomaton, Vec<Diagnostic>> {
        let (file, found) = parse_and_check(text);
        assert!(!diagnostic::has_errors(&found), "{text}\n{found:?}");
        lower_property(&file, name, &[])
    }

    /// The three views of [PROP12, ex. 1 to 3] are one property.
    #[test]
    fn views_agree() {
        let text = "\
property Language over {a, b, c} = always (a* (b* | c (c|a)* b+))
property Automaton over {a, b, c} = streett {
  initial state 1 { a -> 1  b -> 2  c -> 3 }
  state 2 { b -> 2  * -> 3 }
  state 3 { * -> 3 }
  pair recurrent {} persistent {1, 2}
}
property Formula over {a, b, c} = ltl a W (G b)
property Twice over {a, b, c} = not (not Language) and Formula or Automaton
";
        let first = lower(text, "Language").unwrap();
        for name in ["Automaton", "Formula", "Twice"] {
            let other = lower(text, name).unwrap();
            assert_eq!(first.finitary_difference(&other).unwrap(), None, "{name}");
            assert_eq!(first.infinitary_difference(&other).unwrap(), None, "{name}");
        }
        let named = lower(text, "Automaton").unwrap();
        assert_eq!(named.name(StateId::new(2)), "3");
    }

    #[test]
    fn alphabets() {
        let text = "\
system S { input a output x internal t initial state s { ?a -> u } state u { !x -> s  t -> s } }
property OfSystem for S = ltl G (?a -> F !x)
property WithDelta for S = ltl G (?a -> X not delta)
property Occurring = ltl G (?a -> F !x)
property Narrow for S over {?a} = ltl G F ?a
";
        let letters = |name: &str| {
            let a = lower(text, name).unwrap();
            let sigma = a.alphabet();
            sigma.iter().map(|l| sigma.text(l)).collect::<Vec<_>>()
        };
        assert_eq!(letters("OfSystem"), ["?a", "!x"]);
        assert_eq!(letters("WithDelta"), ["?a", "!x", "delta"]);
        assert_eq!(letters("Occurring"), ["?a", "!x"]);
        assert_eq!(letters("Narrow"), ["?a"]);
    }

    #[test]
    fn lists_of_traces_are_languages() {
        let text = "\
traces F = { ?a.!x, eps }
property P over {?a, !x} = persistently @F (?a !x)*
property Q over {?a, !x} = persistently (eps | ?a !x) (?a !x)*
";
        let (p, q) = (lower(text, "P").unwrap(), lower(text, "Q").unwrap());
        assert_eq!(p.infinitary_difference(&q).unwrap(), None);
        assert_eq!(p.finitary_difference(&q).unwrap(), None);
    }

    #[test]
    fn mistakes() {
        for (text, code) in [
            (
                "property P over {a, b} = streett { initial state 1 { a -> 1 } pair recurrent {1} }",
                codes::INCOMPLETE,
            ),
            ("property P over {a} = always_f a*", codes::FINITE_LANGUAGE),
            ("property P = ltl G true", codes::NO_AUTOMATON),
            (
                "property Q = ltl G b\nproperty P over {a} = Q",
                codes::UNKNOWN_LABEL,
            ),
        ] {
            let found = lower(text, "P").unwrap_err();
            assert_eq!(found[0].code, code, "{text}");
        }
    }

    #[test]
    fn long_chains() {
        let mut text = String::from("property P0 over {a} = ltl G a\n");
        for k in 1..1000 {
            text += &format!("property P{k} over {{a}} = P{}\n", k - 1);
        }
        assert!(lower(&text, "P999").is_err());
        assert!(lower(&text, "P150").is_ok());
        let many = vec!["a"; 400].join(" and ");
        assert!(lower(&format!("property P over {{a}} = ltl G ({many})"), "P").is_ok());
        let word = vec!["a"; 500].join(" ");
        assert!(lower(&format!("property P over {{a}} = eventually ({word})"), "P").is_ok());
    }
}
