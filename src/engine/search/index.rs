//! An index out of documents, a batch at a time. Each batch is a turn of the workspace's: between two of them others
//! come to theirs, and an import that nobody wants any more, or that cannot end in its time, ends.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::base::id::Id;
use crate::engine::job::Job;
use crate::engine::search::SearchEngine;
use crate::engine::search::about::About;
use crate::engine::search::analysis::{self, Language};
use crate::engine::search::backend::{Draft, Key, Pair, Sealed};
use crate::engine::search::chunk::{self, Cutter};
use crate::engine::search::embed::{Encoder, Purpose};
use crate::engine::search::manifest::Owner;
use crate::engine::search::shard::Stored;
use crate::engine::search::shards::blocking;
use crate::model::dataset::Dataset;
use crate::model::document::{Chunk, Document, ParsedDocument};
use crate::model::error::{Code, Error, Result};

/// What a new version takes over of an earlier one, as it was encoded then.
#[derive(Clone, Copy, Debug)]
pub struct Carried<'a> {
    pub version: &'a str,
    /// Those of its documents that stay.
    pub documents: &'a HashSet<Id<Document>>,
}

/// Chunks that are taken over at a time.
const CARRIED: usize = 512;
/// Chunks after which the speed is known.
const SAMPLE: usize = 64;
/// How many times the time that is left the rest may need: the speed may rise.
const HOPE: f64 = 1.5;

impl SearchEngine {
    /// Builds the index of a dataset version, which may then get its place ([`SearchEngine::put`]): when this returns, it is
    /// sealed.
    ///
    /// # Errors
    /// `query_timeout` within a batch of the caller's leaving or of the deadline; `limit_exceeded` as soon as it shows
    /// that the time cannot suffice; `service_unavailable` where a server is to keep it that does not answer;
    /// `internal_error`. Nothing of it is left then. The same when the future is dropped, but for the batch that is being
    /// written.
    pub async fn index(
        &self,
        job: &Job<'_>,
        (dataset, version): (Id<Dataset>, &str),
        documents: &[(Id<Document>, Arc<ParsedDocument>)],
    ) -> Result<Sealed> {
        self.index_over(job, (dataset, version), None, documents).await
    }

    /// As [`SearchEngine::index`], with the chunks of documents that stay. They are encoded anew only where the
    /// workspace's encoder is another by now. The earlier version must be held ([`crate::engine::readers`]).
    ///
    /// # Errors
    /// As [`SearchEngine::index`]; the earlier version cannot be read.
    pub async fn index_over(
        &self,
        job: &Job<'_>,
        (dataset, version): (Id<Dataset>, &str),
        carried: Option<Carried<'_>>,
        documents: &[(Id<Document>, Arc<ParsedDocument>)],
    ) -> Result<Sealed> {
        let key = Key { owner: Owner { org: job.pass.org(), dataset }, version: version.to_owned() };
        let encoder = self.encoders.of_workspace(key.owner.org).await?;
        let mut build = match carried {
            Some(carried) => self.begin_over(job, &key, encoder, carried, documents.to_vec()).await?,
            None => self.begin(&key, encoder, documents.to_vec()).await?,
        };
        let mut is_whole = build.is_whole();
        while !is_whole {
            let turn = job.wait(self.encoders.import_turn(key.owner.org)).await;
            let left = job.time_left();
            (build, is_whole) = blocking(move || {
                // Here ends who was to end while it waited: closing what is written blocks.
                let _turn = turn??;
                build.batch()?;
                build.pace.suffices(build.fraction(), left)?;
                let is_whole = build.is_whole();
                Ok((build, is_whole))
            })
            .await?;
            for (fraction, file) in build.told.drain(..) {
                job.says(fraction, format!("Indexing {file}"));
            }
        }
        let still_wanted = job.check();
        blocking(move || {
            still_wanted?;
            build.finish()
        })
        .await
    }

    /// Begins the index of a version, where its workspace's are written.
    pub(super) async fn begin(
        &self,
        key: &Key,
        encoder: Encoder,
        documents: Vec<(Id<Document>, Arc<ParsedDocument>)>,
    ) -> Result<Build> {
        let (identity, dimension) = (encoder.identity().await?, encoder.dimension(Purpose::Passage).await?);
        let draft = self.homes.next(key.owner.org).await?.begin(key, identity, dimension).await?;
        Ok(Build::new(key.owner, draft, encoder, documents))
    }

