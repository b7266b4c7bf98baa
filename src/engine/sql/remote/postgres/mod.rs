//! PostgreSQL, and what speaks its protocol and its dialect.

pub mod guard;
