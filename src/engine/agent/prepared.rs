//! What is made of an ontology and its data before questions can be understood, once for each version of both.
//!
//! After a restart the values are read again: 28 ms for the example of the flights, 1.2 s for 16 fields of a table of
//! 6 million rows. To keep them would put people's values into a second place that erasure has to reach.

mod figures;
mod period;
mod tried;
mod values;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::civil::Date;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use self::tried::Tried;
pub(super) use self::tried::has_statement;
use crate::base::bounded::Bounded;
use crate::base::id::Id;
use crate::base::secret::sha256_hex;
use crate::engine::agent::planner::{Extent, FieldValues, Learnt, Planner, Planners, View};
use crate::engine::agent::verifier::Bounds;
use crate::engine::job::Job;
use crate::engine::ontology::graph::Graph;
use crate::engine::ontology::library::Visible;
use crate::engine::sql::SqlEngine;
use crate::model::dataset::Dataset;
use crate::model::error::{Code, Error, Result};
use crate::model::ontology::{Ontology, StoredOntology};
use crate::model::org::Org;
use crate::model::source::Dialect;

/// Bytes of everything that is kept ready.
const ROOM: usize = 512 << 20;

/// Bytes of what is kept ready for one workspace, unless it is a single ontology: others have room too.
const SHARE: usize = 64 << 20;

/// How long one is kept at most: values that were erased in a remote source are not known for ever.
const LIFE: Duration = Duration::from_secs(3_600);

/// How long one of which a part could not be read is kept, before that is tried again.
const LIFE_OF_A_PART: Duration = Duration::from_secs(300);

/// How long reading for one takes at most, and never more than half of the time of who asks: what was read by then is
/// kept, so that the next one who asks need not begin anew.
const MOST_TIME: Duration = Duration::from_secs(60);

/// An ontology that can be asked.
pub(super) struct Prepared {
    pub ontology: Arc<Ontology>,
    pub graph: Arc<Graph>,
    /// The values that questions may name.
    pub values: Vec<FieldValues>,
    /// What each planner learnt of them.
    learnt: Vec<Learnt>,
    pub dialect: Dialect,
    /// The least and greatest values of numbers, personal ones excepted; none of tables in remote engines.
    pub bounds: Vec<Bounds>,
    /// Which values questions cannot name, and why, as sentences.
    pub left_out: Vec<String>,
    /// By field of time, as `dataset.field` in lower case: its first and last day.
    extents: HashMap<String, (Date, Date)>,
    /// Something could not be read, and may be the next time.
    is_partial: bool,
    tried: Tried,
}

impl Prepared {
    /// The first and the last day of a dataset's default time field, in the ontology's zone; `None` where it has no such
    /// field or no rows, or where finding out is not cheap.
    pub(super) fn extent(&self, dataset: &str) -> Option<(Date, Date)> {
        let entity = self.ontology.entity(dataset)?;
        self.extent_of(&entity.name, entity.default_time_field.as_ref()?)
    }

    /// What the planners are given, each with what it learnt itself.
    pub(super) fn views<'a>(&'a self, planners: &'a Planners) -> impl Iterator<Item = (&'a dyn Planner, View<'a>)> {
        let view = |learnt| View { ontology: &self.ontology, graph: &self.graph, values: &self.values, learnt };
        planners.iter().zip(self.learnt.iter().map(view))
    }

    /// From the first to the last day of anything in the ontology.
    pub(super) fn span(&self) -> Option<Extent> {
        let extents = self.ontology.datasets.iter().filter_map(|entity| self.extent(&entity.name));
        extents
            .map(|(first, last)| Extent { first, last })
            .reduce(|one, other| Extent { first: one.first.min(other.first), last: one.last.max(other.last) })
    }

    fn extent_of(&self, dataset: &str, field: &str) -> Option<(Date, Date)> {
        self.extents.get(&format!("{dataset}.{field}").to_lowercase()).copied()
    }

    /// About how much memory it takes.
    fn bytes(&self) -> usize {
        // A field or a metric of an ontology with its texts, twice: in it and in its graph.
        const THING: usize = 2 << 10;
        let fields: usize = self.ontology.datasets.iter().map(|entity| entity.fields.len() + 1).sum();
        let of_field =
            |it: &FieldValues| it.values.iter().map(|value| value.len() + size_of::<String>()).sum::<usize>();
        let values: usize = self.values.iter().map(of_field).sum();
        let learnt: usize = self.learnt.iter().map(Learnt::bytes).sum();
        values + learnt + (fields + self.ontology.metrics.len()) * THING
    }
}

