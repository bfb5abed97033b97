//! What a job has put together of a journal and nobody has written yet.

use std::sync::Arc;

use crate::record::compact_journal::CompactEncoder;
use crate::record::event_line::LineWriter;
use crate::record::journal::{JournalFile, JournalForm};
use crate::{Event, ExecError};

/// Bytes that wait for a write at most.
const MOST: usize = 64 << 10;

/// Microseconds of a run after which a step is written with what waits before it, where no thread writes behind: slow models have
/// few steps in 64 KiB.
const PERIOD: u64 = 200_000;

/// The records of one job that wait for a write.
#[derive(Debug)]
pub(super) struct WaitingRecords {
    file: Arc<JournalFile>,
    stream: u32,
    encoder: CompactEncoder,
    lines: LineWriter,
    /// Memory for a block.
    block: Vec<u8>,
    /// When the last write was, in the time of the run.
    written: u64,
}

impl WaitingRecords {
    pub(super) fn new(file: Arc<JournalFile>, stream: u32) -> Self {
        Self {
            file,
            stream,
            encoder: CompactEncoder::default(),
            lines: LineWriter::default(),
            block: Vec::new(),
            written: 0,
        }
    }

    /// Puts an event behind the others. It is written at once with a verdict, and where much waits, or waits for long.
    #[expect(clippy::inline_always, reason = "once a step")]
    #[inline(always)]
    pub(super) fn put(&mut self, event: &Event) -> Result<(), ExecError> {
        let waiting = match self.file.form {
            JournalForm::JsonLines => {
                self.lines.write(event).map_err(|e| self.file.fail(e))?;
                self.lines.lines().len()
            }
            JournalForm::Compact => {
                self.encoder.push(event).map_err(|e| self.file.fail(e))?;
                self.encoder.len()
            }
        };
        let now = match event {
            Event::Stimulus { at, .. }
            | Event::Output { at, .. }
            | Event::Quiescence { at, .. } => self.is_due(*at),
            Event::Pause { .. } | Event::Bytes { .. } => false,
            Event::RunStarted { .. } => {
                self.written = 0;
                false
            }
            // A verdict, or what is near one.
            _ => true,
        };
        if now || waiting > MOST {
            if let Event::Stimulus { at, .. }
            | Event::Output { at, .. }
            | Event::Quiescence { at, .. } = event
            {
                self.written = *at;
            }
            return self.flush();
        }
        Ok(())
    }

    /// Whether the last write was long ago at this time of the run. A clock that goes back is none.
    fn is_due(&self, at: u64) -> bool {
        at.saturating_sub(self.written) > PERIOD
    }

    /// The file, for messages.
    pub(super) fn path(&self) -> String {
        self.file.path.display().to_string()
    }

    /// Whether everything is written.
    pub(super) fn is_empty(&self) -> bool {
        match self.file.form {
            JournalForm::JsonLines => self.lines.lines().is_empty(),
            JournalForm::Compact => self.encoder.len() == 0,
        }
    }

    /// Writes what is there.
    pub(super) fn flush(&mut self) -> Result<(), ExecError> {
        if self.is_empty() {
            return Ok(());
        }
        // What was not written now is not written later: a line in the middle of the file would be torn.
        match self.file.form {
            JournalForm::JsonLines => {
                let written = self.file.write(self.lines.lines());
                self.lines.clear();
                written
            }
            JournalForm::Compact => {
                self.encoder.block(self.stream, &mut self.block);
                self.file.write(&self.block)
            }
        }
    }
}
