//! Ontologies as documents, for those who may write them: saved, checked, drafted, brought from other tools, compared.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Done;
use crate::base::clock::rfc3339;
use crate::base::id::Id;
use crate::engine::chart::graph_svg;
use crate::engine::job::Job;
use crate::engine::ontology::library::unreadable;
use crate::engine::ontology::{foreign, read, write};
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::model::access::{Action, Want};
use crate::model::error::{Error, Result};
use crate::model::ontology::{Attestation, Ontology, Problem, Status, StoredOntology};

/// What operations on texts have in common. A text of megabytes takes its time to be read.
pub(super) const WRITE: Info =
    Info { action: Action::WriteDatasets, time: |_| std::time::Duration::from_secs(60), ..Info::MANAGE };

/// A document over one table, for examples.
const DOCUMENT: &str = r#"{"text":"version: 0.2.0.dev0\nname: shop\ndatasets:\n  - name: orders\n    source: orders\n    primary_key: [id]\n    fields:\n      - name: id\n        expression: {dialects: [{dialect: ANSI_SQL, expression: id}]}\n        datatype: Integer\n"}"#;

/// Seconds that comparing with the data may take.
pub(super) fn long(_: &crate::config::Budgets) -> std::time::Duration {
    std::time::Duration::from_secs(300)
}

/// An ontology and where it stands.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Standing {
    pub ontology_id: Id<StoredOntology>,
    pub name: String,
    pub description: String,
    pub status: Status,
    /// Why it is `failed`; empty otherwise.
    pub problem: String,
    pub version: i64,
    pub dataset_count: i64,
    pub field_count: i64,
    /// RFC 3339.
    pub created_at: String,
    pub updated_at: String,
}

impl From<StoredOntology> for Standing {
    fn from(it: StoredOntology) -> Self {
        Self {
            ontology_id: it.id,
            name: it.name,
            description: it.description,
            status: it.status,
            problem: it.problem,
            version: it.version,
            dataset_count: it.dataset_count,
            field_count: it.field_count,
            created_at: rfc3339(it.created_at),
            updated_at: rfc3339(it.updated_at),
        }
    }
}

/// No arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListAllOntologies {}

/// The reply.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct All {
    /// By name, whatever their status; for an AI client those of which it sees every dataset.
    pub ontologies: Vec<Standing>,
    /// For pages: the tables that the newest text of each uses, in small letters.
    #[serde(skip)]
    pub tables: HashMap<Id<StoredOntology>, Vec<String>>,
}

