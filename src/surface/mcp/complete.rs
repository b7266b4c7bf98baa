//! Completion of the variables of prompts and resource templates.

use rmcp::model::{CompletionInfo, Reference};
use serde_json::Value;

use super::prompts;
use crate::gateway::{Gateway, Via};
use crate::model::caller::Caller;
use crate::model::error::Result;
use crate::ops::list_datasets::ListDatasets;
use crate::ops::ontologies::{GetOntology, ListOntologies};

/// Values for one variable that begin with, or whose name contains, what was typed. `known` are variables that were
/// filled in before.
///
/// # Errors
/// Those of the lists that it reads.
pub async fn complete(
    gateway: &Gateway,
    caller: &Caller,
    of: &Reference,
    (name, typed): (&str, &str),
    known: impl Fn(&str) -> Option<String>,
    via: Via,
) -> Result<CompletionInfo> {
    let place = match of {
        Reference::Prompt(prompt) => prompt.name.as_str(),
        Reference::Resource(resource) => resource.uri.as_str(),
        _ => "",
    };
    let typed = typed.to_lowercase();
    let fits = |id: &str, name: &str| id.starts_with(&typed) || name.to_lowercase().contains(&typed);
    let ids = |reply: &Value, list: &str| -> Vec<String> {
        let all = reply[list].as_array().into_iter().flatten();
        let pairs = all.filter_map(|it| Some((it["id"].as_str()?, it["name"].as_str()?)));
        pairs.filter(|(id, name)| fits(id, name)).map(|(id, _)| id.to_owned()).collect()
    };
    let of_datasets = place.starts_with("dragoman://datasets/") && name == "id" || name == "dataset_id";
    let of_ontologies = place.starts_with("dragoman://ontologies/") && name == "id" || name == "ontology_id";
    let mut values = match name {
        "platform" => prompts::names().into_iter().filter(|it| fits(it, it)).map(str::to_owned).collect(),
        _ if of_datasets => ids(&gateway.call(caller, ListDatasets::default(), via).await?, "datasets"),
        _ if of_ontologies => ids(&gateway.call(caller, ListOntologies {}, via).await?, "ontologies"),
        "name" => match known("id").and_then(|id| id.parse().ok()) {
            Some(ontology_id) => {
                let reply = gateway.call(caller, GetOntology { ontology_id }, via).await?;
                let names = reply["datasets"].as_array().into_iter().flatten().filter_map(|it| it["name"].as_str());
                names.filter(|name| fits(name, name)).map(str::to_owned).collect()
            }
            None => Vec::new(),
        },
        _ => Vec::new(),
    };
    let all = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let (total, more) = (u32::try_from(all).ok(), all > values.len());
    Ok(CompletionInfo::with_pagination(values, total, more).unwrap_or_default())
}
