//! The product: one file for each thing that a caller may ask (for management, each thing that admins look after), and
//! the only list of them. MCP tools, REST routes and the OpenAPI documents are short visitors of [`each`]. Outside the
//! list is what the operator alone asks, at the machine, [`explain_question`], and a sequence of others, [`demo`].
//!
//! ## Adding an operation
//!
//! 1. Write its file here: arguments that refuse unknown fields, the reply, and [`Operation`] with its `INFO`. `sql.rs` is
//!    an example of a tool, which names its toolsets, and `invitations.rs` of management.
//! 2. Declare the module and name the type in [`each`], below: tools, routes and documents have it now.
//! 3. Where no [`Action`](crate::model::access::Action) fits, add one; `Action::needs` says which scopes and role it takes.
//! 4. Add its row to the table in `tests/it/support/operations.rs`: who may, and how a stranger would call it. With that
//!    the tests of roles, tokens and tenancy ask it too.
//! 5. Test what it does through the service, beside its like in `tests/it`.
//! 6. Write what the outside sees anew, read the difference, and commit it:
//!    `UPDATE_OPENAPI=1 INSTA_UPDATE=always cargo test --locked --test it -- openapi outside`.

pub mod ask_question;
pub mod audit_log;
pub mod blocked_clients;
pub mod browse_rows;
pub mod chatgpt;
pub mod check_import;
pub mod connectivity;
pub mod dataset_versions;
pub mod delete_dataset;
pub mod delete_document;
pub mod demo;
pub mod document_syncs;
pub mod draft_ontology;
pub mod explain_question;
pub mod export_sql;
pub mod get_document;
pub mod get_schema;
pub mod grants;
pub mod health;
pub mod import;
pub mod invitations;
pub mod list_datasets;
pub mod list_documents;
pub mod members;
pub mod ontologies;
pub mod ontology_guide;
pub mod ontology_texts;
pub mod own_queries;
mod parts;
pub mod plot_columns;
pub mod preview_rows;
pub mod profile_dataset;
pub mod prompt;
pub mod publish;
pub mod query;
pub mod questions;
pub mod rag;
pub mod run_sql;
pub mod search;
pub mod sources;
pub mod sql;
pub mod tokens;
pub mod update_dataset;
pub mod uploads;
pub mod user_settings;
pub mod workspace_settings;

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::json;
use crate::engine::job::Job;
use crate::gateway::operation::{Operation, Parts};
use crate::model::chunk_id::ChunkId;
use crate::model::dataset::ColumnInfo;
use crate::model::error::{Error, Result};

/// Something that wants to see every operation with its types.
pub trait Visitor {
    fn visit<O: Operation>(&mut self);
}

/// The only list.
pub fn each(visitor: &mut impl Visitor) {
    for_clients(visitor);
    management(visitor);
}

/// What AI clients may ask.
fn for_clients(visitor: &mut impl Visitor) {
    visitor.visit::<list_datasets::ListDatasets>();
    visitor.visit::<get_schema::GetSchema>();
    visitor.visit::<preview_rows::PreviewRows>();
    visitor.visit::<profile_dataset::ProfileDataset>();
    visitor.visit::<sql::Sql>();
    visitor.visit::<search::Search>();
    visitor.visit::<get_document::GetDocument>();
    visitor.visit::<rag::search_fts::SearchFts>();
    visitor.visit::<rag::search_vector::SearchVector>();
    visitor.visit::<rag::search_hybrid::SearchHybrid>();
    visitor.visit::<rag::get_chunks::GetChunks>();
    visitor.visit::<rag::get_docs::GetDocs>();
    visitor.visit::<rag::fetch_from_source::FetchFromSource>();
    visitor.visit::<rag::admin_stats::AdminStats>();
    visitor.visit::<rag::admin_sync::AdminSync>();
    visitor.visit::<chatgpt::search::Search>();
    visitor.visit::<chatgpt::fetch::Fetch>();
    visitor.visit::<ontology_guide::FindOntologies>();
    visitor.visit::<ontology_guide::DescribeOntology>();
    visitor.visit::<query::RunQuery>();
    visitor.visit::<ask_question::AskQuestion>();
    visitor.visit::<ontologies::ListOntologies>();
    visitor.visit::<ontologies::GetOntology>();
    visitor.visit::<ontologies::GetOntologyDataset>();
    visitor.visit::<health::Health>();
    visitor.visit::<prompt::GetPrompt>();
}

