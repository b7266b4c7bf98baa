//! Texts before anything is known of their meaning: signs and words, and numbers.

pub(super) mod number;
pub(super) mod token;
