//! What databases declare of their tables: keys, references, and the values of enumerations. It is asked for when a
//! draft is made; a server that does not answer is named in the notes, and names decide then.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::{DraftTable, ForeignKey};
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::engine::sql::remote::sources::Sources;
use crate::engine::sql::remote::{self, FoundKeys};
use crate::model::dataset::Dataset;
use crate::model::error::Result;

/// What is declared of a dataset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declared {
    pub primary_key: Vec<String>,
    pub unique_keys: Vec<Vec<String>>,
    /// References to other datasets by their names here.
    pub foreign_keys: Vec<ForeignKey>,
    /// The values of columns that are enumerations.
    pub values: BTreeMap<String, Vec<String>>,
}

/// What the servers of remote datasets declare of them, and the servers that could not be asked.
///
/// # Errors
/// `query_timeout` when the job is cancelled or its time is over.
pub async fn declared(
    sources: &Sources,
    job: &Job<'_>,
    datasets: &[Dataset],
) -> Result<(BTreeMap<Id<Dataset>, Declared>, Vec<String>)> {
    let mut all = BTreeMap::new();
    let mut problems = Vec::new();
    let mut asked = BTreeMap::new();
    for table in datasets.iter().filter_map(|dataset| dataset.remote.as_ref()) {
        if let Entry::Vacant(place) = asked.entry(table.source) {
            job.check()?;
            let found = sources.declared(job.pass.org(), table.source, &job.cancel).await;
            job.check()?;
            let name = &table.source_name;
            let found = found.unwrap_or_else(|error| {
                problems.push(format!("What {name} declares of its keys could not be read: {}", error.message));
                remote::Declared::default()
            });
            problems.extend(found.left_out.iter().map(|left_out| format!("Of the source {name}: {left_out}")));
            place.insert(found.keys);
        }
    }
    for dataset in datasets {
        let Some(remote) = &dataset.remote else { continue };
        let found = asked.get(&remote.source).and_then(|of| of.get(&(remote.schema.clone(), remote.table.clone())));
        if let Some(found) = found {
            all.insert(dataset.id, known(dataset, found, datasets));
        }
    }
    Ok((all, problems))
}

/// What is said of columns that can be read, and of tables that are here.
fn known(dataset: &Dataset, found: &FoundKeys, datasets: &[Dataset]) -> Declared {
    let has = |of: &Dataset, columns: &[String]| {
        !columns.is_empty() && columns.iter().all(|name| of.columns.iter().any(|column| column.name == *name))
    };
    // A key with NULLs does not tell rows apart.
    let filled = |columns: &&Vec<String>| {
        has(dataset, columns)
            && columns.iter().all(|name| dataset.columns.iter().any(|it| it.name == *name && !it.nullable))
    };
    let source = dataset.remote.as_ref().map(|remote| remote.source);
    let reference = |it: &remote::FoundReference| {
        let to = datasets.iter().find(|other| {
            let remote = other.remote.as_ref();
            remote.is_some_and(|remote| {
                Some(remote.source) == source && remote.schema == it.schema && remote.table == it.table
            })
        })?;
        let readable = has(dataset, &it.columns) && has(to, &it.to_columns);
        readable.then(|| ForeignKey {
            columns: it.columns.clone(),
            to: to.name.clone(),
            to_columns: it.to_columns.clone(),
        })
    };
    Declared {
        primary_key: Some(&found.primary).filter(|columns| has(dataset, columns)).cloned().unwrap_or_default(),
        unique_keys: found.unique.iter().filter(filled).cloned().collect(),
        foreign_keys: found.references.iter().filter_map(reference).collect(),
        values: found.values.clone(),
    }
}

impl Declared {
    /// Tells a table what is declared of it.
    pub(super) fn tell(self, table: &mut DraftTable) {
        table.primary_key = self.primary_key;
        table.unique_keys = self.unique_keys;
        table.foreign_keys = self.foreign_keys;
        table.values = self.values;
    }
}
