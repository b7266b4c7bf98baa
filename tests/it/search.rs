//! Search with the real encoder and real shards, through the engine's own door.

use std::io::{BufRead as _, BufReader};
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragoman::base::clock::Clock;
use dragoman::base::id::Id;
use dragoman::config::{Budgets, Limits};
use dragoman::engine::files::Files;
use dragoman::engine::ingest::text;
use dragoman::engine::job::{Job, OnProgress, Progress};
use dragoman::engine::search::{Found, Sealed, SearchEngine};
use dragoman::model::access::{Action, Catalogue, Pass, Rights, Role, Want, authorize};
use dragoman::model::caller::{Caller, Client, Proof};
use dragoman::model::dataset::{Dataset, Kind};
use dragoman::model::document::{Document, ParsedDocument};
use dragoman::model::error::{Code, Error};
use dragoman::model::org::Org;
use tokio_util::sync::CancellationToken;

struct Tenant {
    org: Org,
    clock: Clock,
    files: Files,
    engine: SearchEngine,
    budget: Budgets,
}

impl Tenant {
    fn new(files: &Files) -> Self {
        let clock = Clock::system();
        let org = Org {
            id: Id::new(&clock),
            slug: "acme".into(),
            name: "Acme".into(),
            connectivity_enabled: true,
            created_at: 0,
        };
        Self::of(org, clock, files)
    }

    fn of(org: Org, clock: Clock, files: &Files) -> Self {
        let engine = SearchEngine::new(files.clone());
        Self { org, clock, files: files.clone(), engine, budget: Limits::default().budgets }
    }

    fn dataset(&self, id: Id<Dataset>, name: &str) -> Dataset {
        Dataset {
            externally_queryable: true,
            version: Some("v1".into()),
            ..Dataset::new(id, self.org.id, name, Kind::Documents)
        }
    }

    fn documents(&self, files: &[(&str, &str)]) -> Vec<(Id<Document>, ParsedDocument)> {
        files.iter().map(|(name, body)| (Id::new(&self.clock), text::parse(name, body.as_bytes()).unwrap())).collect()
    }

    /// A dataset, and how many chunks and bytes it has.
    async fn publish(&self, name: &str, files: &[(&str, &str)]) -> (Dataset, (i64, i64)) {
        self.publish_documents(name, &self.documents(files)).await
    }

    async fn publish_documents(
        &self,
        name: &str,
        documents: &[(Id<Document>, ParsedDocument)],
    ) -> (Dataset, (i64, i64)) {
        let dataset = self.dataset(Id::new(&self.clock), name);
        let sealed = self.index(dataset.id, documents).await;
        let counted = (sealed.chunks().unwrap(), sealed.bytes().unwrap());
        self.engine.put(self.org.id, dataset.id, "v1", sealed).await.unwrap();
        (dataset, counted)
    }

    async fn index(&self, id: Id<Dataset>, documents: &[(Id<Document>, ParsedDocument)]) -> Sealed {
        let pass = self.pass(&[]);
        let job = Job::new(&pass, &self.budget, Duration::from_secs(600), CancellationToken::new(), None);
        self.engine.index(&job, (id, "v1"), &shared(documents)).await.unwrap()
    }

    fn place(&self, dataset: Id<Dataset>) -> PathBuf {
        self.files.vectors(self.org.id, dataset, "v1")
    }

    fn pass(&self, datasets: &[&Dataset]) -> Pass {
        let caller = Caller {
            org: self.org.id,
            user: None,
            role: Role::Viewer,
            rights: Rights::of_role(Role::Viewer),
            proof: Proof::BrowserSession { auth_time: 0 },
            client: Client::default(),
            session: None,
            ip: IpAddr::V4(Ipv4Addr::LOCALHOST),
            request_id: "r".into(),
        };
        let datasets = datasets.iter().map(|dataset| (*dataset).clone()).collect();
        authorize(&caller, &Catalogue::new(self.org.clone(), datasets), Action::Search, &Want::All).unwrap()
    }

