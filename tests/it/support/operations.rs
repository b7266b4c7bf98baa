//! What an operation does not say of itself, in one table: who may call it, and how a stranger would. Everything else
//! about operations is derived from [`ops::each`]. Whoever adds an operation adds its row here.

use std::collections::BTreeSet;

use dragoman::base::id::Id;
use dragoman::gateway::operation::{Operation, Surface, Toolset};
use dragoman::model::access::{ExtScope, Role};
use dragoman::ops::{self, Visitor};
use serde_json::{Value, json};

use super::service::Service;

/// A row of the table.
pub struct Expected {
    pub name: &'static str,
    /// The least role that may.
    pub role: Role,
    /// What a connectivity token needs; without it no such token may. (What belongs to a person refuses all of them by
    /// a rule of its own.)
    pub token: Option<ExtScope>,
    /// The arguments of a call that names as much as it can of a workspace.
    pub arguments: fn(&Ids) -> Value,
}

impl Expected {
    /// Whether a role may.
    pub fn lets(&self, role: Role) -> bool {
        let rank = |role| match role {
            Role::Viewer => 0,
            Role::Contributor => 1,
            Role::Admin => 2,
        };
        rank(role) >= rank(self.role)
    }
}

type Arguments = fn(&Ids) -> Value;

const fn viewer(name: &'static str, token: ExtScope, arguments: Arguments) -> Expected {
    Expected { name, role: Role::Viewer, token: Some(token), arguments }
}

const fn contributor(name: &'static str, arguments: Arguments) -> Expected {
    Expected { name, role: Role::Contributor, token: None, arguments }
}

const fn admin(name: &'static str, arguments: Arguments) -> Expected {
    Expected { name, role: Role::Admin, token: None, arguments }
}

