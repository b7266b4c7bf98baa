//! Planners: from a question to a plan.

pub mod model;
pub mod rules;
pub mod validate;
pub mod values;
