//! From a formula to a deterministic Streett automaton in the shape of its class.

use std::sync::Arc;

use crate::acceptance::{AcceptanceFormula, Colours};
use crate::alphabet::Alphabet;
use crate::class::SemanticClass;
use crate::finitary_part;
use crate::normalise::Normalised;
use crate::omega::OmegaAutomaton;
use crate::reduction::Reduced;
use crate::state_set::StateSet;
use crate::streett::StreettAutomaton;
use crate::structure::{AutomatonError, DEFAULT_BUDGET, Structure};

use super::bdd::Bdd;
use super::buchi::Buchi;
use super::core::{Formulas, Id, Letters, Node};
use super::derivative::Derivatives;
use super::determinise::{Narrow, ParityFunctions};
use super::past::Past;
use super::{LetterSet, Ltl, LtlError, letters};

/// Which construction is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Route {
    /// Derivatives where the formula's syntax allows them, products of Boolean parts, and
    /// determinisation for what is left.
    #[default]
    Best,
    /// Tableau and determinisation for the whole formula: larger, and independent of the other.
    Safra,
    /// The first one; but over many propositions no part of the formula is translated over classes of letters
    /// wherever the functions of the propositions will do. Larger, and for comparison.
    Functions,
}

/// How a translation goes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The construction.
    pub route: Route,
    /// States that any intermediate automaton may have.
    pub budget: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            route: Route::Best,
            budget: DEFAULT_BUDGET,
        }
    }
}

/// A formula's automaton, with its class.
#[derive(Clone, Debug)]
pub struct Translation {
    /// In the shape of the class, with the finitary part that the language induces.
    pub automaton: StreettAutomaton,
    /// The semantic class of the formula.
    pub class: SemanticClass,
}

impl Translation {
    /// The automaton's marks say nothing of finite sequences; the language does.
    pub(super) fn new(normal: Normalised, budget: usize) -> Result<Self, LtlError> {
        Ok(Self {
            class: normal.class,
            automaton: finitary_part::of_normalised(normal, budget)?,
        })
    }
}

impl Ltl {
    /// Translates the formula.
    pub fn translate(
        &self,
        alphabet: &Arc<Alphabet>,
        options: Options,
    ) -> Result<Translation, LtlError> {
        self.check_size()?;
        let past = Past::new(self, alphabet)?;
        if past.is_empty() && alphabet.is_wide() {
            return self.translate_wide(alphabet, options);
        }
        if past.is_empty() {
            let (normal, classes) = self.translate_future(alphabet, options)?;
            let narrow = Translation::new(normal, options.budget)?;
            return Ok(Translation {
                automaton: narrow.automaton.over(alphabet, &classes)?,
                class: narrow.class,
            });
        }
        let extended = Arc::new(past.extended()?);
        let mut formulas = Formulas::new(Letters::Valuations(extended.propositions().len()));
        let f = formulas.normal_form(self, false, &|f| past.letters(f))?;
        let translator = Translator::new(formulas, &extended, options);
        translator.guard()?;
        let future = translator.translated(f)?.automaton.to_omega();
        let composed = past.beside(&future, options.budget)?;
        Translation::new(
            Normalised::of_omega(&composed, options.budget)?,
            options.budget,
        )
    }

    /// Over classes of letters that the formula does not tell apart; the second result says which letter
    /// is of which.
    fn translate_future(
        &self,
        alphabet: &Arc<Alphabet>,
        options: Options,
    ) -> Result<(Normalised, Vec<u32>), LtlError> {
        let resolver = |f: &Self| match f {
            Self::Atom(name) => letters(alphabet, name),
            _ => Err(LtlError::FutureInPast),
        };
        let mut wide = Formulas::new(Letters::Numbered(alphabet.len()));
        let f = wide.normal_form(self, false, &resolver)?;
        let (classes, first) = wide.numbered_classes(f, alphabet.len());
        let mut formulas = Formulas::new(Letters::Numbered(first.len()));
        let f = formulas.normal_form(self, false, &|f| {
            let holds = resolver(f)?;
            let holds = first.iter().map(|&l| holds.has(l)).collect();
            Ok(LetterSet::Listed(holds))
        })?;
        let narrow = Arc::new(Alphabet::numbers(first.len())?);
        let normal = Translator::new(formulas, &narrow, options).translated(f)?;
        Ok((normal, classes))
    }
}