/// The table.
pub const ALL: &[Expected] = &[
    viewer("dragoman_list_datasets", ExtScope::Datasets, |ids| json!({ "cursor": ids.datasets_cursor })),
    viewer("dragoman_health", ExtScope::Datasets, nothing),
    viewer("dragoman_prompt", ExtScope::Datasets, nothing),
    viewer("dragoman_get_schema", ExtScope::Schema, dataset),
    viewer("dragoman_preview_rows", ExtScope::Schema, dataset),
    viewer("dragoman_profile_dataset", ExtScope::Schema, dataset),
    viewer("dragoman_search", ExtScope::Search, |ids| json!({ "query": "plan", "dataset_id": ids.dataset })),
    viewer("dragoman_get_document", ExtScope::Search, |ids| json!({ "document_id": ids.document })),
    viewer("dragoman_list_ontologies", ExtScope::Schema, |ids| json!({ "about": ids.table })),
    viewer("dragoman_get_ontology", ExtScope::Schema, |ids| json!({ "ontologyId": ids.ontology, "about": ids.table })),
    viewer(
        "rag_search_fts",
        ExtScope::Search,
        |ids| json!({ "query": "plan", "filters": { "source_ids": [ids.dataset] } }),
    ),
    viewer(
        "rag_search_vector",
        ExtScope::Search,
        |ids| json!({ "like": ids.document, "filters": { "doc_ids": [ids.document] } }),
    ),
    viewer(
        "rag_search_hybrid",
        ExtScope::Search,
        |ids| json!({ "query": "plan", "filters": { "source_names": [ids.table] } }),
    ),
    viewer("rag_get_chunks", ExtScope::Search, |ids| json!({ "chunk_ids": [format!("{}#0", ids.document)] })),
    viewer("rag_get_docs", ExtScope::Search, |ids| json!({ "doc_ids": [ids.document] })),
    Expected {
        token: Some(ExtScope::Sql),
        ..contributor(
            "rag_fetch_from_source",
            |ids| json!({ "doc_ids": [format!("{}:1", ids.table), ids.document], "columns": ["who"] }),
        )
    },
    viewer("rag_admin_stats", ExtScope::Datasets, nothing),
    contributor("rag_admin_sync", |_| json!({ "source_names": [] })),
    viewer("search", ExtScope::Search, |ids| json!({ "query": ids.table })),
    viewer("fetch", ExtScope::Search, |ids| json!({ "id": format!("dataset:{}", ids.dataset) })),
    viewer("list_ontologies", ExtScope::Schema, nothing),
    viewer("get_ontology", ExtScope::Schema, ontology),
    viewer("get_ontology_dataset", ExtScope::Schema, |ids| json!({ "ontology_id": ids.ontology, "name": ids.table })),
    viewer("get_user_settings", ExtScope::Schema, nothing),
    Expected {
        token: Some(ExtScope::Sql),
        ..contributor("dragoman_sql", |ids| json!({ "sql": "SELECT 1", "dataset_id": ids.dataset }))
    },
    Expected {
        token: Some(ExtScope::Sql),
        ..contributor(
            "ask_question",
            |ids| json!({ "ontologyId": ids.ontology, "question": "total xyzzy", "conversationId": ids.conversation }),
        )
    },
    Expected {
        token: Some(ExtScope::Sql),
        ..contributor("update_user_settings", |_| json!({ "dataAgent": { "defaultTimePeriod": "this_year" } }))
    },
    Expected {
        token: Some(ExtScope::Sql),
        ..contributor("dragoman_query", |ids| json!({ "ontologyId": ids.ontology, "measures": ["xyzzy"] }))
    },
    viewer("plot_columns", ExtScope::Schema, dataset),
    Expected { token: Some(ExtScope::Sql), ..contributor("browse_rows", dataset) },
    Expected { token: Some(ExtScope::Sql), ..contributor("run_sql", from_table) },
    Expected { token: Some(ExtScope::Sql), ..contributor("export_sql", from_table) },
    Expected { token: Some(ExtScope::Sql), ..contributor("own_queries", nothing) },
    contributor("import_dataset", |ids| json!({ "name": ids.table, "description": "" })),
    contributor("check_import", |ids| json!({ "name": ids.table })),
    contributor("create_upload", |_| json!({ "name": "a.csv", "size": 3 })),
    contributor("list_uploads", nothing),
    contributor("delete_upload", |ids| json!({ "upload_id": ids.dataset })),
    contributor("publish_dataset", |ids| json!({ "dataset_id": ids.dataset, "externally_queryable": false })),
    contributor("update_dataset", |ids| json!({ "dataset_id": ids.dataset, "title": "x" })),
    contributor("delete_dataset", |ids| json!({ "dataset_id": ids.dataset, "name": ids.table })),
    contributor("list_dataset_versions", dataset),
    contributor("restore_dataset_version", |ids| json!({ "dataset_id": ids.dataset, "version": ids.dataset })),
    contributor("delete_dataset_version", |ids| json!({ "dataset_id": ids.dataset, "version": ids.dataset })),
    viewer("list_documents", ExtScope::Search, dataset),
    contributor("delete_document", |ids| json!({ "dataset_id": ids.dataset, "document_id": ids.document })),
    contributor("list_document_syncs", nothing),
    contributor("set_document_sync", |_| json!({ "name": "texts", "table": "plan", "key": "id", "text": ["name"] })),
    contributor("delete_document_sync", |_| json!({ "name": "texts" })),
    contributor("list_all_ontologies", nothing),
    contributor(
        "create_ontology",
        |ids| json!({ "text": ONTOLOGY.replace("their_pay", &ids.table).replace("source: payroll", "source: none") }),
    ),
    contributor("update_ontology", |ids| json!({ "ontology_id": ids.ontology, "text": ONTOLOGY })),
    contributor("check_ontology", ontology),
    contributor("get_ontology_text", ontology),
    contributor("ontology_history", ontology),
    contributor("delete_ontology", |ids| json!({ "ontology_id": ids.ontology, "name": "their_pay" })),
    contributor("convert_ontology", |ids| json!({ "text": ids.table })),
    contributor("draft_ontology", |ids| json!({ "name": ids.table, "dataset_ids": [ids.dataset] })),
    contributor("list_questions", ontology),
    contributor("get_trace", trace),
    contributor("remember_answer", |ids| json!({ "trace_id": ids.trace, "memory": "verified" })),
    contributor("list_remembered", ontology),
    contributor("forget", |ids| json!({ "remembered_id": ids.remembered })),
    admin("inspect_trace", trace),
    admin("list_members", |ids| json!({ "cursor": ids.members_cursor })),
    admin("set_member_role", |ids| json!({ "user_id": ids.user, "role": "viewer" })),
    admin("remove_member", |ids| json!({ "user_id": ids.user })),
    admin("list_invitations", nothing),
    admin("create_invitation", |ids| json!({ "email": ids.email, "role": "viewer" })),
    admin("revoke_invitation", |ids| json!({ "invitation_id": ids.invitation })),
    admin("list_grants", |ids| json!({ "cursor": ids.grants_cursor })),
    admin("revoke_grant", |ids| json!({ "grant_id": ids.grant })),
    admin("list_blocked_clients", nothing),
    admin("block_client", |ids| json!({ "client_id": ids.client })),
    admin("unblock_client", |ids| json!({ "client_id": ids.blocked })),
    admin("list_tokens", nothing),
    admin("connectivity_create_token", |ids| json!({ "label": ids.label, "scopes": ["ext:sql"] })),
    admin("connectivity_rotate_token", |ids| json!({ "token_id": ids.token, "overlap_minutes": 60 })),
    admin("connectivity_revoke_token", |ids| json!({ "token_id": ids.token })),
    admin("connectivity_status", nothing),
    admin("connectivity_enable", nothing),
    admin("connectivity_disable", |ids| json!({ "name": ids.name })),
    admin("connectivity_test", |ids| json!({ "platform": "cursor", "token_id": ids.token })),
    viewer(
        "connectivity_generate_setup",
        ExtScope::Datasets,
        |ids| json!({ "platform": "cursor", "token_id": ids.token }),
    ),
    viewer(
        "connectivity_checkpoints",
        ExtScope::Datasets,
        |ids| json!({ "platform": "inspector", "token_id": ids.token }),
    ),
    admin("get_settings", nothing),
    admin("update_settings", |ids| json!({ "name": ids.name })),
    admin("list_sources", nothing),
    admin("create_source", |ids| {
        let address = "postgres://reader@127.0.0.1:1/shop";
        json!({ "name": ids.table, "engine": "postgres", "address": address, "password": "x" })
    }),
    admin("test_source", source),
    admin("refresh_source", source),
    admin("remove_source", source),
    admin("list_audit", |ids| json!({ "cursor": ids.audit_cursor, "principal": format!("user:{}", ids.user) })),
    admin("export_audit", |ids| json!({ "format": "csv", "cursor": ids.audit_cursor })),
];

