//! What `iolite init --kind in-process` writes compiles and finds its fault.

// In the project itself this is a library.
#[allow(unreachable_pub)]
mod turnstile {
    include!("../src/starter/files/src/lib.rs");
}

include!("../src/starter/files/tests/conformance.rs");
