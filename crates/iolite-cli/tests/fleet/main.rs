//! `iolite fleet`, over a server of the test's own: campaigns whose workers are killed, stopped and cut off.

#[path = "../common/mod.rs"]
mod common;
mod faults;
mod fits;
mod fixture;
mod hostile;
mod killed;
mod kinds;
mod limits;
mod page;
mod servers;
