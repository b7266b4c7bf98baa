//! Datasets of documents that are kept from something else, and follow it: the rows of a table, the pages of a web site,
//! the files of a folder, the objects of a bucket.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::document::Changes;
use crate::model::org::Org;

/// What a dataset of documents is kept from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Each page of a web site that its sitemap names is a document.
    Site(Site),
    /// Each file of a folder that the operator gave to the workspace, by the name that it has there.
    Folder(String),
    /// Each object of a bucket of S3, or of a server that speaks its protocol, by its key.
    Bucket(Bucket),
    /// Each row of a table is one; the fields of this kind stand by themselves.
    #[serde(untagged)]
    Table(Mapping),
}

impl Origin {
    /// The table, for rows.
    pub fn table(&self) -> Option<&Mapping> {
        match self {
            Origin::Table(mapping) => Some(mapping),
            Origin::Site(_) | Origin::Folder(_) | Origin::Bucket(_) => None,
        }
    }

    /// What people call it: the sitemap's address, and the name of anything else.
    pub fn name(&self) -> &str {
        match self {
            Origin::Table(mapping) => &mapping.table,
            Origin::Site(site) => &site.sitemap,
            Origin::Folder(name) => name,
            Origin::Bucket(bucket) => &bucket.name,
        }
    }

    /// Whether what is known of the things of one is known of the other's.
    pub fn is_of_same_place(&self, other: &Self) -> bool {
        match (self, other) {
            (Origin::Bucket(one), Origin::Bucket(other)) => {
                (&one.endpoint, &one.name) == (&other.endpoint, &other.name)
            }
            _ => std::mem::discriminant(self) == std::mem::discriminant(other) && self.name() == other.name(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Table(mapping) => write!(f, "the table {}", mapping.table),
            Origin::Site(site) => write!(f, "the site {}", site.root()),
            Origin::Folder(name) => write!(f, "the folder {name}"),
            Origin::Bucket(bucket) => write!(f, "the bucket {}", bucket.name),
        }
    }
}

/// Which pages of a web site become documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// The https address of the site's sitemap, or of an index of sitemaps (sitemaps.org); gzip is understood.
    #[schemars(length(max = 2048))]
    pub sitemap: String,
    /// Only pages at or below these paths, such as /docs; all pages of the site when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub paths: Vec<String>,
}

impl Site {
    /// The sitemap's address up to the end of its origin.
    fn root(&self) -> &str {
        let end = self.sitemap.match_indices('/').nth(2);
        end.and_then(|(at, _)| self.sitemap.get(..=at)).unwrap_or(&self.sitemap)
    }
}

/// Which objects of a bucket become documents. The secret of the access key is kept apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bucket {
    #[schemars(length(min = 3, max = 63))]
    pub name: String,
    /// The region that the bucket is in, such as eu-central-1; other servers than Amazon's may do without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Only objects whose keys begin so, such as handbook/; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub prefix: Option<String>,
    /// The https address of a server that speaks S3's protocol, such as MinIO; Amazon's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub endpoint: Option<String>,
    /// The id of an access key that may list and read the bucket; without it the bucket is read as everybody may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub access_key_id: Option<String>,
}

/// An origin as it is kept.
#[derive(Clone, Debug)]
pub struct Checked {
    pub origin: Origin,
    /// The secret of a bucket's access key, sealed with the master key for this bucket and this access key alone.
    pub sealed_secret: Option<String>,
}

/// What is known of a page, file or object since it was read: by it the next run sees whether it has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// What the list of its place said of it, such as a sitemap's `lastmod`, a file's
    /// size and time, or an object's `ETag`; `None` where it said nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<String>,
    /// `ETag` and `Last-Modified` of its answer, as they were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// When it was looked at last, and in which run: the id of its job.
    #[serde(default)]
    pub looked_at: Millis,
    #[serde(default)]
    pub run: String,
    /// Why it could not be read then, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Why parts of it are left out, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// No document is of it: it never could be read, or was gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_empty: bool,
}

/// How a row becomes a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// The table: a dataset of the workspace, imported or of a source.
    pub table: String,
    /// The column that tells rows apart; each document is known by it for as long as the row is there.
    pub key: String,
    /// The column that says what the document is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The columns of the text, one below the other; what is empty is left out.
    #[schemars(length(min = 1, max = 20))]
    pub text: Vec<String>,
    /// The column that rises whenever a row changes (a time or a number): later runs read only what changed since. Without it
    /// every run reads all rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
    /// Whether the text is Markdown; by default it is plain.
    #[serde(default)]
    pub markdown: bool,
    /// The column that says when a document was written; filters of time ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// The column of a document's tags: a list, or one text with commas, spaces or `<…>` around each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<String>,
    /// Columns that filters may ask for by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub metadata: Vec<String>,
}

impl Mapping {
    /// What a row's document is known by, like the ids of `rag_fetch_from_source`.
    pub fn document(&self, key: &str) -> String {
        format!("{}{key}", self.prefix())
    }

