//! The server: its connection, its collections, and every request that is made of it. Requests about points take a
//! [`Scope`], which alone makes their filter.

use std::collections::{BTreeSet, HashSet};
use std::slice::from_ref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use qdrant_client::qdrant::payload_index_params::IndexParams;
use qdrant_client::qdrant::points_selector::PointsSelectorOneOf;
use qdrant_client::qdrant::vectors_config::Config;
use qdrant_client::qdrant::with_payload_selector::SelectorOptions as Payloads;
use qdrant_client::qdrant::with_vectors_selector::SelectorOptions as WithVectors;
use qdrant_client::qdrant::{
    Condition, CountPoints, CreateCollection, CreateFieldIndexCollection, DeletePoints, Distance, FieldType, Filter,
    HnswConfigDiff, IdfParams, KeywordIndexParams, Modifier, PayloadIndexParams, PointId, PointStruct, PointsSelector,
    Query, QueryPoints, RetrievedPoint, ScrollPoints, SearchParams, SparseVectorConfig, SparseVectorParams,
    UpsertPoints, VectorInput, VectorParams, VectorParamsMap, VectorsConfig, VectorsSelector, WithPayloadSelector,
    WithVectorsSelector, query,
};
use qdrant_client::qdrant::{PayloadExcludeSelector, PayloadIncludeSelector};
use qdrant_client::{Qdrant as Client, QdrantError};
use tonic::Code;

use super::wire::{DENSE, SPARSE, all, conditions, has_id, is, is_one_of, number, point_id};
use crate::base::id::Id;
use crate::base::secret::sha256_hex;
use crate::config::Qdrant;
use crate::engine::search::legs::Scores;
use crate::engine::search::manifest::{Fault, Owner};
use crate::engine::search::shard::Among;
use crate::model::cluster_index::{Chain, ClusterIndex, Part};
use crate::model::document::Document;

/// How long a connection, and a request, may take.
const CONNECT: Duration = Duration::from_secs(3);
const REQUEST: Duration = Duration::from_secs(30);
/// How long it may take to say which release it is: the start, and whoever erases, waits for that.
const PROBE: Duration = Duration::from_secs(5);
/// Points of a page, when many are read.
const PAGE: usize = 128;
/// Chunks of an index up to which meaning is compared with each of them, as an embedded shard does.
const EXACT: u64 = 20_000;
/// The release that computes how rare words are among the chunks of one index alone.
const OLDEST: (u64, u64) = (1, 19);

/// A server; clones share the connection, which is made anew when it breaks.
#[derive(Clone)]
pub(super) struct Server {
    client: Client,
    /// Collections that are known to be there.
    collections: Arc<Mutex<HashSet<String>>>,
    /// Whether its release is known to do: an older one would ignore what it does not know.
    is_known: Arc<AtomicBool>,
}

/// Which points a request is about: those of some builds of one dataset of one tenant, and no others.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    collection: String,
    owner: Owner,
    /// Never none; what the first takes away is in none of them.
    parts: Vec<Part>,
    /// How many there are.
    pub points: u64,
}

/// What is wanted of a point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted {
    /// What its chunk says.
    Chunk,
    /// Where its chunk is from.
    Place,
    Dense,
    BothVectors,
    Nothing,
}

impl Scope {
    /// All that an index has.
    pub(super) fn of(index: &ClusterIndex) -> Self {
        Self {
            collection: collection(&index.encoder, &index.terms),
            owner: Owner { org: index.org, dataset: index.dataset },
            parts: index.chain.parts.clone(),
            points: index.points,
        }
    }

    /// What an index has of its own build, and whatever others have of that.
    pub(super) fn own(index: &ClusterIndex) -> Self {
        Self { parts: Chain::whole(index.build).parts, ..Self::of(index) }
    }

    /// All that an index has of its parts from one on; `None` where there are none.
    pub(super) fn since(index: &ClusterIndex, part: usize) -> Option<Self> {
        let parts: Vec<Part> = index.chain.parts.iter().skip(part).cloned().collect();
        (!parts.is_empty()).then(|| Self { parts, ..Self::of(index) })
    }

    fn filter(&self, among: Among<'_>) -> Result<Filter, Fault> {
        self.filter_in(&self.parts, among)
    }

