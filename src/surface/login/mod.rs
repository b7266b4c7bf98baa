//! Logging in and out, a forgotten password, an invitation: what a person sees before they are at home.

pub mod confirm;
pub mod forgot;
mod form;
pub mod invitation;
pub mod log_in;
pub mod log_out;
pub mod passkey;
mod proof;
pub mod reset;
pub mod two_step;
pub mod upstream;
