//! The answer in words: a plan restated for people, numbers as people write them, the narrative around a result, and
//! the guard over numbers in a text. Everything here is pure text making; nothing is asked or computed anew.

pub mod names;
mod phrases;
mod restate;
mod support;
mod tell;
mod ways;
mod window;

pub use phrases::{measure, one as condition};
pub use restate::{bound, restate};
pub use support::unsupported_numbers;
pub use tell::{Facts, Told, tell};
pub use window::describe;

#[cfg(test)]
mod tests;
