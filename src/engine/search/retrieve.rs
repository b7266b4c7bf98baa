//! Retrieval with every choice left to the caller: which legs, over what, in which order, in groups, page by page. What
//! it tells of a chunk is where it is and how well it fits; texts are read by those that want them.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::engine::search::analysis;
use crate::engine::search::backend::{Dense, Key, Query};
use crate::engine::search::embed::Purpose;
use crate::engine::search::filter::{Filter, any};
use crate::engine::search::fuse::{Fused, fuse};
pub use crate::engine::search::fuse::{Fusion, Weights};
use crate::engine::search::rank;
use crate::engine::search::shard::{Place, Stored};
pub use crate::engine::search::snippet::Snippet;
use crate::engine::search::snippet::snippet;
use crate::engine::search::words::Words;
use crate::engine::search::{
    FETCHES, READS, SEARCHES, SearchEngine, WITHOUT_MEANING, collected, keys, said, unsearched,
};
use crate::model::chunk_id::ChunkId;
use crate::model::dataset::Dataset;
use crate::model::document::{Document, Spot};
use crate::model::error::{Error, Result};
use crate::model::org::Org;

/// Candidates of a leg, and how far pages go.
pub const REACH: usize = 500;
/// Chunks of a document that are encoded for the question what is like it, where its vectors are of another encoder.
const LIKE: usize = 8;

/// Said where meaning alone was asked for, and the encoder is down.
const NOTHING_BUT_WORDS: &str = "Search by meaning is out of order. Search by words: rag_search_fts.";

/// What is asked.
#[derive(Clone, Debug)]
pub struct Retrieval {
    /// Words, phrases and fields; what the words leg looks for.
    pub words: Option<String>,
    /// What the meaning leg looks for.
    pub meaning: Option<Meaning>,
    pub fusion: Fusion,
    /// Candidates of a dataset that the words propose, and meaning; what one proposes the other scores too.
    pub equal: usize,
    pub near: usize,
    pub filter: Filter,
    /// The least score, 0 to 1.
    pub min_score: f64,
    /// At most so many chunks of one document.
    pub of_a_document: Option<usize>,
    pub offset: usize,
    pub limit: usize,
    /// Whether parts of the texts are wanted.
    pub snippets: bool,
}

/// Whose neighbours are looked for.
#[derive(Clone, Debug)]
pub enum Meaning {
    Text(String),
    /// A vector of the encoder's.
    Vector(Vec<f32>),
    /// Chunks that are like this one, or like this document as a whole; without itself.
    Like {
        dataset: Id<Dataset>,
        document: Id<Document>,
        chunk: Option<u32>,
    },
}

/// What was found, best first.
#[derive(Clone, Debug, Default)]
pub struct Retrieved {
    pub hits: Vec<Passage>,
    /// Whether there are more after these.
    pub more: bool,
    /// What did not work, in sentences.
    pub degraded: Option<String>,
}

/// A chunk, and why it was found.
#[derive(Clone, Debug)]
pub struct Passage {
    pub chunk: Chunk,
    /// 0 to 1.
    pub score: f64,
    /// What each leg says, 0 to 1, and as it was computed: BM25, and the cosine. `None` where it did not run.
    pub words: Option<f64>,
    pub bm25: Option<f32>,
    pub meaning: Option<f64>,
    pub cosine: Option<f32>,
    /// Among all candidates, from 1.
    pub words_rank: Option<usize>,
    pub meaning_rank: Option<usize>,
    pub snippet: Option<Snippet>,
}

/// A chunk of a document.
#[derive(Clone, Debug)]
pub struct Chunk {
    pub id: ChunkId,
    pub dataset: Id<Dataset>,
    pub dataset_name: String,
    pub title: String,
    pub source_file: String,
    /// Headings above it, `A > B`.
    pub heading: String,
    pub text: String,
    pub spot: Spot,
    /// When the document was written, or imported where it does not say.
    pub created: Millis,
    pub tags: Vec<String>,
    /// What the document says of itself.
    pub metadata: BTreeMap<String, Value>,
}