    /// The only filter that requests have: whatever else is asked, the tenant and the dataset must be these, the build one
    /// of these parts', and no later part may have taken the document away.
    fn filter_in(&self, parts: &[Part], among: Among<'_>) -> Result<Filter, Fault> {
        let builds = |parts: &[Part]| is_one_of("build", parts.iter().map(|part| part.build.to_string()));
        let mut must = vec![
            is("tenant", self.owner.org.to_string()),
            is("dataset", self.owner.dataset.to_string()),
            builds(parts),
        ];
        match among {
            Among::Those(all) => must.extend(conditions(all)?),
            Among::Points(points) => {
                let ids = points.iter().map(|point| self.point_id(*point));
                must.push(has_id(ids.collect::<Result<_, _>>()?));
            }
        }
        let takes = |(at, part): (usize, &Part)| {
            let before = self.parts.get(..at).filter(|before| !before.is_empty() && !part.takes.is_empty())?;
            Some(all(vec![builds(before), documents(&part.takes)]))
        };
        let must_not = self.parts.iter().enumerate().filter_map(takes).collect();
        Ok(Filter { must, must_not, ..Filter::default() })
    }

    fn point_id(&self, number: u64) -> Result<PointId, Fault> {
        let part = self.parts.iter().rev().find(|part| part.first <= number);
        let part = part.ok_or_else(|| Fault::Engine(format!("no part of an index has the chunk {number}")))?;
        point_id(part.build, number)
    }
}

fn documents(all: &BTreeSet<Id<Document>>) -> Condition {
    is_one_of("document", all.iter().map(ToString::to_string))
}

/// One collection for what the same encoder and the same analysis made.
pub(super) fn collection(encoder: &str, terms: &str) -> String {
    let digest = sha256_hex(format!("{encoder}\n{terms}").as_bytes());
    format!("dragoman_{}", digest.get(..24).unwrap_or(&digest))
}

impl Server {
    /// Nothing is asked of it yet.
    pub(super) fn new(chosen: &Qdrant) -> Result<Self, Fault> {
        let key = chosen.api_key.as_ref().map(|key| key.expose().to_owned());
        let builder = Client::from_url(chosen.url.as_str()).timeout(REQUEST).connect_timeout(CONNECT).api_key(key);
        // Its own look at the release would print to standard output; ours is in `version`.
        let client = builder.skip_compatibility_check().build().map_err(|problem| fault(&problem))?;
        Ok(Self { client, collections: Arc::default(), is_known: Arc::default() })
    }

    /// Its release.
    ///
    /// # Errors
    /// It does not answer within a few seconds, or is too old.
    pub(super) async fn version(&self) -> Result<String, Fault> {
        let probed = tokio::time::timeout(PROBE, self.probe()).await;
        probed.unwrap_or_else(|_| Err(away("does not answer", "it took too long to say its release")))
    }

    async fn probe(&self) -> Result<String, Fault> {
        let version = self.client.health_check().await.map_err(|problem| fault(&problem))?.version;
        let mut parts = version.split('.').map(|part| part.parse::<u64>().unwrap_or(0));
        let release = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
        if release < OLDEST {
            let (major, minor) = OLDEST;
            return Err(away(&format!("is {version}; {major}.{minor} or later is needed"), "its release"));
        }
        // Who only asks for its health may need no key.
        self.client.collection_exists("dragoman").await.map_err(|problem| fault(&problem))?;
        self.is_known.store(true, Ordering::Relaxed);
        Ok(version)
    }

    async fn known_to_do(&self) -> Result<(), Fault> {
        if !self.is_known.load(Ordering::Relaxed) {
            self.version().await?;
        }
        Ok(())
    }

    /// Makes the collection of a scope, where it is not there yet.
    pub(super) async fn prepare(&self, scope: &Scope, dimension: usize) -> Result<(), Fault> {
        if self.known().contains(&scope.collection) {
            return Ok(());
        }
        self.known_to_do().await?;
        let name = &scope.collection;
        if !self.client.collection_exists(name).await.map_err(|problem| fault(&problem))? {
            let made = self.client.create_collection(blank(name, dimension as u64)).await;
            // Another process may have been faster.
            let exists = self.client.collection_exists(name).await.map_err(|problem| fault(&problem))?;
            made.map(|_| ()).or_else(|problem| if exists { Ok(()) } else { Err(fault(&problem)) })?;
        }
        for (field, kind) in INDEXED {
            let is_tenant = (field == "tenant").then(|| {
                let params = KeywordIndexParams { is_tenant: Some(true), ..KeywordIndexParams::default() };
                PayloadIndexParams { index_params: Some(IndexParams::KeywordIndexParams(params)) }
            });
            let index = CreateFieldIndexCollection {
                collection_name: name.clone(),
                wait: Some(true),
                field_name: field.into(),
                field_type: Some(kind.into()),
                field_index_params: is_tenant,
                ..CreateFieldIndexCollection::default()
            };
            self.client.create_field_index(index).await.map_err(|problem| fault(&problem))?;
        }
        self.known().insert(name.clone());
        Ok(())
    }

