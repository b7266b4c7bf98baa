use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::about::About;
use super::backend::Point;
use super::manifest::Fault;
use super::retrieve::{Retrieval, Retrieved};
use super::shard::builder::{Builder, PART};
use super::shard::{Among, Shard};
use super::shards::{asked, blocking};
use super::*;
use crate::base::clock::Clock;
use crate::config::{Budgets, Config, Limits};
use crate::engine::Engines;
use crate::engine::agent::conversation::Questions;
use crate::engine::datasets::{Datasets, Dependents};
use crate::engine::ingest::text;
use crate::engine::job::OnProgress;
use crate::engine::llm::Models;
use crate::engine::ontology::library::Library;
use crate::engine::readers::Readers;
use crate::engine::sql::{Results, SqlEngine};
use crate::model::access::{Action, Catalogue, Pass, Rights, Role, Want, authorize};
use crate::model::caller::{Caller, Proof};
use crate::model::document::Document;
use crate::store;

/// Documents that are published as the version "v1".
pub(super) fn dataset(clock: &Clock, org: &Org, name: &str) -> Dataset {
    Dataset {
        externally_queryable: true,
        version: Some("v1".into()),
        ..Dataset::new(Id::new(clock), org.id, name, Kind::Documents)
    }
}

/// Coordinates of the vectors that are made up here.
const DIMENSION: usize = 8;

pub(super) struct World {
    pub files: Files,
    pub engine: SearchEngine,
    open: Arc<OpenShards>,
    pub clock: Clock,
    pub org: Org,
    budget: Budgets,
    /// Dropped last: open shards live in it.
    _data: tempfile::TempDir,
}

impl World {
    pub(super) fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let files = Files::new(data.path()).unwrap();
        let clock = Clock::manual(1_700_000_000_000);
        let org = Org {
            id: Id::new(&clock),
            slug: "acme".into(),
            name: "Acme".into(),
            connectivity_enabled: true,
            created_at: 0,
        };
        let open = Arc::new(OpenShards::new(OPEN_BYTES));
        let engine = SearchEngine::over(files.clone(), open.clone());
        Self { files, engine, open, clock, org, budget: Limits::default().budgets, _data: data }
    }

    /// From now on at most so many shards of one chunk stay open.
    fn keep_open(&mut self, most: u64) {
        self.open = Arc::new(OpenShards::new(most * open::bytes_of(1)));
        self.engine = SearchEngine::over(self.files.clone(), self.open.clone());
    }

    pub(super) fn dataset(&self, name: &str) -> Dataset {
        dataset(&self.clock, &self.org, name)
    }

    pub(super) async fn published(&self, name: &str, texts: &[&str]) -> Dataset {
        let dataset = self.dataset(name);
        let documents: Vec<_> = texts
            .iter()
            .enumerate()
            .map(|(n, body)| {
                let parsed = text::parse(&format!("{name}{n}.txt"), body.as_bytes()).unwrap();
                (Id::new(&self.clock), Arc::new(parsed))
            })
            .collect();
        let pass = self.pass(vec![]);
        let job = Job::new(&pass, &self.budget, Duration::from_secs(60), CancellationToken::new(), None);
        let sealed = self.engine.index(&job, (dataset.id, "v1"), &documents).await.unwrap();
        self.engine.put(self.org.id, dataset.id, "v1", sealed).await.unwrap();
        dataset
    }

    pub(super) fn place(&self, dataset: &Dataset) -> PathBuf {
        self.files.vectors(self.org.id, dataset.id, "v1")
    }

    fn pass(&self, datasets: Vec<Dataset>) -> Pass {
        let caller = Caller {
            role: Role::Viewer,
            rights: Rights::of_role(Role::Viewer),
            proof: Proof::BrowserSession { auth_time: 0 },
            ..Caller::operator(self.org.id, "r".into())
        };
        authorize(&caller, &Catalogue::new(self.org.clone(), datasets), Action::Search, &Want::All).unwrap()
    }

    pub(super) async fn find(&self, datasets: &[&Dataset], query: &str) -> Found {
        let pass = self.pass(datasets.iter().map(|dataset| (*dataset).clone()).collect());
        let job = Job::new(&pass, &self.budget, Duration::from_secs(60), CancellationToken::new(), None);
        self.engine.search(&job, query, 5).await.unwrap()
    }

    pub(super) async fn retrieve(&self, datasets: &[&Dataset], ask: &Retrieval) -> Retrieved {
        let pass = self.pass(datasets.iter().map(|dataset| (*dataset).clone()).collect());
        let job = Job::new(&pass, &self.budget, Duration::from_secs(60), CancellationToken::new(), None);
        self.engine.retrieve(&job, ask).await.unwrap()
    }
}