impl SearchEngine {
    /// The chunks that fit best, among those of documents datasets that the job's pass covers and the filter allows.
    ///
    /// # Errors
    /// `invalid_argument` for a vector that is not one of the encoder's; `service_unavailable` when nothing but meaning
    /// was asked for, and the encoder is down; `document_not_found`; `query_timeout`. A dataset or leg that fails
    /// without that is no error: see [`Retrieved::degraded`].
    pub async fn retrieve(&self, job: &Job<'_>, ask: &Retrieval) -> Result<Retrieved> {
        job.wait(self.ranked(job, ask)).await?
    }

    async fn ranked(&self, job: &Job<'_>, ask: &Retrieval) -> Result<Retrieved> {
        let (datasets, keys) =
            keys(job, |dataset| ask.filter.datasets.as_ref().is_none_or(|wanted| wanted.contains(&dataset.id)));
        if keys.is_empty() {
            return Ok(Retrieved::default());
        }
        let mut degraded = Vec::new();
        job.says(0.0, READS);
        let words = ask.words.as_deref().map(Words::read);
        let mut conditions = ask.filter.conditions();
        conditions.extend(words.iter().flat_map(Words::conditions));
        let (dense, weight) = self.dense(job, ask, &mut conditions, &mut degraded).await?.unzip();
        let weight = weight.unwrap_or_default();
        job.check()?;
        job.says(0.2, SEARCHES);
        let query = Query {
            dense,
            sparse: words.as_ref().and_then(|words| analysis::of_query(&words.plain)),
            near: ask.near,
            equal: ask.equal,
            conditions: conditions.into(),
            lists: words.as_ref().is_some_and(Words::has_conditions),
        };
        let text = match &ask.meaning {
            Some(Meaning::Text(text)) => Some(text.as_str()),
            _ => None,
        };
        let answers = self.find(&keys, &query, text).await;
        job.check()?;
        // Where the order should be that of meaning, and there is none, the words' own is left.
        let fusion = match ask.fusion {
            Fusion::Meaning if query.dense.is_none() => Fusion::Words,
            fusion => fusion,
        };
        let mut all = fuse(collected(answers, &datasets, &mut degraded)?, fusion, weight);
        if fusion == Fusion::Scores(None)
            && let (Some(words), Some(Meaning::Text(_))) = (&words, &ask.meaning)
        {
            let best: Vec<(usize, u64)> = all.iter().map(|one| (one.dataset, one.hit.point)).collect();
            if let Some(hits) = self.wider(&keys, &query, &words.plain, &best).await {
                all = fuse(hits, fusion, weight);
            }
            job.check()?;
        }
        job.says(0.8, FETCHES);
        all.retain(|one| one.score >= ask.min_score);
        if let Some(most) = ask.of_a_document {
            all = self.grouped(&datasets, &keys, all, most, &mut degraded).await;
        }
        let more = all.len() > ask.offset + ask.limit;
        let page: Vec<Fused> = all.into_iter().skip(ask.offset).take(ask.limit).collect();
        let places: Vec<(usize, u64)> = page.iter().map(|one| (one.dataset, one.hit.point)).collect();
        let mut read = self.read(&datasets, &keys, &places, &mut degraded).await;
        // A word counts where it means what one of the query's does.
        let sought = |word: &str| {
            let of_word = analysis::of_query(word);
            let known = query.sparse.as_ref().map(|sparse| sparse.indices.as_slice()).unwrap_or_default();
            of_word.is_some_and(|terms| terms.indices.iter().any(|term| known.contains(term)))
        };
        let passage = |one: Fused| {
            let stored = read.remove(&(one.dataset, one.hit.point))?;
            let snippet = ask.snippets.then(|| snippet(&stored.text, sought));
            Some(Passage {
                chunk: chunk(datasets.get(one.dataset)?, stored),
                score: one.score,
                words: rank::words(one.hit),
                bm25: one.hit.sparse,
                meaning: rank::meaning(one.hit),
                cosine: one.hit.dense,
                words_rank: one.words_rank,
                meaning_rank: one.meaning_rank,
                snippet,
            })
        };
        Ok(Retrieved { hits: page.into_iter().filter_map(passage).collect(), more, degraded: said(degraded) })
    }