    /// Writes points; they are there, and survive a crash of the server, when this returns.
    pub(super) async fn write(&self, scope: &Scope, points: Vec<PointStruct>) -> Result<(), Fault> {
        let collection_name = scope.collection.clone();
        let write = UpsertPoints { collection_name, wait: Some(true), points, ..UpsertPoints::default() };
        self.client.upsert_points(write).await.map_err(|problem| fault(&problem))?;
        Ok(())
    }

    /// How many points there are, exactly; none in a collection that is not there.
    pub(super) async fn count(&self, scope: &Scope) -> Result<u64, Fault> {
        let count = CountPoints {
            collection_name: scope.collection.clone(),
            filter: Some(scope.filter(Among::Those(&[]))?),
            exact: Some(true),
            ..CountPoints::default()
        };
        match self.client.count(count).await {
            Ok(reply) => Ok(reply.result.map_or(0, |result| result.count)),
            Err(problem) if is_missing(&problem) => {
                self.known().remove(&scope.collection);
                Ok(0)
            }
            Err(problem) => Err(fault(&problem)),
        }
    }

    /// Removes all points, or those of some documents; absent is fine.
    pub(super) async fn delete(&self, scope: &Scope, of: Option<&BTreeSet<Id<Document>>>) -> Result<(), Fault> {
        let mut filter = scope.filter(Among::Those(&[]))?;
        filter.must.extend(of.map(documents));
        let selected = PointsSelectorOneOf::Filter(filter);
        let delete = DeletePoints {
            collection_name: scope.collection.clone(),
            wait: Some(true),
            points: Some(PointsSelector { points_selector_one_of: Some(selected) }),
            ..DeletePoints::default()
        };
        match self.client.delete_points(delete).await {
            Err(problem) if !is_missing(&problem) => Err(fault(&problem)),
            _ => Ok(()),
        }
    }

    /// The best `limit` points for a vector, with their numbers.
    pub(super) async fn best(
        &self,
        scope: &Scope,
        (using, vector): (&str, VectorInput),
        among: Among<'_>,
        limit: usize,
    ) -> Result<Scores, Fault> {
        self.known_to_do().await?;
        let corpus = (using == SPARSE).then(|| scope.filter(Among::Those(&[]))).transpose()?;
        let params = SearchParams {
            exact: Some(scope.points <= EXACT || matches!(among, Among::Points(_))),
            idf: corpus.map(|corpus| IdfParams { corpus: Some(corpus) }),
            ..SearchParams::default()
        };
        let asked = QueryPoints {
            collection_name: scope.collection.clone(),
            query: Some(Query { variant: Some(query::Variant::Nearest(vector)) }),
            using: Some(using.into()),
            filter: Some(scope.filter(among)?),
            params: Some(params),
            limit: Some(limit as u64),
            with_payload: Some(Wanted::Nothing.payload()),
            with_vectors: Some(Wanted::Nothing.vectors()),
            ..QueryPoints::default()
        };
        let found = self.client.query(asked).await.map_err(|problem| fault(&problem))?.result;
        found.into_iter().map(|point| Ok((number(point.id)?, point.score))).collect()
    }

    /// At most `limit` points, in the order of their numbers.
    pub(super) async fn read(
        &self,
        scope: &Scope,
        among: Among<'_>,
        limit: usize,
        wanted: Wanted,
    ) -> Result<Vec<RetrievedPoint>, Fault> {
        // The server's order is that of the numbers within a build alone: more than a page is read a build at a time.
        let is_in_order = matches!(among, Among::Points(_)) || scope.parts.len() == 1;
        let at_once = if is_in_order { limit } else { limit.min(PAGE) };
        let (mut all, is_all) = self.scroll(scope, &scope.parts, (among, at_once), wanted).await?;
        if !is_in_order && !is_all {
            all.clear();
            for part in &scope.parts {
                let left = limit - all.len();
                all.extend(self.scroll(scope, from_ref(part), (among, left), wanted).await?.0);
            }
        }
        all.sort_by_cached_key(|point| number(point.id.clone()).ok());
        Ok(all)
    }

