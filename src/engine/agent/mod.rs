//! Questions in plain words, in this order: a planner makes a plan, the compiler makes SQL of it, the SQL engine runs it,
//! the verifier looks for reasons to distrust the result, the explainer says it.

pub mod compiler;
pub mod conversation;
pub mod english;
pub mod explainer;
pub mod lineage;
pub mod llm;
pub mod plan;
pub mod planner;
mod prepared;
pub mod record;
pub mod verifier;
