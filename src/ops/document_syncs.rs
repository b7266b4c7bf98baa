//! Datasets of documents that are kept from something else, and follow it: the rows of a table, the pages of a web
//! site, the files of a folder, the objects of a bucket.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Done;
use crate::base::clock::rfc3339;
use crate::base::id::Id;
use crate::base::secret::Secret;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::model::access::{Action, Want};
use crate::model::dataset::{Dataset, Kind};
use crate::model::document::Changes;
use crate::model::error::{Error, Result};
use crate::model::sync::{Bucket, DocumentSync, Mapping, Origin, Run, Site, State};

const MANAGE: Info = Info { action: Action::WriteDatasets, ..Info::MANAGE };

/// A run: wanted, under way, or over.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunShown {
    pub job_id: String,
    pub state: State,
    /// What it is doing, how far it had come when it let others go first, why it failed, or what it could not read.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(with = "Option<String>")]
    pub message: String,
    /// 0 to 1.
    pub progress: f64,
    /// What it has changed so far: of a run that takes several turns, in those before this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// RFC 3339.
    pub requested_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
}

impl From<Run> for RunShown {
    fn from(run: Run) -> Self {
        Self {
            job_id: run.job_id,
            state: run.state,
            message: run.message,
            progress: run.progress,
            changes: run.changes,
            requested_at: rfc3339(run.requested_at),
            ended_at: run.ended_at.map(rfc3339),
        }
    }
}

/// A dataset of documents that is kept from something else.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Shown {
    /// The dataset of documents; until the first run has ended it is not there.
    pub name: String,
    #[serde(flatten)]
    pub origin: Origin,
    /// Minutes from the end of one run to the next; absent: when somebody asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_minutes: Option<i64>,
    pub run: RunShown,
    /// The end of the last run that worked. RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_sync: Option<String>,
}

impl From<DocumentSync> for Shown {
    fn from(sync: DocumentSync) -> Self {
        Self {
            name: sync.name,
            origin: sync.origin,
            every_minutes: sync.every_minutes,
            run: sync.run.into(),
            last_sync: sync.synced_at.map(rfc3339),
        }
    }
}

/// Whether the caller hears that there is a sync: a client does of the datasets that it sees, and people of all.
pub(super) fn is_seen(job: &Job<'_>, sync: &DocumentSync) -> bool {
    !job.pass.is_external() || job.pass.datasets().iter().any(|dataset| dataset.name == sync.name)
}

/// Whether the caller also hears what it is kept from and how its runs went, which name the table and its columns.
pub(super) fn is_told(job: &Job<'_>, sync: &DocumentSync) -> bool {
    let of_rows = |mapping: &Mapping| sees(job, &mapping.table, &mapping.columns());
    is_seen(job, sync) && (!job.pass.is_external() || sync.origin.table().is_none_or(of_rows))
}