    /// At most `limit` points of these parts, in the order of their ids, and whether there are no others.
    async fn scroll(
        &self,
        scope: &Scope,
        parts: &[Part],
        (among, limit): (Among<'_>, usize),
        wanted: Wanted,
    ) -> Result<(Vec<RetrievedPoint>, bool), Fault> {
        let mut all: Vec<RetrievedPoint> = Vec::new();
        let mut offset: Option<PointId> = None;
        while all.len() < limit {
            let page = ScrollPoints {
                collection_name: scope.collection.clone(),
                filter: Some(scope.filter_in(parts, among)?),
                offset: offset.take(),
                limit: Some(u32::try_from((limit - all.len()).min(PAGE)).unwrap_or(u32::MAX)),
                with_payload: Some(wanted.payload()),
                with_vectors: Some(wanted.vectors()),
                ..ScrollPoints::default()
            };
            let reply = self.client.scroll(page).await.map_err(|problem| fault(&problem))?;
            let is_empty = reply.result.is_empty();
            all.extend(reply.result);
            offset = reply.next_page_offset;
            if offset.is_none() || is_empty {
                return Ok((all, true));
            }
        }
        Ok((all, false))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.collections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What filters ask often, and how; as in an embedded shard.
const INDEXED: [(&str, FieldType); 7] = [
    ("tenant", FieldType::Keyword),
    ("dataset", FieldType::Keyword),
    ("build", FieldType::Keyword),
    ("version", FieldType::Keyword),
    ("document", FieldType::Keyword),
    ("about.created", FieldType::Integer),
    ("about.tags", FieldType::Keyword),
];

/// A collection for many tenants: one graph a tenant, and none over all (Qdrant's guide to multitenancy).
fn blank(name: &str, dimension: u64) -> CreateCollection {
    let dense = VectorParams { size: dimension, distance: Distance::Cosine.into(), ..VectorParams::default() };
    let sparse = SparseVectorParams { modifier: Some(Modifier::Idf.into()), ..SparseVectorParams::default() };
    let map = VectorParamsMap { map: [(DENSE.to_owned(), dense)].into() };
    CreateCollection {
        collection_name: name.to_owned(),
        hnsw_config: Some(HnswConfigDiff { m: Some(0), payload_m: Some(16), ..HnswConfigDiff::default() }),
        vectors_config: Some(VectorsConfig { config: Some(Config::ParamsMap(map)) }),
        sparse_vectors_config: Some(SparseVectorConfig { map: [(SPARSE.to_owned(), sparse)].into() }),
        ..CreateCollection::default()
    }
}

impl Wanted {
    fn payload(self) -> WithPayloadSelector {
        let options = match self {
            // What phrases are looked for in is the text once more.
            Self::Chunk => Payloads::Exclude(PayloadExcludeSelector { fields: vec!["said".into()] }),
            Self::Place => {
                Payloads::Include(PayloadIncludeSelector { fields: vec!["document".into(), "chunk_index".into()] })
            }
            Self::Dense | Self::BothVectors | Self::Nothing => Payloads::Enable(false),
        };
        WithPayloadSelector { selector_options: Some(options) }
    }

    fn vectors(self) -> WithVectorsSelector {
        let options = match self {
            Self::Dense => WithVectors::Include(VectorsSelector { names: vec![DENSE.into()] }),
            Self::BothVectors => WithVectors::Enable(true),
            Self::Chunk | Self::Place | Self::Nothing => WithVectors::Enable(false),
        };
        WithVectorsSelector { selector_options: Some(options) }
    }
}

fn is_missing(problem: &QdrantError) -> bool {
    matches!(problem, QdrantError::ResponseError { status } if status.code() == Code::NotFound)
}

/// What became of a request: whether nobody answers, or an answer says that something is wrong.
pub(super) fn fault(problem: &QdrantError) -> Fault {
    let status = match problem {
        QdrantError::ResponseError { status } | QdrantError::ResourceExhaustedError { status, .. } => status,
        other => return Fault::Engine(other.to_string()),
    };
    let (code, message) = (status.code(), status.message());
    let cause = format!("{code:?}: {message}");
    match code {
        Code::Unauthenticated | Code::PermissionDenied => away("refuses the key of QDRANT_API_KEY", &cause),
        Code::Unavailable | Code::Cancelled | Code::DeadlineExceeded | Code::ResourceExhausted => {
            away("does not answer for now", &cause)
        }
        // What the client says itself when there is no connection, or one that broke.
        Code::Internal | Code::Unknown if message.contains("connect") || is_broken(status) => {
            away("cannot be reached", &cause)
        }
        Code::NotFound => Fault::Damaged(message.to_owned()),
        _ => Fault::Engine(cause),
    }
}

/// Of a server that cannot be used, for who set it: callers hear less ([`super::told`]).
fn away(says: &str, cause: &str) -> Fault {
    tracing::warn!(cause, "the Qdrant server at QDRANT_URL {says}");
    Fault::Away(format!("The Qdrant server at QDRANT_URL {says}."))
}

/// Whether a status is the connection's end and not an answer.
fn is_broken(status: &tonic::Status) -> bool {
    std::error::Error::source(status).is_some()
}