/// Formulas, whose turn it is, and what that one owes still.
pub(super) type Turn = (Vec<Bdd>, usize, Bdd);

/// Where one of the formulas cannot hold any more.
pub(super) fn failed(mut formulas: Vec<Bdd>) -> Turn {
    formulas.fill(Bdd::FALSE);
    (formulas, 0, Bdd::FALSE)
}

/// Colour 0, or none.
fn mark(marked: bool) -> Colours {
    Colours::few(u128::from(marked))
}

pub(super) struct Translator<'a> {
    pub(super) derivatives: Derivatives,
    pub(super) alphabet: &'a Arc<Alphabet>,
    options: Options,
    pub(super) budget: usize,
}

impl<'a> Translator<'a> {
    pub(super) fn new(formulas: Formulas, alphabet: &'a Arc<Alphabet>, options: Options) -> Self {
        Self {
            derivatives: Derivatives::new(formulas),
            alphabet,
            options,
            budget: options.budget,
        }
    }

    pub(super) fn options(&self) -> Options {
        self.options
    }

    /// By the construction that the options ask for.
    pub(super) fn translated(mut self, f: Id) -> Result<Normalised, LtlError> {
        let normal = match self.options.route {
            Route::Best | Route::Functions => self.best(f)?,
            Route::Safra => self.safra(f)?,
        };
        self.guard()?;
        Ok(normal)
    }

    pub(super) fn best(&mut self, f: Id) -> Result<Normalised, LtlError> {
        if let Some(narrow) = self.narrow(f, self.narrow_letters())? {
            return Ok(narrow);
        }
        let level = self.derivatives.formulas.level(f);
        if level.sigma <= 1 || level.pi <= 1 {
            return self.after(f, level.pi <= 1);
        }
        match self.derivatives.formulas.node(f).clone() {
            Node::And(parts) => self.combine(&parts, true),
            Node::Or(parts) => self.combine(&parts, false),
            _ if level.pi <= 2 => {
                let omega = self.breakpoint(&[f])?;
                self.normalise(&omega)
            }
            _ if level.sigma <= 2 => {
                let not = self.derivatives.formulas.negation(f);
                let omega = self.breakpoint(&[not])?.negation();
                self.normalise(&omega)
            }
            Node::Next(inner) => {
                let inner = self.best(inner)?;
                self.delayed(&inner.automaton)
            }
            _ => {
                if let Some((parts, conjunction)) = self.derivatives.formulas.distributed(f) {
                    let overflowed = |s: &Self| s.derivatives.formulas.bdds.overflowed();
                    match self.combine(&parts, conjunction) {
                        Err(LtlError::Automaton(_)) if !overflowed(self) => {}
                        other => return other,
                    }
                }
                self.either(f)
            }
        }
    }

    /// The formula or its negation, whichever is found to be small first.
    fn either(&mut self, f: Id) -> Result<Normalised, LtlError> {
        let not = self.derivatives.formulas.negation(f);
        let automata = [self.buchi(f), self.buchi(not)];
        let mut met = None;
        for budget in [1 << 8, 1 << 11, 1 << 14, self.budget] {
            for (negated, automaton) in automata.iter().enumerate() {
                let Ok(buchi) = automaton else { continue };
                let parity = match ParityFunctions::of_buchi(buchi, budget.min(self.budget)) {
                    Err(bound) if bound.is_bound() => {
                        met = Some(bound);
                        continue;
                    }
                    other => other?,
                };
                return self.normalised_parity(&parity, negated == 1);
            }
        }
        for automaton in automata {
            automaton?;
        }
        Err(met
            .unwrap_or(AutomatonError::TooManyStates(self.budget))
            .into())
    }

