//! The integration tests: one binary, one module a subject.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod search;
