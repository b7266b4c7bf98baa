//! `/account`: the person's own things.

pub mod apps;
pub mod passkeys;
pub mod profile;
pub mod providers;
pub mod questions;
pub mod sessions;
pub mod two_step;
