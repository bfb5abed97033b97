//! How a system under test is reached: processes, sockets, models, code in this process.

pub(crate) mod bounds;
pub(crate) mod byte_adapter;
pub(crate) mod command_line;
pub(crate) mod exit;
pub(crate) mod framing;
pub(crate) mod http;
pub(crate) mod http_request;
pub(crate) mod http_response;
pub(crate) mod in_process;
pub(crate) mod interrupt;
pub(crate) mod link;
pub(crate) mod listener;
pub(crate) mod model_sut;
pub(crate) mod place;
pub(crate) mod process;
pub(crate) mod process_tree;
pub(crate) mod readiness;
pub(crate) mod simulate;
pub(crate) mod stdio;
pub(crate) mod stream_buffer;
pub(crate) mod stream_link;
pub(crate) mod symbolic_sut;
pub(crate) mod tcp;
pub(crate) mod udp;
pub(crate) mod websocket;
