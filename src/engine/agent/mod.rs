//! Questions in plain words, in this order: a planner makes a plan, the compiler makes SQL of it, the SQL engine runs it,
//! the verifier looks for reasons to distrust the result, the explainer says it.

mod answer;
pub mod ask;
pub mod compiler;
mod erase;
pub mod explainer;
pub mod lexicon;
pub mod lineage;
mod memory;
pub mod number;
pub mod planner;
pub mod preferences;
mod prepared;
mod refresh;
pub mod reword;
pub mod time;
pub mod token;
mod traces;
mod understand;
pub mod verifier;
