//! What a certificate holds, and that its files are what it says. No definition of the papers is here.

pub(crate) mod document;
pub(crate) mod files;
