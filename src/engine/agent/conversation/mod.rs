//! A question within its conversation: which question is asked, how it is read, the answer made of its plan, and what
//! is kept of it.

mod answer;
pub mod ask;
mod erase;
mod memory;
mod preferences;
pub mod reword;
mod traces;
mod understand;
