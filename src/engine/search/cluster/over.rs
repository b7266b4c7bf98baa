//! An index that goes on with another: it has the points of that one, but for documents that do not stay, and writes what
//! is new alone. Where the chain of builds has become too long, its last parts are written anew; where too many documents
//! were taken away, all of it.

use std::collections::{BTreeSet, HashSet};

use super::draft::Points;
use super::server::{Scope, Wanted};
use super::wire::vectors;
use super::{Cluster, numbers, told};
use crate::base::id::Id;
use crate::engine::search::analysis;
use crate::engine::search::backend::{Draft, Key, Over};
use crate::engine::search::manifest::Owner;
use crate::engine::search::shard::Among;
use crate::model::cluster_index::{ClusterIndex, Standing};
use crate::model::document::Document;
use crate::model::error::Result;
use crate::store;

impl Cluster {
    /// See the module; nothing where the earlier version is not whole here, and where all of it is to be written anew.
    pub(super) async fn over(&self, key: &Key, earlier: &Key, stay: &HashSet<Id<Document>>) -> Result<Option<Over>> {
        let Some(before) = self.at(earlier).await? else { return Ok(None) };
        let (scope, lasting) = (Scope::of(&before), before.lasting());
        if lasting == 0 || before.terms != analysis::IDENTITY {
            return Ok(None);
        }
        if self.server.count(&scope).await.map_err(told)? != before.points {
            return Ok(None);
        }
        let first = self.server.read(&scope, Among::Those(&[]), 1, Wanted::Dense).await.map_err(told)?;
        let first = first.into_iter().next().and_then(|point| vectors(point.vectors).0);
        let Some(dimension) = first.map(|vector| vector.len()) else { return Ok(None) };
        let anew = match Scope::since(&before, lasting) {
            Some(last) => numbers(&self.server, &last, &[], usize::MAX).await.map_err(told)?,
            None => Vec::new(),
        };

        let (build, takes) = (Id::new(&self.clock), self.taken(earlier, stay).await?);
        let mut index = ClusterIndex {
            build,
            version: key.version.clone(),
            points: 0,
            chain: before.followed(build, lasting, takes),
            standing: Standing::Written,
            touched_at: self.clock.now(),
            ..before.clone()
        };
        index.points = self.server.count(&Scope::of(&index)).await.map_err(told)?;
        index.chain.kept = index.points;
        let bytes = self.bytes(earlier).await?;
        let bytes = u128::from(bytes) * u128::from(index.points) / u128::from(before.points.max(1));

        // From when its row is there, points that it has stay, whatever becomes of the earlier version.
        let mut tx = self.db.tenant(index.org).await?;
        let all = store::cluster_indexes::of_dataset(&mut tx, index.org, index.dataset).await?;
        index.chain = index.chain.shortened(&all);
        let is_there = all.iter().any(|one| one.build == before.build && one.standing == Standing::Placed);
        if !is_there || !index.chain.is_light() {
            return Ok(None);
        }
        store::cluster_indexes::insert(&mut tx, &ClusterIndex { points: 0, ..index.clone() }).await?;
        tx.commit().await?;
        let draft = Points::new(self.clone(), index, dimension, bytes as u64);
        Ok(Some((Box::new(draft) as Box<dyn Draft>, anew)))
    }

    /// The documents of a version that do not stay.
    async fn taken(&self, earlier: &Key, stay: &HashSet<Id<Document>>) -> Result<BTreeSet<Id<Document>>> {
        let Owner { org, dataset } = earlier.owner;
        let mut read = self.db.read_tenant(org).await?;
        let all = store::documents::outlines(&mut read, org, dataset, &earlier.version).await?;
        Ok(all.into_iter().map(|outline| outline.id).filter(|id| !stay.contains(id)).collect())
    }

    /// The bytes of a version, as far as they can be told.
    async fn bytes(&self, earlier: &Key) -> Result<u64> {
        let Owner { org, dataset } = earlier.owner;
        let all = store::dataset_versions::list(&mut self.db.read_tenant(org).await?, org, dataset).await?;
        let version = all.into_iter().find(|one| one.version == earlier.version);
        Ok(version.map_or(0, |version| u64::try_from(version.bytes).unwrap_or_default()))
    }
}
