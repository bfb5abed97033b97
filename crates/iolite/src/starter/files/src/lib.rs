// A turnstile: a coin unlocks it for one push.

/// The system under test.
#[derive(Debug)]
pub struct Turnstile {
    broken: bool,
    paid: bool,
}

impl Turnstile {
    /// A locked turnstile; a broken one loses the paid coin together with one that comes back.
    pub fn new(broken: bool) -> Self {
        Self {
            broken,
            paid: false,
        }
    }

    /// Someone throws a coin in.
    pub fn coin(&mut self) -> &'static str {
        if !self.paid {
            self.paid = true;
            return "unlocked";
        }
        // The planted fault.
        self.paid = !self.broken;
        "returned"
    }

    /// Someone pushes the arm.
    pub fn push(&mut self) -> &'static str {
        if std::mem::take(&mut self.paid) {
            "passed"
        } else {
            "refused"
        }
    }
}