    /// How the names of all documents of the table begin.
    pub fn prefix(&self) -> String {
        format!("{}:", self.table)
    }

    /// The key of the row that a document of this name is of; `None` for those of other tables.
    pub fn key_of<'n>(&self, document: &'n str) -> Option<&'n str> {
        document.strip_prefix(&self.prefix())
    }

    /// Every column that it names, each once.
    pub fn columns(&self) -> Vec<&str> {
        let mut columns = vec![self.key.as_str()];
        for column in self
            .title
            .iter()
            .chain(&self.text)
            .chain(&self.changed)
            .chain(&self.created)
            .chain(&self.tags)
            .chain(&self.metadata)
        {
            if !columns.contains(&column.as_str()) {
                columns.push(column);
            }
        }
        columns
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It begins, or goes on, when its turn comes.
    Waiting,
    Running,
    Done,
    Failed,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Running => "running",
            State::Done => "done",
            State::Failed => "failed",
        }
    }

    /// Whether there is something to wait for.
    pub fn is_ahead(self) -> bool {
        matches!(self, State::Waiting | State::Running)
    }
}

impl FromStr for State {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let all = [State::Waiting, State::Running, State::Done, State::Failed];
        let state = all.into_iter().find(|state| state.name() == text);
        state.ok_or_else(|| format!("unknown state of a run {text:?}"))
    }
}

/// A dataset that is kept from something, and how its last run went.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentSync {
    pub org: Id<Org>,
    /// The dataset of documents.
    pub name: String,
    pub origin: Origin,
    /// As in [`Checked`].
    pub sealed_secret: Option<String>,
    /// From the end of one run to the next; `None`: when somebody asks.
    pub every_minutes: Option<i64>,
    /// Up to where changes are known, as the engine writes the value, or where a run that let others go first goes on;
    /// `None` before the first run has ended.
    pub cursor: Option<String>,
    pub run: Run,
    pub created_at: Millis,
    /// The end of the last run that worked.
    pub synced_at: Option<Millis>,
}

/// The mapping and the key of the row that a document is of, by its dataset's name and its own; `None` where it is of none.
pub fn row_of<'a>(syncs: &'a [DocumentSync], dataset: &str, document: &'a str) -> Option<(&'a Mapping, &'a str)> {
    let mapping = syncs.iter().find(|sync| sync.name == dataset)?.origin.table()?;
    Some((mapping, mapping.key_of(document)?))
}

/// A run: wanted, under way, or over.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub job_id: String,
    pub state: State,
    /// What it is doing, why it failed, or what it could not read; for people.
    pub message: String,
    /// 0 to 1.
    pub progress: f64,
    /// What it has changed so far.
    pub changes: Option<Changes>,
    pub requested_at: Millis,
    pub ended_at: Option<Millis>,
}

impl Run {
    /// One that begins as soon as a process is free.
    pub fn wanted(job_id: String, at: Millis) -> Self {
        Self {
            job_id,
            state: State::Waiting,
            message: String::new(),
            progress: 0.0,
            changes: None,
            requested_at: at,
            ended_at: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_read_as_it_was_written_and_a_mapping_of_before_is_a_table() {
        let before = r#"{"table":"posts","key":"id","text":["body"],"markdown":false}"#;
        let table: Origin = serde_json::from_str(before).unwrap();
        assert_eq!(table.table().map(|mapping| mapping.key.as_str()), Some("id"));
        assert_eq!(serde_json::to_string(&table).unwrap(), before);
        let site = r#"{"site":{"sitemap":"https://example.com/sitemap.xml","paths":["/docs"]}}"#;
        let read: Origin = serde_json::from_str(site).unwrap();
        assert_eq!((read.table(), read.name()), (None, "https://example.com/sitemap.xml"));
        assert_eq!(serde_json::to_string(&read).unwrap(), site);
        assert_eq!(read.to_string(), "the site https://example.com/");
        assert!(!read.is_of_same_place(&table));
        let folder: Origin = serde_json::from_str(r#"{"folder":"handbook"}"#).unwrap();
        assert_eq!((folder.to_string().as_str(), &folder), ("the folder handbook", &Origin::Folder("handbook".into())));
        let bucket = r#"{"bucket":{"name":"docs","endpoint":"https://minio.example"}}"#;
        let read: Origin = serde_json::from_str(bucket).unwrap();
        assert_eq!(
            (serde_json::to_string(&read).unwrap().as_str(), read.to_string().as_str()),
            (bucket, "the bucket docs")
        );
        let amazon: Origin = serde_json::from_str(r#"{"bucket":{"name":"docs"}}"#).unwrap();
        assert!(!read.is_of_same_place(&amazon), "it is another's of the same name");
        for bad in [r#"{"site":{"sitemap":"x","path":[]}}"#, r#"{"table":"posts","key":"id"}"#, "{}"] {
            assert!(serde_json::from_str::<Origin>(bad).is_err(), "{bad}");
        }
    }
}
