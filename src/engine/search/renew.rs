//! Another encoder, the same texts: where the vectors of an index are not of its workspace's encoder, they are made anew in
//! the background, of the texts that the index itself has; where the index is no good, all of it (`rebuild.rs`). Until the last is made the index of before answers. The new one
//! then takes its place in one step, under the same version: a process that dies before leaves the one that was there, and
//! the next begins again.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio_util::sync::CancellationToken;

use crate::base::id::Id;
use crate::engine::search::SearchEngine;
use crate::engine::search::backend::Key;
use crate::engine::search::embed::{Encoder, Purpose};
use crate::engine::search::manifest::Owner;
use crate::engine::search::shards::blocking;
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Error, Result};
use crate::store::{self, Db};

/// How often it is looked for indexes that have to be made anew.
const EVERY: Duration = Duration::from_secs(60);

/// How far an index is made anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Renewal {
    /// Chunks that are done, and all of them, as far as that is known; 0 before its turn has come.
    pub done: u64,
    pub of: u64,
}

/// What is being made anew, or is about to be.
#[derive(Clone, Default)]
pub(super) struct Renewals {
    known: Arc<Mutex<HashMap<Id<Dataset>, Renewal>>>,
    /// Who takes chunks over by their numbers shares it; who puts another index in a place has it alone.
    places: Arc<RwLock<()>>,
}

impl Renewals {
    pub(super) fn set(&self, dataset: Id<Dataset>, renewal: Renewal) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(dataset, renewal);
    }

    fn end(&self, dataset: Id<Dataset>) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(&dataset);
    }

    fn get(&self, dataset: Id<Dataset>) -> Option<Renewal> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&dataset).copied()
    }

    /// While it is held, every index stays what it is.
    pub(super) async fn hold(&self) -> RwLockReadGuard<'_, ()> {
        self.places.read().await
    }

    pub(super) async fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.places.write().await
    }
}

/// What became of the indexes that were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Renewed {
    /// Those that got new vectors, that were built anew of their texts, and that are still to be mended.
    pub encoded: usize,
    pub rebuilt: usize,
    pub failed: usize,
    /// Those of which it cannot be told for now whether they are sound: a server does not answer, or the encoder fails.
    pub unknown: usize,
    /// Those that were written for no version, or for one that is no more, and are gone now.
    pub removed: usize,
}

