//! An ontology drafted from tables: what their databases declare, what is measured in them, what people wrote of them,
//! and, when somebody asks for it, better words by the workspace's language model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ontology_texts::{WRITE, long};
use crate::base::id::Id;
use crate::base::nearest::nearest;
use crate::engine::job::Job;
use crate::engine::llm::Models;
use crate::engine::ontology::describe::describe;
use crate::engine::ontology::diff::diff;
use crate::engine::ontology::draft::declared::declared;
use crate::engine::ontology::draft::dictionary::Dictionary;
use crate::engine::ontology::draft::measure::measured;
use crate::engine::ontology::draft::{Answers, Draft, Wanted};
pub use crate::engine::ontology::draft::{Asked, Evidence, State, TableReasons};
use crate::engine::ontology::library::Standing;
pub use crate::engine::ontology::read::MAX_BYTES;
use crate::engine::ontology::read::{MAX_DATASETS, MAX_FIELDS};
use crate::engine::ontology::renew::{self, Renewed, renewed};
use crate::engine::ontology::write;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::model::access::Want;
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Code, Error, Result};
use crate::model::ontology::{Link, Ontology, StoredOntology};

/// Arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DraftOntology {
    /// The ontology's name; of one that is drafted anew its own when absent.
    #[serde(default)]
    pub name: String,
    /// An ontology to draft anew: what is new in its tables is brought into it, and what people wrote in it stays.
    #[serde(default)]
    pub ontology_id: Option<Id<StoredOntology>>,
    /// Tables that it is about; all of the workspace when absent. Of one that is drafted anew: further tables.
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
    /// What is known of references: each `link` as `evidence` gave it, and whether it holds.
    #[serde(default)]
    #[schemars(length(max = 2_000))]
    pub answers: Vec<Answer>,
}

