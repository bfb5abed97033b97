//! What the shape of a formula says about its class, before there is an automaton [Manna and Pnueli 1990].

use super::Ltl;

/// The classes of infinite sequences that the shape of a formula puts it into. Every class is closed under
/// conjunction, disjunction and X; negation exchanges safety and guarantee, response and persistence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "classes include each other, so several hold at once"
)]
pub struct Shape {
    safety: bool,
    guarantee: bool,
    obligation: bool,
    response: bool,
    persistence: bool,
}

impl Shape {
    const ALL: Self = Self {
        safety: true,
        guarantee: true,
        obligation: true,
        response: true,
        persistence: true,
    };

    /// The lowest of them, in words.
    pub fn name(self) -> &'static str {
        match self {
            Self {
                safety: true,
                guarantee: true,
                ..
            } => "safety and guarantee",
            Self { safety: true, .. } => "safety",
            Self {
                guarantee: true, ..
            } => "guarantee",
            Self {
                obligation: true, ..
            } => "obligation",
            Self { response: true, .. } => "response",
            Self {
                persistence: true, ..
            } => "persistence",
            Self { .. } => "reactivity",
        }
    }

    fn both(self, other: Self) -> Self {
        Self {
            safety: self.safety && other.safety,
            guarantee: self.guarantee && other.guarantee,
            obligation: self.obligation && other.obligation,
            response: self.response && other.response,
            persistence: self.persistence && other.persistence,
        }
    }

    fn negated(self) -> Self {
        Self {
            safety: self.guarantee,
            guarantee: self.safety,
            obligation: self.obligation,
            response: self.persistence,
            persistence: self.response,
        }
    }

    /// Safety and response: what holds at every position.
    fn always(self) -> Self {
        Self {
            safety: self.safety,
            guarantee: false,
            obligation: self.safety,
            response: self.response,
            persistence: self.safety,
        }
    }

    /// Guarantee and persistence: what holds at some position.
    fn eventually(self) -> Self {
        self.negated().always().negated()
    }
}

impl Ltl {
    /// The classes that the formula's infinite sequences are in, as far as its shape shows.
    pub fn shape(&self) -> Shape {
        let all = |parts: &[Self]| {
            let shapes = parts.iter().map(Self::shape);
            shapes.fold(Shape::ALL, Shape::both)
        };
        match self {
            // What is past is known at each position.
            Self::True
            | Self::False
            | Self::Atom(_)
            | Self::AnyOf(_)
            | Self::Previous(_)
            | Self::Once(_)
            | Self::Historically(_)
            | Self::Since(..) => Shape::ALL,
            Self::Not(inner) => inner.shape().negated(),
            Self::And(parts) | Self::Or(parts) => all(parts),
            Self::Implies(a, b) => a.shape().negated().both(b.shape()),
            Self::Iff(a, b) => {
                let (a, b) = (a.shape(), b.shape());
                a.both(b).both(a.negated()).both(b.negated())
            }
            Self::Next(inner) => inner.shape(),
            Self::Always(inner) => inner.shape().always(),
            Self::Eventually(inner) => inner.shape().eventually(),
            Self::Release(a, b) | Self::WeakUntil(a, b) => a.shape().both(b.shape()).always(),
            Self::Until(a, b) | Self::StrongRelease(a, b) => a.shape().both(b.shape()).eventually(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::ltl::{Ltl, Options};
    use crate::{Alphabet, Class, Classification};

    /// Whether a class of infinite sequences lies in what a shape says.
    fn is_within(class: Class, shape: &str) -> bool {
        match shape {
            "safety and guarantee" => class == Class::SafetyAndGuarantee,
            "safety" => matches!(class, Class::SafetyAndGuarantee | Class::Safety),
            "guarantee" => matches!(class, Class::SafetyAndGuarantee | Class::Guarantee),
            "obligation" => !matches!(
                class,
                Class::Response | Class::Persistence | Class::Reactivity(_)
            ),
            "response" => !matches!(class, Class::Persistence | Class::Reactivity(_)),
            "persistence" => !matches!(class, Class::Response | Class::Reactivity(_)),
            _ => true,
        }
    }

    #[test]
    fn a_formula_is_of_no_higher_class_than_its_shape() {
        let atoms = ["!a", "!b", "X !a", "not !b"];
        let unary = ["G", "F", "not", "X"];
        let binary = ["U", "W", "R", "M", "and", "or", "->"];
        let mut formulas: Vec<String> = atoms.iter().map(|&a| a.to_owned()).collect();
        for _ in 0..2 {
            let inner: Vec<String> = formulas.iter().take(14).cloned().collect();
            for (k, one) in inner.iter().enumerate() {
                formulas.extend(unary.iter().map(|op| format!("{op} ({one})")));
                let other = &inner[(k * 5 + 3) % inner.len()];
                formulas.extend(binary.iter().map(|op| format!("({one}) {op} ({other})")));
            }
        }
        let alphabet = Arc::new(Alphabet::of_names(["!a", "!b", "!c"]).expect("letters"));
        let (mut met, mut exact) = (0, 0);
        for text in formulas {
            let formula = Ltl::parse(&text, &alphabet).expect("a formula");
            let Ok(translation) = formula.translate(&alphabet, Options::default()) else {
                continue;
            };
            let class = Classification::new(&translation.automaton).expect("small");
            let class = class.infinitary.class;
            let shape = formula.shape().name();
            assert!(is_within(class, shape), "{text}: {class} is not {shape}");
            met += 1;
            exact += usize::from(class.to_string().contains(shape));
        }
        assert!(met > 150 && exact > 30, "{met} {exact}");
    }
}
