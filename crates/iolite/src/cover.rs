//! What is to be covered of a model, as a flag.

use iolite_sts::CoverageCriterion;

/// What is to be covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Cover {
    /// Every state; of a model whose data are kept, every location
    States,
    /// Every transition
    #[default]
    Transitions,
    /// Every transition with each side of an `||` in its guard; models with data
    Branches,
    /// Every two transitions that follow one another; models with data
    SwitchPairs,
}

impl From<Cover> for CoverageCriterion {
    fn from(cover: Cover) -> Self {
        match cover {
            Cover::States => Self::Locations,
            Cover::Transitions => Self::Transitions,
            Cover::Branches => Self::Branches,
            Cover::SwitchPairs => Self::SwitchPairs,
        }
    }
}
