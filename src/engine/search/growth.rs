//! Figures: how speed, memory and disk grow with chunks and with datasets. Run by `tests/bench/retrieval/run`, in an
//! optimised build; chunks are made up, since it is not the encoder that is measured.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::about::About;
use super::analysis::{self, Language};
use super::filter::Filter;
use super::manifest::Owner;
use super::open::OpenShards;
use super::retrieve::{Fusion, Meaning, REACH, Retrieval};
use super::shard::Stored;
use super::shard::builder::Builder;
use super::tests::dataset;
use super::*;
use crate::base::clock::Clock;
use crate::config::Limits;
use crate::model::access::{Action, Catalogue, Rights, Role, Want, authorize};
use crate::model::caller::{Caller, Proof};

/// Searches of each kind.
const SEARCHES: usize = 40;
/// Coordinates of a vector.
const DIMENSION: usize = 384;
/// Chunks of a document.
const CHUNKS: u32 = 10;

/// The same numbers for the same seed (xorshift, Marsaglia 2003).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn vector(&mut self) -> Vec<f32> {
        let raw: Vec<f32> = (0..DIMENSION).map(|_| (self.next() % 2_000) as f32 / 1_000.0 - 1.0).collect();
        let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
        raw.into_iter().map(|x| x / length).collect()
    }

    /// Words as rare as in a language: half of the draws are of few words (Zipf).
    fn text(&mut self, words: usize) -> String {
        let word = |n: u64| format!("w{}", (50_000.0_f64.powf((n % 10_000) as f64 / 10_000.0)) as u64);
        (0..words).map(|_| word(self.next())).collect::<Vec<_>>().join(" ")
    }
}