impl SearchEngine {
    /// Until it is told to stop: makes every index anew that is damaged or cut otherwise, and the vectors of those that are
    /// of another encoder than their workspace's, one index at a time, and looks again after a while, or when something
    /// cannot be read. What fails is logged, and tried again then.
    pub async fn keep_renewing(&self, db: &Db, stop: &CancellationToken) {
        // One whose reading still fails is not made anew over and over.
        let mut tried = HashSet::new();
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                done = self.renew_all(db, &mut tried) => if let Err(problem) = done {
                    tracing::warn!(%problem, "it could not be found which indexes are to be made anew");
                },
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.homes.shards.failed() => {}
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    /// How far an index is made anew; `None` where it is sound and of its workspace's encoder, as far as is known.
    pub fn renewal(&self, dataset: Id<Dataset>) -> Option<Renewal> {
        self.renewals.get(dataset)
    }

    /// Makes anew what has to be, once.
    ///
    /// # Errors
    /// The metadata cannot be read.
    pub async fn renew_once(&self, db: &Db) -> Result<Renewed> {
        self.renew_all(db, &mut HashSet::new()).await
    }

    async fn renew_all(&self, db: &Db, tried: &mut HashSet<Key>) -> Result<Renewed> {
        let mut renewed = Renewed::default();
        for org in store::orgs::list(db.pool()).await? {
            let datasets = store::datasets::list(&mut db.read_tenant(org.id).await?, org.id).await?;
            let keys: Vec<Key> = datasets.iter().filter_map(key).collect();
            if keys.is_empty() {
                continue;
            }
            let encoder = async {
                let encoder = self.encoders.of_workspace(org.id).await?;
                // One that cannot be loaded or reached makes nothing anew.
                Ok::<_, Error>((encoder.identity().await?, encoder))
            };
            let Ok((identity, encoder)) = encoder.await else {
                renewed.unknown += keys.len();
                continue;
            };
            let mut wanting = Vec::new();
            for key in keys {
                let has_failed = self.homes.shards.has_failed(&key) && tried.insert(key.clone());
                // What cannot be told now is looked at the next time.
                let looked = async { self.homes.of(&key).await?.encoder(&key).await };
                let Ok(of) = looked.await else {
                    renewed.unknown += 1;
                    continue;
                };
                let of = of.filter(|_| !has_failed);
                if of.as_ref() == Some(&identity) {
                    self.renewals.end(key.owner.dataset);
                } else {
                    self.renewals.set(key.owner.dataset, Renewal::default());
                    wanting.push((key, of.is_some()));
                }
            }
            for (key, is_sound) in wanting {
                let dataset = key.owner.dataset;
                let (made, count) = match is_sound {
                    true => (self.renew(&key, &encoder, &identity).await, &mut renewed.encoded),
                    false => (self.rebuild(db, &key, encoder.clone()).await, &mut renewed.rebuilt),
                };
                let made = match made {
                    Ok(()) => self.take_back_erased(db, &key).await,
                    failed => failed,
                };
                match made {
                    Ok(()) => {
                        *count += 1;
                        tracing::info!(%dataset, encoder = encoder.name(), is_sound, "an index was made anew");
                    }
                    Err(problem) => {
                        renewed.failed += 1;
                        tracing::warn!(%dataset, %problem, "an index could not be made anew; tried again later");
                    }
                }
                self.renewals.end(dataset);
            }
        }
        Ok(renewed)
    }

    async fn renew(&self, key: &Key, encoder: &Encoder, identity: &str) -> Result<()> {
        let Owner { org, dataset } = key.owner;
        let index = self.homes.of(key).await?;
        let numbers = index.numbers(key).await?;
        let of = numbers.len() as u64;
        let dimension = encoder.dimension(Purpose::Passage).await?;
        let mut draft = self.homes.next(org).await?.begin(key, identity.to_owned(), dimension).await?;
        let mut done = 0;
        self.renewals.set(dataset, Renewal { done, of });
        for batch in numbers.chunks(encoder.model().batch()) {
            let stored = index.read(key, batch.to_vec()).await?;
            let pairs = index.pairs(key, batch.to_vec()).await?;
            done += stored.len() as u64;
            let turn = self.encoders.import_turn(org).await?;
            let encoder = encoder.clone();
            draft = blocking(move || {
                let _turn = turn;
                let texts: Vec<String> = stored.iter().map(|(_, stored)| stored.searchable()).collect();
                let vectors = encoder.passages(&texts)?;
                let points = stored.into_iter().zip(vectors).zip(pairs);
                let points = points.map(|(((_, stored), dense), (_, sparse))| (stored, dense, sparse)).collect();
                draft.add(points)?;
                Ok(draft)
            })
            .await?;
            self.renewals.set(dataset, Renewal { done, of });
        }
        let sealed = blocking(move || draft.seal()).await?;
        let _alone = self.renewals.alone().await;
        if !self.homes.of(key).await?.holds(key).await? {
            return Err(Error::internal("the version was removed while its vectors were made anew"));
        }
        self.homes.put(key, sealed).await
    }

    /// After an index was put in a place: removes it where its version is gone. Who erases one removes what is in its place
    /// once the metadata name it no more; what came there later would stay.
    ///
    /// # Errors
    /// The version is gone, or it cannot be told.
    pub(super) async fn take_back_erased(&self, db: &Db, key: &Key) -> Result<()> {
        if is_named(db, key).await? {
            return Ok(());
        }
        self.homes.of(key).await?.remove(key).await?;
        Err(Error::internal("the version was removed while its index was made anew"))
    }
}

/// Whether the metadata name a version.
pub(super) async fn is_named(db: &Db, key: &Key) -> Result<bool> {
    let Owner { org, dataset } = key.owner;
    let mut read = db.read_tenant(org).await?;
    store::dataset_versions::is_there(&mut read, org, dataset, &key.version).await
}

/// Where the chunks of a dataset of documents are.
fn key(dataset: &Dataset) -> Option<Key> {
    let owner = Owner { org: dataset.org, dataset: dataset.id };
    (dataset.kind == Kind::Documents).then(|| Some(Key { owner, version: dataset.version.clone()? }))?
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::search::embed::Encoders;
    use crate::engine::search::embed::local::tests::folder;
    use crate::engine::search::manifest;
    use crate::engine::search::tests::World;

    fn key_of(world: &World, dataset: &Dataset) -> Key {
        let owner = Owner { org: world.org.id, dataset: dataset.id };
        Key { owner, version: "v1".into() }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_index_of_before_answers_until_the_new_one_takes_its_place() {
        let mut world = World::new();
        let dataset = world.published("notes", &["late planes", "bread late", "planes bread"]).await;
        let model = folder("bert", json!({}));
        world.engine.encoders = Encoders::in_folder(model.path().to_owned());
        let place = world.place(&dataset);
        let built_in = manifest::encoder(&place).unwrap();
        let before = world.find(&[&dataset], "late planes").await;
        assert_eq!((before.matches.len(), &before.degraded), (3, &None), "by the built-in encoder's own vectors");
        assert_eq!(before.matches[0].text, "late planes");

        let encoder = world.engine.encoders.of_workspace(world.org.id).await.unwrap();
        let identity = encoder.identity().await.unwrap();
        assert_ne!(built_in, identity);
        let key = key_of(&world, &dataset);
        world.engine.renew(&key, &encoder, &identity).await.unwrap();
        assert_eq!(world.engine.renewal(dataset.id), Some(Renewal { done: 3, of: 3 }));
        assert_eq!(manifest::encoder(&place).unwrap(), identity);
        let after = world.find(&[&dataset], "late planes").await;
        assert_eq!((after.matches.len(), &after.degraded), (3, &None), "by the model's vectors");
        assert_eq!(after.matches[0].text, "late planes");
        let ids = |found: &crate::engine::search::Found| {
            let mut ids: Vec<String> = found.matches.iter().map(|one| one.id.to_string()).collect();
            ids.sort();
            ids
        };
        assert_eq!(ids(&after), ids(&before), "chunks keep their names");
        let staged = std::fs::read_dir(place.ancestors().nth(3).unwrap().join("staging")).unwrap().count();
        assert_eq!(staged, 0, "the old index is gone");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_index_that_gets_its_place_after_its_version_was_erased_goes_again() {
        let world = World::new();
        let (dataset, erased) =
            (world.published("notes", &["late planes"]).await, world.published("old", &["bread"]).await);
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open_sqlite(&folder.path().join("metadata.sqlite")).await.unwrap();
        store::orgs::insert(&mut db.writer().await.unwrap(), &world.org).await.unwrap();
        let mut tx = db.tenant(world.org.id).await.unwrap();
        store::datasets::put(&mut tx, &dataset).await.unwrap();
        tx.commit().await.unwrap();
        world.engine.take_back_erased(&db, &key_of(&world, &dataset)).await.unwrap();
        assert!(world.engine.take_back_erased(&db, &key_of(&world, &erased)).await.is_err());
        assert!(world.place(&dataset).exists() && !world.place(&erased).exists());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_ends_before_its_end_leaves_the_index_that_was_there() {
        let mut world = World::new();
        let dataset = world.published("notes", &["late planes", "bread"]).await;
        let place = world.place(&dataset);
        let built_in = manifest::encoder(&place).unwrap();
        let model = folder("bert", json!({}));
        world.engine.encoders = Encoders::in_folder(model.path().to_owned());
        let encoder = world.engine.encoders.of_workspace(world.org.id).await.unwrap();
        let key = key_of(&world, &dataset);
        // Nobody gets a turn while an import has all of them.
        let mut held = vec![];
        while let Ok(turn) = tokio::time::timeout(Duration::ZERO, world.engine.encoders.import_turn(world.org.id)).await
        {
            held.push(turn.unwrap());
        }
        let renewing = world.engine.renew(&key, &encoder, "new");
        assert!(tokio::time::timeout(Duration::from_millis(300), renewing).await.is_err(), "stopped on its way");
        drop(held);
        assert_eq!(manifest::encoder(&place).unwrap(), built_in);
        assert_eq!(world.find(&[&dataset], "late planes").await.degraded, None);
        // A version that was replaced meanwhile.
        std::fs::remove_dir_all(&place).unwrap();
        world.engine.forget(world.org.id, dataset.id, "v1");
        assert!(world.engine.renew(&key, &encoder, "new").await.is_err());
        assert!(!place.exists());
    }
}
