//! Drafts of published schemas, imported as files without any declared key, held against what their own documents
//! declare.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use dragoman::engine::job::Job;
use dragoman::engine::ontology::draft::measure::measured;
use dragoman::engine::ontology::draft::{Draft, Wanted};
use dragoman::engine::sql::TableFormat;
use dragoman::model::dataset::Dataset;
use dragoman::model::ontology::FieldRole;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::house::House;

/// A reference: table, columns, table, columns, in small letters, the columns in order.
type Join = (String, Vec<String>, String, Vec<String>);

fn join(from: &str, columns: &[String], to: &str, keys: &[String]) -> Join {
    let mut pairs: Vec<(String, String)> =
        columns.iter().zip(keys).map(|(a, b)| (a.to_lowercase(), b.to_lowercase())).collect();
    pairs.sort();
    let (columns, keys) = pairs.into_iter().unzip();
    (from.to_lowercase(), columns, to.to_lowercase(), keys)
}

/// The same from the other side, as one row refers to one.
fn turned((from, columns, to, keys): &Join) -> Join {
    join(to, keys, from, columns)
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}

struct Schema {
    folder: PathBuf,
    truth: Value,
}

impl Schema {
    fn open(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/schemas").join(name);
        let truth = std::fs::read_to_string(folder.join("truth.json")).unwrap();
        Self { truth: serde_json::from_str(&truth).unwrap(), folder }
    }

    /// As importing names it.
    fn dataset(table: &str) -> String {
        table.to_lowercase().replace(' ', "_")
    }

    fn tables(&self) -> impl Iterator<Item = &String> {
        self.truth["tables"].as_object().unwrap().keys()
    }

    fn joins(&self, needed: bool) -> BTreeSet<Join> {
        let all = self.truth["joins"].as_array().unwrap().iter();
        let wanted = all.filter(|it| it["needed"].as_bool().unwrap_or(true) == needed);
        wanted
            .map(|it| {
                let [from, to] = ["from", "to"].map(|side| Self::dataset(it[side].as_str().unwrap()));
                join(&from, &texts(&it["columns"]), &to, &texts(&it["to_columns"]))
            })
            .collect()
    }

    async fn drafted(&self) -> Draft {
        let mut house = House::new(|_| {}).await;
        let mut names = Vec::new();
        for table in self.tables() {
            let content = std::fs::read(self.folder.join(format!("{table}.csv"))).unwrap();
            let name = Self::dataset(table);
            house.add(&name, TableFormat::Csv, content).await;
            names.push(name);
        }
        let datasets: Vec<Dataset> = names.iter().map(|name| house.dataset(name).clone()).collect();
        let wanted = Wanted { name: "draft".into(), ..Wanted::default() };
        let pass = house.pass();
        let job = Job::new(&pass, &house.budgets, Duration::from_secs(120), CancellationToken::new(), None);
        measured(&house.engine, &job, &wanted, &datasets, &BTreeMap::new()).await.unwrap()
    }
}

/// How many of the needed references are drafted, how many are drafted that are none, and the keys that are measures.
async fn judged(name: &str) -> (usize, usize, Vec<Join>, Vec<String>) {
    let schema = Schema::open(name);
    let made = schema.drafted().await.ontology;
    let source = |name: &String| made.entity(name).unwrap().source.clone();
    let found: BTreeSet<Join> = made
        .relationships
        .iter()
        .map(|it| join(&source(&it.from), &it.from_columns, &source(&it.to), &it.to_columns))
        .collect();
    let (needed, allowed) = (schema.joins(true), schema.joins(false));
    let is_in = |set: &BTreeSet<Join>, one: &Join| set.contains(one) || set.contains(&turned(one));
    let right = needed.iter().filter(|one| is_in(&found, one)).count();
    let wrong: Vec<Join> = found.iter().filter(|one| !is_in(&needed, one) && !is_in(&allowed, one)).cloned().collect();
    let mut keys = BTreeSet::new();
    for (from, columns, to, others) in &needed {
        keys.extend(columns.iter().map(|column| (from.clone(), column.clone())));
        keys.extend(others.iter().map(|column| (to.clone(), column.clone())));
    }
    let mut measures = Vec::new();
    for entity in &made.datasets {
        for field in entity.fields.iter().filter(|field| field.role == FieldRole::Measure && !field.hidden) {
            if keys.contains(&(entity.source.clone(), field.name.to_lowercase())) {
                measures.push(format!("{}.{}", entity.source, field.name));
            }
        }
    }
    (right, needed.len(), wrong, measures)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_joins_of_published_schemas_are_found_in_files_alone() {
    for (name, least, of) in
        [("jaffle_shop", 2, 2), ("swc_survey", 3, 3), ("northwind", 11, 11), ("oracle_hr_oe", 22, 22)]
    {
        let (right, needed, wrong, measures) = judged(name).await;
        assert_eq!(needed, of, "{name}");
        assert!(right >= least, "{name}: {right} of {needed}");
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
        assert!(measures.is_empty(), "{name}: {measures:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn natural_keys_of_several_columns_are_found_and_referred_to() {
    let (right, needed, wrong, measures) = judged("mondial").await;
    assert!(right * 100 >= needed * 90, "{right} of {needed}");
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(measures.is_empty(), "{measures:?}");
}