/// A member of `/proc/self/status`, in KiB.
fn status(member: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(member)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn files_open() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn build(files: &Files, clock: &Clock, dataset: &Dataset, chunks: usize, numbers: &mut Numbers) -> u64 {
    let owner = Owner { org: dataset.org, dataset: dataset.id };
    let folder = files.vectors(dataset.org, dataset.id, "v1");
    let mut builder = Builder::create(&folder, owner, embed::BUILTIN.to_owned(), DIMENSION).unwrap();
    let language = Language::of("");
    let mut document = Id::new(clock);
    let mut batch = Vec::new();
    for at in 0..chunks {
        let chunk_index = u32::try_from(at).unwrap() % CHUNKS;
        if chunk_index == 0 {
            document = Id::new(clock);
        }
        let text = numbers.text(80);
        let stored = Stored {
            tenant: dataset.org,
            dataset: dataset.id,
            document,
            chunk_index,
            heading: "Part > Section".into(),
            source_file: format!("file{}.md", at / CHUNKS as usize),
            title: format!("Title {}", at / CHUNKS as usize),
            about: About { created: at as i64, ..About::default() },
            spot: Spot::default(),
            text: text.clone(),
        };
        batch.push((stored, numbers.vector(), analysis::of_chunk(&text, language)));
        if batch.len() == 64 {
            builder.add(std::mem::take(&mut batch)).unwrap();
        }
    }
    builder.add(batch).unwrap();
    builder.finish().unwrap().1
}

fn ask(words: Option<String>, meaning: Option<Meaning>, fusion: Fusion) -> Retrieval {
    let (equal, near) = match fusion {
        Fusion::Words => (REACH, 0),
        Fusion::Meaning => (0, REACH),
        _ => (100, 100),
    };
    Retrieval {
        words,
        meaning,
        fusion,
        equal,
        near,
        filter: Filter::default(),
        min_score: 0.0,
        of_a_document: None,
        offset: 0,
        limit: 10,
        snippets: false,
    }
}

async fn measured(datasets: usize, chunks: usize) {
    let data = tempfile::tempdir().unwrap();
    let files = Files::new(data.path()).unwrap();
    let clock = Clock::manual(1_700_000_000_000);
    let org =
        Org { id: Id::new(&clock), slug: "a".into(), name: "A".into(), connectivity_enabled: true, created_at: 0 };
    let all: Vec<Dataset> = (0..datasets).map(|at| dataset(&clock, &org, &format!("d{at}"))).collect();
    let mut numbers = Numbers(7);
    let began = Instant::now();
    let bytes: u64 = all.iter().map(|one| build(&files, &clock, one, chunks / datasets, &mut numbers)).sum();
    let built = chunks as f64 / began.elapsed().as_secs_f64();
    let caller = Caller {
        role: Role::Viewer,
        rights: Rights::of_role(Role::Viewer),
        proof: Proof::BrowserSession { auth_time: 0 },
        ..Caller::operator(org.id, "r".into())
    };
    let pass = authorize(&caller, &Catalogue::new(org.clone(), all), Action::Search, &Want::All).unwrap();
    let budget = Limits::default().budgets;
    let open = Arc::new(OpenShards::new(OPEN_BYTES));
    let engine = SearchEngine::over(files, open.clone());
    let find = async |ask: Retrieval| {
        let job = Job::new(&pass, &budget, Duration::from_secs(600), CancellationToken::new(), None);
        let began = Instant::now();
        let found = engine.retrieve(&job, &ask).await.unwrap();
        assert!(found.degraded.is_none(), "{found:?}");
        began.elapsed().as_secs_f64() * 1_000.0
    };
    let (memory, open_files) = (status("RssAnon"), files_open());
    let vector = numbers.vector();
    let first = find(ask(None, Some(Meaning::Vector(vector)), Fusion::Meaning)).await;
    let (grown, more_files) = (status("RssAnon").saturating_sub(memory), files_open().saturating_sub(open_files));
    println!(
        "{chunks} chunks in {datasets} datasets: built {built:.0}/s, {} bytes of disk a chunk; opened {} in {first:.0} ms \
         with {} KiB and {:.1} files each, {} counted",
        bytes / chunks as u64,
        open.count(),
        grown / datasets as u64,
        more_files as f64 / datasets as f64,
        open.bytes() >> 10,
    );
    for name in ["words", "meaning", "both", "phrase", "document", "grouped"] {
        let mut times = Vec::new();
        for _ in 0..SEARCHES {
            let (text, vector) = (numbers.text(4), Meaning::Vector(numbers.vector()));
            let request = match name {
                "words" => ask(Some(text), None, Fusion::Words),
                "meaning" => ask(None, Some(vector), Fusion::Meaning),
                "both" => ask(Some(text), Some(vector), Fusion::Scores(None)),
                "phrase" => ask(Some(format!("\"w7 w{}\"", numbers.next() % 20)), None, Fusion::Words),
                "document" => {
                    let filter = Filter { created_after: Some(5), created_before: Some(50), ..Filter::default() };
                    Retrieval { filter, ..ask(None, Some(vector), Fusion::Meaning) }
                }
                _ => Retrieval { of_a_document: Some(1), ..ask(Some(text), Some(vector), Fusion::Scores(None)) },
            };
            times.push(find(request).await);
        }
        times.sort_by(f64::total_cmp);
        println!("  {name:9} p50 {:7.1} ms   p99 {:7.1} ms", times[SEARCHES / 2], times[SEARCHES * 99 / 100]);
    }
}

/// One small size; all of them, for minutes, where it was built to measure (`tests/bench/retrieval/run`).
#[tokio::test(flavor = "multi_thread")]
async fn figures() {
    let sizes: &[(usize, usize)] = match option_env!("DRAGOMAN_GROWTH") {
        Some(_) => &[(1, 1_000), (1, 10_000), (100, 10_000), (300, 3_000), (1, 100_000)],
        None => &[(2, 40)],
    };
    for &(datasets, chunks) in sizes {
        measured(datasets, chunks).await;
    }
}
