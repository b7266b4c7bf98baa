//! What computes. Every function that touches data demands a [`job::Job`], and with it a pass.

pub mod agent;
pub mod catalog;
pub mod chart;
pub mod compare;
pub mod datasets;
pub mod extract;
pub mod files;
pub mod ingest;
pub mod job;
pub mod llm;
pub mod ontology;
pub mod readers;
pub mod render;
pub mod search;
pub mod sql;
pub mod syncs;
pub(in crate::engine) mod turns;
pub mod uploads;

use std::path::PathBuf;
use std::sync::Arc;

use self::agent::conversation::Questions;
use self::agent::planner::Planners;
use crate::base::clock::Clock;
use crate::base::secret::MasterKey;
use crate::config::Config;
use crate::store::Db;

/// The engines of the process; built once and moved into the gateway, which alone hands them out.
pub struct Engines {
    pub catalog: catalog::Catalog,
    pub sql: sql::SqlEngine,
    pub search: search::SearchEngine,
    pub datasets: datasets::Datasets,
    pub ingest: ingest::Ingest,
    pub results: sql::Results,
    pub readers: readers::Readers,
    pub sources: sql::remote::sources::Sources,
    pub library: ontology::library::Library,
    pub questions: Questions,
    pub models: llm::Models,
    pub uploads: uploads::Uploads,
    pub syncs: syncs::Syncs,
}

impl Engines {
    /// The planners that know a language by themselves, in the order in which they are tried: keeping, replacing or
    /// dropping one is this line.
    pub fn languages() -> Planners {
        Planners::new(vec![Arc::new(agent::english::English)])
    }

    /// `worker` is the executable that runs SQL (this program itself); `master` seals what must not be seen.
    ///
    /// # Errors
    /// The data folder cannot be used.
    pub fn new(
        config: &Config,
        db: &Db,
        clock: &Clock,
        worker: PathBuf,
        sources: sql::remote::sources::Sources,
        master: MasterKey,
    ) -> std::io::Result<Self> {
        let files = files::Files::new(&config.data_dir)?.leaving(config.limits.budgets.keep.free);
        let sql = sql::SqlEngine::new(worker, files.clone(), config.limits.budgets.clone());
        let sql = sql.with_sources(sources.clone()).with_metadata(db.clone());
        let search = search::SearchEngine::new(files.clone()).with_embedding(&config.embedding, db);
        let search = search.with_cluster(config.qdrant.as_ref(), db, clock)?;
        let models = llm::Models::new(config, db.clone(), clock.clone());
        let (results, readers) = (sql::Results::new(clock.clone()), readers::Readers::default());
        let library = ontology::library::Library::new(db.clone(), clock.clone(), sql.clone(), readers.clone());
        let planners = Self::languages().and(agent::llm::LanguageModel::new(models.clone(), clock.clone()));
        let (on, kept) = (sql.clone(), library.clone());
        let questions = Questions::new(db.clone(), clock.clone(), on, kept, models.clone(), planners);
        let dependents = datasets::Dependents {
            sql: sql.clone(),
            search: search.clone(),
            results: results.clone(),
            questions: questions.clone(),
        };
        let keep = config.limits.budgets.keep;
        let keep = if config.trims { keep } else { keep.every_version() };
        let (on, read) = (files.clone(), readers.clone());
        let datasets = datasets::Datasets::new(db.clone(), clock.clone(), on, dependents, read, keep);
        let most = config.limits.budgets.upload_bytes;
        let uploads = uploads::Uploads::new(files.clone(), clock.clone(), most);
        let (on, places) = ((db.clone(), clock.clone()), ingest::sync::Places::new(config, master));
        let ingest = ingest::Ingest::new(on, files, sql.clone(), search.clone(), datasets.clone(), places);
        let catalog = catalog::Catalog::new(db.clone());
        let syncs = syncs::Syncs::new(db.clone(), clock.clone());
        Ok(Self {
            catalog,
            sql,
            search,
            datasets,
            ingest,
            results,
            readers,
            sources,
            library,
            questions,
            models,
            uploads,
            syncs,
        })
    }
}
