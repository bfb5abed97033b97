//! The classes of the Safety–Progress hierarchy [PROP12, §4.4].
//!
//! Definition 5 gives the class of an automaton by its shape (*syntactic*). A property may lie
//! lower than the automaton at hand shows; its lowest class (*semantic*) is decided here on the
//! cycles: safety and guarantee by what cycles lie before what others, response and persistence by
//! which cycles contain which others [Landweber 1969], and the m of obligation and reactivity by
//! the longest alternation [Wagner 1979].

use std::fmt;

use crate::cycles::{CycleForest, components};
use crate::language::{persistent_part, recurrent_part};
use crate::property_class;
use crate::state_set::StateSet;
use crate::streett::{Pair, StreettAutomaton};
use crate::structure::{AutomatonError, Structure};

/// A class of the hierarchy, m included where it has one.
///
/// m counts conjuncts: an m-obligation is `⋂_{i≤m} (S_i ∪ G_i)`, an m-reactivity property the
/// same over response and persistence, and m is the number of pairs of an automaton in the shape
/// of definition 5. The definition also lets `⋃_{i≤m} (S_i ∩ G_i)` be an m-obligation and calls
/// the automaton equivalent; it is not with the same m (`S ∩ G` needs two pairs), so that number is
/// kept apart in [`SemanticClass::disjuncts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Both safety and guarantee: decided after boundedly many actions. The bottom of the hierarchy.
    SafetyAndGuarantee,
    /// Only good things happen.
    Safety,
    /// A good thing happens at least once.
    Guarantee,
    /// A Boolean combination of safety and guarantee.
    Obligation(usize),
    /// A good thing happens infinitely often.
    Response,
    /// A good thing happens from some point on.
    Persistence,
    /// A Boolean combination of response and persistence.
    Reactivity(usize),
}

impl Class {
    /// One letter, as LTL tools print it: B, S, G, O, R, P or T.
    pub fn code(self) -> char {
        match self {
            Self::SafetyAndGuarantee => 'B',
            Self::Safety => 'S',
            Self::Guarantee => 'G',
            Self::Obligation(_) => 'O',
            Self::Response => 'R',
            Self::Persistence => 'P',
            Self::Reactivity(_) => 'T',
        }
    }

    /// Whether every property of this class is one of `other`.
    pub fn is_within(self, other: Self) -> bool {
        use Class::{
            Guarantee, Obligation, Persistence, Reactivity, Response, Safety, SafetyAndGuarantee,
        };
        if self == other || self == SafetyAndGuarantee {
            return true;
        }
        match (self, other) {
            (Obligation(a), Obligation(b)) | (Reactivity(a), Reactivity(b)) => a <= b,
            (Safety | Guarantee, Obligation(m)) | (_, Reactivity(m)) => m >= 1,
            (Safety | Guarantee | Obligation(_), Response | Persistence) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SafetyAndGuarantee => f.write_str("safety and guarantee"),
            Self::Safety => f.write_str("safety"),
            Self::Guarantee => f.write_str("guarantee"),
            Self::Obligation(m) => write!(f, "{m}-obligation"),
            Self::Response => f.write_str("response"),
            Self::Persistence => f.write_str("persistence"),
            Self::Reactivity(m) => write!(f, "{m}-reactivity"),
        }
    }
}

/// The lowest class whose shape the automaton has [PROP12, def. 5].
///
/// Shape only: redundant pairs or states raise it. An automaton whose finite acceptance is not
/// that of definition 3 has the shape of its pairs.
pub fn syntactic(automaton: &StreettAutomaton) -> Class {
    let structure = automaton.structure();
    let no_way = |from: &StateSet, to: &StateSet| {
        from.iter()
            .all(|q| structure.row(q).iter().all(|&next| !to.contains(next)))
    };
    let closed = |p: &Pair| {
        no_way(&p.persistent.complement(), &p.persistent)
            && no_way(&p.recurrent, &p.recurrent.complement())
    };
    match automaton.pairs() {
        // No pair accepts everything, as (∅, Q) does.
        [] => Class::SafetyAndGuarantee,
        [p] => {
            let (r, per) = (p.recurrent.is_empty(), p.persistent.is_empty());
            match (r, per, closed(p)) {
                (true, true, _) => Class::SafetyAndGuarantee,
                (true, false, true) => Class::Safety,
                (false, true, true) => Class::Guarantee,
                (false, false, true) => Class::Obligation(1),
                (false, true, false) => Class::Response,
                (true, false, false) => Class::Persistence,
                (false, false, false) => Class::Reactivity(1),
            }
        }
        pairs if pairs.iter().all(closed) => Class::Obligation(pairs.len()),
        pairs => Class::Reactivity(pairs.len()),
    }
}

/// The semantic class of the infinitary part, with the lengths it was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SemanticClass {
    /// The lowest class. The property is *pure* in it, and in no other
    /// [PROP12, below def. 5].
    pub class: Class,
    /// The least m of a disjunctive form, `⋃_{i≤m} (S_i ∩ G_i)` or the same with response and
    /// persistence.
    pub disjuncts: usize,
}

impl SemanticClass {
    /// The class of the infinitary part of an automaton's property.
    pub fn new(automaton: &StreettAutomaton) -> Result<Self, AutomatonError> {
        let automaton = automaton.reachable_part();
        let forest = automaton.to_omega().forest()?;
        Ok(Self::of_forest(automaton.structure(), &forest))
    }

    /// Whether an automaton of this class shows the property in its lowest class.
    pub fn is_pure(&self, claimed: Class) -> bool {
        self.class == claimed
    }

