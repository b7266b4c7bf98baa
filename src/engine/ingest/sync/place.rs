//! What is listed and then read one by one: pages of a site, files of a folder, objects of a bucket. What is known of each is
//! kept beside the sync ([`crate::store::sync_marks`]), so that what did not change is not read again, also by a run that goes on
//! where another broke off, or where it let others go first itself.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use url::Url;

use super::{Ingest, Run, Synced, TURN};
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::base::outbound::{self, Refused, Trusted};
use crate::base::secret::MasterKey;
use crate::config::{Config, PrivateSite, SyncFolder};
use crate::engine::ingest::SourceFile;
use crate::engine::job::Job;
use crate::model::document::{Document, ParsedDocument};
use crate::model::error::{Code, Error, Result};
use crate::model::sync::{DocumentSync, Mark};
use crate::store;

/// Things of one place that may be kept as documents.
pub(super) const MOST: usize = 20_000;
/// How long what was read may wait until it is published.
const WAIT: Millis = 60_000;
/// After so many things in a row for which a place did not answer, a run gives up.
const GIVE_UP: usize = 10;
/// How many of what could not be read are named, and how many notes there are when no more is told of parts.
const NAMED: usize = 3;
const NOTES: usize = 10;

/// What there is beside the tables of workspaces, and who asks there.
pub struct Places {
    pub(super) private_sites: Vec<PrivateSite>,
    pub(super) folders: Vec<SyncFolder>,
    /// What sites are told of us (RFC 9110 §10.1.5).
    pub(super) agent: String,
    /// Seals the secrets of access keys.
    pub(super) master: MasterKey,
    /// When each origin may be asked again: by one run at a time, whichever workspaces keep documents from it.
    turns: Mutex<HashMap<String, Arc<tokio::sync::Mutex<Instant>>>>,
}

impl Places {
    pub fn new(config: &Config, master: MasterKey) -> Self {
        Self {
            private_sites: config.sync_private_sites.clone(),
            folders: config.sync_folders.clone(),
            agent: format!("dragoman (+{})", config.issuer()),
            master,
            turns: Mutex::default(),
        }
    }

    /// The turns at an origin.
    pub(super) fn turn(&self, origin: String) -> Arc<tokio::sync::Mutex<Instant>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        let new = || Arc::new(tokio::sync::Mutex::new(Instant::now()));
        turns.entry(origin).or_insert_with(new).clone()
    }
}

/// A client for the origin of an address that a member named: of a public one, or of one that the operator has opened for
/// their workspace; `None` for any other.
pub(super) async fn client(on: &Ingest, job: &Job<'_>, url: &Url) -> Result<Option<reqwest::Client>> {
    let workspace = store::orgs::by_id(on.db.pool(), job.pass.org()).await?.map(|org| org.slug);
    let private = on.places.private_sites.iter().filter(|private| Some(&private.workspace) == workspace.as_ref());
    let private: Vec<Trusted> = private.map(|private| private.site.clone()).collect();
    match job.wait(outbound::site_client(url, &private)).await? {
        Ok(client) => Ok(Some(client)),
        Err(Refused::Failed(why)) => Err(Error::internal(why)),
        Err(_) => Ok(None),
    }
}

/// Sends a request through such a client, and waits for so long for so many bytes.
pub(super) async fn send(
    job: &Job<'_>,
    client: &reqwest::Client,
    request: http::Request<Vec<u8>>,
    most: usize,
    time: Duration,
) -> Result<std::result::Result<http::Response<Vec<u8>>, Refused>> {
    let asked = tokio::time::timeout(time, outbound::exchange(client, request, most));
    Ok(job.wait(asked).await?.unwrap_or_else(|_| Err(Refused::Failed("out of time".into()))))
}

/// A place that does not give what is asked of it.
pub(super) fn unavailable(message: String) -> Error {
    Error::new(Code::SourceUnavailable, message)
}

/// Where things are read.
pub(super) trait Place: Send {
    /// What parts the name of a thing from the name of what is within it, where it holds several documents.
    const WITHIN: char;