/// Whether the caller sees a table and these columns of it.
pub(super) fn sees(job: &Job<'_>, table: &str, columns: &[&str]) -> bool {
    let tables = job.pass.datasets().iter().filter(|dataset| dataset.kind == Kind::Table);
    let mut named = tables.filter(|dataset| dataset.name == table);
    named.any(|dataset| columns.iter().all(|name| dataset.columns.iter().any(|column| column.name == *name)))
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSyncs {}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listed {
    /// By name.
    pub syncs: Vec<Shown>,
    /// The folders that the operator gave to this workspace, by their names.
    pub folders: Vec<String>,
    /// For pages: the datasets that are there, by name.
    #[serde(skip)]
    pub ids: HashMap<String, Id<Dataset>>,
}

impl Operation for ListSyncs {
    const INFO: Info = Info {
        name: "list_document_syncs",
        title: "List datasets that follow something else",
        description: "Lists the datasets of documents that are kept from tables, web sites, folders and buckets, with the last \
                      run of each; never their secrets.",
        read_only: true,
        route: Route { method: "GET", path: "/document-syncs" },
        ..MANAGE
    };
    type Reply = Listed;
    const WANT: Want = Want::All;

    fn rows(reply: &Listed) -> usize {
        reply.syncs.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Listed> {
        let mut syncs = on.engines.syncs.list(job.pass.org()).await?;
        syncs.retain(|sync| is_told(job, sync));
        let folders = on.engines.ingest.folders(job).await?;
        let ids = job.pass.datasets().iter().map(|dataset| (dataset.name.clone(), dataset.id)).collect();
        Ok(Listed { syncs: syncs.into_iter().map(Shown::from).collect(), folders, ids })
    }
}

/// Arguments.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetSync {
    /// The dataset of documents: one that is there, or a new one, which no client sees until it is published.
    #[schemars(regex(pattern = "^[a-z_][a-z0-9_]{0,62}$"))]
    pub name: String,
    /// The web site whose pages become documents; either this, a folder, a bucket, or a table.
    #[serde(default)]
    pub site: Option<Site>,
    /// The folder whose files become documents: the name of one that the operator gave to this workspace.
    #[serde(default)]
    pub folder: Option<String>,
    /// The bucket of S3, or of a server that speaks its protocol, whose objects become documents.
    #[serde(default)]
    pub bucket: Option<Bucket>,
    /// The secret of the bucket's access key, each time that the bucket is set. It is sealed at rest and never shown.
    #[serde(default)]
    #[schemars(length(max = 500))]
    pub secret_access_key: Option<String>,
    /// The table whose rows become documents; what follows is of it.
    #[serde(default)]
    pub table: Option<String>,
    /// The column that tells rows apart.
    #[serde(default)]
    pub key: Option<String>,
    /// The column that says what a document is called.
    #[serde(default)]
    pub title: Option<String>,
    /// The columns of the text, one below the other.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub text: Vec<String>,
    /// The column that rises whenever a row changes (a time or a number): later runs read only what changed since. Without it
    /// every run reads all rows; what did not change is never encoded again.
    #[serde(default)]
    pub changed: Option<String>,
    /// Whether the text is Markdown.
    #[serde(default)]
    pub markdown: bool,
    /// The column that says when a document was written, for the filters created_after and created_before.
    #[serde(default)]
    pub created: Option<String>,
    /// The column of its tags, for tags_any and tags_all: a list, or one text with commas, spaces or <…> around each.
    #[serde(default)]
    pub tags: Option<String>,
    /// Columns that the filter metadata may ask for by their names.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub metadata: Vec<String>,
    /// Minutes from the end of one run to the next; without it a run is when somebody asks.
    #[serde(default)]
    #[schemars(range(min = 1, max = 43200))]
    pub every_minutes: Option<i64>,
    /// For pages: it is to begin, and takes the place of nothing that follows another thing.
    #[serde(skip)]
    pub begins: bool,
}

impl std::fmt::Debug for SetSync {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SetSync").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Operation for SetSync {
    const INFO: Info = Info {
        name: "set_document_sync",
        title: "Keep documents from a table, a web site, a folder or a bucket",
        description: "Keeps a dataset of documents from a table (each row is a document, known by its key), from the pages \
                      that a web site's sitemap names, from the files of a folder that the operator gave, or from the \
                      objects of a bucket of S3: what is new or changed there is indexed, and documents of what is gone go. \
                      The first run begins at once; rag_admin_sync asks for more.",
        route: Route { method: "POST", path: "/document-syncs" },
        example: r#"{"name":"posts_texts","table":"posts","key":"id","title":"title","text":["body"],"changed":"updated_at"}"#,
        ..MANAGE
    };
    type Reply = Shown;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        let site = self.site.as_ref().map(|site| site.sitemap.as_str());
        let bucket = self.bucket.as_ref().map(|bucket| bucket.name.as_str());
        let from = self.table.as_deref().or(site).or(self.folder.as_deref()).or(bucket).unwrap_or_default();
        format!("{} {from}", self.name)
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Shown> {
        let (name, every_minutes, begins) = (self.name.clone(), self.every_minutes, self.begins);
        let secret = self.secret_access_key.clone().map(Secret::new);
        let checked = on.engines.ingest.checked_origin(job, &self.origin()?, secret.as_ref()).await?;
        Ok(on.engines.syncs.define(job, &name, checked, every_minutes, begins).await?.into())
    }
}

impl SetSync {
    /// The one thing that it names.
    fn origin(self) -> Result<Origin> {
        let Self {
            name: _,
            site,
            folder,
            bucket,
            secret_access_key: _,
            table,
            key,
            title,
            text,
            changed,
            markdown,
            created,
            tags,
            metadata,
            every_minutes: _,
            begins: _,
        } = self;
        let is_of_rows = [&key, &title, &changed, &created, &tags].iter().any(|column| column.is_some())
            || markdown
            || !(text.is_empty() && metadata.is_empty());
        let places = [site.map(Origin::Site), folder.map(Origin::Folder), bucket.map(Origin::Bucket)];
        let mut places = places.into_iter().flatten();
        let origin = match (places.next(), places.next(), table) {
            (Some(place), None, None) => place,
            (None, None, Some(table)) => {
                let key = key.ok_or_else(|| Error::invalid("key", "Name the column that tells the rows apart."))?;
                return Ok(Origin::Table(Mapping {
                    table,
                    key,
                    title,
                    text,
                    changed,
                    markdown,
                    created,
                    tags,
                    metadata,
                }));
            }
            _ => {
                let message = "Name one thing to keep documents from: a table, a site, a folder, or a bucket.";
                return Err(Error::invalid("table", message));
            }
        };
        match is_of_rows {
            true => Err(Error::invalid("table", "Columns and markdown are of a table, and none is named.")),
            false => Ok(origin),
        }
    }
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteSync {
    pub name: String,
}

impl Operation for DeleteSync {
    const INFO: Info = Info {
        name: "delete_document_sync",
        title: "Follow it no more",
        description: "Ends that a dataset of documents follows its table, web site, folder or bucket, and a run that is under \
                      way. The documents stay.",
        route: Route { method: "DELETE", path: "/document-syncs/{name}" },
        example: r#"{"name":"posts_texts"}"#,
        ..MANAGE
    };
    type Reply = Done;

    fn target(&self) -> String {
        self.name.clone()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Done> {
        on.engines.syncs.remove(job.pass.org(), &self.name).await?;
        Ok(Done::OK)
    }
}
