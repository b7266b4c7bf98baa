//! `search`: datasets, ontologies and documents that have to do with some words, the best first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Thing;
use crate::engine::agent::near::{fit, fit_of};
use crate::engine::job::Job;
use crate::engine::ontology::library::Visible;
use crate::engine::search::Match;
use crate::gateway::operation::{Info, Operation, Parts, Route, Toolset};
use crate::model::access::{Action, Want};
use crate::model::dataset::Dataset;
use crate::model::error::{Error, Result};
use crate::model::ontology::Status;

/// Results, and passages of documents that are looked at.
const MOST: usize = 20;

/// Words that ask for a kind of things rather than for one of them.
const DATASETS: &str = "datasets tables data";
const ONTOLOGIES: &str = "ontologies metrics definitions";

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// What to look for, in plain words.
    pub query: String,
}

/// One thing that was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Hit {
    /// For fetch.
    pub id: String,
    pub title: String,
    /// Its page, for who is signed in.
    pub url: String,
}

/// The reply, exactly so.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    /// Best first.
    pub results: Vec<Hit>,
}

impl Operation for Search {
    const INFO: Info = Info {
        name: "search",
        title: "Search everything",
        description: "Finds datasets, ontologies (business definitions) and documents by words. Next: fetch a result's id.",
        action: Action::Search,
        toolsets: &[Toolset::Chatgpt],
        route: Route { method: "POST", path: "/chatgpt/search" },
        example: r#"{"query":"departure delays"}"#,
        ..Info::READ
    };
    type Reply = Reply;
    const WANT: Want = Want::All;
    const EXACT: bool = true;

    fn target(&self) -> String {
        self.query.clone()
    }

    fn rows(reply: &Reply) -> usize {
        reply.results.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let passages = on.engines.search.search(job, &self.query, MOST).await?;
        let mut found = documents(passages.matches);
        found.extend(described(on, job, self.query).await?);
        found.sort_by(|a, b| b.fit.total_cmp(&a.fit).then_with(|| a.title.cmp(&b.title)));
        let hit = |it: Found| Hit { id: it.thing.to_string(), url: it.thing.url(on, job), title: it.title };
        Ok(Reply { results: found.into_iter().take(MOST).map(hit).collect() })
    }
}

struct Found {
    thing: Thing,
    title: String,
    /// How well it fits, 0 to 1.
    fit: f64,
}

/// The documents of passages, each where its best passage stands.
fn documents(passages: Vec<Match>) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for passage in passages {
        let of_same = |it: &Found| matches!(it.thing, Thing::Passage(known) if known.document == passage.id.document);
        if !found.iter().any(of_same) {
            let title = if passage.title.is_empty() { passage.source_file } else { passage.title };
            found.push(Found { thing: Thing::Passage(passage.id), title, fit: passage.score });
        }
    }
    found
}

/// Something that may be found by its own words.
struct Candidate {
    thing: Thing,
    title: String,
    fit: Box<dyn Fn(&str) -> f64 + Send>,
}

/// Datasets and ontologies that have to do with the query, as far as the credential reaches.
async fn described(on: &Parts, job: &Job<'_>, query: String) -> Result<Vec<Found>> {
    let rights = job.pass.rights();
    let mut candidates = Vec::new();
    if rights.allow(Action::ReadOntologies) {
        let all = on.engines.library.list(job).await?;
        candidates.extend(all.into_iter().filter(|it| it.stored.status == Status::Ready).map(of_ontology));
    }
    if rights.allow(Action::ListDatasets) {
        let with_columns = rights.allow(Action::ReadSchema);
        candidates.extend(job.pass.datasets().iter().map(|dataset| of_dataset(dataset, with_columns)));
    }
    let found = move |it: Candidate| Found { fit: (it.fit)(&query), thing: it.thing, title: it.title };
    // Of many datasets every column is looked at.
    let fitting =
        tokio::task::spawn_blocking(move || candidates.into_iter().map(found).filter(|it| it.fit > 0.0).collect());
    fitting.await.map_err(Error::internal)
}

fn of_ontology(visible: Visible) -> Candidate {
    let ontology = visible.ontology;
    Candidate {
        thing: Thing::Ontology(visible.stored.id),
        title: format!("{} (ontology)", visible.stored.name),
        fit: Box::new(move |query| fit(query, &[], ONTOLOGIES).max(fit_of(&ontology, query))),
    }
}

fn of_dataset(dataset: &Dataset, with_columns: bool) -> Candidate {
    let columns = || dataset.columns.iter().filter(|_| with_columns);
    let names: Vec<String> = [&dataset.name].into_iter().chain(columns().map(|it| &it.name)).cloned().collect();
    let written: Vec<&str> = [dataset.title.as_str(), dataset.description.as_str(), DATASETS]
        .into_iter()
        .chain(columns().map(|it| it.description.as_str()))
        .collect();
    let written = written.join(" ");
    Candidate {
        thing: Thing::Dataset(dataset.id),
        title: format!("{} ({})", dataset.name, dataset.kind.name()),
        fit: Box::new(move |query| fit(query, &names, &written)),
    }
}
