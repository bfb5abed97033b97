//! Stacks of our own for recursion that is as deep as a model wants it.

/// Room for some thousand levels of terms, however large the frames are.
const SIZE: usize = 24 << 20;

/// Runs `work` on a stack of its own; `None` where the system has no room for one.
pub(crate) fn on_own_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(SIZE);
        let running = thread.spawn_scoped(scope, work).ok()?;
        match running.join() {
            Ok(result) => Some(result),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
