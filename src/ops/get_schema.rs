//! `dragoman_get_schema`: the columns of tables with types and examples, their keys and references, and the ontologies
//! that speak of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::base::id::Id;
use crate::base::nearest::nearest;
use crate::engine::job::Job;
use crate::engine::ontology::about::{self, Said};
use crate::gateway::operation::{Info, Operation, Parts, Route, Toolset};
use crate::model::access::{Action, Pass, Want};
use crate::model::dataset::{ColumnInfo, Dataset, Kind};
use crate::model::error::{Error, Result};
use crate::model::ontology::StoredOntology;
use crate::model::source::Dialect;

/// Datasets in one call.
const MOST: usize = 20;

/// Arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetSchema {
    /// Id or name of one dataset.
    #[serde(default)]
    pub dataset_id: Option<String>,
    /// Ids or names of several, at most 20; the reply then has `datasets`.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub dataset_ids: Vec<String>,
}

/// The reply: the schema itself where one was named by `dataset_id`, otherwise `datasets`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    #[serde(flatten)]
    pub one: Option<Schema>,
    /// Those of `dataset_ids`, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub datasets: Vec<Schema>,
    /// What could not be read of the keys that a server declares.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A dataset and what is known of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Schema {
    pub dataset_id: Id<Dataset>,
    /// The name to use in SQL; for documents the dataset's name.
    pub table_name: String,
    /// What people call it, where they call it otherwise.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(with = "Option<String>")]
    pub title: String,
    /// False where AI clients do not see it; absent otherwise.
    #[serde(skip_serializing_if = "Clone::clone")]
    #[schemars(with = "Option<bool>")]
    pub published: bool,
    pub r#type: Kind,
    /// For tables, the SQL to write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// The remote source that holds the table's rows: only its own tables can be joined with this one. Absent for what
    /// the service holds itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub description: String,
    pub row_count: i64,
    /// Empty for documents: use dragoman_search.
    pub columns: Vec<DescribedColumn>,
    /// Columns that tell rows apart, as the database or an ontology says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub primary_key: Vec<String>,
    /// Other tables that rows refer to: how to join.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// Ontologies that define numbers over this table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ontologies: Vec<Mention>,
}

/// A column with its unit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DescribedColumn {
    #[serde(flatten)]
    pub column: ColumnInfo,
    /// As an ontology says: `minutes`, `EUR`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Whether it is hidden from clients, which then do not see it here either.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
}

/// Rows refer to rows of another table.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reference {
    pub columns: Vec<String>,
    /// The other table's name for SQL.
    pub table: String,
    pub to_columns: Vec<String>,
    /// The ontology that says so; absent where the database declares it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ontology: Option<String>,
}

/// An ontology that speaks of the dataset.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Mention {
    pub id: Id<StoredOntology>,
    pub name: String,
    /// What it calls the dataset.
    pub dataset: String,
}

impl GetSchema {
    /// Of one dataset.
    pub fn of(id: Id<Dataset>) -> Self {
        Self { dataset_id: Some(id.to_string()), ..Self::default() }
    }
}

impl Reply {
    /// The schema of the one that was asked for.
    ///
    /// # Errors
    /// `dataset_not_found` when none or several were.
    pub fn one(self) -> Result<Schema> {
        self.one.ok_or_else(Error::dataset_not_found)
    }

    fn all(&self) -> impl Iterator<Item = &Schema> {
        self.one.iter().chain(&self.datasets)
    }
}

impl Operation for GetSchema {
    const INFO: Info = Info {
        name: "dragoman_get_schema",
        title: "Get schemas of datasets",
        description: "Columns of one or several datasets with types, sample values and units, keys, how tables refer to \
                      each other, and the ontologies that define numbers over them. Call it before writing SQL.",
        action: Action::ReadSchema,
        toolsets: &[Toolset::Data],
        route: Route { method: "GET", path: "/datasets/{dataset_id}/schema" },
        example: r#"{"dataset_id":"01936f2e-7c1a-7000-8000-000000000001"}"#,
        ..Info::READ
    };
    type Reply = Reply;
    const WANT: Want = Want::All;
    const LARGE: bool = true;

    fn target(&self) -> String {
        self.dataset_id.iter().chain(&self.dataset_ids).cloned().collect::<Vec<_>>().join(" ")
    }

    fn rows(reply: &Reply) -> usize {
        reply.all().map(|schema| schema.columns.len()).sum()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let is_one = self.dataset_ids.is_empty();
        let names: Vec<&String> = self.dataset_id.iter().chain(&self.dataset_ids).collect();
        if names.is_empty() {
            let message =
                "Name a dataset by its id or name, or several in dataset_ids. dragoman_list_datasets shows them.";
            return Err(Error::invalid("dataset_id", message));
        }
        if names.len() > MOST {
            return Err(Error::invalid("dataset_ids", format!("At most {MOST} datasets come in one reply.")));
        }
        let tables = names.into_iter().map(|name| found(job.pass, name)).collect::<Result<Vec<_>>>()?;
        let (declared, notes) = about::declared_of(&on.engines.sources, job, &tables).await?;
        let visible = match job.pass.rights().allow(Action::ReadOntologies) {
            true => on.engines.library.list(job).await?,
            false => vec![],
        };
        let mut schemas = Vec::new();
        for table in &tables {
            let said = about::said(table, job.pass.datasets(), declared.get(&table.id), &visible);
            schemas.push(schema(table, said, super::shown(on, &table.columns, tables.len())?));
        }
        match is_one {
            true => Ok(Reply { one: schemas.pop(), datasets: vec![], notes }),
            false => Ok(Reply { one: None, datasets: schemas, notes }),
        }
    }
}

/// A dataset by its id or its name.
fn found<'p>(pass: &'p Pass, text: &str) -> Result<&'p Dataset> {
    if let Ok(id) = text.parse() {
        return pass.dataset(id);
    }
    let known = pass.datasets().iter();
    if let Some(dataset) = known.clone().find(|dataset| dataset.name.eq_ignore_ascii_case(text)) {
        return Ok(dataset);
    }
    // Among what the caller sees; the same words whether there is such a dataset elsewhere or not.
    let text = text.chars().take(64).collect::<String>();
    let mut error = Error::dataset_not_found();
    if let Some(near) = nearest(&text, known.map(|dataset| dataset.name.as_str())) {
        error.message = format!("There is no dataset {text}. Did you mean {near}?");
        error.details = json!({ "nearest": near });
    }
    Err(error)
}

fn schema(table: &Dataset, said: Said, columns: Vec<ColumnInfo>) -> Schema {
    let Said { primary_key, references, mut units, ontologies } = said;
    let references = references.into_iter().map(|about::Reference { columns, table, to_columns, ontology }| {
        Reference { columns, table, to_columns, ontology }
    });
    let mentions =
        ontologies.into_iter().map(|about::Mention { id, name, called }| Mention { id, name, dataset: called });
    Schema {
        dataset_id: table.id,
        table_name: table.name.clone(),
        title: table.title.clone(),
        published: table.externally_queryable,
        r#type: table.kind,
        dialect: table.dialect(),
        source: table.remote.as_ref().map(|remote| remote.source_name.clone()),
        description: table.description.clone(),
        row_count: table.row_count,
        columns: columns
            .into_iter()
            .map(|column| DescribedColumn {
                unit: units.remove(&column.name),
                hidden: table.hides(&column.name),
                column,
            })
            .collect(),
        primary_key,
        references: references.collect(),
        ontologies: mentions.collect(),
    }
}