    /// All states must be reachable.
    pub(crate) fn of_forest(structure: &Structure, forest: &CycleForest) -> Self {
        let weak = forest.roots().all(|r| forest.cycles[r].children.is_empty());
        if weak {
            let verdict = |i: usize| {
                forest.components[i]
                    .1
                    .map(|root| forest.cycles[root].accepting)
            };
            let parts: Vec<_> = forest.components.iter().map(|(states, _)| states).collect();
            let chains = Chains::new(structure, &parts, verdict);
            return chains.class();
        }
        let height = |verdict| {
            forest
                .roots()
                .map(|r| forest.height(r, verdict))
                .max()
                .unwrap_or(0)
        };
        let alternates = |outer: bool| {
            forest
                .cycles
                .iter()
                .any(|c| c.accepting == outer && !c.children.is_empty())
        };
        let class = match (alternates(true), alternates(false)) {
            (true, false) => Class::Response,
            (false, true) => Class::Persistence,
            _ => Class::Reactivity(height(false)),
        };
        Self {
            class,
            disjuncts: height(true),
        }
    }
}

/// Longest alternations of verdicts along the components of a graph.
pub(crate) struct Chains {
    /// The most blocks on a way whose first block accepts.
    accepting_first: usize,
    /// The most blocks on a way whose first block rejects.
    rejecting_first: usize,
}

impl Chains {
    /// `parts`: the components, successors first; a part without a verdict is passed over.
    pub(crate) fn new(
        structure: &Structure,
        parts: &[&Vec<crate::structure::StateId>],
        verdict: impl Fn(usize) -> Option<bool>,
    ) -> Self {
        let mut of_state = vec![(0, 0); structure.len()];
        for (i, states) in parts.iter().enumerate() {
            let mut here: (usize, usize) = (0, 0);
            for next in states.iter().flat_map(|&q| structure.row(q)) {
                let there = of_state[next.index()];
                here = (here.0.max(there.0), here.1.max(there.1));
            }
            match verdict(i) {
                Some(true) => here.0 = here.0.max(here.1 + 1),
                Some(false) => here.1 = here.1.max(here.0 + 1),
                None => {}
            }
            states.iter().for_each(|q| of_state[q.index()] = here);
        }
        let (accepting_first, rejecting_first) = of_state[structure.initial().index()];
        Self {
            accepting_first,
            rejecting_first,
        }
    }

    pub(crate) fn class(&self) -> SemanticClass {
        let (a, r) = (self.accepting_first, self.rejecting_first);
        let conjuncts = (a / 2).max(r.div_ceil(2));
        let class = match (r <= 1, a <= 1) {
            (true, true) => Class::SafetyAndGuarantee,
            (true, false) => Class::Safety,
            (false, true) => Class::Guarantee,
            (false, false) => Class::Obligation(conjuncts),
        };
        SemanticClass {
            class,
            disjuncts: a.div_ceil(2).max(r / 2),
        }
    }
}

/// The lowest class of the finitary part, by the finitary partners `A_f`, `E_f`, `R_f`, `P_f` of the
/// operators [PROP12, def. 17].
///
/// Safety means prefix-closed, guarantee extension-closed; obligation, that no state can be left and
/// met again with the other verdict in between. Beyond, every language is one of response: it is that of a Streett
/// automaton with P = ∅ whose recurrent states are those in which its sequences end. It is one of persistence just as well, which is told
/// where φ = `P_f(φ)` and not φ = `R_f(φ)`.
pub fn finitary(automaton: &StreettAutomaton) -> Class {
    let automaton = automaton.reachable_part();
    let (structure, finite) = (automaton.structure(), automaton.finite());
    let parts = components(structure);
    let uniform = parts.iter().all(|c| {
        c.iter()
            .all(|&q| finite.contains(q) == finite.contains(c[0]))
    });
    if uniform {
        let parts: Vec<_> = parts.iter().collect();
        let verdict = |i: usize| Some(finite.contains(parts[i][0]));
        return Chains::new(structure, &parts, verdict).class().class;
    }
    let is = |part: StateSet| part == *finite;
    if is(persistent_part(structure, finite)) && !is(recurrent_part(structure, finite)) {
        Class::Persistence
    } else {
        Class::Response
    }
}

/// What `classify` tells of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classification {
    /// The class of the r-property, finite and infinite sequences together, as definition 5 means it.
    pub property: Class,
    /// By the shape of the automaton.
    pub syntactic: Class,
    /// The lowest class of the infinitary part.
    pub infinitary: SemanticClass,
    /// The lowest class of the finitary part.
    pub finitary: Class,
}

impl Classification {
    /// Classifies a property in all four ways.
    pub fn new(automaton: &StreettAutomaton) -> Result<Self, AutomatonError> {
        let infinitary = SemanticClass::new(automaton)?;
        let mut finitary = finitary(automaton);
        // A language of response is one of persistence, too; then what the other part is counts.
        if (finitary, infinitary.class) == (Class::Response, Class::Persistence) {
            finitary = Class::Persistence;
        }
        Ok(Self {
            property: property_class::of_both_parts(automaton, infinitary.class)?,
            syntactic: syntactic(automaton),
            infinitary,
            finitary,
        })
    }

    /// Whether the shape shows the lowest class of the infinitary part.
    pub fn is_pure(&self) -> bool {
        self.infinitary.is_pure(self.syntactic)
    }

    /// Whether the finitary part lies in another class than the infinitary one.
    pub fn parts_differ(&self) -> bool {
        self.finitary != self.infinitary.class
    }
}
