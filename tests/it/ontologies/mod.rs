//! Ontologies over real tables.

mod attest;