fn nothing(_: &Ids) -> Value {
    json!({})
}

fn dataset(ids: &Ids) -> Value {
    json!({ "dataset_id": ids.dataset })
}

fn from_table(ids: &Ids) -> Value {
    json!({ "sql": format!("SELECT * FROM {}", ids.table) })
}

fn ontology(ids: &Ids) -> Value {
    json!({ "ontology_id": ids.ontology })
}

fn trace(ids: &Ids) -> Value {
    json!({ "trace_id": ids.trace })
}

fn source(ids: &Ids) -> Value {
    json!({ "source_id": ids.source })
}

/// The row of an operation.
pub fn expected(name: &str) -> &'static Expected {
    ALL.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("{name}: add its row to {}", file!()))
}

/// The arguments of its call.
pub fn arguments(name: &str, ids: &Ids) -> Value {
    (expected(name).arguments)(ids)
}

/// An operation's address.
pub struct Endpoint {
    pub name: &'static str,
    pub method: &'static str,
    pub path: String,
    pub surface: Surface,
    pub toolsets: &'static [Toolset],
}

struct Endpoints(Vec<Endpoint>);

impl Visitor for Endpoints {
    fn visit<O: Operation>(&mut self) {
        let info = O::INFO;
        let base = dragoman::surface::rest::openapi::base(info.surface);
        let path = format!("{base}{}", info.route.path);
        let (name, method) = (info.name, info.route.method);
        self.0.push(Endpoint { name, method, path, surface: info.surface, toolsets: info.toolsets });
    }
}

/// Every operation, in the order of the list.
pub fn endpoints() -> Vec<Endpoint> {
    let mut endpoints = Endpoints(Vec::new());
    ops::each(&mut endpoints);
    endpoints.0
}

