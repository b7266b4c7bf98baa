//! Import of files into a dataset: the upload endpoint and `dragoman import`.

use std::collections::HashSet;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::engine::extract::sheets::Sheet;
use crate::engine::ingest::{FileKind, Imported, Request, SourceFile, kind_of};
use crate::engine::job::Job;
use crate::engine::uploads::Upload;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route};
use crate::model::access::Action;
use crate::model::column_change::{ColumnChange, Hint};
pub use crate::model::dataset::IfExists;
use crate::model::dataset::{ColumnInfo, Dataset, Kind, NAMES, is_name, name_from_file};
use crate::model::document::Changes;
use crate::model::error::{Error, Result};

/// Characters of a dataset's name.
const NAME: usize = 63;

/// A file that a surface has put into staging.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Staged {
    /// As the person named it; what is in it says what it is.
    pub name: String,
    /// Where the surface put it; never taken from a request.
    #[serde(skip)]
    #[schemars(skip)]
    pub path: PathBuf,
}

/// Files by the datasets that they make: a table file or workbook each, documents one together.
pub fn datasets(files: Vec<Staged>) -> Vec<Vec<Staged>> {
    let (texts, tables): (Vec<Staged>, Vec<Staged>) =
        files.into_iter().partition(|file| kind_of(&file.path, &file.name).is_ok_and(FileKind::is_document));
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
    /// What happens to a dataset that has the name already: `replace` makes a new version of it (documents keep
    /// the ids that those of their names have), `append` one that has the
    /// rows of a table file below its own, or these documents beside its own (one of a name that is there takes its place,
    /// and its id; one that is there already stays as it is), `refuse` leaves it.
    #[serde(default)]
    pub if_exists: IfExists,
    /// What is corrected of a table's columns before it is kept: their types and names, and which stay out.
    #[serde(default)]
    pub columns: Vec<ColumnChange>,
    /// Whole uploads, in the place of files; they are gone when they are imported.
    #[serde(default)]
    pub uploads: Vec<Id<Upload>>,
    /// One table file (CSV, TSV, JSON, NDJSON, Parquet), one workbook (XLSX, XLS, ODS: each of its sheets becomes a dataset),
    /// or any number of documents (PDF, DOCX, PPTX, ODT, HTML, mails, EPUB, RTF, text, Markdown, and ZIP of these).
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
    /// Whether external clients see it now: this import published it, or it was published before.
    pub published: bool,
    /// Of documents: how many are new, got another text, and were there already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<Changes>,
    /// The datasets into which these very files had come before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub same_files: Vec<String>,
    /// Columns of texts nearly all of which are numbers or days, and values that a type left empty: with the lines, and
    /// what to do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
    /// Why parts of files of documents (members of archives, attachments of mails) are not among them, each in a sentence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// The datasets of a workbook's other sheets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Also>,
}

/// A dataset that was made of another sheet of the same workbook.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Also {
    pub dataset_id: Id<Dataset>,
    pub name: String,
    pub sheet: String,
    pub row_count: i64,
    pub published: bool,
    /// How many it has; the pages tell.
    #[serde(skip)]
    pub columns: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
}

impl Operation for Import {
    const INFO: Info = Info {
        name: "import_dataset",
        title: "Import files into a dataset",
        description: "Reads one table file (CSV, TSV, JSON, NDJSON, Parquet), the sheets of a workbook (XLSX, XLS, ODS) or \
                      documents (PDF, DOCX, PPTX, ODT, HTML, EML, MBOX, EPUB, RTF, text, Markdown, ZIP of these) into \
                      a dataset. What a file is, its content says. All or nothing: an error names the file and where \
                      it is wrong, and leaves nothing behind; parts of archives and mails that cannot be read are \
                      named in skipped.",
        action: Action::WriteDatasets,
        cost: Cost::Read,
        route: Route { method: "POST", path: "/datasets" },
        time: |_| std::time::Duration::from_secs(900),
        example: r#"{"name":"sales","publish":false}"#,
        ..Info::MANAGE
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
        let uploads = self.uploads.clone();
        let request = self.request(on, job)?;
        let sheets = on.engines.ingest.sheets(job, &request.files).await?;
        let mut also = Vec::new();
        let Imported { dataset, documents, same, hints, skipped } = match sheets.as_slice() {
            [] | [_] => on.engines.ingest.import(job, request).await?,
            sheets if !request.changes.is_empty() => {
                let names = sheets.iter().map(|sheet| sheet.name.as_str()).collect::<Vec<_>>().join(", ");
                let message = format!(
                    "The columns of one sheet can be corrected, and the workbook has {names}. Import it as it is."
                );
                return Err(Error::invalid("columns", message));
            }
            sheets => {
                let made = on.engines.ingest.import_together(job, of_sheets(&request, sheets)).await?;
                let mut made = made.into_iter();
                let first = made.next().ok_or_else(|| Error::internal("a workbook made no dataset"))?;
                also = made.zip(sheets.iter().skip(1)).map(|(made, sheet)| Also::of(made, sheet)).collect();
                first
            }
        };
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
            published: dataset.externally_queryable,
            documents,
            same_files: same,
            hints,
            skipped,
            also,
        })
    }
}

