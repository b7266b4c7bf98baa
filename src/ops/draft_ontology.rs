//! An ontology drafted from tables: what their databases declare, what is measured in them, what people wrote of them,
//! and, when somebody asks for it, better words by the workspace's language model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ontology_texts::{WRITE, long};
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::engine::llm::Models;
use crate::engine::ontology::describe::describe;
pub use crate::engine::ontology::draft::Evidence;
use crate::engine::ontology::draft::Wanted;
use crate::engine::ontology::draft::declared::declared;
use crate::engine::ontology::draft::dictionary::Dictionary;
use crate::engine::ontology::draft::measure::measured;
use crate::engine::ontology::write;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::model::access::Want;
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Error, Result};
use crate::model::ontology::Ontology;

/// Arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DraftOntology {
    /// The ontology's name.
    pub name: String,
    /// Tables that it is about; all of the workspace when absent.
    #[serde(default)]
    pub dataset_ids: Vec<Id<Dataset>>,
    /// The IANA time zone in which days begin, such as Europe/Berlin; UTC when absent.
    #[serde(default)]
    pub timezone: Option<String>,
    /// What people wrote of the tables: CSV or a Markdown table with the columns table, column, description and
    /// synonyms (parted by `;`), or term and means; or a schema.yml of dbt, a Frictionless Data Package or Table Schema,
    /// or metadata of CSV on the Web, whose keys, references and enumerations count as declared.
    #[serde(default)]
    #[schemars(length(max = 524_288))]
    pub dictionary: String,
    /// Whether the workspace's language model may add descriptions and synonyms. It sees names, types and descriptions,
    /// never values.
    #[serde(default)]
    pub improve: bool,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Drafted {
    /// Ossie 0.2 in YAML. It is not saved.
    pub text: String,
    /// What is to be looked at, and what could not be measured.
    pub notes: Vec<String>,
    /// Why keys and relationships are what they are.
    pub evidence: Vec<Evidence>,
}

impl Operation for DraftOntology {
    const INFO: Info = Info {
        name: "draft_ontology",
        title: "Draft an ontology from tables",
        description: "Reads the tables and makes an ontology of them: names in words, keys, relationships, measures, \
                      values to find. Nothing is saved.",
        read_only: true,
        recorded_as: Some("admin.ontology.draft"),
        route: Route { method: "POST", path: "/ontologies/draft" },
        time: long,
        example: r#"{"name":"sales","timezone":"Europe/Berlin"}"#,
        ..WRITE
    };
    type Reply = Drafted;

    fn want(&self) -> Want {
        Want::All
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Drafted> {
        let timezone = self.timezone.map(|zone| zone.trim().to_owned()).filter(|zone| !zone.is_empty());
        if let Some(zone) = timezone.as_ref().filter(|zone| jiff::tz::TimeZone::get(zone).is_err()) {
            let message = format!("{zone:?} is not a time zone. Write an IANA name such as Europe/Berlin or UTC.");
            return Err(Error::invalid("timezone", message));
        }
        let dictionary = Dictionary::read(&self.dictionary)?;
        let mut tables: Vec<Dataset> = Vec::new();
        for id in &self.dataset_ids {
            tables.push(job.pass.dataset(*id)?.clone());
        }
        if tables.is_empty() {
            tables = job.pass.datasets().iter().filter(|dataset| dataset.kind == Kind::Table).cloned().collect();
        }
        if tables.is_empty() {
            return Err(Error::invalid("dataset_ids", "There is no table to draft from. Import one first."));
        }
        let (declared, problems) = declared(&on.engines.sources, job, &tables).await?;
        let wanted = Wanted { name: self.name, timezone, dictionary, ..Wanted::default() };
        let mut draft = measured(&on.engines.sql, job, &wanted, &tables, &declared).await?;
        draft.notes.extend(problems);
        if self.improve {
            let (ontology, note) = improved(&on.engines.models, job, draft.ontology).await;
            draft.ontology = ontology;
            draft.notes.push(note);
        }
        Ok(Drafted { text: write::flat_yaml(&draft.ontology), notes: draft.notes, evidence: draft.evidence })
    }
}

/// The ontology in the words of the workspace's language model, and what became of that. Without the model it stands.
async fn improved(models: &Models, job: &Job<'_>, ontology: Ontology) -> (Ontology, String) {
    let model = match models.open(job).await {
        Ok(model) => model,
        Err(problem) => return (ontology, format!("No language model improved the words: {problem}.")),
    };
    job.says(0.9, "Asking a language model for descriptions");
    let better = describe(&ontology, &model).await;
    let (descriptions, synonyms) = (better.descriptions, better.synonyms);
    let made =
        format!("A language model wrote {descriptions} descriptions and {synonyms} synonyms: look through them.");
    let note = match better.problem {
        None => made,
        Some(problem) if descriptions + synonyms == 0 => format!("No language model improved the words: {problem}."),
        Some(problem) => format!("{made} It did not get to the end: {problem}."),
    };
    (better.ontology, note)
}
