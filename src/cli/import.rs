//! `dragoman import FILE… --workspace W [--publish]`: each table file becomes a dataset, the documents together one.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use super::door::{Dataset, House};
use crate::base::counted::counted;
use crate::engine::ingest::{FileKind, kind_of};
use crate::model::column_change::ColumnChange;
use crate::model::dataset::IfExists;

/// Arguments of `import`.
#[derive(Debug, Args)]
pub(super) struct Import {
    /// Tables (CSV, JSON, Parquet, XLSX, XLS, ODS) or documents (PDF, DOCX, PPTX, ODT, HTML, mails, EPUB, RTF, text, ZIP)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The workspace's short name
    #[arg(long, value_name = "W")]
    workspace: String,
    /// The dataset's name, for one table file or for the documents; otherwise made from the file's name
    #[arg(long)]
    name: Option<String>,
    /// What the data are, for people and models
    #[arg(long, default_value = "")]
    description: String,
    /// Let external clients see it
    #[arg(long)]
    publish: bool,
    /// Add to the dataset that has the name: rows below its rows, documents beside its documents
    #[arg(long)]
    append: bool,
    /// Only say what would be made of each file: columns, types, rows
    #[arg(long, conflicts_with = "publish")]
    check: bool,
    /// Give a column another type, such as zip=VARCHAR or amount=DECIMAL(18,2)
    #[arg(long = "type", value_name = "COLUMN=TYPE", value_parser = pair)]
    types: Vec<(String, String)>,
    /// Give a column another name
    #[arg(long = "rename", value_name = "COLUMN=NAME", value_parser = pair)]
    names: Vec<(String, String)>,
    /// Leave a column out
    #[arg(long, value_name = "COLUMN")]
    leave_out: Vec<String>,
}

/// `COLUMN=…`.
fn pair(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(column, value)| !column.is_empty() && !value.is_empty());
    let (column, value) = parts.ok_or("write it as COLUMN=…, such as zip=VARCHAR")?;
    Ok((column.to_owned(), value.to_owned()))
}

impl Import {
    pub(super) async fn run(self, house: &House, json: bool) -> anyhow::Result<()> {
        let door = house.door(&self.workspace).await?;
        if let (Some(given), Some(name)) = (&self.name, self.lower_name())
            && *given != name
        {
            remark!("named {name}: names of datasets are in lower case");
        }
        for (name, files) in self.datasets()? {
            let (description, publish, columns) = (self.description.clone(), self.publish, self.changes());
            let if_exists = if self.append { IfExists::Append } else { IfExists::Replace };
            let dataset = Dataset { name, description, publish, if_exists, files, columns };
            let reply = match self.check {
                true => door.check(dataset).await?,
                false => door.import(dataset, !json).await?,
            };
            if json {
                say!("{reply}");
            } else if self.check {
                say_found(&reply);
            } else {
                let value = |key: &str| reply.get(key).unwrap_or(&Value::Null);
                let text = |key: &str| value(key).as_str().unwrap_or_default();
                say!(
                    "{} ({}, {}, {} bytes), {}",
                    text("name"),
                    text("type"),
                    size(&reply, "passage"),
                    value("bytes"),
                    state(&reply)
                );
                let same = value("same_files").as_array().into_iter().flatten().filter_map(Value::as_str);
                let same = same.collect::<Vec<_>>().join(", ");
                if !same.is_empty() {
                    say!("  these very files had come into {same} before");
                }
                say_hints(&reply);
                for sheet in value("also").as_array().into_iter().flatten() {
                    let text = |key: &str| sheet.get(key).and_then(Value::as_str).unwrap_or_default();
                    let rows = sheet.get("row_count").and_then(Value::as_i64).unwrap_or_default();
                    let (name, rows, state) = (text("name"), counted(rows, "row"), state(sheet));
                    say!("{name} (table, {rows}), {state}: the sheet {}", text("sheet"));
                    say_hints(sheet);
                }
            }
        }
        Ok(())
    }

