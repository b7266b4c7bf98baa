//! The product: one file for each thing that a caller may ask, and the only list of them. MCP tools, REST routes and
//! the OpenAPI documents are short visitors of [`each`].

pub mod get_document;
pub mod get_schema;
pub mod health;
pub mod import;
pub mod list_datasets;
pub mod preview_rows;
pub mod publish;
pub mod search;
pub mod sql;

use crate::gateway::operation::Operation;

/// Something that wants to see every operation with its types.
pub trait Visitor {
    fn visit<O: Operation>(&mut self);
}

/// The only list.
pub fn each(visitor: &mut impl Visitor) {
    visitor.visit::<list_datasets::ListDatasets>();
    visitor.visit::<get_schema::GetSchema>();
    visitor.visit::<preview_rows::PreviewRows>();
    visitor.visit::<sql::Sql>();
    visitor.visit::<search::Search>();
    visitor.visit::<get_document::GetDocument>();
    visitor.visit::<health::Health>();
    visitor.visit::<import::Import>();
    visitor.visit::<publish::Publish>();
}

/// Seconds that metadata reads may take.
fn quick(_: &crate::config::Budgets) -> std::time::Duration {
    std::time::Duration::from_secs(10)
}
