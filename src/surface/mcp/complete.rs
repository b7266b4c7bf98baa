//! Completion of the variables of prompts and resource templates.

use rmcp::model::{CompletionInfo, Reference};

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
pub(super) async fn complete(
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
    let of_datasets = place.starts_with("dragoman://datasets/") && name == "id" || name == "dataset_id";
    let of_ontologies = place.starts_with("dragoman://ontologies/") && name == "id" || name == "ontology_id";
    // What can be put in, and the name that people know it by.
    let known: Vec<(String, String)> = match name {
        "platform" => prompts::names().into_iter().map(|it| (it.to_owned(), it.to_owned())).collect(),
        _ if of_datasets => {
            let found = gateway.call(caller, ListDatasets::default(), via).await?.reply;
            found.datasets.into_iter().map(|it| (it.id.to_string(), it.name)).collect()
        }
        _ if of_ontologies => {
            let found = gateway.call(caller, ListOntologies {}, via).await?.reply;
            found.ontologies.into_iter().map(|it| (it.id.to_string(), it.name)).collect()
        }
        "name" => match known("id") {
            // Of a large ontology the first page: there are more names than a list can show.
            Some(id) => {
                let ontology_id = Some(id.into());
                let found = gateway.call(caller, GetOntology { ontology_id, cursor: None }, via).await?.reply;
                found.datasets.into_iter().map(|it| (it.name.clone(), it.name)).collect()
            }
            None => Vec::new(),
        },
        _ => Vec::new(),
    };
    let typed = typed.to_lowercase();
    let fits = |value: &str, name: &str| value.starts_with(&typed) || name.to_lowercase().contains(&typed);
    let fitting = known.into_iter().filter(|(value, name)| fits(value, name));
    let mut values: Vec<String> = fitting.map(|(value, _)| value).collect();
    let all = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let (total, more) = (u32::try_from(all).ok(), all > values.len());
    Ok(CompletionInfo::with_pagination(values, total, more).unwrap_or_default())
}
