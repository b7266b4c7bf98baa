//! An index out of the texts that the metadata have: where one is damaged, of an earlier format or cut as texts are cut no
//! more. Nobody has to import anything again.

use std::sync::Arc;

use crate::base::id::Id;
use crate::engine::search::SearchEngine;
use crate::engine::search::backend::Key;
use crate::engine::search::embed::Encoder;
use crate::engine::search::manifest::Owner;
use crate::engine::search::renew::Renewal;
use crate::engine::search::shards::blocking;
use crate::model::document::{Document, ParsedDocument};
use crate::model::error::{Error, Result};
use crate::store::documents::Outline;
use crate::store::{self, Db};

/// Documents whose texts are held at a time.
const AT_ONCE: usize = 32;

impl SearchEngine {
    /// Makes the index of a version anew; what was there answers until it is done, where it can.
    ///
    /// # Errors
    /// The version is no longer the dataset's; the encoder fails; the disk is full. What was there stays then.
    pub(super) async fn rebuild(&self, db: &Db, key: &Key, encoder: Encoder) -> Result<()> {
        let Owner { org, dataset } = key.owner;
        let mut read = db.read_tenant(org).await?;
        let mut outlines = store::documents::outlines(&mut read, org, dataset, &key.version).await?;
        drop(read);
        outlines.sort_by_key(|outline| outline.id);
        let mut build = self.begin(key, encoder, vec![]).await?;
        for (at, some) in outlines.chunks(AT_ONCE).enumerate() {
            build.take(texts(db, key, some).await?);
            while !build.is_whole() {
                let turn = self.encoders.import_turn(org).await?;
                build = blocking(move || {
                    let _turn = turn;
                    build.batch()?;
                    Ok(build)
                })
                .await?;
            }
            // How many chunks there will be is not known before: as many to a document as so far.
            let done = build.chunks();
            let of = done * outlines.len() as u64 / ((at + 1) * AT_ONCE).min(outlines.len()) as u64;
            self.renewals.set(dataset, Renewal { done, of });
        }
        let sealed = blocking(move || build.finish()).await?;
        let counted = (sealed.chunks()?, sealed.bytes()?);
        let mut write = db.tenant(org).await?;
        if !store::datasets::recount(&mut write, org, dataset, &key.version, counted).await? {
            return Err(Error::internal("the version was replaced while its index was made anew"));
        }
        write.commit().await?;
        let _alone = self.renewals.alone().await;
        self.homes.put(key, sealed).await
    }
}

async fn texts(db: &Db, key: &Key, some: &[Outline]) -> Result<Vec<(Id<Document>, Arc<ParsedDocument>)>> {
    let Owner { org, dataset } = key.owner;
    let mut read = db.read_tenant(org).await?;
    let mut documents = Vec::with_capacity(some.len());
    for outline in some {
        let found = store::documents::by_id(&mut read, org, dataset, &key.version, outline.id).await?;
        let Document { id, title, source_file, text, markup, facts, .. } =
            found.ok_or_else(Error::document_not_found)?;
        documents.push((id, Arc::new(ParsedDocument { title, source_file, text, markup, facts })));
    }
    Ok(documents)
}