/// The tools that a role is shown at the plain address, by name.
pub fn tools_of(role: Role) -> Vec<&'static str> {
    tools_where(role, |one| Toolset::is_usual(one.toolsets))
}

/// The same at an address that names one set.
pub fn tools_in(set: Toolset, role: Role) -> Vec<&'static str> {
    tools_where(role, |one| one.toolsets.contains(&set))
}

fn tools_where(role: Role, offered: impl Fn(&Endpoint) -> bool) -> Vec<&'static str> {
    let tools = endpoints().into_iter().filter(|one| offered(one) && expected(one.name).lets(role));
    let names: BTreeSet<&str> = tools.map(|tool| tool.name).collect();
    names.into_iter().collect()
}

#[test]
fn the_table_has_a_row_for_each_operation_and_no_other() {
    let rows: Vec<&str> = ALL.iter().map(|row| row.name).collect();
    let named: BTreeSet<&str> = rows.iter().copied().collect();
    assert_eq!(named.len(), rows.len(), "a row is there twice");
    assert_eq!(named, endpoints().iter().map(|endpoint| endpoint.name).collect());
}

/// What a stranger may know or guess of a workspace.
pub struct Ids {
    pub slug: String,
    pub name: String,
    pub dataset: String,
    pub document: String,
    pub table: String,
    pub user: String,
    pub email: String,
    pub invitation: String,
    pub grant: String,
    pub token: String,
    pub client: String,
    pub source: String,
    pub ontology: String,
    pub trace: String,
    pub conversation: String,
    pub remembered: String,
    pub blocked: String,
    pub label: String,
    pub datasets_cursor: String,
    pub members_cursor: String,
    pub grants_cursor: String,
    pub audit_cursor: String,
}

impl Ids {
    pub fn all(&self) -> [&str; 22] {
        let Self { slug, name, dataset, document, table, user, email, invitation, grant, token, .. } = self;
        let Self {
            client,
            source,
            ontology,
            trace,
            conversation,
            remembered,
            blocked,
            label,
            datasets_cursor,
            members_cursor,
            grants_cursor,
            audit_cursor,
            ..
        } = self;
        [
            slug, name, dataset, document, table, user, email, invitation, grant, token, client, source, ontology,
            trace, conversation, remembered, blocked, label, datasets_cursor, members_cursor, grants_cursor,
            audit_cursor,
        ]
    }

    /// Exists nowhere; of the same forms.
    pub fn nowhere(service: &Service) -> Self {
        struct Nothing;
        let id = || Id::<Nothing>::new(&service.clock).to_string();
        let cursor = || dragoman::base::secret::base64url(format!("{}.5", "0".repeat(64)).as_bytes());
        Self {
            slug: "nowhere".into(),
            name: "No such workspace".into(),
            dataset: id(),
            document: id(),
            table: "nothing".into(),
            user: id(),
            email: "nobody@example.com".into(),
            invitation: id(),
            grant: id(),
            token: "Abcd1234".into(),
            client: "dgc_nothing".into(),
            source: id(),
            ontology: id(),
            trace: id(),
            conversation: id(),
            remembered: id(),
            blocked: "https://nowhere.example/client.json".into(),
            label: "no such label".into(),
            datasets_cursor: cursor(),
            members_cursor: cursor(),
            grants_cursor: cursor(),
            audit_cursor: cursor(),
        }
    }
}

/// An ontology over the table of a workspace that strangers ask about.
pub const ONTOLOGY: &str = "version: 0.2.0.dev0\nname: their_pay\ndatasets:\n  - name: payroll\n    source: payroll\n    \
                        primary_key: [who]\n    fields:\n      - name: who\n        expression: {dialects: [{dialect: \
                        ANSI_SQL, expression: who}]}\n        datatype: String\n      - name: euros\n        \
                        expression: {dialects: [{dialect: ANSI_SQL, expression: euros}]}\n        datatype: \
                        Integer\nmetrics:\n  - name: xyzzy\n    \
                        expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(payroll.euros)}]}\n    datatype: \
                        Integer\n";
