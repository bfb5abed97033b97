//! Whether to read before waiting.

/// Whether it is worth while to read right after a stimulus, before waiting for an answer. A system that shares the processor
/// has often answered by then, which saves the wait; most others need longer, and a read that finds nothing is a call of the
/// operating system in vain. So it is found out, again and again. Which it is changes no observation: a wait ends at
/// once where something is there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EarlyRead {
    /// Reads in a row that found nothing.
    vain: u32,
    /// Waits that are left without a read before it.
    pause: u32,
}

/// Reads in a row that find nothing before some are left out.
const VAIN: u32 = 4;

/// Waits without a read before the next try.
const PAUSE: u32 = 60;

impl EarlyRead {
    /// Whether to read before this wait.
    pub(crate) fn is_worthwhile(&mut self) -> bool {
        let pauses = self.pause > 0;
        self.pause = self.pause.saturating_sub(1);
        !pauses
    }

    /// Learns whether a read found a message.
    pub(crate) fn learn(&mut self, found: bool) {
        self.vain = if found { 0 } else { self.vain + 1 };
        if self.vain >= VAIN {
            // One more in vain is enough to pause again.
            self.vain = VAIN - 1;
            self.pause = PAUSE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_in_vain_become_rare_and_come_back() {
        let mut early = EarlyRead::default();
        let mut reads = |answers_at_once: bool| {
            let mut reads = 0;
            for _ in 0..1000 {
                if early.is_worthwhile() {
                    reads += 1;
                    early.learn(answers_at_once);
                }
            }
            reads
        };
        assert!(reads(false) < 30);
        assert!(reads(true) > 900);
    }
}
