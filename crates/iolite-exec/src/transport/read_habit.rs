//! Whether to read what often has nothing.

/// Whether it is worth while to read without waiting. Right after a stimulus, a system that shares the processor has often
/// answered, which saves the wait; most others need longer. Most systems are silent on their standard error. A read that finds
/// nothing is a call of the operating system in vain, so it is found out, again and again, which it is. That changes no
/// observation: a wait ends at once where something is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadHabit {
    /// Reads in a row that found nothing.
    vain: u32,
    /// Reads that are to be left out before the next try.
    pause: u32,
    /// How many are left out at a time.
    pauses: u32,
}

/// Reads in a row that find nothing before some are left out.
const VAIN: u32 = 4;

impl ReadHabit {
    /// Leaves out so many reads at a time.
    pub(crate) fn new(pauses: u32) -> Self {
        Self {
            vain: 0,
            pause: 0,
            pauses,
        }
    }

    /// Whether to read now.
    pub(crate) fn is_worthwhile(&mut self) -> bool {
        let pauses = self.pause > 0;
        self.pause = self.pause.saturating_sub(1);
        !pauses
    }

    /// Learns whether a read found something.
    pub(crate) fn learn(&mut self, found: bool) {
        self.vain = if found { 0 } else { self.vain + 1 };
        if self.vain >= VAIN {
            // One more in vain is enough to pause again.
            self.vain = VAIN - 1;
            self.pause = self.pauses;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_in_vain_become_rare_and_come_back() {
        let mut habit = ReadHabit::new(16);
        let mut reads = |finds: bool| {
            let mut reads = 0;
            for _ in 0..1000 {
                if habit.is_worthwhile() {
                    reads += 1;
                    habit.learn(finds);
                }
            }
            reads
        };
        assert!((1000 / 17..70).contains(&reads(false)));
        assert!(reads(true) > 980);
    }
}