    /// What is corrected, column by column.
    fn changes(&self) -> Vec<ColumnChange> {
        let mut changes: Vec<ColumnChange> = Vec::new();
        let mut of = |column: &str, change: &dyn Fn(&mut ColumnChange)| {
            if let Some(known) = changes.iter_mut().find(|known| known.column == column) {
                return change(known);
            }
            let mut new = ColumnChange { column: column.to_owned(), ..ColumnChange::default() };
            change(&mut new);
            changes.push(new);
        };
        for (column, kind) in &self.types {
            of(column, &|change| change.r#type = Some(kind.clone()));
        }
        for (column, name) in &self.names {
            of(column, &|change| change.name = Some(name.clone()));
        }
        for column in &self.leave_out {
            of(column, &|change| change.leave_out = true);
        }
        changes
    }

    /// The name as datasets have them: SQL knows no capitals either.
    fn lower_name(&self) -> Option<String> {
        self.name.as_ref().map(|name| name.to_ascii_lowercase())
    }

    /// Files grouped into datasets: a table file each, the documents together.
    fn datasets(&self) -> anyhow::Result<Vec<(Option<String>, Vec<PathBuf>)>> {
        let mut datasets = Vec::new();
        let mut texts = Vec::new();
        for path in &self.files {
            let shown = path.display();
            anyhow::ensure!(!path.is_dir(), "{shown} is a folder: name its files ({shown}/*), or a ZIP of them");
            match kind_of(path, &shown.to_string())? {
                FileKind::Table(_) | FileKind::Workbook => datasets.push((self.lower_name(), vec![path.clone()])),
                FileKind::Text | FileKind::Documents => texts.push(path.clone()),
            }
        }
        anyhow::ensure!(
            self.name.is_none() || datasets.len() + usize::from(!texts.is_empty()) == 1,
            "--name names one dataset, but these files make several"
        );
        if !texts.is_empty() {
            datasets.push((self.lower_name().or_else(|| Some("documents".into())), texts));
        }
        Ok(datasets)
    }
}

/// The rows of a table, or how many of what documents are made of.
fn size(reply: &Value, part: &str) -> String {
    let is_table = reply.get("type").and_then(Value::as_str) == Some("table");
    counted(reply.get("row_count").and_then(Value::as_i64).unwrap_or_default(), if is_table { "row" } else { part })
}

/// Who sees a dataset now.
fn state(reply: &Value) -> &'static str {
    match reply.get("published").and_then(Value::as_bool) {
        Some(true) => "published",
        _ => "not published: external clients do not see it",
    }
}

/// What was found in files, a line for each column.
fn say_found(reply: &Value) {
    let value = |of: &Value, key: &str| of.get(key).cloned().unwrap_or_default();
    let text = |of: &Value, key: &str| value(of, key).as_str().unwrap_or_default().to_owned();
    say!("{} ({}, {}), not imported", text(reply, "name"), text(reply, "type"), size(reply, "text"));
    for column in value(reply, "columns").as_array().into_iter().flatten() {
        let samples = value(column, "sample_values");
        let samples: Vec<&str> = samples.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        say!("  {} {}  {}", text(column, "name"), text(column, "type"), samples.join(", "));
    }
    let sheets = value(reply, "sheets");
    let sheets: Vec<&str> = sheets.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !sheets.is_empty() {
        say!("  {} sheets, each a dataset: {}; only the first is shown", sheets.len(), sheets.join(", "));
    }
    say_hints(reply);
}

/// What could be corrected with `--type`, what was left empty, and what could not be read.
fn say_hints(reply: &Value) {
    let of = |key: &str| reply.get(key).and_then(Value::as_array).into_iter().flatten();
    let says = of("hints").filter_map(|hint| hint.get("says")?.as_str());
    says.chain(of("skipped").filter_map(Value::as_str)).for_each(|says| say!("  {says}"));
}