impl Import {
    /// What the engine is asked, with the bytes of uploads in the place of files.
    ///
    /// # Errors
    /// `invalid_argument` for files beside uploads, and for uploads that are not whole; `not_found` for those of others.
    pub(super) fn request(self, on: &Parts, job: &Job<'_>) -> Result<Request> {
        if self.name.as_ref().is_some_and(|name| !name.is_empty() && !is_name(name)) {
            return Err(Error::invalid("name", NAMES));
        }
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
        Ok(Request { name, description, files, sheet: None, publish, if_exists, changes })
    }
}

impl Also {
    fn of(made: Imported, sheet: &Sheet) -> Self {
        let Dataset { id, name, row_count, externally_queryable: published, columns, .. } = made.dataset;
        let (sheet, columns) = (sheet.name.clone(), columns.len());
        Self { dataset_id: id, name, sheet, row_count, published, columns, hints: made.hints }
    }
}

/// One request a sheet: each dataset has the workbook's name and the sheet's.
pub(super) fn of_sheets(request: &Request, sheets: &[Sheet]) -> Vec<Request> {
    let mut taken = HashSet::new();
    let requests = sheets.iter().map(|sheet| {
        let whole = name_from_file(&format!("{}_{}", request.name, sheet.name));
        let mut name = whole.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            let end = format!("_{number}");
            let room = whole.len().min(NAME - end.len());
            name = format!("{}{end}", whole.get(..room).unwrap_or(&whole));
            number += 1;
        }
        Request { name, sheet: Some(sheet.index), ..request.clone() }
    });
    requests.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_is_a_dataset_and_texts_are_one() {
        let folder = tempfile::tempdir().unwrap();
        let staged = |name: &str| {
            let path = folder.path().join(name);
            let bytes: &[u8] = match name {
                "x.csv" => b"a,b\n1,2\n",
                "y.parquet" => b"PAR1",
                "z.exe" => b"MZ\0\0",
                _ => b"Some words.\n",
            };
            std::fs::write(&path, bytes).unwrap();
            Staged { name: name.into(), path }
        };
        let made = datasets(["a.md", "x.csv", "b.txt", "y.parquet", "z.exe"].map(staged).into());
        let names: Vec<Vec<&str>> =
            made.iter().map(|one| one.iter().map(|file| file.name.as_str()).collect()).collect();
        assert_eq!(names, [vec!["x.csv"], vec!["y.parquet"], vec!["z.exe"], vec!["a.md", "b.txt"]]);
        assert!(datasets(vec![]).is_empty());
    }

    #[test]
    fn sheets_have_the_name_of_their_workbook_and_their_own() {
        let request = Request {
            name: "sales".into(),
            description: String::new(),
            files: vec![],
            sheet: None,
            publish: false,
            if_exists: IfExists::Replace,
            changes: vec![],
        };
        let long = "x".repeat(80);
        let names = ["2024 (Q1)", "2024 Q1", "Größe", &long, &long];
        let sheets: Vec<Sheet> =
            names.iter().zip(0..).map(|(name, index)| Sheet { name: (*name).into(), index }).collect();
        let made = of_sheets(&request, &sheets);
        let named: Vec<&str> = made.iter().map(|request| request.name.as_str()).collect();
        assert_eq!(named.get(..3).unwrap(), ["sales_2024_q1", "sales_2024_q1_2", "sales_grosse"]);
        assert!(made.iter().all(|request| request.name.len() <= NAME));
        assert_eq!(made.iter().map(|request| request.name.clone()).collect::<HashSet<_>>().len(), names.len());
        assert_eq!(made.iter().map(|request| request.sheet).collect::<Vec<_>>(), (0..5).map(Some).collect::<Vec<_>>());
    }
}
