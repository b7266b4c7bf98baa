//! What is made of an ontology and its data before questions can be understood, once for each version of both.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;

use crate::base::id::Id;
use crate::base::secret::sha256_hex;
use crate::config::Budgets;
use crate::engine::agent::compiler::compile;
use crate::engine::agent::lexicon::{FieldValues, Lexicon};
use crate::engine::job::Job;
use crate::engine::ontology::graph::Graph;
use crate::engine::ontology::library::Visible;
use crate::engine::sql::SqlEngine;
use crate::model::dataset::Dataset;
use crate::model::error::{Code, Error, Result};
use crate::model::ontology::{DataType, Field, FieldRole, Ontology, StoredOntology};
use crate::model::org::Org;
use crate::model::plan::{Dimension, FieldRef, Plan};
use crate::model::source::Dialect;

/// Ontologies that are kept ready.
const KEPT: NonZeroUsize = NonZeroUsize::new(32).unwrap();

/// Most values of one field that can be recognised in questions; a field with more is known to have others.
const MOST_VALUES: usize = 10_000;

/// Most values of all fields of an ontology together.
const MOST_OF_ALL: usize = 500_000;

/// An ontology that can be asked.
pub struct Prepared {
    pub ontology: Arc<Ontology>,
    pub graph: Graph,
    pub lexicon: Lexicon,
    pub dialect: Dialect,
}

type Key = (Id<Org>, Id<StoredOntology>, i64, String);

/// The ontologies that are ready.
#[derive(Clone)]
pub struct Ready(Arc<Mutex<LruCache<Key, Arc<Prepared>>>>);

impl Default for Ready {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(LruCache::new(KEPT))))
    }
}

impl Ready {
    /// Takes what is ready, or makes it: reads the values that questions may name.
    ///
    /// # Errors
    /// `ontology_not_ready` for one whose tables are in several engines; those of the SQL engine.
    pub async fn get(&self, sql: &SqlEngine, job: &Job<'_>, of: &Visible) -> Result<Arc<Prepared>> {
        let tables = tables(&of.ontology, job.pass.datasets());
        let key = (of.stored.org, of.stored.id, of.stored.version, digest(&tables));
        if let Some(prepared) = self.cache().get(&key) {
            return Ok(prepared.clone());
        }
        job.says(0.02, "Reading the values that questions may name");
        let mut dialects = tables.iter().filter_map(|table| table.dialect());
        let dialect = dialects.next().unwrap_or(Dialect::DuckDb);
        if dialects.any(|other| other != dialect) {
            let message = "The tables of this ontology are in several engines. Make one ontology for each engine.";
            return Err(Error::new(Code::OntologyNotReady, message));
        }
        let ontology = of.ontology.clone();
        let graph = Graph::new(&ontology);
        let values = values(sql, job, &ontology, &graph, dialect).await?;
        let make = move || {
            let lexicon = Lexicon::build(&ontology, &values);
            Arc::new(Prepared { graph, lexicon, dialect, ontology })
        };
        let prepared = tokio::task::spawn_blocking(make).await.map_err(Error::internal)?;
        self.cache().put(key, prepared.clone());
        Ok(prepared)
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, LruCache<Key, Arc<Prepared>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tables of an ontology that the pass covers.
pub fn tables<'d>(ontology: &Ontology, datasets: &'d [Dataset]) -> Vec<&'d Dataset> {
    let names =
        |dataset: &&Dataset| ontology.datasets.iter().any(|entity| entity.table().eq_ignore_ascii_case(&dataset.name));
    datasets.iter().filter(names).collect()
}

/// Which data, in which versions.
fn digest(tables: &[&Dataset]) -> String {
    let line = |table: &&Dataset| format!("{} {}\n", table.id, table.version.as_deref().unwrap_or_default());
    sha256_hex(tables.iter().map(line).collect::<String>().as_bytes())
}

/// Whether people name values of a field: texts that are marked for it, or that a closed set or grouping makes likely.
/// Personal data are named only where the ontology says so.
fn is_named(field: &Field) -> bool {
    let is_text = matches!(field.datatype, DataType::String | DataType::Opaque);
    let likely = is_text && field.pii.is_none() && field.role == FieldRole::Dimension;
    !field.hidden && (field.index_values || field.is_enum || likely)
}

/// The values of every field that people name, read through the SQL engine like everything else.
async fn values(
    sql: &SqlEngine,
    job: &Job<'_>,
    ontology: &Ontology,
    graph: &Graph,
    dialect: Dialect,
) -> Result<Vec<FieldValues>> {
    let budget = Budgets { sql_chars: MAX_CHARS, sql_rows: MOST_VALUES, ..job.budget.clone() };
    let job = &job.within(&budget);
    let mut all = Vec::new();
    let mut room = MOST_OF_ALL;
    for entity in ontology.datasets.iter().filter(|entity| !entity.hidden) {
        for field in entity.fields.iter().filter(|field| is_named(field)) {
            job.check()?;
            let plan = Plan {
                dimensions: vec![Dimension::of(FieldRef::new(&entity.name, &field.name))],
                distinct: true,
                ..Plan::default()
            };
            let most = MOST_VALUES.min(room);
            let rows = u32::try_from(most).unwrap_or(u32::MAX);
            let Ok(compiled) = compile(&plan, ontology, graph, dialect, rows) else { continue };
            let answer = sql.query(job, &compiled.sql).await?;
            let texts = answer.table.rows.iter().filter_map(|row| match row.first()? {
                serde_json::Value::String(text) => Some(text.clone()),
                serde_json::Value::Null => None,
                other => Some(other.to_string()),
            });
            let values: Vec<String> = texts.take(most).collect();
            room -= values.len();
            let complete = !answer.table.truncated && answer.table.rows.len() <= most;
            all.push(FieldValues { dataset: entity.name.clone(), field: field.name.clone(), values, complete });
        }
    }
    Ok(all)
}

/// The longest statement that the compiler writes, and so that a question runs.
pub const MAX_CHARS: usize = crate::engine::agent::compiler::MAX_BYTES;