/// Workspace, ontology, its version, and which data in which versions.
type Key = (Id<Org>, Id<StoredOntology>, i64, String);

/// One that is being made, or is made just now.
type Making = Arc<OnceCell<Arc<Prepared>>>;

#[derive(Clone)]
struct Kept {
    prepared: Arc<Prepared>,
    since: Instant,
}

impl Kept {
    fn lives(&self) -> bool {
        self.since.elapsed() < if self.prepared.is_partial { LIFE_OF_A_PART } else { LIFE }
    }
}

struct State {
    kept: Bounded<Key, Kept>,
    making: HashMap<Key, Making>,
}

impl State {
    /// Keeps what was made, unless another who waited for it has. A workspace's others go when it has had its share.
    fn keep(&mut self, key: Key, new: Kept, bytes: usize) {
        if self.kept.get(&key).is_some_and(|kept| Arc::ptr_eq(&kept.prepared, &new.prepared)) {
            return;
        }
        let org = key.0;
        self.kept.retain(|_, kept| kept.lives());
        self.kept.put(key, new, bytes);
        self.kept.shrink(SHARE.max(bytes), |key, _| key.0 == org);
    }
}

/// The ontologies that are ready.
#[derive(Clone)]
pub(super) struct Ready {
    state: Arc<Mutex<State>>,
    planners: Planners,
}

impl Ready {
    pub(super) fn new(planners: Planners) -> Self {
        Self { state: Arc::new(Mutex::new(State { kept: Bounded::new(ROOM), making: HashMap::new() })), planners }
    }

    /// Takes what is ready, or makes it: reads the values that questions may name. Several who want the same at once
    /// wait for one of them.
    ///
    /// # Errors
    /// `ontology_not_ready` for one whose tables are in several engines; those of the SQL engine, unless they are of one
    /// field alone: that is left out.
    pub(super) async fn get(&self, sql: &SqlEngine, job: &Job<'_>, of: &Visible) -> Result<Arc<Prepared>> {
        let tables = tables(&of.ontology, job.pass.datasets());
        let key = (of.stored.org, of.stored.id, of.stored.version, digest(&tables));
        self.kept_or_made(key, || make(sql, job, of, &tables, &self.planners)).await
    }

    async fn kept_or_made<F: Future<Output = Result<Prepared>>>(
        &self,
        key: Key,
        make: impl FnOnce() -> F,
    ) -> Result<Arc<Prepared>> {
        let making = {
            let mut state = self.state();
            if let Some(kept) = state.kept.get(&key).filter(Kept::lives) {
                return Ok(kept.prepared);
            }
            state.making.entry(key.clone()).or_default().clone()
        };
        let flight = Flight { ready: self, key, making };
        // Whoever made it may be gone, or have failed for its own reasons: then the next one makes it.
        let prepared = flight.making.get_or_try_init(|| async { make().await.map(Arc::new) }).await?.clone();
        let bytes = prepared.bytes();
        let kept = Kept { prepared: prepared.clone(), since: Instant::now() };
        self.state().keep(flight.key.clone(), kept, bytes);
        Ok(prepared)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who waits for something to be made.
struct Flight<'a> {
    ready: &'a Ready,
    key: Key,
    making: Making,
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let mut state = self.ready.state();
        // The map's and ours: nobody else waits.
        if Arc::strong_count(&self.making) <= 2 {
            state.making.remove(&self.key);
        }
    }
}

