//! The definitions of the papers, on tables and plain sets of states.

pub(crate) mod channels;
pub(crate) mod executions;
pub(crate) mod observer;
pub(crate) mod observer_orders;
pub(crate) mod property_observer;
pub(crate) mod queues;
pub(crate) mod streett;
pub(crate) mod system;