    /// As [`SearchEngine::begin`], with the chunks that stay: taken over with what they are in, or added like all else.
    async fn begin_over(
        &self,
        job: &Job<'_>,
        key: &Key,
        encoder: Encoder,
        carried: Carried<'_>,
        documents: Vec<(Id<Document>, Arc<ParsedDocument>)>,
    ) -> Result<Build> {
        let earlier = Key { owner: key.owner, version: carried.version.to_owned() };
        let _stays = self.renewals.hold().await;
        let identity = encoder.identity().await?;
        let index = self.homes.of(&earlier).await?;
        let is_encoded = index.is_of(&earlier, identity).await?;
        let over = match is_encoded {
            true => self.homes.next(key.owner.org).await?.begin_over(key, &earlier, carried.documents).await?,
            false => None,
        };
        let (mut build, others) = match over {
            Some((draft, others)) => (Build::new(key.owner, draft, encoder, documents), others),
            None => (self.begin(key, encoder, documents).await?, index.numbers(&earlier).await?),
        };
        for some in others.chunks(CARRIED) {
            job.check()?;
            let mut stored = index.read(&earlier, some.to_vec()).await?;
            stored.retain(|(_, stored)| carried.documents.contains(&stored.document));
            if stored.is_empty() {
                continue;
            }
            let points = stored.iter().map(|(point, _)| *point).collect();
            let pairs = index.pairs(&earlier, points).await?;
            let chunks: Vec<(Stored, Pair)> = stored.into_iter().map(|(_, stored)| stored).zip(pairs).collect();
            let turn = match is_encoded {
                true => None,
                false => Some(job.wait(self.encoders.import_turn(build.owner.org)).await?),
            };
            build = blocking(move || {
                let _turn = turn.transpose()?;
                build.carry(chunks, is_encoded)?;
                Ok(build)
            })
            .await?;
        }
        Ok(build)
    }
}

/// An index that is being built.
pub(super) struct Build {
    owner: Owner,
    draft: Box<dyn Draft>,
    encoder: Encoder,
    /// In the order of their ids, whatever the order of the files was: chunks are numbered so, and ties broken.
    documents: std::vec::IntoIter<(Id<Document>, Arc<ParsedDocument>)>,
    current: Option<(Cutter, Language)>,
    /// Bytes of all texts, and of those that are in.
    whole: usize,
    done: usize,
    /// What the last batch was of: each file, and how much of the texts was in after it.
    told: Vec<(f64, String)>,
    pace: Pace,
}

impl Build {
    fn new(
        owner: Owner,
        draft: Box<dyn Draft>,
        encoder: Encoder,
        documents: Vec<(Id<Document>, Arc<ParsedDocument>)>,
    ) -> Self {
        let mut build = Self {
            owner,
            draft,
            encoder,
            documents: vec![].into_iter(),
            whole: 0,
            current: None,
            done: 0,
            told: Vec::new(),
            pace: Pace::default(),
        };
        build.take(documents);
        build
    }

    /// Documents that come after those that are in.
    pub(super) fn take(&mut self, mut documents: Vec<(Id<Document>, Arc<ParsedDocument>)>) {
        documents.sort_by_key(|(id, _)| *id);
        self.whole += documents.iter().map(|(_, document)| document.text.len()).sum::<usize>();
        self.documents = documents.into_iter();
    }

    /// Chunks that are in.
    pub(super) fn chunks(&self) -> u64 {
        self.pace.chunks as u64
    }

    /// Seals what was built. Blocks.
    pub(super) fn finish(self) -> Result<Sealed> {
        self.draft.seal()
    }

    /// Cuts, encodes and adds some chunks: of one long document, or of several short ones. Blocks.
    pub(super) fn batch(&mut self) -> Result<()> {
        let began = Instant::now();
        let mut batch = Vec::new();
        let most = self.encoder.model().batch();
        while batch.len() < most {
            let (mut cutter, language) = match self.current.take() {
                Some(current) => current,
                None => match self.documents.next() {
                    Some((id, document)) => {
                        let language = Language::of(&document.text);
                        (Cutter::new(id, document, self.encoder.model().measure()?), language)
                    }
                    None => break,
                },
            };
            let document = cutter.document().clone();
            let chunks = cutter.next(most - batch.len())?;
            let about = chunks
                .first()
                .map(|chunk| About::of(chunk.document, &document.text, &document.facts))
                .unwrap_or_default();
            // Behind the last chunk there may be white space.
            batch.extend(chunks.into_iter().map(|chunk| (chunk, document.clone(), about.clone(), language)));
            match cutter.is_at_end() {
                true => self.done += document.text.len(),
                false => self.current = Some((cutter, language)),
            }
            self.told.push((self.fraction(), document.source_file.clone()));
        }
        let count = batch.len();
        if count > 0 {
            self.add(batch)?;
        }
        self.pace.add(count, began.elapsed());
        Ok(())
    }

