//! What goes from the server when indexes are gone: of each build the points that no other index of the dataset has. The
//! others stay, and go with the last that has them.

use std::collections::{BTreeMap, BTreeSet};

use super::server::Scope;
use super::{Cluster, GRACE, told};
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::cluster_index::{ClusterIndex, Standing, dead};
use crate::model::dataset::Dataset;
use crate::model::document::Document;
use crate::model::error::Result;
use crate::model::org::Org;
use crate::store;

/// A build, and the documents of it that no index has any more; `None` where none has anything of it.
type Removal = (ClusterIndex, Option<BTreeSet<Id<Document>>>);

impl Cluster {
    /// Removes the points of indexes that are said to be gone, as far as no other has them, and then their rows: until
    /// those are, somebody will. The row of one that got no place stays for a while: a request with points of it may be
    /// under way, and what lands of that is removed the next time. Gives how many were removed altogether.
    pub(in crate::engine::search) async fn clear(&self, gone: &[ClusterIndex]) -> Result<usize> {
        let mut datasets: BTreeMap<(Id<Org>, Id<Dataset>), Vec<ClusterIndex>> = BTreeMap::new();
        for index in gone {
            datasets.entry((index.org, index.dataset)).or_default().push(index.clone());
        }
        let mut removed = 0;
        for ((org, dataset), gone) in datasets {
            removed += self.clear_dataset(org, dataset, &gone).await?;
        }
        Ok(removed)
    }

    async fn clear_dataset(&self, org: Id<Org>, dataset: Id<Dataset>, gone: &[ClusterIndex]) -> Result<usize> {
        let since = self.clock.now() - GRACE;
        let mut done: Vec<Removal> = Vec::new();
        loop {
            let mut tx = self.db.tenant(org).await?;
            let all = store::cluster_indexes::of_dataset(&mut tx, org, dataset).await?;
            let removals = removals(&all, gone, since);
            if removals == done {
                // Nobody has retired another meanwhile: what is removed is all that can be.
                let mut removed = 0;
                for (index, of) in &removals {
                    match of {
                        None if is_unplaced(index) && index.touched_at > since => {}
                        None => {
                            store::cluster_indexes::remove(&mut tx, org, index.build).await?;
                            removed += 1;
                        }
                        Some(_) => store::cluster_indexes::leave(&mut tx, org, index.build).await?,
                    }
                }
                tx.commit().await?;
                return Ok(removed);
            }
            // Nobody waits for the server with the database.
            drop(tx);
            for (index, of) in &removals {
                if is_any(of.as_ref()) {
                    self.server.delete(&Scope::own(index), of.as_ref()).await.map_err(told)?;
                }
            }
            done = removals;
        }
    }
}

/// Whether there is something to remove.
fn is_any(of: Option<&BTreeSet<Id<Document>>>) -> bool {
    of.is_none_or(|documents| !documents.is_empty())
}

/// Whether one that is gone never had a place, so that no search knows of it.
fn is_unplaced(index: &ClusterIndex) -> bool {
    index.points == 0
}

