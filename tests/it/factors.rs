//! Second factors, passkeys and the strength of a log-in. Names are those of the attack catalogue.

pub mod app;
mod authenticator;
mod pages;
mod state;
