//! What of a Qdrant server is asked for, in memory: the protocol's messages are the client crate's own, vectors of cosine
//! are made of length one, and the terms of sparse ones weigh as Qdrant computes it, over the corpus that the query names.
//! What is not asked for is refused.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use ::qdrant_client::qdrant::collections_server::{Collections, CollectionsServer};
use ::qdrant_client::qdrant::point_id::PointIdOptions;
use ::qdrant_client::qdrant::points_selector::PointsSelectorOneOf;
use ::qdrant_client::qdrant::points_server::{Points, PointsServer};
use ::qdrant_client::qdrant::qdrant_server::{Qdrant, QdrantServer};
use ::qdrant_client::qdrant::vector::Vector as VectorKind;
use ::qdrant_client::qdrant::vector_input::Variant;
use ::qdrant_client::qdrant::vectors::VectorsOptions;
use ::qdrant_client::qdrant::vectors_output::VectorsOptions as GivenVectors;
use ::qdrant_client::qdrant::with_payload_selector::SelectorOptions as Payloads;
use ::qdrant_client::qdrant::with_vectors_selector::SelectorOptions as WithVectors;
use ::qdrant_client::qdrant::*;
use serde_json::Value as Json;
use tonic::{Request, Response, Status};

use super::matching::holds;

/// See the module.
pub struct StandIn {
    key: Option<&'static str>,
    /// Whoever has one keeps points from being removed, or from being written.
    pub deletes: Arc<tokio::sync::Mutex<()>>,
    pub writes: Arc<tokio::sync::Mutex<()>>,
    /// How many requests to write points came.
    pub asked: AtomicUsize,
    /// Whether no points are removed, and how many requests to do it were refused.
    pub refuses: AtomicBool,
    pub refused: AtomicUsize,
    collections: Mutex<BTreeMap<String, BTreeMap<String, Kept>>>,
}

/// A point.
#[derive(Clone)]
struct Kept {
    id: PointId,
    payload: Json,
    dense: Vec<f32>,
    sparse: SparseVector,
}

/// Serves it until it is told to stop.
pub async fn serve(kept: Arc<StandIn>, port: u16, stop: impl Future<Output = ()> + Send) {
    let address = ([127, 0, 0, 1], port).into();
    let server = tonic::transport::Server::builder()
        .add_service(QdrantServer::from_arc(kept.clone()))
        .add_service(CollectionsServer::from_arc(kept.clone()))
        .add_service(PointsServer::from_arc(kept));
    server.serve_with_shutdown(address, stop).await.unwrap();
}

type Answer<T> = Result<Response<T>, Status>;
type Later<'a, T> = Pin<Box<dyn Future<Output = Answer<T>> + Send + 'a>>;

fn answer<T>(reply: T) -> Answer<T> {
    Ok(Response::new(reply))
}

impl StandIn {
    pub fn new(key: Option<&'static str>) -> Self {
        Self {
            key,
            deletes: Arc::default(),
            writes: Arc::default(),
            asked: AtomicUsize::default(),
            refuses: AtomicBool::default(),
            refused: AtomicUsize::default(),
            collections: Mutex::default(),
        }
    }