    fn add(&mut self, batch: Vec<(Chunk, Arc<ParsedDocument>, About, Language)>) -> Result<()> {
        let texts: Vec<String> = batch.iter().map(|(chunk, document, ..)| chunk::searchable(chunk, document)).collect();
        let vectors = self.encoder.passages(&texts)?;
        let points =
            batch.into_iter().zip(&texts).zip(vectors).map(|(((chunk, document, about, language), text), dense)| {
                let stored = Stored {
                    tenant: self.owner.org,
                    dataset: self.owner.dataset,
                    document: chunk.document,
                    chunk_index: chunk.index,
                    heading: chunk.heading,
                    text: chunk.text,
                    source_file: document.source_file.clone(),
                    title: document.title.clone(),
                    about,
                    spot: chunk.spot,
                };
                (stored, dense, analysis::of_chunk(text, language))
            });
        let points = points.collect();
        self.draft.add(points)
    }

    /// Adds chunks of an earlier version. Blocks.
    fn carry(&mut self, chunks: Vec<(Stored, Pair)>, is_encoded: bool) -> Result<()> {
        let points = match is_encoded {
            true => chunks.into_iter().map(|(stored, (dense, sparse))| (stored, dense, sparse)).collect(),
            false => {
                let texts: Vec<String> = chunks.iter().map(|(stored, _)| stored.searchable()).collect();
                let vectors = self.encoder.passages(&texts)?;
                let encoded = chunks.into_iter().zip(vectors);
                encoded.map(|((stored, (_, sparse)), dense)| (stored, dense, sparse)).collect()
            }
        };
        self.draft.add(points)
    }

    pub(super) fn is_whole(&self) -> bool {
        self.current.is_none() && self.documents.len() == 0
    }

    /// How much of the texts is in, 0 to 1.
    fn fraction(&self) -> f64 {
        if self.is_whole() {
            return 1.0;
        }
        let of_current = |(cutter, _): &(Cutter, Language)| cutter.fraction() * cutter.document().text.len() as f64;
        (self.done as f64 + self.current.as_ref().map_or(0.0, of_current)) / self.whole.max(1) as f64
    }
}

/// How fast the work goes, its waiting not counted.
#[derive(Default)]
struct Pace {
    chunks: usize,
    busy: Duration,
}

impl Pace {
    fn add(&mut self, chunks: usize, busy: Duration) {
        self.chunks += chunks;
        self.busy += busy;
    }

    /// Fails when the rest could not be done in the time that is left even by who had the encoder to themselves: the
    /// caller learns it now, and others get the time.
    fn suffices(&self, fraction: f64, left: Duration) -> Result<()> {
        let (busy, left) = (self.busy.as_secs_f64(), left.as_secs_f64());
        let needed = busy * (1.0 - fraction) / fraction;
        if self.chunks < SAMPLE || needed <= left * HOPE {
            return Ok(());
        }
        let whole = self.chunks as f64 / fraction;
        let (speed, parts) = (self.chunks as f64 / busy, ((busy + needed) / (busy + left)).ceil());
        let message = format!(
            "These texts are about {whole:.0} chunks. At {speed:.0} a second it would take {needed:.0} s more, and {left:.0} s \
             are left for this call. Import them in {parts:.0} parts or more, as datasets of their own."
        );
        let details = json!({
            "limit": "time",
            "chunks": whole.round() as u64,
            "chunks_per_second": speed.round() as u64,
            "needed_seconds": needed.round() as u64,
            "left_seconds": left.round() as u64,
        });
        Err(Error::new(Code::LimitExceeded, message).with(details))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn pace(chunks: usize, seconds: u64) -> Pace {
        Pace { chunks, busy: Duration::from_secs(seconds) }
    }

    #[test]
    fn what_cannot_end_in_time_is_refused_with_the_figures_and_a_way_out() {
        // 100 chunks in 5 s are a hundredth: 495 s more.
        let refused = pace(100, 5).suffices(0.01, Duration::from_secs(60)).unwrap_err();
        assert_eq!(refused.code, Code::LimitExceeded);
        assert_eq!(
            refused.details,
            json!({
                "limit": "time", "chunks": 10_000, "chunks_per_second": 20, "needed_seconds": 495, "left_seconds": 60,
            })
        );
        for words in ["about 10000 chunks", "20 a second", "495 s more", "60 s are left", "8 parts"] {
            assert!(refused.message.contains(words), "{words}: {}", refused.message);
        }
    }

    #[test]
    fn what_may_end_in_time_goes_on() {
        let minute = Duration::from_secs(60);
        assert!(pace(100, 5).suffices(0.1, minute).is_ok(), "45 s more");
        assert!(pace(100, 5).suffices(0.06, minute).is_ok(), "78 s more: it may get faster");
        assert!(pace(SAMPLE - 1, 5).suffices(0.001, minute).is_ok(), "too little to judge by");
        assert!(pace(100, 5).suffices(1.0, Duration::ZERO).is_ok(), "nothing is left to do");
        assert!(Pace::default().suffices(0.0, Duration::ZERO).is_ok());
    }
}
