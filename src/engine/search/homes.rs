//! Two places for indexes: shards in the data folder, and a Qdrant server. A version is on the server where the metadata
//! say so, and in the folder otherwise; a new one is written where its workspace's are written. So a workspace can be moved
//! from the one to the other a version at a time, while both answer.

use crate::base::id::Id;
use crate::engine::search::backend::{Answer, Index, Key, Query, Sealed, What};
use crate::engine::search::cluster::Cluster;
use crate::engine::search::shards::Shards;
use crate::model::cluster_index::Home;
use crate::model::error::Result;
use crate::model::org::Org;

/// See the module; clones share what is open.
#[derive(Clone)]
pub(super) struct Homes {
    pub shards: Shards,
    /// `None` where no server is set.
    pub cluster: Option<Cluster>,
}

impl Homes {
    /// Where a version is, if it is anywhere.
    pub(super) async fn of(&self, key: &Key) -> Result<&dyn Index> {
        match &self.cluster {
            Some(cluster) if cluster.holds(key).await? => Ok(cluster),
            _ => Ok(&self.shards),
        }
    }

    /// Where the next version of a workspace is written.
    pub(super) async fn next(&self, org: Id<Org>) -> Result<&dyn Index> {
        match &self.cluster {
            Some(cluster) if cluster.home(org).await? == Home::Cluster => Ok(cluster),
            _ => Ok(&self.shards),
        }
    }

    /// The candidates of each, in the order of the keys. One that fails does not spoil the others.
    pub(super) async fn find(&self, keys: &[Key], query: &Query) -> Vec<Result<Answer>> {
        let Some(cluster) = &self.cluster else { return self.shards.find(keys, query).await };
        let placed = match cluster.of(keys).await {
            Ok(placed) => placed,
            Err(error) => return keys.iter().map(|_| Err(error.clone())).collect(),
        };
        let is_there: Vec<bool> = placed.iter().map(Option::is_some).collect();
        let others = keys.iter().zip(&is_there).filter(|(_, is_there)| !**is_there);
        let here: Vec<Key> = others.map(|(key, _)| key.clone()).collect();
        let there = cluster.find(placed.into_iter().flatten().collect(), query);
        let (there, here) = tokio::join!(there, self.shards.find(&here, query));
        let (mut there, mut here) = (there.into_iter(), here.into_iter());
        is_there.iter().filter_map(|is_there| if *is_there { there.next() } else { here.next() }).collect()
    }

    /// Gives a sealed version its place, where it was written; it has no other then.
    ///
    /// # Errors
    /// As [`Index::put`].
    pub(super) async fn put(&self, key: &Key, sealed: Sealed) -> Result<()> {
        match (&sealed.what, &self.cluster) {
            (What::Points { .. }, Some(cluster)) => {
                cluster.put(key, sealed).await?;
                self.shards.remove(key).await
            }
            // The folder answers once the server is not said to.
            (_, Some(cluster)) => {
                self.shards.put(key, sealed).await?;
                cluster.remove(key).await
            }
            (_, None) => self.shards.put(key, sealed).await,
        }
    }
}
