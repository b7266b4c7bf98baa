//! The demo workspace: the flights that left New York City in 2013 (five tables) and documents that describe them.
//! The data are part of the program, so that a copied binary can show itself.

use anyhow::Context as _;

use super::door::{Dataset, Door};
use super::ontology;
use crate::app::App;
use crate::base::secret::{Secret, hmac_hex};
use crate::model::access::Role;
use crate::model::dataset::IfExists;
use crate::model::org::Org;

const EMAIL: &str = "demo@example.com";

/// Name, description, bytes of a table.
type Table = (&'static str, &'static str, &'static [u8]);

const TABLES: [Table; 5] = [
    (
        "flights",
        "Every flight that left JFK, LGA or EWR in 2013: times, delays in minutes, carrier, aircraft, distance",
        include_bytes!("demo/flights.parquet"),
    ),
    ("airlines", "Carrier codes and names", include_bytes!("demo/airlines.parquet")),
    ("airports", "Airports: FAA code, name, position, altitude, time zone", include_bytes!("demo/airports.parquet")),
    (
        "planes",
        "Aircraft by tail number: year, manufacturer, model, engines, seats",
        include_bytes!("demo/planes.parquet"),
    ),
    ("weather", "Hourly weather at JFK, LGA and EWR in 2013", include_bytes!("demo/weather.parquet")),
];

const DOCUMENTS: [(&str, &str); 4] = [
    ("flights-guide.md", include_str!("demo/flights-guide.md")),
    ("delays.md", include_str!("demo/delays.md")),
    ("weather-and-airports.md", include_str!("demo/weather-and-airports.md")),
    ("aircraft.md", include_str!("demo/aircraft.md")),
];

/// What the tables mean, for questions in plain words.
const ONTOLOGY: &str = include_str!("demo/ontology.yaml");

/// Who can log in to the demo.
pub(super) struct Person {
    pub email: &'static str,
    pub password: Secret,
}

/// Makes the workspace, the person and the data where they are missing, and returns the person.
pub(super) async fn prepare(app: &App) -> anyhow::Result<Person> {
    let password = password(app);
    let identity = &app.office.identity;
    let org = match identity.org_by_slug("demo").await? {
        Some(org) => org,
        None => identity.create_org("demo", "Demo: New York flights 2013").await?,
    };
    let user = match identity.user_by_email(EMAIL).await? {
        Some(user) => user,
        None => identity.create_user(EMAIL, "Demo Person", &password).await?,
    };
    if identity.role(org.id, user.id).await?.is_none() {
        identity.set_role(org.id, user.id, Role::Admin).await?;
        identity.set_connectivity(org.id, true).await?;
    }
    load(app, &org).await?;
    Ok(Person { email: EMAIL, password })
}

/// The same at every start, and known only to who can read the data folder.
fn password(app: &App) -> Secret {
    let digest = hmac_hex(&app.office.secret_for("demo password"), EMAIL.as_bytes());
    Secret::new(digest.chars().take(16).collect::<String>())
}

/// Loads what is not there yet; an interrupted load goes on at the dataset where it stopped.
async fn load(app: &App, org: &Org) -> anyhow::Result<()> {
    let there = crate::store::datasets::list(&mut app.office.db.read_tenant(org.id).await?, org.id).await?;
    let asked = crate::store::ontologies::list(&mut app.office.db.read_tenant(org.id).await?, org.id).await?;
    let missing = |name: &str| !there.iter().any(|dataset| dataset.name == name);
    let tables: Vec<&Table> = TABLES.iter().filter(|(name, ..)| missing(name)).collect();
    if tables.is_empty() && !missing("flights_guide") && !asked.is_empty() {
        return Ok(());
    }
    eprintln!("Loading the demo workspace (once):");
    let folder = tempfile::tempdir()?;
    for (name, description, bytes) in tables {
        let path = folder.path().join(format!("{name}.parquet"));
        std::fs::write(&path, bytes)?;
        let loaded = Door::of(app, org).import(dataset(name, description, vec![path]), true).await;
        let loaded = loaded.with_context(|| format!("loading {name}"))?;
        eprintln!("  {name}: {} rows", loaded.get("row_count").unwrap_or(&serde_json::Value::Null));
    }
    if missing("flights_guide") {
        let mut files = Vec::new();
        for (name, text) in DOCUMENTS {
            let path = folder.path().join(name);
            std::fs::write(&path, text)?;
            files.push(path);
        }
        let about = "Guide to the flights data: what the columns mean, how delays are counted, weather, aircraft";
        let loaded = Door::of(app, org).import(dataset("flights_guide", about, files), true).await;
        loaded.context("loading the documents")?;
    }
    if asked.is_empty() {
        ontology::install(app, org, ONTOLOGY).await.context("loading the ontology")?;
    }
    Ok(())
}

fn dataset(name: &str, description: &str, files: Vec<std::path::PathBuf>) -> Dataset {
    Dataset {
        name: Some(name.into()),
        description: description.into(),
        publish: true,
        if_exists: IfExists::Replace,
        files,
        columns: vec![],
    }
}
