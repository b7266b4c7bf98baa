//! Charts: the kind that fits a result, and the picture.

pub mod choose;
pub mod draw;
pub mod graph;
mod validate;

pub use choose::choose;
pub use draw::{Theme, svg};
pub use graph::graph_svg;
pub use validate::validate;
