//! `dragoman ontology draft|check|save|convert|list|ask|explain`: semantic models from the command line.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Value, json};

use super::door::{Door, House};
use crate::base::counted::counted;
use crate::base::id::Id;
use crate::engine::ontology::library::unreadable;
use crate::engine::ontology::{foreign, read, write};
use crate::gateway::operation::Operation;
use crate::model::ontology::{Status, StoredOntology};
use crate::model::run::Stage;
use crate::ops::ask_question::AskQuestion;
use crate::ops::draft_ontology::DraftOntology;
use crate::ops::explain_question::ExplainQuestion;
use crate::ops::list_datasets::ListDatasets;
use crate::ops::ontology_texts::{
    All, CheckOntology, Checked, CreateOntology, ListAllOntologies, Saved, Standing, UpdateOntology,
};

#[derive(Debug, Subcommand)]
pub(super) enum Ontology {
    /// Make an ontology from the tables of a workspace; it is printed, not saved
    Draft {
        #[arg(long, value_name = "W")]
        workspace: String,
        /// The ontology's name
        #[arg(long, default_value = "draft")]
        name: String,
        /// An ontology to draft anew, by its name: what is new in its tables is brought into it
        #[arg(long, value_name = "NAME", conflicts_with = "name")]
        onto: Option<String>,
        /// The IANA time zone in which days begin, such as Europe/Berlin; UTC when absent
        #[arg(long, value_name = "ZONE")]
        timezone: Option<String>,
        /// What people wrote of the tables: CSV or a Markdown table with table, column, description and synonyms, a
        /// schema.yml of dbt, a datapackage.json or Table Schema of Frictionless, or metadata of CSVW
        #[arg(long, value_name = "FILE")]
        dictionary: Option<PathBuf>,
        /// Let the workspace's language model add descriptions and synonyms
        #[arg(long)]
        improve: bool,
        /// Say what speaks for each key and relationship, also where that is sure, and why columns are what they are
        #[arg(long)]
        explain: bool,
        /// Tables that it is about; all of them when absent. With --onto, further tables beside its own
        #[arg(value_name = "TABLE")]
        tables: Vec<String>,
    },
    /// Say what is wrong with a document, without looking at any table
    Check { file: PathBuf },
    /// Save a document in a workspace, and compare it with the data; it can be asked when nothing fails
    Save {
        file: PathBuf,
        #[arg(long, value_name = "W")]
        workspace: String,
    },
    /// Print a semantic model of MetricFlow, Cube or Cortex Analyst as an Ossie document
    Convert { file: PathBuf },
    /// List the ontologies of a workspace
    List {
        #[arg(long, value_name = "W")]
        workspace: String,
    },
    /// Ask a question
    Ask(Question),
    /// Ask a question, and print what every stage made of it: which one makes a wrong answer wrong
    Explain(Question),
}

/// A question, and where it is asked.
#[derive(Debug, Args)]
pub(super) struct Question {
    question: String,
    #[arg(long, value_name = "W")]
    workspace: String,
    /// The ontology's name; not needed when the workspace has one
    #[arg(long)]
    ontology: Option<String>,
    /// Of the answer before, to go on with it
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
}

impl Ontology {
    /// Whether a data folder is needed.
    pub(super) fn is_about_a_file(&self) -> bool {
        matches!(self, Self::Check { .. } | Self::Convert { .. })
    }

    /// Commands that look at a file alone.
    ///
    /// # Errors
    /// Every problem of the document, with its line.
    pub(super) fn run_on_file(&self, json: bool) -> anyhow::Result<()> {
        match self {
            Self::Check { file } => {
                let document = read::read(&text(file)?).map_err(|problems| listed(&problems, json))?;
                let ontology = &document.ontology;
                let fields: usize = ontology.datasets.iter().map(|entity| entity.fields.len()).sum();
                if json {
                    say!("{}", json!({ "name": ontology.name, "warnings": document.warnings }));
                    return Ok(());
                }
                document.warnings.iter().for_each(|warning| remark!("{warning}"));
                say!(
                    "{}: {}, {}, {}. Nothing is wrong.",
                    ontology.name,
                    counted(ontology.datasets.len(), "dataset"),
                    counted(fields, "field"),
                    counted(ontology.metrics.len(), "metric")
                );
            }
            Self::Convert { file } => {
                let imported = foreign::import(&text(file)?).map_err(|problems| listed(&problems, json))?;
                imported.notes.iter().for_each(|note| remark!("{note}"));
                say!("{}", write::flat_yaml(&imported.ontology).trim_end());
            }
            Self::Draft { .. } | Self::Save { .. } | Self::List { .. } | Self::Ask(_) | Self::Explain(_) => {}
        }
        Ok(())
    }

