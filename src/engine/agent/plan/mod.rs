//! Plans, whoever made them: whether one is valid and makes sense, the values and the windows of time in it, and one of
//! before asked again.

pub(in crate::engine::agent) mod relative;
pub mod renew;
pub mod validate;
pub mod values;
pub mod window;