    /// What is asked, of who has the key.
    fn let_in<T>(&self, request: Request<T>) -> Result<T, Status> {
        let given = request.metadata().get("api-key").and_then(|key| key.to_str().ok());
        match self.key.is_none_or(|key| given == Some(key)) {
            true => Ok(request.into_inner()),
            false => Err(Status::unauthenticated("Invalid API key or JWT")),
        }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, BTreeMap<String, Kept>>> {
        self.collections.lock().unwrap()
    }

    /// The points of a collection that a filter means, by their ids.
    fn found(&self, collection: &str, filter: Option<&Filter>) -> Result<Vec<Kept>, Status> {
        let all = self.all();
        let points = all.get(collection).ok_or_else(|| missing(collection))?;
        let mut found = Vec::new();
        for point in points.values() {
            if holds(filter.unwrap_or(&Filter::default()), &point.id, &point.payload)? {
                found.push(point.clone());
            }
        }
        Ok(found)
    }

    fn scored(&self, asked: &QueryPoints) -> Result<Vec<(Kept, f32)>, Status> {
        let found = self.found(&asked.collection_name, asked.filter.as_ref())?;
        let Some(query::Variant::Nearest(vector)) = asked.query.as_ref().and_then(|query| query.variant.clone()) else {
            return Err(Status::unimplemented("another query than nearest"));
        };
        let mut scored: Vec<(Kept, f32)> = match vector.variant {
            Some(Variant::Dense(query)) => {
                let query = unit(&query.data);
                let scored = |point: Kept| {
                    let score = dot(&point.dense, &query);
                    (point, score)
                };
                found.into_iter().map(scored).collect()
            }
            Some(Variant::Sparse(query)) => {
                let idf = asked.params.as_ref().and_then(|params| params.idf.as_ref());
                let corpus = idf.and_then(|idf| idf.corpus.as_ref());
                let corpus = self.found(&asked.collection_name, corpus)?;
                let weights = query.indices.iter().zip(&query.values);
                let weights: Vec<(u32, f32)> =
                    weights.map(|(term, value)| (*term, value * rarity(&corpus, *term))).collect();
                let score = |point: &Kept| {
                    let mut parts = weights.iter().filter_map(|(term, by)| Some(weight(point, *term)? * by)).peekable();
                    parts.peek()?;
                    Some(parts.sum::<f32>())
                };
                let scored = |point: Kept| {
                    let score = score(&point)?;
                    Some((point, score))
                };
                found.into_iter().filter_map(scored).collect()
            }
            other => return Err(Status::unimplemented(format!("{other:?}"))),
        };
        scored.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        scored.truncate(asked.limit.unwrap_or(10) as usize);
        Ok(scored)
    }
}

fn missing(collection: &str) -> Status {
    Status::not_found(format!("Not found: Collection `{collection}` doesn't exist!"))
}

/// A term's weight in a point, if it has it.
fn weight(point: &Kept, term: u32) -> Option<f32> {
    let at = point.sparse.indices.iter().position(|index| *index == term)?;
    point.sparse.values.get(at).copied()
}

/// What a term is worth among these points: ln(1 + (N - n + 0.5) / (n + 0.5)), Robertson and Zaragoza 2009.
fn rarity(corpus: &[Kept], term: u32) -> f32 {
    let (all, with) = (corpus.len() as f32, corpus.iter().filter(|point| weight(point, term).is_some()).count() as f32);
    ((all - with + 0.5) / (with + 0.5) + 1.0).ln()
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

fn unit(vector: &[f32]) -> Vec<f32> {
    let length = dot(vector, vector).sqrt();
    vector.iter().map(|x| if length > 0.0 { x / length } else { *x }).collect()
}

/// As ids are sorted.
fn text(id: &PointId) -> String {
    match id.point_id_options.as_ref().unwrap() {
        PointIdOptions::Uuid(text) => text.clone(),
        PointIdOptions::Num(number) => format!("{number:020}"),
    }
}

fn kept(point: PointStruct) -> Result<Kept, Status> {
    let payload = point.payload.into_iter().map(|(name, value)| (name, Json::from(value))).collect();
    let Some(VectorsOptions::Vectors(mut named)) = point.vectors.and_then(|vectors| vectors.vectors_options) else {
        return Err(Status::invalid_argument("vectors have names"));
    };
    let mut take = |name| named.vectors.remove(name).and_then(|vector| vector.vector);
    let (Some(VectorKind::Dense(dense)), Some(VectorKind::Sparse(sparse))) = (take("dense"), take("sparse")) else {
        return Err(Status::invalid_argument("a dense and a sparse vector"));
    };
    Ok(Kept { id: point.id.unwrap(), payload: Json::Object(payload), dense: unit(&dense.data), sparse })
}

fn retrieved(
    point: Kept,
    payload: Option<WithPayloadSelector>,
    vectors: Option<WithVectorsSelector>,
) -> RetrievedPoint {
    let Json::Object(members) = point.payload else { panic!("a payload is an object") };
    let wanted = |name: &str| match payload.as_ref().and_then(|payload| payload.selector_options.as_ref()) {
        None | Some(Payloads::Enable(false)) => false,
        Some(Payloads::Enable(true)) => true,
        Some(Payloads::Include(these)) => these.fields.iter().any(|field| field == name),
        Some(Payloads::Exclude(those)) => those.fields.iter().all(|field| field != name),
    };
    let payload = members.into_iter().filter(|(name, _)| wanted(name)).map(|(name, value)| (name, Value::from(value)));
    let is_wanted = |name: &str| match vectors.as_ref().and_then(|vectors| vectors.selector_options.as_ref()) {
        None | Some(WithVectors::Enable(false)) => false,
        Some(WithVectors::Enable(true)) => true,
        Some(WithVectors::Include(these)) => these.names.iter().any(|one| one == name),
    };
    let dense = vector_output::Vector::Dense(DenseVector { data: point.dense });
    let sparse = vector_output::Vector::Sparse(point.sparse);
    let named = [("dense", dense), ("sparse", sparse)].into_iter().filter(|(name, _)| is_wanted(name));
    let named =
        named.map(|(name, vector)| (name.to_owned(), VectorOutput { vector: Some(vector), ..VectorOutput::default() }));
    let vectors = GivenVectors::Vectors(NamedVectorsOutput { vectors: named.collect() });
    RetrievedPoint {
        id: Some(point.id),
        payload: payload.collect(),
        vectors: Some(VectorsOutput { vectors_options: Some(vectors) }),
        ..RetrievedPoint::default()
    }
}

/// Methods that nothing here calls.
macro_rules! not_asked_for {
    ($($name:ident: $asked:ty => $reply:ty;)*) => {$(
        fn $name<'life0, 'async_trait>(&'life0 self, _: Request<$asked>) -> Later<'async_trait, $reply>
        where
            'life0: 'async_trait,
            Self: 'async_trait,
        {
            Box::pin(async { Err(Status::unimplemented(stringify!($name))) })
        }
    )*};
}

/// Methods that are answered at once.
macro_rules! answered {
    ($($name:ident($this:ident, $request:ident: $asked:ty) -> $reply:ty $body:block)*) => {$(
        fn $name<'life0, 'async_trait>(&'life0 self, request: Request<$asked>) -> Later<'async_trait, $reply>
        where
            'life0: 'async_trait,
            Self: 'async_trait,
        {
            let $this = self;
            Box::pin(async move {
                let $request = $this.let_in(request)?;
                $body
            })
        }
    )*};
}

impl Qdrant for StandIn {
    answered! {
        health_check(this, _asked: HealthCheckRequest) -> HealthCheckReply {
            answer(HealthCheckReply { title: "stand-in".into(), version: "1.19.0".into(), commit: None })
        }
    }
}

impl Collections for StandIn {
    answered! {
        create(this, asked: CreateCollection) -> CollectionOperationResponse {
            this.all().entry(asked.collection_name).or_default();
            answer(CollectionOperationResponse { result: true, time: 0.0 })
        }
        collection_exists(this, asked: CollectionExistsRequest) -> CollectionExistsResponse {
            let exists = this.all().contains_key(&asked.collection_name);
            answer(CollectionExistsResponse { result: Some(CollectionExists { exists }), time: 0.0 })
        }
        list(this, _asked: ListCollectionsRequest) -> ListCollectionsResponse {
            let collections = this.all().keys().map(|name| CollectionDescription { name: name.clone() }).collect();
            answer(ListCollectionsResponse { collections, time: 0.0 })
        }
    }
    not_asked_for! {
        get: GetCollectionInfoRequest => GetCollectionInfoResponse;
        update: UpdateCollection => CollectionOperationResponse;
        delete: DeleteCollection => CollectionOperationResponse;
        update_aliases: ChangeAliases => CollectionOperationResponse;
        list_collection_aliases: ListCollectionAliasesRequest => ListAliasesResponse;
        list_aliases: ListAliasesRequest => ListAliasesResponse;
        collection_cluster_info: CollectionClusterInfoRequest => CollectionClusterInfoResponse;
        update_collection_cluster_setup: UpdateCollectionClusterSetupRequest => UpdateCollectionClusterSetupResponse;
        create_shard_key: CreateShardKeyRequest => CreateShardKeyResponse;
        delete_shard_key: DeleteShardKeyRequest => DeleteShardKeyResponse;
        list_shard_keys: ListShardKeysRequest => ListShardKeysResponse;
    }
}

fn done() -> Answer<PointsOperationResponse> {
    let result = UpdateResult { status: UpdateStatus::Completed.into(), ..UpdateResult::default() };
    answer(PointsOperationResponse { result: Some(result), ..PointsOperationResponse::default() })
}

impl Points for StandIn {
    answered! {
        upsert(this, asked: UpsertPoints) -> PointsOperationResponse {
            this.asked.fetch_add(1, Ordering::SeqCst);
            let _turn = this.writes.lock().await;
            let mut all = this.all();
            let points = all.get_mut(&asked.collection_name).ok_or_else(|| missing(&asked.collection_name))?;
            for point in asked.points {
                let point = kept(point)?;
                points.insert(text(&point.id), point);
            }
            done()
        }
        delete(this, asked: DeletePoints) -> PointsOperationResponse {
            let Some(PointsSelectorOneOf::Filter(filter)) = asked.points.and_then(|it| it.points_selector_one_of) else {
                return Err(Status::unimplemented("points by their ids"));
            };
            if this.refuses.load(Ordering::SeqCst) {
                this.refused.fetch_add(1, Ordering::SeqCst);
                return Err(Status::unavailable("nothing is removed"));
            }
            let _turn = this.deletes.lock().await;
            let gone = this.found(&asked.collection_name, Some(&filter))?;
            let mut all = this.all();
            let points = all.get_mut(&asked.collection_name).ok_or_else(|| missing(&asked.collection_name))?;
            gone.iter().for_each(|point| drop(points.remove(&text(&point.id))));
            done()
        }
        create_field_index(this, _asked: CreateFieldIndexCollection) -> PointsOperationResponse {
            done()
        }
        count(this, asked: CountPoints) -> CountResponse {
            let count = this.found(&asked.collection_name, asked.filter.as_ref())?.len() as u64;
            answer(CountResponse { result: Some(CountResult { count }), ..CountResponse::default() })
        }
        scroll(this, asked: ScrollPoints) -> ScrollResponse {
            let from = asked.offset.as_ref().map(text).unwrap_or_default();
            let mut found = this.found(&asked.collection_name, asked.filter.as_ref())?;
            found.retain(|point| text(&point.id) >= from);
            let limit = asked.limit.unwrap_or(10) as usize;
            let next_page_offset = found.get(limit).map(|point| point.id.clone());
            found.truncate(limit);
            let (payload, vectors) = (asked.with_payload, asked.with_vectors);
            let result = found.into_iter().map(|point| retrieved(point, payload.clone(), vectors.clone())).collect();
            answer(ScrollResponse { next_page_offset, result, ..ScrollResponse::default() })
        }
        query(this, asked: QueryPoints) -> QueryResponse {
            let scored = this.scored(&asked)?.into_iter().map(|(point, score)| {
                ScoredPoint { id: Some(point.id), score, ..ScoredPoint::default() }
            });
            answer(QueryResponse { result: scored.collect(), ..QueryResponse::default() })
        }
    }
    not_asked_for! {
        get: GetPoints => GetResponse;
        update_vectors: UpdatePointVectors => PointsOperationResponse;
        delete_vectors: DeletePointVectors => PointsOperationResponse;
        set_payload: SetPayloadPoints => PointsOperationResponse;
        overwrite_payload: SetPayloadPoints => PointsOperationResponse;
        delete_payload: DeletePayloadPoints => PointsOperationResponse;
        clear_payload: ClearPayloadPoints => PointsOperationResponse;
        delete_field_index: DeleteFieldIndexCollection => PointsOperationResponse;
        create_vector_name: CreateVectorNameRequest => PointsOperationResponse;
        delete_vector_name: DeleteVectorNameRequest => PointsOperationResponse;
        search: SearchPoints => SearchResponse;
        search_batch: SearchBatchPoints => SearchBatchResponse;
        search_groups: SearchPointGroups => SearchGroupsResponse;
        recommend: RecommendPoints => RecommendResponse;
        recommend_batch: RecommendBatchPoints => RecommendBatchResponse;
        recommend_groups: RecommendPointGroups => RecommendGroupsResponse;
        discover: DiscoverPoints => DiscoverResponse;
        discover_batch: DiscoverBatchPoints => DiscoverBatchResponse;
        update_batch: UpdateBatchPoints => UpdateBatchResponse;
        query_batch: QueryBatchPoints => QueryBatchResponse;
        query_groups: QueryPointGroups => QueryGroupsResponse;
        facet: FacetCounts => FacetResponse;
        search_matrix_pairs: SearchMatrixPoints => SearchMatrixPairsResponse;
        search_matrix_offsets: SearchMatrixPoints => SearchMatrixOffsetsResponse;
    }
}
