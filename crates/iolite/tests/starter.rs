//! What `iolite init --kind in-process` writes compiles and finds its fault.

mod turnstile {
    include!("../src/starter/files/src/lib.rs");
}

include!("../src/starter/files/tests/conformance.rs");
