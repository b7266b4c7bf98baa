//! What computes. Every function that touches data demands a [`job::Job`], and with it a pass.

pub mod files;
pub mod ingest;
pub mod job;
pub mod search;
pub mod sql;