    /// Reads one, of which `known` was found when it was read before.
    ///
    /// # Errors
    /// Only what ends the whole run.
    fn read(&mut self, job: &Job<'_>, item: &Item, known: Option<&Mark>)
    -> impl Future<Output = Result<Looked>> + Send;
}

/// A thing as its place lists it.
pub(super) struct Item {
    /// What its document is called.
    pub name: String,
    /// The same as a file would be called.
    pub file: String,
    /// As long as the place says this of it, it is not looked at again; `None` where it says nothing.
    pub stamp: Option<String>,
}

/// What there is.
pub(super) struct Listed {
    pub items: Vec<Item>,
    /// What was left out and why, for people.
    pub notes: Vec<String>,
}

/// What became of reading one.
pub(super) enum Looked {
    Same,
    New(Vec<u8>, Mark),
    Gone,
    /// It stays as it was; why, for people.
    Failed(String),
    /// It stays as it was since its host did not answer.
    Silent {
        host: String,
        why: String,
    },
}

/// A run over a place.
struct Following<'a> {
    run: Run<'a>,
    /// What was known when it began, by name.
    known: HashMap<String, Mark>,
    /// What is known of what was read since the last publication; `None` of what is gone.
    marks: Vec<(String, Option<Mark>)>,
    published_at: Millis,
    /// Things in a row, up to the last, for which there was no answer.
    silent: usize,
    /// What people are told of the place, and of the first things that could not be read.
    failures: usize,
    told: Vec<String>,
}

/// Brings documents up to the things of a place.
pub(super) async fn follow<P: Place>(
    on: &Ingest,
    job: &Job<'_>,
    run: Run<'_>,
    place: &mut P,
    Listed { mut items, notes }: Listed,
) -> Result<Synced> {
    let org = job.pass.org();
    let known = store::sync_marks::list(&mut on.db.read_tenant(org).await?, org, &run.sync.name).await?;
    let mut documents = documents(on.outlines(job, &run.sync.name).await?, &known, P::WITHIN);
    // A run that ends before its end has looked at those that nobody knows, and then at those that waited longest.
    let looked_at = |item: &Item| known.get(&item.name).map_or(Millis::MIN, |mark| mark.looked_at);
    // In an earlier turn of the same run.
    let is_done = |item: &Item| known.get(&item.name).is_some_and(|mark| mark.run == run.sync.run.job_id);
    items.sort_by_key(|item| (is_done(item), looked_at(item)));
    let (left, looked) = items.split_at(items.partition_point(|item| !is_done(item)));
    let (began_at, run) = (on.clock.now(), Run { done: looked.len(), of: items.len(), ..run });
    let mut this = Following { run, known, marks: vec![], published_at: began_at, silent: 0, failures: 0, told: notes };
    for item in looked {
        if let Some(mark) = this.known.get(&item.name).cloned() {
            this.tell(item, &mark);
        }
    }
    let listed: HashSet<&str> = items.iter().map(|item| item.name.as_str()).collect();
    for name in this.known.keys().filter(|name| !listed.contains(name.as_str())) {
        this.run.gone.extend(documents.remove(name).into_iter().flat_map(BTreeMap::into_values));
        this.marks.push((name.clone(), None));
    }
    let staging = on.staging(org)?;
    for item in left {
        job.check()?;
        this.run.done += 1;
        let texts = documents.get(&item.name);
        let before = this.known.get(&item.name).filter(|_| texts.is_some()).cloned();
        if item.stamp.is_some() && before.as_ref().is_some_and(|before| before.stamp == item.stamp) {
            continue;
        }
        job.says(this.run.share(this.run.done - 1), format!("Reading {}", item.name));
        match place.read(job, item, before.as_ref()).await.and_then(|looked| this.heard(looked)) {
            Ok(Looked::New(bytes, mark)) => {
                let file = SourceFile { name: item.file.clone(), path: staging.path().join("item") };
                tokio::fs::write(&file.path, bytes).await.map_err(Error::internal)?;
                match on.texts(job, &file, &item.name, P::WITHIN).await {
                    Ok((read, skipped)) => {
                        let left_out = skipped.iter().take(NOTES).map(|why| why.trim_end_matches('.').to_owned());
                        let (looked_at, left_out) = (on.clock.now(), left_out.collect());
                        this.take(item, Mark { looked_at, left_out, ..mark }, read, texts);
                    }
                    Err(error) if is_of_the_file(&error) => this.failed(item, before, &error.message, on.clock.now()),
                    Err(error) => return Err(error),
                }
            }
            Ok(Looked::Same) => {
                let Mark { etag, modified, .. } = before.unwrap_or_default();
                let (stamp, looked_at) = (item.stamp.clone(), on.clock.now());
                this.looked(item, Mark { stamp, etag, modified, looked_at, ..Mark::default() });
            }
            Ok(Looked::Gone) => {
                this.run.gone.extend(texts.into_iter().flat_map(BTreeMap::values));
                this.looked(item, Mark { looked_at: on.clock.now(), is_empty: true, ..Mark::default() });
            }
            Ok(Looked::Failed(why) | Looked::Silent { why, .. }) => this.failed(item, before, &why, on.clock.now()),
            Err(error) => {
                // What was read need not be read again.
                if job.check().is_ok() {
                    this.publish(on, job, false).await?;
                }
                return Err(error);
            }
        }
        if this.run.is_full() || on.clock.now() - this.published_at >= WAIT {
            this.publish(on, job, false).await?;
        }
        if on.clock.now() - began_at >= TURN && this.run.done < this.run.of {
            this.publish(on, job, false).await?;
            return Ok(this.run.left(None));
        }
    }
    this.publish(on, job, true).await?;
    Ok(Synced { message: this.message(), cursor: None, left_at: None })
}