#[tokio::test]
async fn without_the_encoder_exact_words_still_answer_and_the_answer_says_so() {
    let world = World::new();
    let dataset = world.published("notes", &["The xenolith lay in the basalt.", "Bread needs flour."]).await;
    world.engine.encoders.break_down();
    let found = world.find(&[&dataset], "xenolith").await;
    assert_eq!(found.matches.len(), 1);
    assert!(found.matches[0].text.contains("xenolith"));
    assert!(found.degraded.unwrap().contains("meaning"));
}

#[tokio::test]
async fn a_shard_without_its_word_index_answers_by_meaning_and_says_so() {
    let world = World::new();
    let dataset = world.published("notes", &["The plane left late.", "Bread needs flour."]).await;
    let place = world.place(&dataset);
    let owner = Owner { org: world.org.id, dataset: dataset.id };
    let shard = Shard::open(&place, owner).unwrap();
    shard.drop_words();
    let query = Query {
        dense: Some(world.engine.encoded(world.org.id, "delayed flight").await.unwrap().0),
        sparse: analysis::of_query("delayed flight"),
        near: 10,
        equal: 10,
        ..Query::default()
    };
    let answer = asked(&shard, &query).unwrap();
    assert_eq!(answer.failed, ["words"]);
    let best = answer.hits.iter().max_by(|a, b| a.dense.unwrap().total_cmp(&b.dense.unwrap())).unwrap();
    assert!(shard.read(&[best.point]).unwrap()[0].1.text.contains("plane"));
}