    /// The vector whose neighbours are looked for, and what they must not be.
    async fn dense(
        &self,
        job: &Job<'_>,
        ask: &Retrieval,
        conditions: &mut Vec<Value>,
        degraded: &mut Vec<String>,
    ) -> Result<Option<(Dense, f64)>> {
        let org = job.pass.org();
        match &ask.meaning {
            None => Ok(None),
            Some(Meaning::Text(text)) => match self.encoded(org, text).await {
                Ok(encoded) => Ok(Some(encoded)),
                Err(_logged) if ask.words.is_some() => {
                    degraded.push(WITHOUT_MEANING.to_owned());
                    Ok(None)
                }
                Err(_logged) => Err(Error::unavailable(NOTHING_BUT_WORDS)),
            },
            Some(Meaning::Vector(vector)) => self.compared(org, unit(vector)).await.map(Some),
            Some(Meaning::Like { dataset, document, chunk }) => {
                let itself = of(*document, *chunk);
                let (_, keys) = keys(job, |one| one.id == *dataset);
                let key = keys.first().ok_or_else(Error::document_not_found)?;
                let vectors = self.vectors(key, itself.clone()).await?;
                conditions.push(json!({ "must_not": [{ "must": itself }] }));
                let mean = mean(&vectors).ok_or_else(Error::document_not_found)?;
                self.compared(org, Some(mean)).await.map(Some)
            }
        }
    }

    /// The vectors of these chunks, by the workspace's encoder: an index that is not made anew yet has others, which are not
    /// compared with them; the first texts are encoded then.
    async fn vectors(&self, key: &Key, of: Vec<Value>) -> Result<Vec<Vec<f32>>> {
        let index = self.homes.of(key).await?;
        let encoder = self.encoders.of_workspace(key.owner.org).await?;
        // Before the identity, which would wait for a server as long as an import does.
        encoder.dimension(Purpose::Query).await?;
        if index.is_of(key, encoder.identity().await?).await? {
            return index.vectors(key, of, REACH).await;
        }
        let mut vectors = Vec::new();
        for (_, stored) in index.list(key, of, LIKE).await? {
            vectors.push(encoder.query(&stored.searchable()).await?);
        }
        Ok(vectors)
    }

    /// At most `most` chunks of each document, the best of it, in the order that they have.
    async fn grouped(
        &self,
        datasets: &[&Dataset],
        keys: &[Key],
        mut all: Vec<Fused>,
        most: usize,
        degraded: &mut Vec<String>,
    ) -> Vec<Fused> {
        all.truncate(REACH * 2);
        let mut places: HashMap<(usize, u64), Place> = HashMap::new();
        for (at, (dataset, key)) in datasets.iter().zip(keys).enumerate() {
            let points: Vec<u64> = all.iter().filter(|one| one.dataset == at).map(|one| one.hit.point).collect();
            if points.is_empty() {
                continue;
            }
            let placed = async { self.homes.of(key).await?.places(key, points).await };
            match placed.await {
                Ok(found) => places.extend(found.into_iter().map(|(point, place)| ((at, point), place))),
                Err(error) => degraded.push(unsearched(dataset, &error)),
            }
        }
        let mut counts: HashMap<Id<Document>, usize> = HashMap::new();
        all.retain(|one| {
            places.get(&(one.dataset, one.hit.point)).is_some_and(|place| {
                let count = counts.entry(place.document).or_default();
                *count += 1;
                *count <= most
            })
        });
        all
    }

    /// Those of these chunks that a documents dataset of the pass has, in the order of the dataset.
    ///
    /// # Errors
    /// `dataset_not_found`; `internal_error` when its index is damaged; `query_timeout`.
    pub async fn chunks(&self, job: &Job<'_>, dataset: Id<Dataset>, wanted: &[ChunkId]) -> Result<Vec<Chunk>> {
        let (datasets, keys) = keys(job, |one| one.id == dataset);
        let (Some(dataset), Some(key)) = (datasets.first(), keys.first()) else {
            return Err(Error::dataset_not_found());
        };
        // A document at a time, which is indexed: alternatives with places in them would be looked for among all chunks.
        let mut places: BTreeMap<Id<Document>, Vec<u32>> = BTreeMap::new();
        wanted.iter().for_each(|id| places.entry(id.document).or_default().push(id.index));
        let listed = async {
            let (index, mut found) = (self.homes.of(key).await?, Vec::with_capacity(wanted.len()));
            for (document, places) in places {
                let conditions = vec![any("document", &[document]), any("chunk_index", &places)];
                found.extend(index.list(key, conditions, places.len()).await?);
            }
            Ok::<_, Error>(found)
        };
        let found = job.wait(listed).await??;
        Ok(found.into_iter().map(|(_, stored)| chunk(dataset, stored)).collect())
    }