/// Whether columns refer to others.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// By the names of tables and their columns.
    pub link: Link,
    pub holds: bool,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Drafted {
    /// Ossie 0.2 in YAML. It is not saved.
    pub text: String,
    /// What to know of it, and what could not be measured.
    pub notes: Vec<String>,
    /// Why keys and relationships are what they are. What is not `sure` is to be looked at.
    pub evidence: Vec<Evidence>,
    /// Why the tables make columns what they are. What people wrote of them stays when an ontology is drafted anew.
    pub columns: Vec<TableReasons>,
    /// Of an ontology that is drafted anew: what is new in it, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}

impl Operation for DraftOntology {
    const INFO: Info = Info {
        name: "draft_ontology",
        title: "Draft an ontology from tables",
        description: "Reads the tables and makes an ontology of them: names in words, keys, relationships, measures, \
                      values to find. With an ontology, what is new is brought into it. Nothing is saved.",
        read_only: true,
        recorded_as: Some("admin.ontology.draft"),
        route: Route { method: "POST", path: "/ontologies/draft" },
        time: long,
        example: r#"{"name":"sales","timezone":"Europe/Berlin"}"#,
        ..WRITE
    };
    type Reply = Drafted;
    const WANT: Want = Want::All;

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Drafted> {
        let timezone = self.timezone.map(|zone| zone.trim().to_owned()).filter(|zone| !zone.is_empty());
        if let Some(zone) = timezone.as_ref().filter(|zone| jiff::tz::TimeZone::get(zone).is_err()) {
            let message = format!("{zone:?} is not a time zone. Write an IANA name such as Europe/Berlin or UTC.");
            return Err(Error::invalid("timezone", message));
        }
        let dictionary = Dictionary::read(&self.dictionary)?;
        let standing = match self.ontology_id {
            Some(id) => Some(on.engines.library.with_earlier(job, id).await?),
            None => None,
        };
        let stands = standing.as_ref().map(|it| it.ontology.as_ref());
        let tables = tables(job, &self.dataset_ids, stands)?;
        within_limits(&tables)?;
        let name = match (self.name.trim(), stands) {
            ("", Some(ontology)) => ontology.name.clone(),
            ("", None) => return Err(Error::invalid("name", "Give the ontology a name.")),
            (name, _) => name.to_owned(),
        };
        let answers = stands.map(Answers::of).unwrap_or_default().then(answers(&self.answers, &tables)?);
        let timezone = timezone.or_else(|| stands.map(|ontology| ontology.calendar.timezone.clone()));
        let (declared, problems) = declared(&on.engines.sources, job, &tables).await?;
        let wanted = Wanted { name, timezone, dictionary, answers, ..Wanted::default() };
        let mut draft = measured(&on.engines.sql, job, &wanted, &tables, &declared).await?;
        draft.notes.extend(problems);
        if self.improve {
            let (ontology, note) = improved(&on.engines.models, job, draft.ontology).await;
            draft.ontology = ontology;
            draft.notes.push(note);
        }
        match standing {
            None => {
                let Draft { ontology, notes, evidence, columns } = draft;
                Ok(Drafted { text: write::flat_yaml(&ontology), notes, evidence, columns, changes: Vec::new() })
            }
            Some(standing) => {
                let anew = move || anew(&standing, draft);
                tokio::task::spawn_blocking(anew).await.map_err(Error::internal)
            }
        }
    }
}

/// A draft brought into the ontology that stands.
fn anew(standing: &Standing, draft: Draft) -> Drafted {
    let Draft { ontology: draft, mut notes, evidence, columns } = draft;
    let Renewed { ontology, notes: more } = renewed(&standing.ontology, &standing.earlier, &draft);
    notes.extend(more);
    let changes = diff(&standing.ontology, &ontology);
    let (text, kept) = renew::text(&standing.text, &standing.ontology, &ontology);
    if !kept && standing.text.lines().any(|line| line.trim_start().starts_with('#')) {
        notes.push("The text was written anew: its comments are not in it.".into());
    }
    Drafted { text, notes, evidence, columns, changes }
}

/// The tables that are asked for, and those of an ontology.
fn tables(job: &Job<'_>, ids: &[Id<Dataset>], standing: Option<&Ontology>) -> Result<Vec<Dataset>> {
    let mut tables: Vec<Dataset> = Vec::new();
    for id in ids {
        tables.push(job.pass.dataset(*id)?.clone());
    }
    let all = || job.pass.datasets().iter().filter(|dataset| dataset.kind == Kind::Table);
    if let Some(ontology) = standing {
        let of = |dataset: &&Dataset| {
            ontology.datasets.iter().any(|entity| entity.table().eq_ignore_ascii_case(&dataset.name))
        };
        let own: Vec<Dataset> = all().filter(of).filter(|one| !ids.contains(&one.id)).cloned().collect();
        tables.extend(own);
    } else if tables.is_empty() {
        tables = all().cloned().collect();
    }
    if tables.is_empty() {
        return Err(Error::invalid("dataset_ids", "There is no table to draft from. Import one first."));
    }
    Ok(tables)
}

/// Refuses more than an ontology may hold before any of it is measured.
fn within_limits(tables: &[Dataset]) -> Result<()> {
    let tables = || tables.iter().filter(|dataset| dataset.kind == Kind::Table && dataset.is_ready());
    let columns: usize = tables().map(|dataset| dataset.columns.len()).sum();
    for (what, was, max) in [("tables", tables().count(), MAX_DATASETS), ("columns", columns, MAX_FIELDS)] {
        if was > max {
            let message = format!(
                "The draft would be of {was} {what}; an ontology has at most {max}. Name the tables that it is about."
            );
            let details = json!({ "field": "dataset_ids", "limit": what, "max": max, "was": was });
            return Err(Error::new(Code::LimitExceeded, message).with(details));
        }
    }
    Ok(())
}

/// Answers about columns that are there.
fn answers(given: &[Answer], tables: &[Dataset]) -> Result<Answers> {
    let mut answers = Answers::default();
    for Answer { link, holds } in given {
        for (name, columns) in [(&link.from, &link.from_columns), (&link.to, &link.to_columns)] {
            there(name, columns, tables)?;
        }
        if link.from_columns.is_empty() || link.from_columns.len() != link.to_columns.len() {
            return Err(Error::invalid("answers", "A link has as many from_columns as to_columns, at least one."));
        }
        match holds {
            true => answers.accepted.push(link.clone()),
            false => answers.refused.push(link.clone()),
        }
    }
    Ok(answers)
}

/// Refuses columns that no table has.
fn there(name: &str, columns: &[String], tables: &[Dataset]) -> Result<()> {
    let missing = |what: &str, known: Vec<&str>| {
        let near = nearest(what, known).map(|near| format!(" Did you mean {near}?")).unwrap_or_default();
        Error::invalid("answers", format!("There is no {what} among the tables of this draft.{near}"))
    };
    let names = || tables.iter().map(|table| table.name.as_str()).collect();
    let table = tables.iter().find(|table| table.name.eq_ignore_ascii_case(name));
    let table = table.ok_or_else(|| missing(name, names()))?;
    let known: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let gone = columns.iter().find(|column| !known.iter().any(|known| known.eq_ignore_ascii_case(column)));
    gone.map_or(Ok(()), |column| Err(missing(column, known)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::model::dataset::ColumnInfo;

    fn table(columns: usize) -> Dataset {
        let clock = Clock::manual(0);
        Dataset {
            externally_queryable: true,
            version: Some("v1".into()),
            row_count: 1,
            bytes: 1,
            columns: vec![ColumnInfo::default(); columns],
            ..Dataset::new(Id::new(&clock), Id::new(&clock), "plots", Kind::Table)
        }
    }

    #[test]
    fn what_an_ontology_may_not_hold_is_refused_before_it_is_measured() {
        let mut tables = vec![table(20); MAX_DATASETS];
        within_limits(&tables).unwrap();
        tables.push(Dataset { kind: Kind::Documents, ..table(20) });
        within_limits(&tables).unwrap();
        tables.push(table(0));
        let refused = within_limits(&tables).unwrap_err();
        assert_eq!((refused.code, &refused.details["limit"]), (Code::LimitExceeded, &json!("tables")));
        assert!(refused.message.contains("1001 tables; an ontology has at most 1000. Name the tables"), "{refused}");
        let refused = within_limits(&[table(MAX_FIELDS), table(1)]).unwrap_err();
        assert_eq!((refused.code, &refused.details["limit"]), (Code::LimitExceeded, &json!("columns")));
    }
}
