//! What is kept of runs: events, journals, certificates, and what is made of them again.

pub(crate) mod action_text;
pub(crate) mod certificate;
pub(crate) mod compact_journal;
pub(crate) mod compact_lines;
mod compact_records;
pub(crate) mod description;
pub(crate) mod event;
pub(crate) mod event_line;
pub(crate) mod journal;
pub(crate) mod journal_place;
pub(crate) mod log;
pub(crate) mod merge;
pub(crate) mod monitor;
pub(crate) mod recorded_summary;
pub(crate) mod replay;
pub(crate) mod shrink;
pub(crate) mod trace;
pub(crate) mod traffic;
mod waiting_records;
mod write_behind;