/// What people and their programs ask to look after a workspace and its data.
fn management(visitor: &mut impl Visitor) {
    visitor.visit::<import::Import>();
    visitor.visit::<check_import::CheckImport>();
    visitor.visit::<uploads::CreateUpload>();
    visitor.visit::<uploads::ListUploads>();
    visitor.visit::<uploads::DeleteUpload>();
    visitor.visit::<browse_rows::BrowseRows>();
    visitor.visit::<plot_columns::PlotColumns>();
    visitor.visit::<run_sql::RunSql>();
    visitor.visit::<export_sql::ExportSql>();
    visitor.visit::<own_queries::OwnQueries>();
    visitor.visit::<publish::Publish>();
    visitor.visit::<update_dataset::UpdateDataset>();
    visitor.visit::<delete_dataset::DeleteDataset>();
    visitor.visit::<dataset_versions::ListVersions>();
    visitor.visit::<dataset_versions::RestoreVersion>();
    visitor.visit::<dataset_versions::DeleteVersion>();
    visitor.visit::<list_documents::ListDocuments>();
    visitor.visit::<delete_document::DeleteDocument>();
    visitor.visit::<document_syncs::ListSyncs>();
    visitor.visit::<document_syncs::SetSync>();
    visitor.visit::<document_syncs::DeleteSync>();
    visitor.visit::<ontology_texts::ListAllOntologies>();
    visitor.visit::<ontology_texts::CreateOntology>();
    visitor.visit::<ontology_texts::UpdateOntology>();
    visitor.visit::<ontology_texts::CheckOntology>();
    visitor.visit::<ontology_texts::GetOntologyText>();
    visitor.visit::<ontology_texts::OntologyHistory>();
    visitor.visit::<ontology_texts::DeleteOntology>();
    visitor.visit::<ontology_texts::ConvertOntology>();
    visitor.visit::<draft_ontology::DraftOntology>();
    visitor.visit::<questions::ListQuestions>();
    visitor.visit::<questions::GetTrace>();
    visitor.visit::<questions::InspectTrace>();
    visitor.visit::<questions::Remember>();
    visitor.visit::<questions::ListRemembered>();
    visitor.visit::<questions::Forget>();
    visitor.visit::<members::ListMembers>();
    visitor.visit::<members::SetMemberRole>();
    visitor.visit::<members::RemoveMember>();
    visitor.visit::<invitations::ListInvitations>();
    visitor.visit::<invitations::CreateInvitation>();
    visitor.visit::<invitations::RevokeInvitation>();
    visitor.visit::<grants::ListGrants>();
    visitor.visit::<grants::RevokeGrant>();
    visitor.visit::<blocked_clients::ListBlockedClients>();
    visitor.visit::<blocked_clients::BlockClient>();
    visitor.visit::<blocked_clients::UnblockClient>();
    visitor.visit::<connectivity::status::ConnectivityStatus>();
    visitor.visit::<connectivity::switch::Enable>();
    visitor.visit::<connectivity::switch::Disable>();
    visitor.visit::<connectivity::setup::GenerateSetup>();
    visitor.visit::<connectivity::checkpoints::Checkpoints>();
    visitor.visit::<connectivity::test::TestConnectivity>();
    visitor.visit::<tokens::ListTokens>();
    visitor.visit::<tokens::CreateToken>();
    visitor.visit::<tokens::RotateToken>();
    visitor.visit::<tokens::RevokeToken>();
    visitor.visit::<workspace_settings::GetSettings>();
    visitor.visit::<workspace_settings::UpdateSettings>();
    visitor.visit::<user_settings::GetUserSettings>();
    visitor.visit::<user_settings::UpdateUserSettings>();
    visitor.visit::<sources::ListSources>();
    visitor.visit::<sources::CreateSource>();
    visitor.visit::<sources::TestSource>();
    visitor.visit::<sources::RefreshSource>();
    visitor.visit::<sources::RemoveSource>();
    visitor.visit::<audit_log::ListAudit>();
    visitor.visit::<audit_log::ExportAudit>();
}

/// The reply of a change that has nothing more to say.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Done {
    /// Always true.
    pub done: bool,
}

impl Done {
    const OK: Done = Done { done: true };
}

/// Where a page begins: the position in its cursor, which must be one of the same listing.
fn position(on: &Parts, scope: &str, cursor: Option<&str>) -> Result<Option<String>> {
    let Some(cursor) = cursor else { return Ok(None) };
    let position = on.cursors.read(scope, cursor);
    let wrong = || Error::invalid("cursor", "This cursor is not one of this listing. Start without a cursor.");
    position.ok_or_else(wrong).map(Some)
}

/// What pages show to people is for people and the programs that they approved; a connectivity token has tools for it.
fn for_people(job: &Job<'_>) -> Result<()> {
    let is_token = job.pass.is_external() && job.pass.user().is_none();
    let message = "A connectivity token can never do this. Use the tools and routes for AI clients instead.";
    if is_token { Err(Error::forbidden("people_only", message)) } else { Ok(()) }
}

/// A table's columns with as many of their sample values, up to five, as leave them within half a reply's bytes, which
/// `tables` share.
fn shown(on: &Parts, columns: &[ColumnInfo], tables: usize) -> Result<Vec<ColumnInfo>> {
    let mut columns: Vec<ColumnInfo> = columns.iter().cloned().map(ColumnInfo::masked).collect();
    for samples in [1, 0] {
        if json::size(&columns).map_err(Error::internal)? <= on.config.limits.budgets.reply_bytes / 2 / tables.max(1) {
            break;
        }
        columns.iter_mut().for_each(|column| {
            column.samples_are_all &= column.sample_values.len() <= samples;
            column.sample_values.truncate(samples);
        });
    }
    Ok(columns)
}

/// Where the console shows a passage in its document.
fn passage_url(on: &Parts, job: &Job<'_>, chunk: ChunkId) -> String {
    let ChunkId { document, index } = chunk;
    on.config.url(&format!("/w/{}/documents/{document}?chunk={index}#passage", job.pass.slug()))
}
