//! Charts: the kind that fits a result, and the picture.

pub mod choose;
pub mod draw;
pub mod graph;
mod plain;
mod validate;

pub use choose::choose;
pub use draw::{Theme, svg};
pub use graph::graph_svg;
pub use plain::plain;
pub use validate::validate;
