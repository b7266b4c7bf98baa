//! The attack catalogue.

mod authorize;
mod bearer;
mod token;
mod wire;
