//! What a dataset and its columns are called and described as: people and models read it beside the data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
pub use crate::engine::datasets::describe::Words;
use crate::engine::job::Job;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route};
use crate::model::access::Action;
use crate::model::dataset::Dataset;
use crate::model::error::{Error, Result};

/// Arguments; what is absent stays, and an empty text takes back what was written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateDataset {
    pub dataset_id: Id<Dataset>,
    /// What people call it; its name, which SQL is written with, stays.
    #[serde(default)]
    #[schemars(length(max = 120))]
    pub title: Option<String>,
    /// What the data are, where they come from, what one row is.
    #[serde(default)]
    #[schemars(length(max = 2000))]
    pub description: Option<String>,
    /// Descriptions of columns by name, each of at most 500 characters. Columns that are not named keep theirs; a later
    /// import keeps them for the columns that it has.
    #[serde(default)]
    pub columns: BTreeMap<String, String>,
    /// Whether columns are hidden from AI clients and tokens, by name: `true` hides, `false` shows again. A hidden column is in
    /// no schema, row, query, profile, ontology or message that they get, also in later versions; people see it in the
    /// console. Clients themselves cannot change it.
    #[serde(default)]
    pub hidden: BTreeMap<String, bool>,
    /// For pages: what they showed. A text that somebody else has changed since is not written over.
    #[serde(skip)]
    pub seen: Words,
}

/// The reply: as it is now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    pub dataset_id: Id<Dataset>,
    pub name: String,
    pub title: String,
    pub description: String,
    /// Those columns that have a description.
    pub columns: BTreeMap<String, String>,
    /// Those columns that are hidden from clients.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
}

impl Operation for UpdateDataset {
    const INFO: Info = Info {
        name: "update_dataset",
        title: "Describe a dataset",
        description: "Changes what a dataset is called and described as, and the descriptions of its columns. AI clients \
                      read them when they choose data and write queries. It holds at once, and through later imports.",
        action: Action::WriteDatasets,
        cost: Cost::Read,
        route: Route { method: "PATCH", path: "/datasets/{dataset_id}/description" },
        example: r#"{"title":"Sales of 2024","description":"One row is one sale.","columns":{"amount":"Euros, without tax"}}"#,
        ..Info::MANAGE
    };
    type Reply = Reply;

    fn target(&self) -> String {
        let said = [("title", self.title.is_some()), ("description", self.description.is_some())];
        let said = said.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name);
        let named = said.chain(self.columns.keys().chain(self.hidden.keys()).map(String::as_str));
        format!("{} {}", self.dataset_id, named.collect::<Vec<_>>().join(" "))
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        if self.title.is_none() && self.description.is_none() && self.columns.is_empty() && self.hidden.is_empty() {
            return Err(Error::invalid("arguments", "Name what to change: title, description, columns or hidden."));
        }
        let words =
            Words { title: self.title, description: self.description, columns: self.columns, hidden: self.hidden };
        let now = on.engines.datasets.describe(job, self.dataset_id, words, &self.seen).await?;
        let hidden =
            now.columns.iter().filter(|column| now.hides(&column.name)).map(|column| column.name.clone()).collect();
        let described = now.columns.into_iter().filter(|column| !column.description.is_empty());
        Ok(Reply {
            dataset_id: now.id,
            name: now.name,
            title: now.title,
            description: now.description,
            columns: described.map(|column| (column.name, column.description)).collect(),
            hidden,
        })
    }
}
