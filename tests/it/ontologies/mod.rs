//! Ontologies over real tables.

mod attest;
mod drafts;
mod thousand;
