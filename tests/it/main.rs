//! All tests that need more than one module: one binary, so that everything is linked once.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

mod architecture;
mod attacks;
mod browser_store;
mod denials;
mod identity;
mod oauth;
mod search;
mod site;
mod sql;
mod story;
mod support;