    /// A parity automaton, or its complement, in the shape of its class; over few classes of letters as a table, where
    /// more reductions are known.
    fn normalised_parity(
        &self,
        parity: &ParityFunctions,
        negated: bool,
    ) -> Result<Normalised, LtlError> {
        let turned = |omega: OmegaAutomaton| if negated { omega.negation() } else { omega };
        if !self.alphabet.is_wide() {
            let letters: Vec<u64> = self
                .alphabet
                .iter()
                .map(|l| self.derivatives.key(l))
                .collect();
            let parity = parity.table(&letters);
            let omega = Reduced::of_reference(&parity, self.alphabet.clone())?.to_omega();
            return self.normalise(&turned(omega));
        }
        let few = match self.options.route {
            Route::Functions => None,
            Route::Best | Route::Safra => parity.narrow()?,
        };
        let Some(Narrow {
            classes,
            class,
            table,
        }) = few
        else {
            return self.normalise(&turned(parity.to_omega(self.alphabet, self.budget)?));
        };
        let narrow = Arc::new(Alphabet::numbers(table.table.letters)?);
        let omega = Reduced::of_reference(&table, narrow)?.to_omega();
        self.normalise(&turned(omega))?
            .over_functions(self.alphabet, (&classes, class))
    }

    pub(super) fn normalise(&self, omega: &OmegaAutomaton) -> Result<Normalised, LtlError> {
        Ok(Normalised::of_omega(omega, self.budget)?)
    }

    pub(super) fn guard(&self) -> Result<(), AutomatonError> {
        if self.derivatives.formulas.bdds.overflowed() {
            return Err(AutomatonError::TooManyStates(self.budget));
        }
        Ok(())
    }

    /// Safety and guarantee: the formula itself is the state.
    fn after(&mut self, f: Id, safety: bool) -> Result<Normalised, LtlError> {
        let start = self.derivatives.bdd(f);
        self.derivatives.constrain(true);
        let explored = if self.alphabet.is_wide() {
            self.after_functions(start)
        } else {
            Structure::explore(self.alphabet.clone(), start, self.budget, |&f, l| {
                self.guard()?;
                Ok::<_, AutomatonError>(self.derivatives.after(f, l))
            })
        };
        self.derivatives.constrain(false);
        let (structure, meaning) = explored?;
        let n = structure.len();
        let (bad, acceptance) = if safety {
            (Bdd::FALSE, AcceptanceFormula::Fin(0))
        } else {
            (Bdd::TRUE, AcceptanceFormula::Inf(0))
        };
        let colours = meaning.iter().map(|&m| mark(m == bad)).collect();
        self.normalise(&OmegaAutomaton {
            structure,
            colours,
            acceptance,
            finite: StateSet::empty(n),
        })
    }

    /// A conjunction of formulas of Π₂: the formulas, whose turn it is, and what that one owed when
    /// its turn came. Whenever the debt is paid the next one has its turn, and a round of all is a
    /// mark [after Esparza, Křetínský & Sickert 2020, for deterministic Büchi automata].
    ///
    /// What recurs, as G F a does, holds now iff it holds later, and owes what stands under its G once in each
    /// round; so it is not followed while others have their turn.
    fn breakpoint(&mut self, conjuncts: &[Id]) -> Result<OmegaAutomaton, LtlError> {
        let start: Vec<Bdd> = conjuncts.iter().map(|&f| self.derivatives.bdd(f)).collect();
        let last = conjuncts.len() - 1;
        let owed = self.derivatives.obligations(start[0]);
        let recurring: Vec<Option<Bdd>> = conjuncts
            .iter()
            .map(|&f| {
                let inner = self.derivatives.formulas.recurring(f)?;
                Some(self.derivatives.bdd(inner))
            })
            .collect();
        let start = (start, 0, owed);
        let (structure, meaning) = if self.alphabet.is_wide() {
            self.breakpoint_functions(start, &recurring)?
        } else {
            let budget = self.budget;
            Structure::explore(
                self.alphabet.clone(),
                start,
                budget,
                |(fs, turn, owed), l| {
                    self.guard()?;
                    let next: Vec<Bdd> = fs
                        .iter()
                        .zip(&recurring)
                        .map(|(&f, r)| r.map_or_else(|| self.derivatives.after(f, l), |_| f))
                        .collect();
                    if next.contains(&Bdd::FALSE) {
                        return Ok::<_, AutomatonError>(failed(next));
                    }
                    if *owed != Bdd::TRUE {
                        let owed = self.derivatives.after(*owed, l);
                        if owed != Bdd::TRUE || *turn == last {
                            return Ok((next, *turn, owed));
                        }
                    }
                    // Those that owe nothing at all are passed over, up to the end of the round.
                    let mut turn = if *turn == last { 0 } else { turn + 1 };
                    loop {
                        let owed = match recurring[turn] {
                            Some(inner) => self.derivatives.after(inner, l),
                            None => self.derivatives.obligations(next[turn]),
                        };
                        if owed != Bdd::TRUE || turn == last {
                            return Ok((next, turn, owed));
                        }
                        turn += 1;
                    }
                },
            )?
        };
        let n = structure.len();
        let colours = meaning
            .iter()
            .map(|(_, turn, owed)| mark(*turn == last && *owed == Bdd::TRUE))
            .collect();
        let acceptance = AcceptanceFormula::Inf(0);
        Ok(OmegaAutomaton {
            structure,
            colours,
            acceptance,
            finite: StateSet::empty(n),
        })
    }

