//! Import of files into a dataset: the upload endpoint and `dragoman import`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::engine::ingest::{FileKind, Request, SourceFile, kind_of};
use crate::engine::job::Job;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route, Surface};
use crate::model::access::Action;
pub use crate::model::dataset::IfExists;
use crate::model::dataset::{ColumnInfo, Dataset, Kind, name_from_file};
use crate::model::error::Result;

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
        let files: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        format!("{} {}", self.name.as_deref().unwrap_or_default(), files.join(" "))
    }

    fn rows(reply: &Reply) -> usize {
        usize::try_from(reply.row_count).unwrap_or_default()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let stem =
            self.files.first().map(|file| file.name.rsplit_once('.').map_or(file.name.as_str(), |(stem, _)| stem));
        let name = self.name.unwrap_or_else(|| name_from_file(stem.unwrap_or_default()));
        let files = self.files.into_iter().map(|file| SourceFile { name: file.name, path: file.path }).collect();
        let if_exists = self.if_exists;
        let request = Request { name, description: self.description, files, publish: self.publish, if_exists };
        let dataset = on.engines.ingest.import(job, request).await?;
        Ok(Reply {
            dataset_id: dataset.id,
            name: dataset.name,
            r#type: dataset.kind,
            row_count: dataset.row_count,
            bytes: dataset.bytes,
            columns: super::shown(on, &dataset.columns, 1)?,
            published: self.publish,
        })
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
