//! The event stream as it is.

use std::io::Write;

use crate::{Event, ExecError, Sink};

/// Writes each event as one line of JSON, flushed.
pub struct JsonLines(pub Box<dyn Write + Send>);

impl Sink for JsonLines {
    fn event(&mut self, event: &Event) -> Result<(), ExecError> {
        let fail = |e: std::io::Error| ExecError::Report(e.to_string());
        let mut line = serde_json::to_vec(event).map_err(|e| fail(e.into()))?;
        line.push(b'\n');
        self.0.write_all(&line).map_err(fail)?;
        self.0.flush().map_err(fail)
    }
}