    async fn try_find(&self, datasets: &[&Dataset], query: &str, top_k: usize) -> Result<Found, Error> {
        let pass = self.pass(datasets);
        let job = Job::new(&pass, &self.budget, Duration::from_secs(60), CancellationToken::new(), None);
        self.engine.search(&job, query, top_k).await
    }

    async fn find(&self, datasets: &[&Dataset], query: &str) -> Found {
        self.try_find(datasets, query, 5).await.unwrap()
    }
}

fn shared(documents: &[(Id<Document>, ParsedDocument)]) -> Vec<(Id<Document>, Arc<ParsedDocument>)> {
    documents.iter().map(|(id, document)| (*id, Arc::new(document.clone()))).collect()
}

fn home() -> (tempfile::TempDir, Files) {
    let data = tempfile::tempdir().unwrap();
    let files = Files::new(data.path()).unwrap();
    (data, files)
}

const HANDBOOK: &[(&str, &str)] = &[
    ("returns.md", "# Shop rules\n\n## Returns\n\nGoods may be sent back within thirty days for their full price.\n"),
    ("lunch.txt", "The canteen opens at noon and serves soup on Fridays."),
    ("flights.txt", "Many planes left late in July because of thunderstorms."),
    ("parts.txt", "Spare part XQ-7741 fits the rear rotor of the pump."),
    ("zurich.txt", "Das Büro in Zürich liegt am See. 東京 のオフィスは駅の近くです。 🚀"),
];

#[tokio::test]
async fn a_question_finds_its_answer_without_a_common_word() {
    let (_data, files) = home();
    let tenant = Tenant::new(&files);
    let (dataset, (chunks, bytes)) = tenant.publish("handbook", HANDBOOK).await;
    assert_eq!(chunks, 5);
    assert!(bytes > 0);
    for (question, file) in [
        ("Can I get a refund?", "returns.md"),
        ("delayed aircraft and bad weather", "flights.txt"),
        ("where to eat something warm", "lunch.txt"),
    ] {
        let found = tenant.find(&[&dataset], question).await;
        assert_eq!(found.matches[0].source_file, file, "{question}: {found:#?}");
        assert_eq!(found.degraded, None);
        assert!(found.matches.windows(2).all(|pair| pair[0].score >= pair[1].score));
        assert!(found.matches.iter().all(|found| (0.0..=1.0).contains(&found.score)));
    }
}

#[tokio::test]
async fn a_match_says_where_it_is_from() {
    let (_data, files) = home();
    let tenant = Tenant::new(&files);
    let documents = tenant.documents(HANDBOOK);
    let (dataset, _) = tenant.publish_documents("handbook", &documents).await;
    let found = tenant.find(&[&dataset], "returns of goods").await;
    let best = &found.matches[0];
    assert_eq!(best.id.to_string(), format!("{}#0", documents[0].0));
    assert_eq!((best.id.document, best.id.index, best.dataset), (documents[0].0, 0, dataset.id));
    assert_eq!((best.title.as_str(), best.heading.as_str()), ("Shop rules", "Shop rules > Returns"));
    assert_eq!((best.dataset_name.as_str(), best.source_file.as_str()), ("handbook", "returns.md"));
    assert_eq!(best.text, "Goods may be sent back within thirty days for their full price.");
}

#[tokio::test]
async fn a_rare_word_and_a_word_with_accents_find_their_text() {
    let (_data, files) = home();
    let tenant = Tenant::new(&files);
    let (dataset, _) = tenant.publish("handbook", HANDBOOK).await;
    for (query, file) in
        [("XQ-7741", "parts.txt"), ("xq 7741", "parts.txt"), ("Zurich", "zurich.txt"), ("ZÜRICH", "zurich.txt")]
    {
        assert_eq!(tenant.find(&[&dataset], query).await.matches[0].source_file, file, "{query}");
    }
    // Nothing but signs, emoji, stop words or another script is a query too.
    for query in ["🚀", "the of and", "東京", "?!", "\u{202e}x", "שלום"] {
        assert!(!tenant.find(&[&dataset], query).await.matches.is_empty(), "{query}");
    }
}

