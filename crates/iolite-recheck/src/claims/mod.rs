//! One file for each kind of claim: what it says, compared with what the definitions give.

pub(crate) mod data_claim;
pub(crate) mod holding;
pub(crate) mod holding_queues;
pub(crate) mod lasso;
pub(crate) mod property;
pub(crate) mod relation;
pub(crate) mod relation_queues;
pub(crate) mod run;
pub(crate) mod run_queues;
pub(crate) mod satisfied;
pub(crate) mod suite;
pub(crate) mod test_run;
