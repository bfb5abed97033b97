//! An honest end where there is no memory left.
//!
//! An allocation that fails would abort the process. It ends in exit code 3 instead, with what is known so far: a bound ran out, and that
//! is no answer.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::args::bounds;
use crate::output::Exit;

/// Says so and ends. Nothing here allocates before the message is out; what kills systems under test may
/// have to, and an allocation that fails again ends at once.
pub(crate) fn end() -> ! {
    static ENDING: AtomicBool = AtomicBool::new(false);
    if !ENDING.swap(true, Ordering::Relaxed) {
        say("error: out of memory: the machine or a limit such as `ulimit -v` gives no more\n");
        bounds::with_known(|known| {
            say("  until then: ");
            say(known);
            say("\n");
        });
        iolite_exec::kill_systems();
    }
    signal_hook::low_level::exit(Exit::Inconclusive as i32)
}

fn say(text: &str) {
    let mut left = text.as_bytes();
    while let Ok(written @ 1..) = rustix::io::write(rustix::stdio::stderr(), left) {
        left = &left[written..];
    }
}
