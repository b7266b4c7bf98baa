//! What `dragoman_query` may name, for models that are shown tools alone: which ontologies there are, and what each offers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::base::json;
use crate::engine::agent::guide::questions;
use crate::engine::agent::near::relevance;
use crate::engine::job::Job;
use crate::engine::ontology::library::Visible;
use crate::gateway::operation::{Blocks, Info, Operation, Parts, Route, Toolset};
use crate::model::access::{Action, Want};
use crate::model::error::{Error, Result};
use crate::model::guide::Guide;
use crate::model::ontology::{OntologyRef, Status, StoredOntology};

/// Most bytes of a reply, and of these what is for its id and the names of its fields.
const BYTES: usize = 24 << 10;
const ENVELOPE: usize = 1 << 10;

/// Names of datasets, and questions, that are told of one ontology in the list.
const MOST_DATASETS: usize = 30;
const MOST_QUESTIONS: usize = 3;

/// Longest `about`, in characters.
const MOST_CHARS: usize = 500;

const READ: Info = Info { action: Action::ReadOntologies, toolsets: &[Toolset::Ask], ..Info::READ };

/// Arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindOntologies {
    /// Words of the question: only what has to do with them.
    #[serde(default)]
    #[schemars(length(max = 500))]
    pub about: Option<String>,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Found {
    /// Those that can be asked.
    pub ontologies: Vec<Offered>,
    /// What is left out, or what to do where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One of them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Offered {
    pub id: Id<StoredOntology>,
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    pub datasets: Vec<String>,
    /// Of all datasets, where not all are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset_count: Option<usize>,
    /// Questions that it answers.
    pub examples: Vec<String>,
}

impl Operation for FindOntologies {
    const INFO: Info = Info {
        name: "dragoman_list_ontologies",
        title: "List ontologies",
        description: "Call first. Lists the ontologies (business models of the data: metrics, datasets, joins) with id, \
                      datasets and example questions. Next: dragoman_get_ontology.",
        route: Route { method: "GET", path: "/query/ontologies" },
        ..READ
    };
    type Reply = Found;
    const WANT: Want = Want::All;

    fn rows(reply: &Found) -> usize {
        reply.ontologies.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Found> {
        let about = words(self.about)?;
        let ready = on.engines.library.list(job).await?.into_iter().filter(|it| it.stored.status == Status::Ready);
        let rank = |it: &Visible| about.as_deref().map_or(0, |about| relevance(&it.ontology, about));
        let mut ranked: Vec<(usize, Visible)> = ready.map(|it| (rank(&it), it)).collect();
        ranked.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
        let best = ranked.first().map_or(0, |(rank, _)| *rank);
        let all = ranked.len();
        ranked.retain(|(rank, _)| *rank > 0 || best == 0);
        found(ranked.into_iter().map(|(_, it)| offered(&it)), (all, best), about.is_some())
    }
}

fn offered(of: &Visible) -> Offered {
    let shown = || of.ontology.datasets.iter().filter(|entity| !entity.hidden);
    let count = shown().count();
    Offered {
        id: of.stored.id,
        name: of.stored.name.clone(),
        description: of.stored.description.clone(),
        datasets: shown().take(MOST_DATASETS).map(|entity| entity.name.clone()).collect(),
        dataset_count: (count > MOST_DATASETS).then_some(count),
        examples: questions(&of.ontology, MOST_QUESTIONS),
    }
}

/// As many as there is room for; `all` is how many there are, and `best` how well the first one fits.
fn found(offers: impl Iterator<Item = Offered>, (all, best): (usize, usize), sought: bool) -> Result<Found> {
    let (mut ontologies, mut room, mut narrowed) = (Vec::new(), BYTES - ENVELOPE, 0);
    for offer in offers {
        narrowed += 1;
        let size = json::size(&offer).map_err(Error::internal)? + 1;
        if size <= room {
            room -= size;
            ontologies.push(offer);
        }
    }
    let mut notes: Vec<String> = Vec::new();
    if all == 0 {
        notes.push(
            "There is no ontology here. Use dragoman_list_datasets, dragoman_get_schema and dragoman_sql.".into(),
        );
    } else if sought && best == 0 {
        notes.push("None has these words in its names: these are all.".into());
    } else if narrowed < all {
        notes.push(format!("Those that have nothing to do with `about` are not here: {}.", all - narrowed));
    }
    if ontologies.len() < narrowed {
        notes.push(format!("There is no room for {} more: say more in `about`.", narrowed - ontologies.len()));
    }
    Ok(Found { ontologies, note: (!notes.is_empty()).then(|| notes.join(" ")) })
}

/// Arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DescribeOntology {
    /// Id or name. Leave it out where there is one only.
    #[serde(default)]
    pub ontology_id: Option<OntologyRef>,
    /// Words of the question, or a stored value to look up ("Kennedy"): shows what has to do with them.
    #[serde(default)]
    #[schemars(length(max = 500))]
    pub about: Option<String>,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reply {
    pub ontology_id: Id<StoredOntology>,
    pub name: String,
    #[serde(flatten)]
    pub guide: Guide,
}

impl Operation for DescribeOntology {
    const INFO: Info = Info {
        name: "dragoman_get_ontology",
        title: "Get an ontology",
        description: "All that dragoman_query may name: metrics with definitions, datasets with fields, types and values, \
                      segments, roles of joins, times, and example queries. `about` narrows it to words of the question \
                      and finds stored values as conditions for filters.",
        route: Route { method: "GET", path: "/query/ontology" },
        // The first call of all reads the values of the data.
        time: |_| std::time::Duration::from_secs(120),
        example: r#"{"about":"average departure delay from Kennedy"}"#,
        ..READ
    };
    type Reply = Reply;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        OntologyRef::recorded(self.ontology_id.as_ref())
    }

    fn blocks(reply: &Reply) -> Option<Blocks> {
        let head = format!("Ontology {} (ontologyId {})", reply.name, reply.ontology_id);
        Some(Blocks { texts: vec![format!("{head}\n{}", reply.guide.text())], ..Blocks::default() })
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let about = words(self.about)?;
        let id = on.engines.library.meant(job, self.ontology_id.as_ref()).await?;
        let (visible, guide) = on.engines.questions.guide(job, id, about, BYTES - ENVELOPE).await?;
        Ok(Reply { ontology_id: id, name: visible.stored.name, guide })
    }
}

/// What is looked for; nothing is looked for by an empty text.
fn words(about: Option<String>) -> Result<Option<String>> {
    let about = about.filter(|about| !about.trim().is_empty());
    if about.as_ref().is_some_and(|about| about.chars().count() > MOST_CHARS) {
        return Err(Error::invalid("about", format!("about has at most {MOST_CHARS} characters.")));
    }
    Ok(about)
}
