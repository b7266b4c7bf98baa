//! The command line.

pub mod admin;
