//! Two places for indexes: shards in the data folder, and a Qdrant server. A version is on the server where the metadata
//! say so, and in the folder otherwise; a new one is written where its workspace's are written. So a workspace can be moved
//! from the one to the other a version at a time, while both answer.

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::base::id::Id;
use crate::engine::search::backend::{Answer, Draft, Index, Key, Pair, Point, Query, Sealed, What};
use crate::engine::search::cluster::Cluster;
use crate::engine::search::manifest::Owner;
use crate::engine::search::shard::{Place, Stored};
use crate::engine::search::shards::Shards;
use crate::model::cluster_index::Home;
use crate::model::error::Result;
use crate::model::org::Org;

/// See the module.
pub(super) struct Homes {
    shards: Shards,
    cluster: Cluster,
}

impl Homes {
    pub(super) fn new(shards: Shards, cluster: Cluster) -> Self {
        Self { shards, cluster }
    }

    /// Where a version is.
    async fn of(&self, key: &Key) -> Result<&dyn Index> {
        let on_server = self.cluster.holds(std::slice::from_ref(key)).await? == [true];
        Ok(if on_server { &self.cluster } else { &self.shards })
    }

    /// Who wrote it.
    fn writer(&self, sealed: &Sealed) -> &dyn Index {
        match sealed.what {
            What::Folder { .. } => &self.shards,
            What::Points { .. } => &self.cluster,
        }
    }
}

impl Index for Homes {
    fn find<'a>(&'a self, keys: &'a [Key], query: &'a Query) -> BoxFuture<'a, Vec<Result<Answer>>> {
        Box::pin(async move {
            let on_server = match self.cluster.holds(keys).await {
                Ok(on_server) => on_server,
                Err(error) => return keys.iter().map(|_| Err(error.clone())).collect(),
            };
            let those = |wanted: bool| -> Vec<Key> {
                let all = keys.iter().zip(&on_server).filter(|(_, is)| **is == wanted);
                all.map(|(key, _)| key.clone()).collect()
            };
            let (there, here) = (those(true), those(false));
            let (there, here) = tokio::join!(self.cluster.find(&there, query), self.shards.find(&here, query));
            let (mut there, mut here) = (there.into_iter(), here.into_iter());
            on_server.iter().filter_map(|is| if *is { there.next() } else { here.next() }).collect()
        })
    }

    fn read<'a>(&'a self, key: &'a Key, points: Vec<u64>) -> BoxFuture<'a, Result<Vec<(u64, Stored)>>> {
        Box::pin(async move { self.of(key).await?.read(key, points).await })
    }

    fn places<'a>(&'a self, key: &'a Key, points: Vec<u64>) -> BoxFuture<'a, Result<Vec<(u64, Place)>>> {
        Box::pin(async move { self.of(key).await?.places(key, points).await })
    }

    fn list<'a>(&'a self, key: &'a Key, of: Vec<Value>, limit: usize) -> BoxFuture<'a, Result<Vec<(u64, Stored)>>> {
        Box::pin(async move { self.of(key).await?.list(key, of, limit).await })
    }

    fn vectors<'a>(&'a self, key: &'a Key, of: Vec<Value>, limit: usize) -> BoxFuture<'a, Result<Vec<Vec<f32>>>> {
        Box::pin(async move { self.of(key).await?.vectors(key, of, limit).await })
    }

    fn pairs<'a>(&'a self, key: &'a Key, points: Vec<u64>) -> BoxFuture<'a, Result<Vec<Pair>>> {
        Box::pin(async move { self.of(key).await?.pairs(key, points).await })
    }

    fn is_of<'a>(&'a self, key: &'a Key, encoder: String) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move { self.of(key).await?.is_of(key, encoder).await })
    }

    fn forget(&self, key: &Key) {
        self.shards.forget(key);
    }

    fn numbers<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Vec<u64>>> {
        Box::pin(async move { self.of(key).await?.numbers(key).await })
    }

    fn encoder<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<String>>> {
        Box::pin(async move { self.of(key).await?.encoder(key).await })
    }

    fn holds<'a>(&'a self, keys: &'a [Key]) -> BoxFuture<'a, Result<Vec<bool>>> {
        Box::pin(async move {
            let (there, here) = tokio::try_join!(self.cluster.holds(keys), self.shards.holds(keys))?;
            Ok(there.into_iter().zip(here).map(|(there, here)| there || here).collect())
        })
    }

    fn placed(&self) -> BoxFuture<'_, Result<Vec<Key>>> {
        Box::pin(async move {
            let (mut all, here) = tokio::try_join!(self.cluster.placed(), self.shards.placed())?;
            all.extend(here);
            Ok(all)
        })
    }

    fn is_ready(&self, org: Id<Org>) -> BoxFuture<'_, Result<()>> {
        self.cluster.is_ready(org)
    }

    fn begin<'a>(&'a self, key: &'a Key, encoder: String, dimension: usize) -> BoxFuture<'a, Result<Box<dyn Draft>>> {
        Box::pin(async move {
            match self.cluster.home(key.owner.org).await? {
                Home::Folder => self.shards.begin(key, encoder, dimension).await,
                Home::Cluster => self.cluster.begin(key, encoder, dimension).await,
            }
        })
    }

    fn written<'a>(&'a self, key: &'a Key, sealed: &'a Sealed, points: Vec<u64>) -> BoxFuture<'a, Result<Vec<Point>>> {
        self.writer(sealed).written(key, sealed, points)
    }

    fn put<'a>(&'a self, key: &'a Key, sealed: Sealed) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            match sealed.what {
                // The folder answers once the server is not said to.
                What::Folder { .. } => {
                    self.shards.put(key, sealed).await?;
                    self.cluster.remove(key).await
                }
                What::Points { .. } => {
                    self.cluster.put(key, sealed).await?;
                    self.shards.remove(key).await
                }
            }
        })
    }

    fn remove<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.shards.remove(key).await?;
            self.cluster.remove(key).await
        })
    }

    fn erase(&self, owner: Owner) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            self.shards.erase(owner).await?;
            self.cluster.erase(owner).await
        })
    }

    fn tidy(&self, is_start: bool) -> BoxFuture<'_, Result<usize>> {
        self.cluster.tidy(is_start)
    }
}
