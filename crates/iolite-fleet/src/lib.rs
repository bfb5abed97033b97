//! Campaigns on many machines, over NATS `JetStream`.
//!
//! A campaign is a [`Description`] and files that travel by content hash. Ranges of its runs are messages
//! of a work queue; what a run came to is written once, by creating a key; a message is acknowledged after
//! that. So whatever dies between two of these steps, a run is made again, and counts once.
//!
//! Whatever comes from the server is taken for hostile: it is bounded, checked, and starts nothing that
//! the worker's own allow-list does not name.

mod allow_list;
mod board;
mod bounds;
mod claim;
mod description;
mod error;
mod files;
mod fleet;
mod maker;
mod outcome;
mod seen;
mod server;
mod status;
mod tally;
mod worker;

pub use allow_list::{AllowList, Programs};
pub use bounds::Bounds;
pub use description::{Capabilities, Description, Kind, Limits, TravellingFile};
pub use error::FleetError;
pub use files::{digest, is_plain_path};
pub use fleet::{Fleet, ReportedCampaign, Submitted};
pub use maker::{MadeItem, MakerFault, MakerLine, MakerOrder, MakerSpec, RangeEnd};
pub use outcome::Outcome;
pub use seen::Seen;
pub use server::ServerOptions;
pub use status::{Status, StopReason, WorkerStatus};
pub use worker::{Accepts, WorkEnd, WorkOptions};
