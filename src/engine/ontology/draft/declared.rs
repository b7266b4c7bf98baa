//! What databases declare of their tables: keys, references, and the values of enumerations. It is asked for when a
//! draft is made; a server that does not answer is named in the notes, and names decide then.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

use super::{DraftTable, ForeignKey};
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::engine::sql::remote::sources::Sources;
use crate::engine::sql::remote::{self, FoundKeys};
use crate::model::dataset::Dataset;
use crate::model::error::Result;
use crate::model::source::{RemoteTable, Source};

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

/// What a server declares, by schema and table.
type Found = BTreeMap<(String, String), FoundKeys>;

/// A table's source, and its schema and name there.
type Place<'a> = (Id<Source>, &'a str, &'a str);

/// A dataset's name, and its columns with whether they may hold NULL.
type Readable<'a> = (&'a str, HashMap<&'a str, bool>);

/// What the servers of remote datasets declare of them, and the servers that could not be asked.
///
/// # Errors
/// `query_timeout` when the job is cancelled or its time is over.
pub async fn declared(
    sources: &Sources,
    job: &Job<'_>,
    datasets: &[Dataset],
) -> Result<(BTreeMap<Id<Dataset>, Declared>, Vec<String>)> {
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
    Ok((told(datasets, asked), problems))
}

/// What was found of each dataset. A server may declare as much as it can send: nothing is sought for in a list.
fn told(datasets: &[Dataset], mut asked: BTreeMap<Id<Source>, Found>) -> BTreeMap<Id<Dataset>, Declared> {
    let remote = || datasets.iter().filter_map(|dataset| Some((dataset, dataset.remote.as_ref()?)));
    let there: HashMap<Place<'_>, Readable<'_>> = remote()
        .map(|(dataset, remote)| {
            let columns = dataset.columns.iter().map(|column| (column.name.as_str(), column.nullable));
            (place(remote), (dataset.name.as_str(), columns.collect()))
        })
        .collect();
    let mut all = BTreeMap::new();
    for (dataset, remote) in remote() {
        let key = (remote.schema.clone(), remote.table.clone());
        let found = asked.get_mut(&remote.source).and_then(|found| found.remove(&key));
        if let Some((found, (_, columns))) = found.zip(there.get(&place(remote))) {
            all.insert(dataset.id, known(remote.source, found, columns, &there));
        }
    }
    all
}

fn place(remote: &RemoteTable) -> Place<'_> {
    (remote.source, remote.schema.as_str(), remote.table.as_str())
}

/// What is said of columns that can be read, and of tables that are here.
fn known(
    source: Id<Source>,
    found: FoundKeys,
    columns: &HashMap<&str, bool>,
    there: &HashMap<Place<'_>, Readable<'_>>,
) -> Declared {
    let has = |of: &HashMap<&str, bool>, names: &[String]| {
        !names.is_empty() && names.iter().all(|name| of.contains_key(name.as_str()))
    };
    // A key with NULLs does not tell rows apart.
    let filled = |names: &Vec<String>| {
        !names.is_empty() && names.iter().all(|name| columns.get(name.as_str()).is_some_and(|nullable| !nullable))
    };
    let reference = |it: remote::FoundReference| {
        let (to, to_columns) = there.get(&(source, it.schema.as_str(), it.table.as_str()))?;
        let readable = has(columns, &it.columns) && has(to_columns, &it.to_columns);
        readable.then(|| ForeignKey { columns: it.columns, to: (*to).to_owned(), to_columns: it.to_columns })
    };
    Declared {
        primary_key: Some(found.primary).filter(|names| has(columns, names)).unwrap_or_default(),
        unique_keys: found.unique.into_iter().filter(filled).collect(),
        foreign_keys: found.references.into_iter().filter_map(reference).collect(),
        values: found.values,
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::base::clock::Clock;
    use crate::model::dataset::{ColumnInfo, Kind};
    use crate::model::source::SourceEngine;

    /// A table of a source with columns `c0`, `c1` and so on, of which the last may hold NULL.
    fn dataset(source: Id<Source>, name: &str, columns: usize) -> Dataset {
        let clock = Clock::manual(1);
        let nullable = |at: usize| at + 1 == columns;
        let column = |at: usize| ColumnInfo { name: format!("c{at}"), nullable: nullable(at), ..ColumnInfo::default() };
        Dataset {
            columns: (0..columns).map(column).collect(),
            remote: Some(RemoteTable {
                source,
                source_name: "shop".into(),
                engine: SourceEngine::Postgres,
                schema: "public".into(),
                table: name.into(),
            }),
            ..Dataset::new(Id::new(&clock), Id::new(&clock), name, Kind::Table)
        }
    }

    fn names(columns: &[&str]) -> Vec<String> {
        columns.iter().map(|column| (*column).to_owned()).collect()
    }

    fn declares(source: Id<Source>, table: &str, keys: FoundKeys) -> BTreeMap<Id<Source>, Found> {
        BTreeMap::from([(source, BTreeMap::from([(("public".to_owned(), table.to_owned()), keys)]))])
    }

    #[test]
    fn what_is_declared_of_columns_and_tables_that_are_not_here_is_left_out() {
        let source = Id::new(&Clock::manual(1));
        let datasets = [dataset(source, "orders", 3), dataset(source, "shops", 1)];
        let reference = |columns: &[&str], table: &str| remote::FoundReference {
            columns: names(columns),
            schema: "public".into(),
            table: table.into(),
            to_columns: names(&["c0"]),
        };
        let keys = FoundKeys {
            primary: names(&["c0"]),
            unique: vec![names(&["c0", "c1"]), names(&["c2"]), names(&["hidden"]), vec![]],
            references: vec![
                reference(&["c1"], "shops"),
                reference(&["c1"], "secret"),
                reference(&["hidden"], "shops"),
            ],
            values: [("c1".to_owned(), names(&["new", "paid"]))].into(),
        };
        let all = told(&datasets, declares(source, "orders", keys.clone()));
        let expected = Declared {
            primary_key: names(&["c0"]),
            unique_keys: vec![names(&["c0", "c1"])],
            foreign_keys: vec![ForeignKey { columns: names(&["c1"]), to: "shops".into(), to_columns: names(&["c0"]) }],
            values: keys.values.clone(),
        };
        assert_eq!(all, BTreeMap::from([(datasets[0].id, expected)]));
        let hidden = FoundKeys { primary: names(&["c0", "hidden"]), ..FoundKeys::default() };
        assert_eq!(told(&datasets, declares(source, "orders", hidden))[&datasets[0].id], Declared::default());
        let other = Id::new(&Clock::manual(1));
        assert!(told(&datasets, declares(other, "orders", keys)).is_empty());
    }

    #[test]
    fn a_key_of_as_many_columns_as_a_server_can_send_holds_nobody_up() {
        let source = Id::new(&Clock::manual(1));
        let datasets = [dataset(source, "orders", 20_000)];
        let keys = FoundKeys { primary: vec!["c19999".into(); 500_000], ..FoundKeys::default() };
        let started = Instant::now();
        assert_eq!(told(&datasets, declares(source, "orders", keys))[&datasets[0].id].primary_key.len(), 500_000);
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    }
}
