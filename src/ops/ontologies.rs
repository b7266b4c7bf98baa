//! What ontologies there are and what they say: the resources `dragoman://ontologies…`, and the same on REST.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::base::json;
use crate::engine::job::Job;
use crate::engine::ontology::library::Visible;
use crate::engine::ontology::visible::{is_open, readable};
use crate::engine::ontology::write;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route, Surface};
use crate::model::access::{Action, Want};
use crate::model::error::{Error, Result};
use crate::model::ontology::{OntologyRef, Status, StoredOntology};

const READ: Info =
    Info { action: Action::ReadOntologies, cost: Cost::Resource, surface: Surface::Resource, ..Info::READ };

/// Bytes of a reply for its cursor, its id and the names of its fields.
const ENVELOPE: usize = 1_024;

/// No arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListOntologies {}

/// One ontology in the list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    pub id: Id<StoredOntology>,
    pub name: String,
    pub description: String,
    pub dataset_count: usize,
    pub field_count: usize,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ontologies {
    /// Those that can be asked, by name.
    pub ontologies: Vec<Listed>,
}

impl Operation for ListOntologies {
    const INFO: Info = Info {
        name: "list_ontologies",
        title: "List ontologies",
        description: "Lists the ontologies that can be asked with ask_question.",
        route: Route { method: "GET", path: "/ontologies" },
        ..READ
    };
    type Reply = Ontologies;
    const WANT: Want = Want::All;

