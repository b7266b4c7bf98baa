//! Resources: `dragoman://datasets`, `dragoman://datasets/{id}`, `dragoman://datasets/{id}/rows{?limit}` and
//! `dragoman://documents/{document_id}`, `dragoman://ontologies`, `dragoman://ontologies/{id}` and
//! `dragoman://ontologies/{id}/datasets/{name}`; and the views of `ui://`. Each of the former is an operation read through the gateway.

use std::sync::Arc;

use rmcp::model::{ErrorCode, Resource, ResourceContents, ResourceTemplate};
use serde_json::Value;
use url::Url;

use super::apps;
use crate::base::id::Id;
use crate::base::json;
use crate::gateway::operation::Operation;
use crate::gateway::sight::{Sight, Thing};
use crate::gateway::{Gateway, Sent, Via, WithId};
use crate::model::access::Action;
use crate::model::audit::clip;
use crate::model::caller::Caller;
use crate::model::document::Document as StoredDocument;
use crate::model::error::{Code, Error, Result};
use crate::model::ontology::OntologyRef;
use crate::ops::get_document::{GetDocument, Reply as Document};
use crate::ops::get_schema::GetSchema;
use crate::ops::list_datasets::ListDatasets;
use crate::ops::ontologies::{GetOntology, GetOntologyDataset, ListOntologies, Ontologies};
use crate::ops::preview_rows::PreviewRows;

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";

/// What a URI names.
#[derive(Debug)]
enum Named {
    Datasets,
    Schema(GetSchema),
    Rows(PreviewRows),
    Document(GetDocument),
    Ontologies,
    Ontology(GetOntology),
    OntologyDataset(GetOntologyDataset),
}

/// The resources of one page: the catalogue first (on the first page), then a schema for each dataset, by name.
pub(super) async fn list(
    gateway: &Gateway,
    caller: &Caller,
    cursor: Option<String>,
    via: Via,
) -> Result<(Vec<Resource>, Option<String>)> {
    let first = cursor.is_none();
    let reply = gateway.call(caller, ListDatasets { cursor, ..ListDatasets::default() }, via).await?.reply;
    let catalogue = Resource::new("dragoman://datasets", "datasets")
        .with_title("Datasets")
        .with_description("The datasets that you may use")
        .with_mime_type(JSON);
    let ontologies = Resource::new("dragoman://ontologies", "ontologies")
        .with_title("Ontologies")
        .with_description("What can be asked with ask_question")
        .with_mime_type(JSON);
    let may_ask = caller.rights.allow(Action::ReadOntologies);
    let mut resources: Vec<Resource> = match first {
        true if may_ask => vec![catalogue, ontologies],
        true => vec![catalogue],
        false => Vec::new(),
    };
    for dataset in reply.datasets {
        resources.push(
            Resource::new(format!("dragoman://datasets/{}", dataset.id), dataset.name.clone())
                .with_title(if dataset.title.is_empty() { dataset.name } else { dataset.title })
                .with_description(dataset.description)
                .with_mime_type(JSON),
        );
    }
    Ok((resources, reply.next_cursor))
}

/// What a method of resources does. Every resource is under the scope of reading data.
pub(super) fn action(method: &str) -> Option<Action> {
    let known = ["list", "templates/list", "read", "subscribe", "unsubscribe"];
    method.strip_prefix("resources/").filter(|method| known.contains(method)).map(|_| Action::ListDatasets)
}

/// Shapes of addresses that are not listed one by one.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("dragoman://datasets/{id}", "dataset")
            .with_title("Schema of a dataset")
            .with_mime_type(JSON),
        ResourceTemplate::new("dragoman://datasets/{id}/rows{?limit}", "rows")
            .with_title("First rows of a table")
            .with_mime_type(JSON),
        ResourceTemplate::new("dragoman://ontologies/{id}", "ontology")
            .with_title("An ontology: datasets, metrics, relationships")
            .with_description("A large one has pages: add ?cursor= with its next_cursor for the next one")
            .with_mime_type(JSON),
        ResourceTemplate::new("dragoman://ontologies/{id}/datasets/{name}", "ontology dataset")
            .with_title("A dataset of an ontology: its fields")
            .with_mime_type(YAML),
        ResourceTemplate::new("dragoman://documents/{document_id}", "document")
            .with_title("Text of a document")
            .with_mime_type("text/plain"),
    ]
}