    /// Parts one by one, each product brought into the shape of its class before the next.
    fn combine(&mut self, parts: &[Id], conjunction: bool) -> Result<Normalised, LtlError> {
        // What is safety (or guarantee) together needs no product.
        let (easy, hard): (Vec<Id>, Vec<Id>) = parts
            .iter()
            .partition(|&&p| self.derivatives.formulas.level(p).pi <= 1);
        let (dual, hard): (Vec<Id>, Vec<Id>) = hard
            .into_iter()
            .partition(|&p| self.derivatives.formulas.level(p).sigma <= 1);
        let mut groups = Vec::new();
        for group in [easy, dual] {
            if !group.is_empty() {
                groups.push(if conjunction {
                    self.derivatives.formulas.and(&group)
                } else {
                    self.derivatives.formulas.or(&group)
                });
            }
        }
        // Conjuncts of Π₂ take turns in one automaton, and so, dually, do disjuncts of Σ₂.
        let (turns, hard): (Vec<Id>, Vec<Id>) = hard.into_iter().partition(|&p| {
            let level = self.derivatives.formulas.level(p);
            if conjunction {
                level.pi <= 2
            } else {
                level.sigma <= 2
            }
        });
        groups.extend(hard);
        let mut so_far: Option<Normalised> = None;
        if !turns.is_empty() {
            let omega = if conjunction {
                self.breakpoint(&turns)?
            } else {
                let dual: Vec<Id> = turns
                    .iter()
                    .map(|&f| self.derivatives.formulas.negation(f))
                    .collect();
                self.breakpoint(&dual)?.negation()
            };
            so_far = Some(self.normalise(&omega)?);
        }
        for part in groups {
            let next = self.best(part)?;
            so_far = Some(match so_far {
                None => next,
                Some(left) => {
                    let (left, right) = (left.automaton.to_omega(), next.automaton.to_omega());
                    self.normalise(&left.product(&right, conjunction, self.budget)?)?
                }
            });
        }
        Ok(so_far.expect("a conjunction or disjunction has parts"))
    }

    /// X: one step before the automaton starts.
    fn delayed(&self, inner: &StreettAutomaton) -> Result<Normalised, LtlError> {
        let omega = inner.to_omega();
        let (structure, meaning) = omega.structure.delayed(self.budget)?;
        let n = structure.len();
        let colours = meaning
            .iter()
            .map(|q| q.map_or_else(Colours::default, |q| omega.colours[q.index()].clone()))
            .collect();
        let acceptance = omega.acceptance.clone();
        self.normalise(&OmegaAutomaton {
            structure,
            colours,
            acceptance,
            finite: StateSet::empty(n),
        })
    }

    fn buchi(&mut self, f: Id) -> Result<Buchi, LtlError> {
        let budget = self.budget.min(1 << 14);
        let buchi = Buchi::of_formula(&mut self.derivatives, f, budget)?;
        self.guard()?;
        Ok(buchi)
    }

    fn safra(&mut self, f: Id) -> Result<Normalised, LtlError> {
        let buchi = self.buchi(f)?;
        let parity = ParityFunctions::of_buchi(&buchi, self.budget)?;
        self.normalised_parity(&parity, false)
    }
}
