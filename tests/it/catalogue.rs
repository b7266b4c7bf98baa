//! The attack catalogue.

mod authorize;
mod token;
