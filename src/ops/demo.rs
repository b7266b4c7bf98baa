//! The demo's data, in a workspace that has none: the flights that left New York City in 2013 (five tables), documents that
//! describe them, and what the tables mean. They are part of the program, so that a copied binary can show itself, and come
//! in as anybody's do: each by a call of its own, with its rules and its row in the record.

use std::sync::Arc;

use super::import::{Import, Staged};
use super::list_datasets::ListDatasets;
use super::ontology_texts::{CheckOntology, CreateOntology, ListAllOntologies};
use crate::gateway::{Gateway, OnProgress, Progress, Via};
use crate::model::caller::Caller;
use crate::model::dataset::IfExists;
use crate::model::error::{Error, Result};
use crate::model::ontology::Status;

type File = (&'static str, &'static [u8]);

/// Names, descriptions and files of the datasets.
static DATASETS: [(&str, &str, &[File]); 6] = [
    (
        "flights",
        "Every flight that left JFK, LGA or EWR in 2013: times, delays in minutes, carrier, aircraft, distance",
        &[("flights.parquet", include_bytes!("demo/flights.parquet"))],
    ),
    ("airlines", "Carrier codes and names", &[("airlines.parquet", include_bytes!("demo/airlines.parquet"))]),
    (
        "airports",
        "Airports: FAA code, name, position, altitude, time zone",
        &[("airports.parquet", include_bytes!("demo/airports.parquet"))],
    ),
    (
        "planes",
        "Aircraft by tail number: year, manufacturer, model, engines, seats",
        &[("planes.parquet", include_bytes!("demo/planes.parquet"))],
    ),
    (
        "weather",
        "Hourly weather at JFK, LGA and EWR in 2013",
        &[("weather.parquet", include_bytes!("demo/weather.parquet"))],
    ),
    (
        "flights_guide",
        "Guide to the flights data: what the columns mean, how delays are counted, weather, aircraft",
        &[
            ("flights-guide.md", include_bytes!("demo/flights-guide.md")),
            ("delays.md", include_bytes!("demo/delays.md")),
            ("weather-and-airports.md", include_bytes!("demo/weather-and-airports.md")),
            ("aircraft.md", include_bytes!("demo/aircraft.md")),
        ],
    ),
];

/// What the tables mean, for questions in plain words.
const ONTOLOGY: &str = include_str!("demo/ontology.yaml");

/// Takes what is not there yet: what was interrupted goes on at the dataset where it stopped. `action` is the record's word.
///
/// # Errors
/// Those of the operations.
pub async fn take(
    gateway: &Gateway,
    caller: &Caller,
    action: &'static str,
    publish: bool,
    tell: OnProgress,
) -> Result<()> {
    let there = gateway.call(caller, ListDatasets::default(), Via::new(action)).await?.reply.datasets;
    let asked = gateway.call(caller, ListAllOntologies {}, Via::new(action)).await?.reply.ontologies;
    let missing: Vec<_> =
        DATASETS.iter().filter(|(name, ..)| !there.iter().any(|dataset| dataset.name == *name)).collect();
    let steps = missing.len() + usize::from(asked.is_empty());
    for (step, &(name, description, files)) in missing.into_iter().enumerate() {
        let staging = gateway.staging(caller)?;
        let staged = |(file, bytes): &File| -> std::io::Result<Staged> {
            let path = staging.path().join(file);
            std::fs::write(&path, bytes)?;
            Ok(Staged { name: (*file).to_owned(), path })
        };
        let op = Import {
            name: Some(name.to_owned()),
            description: description.to_owned(),
            publish,
            if_exists: IfExists::Refuse,
            files: files.iter().map(staged).collect::<std::io::Result<_>>().map_err(Error::internal)?,
            ..Import::default()
        };
        let mut via = Via::new(action);
        via.on_progress = Some(share(tell.clone(), name, step, steps));
        gateway.call(caller, op, via).await?;
    }
    if asked.is_empty() {
        share(tell, "ontology", steps - 1, steps)(Progress { fraction: Some(0.0), message: "Checking".into() });
        let op = CreateOntology { text: ONTOLOGY.to_owned(), summary: "the demo's".to_owned() };
        let made = gateway.call(caller, op, Via::new(action)).await?.reply.ontology;
        let op = CheckOntology { ontology_id: made.ontology_id };
        let checked = gateway.call(caller, op, Via::new(action)).await?.reply.ontology;
        if checked.status != Status::Ready {
            return Err(Error::internal(format!("the demo's ontology is not ready: {}", checked.problem)));
        }
    }
    Ok(())
}

/// What one of several steps tells, as its share of the whole.
fn share(tell: OnProgress, of: &'static str, step: usize, steps: usize) -> OnProgress {
    Arc::new(move |Progress { fraction, message }| {
        let fraction = fraction.map(|part| (step as f64 + part) / steps as f64);
        tell(Progress { fraction, message: format!("{of}: {message}") });
    })
}