    /// Commands about a workspace, as the operator of the machine.
    ///
    /// # Errors
    /// What was wrong, in a sentence.
    pub(super) async fn run(self, house: &House, json: bool) -> anyhow::Result<()> {
        let slug = match &self {
            Self::Draft { workspace, .. } | Self::Save { workspace, .. } | Self::List { workspace } => {
                workspace.clone()
            }
            Self::Ask(asked) | Self::Explain(asked) => asked.workspace.clone(),
            Self::Check { .. } | Self::Convert { .. } => return self.run_on_file(json),
        };
        let room = Room(house.door(&slug).await?);
        match self {
            Self::Draft { name, onto, timezone, dictionary, improve, explain, tables, .. } => {
                let dataset_ids = room.datasets(&tables).await?;
                let dictionary = dictionary.as_deref().map(text).transpose()?.unwrap_or_default();
                let ontology_id = match &onto {
                    Some(name) => Some(room.ontology(Some(name)).await?),
                    None => None,
                };
                let name = if onto.is_some() { String::new() } else { name };
                let arguments = json!({ "name": name, "ontology_id": ontology_id, "dataset_ids": dataset_ids,
                    "timezone": timezone, "dictionary": dictionary, "improve": improve });
                let made = room.call::<DraftOntology>(arguments).await?;
                each(&made, "/changes").filter_map(Value::as_str).for_each(|change| remark!("{change}"));
                for evidence in each(&made, "/evidence") {
                    let because: Vec<&str> = each(evidence, "/because").filter_map(Value::as_str).collect();
                    let sure = evidence.get("sure") == Some(&Value::Bool(true));
                    if explain || !sure {
                        let look = if sure { "" } else { "Look at this: " };
                        remark!("{look}{}. {}", said(evidence, "/decided"), because.join(" "));
                    }
                }
                if explain {
                    each(&made, "/columns").for_each(tell_columns);
                }
                for note in each(&made, "/notes").filter_map(Value::as_str) {
                    remark!("{note}");
                }
                say!("{}", said(&made, "/text").trim_end());
            }
            Self::Save { file, .. } => {
                let kept = room.save(text(&file)?).await?;
                match json {
                    true => say!("{}", serde_json::to_string(&kept)?),
                    false => kept.show(),
                }
                anyhow::ensure!(kept.standing().status == Status::Ready, "it cannot be asked as it is");
            }
            Self::List { .. } => {
                let all = room.all().await?;
                if json {
                    say!("{}", serde_json::to_string(&all)?);
                    return Ok(());
                }
                for Standing { ontology_id, name, status, problem, .. } in all.ontologies {
                    say!("{ontology_id}  {name}  {}  {problem}", status.name());
                }
            }
            Self::Ask(asked) => {
                let reply = room.call::<AskQuestion>(room.asked(asked).await?).await?;
                if json {
                    say!("{reply}");
                    return Ok(());
                }
                say!("{}", said(&reply, "/narrative"));
                for question in each(&reply, "/clarificationRequest/questions") {
                    for suggestion in each(question, "/suggestions").filter_map(Value::as_str) {
                        say!("  - {suggestion}");
                    }
                }
                remark!("conversation {}", said(&reply, "/conversationId"));
            }
            Self::Explain(asked) => {
                let explained = room.0.ask::<ExplainQuestion>(room.asked(asked).await?).await?;
                if json {
                    say!("{}", serde_json::to_string(&explained)?);
                    return Ok(());
                }
                for Stage { name, made } in &explained.stages {
                    say!("== {}\n{}\n", name.trim_end(), made.trim_end());
                }
                say!("== answer\n{}", explained.narrative);
            }
            Self::Check { .. } | Self::Convert { .. } => {}
        }
        Ok(())
    }
}

/// A workspace, and what commands look up in it.
struct Room<'a>(Door<'a>);

