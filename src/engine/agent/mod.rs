//! Questions in plain words. [`conversation`] leads from a question to its answer: the values that it may name are
//! made ready ([`prepared`]), a [`planner`] makes a [`plan`] ([`english`], and where that has none, [`llm`]), the
//! [`compiler`] makes SQL of it, the SQL engine runs it, the [`verifier`] looks for reasons to distrust the result,
//! the [`explainer`] says it, and [`lineage`] where it comes from. [`guide`] says what may be named, and [`near`] finds
//! names and values by words. [`stages`] keeps what each of them made, for who asks for that.

pub mod compiler;
pub mod conversation;
pub mod english;
pub mod explainer;
pub mod guide;
pub mod lineage;
pub mod llm;
pub mod near;
pub mod plan;
pub mod planner;
mod prepared;
pub(crate) mod query;
pub mod stages;
pub mod verifier;
