//! Questions over ontologies.

mod compiled;
mod trap;