/// What can go of all indexes of a dataset, when these are gone, and those since before a moment. None of it can come to be
/// needed again: whoever goes on with an index has nothing that this one has not.
fn removals(all: &[ClusterIndex], gone: &[ClusterIndex], since: Millis) -> Vec<Removal> {
    let is_asked = all.iter().any(|index| matches!(index.standing, Standing::Written | Standing::Placed));
    let goes = |index: &ClusterIndex| match index.standing {
        Standing::Written | Standing::Placed => false,
        // Of others that are gone a search may still know, if the dataset is there.
        Standing::Gone => {
            let is_old = index.touched_at <= since || is_unplaced(index);
            !is_asked || is_old || gone.iter().any(|one| one.build == index.build)
        }
        Standing::Held => true,
    };
    let removal = |index: &ClusterIndex| {
        let now = dead(index.build, all.iter().filter(|&other| !goes(other)));
        // What was dead with those that go now was removed when the last before them went.
        let before = dead(index.build, all.iter().filter(|other| other.standing != Standing::Held));
        let nothing = now.is_some() && now == before;
        (index.clone(), if nothing { Some(BTreeSet::new()) } else { now })
    };
    let unknown = gone.iter().filter(|index| all.iter().all(|known| known.build != index.build));
    let removals = all.iter().filter(|&index| goes(index)).chain(unknown).map(removal);
    removals.filter(|(index, of)| index.standing != Standing::Held || is_any(of.as_ref())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::model::cluster_index::{Build, Chain};

    fn index(build: Id<Build>, chain: Chain, standing: Standing) -> ClusterIndex {
        let clock = Clock::manual(1);
        ClusterIndex {
            org: Id::new(&clock),
            build,
            dataset: Id::new(&clock),
            version: "v".into(),
            encoder: String::new(),
            terms: String::new(),
            cutter: String::new(),
            points: 9,
            chain,
            standing,
            touched_at: 100,
        }
    }

    type Told = (Id<Build>, Option<Vec<Id<Document>>>);

    fn told(removals: Vec<Removal>) -> Vec<Told> {
        let told = |(index, of): Removal| (index.build, of.map(|of| of.into_iter().collect()));
        removals.into_iter().map(told).collect()
    }

    #[test]
    fn points_go_when_no_index_has_them_and_only_then() {
        let clock = Clock::manual(1);
        let [one, two, three, four] = [(); 4].map(|()| Id::new(&clock));
        let gone_text = Id::new(&clock);
        let mut first = index(one, Chain::whole(one), Standing::Placed);
        let chain = first.followed(two, 1, BTreeSet::from([gone_text]));
        let mut second = index(two, chain, Standing::Placed);
        let third = index(three, first.followed(three, 1, BTreeSet::new()), Standing::Placed);
        let all = |of: &[&ClusterIndex]| of.iter().map(|&index| index.clone()).collect::<Vec<_>>();

        assert!(removals(&all(&[&first, &second]), &[], 0).is_empty(), "both are asked");
        first.standing = Standing::Gone;
        assert!(removals(&all(&[&first, &second]), &[], 99).is_empty(), "it was just said to be gone");
        let removed = removals(&all(&[&first, &second]), &[], 100);
        assert_eq!(told(removed), [(one, Some(vec![gone_text]))], "the text that it alone has");
        let given = removals(&all(&[&first, &second]), &all(&[&first]), 0);
        assert_eq!(told(given), [(one, Some(vec![gone_text]))], "whoever says that it is gone does not wait");
        let branched = removals(&all(&[&first, &second, &third]), &[], 100);
        assert_eq!(told(branched), [(one, Some(vec![]))], "a version that goes on from the first has it too");

        first.standing = Standing::Held;
        assert!(removals(&all(&[&first, &second]), &[], 100).is_empty(), "nothing is removed twice");
        second.standing = Standing::Gone;
        let last = removals(&all(&[&first, &second]), &all(&[&second]), 0);
        assert_eq!(told(last), [(one, None), (two, None)], "with the last that has them");
        let other = removals(&all(&[&first, &second, &third]), &all(&[&second]), 0);
        assert_eq!(told(other), [(two, None)], "but for what another has");
        let unplaced =
            ClusterIndex { points: 0, ..index(four, first.followed(four, 1, BTreeSet::new()), Standing::Gone) };
        assert_eq!(told(removals(&all(&[&third, &unplaced]), &[], 0)), [(four, None)], "nobody asks what had no place");
        let less = ClusterIndex { chain: Chain { kept: 9, ..second.chain.clone() }, ..second.clone() };
        assert!(removals(&all(&[&third, &less]), &[], 99).is_empty(), "it wrote nothing of its own, and was asked");
        let lost = removals(&[], &all(&[&second]), 0);
        assert_eq!(told(lost), [(two, None)], "one whose row is gone already");
    }
}