#[tokio::test]
async fn the_least_recent_shard_is_closed_and_opens_again() {
    let mut world = World::new();
    world.keep_open(2);
    let mut datasets = vec![];
    for name in ["a", "b", "c"] {
        datasets.push(world.published(name, &[&format!("Text of {name}.")]).await);
    }
    for dataset in &datasets {
        assert_eq!(world.find(&[dataset], "text").await.matches.len(), 1);
    }
    assert_eq!(world.open.count(), 2);
    // The first was closed: the engine would refuse to open it here otherwise.
    let owner = Owner { org: world.org.id, dataset: datasets[0].id };
    drop(Shard::open(&world.place(&datasets[0]), owner).unwrap());
    let again = world.find(&[&datasets[0]], "text").await;
    assert_eq!((again.matches.len(), again.degraded), (1, None));
    assert_eq!(world.open.count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_queries_over_more_shards_than_may_be_open_all_answer() {
    let mut world = World::new();
    world.keep_open(1);
    let mut datasets = vec![];
    for name in ["a", "b", "c"] {
        datasets.push(world.published(name, &[&format!("Text of {name}.")]).await);
    }
    let all: Vec<&Dataset> = datasets.iter().collect();
    let answers = futures_util::future::join_all((0..8).map(|_| world.find(&all, "text"))).await;
    for found in answers {
        assert_eq!((found.matches.len(), found.degraded), (3, None));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_open_is_counted_however_it_is_opened_and_closed() {
    let mut world = World::new();
    world.keep_open(3);
    let mut datasets = vec![];
    for name in ["a", "b", "c", "d", "e"] {
        datasets.push(world.published(name, &[&format!("Text of {name}.")]).await);
    }
    let all: Vec<&Dataset> = datasets.iter().collect();
    futures_util::future::join_all((0..6).map(|at| world.find(&all[at % 3..], "text"))).await;
    assert!(world.open.count() <= 3);
    assert_eq!(world.open.bytes(), world.open.count() as u64 * open::bytes_of(1));
    for dataset in &datasets {
        world.engine.forget(world.org.id, dataset.id, "v1");
    }
    assert_eq!((world.open.count(), world.open.bytes()), (0, 0));
    world.keep_open(0);
    assert_eq!(world.find(&all, "text").await.matches.len(), 5, "one that is too large by itself is asked too");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_over_more_shards_than_may_be_open_opens_those_alone_that_are_closed() {
    let mut world = World::new();
    world.keep_open(11);
    let mut datasets = vec![];
    for at in 0..12 {
        datasets.push(world.published("notes", &[if at == 5 { "Bread." } else { "Late planes." }]).await);
    }
    let keys: Vec<Key> = datasets.iter().map(|dataset| key(world.org.id, dataset.id, "v1")).collect();
    let query = Query { sparse: analysis::of_query("planes"), equal: 10, ..Query::default() };
    let found = async || {
        let answers = world.engine.homes.find(&keys, &query).await;
        answers.into_iter().map(|answer| answer.unwrap().hits.len()).collect::<Vec<_>>()
    };
    let expected = [1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1];
    assert_eq!(found().await, expected);
    assert_eq!(world.open.count(), 11);
    // None of them could be opened again.
    for (dataset, key) in datasets.iter().zip(&keys) {
        if world.open.is_open(key) {
            std::fs::remove_dir_all(world.place(dataset)).unwrap();
        }
    }
    assert_eq!(found().await, expected);
}

#[tokio::test]
async fn a_forgotten_shard_is_closed() {
    let world = World::new();
    let dataset = world.published("notes", &["Bread needs flour."]).await;
    world.find(&[&dataset], "bread").await;
    assert_eq!(world.open.count(), 1);
    world.engine.forget(world.org.id, dataset.id, "v1");
    assert_eq!(world.open.count(), 0);
    world.engine.forget(world.org.id, dataset.id, "v1");
}

/// Who erases and publishes datasets of a world, over metadata in a folder.
fn datasets(world: &World, db: &Db) -> Datasets {
    let (clock, readers) = (world.clock.clone(), Readers::default());
    let sql = SqlEngine::new("no worker".into(), world.files.clone(), world.budget.clone());
    let library = Library::new(db.clone(), clock.clone(), sql.clone(), readers.clone());
    let models = Models::new(&Config::read(|_| None).unwrap(), db.clone(), clock.clone());
    let questions = Questions::new(db.clone(), clock.clone(), sql.clone(), library, models, Engines::languages());
    let results = Results::new(clock.clone());
    let dependents = Dependents { sql, search: world.engine.clone(), results, questions };
    Datasets::new(db.clone(), clock, world.files.clone(), dependents, readers, world.budget.keep)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nobody_waits_until_a_shard_that_is_erased_can_be_closed() {
    let world = World::new();
    let (copied, other) =
        (world.published("notes", &["Late planes."]).await, world.published("old", &["Bread."]).await);
    let folder = tempfile::tempdir().unwrap();
    let db = Db::open_sqlite(&folder.path().join("metadata.sqlite")).await.unwrap();
    store::orgs::insert(&mut db.writer().await.unwrap(), &world.org).await.unwrap();
    let mut tx = db.tenant(world.org.id).await.unwrap();
    for dataset in [&copied, &other] {
        store::datasets::put(&mut tx, dataset).await.unwrap();
    }
    tx.commit().await.unwrap();
    let datasets = datasets(&world, &db);
    let erase = |dataset: &Dataset| {
        let (datasets, pass, budget) = (datasets.clone(), world.pass(vec![]), world.budget.clone());
        let (id, name) = (dataset.id, dataset.name.clone());
        tokio::spawn(async move {
            let job = Job::new(&pass, &budget, Duration::from_secs(60), CancellationToken::new(), None);
            datasets.delete(&job, id, &name).await.unwrap();
        })
    };
    // Somebody copies it, and takes their time.
    let ((open, place), (go, gate)) = ((world.open.clone(), world.place(&copied)), std::sync::mpsc::channel::<()>());
    let (tell, begun) = tokio::sync::oneshot::channel();
    let copying = key(world.org.id, copied.id, "v1");
    let copying = tokio::task::spawn_blocking(move || {
        open.with(&copying, &place, |_| {
            tell.send(()).unwrap();
            // Ends when the other side is dropped.
            let _gone = gate.recv();
            Ok(())
        })
    });
    begun.await.unwrap();
    let erasing = erase(&copied);
    let is_there = async || {
        let mut read = db.read_tenant(world.org.id).await.unwrap();
        store::datasets::by_id(&mut read, world.org.id, copied.id).await.unwrap().is_some()
    };
    while is_there().await {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::timeout(Duration::from_secs(20), erase(&other)).await.expect("another waits for it").unwrap();
    assert!(!erasing.is_finished() && world.place(&copied).exists() && !world.place(&other).exists());
    drop(go);
    copying.await.unwrap().unwrap();
    erasing.await.unwrap();
    assert!(!world.place(&copied).exists());
}

#[tokio::test]
async fn a_shard_of_another_encoder_is_not_compared_with_ours() {
    let world = World::new();
    let dataset = world.dataset("old");
    let place = world.place(&dataset);
    let owner = Owner { org: world.org.id, dataset: dataset.id };
    Builder::create(&place, owner, "another encoder".into(), 3).unwrap().finish().unwrap();
    let found = world.find(&[&dataset], "bread").await;
    assert!(found.matches.is_empty());
    assert!(found.degraded.unwrap().contains("old could not be searched"));
}

#[test]
fn unsound_vectors_and_foreign_chunks_are_refused() {
    let world = World::new();
    let dataset = world.dataset("notes");
    let owner = Owner { org: world.org.id, dataset: dataset.id };
    let mut builder = Builder::create(&world.place(&dataset), owner, "e".into(), DIMENSION).unwrap();
    let stored = Stored {
        tenant: world.org.id,
        dataset: dataset.id,
        document: Id::new(&world.clock),
        chunk_index: 0,
        heading: String::new(),
        text: "text".into(),
        source_file: "f".into(),
        title: "t".into(),
        about: About::default(),
        spot: Spot::default(),
    };
    let terms = || analysis::of_chunk("text", analysis::Language::of(""));
    let mut broken = vec![0.5; DIMENSION];
    broken[7] = f32::NAN;
    assert!(builder.add(vec![(stored.clone(), broken, terms())]).is_err());
    assert!(builder.add(vec![(stored.clone(), vec![0.5; 3], terms())]).is_err());
    let foreign = Stored { tenant: Id::new(&world.clock), ..stored.clone() };
    assert!(matches!(builder.add(vec![(foreign, vec![0.5; DIMENSION], terms())]), Err(Fault::Foreign)));
    assert!(builder.add(vec![(stored, vec![0.5; DIMENSION], terms())]).is_ok());
}

/// A chunk with a direction on a half circle.
fn pointing(owner: Owner, document: Id<Document>, text: &str, angle: f32) -> Point {
    let stored = Stored {
        tenant: owner.org,
        dataset: owner.dataset,
        document,
        chunk_index: 0,
        heading: String::new(),
        source_file: "f".into(),
        title: "t".into(),
        about: About::default(),
        spot: Spot::default(),
        text: text.to_owned(),
    };
    let dense = vec![angle.cos(), angle.sin(), 0.0, 0.0];
    (stored, dense, analysis::of_chunk(text, analysis::Language::of("")))
}

/// Whether a text stands in a file of a folder.
fn holds(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => holds(&path, text),
            false => std::fs::read(path).unwrap().windows(text.len()).any(|bytes| bytes == text.as_bytes()),
        }
    })
}

fn sorted(found: Vec<(u64, f32)>) -> Vec<u64> {
    let mut numbers: Vec<u64> = found.into_iter().map(|(point, _)| point).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn a_shard_of_several_parts_answers_as_one() {
    let world = World::new();
    let dataset = world.dataset("long");
    let owner = Owner { org: world.org.id, dataset: dataset.id };
    let place = world.place(&dataset);
    let mut builder = Builder::create(&place, owner, "e".into(), 4).unwrap();
    let all = 2 * PART + 300;
    // The later the farther from the first; three have a rare word.
    let angle = |at: u64| at as f32 / all as f32 * std::f32::consts::PI;
    let rare = [7, PART + 11, all - 1];
    let chunk = |at: u64| {
        let text = if rare.contains(&at) { format!("common xenolith {at}") } else { format!("common {at}") };
        pointing(owner, Id::new(&world.clock), &text, angle(at))
    };
    for from in (0..all).step_by(256) {
        builder.add((from..(from + 256).min(all)).map(chunk).collect()).unwrap();
    }
    assert_eq!(builder.finish().unwrap().0, all);
    let parts = std::fs::read_dir(place.join("segments")).unwrap().count();
    assert_eq!(parts, 2, "one that is only read, and the engine's own for what may come");

    let shard = Shard::open(&place, owner).unwrap();
    assert_eq!(shard.numbers(&[], all as usize + 1).unwrap(), (0..all).collect::<Vec<_>>());
    let read = shard.read(&rare).unwrap();
    assert!(read.iter().all(|(_, stored)| stored.text.contains("xenolith")), "{read:?}");
    let (dense, sparse) = shard.pairs(&[PART]).unwrap().remove(0);
    assert!(dense.iter().zip(chunk(PART).1).all(|(a, b)| (a - b).abs() < 1e-6), "{dense:?}");
    assert_eq!(sparse.indices.len(), chunk(PART).2.indices.len());
    let nearest = shard.nearest(&chunk(PART).1, Among::Those(&[]), 5).unwrap();
    assert_eq!(sorted(nearest), [PART - 2, PART - 1, PART, PART + 1, PART + 2]);

    let query = analysis::of_query("xenolith").unwrap();
    let found = shard.matching(&query, Among::Those(&[]), 10).unwrap();
    // The engine's IDF over all chunks, and what the term weighs in the chunk.
    let (of, having) = (all as f32, rare.len() as f32);
    let idf = (1.0 + (of - having + 0.5) / (having + 0.5)).ln();
    for (point, score) in &found {
        let terms = chunk(*point).2;
        let asked = query.indices.iter().zip(&query.values);
        let weights = asked.filter_map(|(index, weight)| {
            let place = terms.indices.iter().position(|known| known == index)?;
            Some(terms.values[place] * weight)
        });
        let weight: f32 = weights.sum();
        assert!(weight > 0.0 && (score - idf * weight).abs() < 1e-3, "{point}: {score}, not {idf} * {weight}");
    }
    assert_eq!(sorted(found), rare);
}

#[test]
fn a_long_shard_is_copied_for_its_next_version_without_what_is_gone() {
    let world = World::new();
    let dataset = world.dataset("long");
    let owner = Owner { org: world.org.id, dataset: dataset.id };
    let folder = |version: &str| world.files.vectors(owner.org, owner.dataset, version);
    let documents: Vec<Id<Document>> = (0..PART / 16 + 4).map(|_| Id::new(&world.clock)).collect();
    let mut builder = Builder::create(&folder("v1"), owner, "e".into(), 4).unwrap();
    for document in &documents {
        let chunk = |at| pointing(owner, *document, &format!("of {document}"), at as f32 / 16.0);
        builder.add((0..16).map(chunk).collect()).unwrap();
    }
    let all = builder.finish().unwrap().0;
    let shard = Shard::open(&folder("v1"), owner).unwrap();
    let over = |version: &str, stay: &[Id<Document>]| {
        let stay = stay.iter().copied().collect();
        Builder::over((&shard, &folder("v1")), &folder(version), owner, &stay).unwrap()
    };

    // The second is gone; a new one has two chunks.
    let stay = [&documents[..1], &documents[2..]].concat();
    let mut builder = over("v2", &stay).unwrap();
    let fresh = Id::new(&world.clock);
    builder.add(vec![pointing(owner, fresh, "xenolith", 3.0), pointing(owner, fresh, "basalt", 3.1)]).unwrap();
    assert_eq!(builder.finish().unwrap().0, all - 16 + 2);
    let next = Shard::open(&folder("v2"), owner).unwrap();
    let numbers = next.numbers(&[], all as usize + 2).unwrap();
    assert_eq!(numbers, (0..16).chain(32..all + 2).collect::<Vec<_>>(), "those that stay keep theirs");
    assert_eq!(next.read(&[31]).unwrap_err().to_string(), "the shard is damaged: 0 of 1 chunks can be read");
    assert_eq!(next.read(&[32]).unwrap()[0].1.document, documents[2]);
    let query = analysis::of_query("xenolith").unwrap();
    assert_eq!(sorted(next.matching(&query, Among::Those(&[]), 9).unwrap()), [all]);
    let of_gone = analysis::of_query(&documents[1].to_string()).unwrap();
    let found = next.matching(&of_gone, Among::Those(&[]), 100).unwrap();
    let read = next.read(&sorted(found)).unwrap();
    assert!(read.iter().all(|(_, stored)| stored.document != documents[1]), "{read:?}");
    assert_eq!(
        sorted(next.nearest(&[3.05_f32.cos(), 3.05_f32.sin(), 0.0, 0.0], Among::Those(&[]), 2).unwrap()),
        [all, all + 1]
    );
    let gone = documents[1].to_string();
    assert!(!holds(&folder("v2"), &gone) && holds(&folder("v1"), &gone), "its text is in no file any more");
    // A copy of the copy: what is written into it comes after all that was written before.
    let stay: HashSet<Id<Document>> = documents[2..].iter().copied().collect();
    let mut builder = Builder::over((&next, &folder("v2")), &folder("v3"), owner, &stay).unwrap().unwrap();
    builder.add(vec![pointing(owner, Id::new(&world.clock), "gabbro", 3.0)]).unwrap();
    assert_eq!(
        builder.finish().unwrap().0,
        all - 32 + 1,
        "the first is gone, and those that came with the second copy"
    );
    let last = Shard::open(&folder("v3"), owner).unwrap();
    assert_eq!(last.numbers(&[], all as usize + 3).unwrap(), (32..all).chain([all + 2]).collect::<Vec<_>>());
    let found = |word: &str| sorted(last.matching(&analysis::of_query(word).unwrap(), Among::Those(&[]), 9).unwrap());
    assert_eq!((found("gabbro"), found("basalt")), (vec![all + 2], vec![]));
    assert!(!holds(&folder("v3"), &fresh.to_string()));
    // The one before is as it was.
    assert_eq!(shard.numbers(&[], all as usize + 2).unwrap(), (0..all).collect::<Vec<_>>());

    assert!(over("v4", &documents[..PART as usize / 16 - 1]).is_none(), "little stays");
    assert!(!folder("v4").exists());
}

#[test]
fn a_long_text_is_cut_at_a_character() {
    let world = World::new();
    let stored = Stored {
        tenant: world.org.id,
        dataset: Id::new(&world.clock),
        document: Id::new(&world.clock),
        chunk_index: 3,
        heading: String::new(),
        text: "é".repeat(TEXT_CHARS + 1),
        source_file: "f".into(),
        title: "t".into(),
        about: About::default(),
        spot: Spot::default(),
    };
    let (found, cut) = to_match(&world.dataset("notes"), stored.clone(), 0.5);
    assert!(cut);
    assert_eq!(found.text, "é".repeat(TEXT_CHARS));
    let short = Stored { text: "é".repeat(TEXT_CHARS), ..stored };
    assert!(!to_match(&world.dataset("notes"), short, 0.5).1);
}

#[tokio::test]
async fn a_build_whose_folder_vanished_fails_and_does_not_end_the_process() {
    let world = World::new();
    let dataset = world.dataset("notes");
    let place = world.place(&dataset);
    let owner = Owner { org: world.org.id, dataset: dataset.id };
    let builder = Builder::create(&place, owner, "e".into(), DIMENSION).unwrap();
    std::fs::remove_dir_all(&place).unwrap();
    let finished = blocking(move || builder.finish().map_err(Error::internal)).await;
    assert_eq!(finished.unwrap_err().code, crate::model::error::Code::InternalError);

    let builder = Builder::create(&place, owner, "e".into(), DIMENSION).unwrap();
    std::fs::remove_dir_all(&place).unwrap();
    drop(builder);
}

#[tokio::test]
async fn what_stays_is_taken_over_with_its_vectors_and_only_what_is_new_is_encoded() {
    let world = World::new();
    let notes = world.published("notes", &["The xenolith lay in the basalt.", "Bread needs flour."]).await;
    let key = Key { owner: Owner { org: world.org.id, dataset: notes.id }, version: "v1".into() };
    let before = world.engine.homes.shards.read(&key, vec![0, 1]).await.unwrap();
    let vectors = world.engine.homes.shards.pairs(&key, vec![0, 1]).await.unwrap();
    // Ids of one millisecond are in any order, and chunks are in theirs.
    let at = before.iter().position(|(_, stored)| stored.source_file == "notes1.txt").unwrap();
    let stays = HashSet::from([before[at].1.document]);
    let parsed = text::parse("new.txt", b"The ferry leaves at noon.").unwrap();
    let fresh = [(Id::new(&world.clock), Arc::new(parsed))];
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = told.clone();
    let on_progress: OnProgress = Arc::new(move |progress| listener.lock().unwrap().push(progress.message));
    let pass = world.pass(vec![]);
    let job = Job::new(&pass, &world.budget, Duration::from_secs(60), CancellationToken::new(), Some(on_progress));
    let carried = Carried { version: "v1", documents: &stays };
    let sealed = world.engine.index_over(&job, (notes.id, "v2"), Some(carried), &fresh).await.unwrap();
    assert_eq!(sealed.chunks().unwrap(), 2);
    assert!(told.lock().unwrap().iter().all(|message| message.contains("new.txt")), "{told:?}");
    world.engine.put(world.org.id, notes.id, "v2", sealed).await.unwrap();

    let key = Key { version: "v2".into(), ..key };
    let after = world.engine.homes.shards.read(&key, vec![0, 1]).await.unwrap();
    assert_eq!(after[0].1, before[at].1, "the chunk that stays is as it was");
    let (dense, sparse) = world.engine.homes.shards.pairs(&key, vec![0]).await.unwrap().remove(0);
    assert!(dense.iter().zip(&vectors[at].0).all(|(a, b)| (a - b).abs() < 1e-6), "{dense:?}");
    assert_eq!((&sparse.indices, &sparse.values), (&vectors[at].1.indices, &vectors[at].1.values));
    let notes = Dataset { version: Some("v2".into()), ..notes };
    for (query, file) in [("flour for bread", "notes1.txt"), ("ferry at noon", "new.txt")] {
        assert_eq!(world.find(&[&notes], query).await.matches[0].source_file, file);
    }
    assert!(world.find(&[&notes], "xenolith").await.matches.iter().all(|found| !found.text.contains("xenolith")));
}
