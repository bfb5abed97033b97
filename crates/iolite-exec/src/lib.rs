//! Runs a tester against a system under test.
//!
//! The way of a run: an [`Adapter`] reaches the system, a codec turns bytes into actions, the engine
//! asks the tester what may be done, a strategy chooses, the system answers, the tester judges, and
//! each step is an event that a journal, a report and the console read alike.
//!
//! This crate must not know model text, nor decide conformance: verdicts are the tester's alone. A
//! fault of the infrastructure is an [`ExecError`], never a verdict.

mod accept_key;
mod adapter;
mod bounds;
mod calibrate;
mod campaign;
mod certificate;
mod chart;
pub mod codec;
mod command_line;
mod concrete_action;
mod engine;
mod error;
mod event;
mod exit;
mod framing;
mod guided;
mod hexdump;
mod http;
mod in_process;
mod journal;
mod key_hint;
mod link;
mod model_sut;
mod monitor;
mod place;
mod process;
mod quiescence;
mod readiness;
mod replay;
pub mod report;
mod script;
mod shrink;
mod simulate;
mod stdio;
mod strategy;
mod stream_buffer;
mod stream_link;
mod sut;
mod symbolic_sut;
mod tcp;
mod trace;
mod udp;
mod websocket;
mod weighted;
mod wired;

pub use adapter::{Adapter, Received};
pub use bounds::Bounds;
pub use calibrate::{Calibrator, Measure, Proposal};
pub use campaign::{Instance, JobId, KEPT_FAILURES, Plan, Summary, campaign};
pub use certificate::{CERTIFICATE_FORMAT, Certificate, ModelRef};
pub use chart::chart;
pub use command_line::CommandLine;
pub use concrete_action::{ConcreteAction, WireValue, brief};
pub use engine::{Limits, OnExit, Options, RunId, RunOutcome, run};
pub use error::ExecError;
pub use event::{End, Event, Fanout, Sink};
pub use exit::{Exit, ExitKind};
pub use framing::Framing;
pub use guided::{Advised, Guided, guided};
pub use hexdump::hexdump;
pub use in_process::{AsyncSystemUnderTest, Blocking, InProcess, SystemUnderTest, block_on};
pub use journal::{JOURNAL_FORMAT, Journal, JournalHeader, JournalWriter};
pub use model_sut::{ModelSut, RefusedInput};
pub use monitor::{
    LogFormat, LogReader, LogStep, MonitorOptions, Monitored, monitor, monitor_watched,
};
pub use place::JobPlace;
pub use process::CommandSpec;
pub use quiescence::Quiescence;
pub use replay::{Divergence, Replay, replay};
pub use script::{Op, Script};
pub use shrink::{ShrinkPlan, Shrunk, shrink};
pub use simulate::{PlayedLabels, RunningModel, Simulator};
pub use strategy::{Choice, Coverage, Strategy, Uniform};
pub use sut::{
    ActionConfig, ChannelConfig, LimitsConfig, QuiescenceConfig, ResetKind, SutConfig,
    UdpAddresses, UndecodableKind,
};
pub use symbolic_sut::SymbolicSut;
pub use tcp::TcpRole;
pub use trace::{Step, Trace};
pub use weighted::{Sparing, Weighted, Weights};
pub use wired::{Reset, Wired};