#[tokio::test]
async fn several_datasets_answer_in_one_order() {
    let (_data, files) = home();
    let tenant = Tenant::new(&files);
    let (kitchen, _) =
        tenant.publish("kitchen", &[("soup.txt", "Soup needs salt."), ("bread.txt", "Bread needs flour.")]).await;
    let (handbook, _) = tenant.publish("handbook", HANDBOOK).await;
    let found = tenant.find(&[&kitchen, &handbook], "late planes in thunderstorms").await;
    assert_eq!((found.matches[0].source_file.as_str(), found.matches[0].dataset), ("flights.txt", handbook.id));
    let found = tenant.find(&[&kitchen, &handbook], "flour for bread").await;
    assert_eq!((found.matches[0].source_file.as_str(), found.matches[0].dataset), ("bread.txt", kitchen.id));
    assert!(found.truncated, "seven chunks, five wanted");
    assert!(!tenant.try_find(&[&kitchen], "flour", 2).await.unwrap().truncated);
}

#[tokio::test]
async fn the_same_content_is_found_in_the_same_order() {
    let (_data, files) = home();
    let tenant = Tenant::new(&files);
    let twins: Vec<(String, String)> = (0..40)
        .map(|n| (format!("{n}.txt"), format!("Twin text. {}", if n % 2 == 0 { "even" } else { "odd" })))
        .collect();
    let twins: Vec<(&str, &str)> = twins.iter().map(|(name, body)| (name.as_str(), body.as_str())).collect();
    let mut documents = tenant.documents(&twins);
    for document in &mut documents {
        document.1.title = "Twin".into();
    }
    let (first, _) = tenant.publish_documents("first", &documents).await;
    documents.reverse();
    let (second, _) = tenant.publish_documents("second", &documents).await;
    let order = async |dataset: &Dataset| {
        let found = tenant.try_find(&[dataset], "even twin", 30).await.unwrap();
        found.matches.into_iter().map(|found| (found.id.document, found.score)).collect::<Vec<_>>()
    };
    let expected = order(&first).await;
    assert_eq!(expected.len(), 30);
    // The twenty even ones tie and come first, by their ids.
    let ids: Vec<_> = expected.iter().take(20).map(|(id, _)| *id).collect();
    let mut evens: Vec<_> = documents.iter().filter(|(_, d)| d.text.contains("even")).map(|(id, _)| *id).collect();
    evens.sort();
    assert_eq!(ids, evens);
    assert_eq!(order(&first).await, expected);
    assert_eq!(order(&second).await, expected, "the order of the import does not matter");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[tokio::test]
async fn another_tenants_shard_never_answers() {
    let (_data, files) = home();
    let (theirs, ours) = (Tenant::new(&files), Tenant::new(&files));
    let (secret, _) = theirs.publish("secret", &[("s.txt", "The merger closes in May.")]).await;
    // Their dataset, asked by us: the pass leaves it out.
    let found = ours.find(&[&secret], "merger").await;
    assert_eq!((found.matches.len(), found.degraded), (0, None));

    // Their folder in our place, under its own id and under one of ours: refused, and said.
    for id in [secret.id, Id::new(&ours.clock)] {
        copy(&theirs.place(secret.id), &ours.place(id));
        let found = ours.find(&[&ours.dataset(id, "copied")], "merger").await;
        assert!(found.matches.is_empty());
        assert!(found.degraded.unwrap().contains("copied could not be searched"));
    }

    // With a manifest that lies, the chunks themselves still say whose they are.
    let manifest = ours.place(secret.id).join("manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, text.replace(&theirs.org.id.to_string(), &ours.org.id.to_string())).unwrap();
    let found = ours.find(&[&ours.dataset(secret.id, "copied")], "merger").await;
    assert!(found.matches.is_empty());
    assert!(found.degraded.unwrap().contains("copied could not be searched"));
}

#[tokio::test]
async fn a_damaged_shard_is_said_and_the_others_answer() {
    let (_data, files) = home();
    let tenant = Tenant::new(&files);
    let (good, _) = tenant.publish("good", &[("g.txt", "Bread needs flour.")]).await;
    let (bad, _) = tenant.publish("bad", &[("b.txt", "Bread needs water.")]).await;
    let (gone, _) = tenant.publish("gone", &[("w.txt", "Bread needs time.")]).await;
    std::fs::remove_dir_all(tenant.place(gone.id)).unwrap();
    let segments = tenant.place(bad.id).join("segments");
    let segment = std::fs::read_dir(&segments).unwrap().next().unwrap().unwrap().path();
    std::fs::write(segment.join("segment.json"), "{").unwrap();
    let found = tenant.find(&[&good, &bad, &gone], "bread").await;
    assert_eq!(found.matches.iter().map(|m| m.source_file.as_str()).collect::<Vec<_>>(), ["g.txt"]);
    let degraded = found.degraded.unwrap();
    assert!(degraded.contains("bad could not") && degraded.contains("gone could not"), "{degraded}");
}

#[tokio::test]
async fn wrong_arguments_and_ended_jobs_are_refused() {
    let (_data, files) = home();
    let tenant = Tenant::new(&files);
    let (dataset, _) = tenant.publish("good", &[("g.txt", "Bread needs flour.")]).await;
    for (query, top_k) in [("", 5), (" \n ", 5), ("x".repeat(1_001).as_str(), 5), ("bread", 0), ("bread", 51)] {
        assert_eq!(tenant.try_find(&[&dataset], query, top_k).await.unwrap_err().code, Code::InvalidArgument);
    }
    assert!(tenant.try_find(&[&dataset], &"é".repeat(1_000), 5).await.is_ok());

    let pass = tenant.pass(&[&dataset]);
    let over = Job::new(&pass, &tenant.budget, Duration::ZERO, CancellationToken::new(), None);
    assert_eq!(tenant.engine.search(&over, "bread", 5).await.unwrap_err().code, Code::QueryTimeout);
    let gone = Job::new(&pass, &tenant.budget, Duration::from_secs(60), CancellationToken::new(), None);
    gone.cancel.cancel();
    assert_eq!(tenant.engine.search(&gone, "bread", 5).await.unwrap_err().code, Code::QueryTimeout);
}

#[tokio::test]
async fn progress_rises_to_the_end_and_an_empty_import_is_an_empty_shard() {
    let (_data, files) = home();
    let tenant = Tenant::new(&files);
    let seen = Arc::new(Mutex::new(Vec::<Progress>::new()));
    let sink = seen.clone();
    let documents = shared(&tenant.documents(HANDBOOK));
    let on_progress: OnProgress = Arc::new(move |progress| sink.lock().unwrap().push(progress));
    let (pass, time) = (tenant.pass(&[]), Duration::from_secs(600));
    let job = Job::new(&pass, &tenant.budget, time, CancellationToken::new(), Some(on_progress));
    tenant.engine.index(&job, (Id::new(&tenant.clock), "v1"), &documents).await.unwrap();
    let fractions: Vec<f64> = seen.lock().unwrap().iter().map(|progress| progress.fraction.unwrap()).collect();
    assert_eq!(fractions.len(), 5);
    assert!(fractions.is_sorted() && fractions[4] == 1.0);

    let (empty, (chunks, _)) = tenant.publish_documents("empty", &[]).await;
    assert_eq!(chunks, 0);
    let found = tenant.find(&[&empty], "bread").await;
    assert_eq!((found.matches.len(), found.degraded), (0, None));
}

#[tokio::test]
async fn an_import_that_is_dropped_half_way_leaves_nothing_published() {
    let (_data, files) = home();
    let tenant = Tenant::new(&files);
    let dataset: Id<Dataset> = Id::new(&tenant.clock);
    let started = Arc::new(tokio::sync::Notify::new());
    let signal = started.clone();
    let on_progress: OnProgress = Arc::new(move |_| signal.notify_one());
    let (pass, time) = (tenant.pass(&[]), Duration::from_secs(600));
    let job = Job::new(&pass, &tenant.budget, time, CancellationToken::new(), Some(on_progress));
    {
        let documents = shared(&tenant.documents(HANDBOOK));
        let import = tenant.engine.index(&job, (dataset, "v1"), &documents);
        tokio::select! {
            biased;
            _ = started.notified() => {}
            _ = import => panic!("the import was to be dropped after its first document"),
        }
    }
    assert!(!tenant.place(dataset).exists());
}

/// How much is in the staging folder.
fn staged(files: &Files, org: &Org) -> usize {
    let folder = files.uploads(org.id).with_file_name("staging");
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

/// One document that makes about so many chunks.
fn long(tenant: &Tenant, chunks: usize) -> Vec<(Id<Document>, Arc<ParsedDocument>)> {
    let sentence = "Many planes left late in July because of thunderstorms over the northern hills and valleys. ";
    shared(&tenant.documents(&[("long.txt", &sentence.repeat(chunks * 4))]))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_whose_caller_leaves_ends_with_the_batch_that_runs_and_the_next_one_goes_on_at_once() {
    let (_data, files) = home();
    let tenant = Tenant::new(&files);
    let gone = CancellationToken::new();
    let (seen, leaves) = (Arc::new(Mutex::new(Vec::new())), gone.clone());
    let sink = seen.clone();
    let on_progress: OnProgress = Arc::new(move |progress| {
        sink.lock().unwrap().push(progress.fraction.unwrap());
        leaves.cancel();
    });
    let pass = tenant.pass(&[]);
    let job = Job::new(&pass, &tenant.budget, Duration::from_secs(600), gone, Some(on_progress));
    let ended = tenant.engine.index(&job, (Id::new(&tenant.clock), "v1"), &long(&tenant, 600)).await;
    assert_eq!(ended.err().unwrap().code, Code::QueryTimeout);
    let seen = seen.lock().unwrap().clone();
    assert!(seen.len() == 1 && seen[0] < 0.1, "no batch after it left: {seen:?}");
    assert_eq!(staged(&files, &tenant.org), 0, "nothing of it is left");
    assert_eq!(tenant.publish("next", HANDBOOK).await.1.0, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_whose_time_is_over_ends_amid_its_work() {
    let (_data, files) = home();
    let tenant = Tenant::new(&files);
    let pass = tenant.pass(&[]);
    let job = Job::new(&pass, &tenant.budget, Duration::from_millis(20), CancellationToken::new(), None);
    let ended = tenant.engine.index(&job, (Id::new(&tenant.clock), "v1"), &long(&tenant, 2_000)).await;
    assert_eq!(ended.err().unwrap().code, Code::QueryTimeout);
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_for_which_the_time_cannot_suffice_are_refused_long_before_it_is_over() {
    let (_data, files) = home();
    let tenant = Tenant::new(&files);
    let pass = tenant.pass(&[]);
    let job = Job::new(&pass, &tenant.budget, Duration::from_secs(60), CancellationToken::new(), None);
    let refused = tenant.engine.index(&job, (Id::new(&tenant.clock), "v1"), &long(&tenant, 20_000)).await;
    let refused = refused.err().unwrap();
    assert_eq!((refused.code, &refused.details["limit"]), (Code::LimitExceeded, &serde_json::json!("time")));
    assert!(refused.message.contains("parts or more"), "{refused}");
    let chunks = refused.details["chunks"].as_u64().unwrap();
    assert!((10_000..40_000).contains(&chunks), "{}", refused.details);
    assert!(!job.time_left().is_zero());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_is_answered_and_a_workspace_with_one_import_goes_on_beside_one_with_many() {
    let (_data, files) = home();
    let (many, single) = (Tenant::new(&files), Tenant::new(&files));
    // As in the service, where all workspaces share one engine.
    let single = Tenant { engine: many.engine.clone(), ..single };
    let (handbook, _) = many.publish("handbook", HANDBOOK).await;
    let pass = many.pass(&[]);
    let stop = CancellationToken::new();
    let jobs: Vec<Job<'_>> =
        (0..3).map(|_| Job::new(&pass, &many.budget, Duration::from_secs(600), stop.clone(), None)).collect();
    let texts = long(&many, 4_000);
    let imports = jobs.iter().map(|job| many.engine.index(job, (Id::new(&many.clock), "v1"), &texts));
    let imports = futures_util::future::join_all(imports);
    let others = async {
        let (_, (chunks, _)) = single.publish("notes", HANDBOOK).await;
        assert_eq!(chunks, 5, "it does not wait for the end of theirs");
        let found = many.find(&[&handbook], "spare part of the pump").await;
        assert_eq!((found.matches[0].source_file.as_str(), found.degraded), ("parts.txt", None));
        stop.cancel();
    };
    let (ended, ()) = tokio::join!(imports, others);
    assert!(ended.iter().all(|ended| ended.as_ref().is_err_and(|error| error.code == Code::QueryTimeout)));
}

/// Set for the process that is to be killed.
const CHILD: &str = "DRAGOMAN_TEST_CHILD";

/// Publishes one dataset and searches it, builds another without publishing it, says so, and waits to be killed.
async fn work_until_killed() -> ! {
    let files = Files::new(Path::new("data")).unwrap();
    let tenant = Tenant::new(&files);
    let (published, _) = tenant.publish("published", HANDBOOK).await;
    assert_eq!(tenant.find(&[&published], "pump").await.matches.len(), 5, "its shard is open from here on");
    let unpublished: Id<Dataset> = Id::new(&tenant.clock);
    let _staged = tenant.index(unpublished, &tenant.documents(HANDBOOK)).await;
    println!("\nREADY {} {} {unpublished}", tenant.org.id, published.id);
    std::future::pending().await
}

#[tokio::test]
async fn a_killed_process_loses_nothing_published_and_publishes_nothing_else() {
    // The child is this very test in a process of its own.
    if std::env::var_os(CHILD).is_some() {
        work_until_killed().await;
    }
    let home = tempfile::tempdir().unwrap();
    let name = "search::a_killed_process_loses_nothing_published_and_publishes_nothing_else";
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "1")
        .current_dir(home.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let ready = lines.map(Result::unwrap).find(|line| line.starts_with("READY ")).expect("the child did its work");
    // SIGKILL: no destructor of the child runs.
    child.kill().unwrap();
    child.wait().unwrap();

    let ids: Vec<&str> = ready.split(' ').collect();
    let files = Files::new(&home.path().join("data")).unwrap();
    let org = Org {
        id: ids[1].parse().unwrap(),
        slug: "acme".into(),
        name: "Acme".into(),
        connectivity_enabled: true,
        created_at: 0,
    };
    let tenant = Tenant::of(org, Clock::system(), &files);
    let published = tenant.dataset(ids[2].parse().unwrap(), "published");
    let found = tenant.find(&[&published], "XQ-7741").await;
    assert_eq!((found.matches[0].source_file.as_str(), found.matches.len(), found.degraded), ("parts.txt", 5, None));

    assert!(!tenant.place(ids[3].parse().unwrap()).exists());
    let staging = home.path().join("data/workspaces").join(ids[1]).join("staging");
    assert!(staging.read_dir().unwrap().next().is_some(), "the child was killed between build and publication");
    files.sweep_staging().unwrap();
    assert!(!staging.exists());
}
