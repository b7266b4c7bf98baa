//! Ontologies as documents: read, checked, drafted from tables, written, and attested against the data.

pub mod about;
pub mod attest;
pub mod attest_run;
pub mod check;
mod covered;
pub mod describe;
pub mod dialect;
pub mod diff;
pub mod draft;
pub mod expression;
pub mod foreign;
pub mod graph;
pub mod library;
pub mod read;
pub mod renew;
pub mod visible;
mod withheld;
pub mod write;
