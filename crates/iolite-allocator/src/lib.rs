//! Who gives memory to the `iolite` command, and an honest end where there is nothing left to give.
//!
//! Whatever links this crate allocates with it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::process;
use std::ptr;
use std::sync::OnceLock;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// How the process ends where an allocation fails, as under `ulimit -v`.
static END: OnceLock<fn() -> !> = OnceLock::new();

/// Says how this process ends where an allocation fails; `end` should not allocate. It is said once, and until then such a process aborts.
pub fn end_without_memory_by(end: fn() -> !) {
    let _ = END.set(end);
}

/// Blocks of fewer bytes are mimalloc's, which threads do not wait for; larger ones the system's, which grow where they are and are given
/// back at once. To take all from the one doubled the peak of searches, to take all from the other cost threads that derive
/// test cases more than they gained.
const LARGE: usize = 16 << 10;

/// Who gives a block follows from its size, and whoever frees it says that again.
struct Allocator;

#[expect(
    unsafe_code,
    reason = "the trait asks for it; every call goes to an allocator as it came"
)]
// SAFETY: each block is allocated, grown and freed by one of two allocators, which its size names. Their answers are passed on
// unless they are null. A block that is grown or shrunk across the border is copied to one of the other, as much as both hold.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        given(unsafe {
            if layout.size() < LARGE {
                MiMalloc.alloc(layout)
            } else {
                System.alloc(layout)
            }
        })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        given(unsafe {
            if layout.size() < LARGE {
                MiMalloc.alloc_zeroed(layout)
            } else {
                System.alloc_zeroed(layout)
            }
        })
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        match (layout.size() < LARGE, size < LARGE) {
            // SAFETY: the caller's promise is passed on, to whom the block is from.
            (true, true) => given(unsafe { MiMalloc.realloc(block, layout, size) }),
            // SAFETY: as above.
            (false, false) => given(unsafe { System.realloc(block, layout, size) }),
            _ => {
                // SAFETY: the caller promises that the size, rounded up to the alignment, is no overflow. The new block is another
                // one, both hold what is copied, and the old one is freed as it was allocated.
                unsafe {
                    let other = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                    ptr::copy_nonoverlapping(block, other, layout.size().min(size));
                    self.dealloc(block, layout);
                    other
                }
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on, to whom the block is from.
        unsafe {
            if layout.size() < LARGE {
                MiMalloc.dealloc(block, layout);
            } else {
                System.dealloc(block, layout);
            }
        }
    }
}

#[inline]
fn given(block: *mut u8) -> *mut u8 {
    if block.is_null() {
        out_of_memory();
    }
    block
}

#[cold]
fn out_of_memory() -> ! {
    match END.get() {
        Some(end) => end(),
        None => process::abort(),
    }
}