impl Operation for ListAllOntologies {
    const INFO: Info = Info {
        name: "list_all_ontologies",
        title: "List ontologies with their status",
        description: "Lists every ontology of the workspace, also drafts and those that failed.",
        read_only: true,
        route: Route { method: "GET", path: "/ontologies" },
        ..WRITE
    };
    type Reply = All;
    const WANT: Want = Want::All;

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<All> {
        let mut all = All { ontologies: vec![], tables: HashMap::new() };
        for (stored, tables) in on.engines.library.standings(job).await? {
            all.tables.insert(stored.id, tables);
            all.ontologies.push(stored.into());
        }
        Ok(all)
    }
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateOntology {
    /// An Ossie document, YAML or JSON.
    #[schemars(length(min = 1, max = read::MAX_BYTES))]
    pub text: String,
    /// What is new, for the history.
    #[serde(default)]
    pub summary: String,
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateOntology {
    pub ontology_id: Id<StoredOntology>,
    /// An Ossie document, YAML or JSON.
    #[schemars(length(min = 1, max = read::MAX_BYTES))]
    pub text: String,
    /// The version that the text was made from: saving is refused when somebody saved another meanwhile.
    #[serde(default)]
    pub version: Option<i64>,
    #[serde(default)]
    pub summary: String,
}

/// What was saved, and what is wrong or doubtful with it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Saved {
    pub ontology: Standing,
    pub problems: Vec<Problem>,
}

impl Operation for CreateOntology {
    const INFO: Info = Info {
        name: "create_ontology",
        title: "Create an ontology",
        description: "Keeps a new ontology. It can be asked once it was checked against the data.",
        recorded_as: Some("admin.ontology.create"),
        route: Route { method: "POST", path: "/ontologies" },
        example: DOCUMENT,
        ..WRITE
    };
    type Reply = Saved;
    const WANT: Want = Want::All;

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Saved> {
        let saved = on.engines.library.save(job, None, &self.text, None, &self.summary).await?;
        Ok(Saved { ontology: saved.stored.into(), problems: saved.problems })
    }
}

impl Operation for UpdateOntology {
    const INFO: Info = Info {
        name: "update_ontology",
        title: "Change an ontology",
        description: "Keeps a new version of an ontology. It can be asked once it was checked against the data.",
        recorded_as: Some("admin.ontology.update"),
        route: Route { method: "PUT", path: "/ontologies/{ontology_id}" },
        example: DOCUMENT,
        ..WRITE
    };
    type Reply = Saved;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        self.ontology_id.to_string()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Saved> {
        let library = &on.engines.library;
        let saved = library.save(job, Some(self.ontology_id), &self.text, self.version, &self.summary).await?;
        Ok(Saved { ontology: saved.stored.into(), problems: saved.problems })
    }
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckOntology {
    pub ontology_id: Id<StoredOntology>,
}

/// What the comparison found.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Checked {
    pub ontology: Standing,
    pub attestation: Attestation,
}

impl Operation for CheckOntology {
    const INFO: Info = Info {
        name: "check_ontology",
        title: "Check an ontology against the data",
        description: "Compares an ontology with the data: keys unique, references without orphans, metrics that run. \
                      When nothing fails it can be asked from then on.",
        recorded_as: Some("admin.ontology.check"),
        route: Route { method: "POST", path: "/ontologies/{ontology_id}/check" },
        time: long,
        ..WRITE
    };
    type Reply = Checked;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        self.ontology_id.to_string()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Checked> {
        let (stored, attestation) = on.engines.library.attest(job, self.ontology_id).await?;
        Ok(Checked { ontology: stored.into(), attestation })
    }
}

/// How an ontology is written out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// As it was saved.
    #[default]
    Saved,
    /// Ossie 0.2 in YAML.
    Ossie,
    /// Ossie 0.2 in JSON.
    OssieJson,
    /// Ossie 0.1.1 in JSON, for tools that read only that.
    LegacyJson,
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetOntologyText {
    pub ontology_id: Id<StoredOntology>,
    /// The newest when absent.
    #[serde(default)]
    pub version: Option<i64>,
    #[serde(default)]
    pub format: Format,
}

/// A text and what was found of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Text {
    pub ontology: Standing,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attestation: Option<Attestation>,
    /// A picture of the datasets and what refers to what, as SVG; empty for a text that cannot be read.
    pub graph_svg: String,
    /// What the text says, for pages of this program.
    #[serde(skip)]
    pub parsed: Option<Ontology>,
}

impl Operation for GetOntologyText {
    const INFO: Info = Info {
        name: "get_ontology_text",
        title: "Get an ontology's text",
        description: "Returns an ontology as a document: as it was saved, or written anew as Ossie.",
        read_only: true,
        route: Route { method: "GET", path: "/ontologies/{ontology_id}/text" },
        ..WRITE
    };
    type Reply = Text;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        self.ontology_id.to_string()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Text> {
        let library = &on.engines.library;
        let (stored, saved) = library.text(job, self.ontology_id, self.version).await?;
        let format = self.format;
        // A text may be long: parsing it is not for a thread on which others wait.
        let written = tokio::task::spawn_blocking(move || written(saved, format)).await.map_err(Error::internal)?;
        let (text, parsed) = written?;
        let graph_svg = parsed.as_ref().map(graph_svg).unwrap_or_default();
        let attestation = library.attestation(job, self.ontology_id).await?;
        Ok(Text { ontology: stored.into(), text, attestation, graph_svg, parsed })
    }
}

