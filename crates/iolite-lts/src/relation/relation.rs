//! The implementation relations by name.

use std::fmt;
use std::str::FromStr;

/// Which labels a relation compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compares {
    /// Actions of whatever kind.
    Actions,
    /// Outputs and δ after traces without δ, of an implementation that takes every input.
    OutputsAfterTraces,
    /// Outputs and δ after traces in which δ may stand, of the same.
    OutputsAfterSuspensionTraces,
}

/// One line a relation: everything else about it that is not in its own file follows from here, and
/// the compiler asks for the arms of what matches on it.
macro_rules! relations {
    ($($(#[$doc:meta])* $variant:ident: $name:literal, $sign:literal, $compares:ident;)*) => {
        /// An implementation relation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Relation {
            $($(#[$doc])* $variant,)*
        }

        impl Relation {
            /// All relations, in the order of the papers.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The sign that the papers write.
            pub fn sign(self) -> &'static str {
                match self {
                    $(Self::$variant => $sign,)*
                }
            }

            fn compares(self) -> Compares {
                match self {
                    $(Self::$variant => Compares::$compares,)*
                }
            }
        }
    };
}

relations! {
    /// ≤tr, trace preorder [LTS96, def. 4.1].
    Trace: "trace", "≤tr", Actions;
    /// ≤te, testing preorder [LTS96, def. 4.3, prop. 4.5].
    Testing: "testing", "≤te", Actions;
    /// conf [LTS96, def. 4.7, prop. 4.8].
    Conf: "conf", "conf", Actions;
    /// ≤iot [LTS96, def. 6.1, prop. 6.2].
    Iot: "iot", "≤iot", OutputsAfterTraces;
    /// ioconf [LTS96, def. 6.10].
    Ioconf: "ioconf", "ioconf", OutputsAfterTraces;
    /// `ioconf_F` for a given set of traces [LTS96, (3)].
    IoconfF: "ioconf-f", "ioconf-f", OutputsAfterTraces;
    /// ioco [IOCO99, §4; SAFE04, def. 8].
    Ioco: "ioco", "ioco", OutputsAfterSuspensionTraces;
    /// ioco over the universal suspension traces: an input counts as specified only where every
    /// state that the specification may be in takes it.
    Uioco: "uioco", "uioco", OutputsAfterSuspensionTraces;
}

impl Relation {
    /// Whether the relation tells inputs from outputs, and so wants an input-enabled implementation.
    pub fn is_directed(self) -> bool {
        self.compares() != Compares::Actions
    }

    /// Whether δ can only be the last observation of a trace: ≤iot, ioconf and `ioconf_F` speak of
    /// traces without δ [LTS96, §6].
    pub fn ends_at_delta(self) -> bool {
        self.compares() == Compares::OutputsAfterTraces
    }

    /// The names of all relations, for help texts and messages: `trace, testing or ioco`.
    pub fn names() -> String {
        let names: Vec<&str> = Self::ALL.iter().map(|r| r.name()).collect();
        match names.split_last() {
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }

    /// The same with the papers' signs where these differ: `trace (≤tr), testing (≤te), conf`.
    pub fn names_and_signs() -> String {
        let shown = |r: &Self| match (r.name(), r.sign()) {
            (name, sign) if name == sign => name.to_owned(),
            (name, sign) => format!("{name} ({sign})"),
        };
        Self::ALL.iter().map(shown).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no relation's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown relation `{0}`; a relation is {names}", names = Relation::names())]
pub struct UnknownRelation(pub String);

impl FromStr for Relation {
    type Err = UnknownRelation;

    fn from_str(name: &str) -> Result<Self, UnknownRelation> {
        let known = Self::ALL.iter().copied().find(|r| r.name() == name);
        known.ok_or_else(|| UnknownRelation(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_listed() {
        for &relation in Relation::ALL {
            assert_eq!(relation.name().parse(), Ok(relation));
            assert!(Relation::names().contains(relation.name()));
        }
        let error = "iocco".parse::<Relation>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown relation `iocco`; a relation is trace, testing, conf, iot, ioconf, ioconf-f, ioco or uioco"
        );
        assert!(Relation::names_and_signs().starts_with("trace (≤tr), testing (≤te), conf, iot"));
    }
}
