//! `dragoman import FILE… --workspace W [--publish]`: each table file becomes a dataset, the documents together one.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use super::door::{Dataset, House};
use crate::engine::ingest::{FileKind, kind_of};

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
}

impl Import {
    pub(super) async fn run(self, house: &House, json: bool) -> anyhow::Result<()> {
        let door = house.door(&self.workspace).await?;
        if let (Some(given), Some(name)) = (&self.name, self.lower_name())
            && *given != name
        {
            eprintln!("named {name}: names of datasets are in lower case");
        }
        for (name, files) in self.datasets()? {
            let dataset = Dataset { name, description: self.description.clone(), publish: self.publish, files };
            let reply = door.import(dataset, !json).await?;
            if json {
                println!("{reply}");
            } else {
                let value = |key: &str| reply.get(key).unwrap_or(&Value::Null);
                let text = |key: &str| value(key).as_str().unwrap_or_default();
                let state = if self.publish { "published" } else { "not published: external clients do not see it" };
                println!(
                    "{} ({}, {} rows, {} bytes), {state}",
                    text("name"),
                    text("type"),
                    value("row_count"),
                    value("bytes")
                );
            }
        }
        Ok(())
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
            match kind_of(path, &path.display().to_string())? {
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