impl Following<'_> {
    /// What became of one.
    ///
    /// # Errors
    /// `source_unavailable` after [`GIVE_UP`] things in a row without an answer.
    fn heard(&mut self, looked: Looked) -> Result<Looked> {
        self.silent = if matches!(looked, Looked::Silent { .. }) { self.silent + 1 } else { 0 };
        match looked {
            Looked::Silent { host, why } if self.silent == GIVE_UP => {
                Err(unavailable(format!("{host} did not answer for {GIVE_UP} of them one after the other: {why}.")))
            }
            looked => Ok(looked),
        }
    }

    /// Takes over what a thing holds now; documents that it held before, and does no more, go.
    fn take(
        &mut self,
        item: &Item,
        mark: Mark,
        read: Vec<ParsedDocument>,
        before: Option<&BTreeMap<String, Id<Document>>>,
    ) {
        let names: HashSet<&str> = read.iter().map(|document| document.source_file.as_str()).collect();
        let left = before.into_iter().flatten().filter(|(name, _)| !names.contains(name.as_str()));
        self.run.gone.extend(left.map(|(_, id)| *id));
        self.looked(item, Mark { stamp: item.stamp.clone(), ..mark });
        read.into_iter().for_each(|document| self.run.take(document));
    }

    /// It could not be read now: what was known of it `before` holds.
    fn failed(&mut self, item: &Item, before: Option<Mark>, why: &str, looked_at: Millis) {
        let failed = Some(why.trim_end_matches('.').to_owned());
        let before = before.unwrap_or(Mark { is_empty: true, ..Mark::default() });
        self.looked(item, Mark { looked_at, failed, left_out: vec![], ..before });
    }

    /// Keeps what is known of a thing now.
    fn looked(&mut self, item: &Item, mark: Mark) {
        self.tell(item, &mark);
        self.marks.push((item.name.clone(), Some(Mark { run: self.run.sync.run.job_id.clone(), ..mark })));
    }

    /// Tells of what could not be read, of the first of it.
    fn tell(&mut self, item: &Item, mark: &Mark) {
        if let Some(why) = &mark.failed {
            self.failures += 1;
            if self.failures <= NAMED {
                self.told.push(format!("{}: {why}", item.name));
            }
        }
        let room = NOTES.saturating_sub(self.told.len());
        self.told.extend(mark.left_out.iter().take(room).cloned());
    }

    /// What was left out or could not be read; nothing when all was.
    fn message(&self) -> String {
        let (told, of) = (self.told.join("; "), self.run.of);
        match (self.failures, told.is_empty()) {
            (_, true) => String::new(),
            (0, false) => format!("{told}."),
            (failures, false) => format!("{failures} of {of} could not be read and stay as they were. {told}."),
        }
    }

    async fn publish(&mut self, on: &Ingest, job: &Job<'_>, is_last: bool) -> Result<()> {
        let marks = std::mem::take(&mut self.marks);
        if !is_last && marks.is_empty() {
            return Ok(());
        }
        // Whose a document is is kept before it is there: otherwise one whose run ends in between would stay for ever.
        let is_ours = |mark: &Mark| !mark.is_empty;
        let is_known = |item: &String| self.known.get(item).is_some_and(is_ours);
        let fresh = marks.iter().filter(|(item, mark)| mark.as_ref().is_some_and(is_ours) && !is_known(item));
        let fresh = fresh.map(|(item, _)| (item.clone(), Some(Mark::default()))).collect();
        keep(on, self.run.sync, fresh).await?;
        self.run.publish(on, job, is_last).await?;
        self.published_at = on.clock.now();
        keep(on, self.run.sync, marks).await
    }
}

