//! Import of files into a dataset: the upload endpoint and `dragoman import`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::engine::ingest::{FileKind, Request, SourceFile, kind_of};
use crate::engine::job::Job;
use crate::engine::uploads::Upload;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route, Surface};
use crate::model::access::Action;
use crate::model::column_change::ColumnChange;
pub use crate::model::dataset::IfExists;
use crate::model::dataset::{ColumnInfo, Dataset, Kind, name_from_file};
use crate::model::error::{Error, Result};

/// A file that a surface has put into staging.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Staged {
    /// As the person named it; the extension says what it is.
    pub name: String,
    /// Where the surface put it; never taken from a request.
    #[serde(skip)]
    #[schemars(skip)]
    pub path: PathBuf,
}

/// Files by the datasets that they make: a table file each, texts one together.
pub fn datasets(files: Vec<Staged>) -> Vec<Vec<Staged>> {
    let (texts, tables): (Vec<Staged>, Vec<Staged>) =
        files.into_iter().partition(|file| kind_of(&file.name).is_ok_and(|kind| kind == FileKind::Text));
    let tables = tables.into_iter().map(|file| vec![file]);
    tables.chain((!texts.is_empty()).then_some(texts)).collect()
}

/// Arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// The dataset's name; made from the first file's name when absent or empty. An existing dataset gets a new version.
    #[serde(default)]
    #[schemars(regex(pattern = "^([a-z_][a-z0-9_]{0,62})?$"))]
    pub name: Option<String>,
    #[serde(default)]
    #[schemars(length(max = 2000))]
    pub description: String,
    /// Whether external clients may see it at once; by default they may not.
    #[serde(default)]
    pub publish: bool,
    /// What happens to a dataset that has the name already: `replace` makes a new version of it, `append` one that has the
    /// rows of a table file below its own, `refuse` leaves it.
    #[serde(default)]
    pub if_exists: IfExists,
    /// What is corrected of a table's columns before it is kept: their types and names, and which stay out.
    #[serde(default)]
    pub columns: Vec<ColumnChange>,
    /// Whole uploads, in the place of files; they are gone when they are imported.
    #[serde(default)]
    pub uploads: Vec<Id<Upload>>,
    /// One table file (.csv, .tsv, .json, .jsonl, .ndjson, .parquet), or any number of .txt and .md files.
    #[serde(default)]
    pub files: Vec<Staged>,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    pub dataset_id: Id<Dataset>,
    pub name: String,
    pub r#type: Kind,
    pub row_count: i64,
    pub bytes: i64,
    pub columns: Vec<ColumnInfo>,
    /// Whether this import published it.
    pub published: bool,
}

impl Operation for Import {
    const INFO: Info = Info {
        name: "import_dataset",
        title: "Import files into a dataset",
        description: "Reads one table file (CSV, TSV, JSON, NDJSON, Parquet) or text and Markdown files into a dataset. \
                      All or nothing: an error names the row and column, and leaves nothing behind.",
        action: Action::WriteDatasets,
        cost: Cost::Read,
        read_only: false,
        sensitive: false,
        recorded_as: None,
        surface: Surface::Manage,
        toolsets: &[],
        view: None,
        route: Route { method: "POST", path: "/datasets" },
        time: |_| std::time::Duration::from_secs(900),
        example: r#"{"name":"sales","publish":false}"#,
    };
    type Reply = Reply;

    fn target(&self) -> String {
        let files = self.files.iter().map(|file| file.name.clone());
        let files: Vec<String> = files.chain(self.uploads.iter().map(Id::to_string)).collect();
        format!("{} {}", self.name.as_deref().unwrap_or_default(), files.join(" "))
    }

    fn rows(reply: &Reply) -> usize {
        usize::try_from(reply.row_count).unwrap_or_default()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let (publish, uploads) = (self.publish, self.uploads.clone());
        let request = self.request(on, job)?;
        let dataset = on.engines.ingest.import(job, request).await?;
        for upload in uploads {
            // Another call may have removed it meanwhile; what was imported stays.
            let _gone = on.engines.uploads.remove(job.pass.org(), job.pass.credential(), upload);
        }
        Ok(Reply {
            dataset_id: dataset.id,
            name: dataset.name,
            r#type: dataset.kind,
            row_count: dataset.row_count,
            bytes: dataset.bytes,
            columns: super::shown(on, &dataset.columns, 1)?,
            published: publish,
        })
    }
}

impl Import {
    /// What the engine is asked, with the bytes of uploads in the place of files.
    ///
    /// # Errors
    /// `invalid_argument` for files beside uploads, and for uploads that are not whole; `not_found` for those of others.
    pub(super) fn request(self, on: &Parts, job: &Job<'_>) -> Result<Request> {
        let mut files: Vec<SourceFile> = Vec::new();
        for Staged { name, path } in self.files {
            // Only a surface says where a file is.
            if path.as_os_str().is_empty() {
                let message = "Send files as multipart/form-data, or name whole uploads in uploads.";
                return Err(Error::invalid("files", message));
            }
            files.push(SourceFile { name, path });
        }
        if !files.is_empty() && !self.uploads.is_empty() {
            return Err(Error::invalid("uploads", "Give files or uploads, not both."));
        }
        for id in self.uploads {
            let (upload, path) = on.engines.uploads.whole(job.pass.org(), job.pass.credential(), id)?;
            files.push(SourceFile { name: upload.name, path });
        }
        let first = files.first().map_or("", |file| file.name.as_str());
        let stem = first.rsplit_once('.').map_or(first, |(stem, _)| stem);
        let name = self.name.filter(|name| !name.is_empty()).unwrap_or_else(|| name_from_file(stem));
        let (description, publish, if_exists, changes) = (self.description, self.publish, self.if_exists, self.columns);
        Ok(Request { name, description, files, publish, if_exists, changes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_is_a_dataset_and_texts_are_one() {
        let staged = |name: &str| Staged { name: name.into(), path: PathBuf::new() };
        let made = datasets(["a.md", "x.csv", "b.txt", "y.parquet", "z.exe"].map(staged).into());
        let names: Vec<Vec<&str>> =
            made.iter().map(|one| one.iter().map(|file| file.name.as_str()).collect()).collect();
        assert_eq!(names, [vec!["x.csv"], vec!["y.parquet"], vec!["z.exe"], vec!["a.md", "b.txt"]]);
        assert!(datasets(vec![]).is_empty());
    }
}