impl Room<'_> {
    async fn call<O: Operation>(&self, arguments: Value) -> anyhow::Result<Value> {
        self.0.call::<O>(arguments).await
    }

    async fn datasets(&self, names: &[String]) -> anyhow::Result<Vec<String>> {
        let mut ids = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.call::<ListDatasets>(json!({ "cursor": cursor })).await?;
            for dataset in each(&page, "/datasets") {
                if names.iter().any(|name| said(dataset, "/name") == name) {
                    ids.push(said(dataset, "/id").to_owned());
                }
            }
            cursor = page.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        anyhow::ensure!(ids.len() == names.len(), "not every one of {} is a table here", names.join(", "));
        Ok(ids)
    }

    /// The arguments of a question.
    async fn asked(&self, asked: Question) -> anyhow::Result<Value> {
        let ontology_id = self.ontology(asked.ontology.as_deref()).await?;
        Ok(json!({ "ontologyId": ontology_id, "question": asked.question, "conversationId": asked.conversation }))
    }

    async fn all(&self) -> anyhow::Result<All> {
        self.0.ask::<ListAllOntologies>(json!({})).await
    }

    async fn ontology(&self, name: Option<&str>) -> anyhow::Result<Id<StoredOntology>> {
        let all = self.all().await?.ontologies;
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        let found = match name {
            Some(name) => all.iter().find(|one| one.name == name),
            None => all.first().filter(|_| all.len() == 1),
        };
        let found = found.with_context(|| match names.as_slice() {
            [] => "there is no ontology here: `dragoman ontology draft` makes one of the tables, `dragoman ontology save` keeps it".to_owned(),
            names => format!("name one of the ontologies with --ontology: {}", names.join(", ")),
        })?;
        Ok(found.ontology_id)
    }

    /// Saves a document under its own name, new or as the next version, and compares it with the data.
    async fn save(&self, text: String) -> anyhow::Result<Kept> {
        let name = read::read(&text).map_err(|problems| listed(&problems, false))?.ontology.name;
        let old = self.all().await?.ontologies.into_iter().find(|one| one.name == name);
        let summary = "saved from the command line";
        let saved = match old {
            None => self.0.ask::<CreateOntology>(json!({ "text": text, "summary": summary })).await?,
            Some(old) => {
                let arguments = json!({ "ontology_id": old.ontology_id, "text": text, "summary": summary });
                self.0.ask::<UpdateOntology>(arguments).await?
            }
        };
        if saved.ontology.status == Status::Failed {
            return Ok(Kept::Unchecked(saved));
        }
        let arguments = json!({ "ontology_id": saved.ontology.ontology_id });
        Ok(Kept::Checked(self.0.ask::<CheckOntology>(arguments).await?))
    }
}

/// A document that was saved, and compared with the data unless it is wrong by itself.
#[derive(Serialize)]
#[serde(untagged)]
enum Kept {
    Unchecked(Saved),
    Checked(Checked),
}

impl Kept {
    fn standing(&self) -> &Standing {
        match self {
            Self::Unchecked(saved) => &saved.ontology,
            Self::Checked(checked) => &checked.ontology,
        }
    }

    fn show(&self) {
        let Standing { name, version, status, problem, .. } = self.standing();
        say!("{}", format!("{name}, version {version}: {}. {problem}", status.name()).trim_end());
        match self {
            Self::Unchecked(saved) => {
                saved.problems.iter().for_each(|it| say!("  {}: {}", it.path, it.message));
            }
            Self::Checked(checked) => {
                let failed = checked.attestation.findings.iter().filter(|finding| !finding.passed);
                failed.for_each(|finding| say!("  {}: {}", finding.what, finding.says));
            }
        }
    }
}

/// Says why the columns of a table are what they are, a line each.
fn tell_columns(table: &Value) {
    remark!("{}", said(table, "/table"));
    let name = |column| said(column, "/column");
    let width = each(table, "/columns").map(|column| name(column).chars().count()).max().unwrap_or_default();
    for column in each(table, "/columns") {
        let reason = |reason| format!("{}: {}", said(reason, "/decided"), said(reason, "/because"));
        let reasons: Vec<String> = each(column, "/reasons").map(reason).collect();
        remark!("  {:width$}  {}", name(column), reasons.join(" "));
    }
}

/// The text at a place of a reply (RFC 6901); empty where there is none.
fn said<'v>(reply: &'v Value, path: &str) -> &'v str {
    reply.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// What is in the list at a place of a reply.
fn each<'v>(reply: &'v Value, path: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    reply.pointer(path).and_then(Value::as_array).into_iter().flatten()
}

fn text(file: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))
}

fn listed(problems: &[crate::model::ontology::Problem], json: bool) -> anyhow::Error {
    if json {
        say!("{}", json!({ "problems": problems }));
    } else {
        problems.iter().for_each(|problem| remark!("{problem}"));
    }
    anyhow::anyhow!(unreadable(problems).message)
}