impl Ingest {
    /// The documents of one file, under the name of the thing that it is.
    async fn texts(
        &self,
        job: &Job<'_>,
        file: &SourceFile,
        name: &str,
        within: char,
    ) -> Result<(Vec<ParsedDocument>, Vec<String>)> {
        let (read, skipped) = self.read(&job.quiet(), std::slice::from_ref(file)).await?;
        let named = read.into_iter().map(|(_, document)| {
            let mut document = Arc::unwrap_or_clone(document);
            let inner = document.source_file.strip_prefix(&file.name).unwrap_or_default().trim_start_matches('/');
            document.source_file = match inner {
                "" => name.to_owned(),
                inner => format!("{name}{within}{inner}"),
            };
            document
        });
        Ok((named.collect(), skipped))
    }
}

/// Keeps what is known of things, `None` of what is gone.
///
/// # Errors
/// As [`Ingest::held`].
async fn keep(on: &Ingest, sync: &DocumentSync, marks: Vec<(String, Option<Mark>)>) -> Result<()> {
    let (org, name) = (sync.org, sync.name.as_str());
    let mut tx = on.held(sync).await?;
    for (item, mark) in marks {
        match mark {
            Some(mark) => store::sync_marks::put(&mut tx, org, name, &item, &mark).await?,
            None => store::sync_marks::remove(&mut tx, org, name, &item).await?,
        }
    }
    Ok(tx.commit().await?)
}

/// Documents by the thing that they are of, and then by their own names; those of none are not ours.
fn documents(
    outlines: Vec<store::documents::Outline>,
    known: &HashMap<String, Mark>,
    within: char,
) -> HashMap<String, BTreeMap<String, Id<Document>>> {
    let mut documents: HashMap<String, BTreeMap<String, Id<Document>>> = HashMap::new();
    for outline in outlines {
        let name = outline.source_file;
        let holders = name.match_indices(within).filter_map(|(at, _)| name.get(..at));
        let is_ours = |holder: &&str| known.get(*holder).is_some_and(|mark| !mark.is_empty);
        let holder = std::iter::once(name.as_str()).chain(holders).find(is_ours);
        if let Some(holder) = holder.map(str::to_owned) {
            documents.entry(holder).or_default().insert(name, outline.id);
        }
    }
    documents
}

/// Whether an error says what is wrong with a file, and nothing of the run.
fn is_of_the_file(error: &Error) -> bool {
    matches!(error.code, Code::InvalidArgument | Code::LimitExceeded | Code::FileTooLarge)
}

/// A list that names more than may be kept.
pub(super) fn too_many(limit: &str, message: String, most: usize) -> Error {
    Error::new(Code::LimitExceeded, message).with(json!({ "limit": limit, "max": most }))
}