/// Reads one resource.
pub(super) async fn read(gateway: &Arc<Gateway>, caller: &Caller, uri: &str, via: Via) -> Result<ResourceContents> {
    if let Some(page) = apps::page(uri) {
        gateway.record(caller, via.action, uri).await?;
        return Ok(page);
    }
    let named = match parse(uri) {
        Ok(named) => named,
        Err(error) => {
            gateway.refused(caller, via.action, uri, &error).await?;
            return Err(error);
        }
    };
    let (text, mime) = match named {
        Named::Datasets => (whole(gateway, caller, ListDatasets::default(), via).await?, JSON),
        Named::Schema(op) => (whole(gateway, caller, op, via).await?, JSON),
        Named::Rows(op) => (whole(gateway, caller, op, via).await?, JSON),
        Named::Ontologies => {
            let list = |reply: Ontologies| serde_json::to_string(&reply.ontologies).map_err(Error::internal);
            (part(gateway, caller, ListOntologies {}, via, list).await?, JSON)
        }
        Named::Ontology(op) => (whole(gateway, caller, op, via).await?, JSON),
        Named::OntologyDataset(op) => (part(gateway, caller, op, via, |reply| Ok(reply.yaml)).await?, YAML),
        Named::Document(op) => {
            let text = |reply: Document| {
                let more = format!(
                    "\n\n[The document goes on: dragoman://documents/{}?part={}]",
                    reply.document_id,
                    reply.part + 1
                );
                Ok(if reply.truncated { reply.text + &more } else { reply.text })
            };
            (part(gateway, caller, op, via, text).await?, "text/plain")
        }
    };
    Ok(ResourceContents::text(text, uri).with_mime_type(mime))
}

/// A reply as JSON.
async fn whole<O: Operation>(gateway: &Gateway, caller: &Caller, op: O, via: Via) -> Result<String> {
    let json = |reply: O::Reply, request_id: &str| WithId { reply: &reply, request_id }.text().map(Sent::from);
    Ok(gateway.write(caller, op, via, json).await?.reply)
}

/// What a resource shows of a reply.
async fn part<O: Operation>(
    gateway: &Gateway,
    caller: &Caller,
    op: O,
    via: Via,
    text: impl FnOnce(O::Reply) -> Result<String>,
) -> Result<String> {
    // It is sent as a string of JSON.
    let write = |reply: O::Reply, _: &str| {
        let text = text(reply)?;
        let bytes = json::size(&text).map_err(Error::internal)?;
        Ok(Sent::once(text, bytes))
    };
    Ok(gateway.write(caller, op, via, write).await?.reply)
}

/// What has to be watched to know that a resource has changed.
pub(super) enum Watched {
    Thing(Thing),
    /// It changes with the dataset that it belongs to.
    Document(Id<StoredDocument>),
}

/// What an address names, for who subscribes to it; `None` where nothing ever changes, or nothing can be.
pub(super) fn watched(uri: &str) -> Option<Watched> {
    Some(Watched::Thing(match parse(uri).ok()? {
        Named::Datasets => Thing::Datasets,
        Named::Schema(GetSchema { dataset_id, .. }) => Thing::Dataset(dataset_id?.parse().ok()?),
        Named::Rows(PreviewRows { dataset_id, .. }) => Thing::Dataset(dataset_id),
        Named::Document(GetDocument { document_id, .. }) => return Some(Watched::Document(document_id)),
        Named::Ontologies => Thing::Ontologies,
        Named::Ontology(GetOntology { ontology_id: Some(OntologyRef::Id(id)), .. })
        | Named::OntologyDataset(GetOntologyDataset { ontology_id: OntologyRef::Id(id), .. }) => Thing::Ontology(id),
        // A name may come to mean another ontology: an id is what can be watched.
        Named::Ontology(_) | Named::OntologyDataset(_) => return None,
    }))
}

/// The same for a caller, whether they see it or not.
///
/// # Errors
/// That of an address which names nothing, or a document that is not there for them.
pub(super) async fn thing(gateway: &Gateway, caller: &Caller, sight: &Sight, uri: &str) -> Result<Thing> {
    match watched(uri).ok_or_else(Error::dataset_not_found)? {
        Watched::Thing(thing) => Ok(thing),
        Watched::Document(id) => Ok(Thing::Dataset(gateway.dataset_of(sight, caller, id).await?)),
    }
}

/// As [`thing`], if they see it.
///
/// # Errors
/// As [`thing`]: what is not seen is not there.
pub(super) async fn subscribed(gateway: &Gateway, caller: &Caller, sight: &Sight, uri: &str) -> Result<Thing> {
    let thing = thing(gateway, caller, sight, uri).await?;
    let missing = || match thing {
        Thing::Ontologies | Thing::Ontology(_) => Error::ontology_not_found(),
        Thing::Datasets | Thing::Dataset(_) => Error::dataset_not_found(),
    };
    sight.of(&thing).map(|_| thing).ok_or_else(missing)
}

