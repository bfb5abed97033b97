//! The editor server of the `.iol` language: the Language Server Protocol (3.17) over a pair of byte streams.
//!
//! [`serve`] reads messages and answers them one after the other, in one thread. It knows the texts that the
//! client sends and opens no file; what it says of them is said by `iolite-lang`.
//!
//! Input is hostile here as everywhere: a message, a text and all texts together have bounds, values that
//! nobody asked for are skipped without being built, and where the stream cannot be followed any more the
//! session ends with an error.

mod diagnostics;
mod document;
mod features;
mod framing;
mod position;
mod rpc;
mod server;
mod symbols;

use std::io::{BufReader, Read, Write};

pub use framing::{FramingError, MOST_MESSAGE_BYTES};

use framing::Incoming;
use rpc::{ErrorCode, Outbox, Refusal};
use server::{Flow, Server};

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// After `shutdown`.
    ShutDown,
    /// Without it: the client left.
    Left,
}

/// Why a session could not go on.
#[derive(Debug, thiserror::Error)]
pub enum LspError {
    /// Nobody knows where the next message begins.
    #[error(transparent)]
    Framing(#[from] FramingError),
    /// The client does not read.
    #[error("writing a message: {0}")]
    Write(std::io::Error),
}

/// Serves one client until it says `exit`, or leaves.
pub fn serve(input: impl Read, mut output: impl Write) -> Result<Ending, LspError> {
    let mut input = BufReader::new(input);
    let mut server = Server::default();
    let mut flow = Flow::GoOn;
    while flow == Flow::GoOn {
        let mut out = Outbox::default();
        let incoming = framing::read(&mut input);
        match &incoming {
            Ok(Incoming::Message(body)) => flow = server.take(body, &mut out),
            Ok(Incoming::TooLong(length)) => server.dropped(*length, &mut out),
            Ok(Incoming::End) => flow = Flow::Exit,
            Err(error) => {
                let refusal = Refusal::new(ErrorCode::ParseError, error.to_string());
                out.refuse(None, &refusal);
            }
        }
        // Of a text that changes again at once nobody wants to know what is wrong with it.
        if flow == Flow::GoOn && input.buffer().is_empty() {
            server.publish(&mut out);
        }
        let written = output.write_all(&out.bytes).and_then(|()| output.flush());
        incoming?;
        written.map_err(LspError::Write)?;
    }
    Ok(if server.is_shut_down() {
        Ending::ShutDown
    } else {
        Ending::Left
    })
}
