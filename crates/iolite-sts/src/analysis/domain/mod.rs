//! Numerical abstract domains, and their product with finite data, for verification by abstract
//! interpretation; [SYM04, §3.4 and §5] used the tool `NBac` for this.
//!
//! A numeric element describes a set of integer points, one coordinate a [`Dim`]. Three domains of
//! growing strength share the trait [`NumericDomain`]: [`IntervalBox`], [`Octagon`] and
//! [`Polyhedron`]. [`Abstract`] multiplies one of them with the Booleans and enumerations of a
//! model and knows how guards and assignments act on it. Symbolic constants are coordinates like
//! the variables, so that a relation such as `rn <= max` can be an invariant.
//!
//! Everything here may say too much, never too little: what is not understood is `top`, and what
//! grows beyond a budget is weakened.

mod abstract_state;
mod assignment;
mod constraint;
mod double_description;
mod evaluation;
mod guard;
mod interval;
mod interval_box;
mod invariant;
mod linear;
mod numeric;
mod octagon;
mod polyhedron;
mod polyhedron_widening;
mod preimage;
mod row;
mod tight_closure;
mod vocabulary;
mod widening;

pub use abstract_state::Abstract;
pub use constraint::{Constraint, Relation};
pub use interval::Interval;
pub use interval_box::IntervalBox;
pub use linear::{Dim, LinExpr};
pub use numeric::{NumericDomain, Rhs};
pub use octagon::Octagon;
pub use polyhedron::{
    MAX_POLYHEDRON_COEFFICIENT_BITS, MAX_POLYHEDRON_DIMENSIONS, MAX_POLYHEDRON_ROWS, Polyhedron,
};
pub use vocabulary::{Limits, Quantity, Vocabulary};
pub use widening::Widening;