    /// The name of the encoder whose vectors are compared in a workspace, and how many coordinates they have.
    ///
    /// # Errors
    /// `service_unavailable` when it cannot be loaded or reached.
    pub async fn encoder(&self, org: Id<Org>) -> Result<(String, usize)> {
        let known = async {
            let encoder = self.encoders.of_workspace(org).await?;
            Ok((encoder.name(), encoder.dimension(Purpose::Query).await?))
        };
        known.await.map_err(|_logged: Error| Error::unavailable(NOTHING_BUT_WORDS))
    }

    /// A vector of the workspace's encoder, as the index compares them.
    async fn compared(&self, org: Id<Org>, vector: Option<Vec<f32>>) -> Result<(Dense, f64)> {
        let encoder = self.encoders.of_workspace(org).await?;
        let (name, dimension) = (encoder.name(), encoder.dimension(Purpose::Query).await?);
        let Some(vector) = vector.filter(|vector| vector.len() == dimension) else {
            let message =
                format!("query_embedding must be {dimension} finite numbers that are not all 0, made by {name}.");
            return Err(Error::invalid("query_embedding", message));
        };
        Ok((Dense { vector, encoder: encoder.identity().await?, pull: encoder.pull() }, encoder.weight()))
    }
}

/// The conditions that a document, or one chunk of it, is.
fn of(document: Id<Document>, chunk: Option<u32>) -> Vec<Value> {
    let is = |key: &str, value: Value| json!({ "key": key, "match": { "value": value } });
    let index = chunk.map(|index| is("chunk_index", index.into()));
    [is("document", document.to_string().into())].into_iter().chain(index).collect()
}

/// A vector of length one; `None` for one that points nowhere.
fn unit(vector: &[f32]) -> Option<Vec<f32>> {
    let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    let points = length.is_finite() && length >= f64::from(f32::MIN_POSITIVE);
    points.then(|| vector.iter().map(|x| (f64::from(*x) / length) as f32).collect())
}

/// The direction that several have in common.
fn mean(vectors: &[Vec<f32>]) -> Option<Vec<f32>> {
    let first = vectors.first()?;
    let mut sum = vec![0.0_f32; first.len()];
    for vector in vectors {
        for (all, one) in sum.iter_mut().zip(vector) {
            *all += one;
        }
    }
    unit(&sum)
}

fn chunk(dataset: &Dataset, stored: Stored) -> Chunk {
    let Stored { tenant: _, dataset: _, document, chunk_index, heading, text, source_file, title, about, spot } =
        stored;
    Chunk {
        id: ChunkId { document, index: chunk_index },
        dataset: dataset.id,
        dataset_name: dataset.name.clone(),
        title,
        source_file,
        heading,
        text,
        spot,
        created: about.created,
        tags: about.tags,
        metadata: about.metadata,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::search::embed::Encoders;
    use crate::engine::search::embed::local::tests::folder;
    use crate::engine::search::tests::World;

    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_like_a_document_whose_vectors_are_of_another_encoder_is_found_by_its_text() {
        let mut world = World::new();
        let old = world.published("old", &["late planes"]).await;
        let document = world.find(&[&old], "late planes").await.matches[0].id.document;
        let model = folder("bert", json!({}));
        world.engine.encoders = Encoders::in_folder(model.path().to_owned());
        let new = world.published("new", &["bread", "late planes"]).await;
        let ask = Retrieval {
            words: None,
            meaning: Some(Meaning::Like { dataset: old.id, document, chunk: None }),
            fusion: Fusion::Meaning,
            equal: 0,
            near: REACH,
            filter: Filter::default(),
            min_score: 0.0,
            of_a_document: None,
            offset: 0,
            limit: 10,
            snippets: false,
        };
        let found = world.retrieve(&[&old, &new], &ask).await;
        let mut texts: Vec<&str> = found.hits.iter().map(|hit| hit.chunk.text.as_str()).collect();
        texts.sort_unstable();
        assert_eq!(texts, ["bread", "late planes"], "of the other dataset");
        assert!(found.degraded.unwrap().contains("another encoder"));
    }
}
