//! The system's allocator, and an honest end where it has nothing left to give.
//!
//! An allocation that fails (as under `ulimit -v`) would abort the process. It ends in exit code 3
//! instead, with what is known so far: a bound ran out, and that is no answer.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::args::bounds;
use crate::output::Exit;

/// The allocator of the command.
#[derive(Debug)]
pub struct Allocator;

#[expect(
    unsafe_code,
    reason = "the trait asks for it; every call goes to the system's allocator as it came"
)]
// SAFETY: as that of `System`, whose answers are passed on unless they are null.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        given(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        given(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        given(unsafe { System.realloc(block, layout, size) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(block, layout) };
    }
}

#[inline]
fn given(block: *mut u8) -> *mut u8 {
    if block.is_null() {
        out_of_memory();
    }
    block
}

/// Says so and ends. Nothing here allocates before the message is out; what kills systems under test may
/// have to, and an allocation that fails again ends at once.
#[cold]
fn out_of_memory() -> ! {
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