/// An id that is none, and a place that is none, look like a dataset that is not there.
fn parse(uri: &str) -> Result<Named> {
    let missing = Error::dataset_not_found;
    let url = Url::parse(uri).map_err(|_| missing())?;
    if url.scheme() != "dragoman" || url.fragment().is_some() {
        return Err(missing());
    }
    let path: Vec<&str> = url.path().trim_start_matches('/').split('/').filter(|part| !part.is_empty()).collect();
    let query: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    match (url.host_str(), path.as_slice(), query.as_slice()) {
        (Some("datasets"), [], []) => Ok(Named::Datasets),
        (Some("datasets"), [id], []) => Ok(Named::Schema(GetSchema::of(id.parse().map_err(|_| missing())?))),
        (Some("datasets"), [id, "rows"], query) => {
            let limit = match query {
                [] => 10,
                [(key, limit)] if key == "limit" => {
                    limit.parse().map_err(|_| Error::invalid("limit", "limit is a number from 1 to 50."))?
                }
                _ => return Err(missing()),
            };
            Ok(Named::Rows(PreviewRows { dataset_id: id.parse().map_err(|_| missing())?, limit }))
        }
        (Some("documents"), [id], query) => {
            let mut wanted = GetDocument::of(id.parse().map_err(|_| Error::document_not_found())?);
            match query {
                [] => {}
                [(key, part)] if key == "part" => {
                    wanted.part = Some(part.parse().map_err(|_| Error::document_not_found())?);
                }
                _ => return Err(missing()),
            }
            Ok(Named::Document(wanted))
        }
        (Some("ontologies"), [], []) => Ok(Named::Ontologies),
        (Some("ontologies"), [id], query) => {
            let cursor = match query {
                [] => None,
                [(key, cursor)] if key == "cursor" => Some(cursor.clone()),
                _ => return Err(missing()),
            };
            let ontology_id = percent_decoded(id).ok_or_else(Error::ontology_not_found)?.into();
            Ok(Named::Ontology(GetOntology { ontology_id: Some(ontology_id), cursor }))
        }
        (Some("ontologies"), [id, "datasets", name], []) => {
            let ontology_id = percent_decoded(id).ok_or_else(Error::ontology_not_found)?.into();
            let name = percent_decoded(name).ok_or_else(missing)?;
            Ok(Named::OntologyDataset(GetOntologyDataset { ontology_id, name }))
        }
        _ => Err(missing()),
    }
}

/// A part of a path as it was meant; `None` when it is not UTF-8.
fn percent_decoded(part: &str) -> Option<String> {
    // A form decoder reads `+` as a space, which it is not in a path.
    let form = format!("x={}", part.replace('+', "%2B"));
    let (_, value) = url::form_urlencoded::parse(form.as_bytes()).next()?;
    (!value.contains(char::REPLACEMENT_CHARACTER)).then(|| value.into_owned())
}

/// An error as a protocol error; what is not there has the protocol's own code for it.
pub(super) fn protocol_error(error: &Error, request_id: &str) -> rmcp::ErrorData {
    let message = error.message.clone();
    let data = Some(error.body(request_id));
    match error.code {
        Code::DatasetNotFound | Code::DocumentNotFound | Code::OntologyNotFound => {
            rmcp::ErrorData::resource_not_found(message, data)
        }
        code => rmcp::ErrorData::new(ErrorCode(code.info().json_rpc), message, data),
    }
}

/// The error of an address that could not be read; it repeats the address (MCP, resources: error handling), cut to what
/// the log of the library may hold.
pub(super) fn unread(error: &Error, uri: &str, request_id: &str) -> rmcp::ErrorData {
    let mut told = protocol_error(error, request_id);
    if let Some(data) = told.data.as_mut().and_then(Value::as_object_mut) {
        data.insert("uri".into(), clip(uri).into());
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_can_be_subscribed_to_and_nothing_else() {
        let id = "01936f2e-7c1a-7000-8000-000000000001";
        for place in [
            "datasets".to_owned(),
            format!("datasets/{id}"),
            format!("datasets/{id}/rows"),
            format!("documents/{id}"),
            "ontologies".into(),
            format!("ontologies/{id}"),
            format!("ontologies/{id}/datasets/orders"),
        ] {
            assert!(watched(&format!("dragoman://{place}")).is_some(), "{place}");
        }
        for none in ["ui://dragoman/table.html", "dragoman://datasets/x", "dragoman://keys", "https://example.com/", ""]
        {
            assert!(watched(none).is_none(), "{none}");
        }
    }

    #[test]
    fn addresses_are_read_strictly() {
        let id = "01936f2e-7c1a-7000-8000-000000000001";
        assert!(matches!(parse("dragoman://datasets").unwrap(), Named::Datasets));
        assert!(matches!(parse(&format!("dragoman://datasets/{id}")).unwrap(), Named::Schema(_)));
        let Named::Rows(rows) = parse(&format!("dragoman://datasets/{id}/rows?limit=7")).unwrap() else { panic!() };
        assert_eq!(rows.limit, 7);
        assert!(matches!(parse(&format!("dragoman://documents/{id}")).unwrap(), Named::Document(_)));
        for bad in [
            "",
            "file:///etc/passwd",
            "dragoman://datasets/../keys",
            "dragoman://datasets/x",
            "dragoman://keys",
            &format!("dragoman://datasets/{id}/rows?limit=7&limit=8"),
            &format!("dragoman://datasets/{id}#x"),
            &format!("http://datasets/{id}"),
            &format!("dragoman://datasets/{id}?x=1"),
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
