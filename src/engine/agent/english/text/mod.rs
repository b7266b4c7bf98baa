//! Texts before anything is known of their meaning: signs and words, and numbers.

pub mod number;
pub mod token;