    fn rows(reply: &Ontologies) -> usize {
        reply.ontologies.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Ontologies> {
        let visible = on.engines.library.list(job).await?;
        let ready = visible.into_iter().filter(|visible| visible.stored.status == Status::Ready);
        Ok(Ontologies { ontologies: ready.map(listed).collect() })
    }
}

fn listed(Visible { stored, ontology, .. }: Visible) -> Listed {
    let shown = || ontology.datasets.iter().filter(|entity| !entity.hidden);
    Listed {
        id: stored.id,
        name: stored.name,
        description: stored.description,
        dataset_count: shown().count(),
        field_count: shown().map(|entity| entity.fields.iter().filter(|field| !field.hidden).count()).sum(),
    }
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetOntology {
    /// Id or name; may be left out where there is one only.
    #[serde(default)]
    pub ontology_id: Option<OntologyRef>,
    /// `next_cursor` of the page before; absent for the first page.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// An ontology in short. A large one has pages: first its datasets, then its metrics, then its relationships.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ontology {
    pub ontology: Listed,
    pub datasets: Vec<DatasetInShort>,
    pub metrics: Vec<MetricInShort>,
    pub relationships: Vec<RelationshipInShort>,
    /// Present when there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A dataset of an ontology.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DatasetInShort {
    pub name: String,
    pub description: String,
    /// The table's name for dragoman_sql.
    pub source: String,
}

/// A number with an agreed definition.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MetricInShort {
    pub name: String,
    pub description: String,
    /// Left out where it reads a dataset that is not offered to people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub synonyms: Vec<String>,
}

/// Rows of one dataset refer to rows of another.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RelationshipInShort {
    pub name: String,
    pub from: String,
    pub to: String,
    pub from_columns: Vec<String>,
    pub to_columns: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

impl Operation for GetOntology {
    const INFO: Info = Info {
        name: "get_ontology",
        title: "Get an ontology",
        description: "Returns the datasets, metrics and relationships of an ontology.",
        route: Route { method: "GET", path: "/ontologies/{ontology_id}" },
        ..READ
    };
    type Reply = Ontology;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        OntologyRef::recorded(self.ontology_id.as_ref())
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Ontology> {
        let id = on.engines.library.meant(job, self.ontology_id.as_ref()).await?;
        let visible = on.engines.library.readable(job, id).await?;
        // A page of another version is none of this one.
        let scope = format!("{}:ontology:{}:{}", job.pass.org(), id, visible.stored.version);
        let from = super::position(on, &scope, self.cursor.as_deref())?;
        let all = visible.ontology.clone();
        let ontology = listed(visible);
        let said = json::size(&ontology).map_err(Error::internal)? + ENVELOPE;
        let mut page = Page {
            from: from.and_then(|at| at.parse().ok()).unwrap_or_default(),
            at: 0,
            room: on.config.limits.budgets.reply_bytes.saturating_sub(said),
            is_full: false,
        };
        let hidden = |name: &str| all.entity(name).is_none_or(|entity| entity.hidden);
        let datasets = all.datasets.iter().filter(|entity| !entity.hidden).map(|entity| DatasetInShort {
            name: entity.name.clone(),
            description: entity.description.clone(),
            source: entity.table().to_owned(),
        });
        let metrics = all.metrics.iter().map(|metric| MetricInShort {
            name: metric.name.clone(),
            description: metric.description.clone(),
            expression: is_open(metric, &all).then(|| metric.expression.clone()),
            unit: metric.unit.clone(),
            synonyms: metric.ai.synonyms.clone(),
        });
        let relationships = all.relationships.iter().filter(|one| !hidden(&one.from) && !hidden(&one.to));
        let relationships = relationships.map(|one| RelationshipInShort {
            name: one.name.clone(),
            from: one.from.clone(),
            to: one.to.clone(),
            from_columns: one.from_columns.clone(),
            to_columns: one.to_columns.clone(),
            role: one.role.clone(),
        });
        Ok(Ontology {
            ontology,
            datasets: page.take(datasets)?,
            metrics: page.take(metrics)?,
            relationships: page.take(relationships)?,
            next_cursor: page.is_full.then(|| on.cursors.make(&scope, &page.at.to_string())),
        })
    }
}

/// Which things of a long reply are on a page, counted over all its lists.
struct Page {
    from: usize,
    at: usize,
    /// Bytes that are left.
    room: usize,
    is_full: bool,
}

impl Page {
    fn take<T: Serialize>(&mut self, things: impl Iterator<Item = T>) -> Result<Vec<T>> {
        let mut taken = Vec::new();
        for thing in things {
            if self.at >= self.from {
                let size = json::size(&thing).map_err(Error::internal)? + 1;
                // The first has its place whatever its size.
                self.is_full |= size > self.room && self.at > self.from;
                if self.is_full {
                    break;
                }
                self.room = self.room.saturating_sub(size);
                taken.push(thing);
            }
            self.at += 1;
        }
        Ok(taken)
    }
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetOntologyDataset {
    /// Id or name.
    pub ontology_id: OntologyRef,
    /// As the ontology calls it.
    pub name: String,
}

/// A dataset as the ontology describes it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Schema {
    pub name: String,
    /// YAML: fields with types, descriptions, expressions, synonyms.
    pub yaml: String,
}

impl Operation for GetOntologyDataset {
    const INFO: Info = Info {
        name: "get_ontology_dataset",
        title: "Get a dataset of an ontology",
        description: "Returns what an ontology says of one of its datasets, as YAML.",
        route: Route { method: "GET", path: "/ontologies/{ontology_id}/datasets/{name}" },
        ..READ
    };
    type Reply = Schema;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        format!("{} {}", OntologyRef::recorded(Some(&self.ontology_id)), self.name)
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Schema> {
        let id = on.engines.library.meant(job, Some(&self.ontology_id)).await?;
        let visible = on.engines.library.readable(job, id).await?;
        let entity = visible.ontology.entity(&self.name).filter(|entity| !entity.hidden);
        let entity = entity.ok_or_else(Error::dataset_not_found)?;
        Ok(Schema { name: entity.name.clone(), yaml: write::dataset_yaml(&readable(entity)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thing_is_on_one_page_and_a_page_is_no_larger_than_its_room() {
        let things: Vec<String> = (0..150).map(|length| "x".repeat(length)).collect();
        let (mut met, mut from, mut pages) = (Vec::new(), 0, 0);
        loop {
            let mut page = Page { from, at: 0, room: 100, is_full: false };
            let (some, others) = things.split_at(20);
            let taken = [page.take(some.iter()).unwrap(), page.take(others.iter()).unwrap()].concat();
            // In quotes, and with a comma.
            let bytes: usize = taken.iter().map(|text| text.len() + 3).sum();
            assert!(bytes <= 100 || taken.len() == 1, "{taken:?}");
            (met, pages) = ([met, taken].concat(), pages + 1);
            if !page.is_full {
                break;
            }
            from = page.at;
        }
        assert_eq!(met, things.iter().collect::<Vec<_>>());
        assert!(pages > 100);
    }
}