async fn make(
    sql: &SqlEngine,
    job: &Job<'_>,
    of: &Visible,
    tables: &[&Dataset],
    planners: &Planners,
) -> Result<Prepared> {
    job.says(0.02, "Reading the values that questions may name");
    let mut dialects = tables.iter().filter_map(|table| table.dialect());
    let dialect = dialects.next().unwrap_or(Dialect::DuckDb);
    if dialects.any(|other| other != dialect) {
        let message = "The tables of this ontology are in several engines. Make one ontology for each engine.";
        return Err(Error::new(Code::OntologyNotReady, message));
    }
    let ontology = of.ontology.clone();
    let graph = Arc::new(Graph::new(&ontology));
    let on = On { sql, job, ontology: &ontology, graph: &graph, dialect };
    // First, because it opens all tables in the worker that then reads the values.
    let (begun, time) = (Instant::now(), MOST_TIME.min(job.time_left() / 2));
    let figures = figures::read(&on, time / 2).await?;
    let values::Read { values, left_out, is_partial } = values::read(&on, time.saturating_sub(begun.elapsed())).await?;
    let (of, planners) = (ontology.clone(), planners.clone());
    let learning = tokio::task::spawn_blocking(move || (planners.learn(&of, &values), values));
    let (learnt, values) = learning.await.map_err(Error::internal)?;
    Ok(Prepared {
        graph,
        values,
        learnt,
        dialect,
        bounds: figures.bounds,
        left_out,
        extents: figures.extents,
        is_partial: is_partial || figures.is_partial,
        tried: Tried::default(),
        ontology,
    })
}

/// What is prepared, and with what.
struct On<'a> {
    sql: &'a SqlEngine,
    job: &'a Job<'a>,
    ontology: &'a Ontology,
    graph: &'a Graph,
    dialect: Dialect,
}

/// Whether the time for a part of a call is over.
///
/// # Errors
/// When the call itself ends.
fn is_over(call: &Job<'_>, part: &Job<'_>) -> Result<bool> {
    call.check()?;
    Ok(part.check().is_err())
}

/// Whether an error is of the statement itself, so that others may do better.
fn is_own(error: &Error) -> bool {
    matches!(
        error.code,
        Code::InvalidArgument | Code::ForbiddenSql | Code::SqlTooLong | Code::LimitExceeded | Code::QueryTimeout
    )
}

/// The tables of an ontology that the pass covers.
pub(super) fn tables<'d>(ontology: &Ontology, datasets: &'d [Dataset]) -> Vec<&'d Dataset> {
    let names =
        |dataset: &&Dataset| ontology.datasets.iter().any(|entity| entity.table().eq_ignore_ascii_case(&dataset.name));
    datasets.iter().filter(names).collect()
}

/// Which data, in which versions.
fn digest(tables: &[&Dataset]) -> String {
    // Who does not see all columns knows no values of the others.
    let line = |table: &&Dataset| {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        format!("{} {} {columns:?}\n", table.id, table.version.as_deref().unwrap_or_default())
    };
    sha256_hex(tables.iter().map(line).collect::<String>().as_bytes())
}

/// The longest statement that the compiler writes, and so that a question runs.
pub(super) const MAX_CHARS: usize = crate::engine::agent::compiler::MAX_BYTES;

impl Ready {
    /// Drops everything that holds values of a dataset: it is erased.
    pub(super) fn forget(&self, org: Id<Org>, dataset: &Dataset) {
        let has = |prepared: &Prepared| {
            prepared.ontology.datasets.iter().any(|entity| entity.table().eq_ignore_ascii_case(&dataset.name))
        };
        self.state().kept.retain(|(of, ..), kept| *of != org || !has(&kept.prepared));
    }
}

#[cfg(test)]
mod tests;