/// A saved text in a form, and what it says; a text that cannot be read any more says nothing, and has no other form.
fn written(saved: String, format: Format) -> Result<(String, Option<Ontology>)> {
    let read = read::read(&saved).map(|document| document.ontology);
    let ontology = match read.map_err(|problems| unreadable(&problems)) {
        Ok(ontology) => ontology,
        Err(_) if format == Format::Saved => return Ok((saved, None)),
        Err(error) => return Err(error),
    };
    let text = match format {
        Format::Saved => saved,
        Format::Ossie => write::flat_yaml(&ontology),
        Format::OssieJson => write::flat_json(&ontology),
        Format::LegacyJson => write::legacy_json(&ontology),
    };
    Ok((text, Some(ontology)))
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OntologyHistory {
    pub ontology_id: Id<StoredOntology>,
}

/// A saved text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SavedVersion {
    pub version: i64,
    pub summary: String,
    /// A person's id; absent for the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_by: Option<String>,
    /// RFC 3339.
    pub saved_at: String,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct History {
    /// Newest first.
    pub versions: Vec<SavedVersion>,
}

impl Operation for OntologyHistory {
    const INFO: Info = Info {
        name: "ontology_history",
        title: "List the versions of an ontology",
        description: "Lists the kept versions of an ontology, newest first.",
        read_only: true,
        route: Route { method: "GET", path: "/ontologies/{ontology_id}/history" },
        ..WRITE
    };
    type Reply = History;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        self.ontology_id.to_string()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<History> {
        let versions = on.engines.library.history(job, self.ontology_id).await?;
        let versions = versions.into_iter().map(|it| SavedVersion {
            version: it.version,
            summary: it.summary,
            saved_by: it.saved_by,
            saved_at: rfc3339(it.saved_at),
        });
        Ok(History { versions: versions.collect() })
    }
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteOntology {
    pub ontology_id: Id<StoredOntology>,
    /// The ontology's name, to confirm what is deleted.
    pub name: String,
}

impl Operation for DeleteOntology {
    const INFO: Info = Info {
        name: "delete_ontology",
        title: "Delete an ontology",
        description: "Removes an ontology for good, with its history, its conversations and what was remembered. The \
                      data stay. It needs the ontology's name besides its id, and a recent sign-in.",
        action: Action::DeleteDatasets,
        sensitive: true,
        recorded_as: Some("admin.ontology.delete"),
        route: Route { method: "DELETE", path: "/ontologies/{ontology_id}" },
        example: r#"{"ontology_id":"01936f2e-7c1a-7000-8000-000000000001","name":"sales"}"#,
        ..WRITE
    };
    type Reply = Done;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        format!("{} {}", self.ontology_id, self.name)
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Done> {
        on.engines.library.delete(job, self.ontology_id, &self.name).await?;
        Ok(Done::OK)
    }
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvertOntology {
    /// A semantic model of MetricFlow, Cube or Cortex Analyst, in YAML.
    #[schemars(length(min = 1, max = read::MAX_BYTES))]
    pub text: String,
}

/// A text that can be saved, and what to know of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Made {
    /// Ossie 0.2 in YAML. It is not saved.
    pub text: String,
    /// What could not be carried over, or is to be looked at.
    pub notes: Vec<String>,
}

impl Operation for ConvertOntology {
    const INFO: Info = Info {
        name: "convert_ontology",
        title: "Convert a semantic model of another tool",
        description: "Makes an Ossie document of a semantic model of MetricFlow, Cube or Cortex Analyst, and says what \
                      could not be carried over. Nothing is saved.",
        read_only: true,
        route: Route { method: "POST", path: "/ontologies/convert" },
        example: r#"{"text":"cubes:\n  - name: orders\n    sql_table: orders\n    dimensions:\n      - {name: id, sql: id, type: number, primary_key: true}\n    measures:\n      - {name: count, type: count}\n"}"#,
        ..WRITE
    };
    type Reply = Made;

    async fn run(self, _on: &Parts, _job: &Job<'_>) -> Result<Made> {
        let import = move || {
            let imported = foreign::import(&self.text);
            let imported = imported.map_err(|problems| unreadable(&problems))?;
            Ok(Made { text: write::flat_yaml(&imported.ontology), notes: imported.notes })
        };
        tokio::task::spawn_blocking(import).await.map_err(Error::internal)?
    }
}
