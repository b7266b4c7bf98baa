//! What an import would make: types, first rows and problems, to be corrected before anything is kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::engine::ingest::Found;
use crate::engine::job::Job;
use crate::engine::uploads::Upload;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route};
use crate::model::access::Action;
use crate::model::column_change::{ColumnChange, Hint};
use crate::model::dataset::{ColumnInfo, Dataset, IfExists, Kind};
use crate::model::error::Result;
use crate::ops::import::{Import, Staged, of_sheets};

/// Arguments: those of an import.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckImport {
    /// The dataset's name; made from the first file's name when absent or empty.
    #[serde(default)]
    #[schemars(regex(pattern = "^([a-z_][a-z0-9_]{0,62})?$"))]
    pub name: Option<String>,
    /// With `append` the rows are held against the columns of the dataset that has the name.
    #[serde(default)]
    pub if_exists: IfExists,
    /// What is corrected of a table's columns.
    #[serde(default)]
    pub columns: Vec<ColumnChange>,
    /// Whole uploads, in the place of files.
    #[serde(default)]
    pub uploads: Vec<Id<Upload>>,
    /// One table file, or any number of texts.
    #[serde(default)]
    pub files: Vec<Staged>,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    /// The name that the dataset would have; of several sheets, what the names in `sheets` begin with.
    pub name: String,
    pub r#type: Kind,
    /// Rows that a table file has, without those of the dataset that it is added to; texts of documents.
    pub row_count: i64,
    pub columns: Vec<ColumnInfo>,
    /// The first rows of a table, as text.
    pub rows: Vec<Vec<Option<String>>>,
    /// The names of the datasets that the sheets of a workbook become, where it has several: what is told is of the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sheets: Vec<String>,
    /// The titles of texts, the first of them.
    pub titles: Vec<String>,
    /// The dataset that has the name already; of several sheets, the first of those in `taken`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exists: Option<Id<Dataset>>,
    /// The name, or those of the sheets, that datasets have already.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<String>,
    /// Datasets into which these very files came last: to add them would double their rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub same_files: Vec<String>,
    /// Columns of texts nearly all of which are numbers or days, and values that a type leaves empty: with the lines, and
    /// what to do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
    /// Why parts of files of documents (members of archives, attachments of mails) are not among them, each in a sentence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
}

impl Reply {
    /// What the sheets of a workbook become, for people.
    pub fn says_sheets(&self) -> Option<String> {
        let count = self.sheets.len();
        let names = self.sheets.join(", ");
        (count > 0).then(|| {
            format!("{count} sheets, each a dataset: {names}. Only the first is shown; all are imported as they are.")
        })
    }
}

/// Titles that are told.
const TITLES: usize = 50;

impl Operation for CheckImport {
    const INFO: Info = Info {
        name: "check_import",
        title: "Look at files before they are imported",
        description: "Reads files as an import would and says what it would make of them: columns with their types, samples \
                      and first rows. Nothing is kept. A value that does not fit is named with its line, and so are the few \
                      that keep a column from being numbers or days (hints). Types and names can be corrected with \
                      columns, here and in the import.",
        action: Action::WriteDatasets,
        cost: Cost::Read,
        route: Route { method: "POST", path: "/datasets/check" },
        time: |_| std::time::Duration::from_secs(900),
        example: r#"{"uploads":["01936f2e-7c1a-7000-8000-000000000001"],"columns":[{"column":"zip","type":"VARCHAR"}]}"#,
        ..Info::MANAGE
    };
    type Reply = Reply;

    fn target(&self) -> String {
        let files: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        format!("{} {}", self.name.as_deref().unwrap_or_default(), files.join(" "))
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let Self { name, if_exists, columns, uploads, files } = self;
        let import = Import { name, if_exists, columns, uploads, files, ..Import::default() };
        let request = import.request(on, job)?;
        let sheets = on.engines.ingest.sheets(job, &request.files).await?;
        let together = if sheets.len() > 1 { of_sheets(&request, &sheets) } else { vec![] };
        let sheets: Vec<String> = together.iter().map(|sheet| sheet.name.clone()).collect();
        let name = request.name.clone();
        let names = if sheets.is_empty() { std::slice::from_ref(&name) } else { sheets.as_slice() };
        let taken = on.engines.ingest.taken(job, names).await?;
        // Of several sheets, what is told is of the first, under the name that it will have.
        let first = together.into_iter().next().unwrap_or(request);
        let found = on.engines.ingest.check(job, first).await?;
        let Found { kind, rows, columns, first, mut titles, same, hints, skipped } = found;
        titles.truncate(TITLES);
        Ok(Reply {
            name,
            r#type: kind,
            row_count: rows,
            columns: super::shown(on, &columns, 2)?,
            rows: fitting(first, on.config.limits.budgets.reply_bytes / 2),
            sheets,
            titles,
            exists: taken.first().map(|dataset| dataset.id),
            taken: taken.into_iter().map(|dataset| dataset.name).collect(),
            same_files: same,
            hints,
            skipped,
        })
    }
}

/// As many of the first rows as are within so many bytes.
fn fitting(rows: Vec<Vec<Option<String>>>, most: usize) -> Vec<Vec<Option<String>>> {
    let mut left = most;
    let mut fits = |row: &Vec<Option<String>>| {
        // A control character is six bytes in JSON.
        let bytes: usize = row.iter().map(|cell| cell.as_ref().map_or(5, |text| text.len() * 6 + 3)).sum();
        left.checked_sub(bytes).map(|rest| left = rest).is_some()
    };
    rows.into_iter().take_while(|row| fits(row)).collect()
}
