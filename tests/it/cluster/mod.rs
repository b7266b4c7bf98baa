//! Indexes of documents on a Qdrant server: the same answers as from the data folder, the same walls, and what happens when
//! the server is not there, or has lost something.

mod erased;
mod faults;
mod parts;

use std::collections::HashMap;
use std::path::Path;

use dragoman::base::clock::Clock;
use dragoman::base::id::Id;
use dragoman::gateway::Via;
use dragoman::model::access::Role;
use dragoman::model::cluster_index::Home;
use dragoman::model::dataset::Dataset;
use dragoman::ops::delete_dataset::DeleteDataset;
use qdrant_client::qdrant::vectors::VectorsOptions;
use qdrant_client::qdrant::{
    Condition, CountPointsBuilder, DenseVector, Filter, NamedVectors, PointStruct, ScrollPointsBuilder, SparseVector,
    UpsertPointsBuilder, Vector, Vectors, vector, vector_output, vectors_output,
};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use crate::rag::{Acme, files};
use crate::support::program::command;
use crate::support::qdrant::Qdrant;
use crate::support::service::{Service, operator};

/// A workspace whose indexes are on a server.
async fn acme(server: &Qdrant) -> Acme {
    Acme::open(Service::with(&[("QDRANT_URL", &server.url), ("DRAGOMAN_VERSIONS", "1")]).await).await
}

/// The workspace after a start of the service, where a person signs in anew: its address is another.
async fn started(settings: &[(&str, &str)], email: &str) -> Acme {
    let service = Service::with(settings).await;
    let org = dragoman::store::orgs::by_slug(service.db.pool(), "acme").await.unwrap().unwrap();
    let (_, token) = service.member(&org, email, Role::Contributor).await;
    Acme { service, org, token }
}

/// Searches of every kind.
fn searches() -> Vec<(&'static str, Value)> {
    let mut all = vec![
        ("dragoman_search", json!({ "query": "when do goods go back", "top_k": 20 })),
        ("rag_search_fts", json!({ "query": "thirty days", "k": 50 })),
        ("rag_search_fts", json!({ "query": "\"thirty days\" title:shop", "k": 50 })),
        ("rag_search_fts", json!({ "query": "\"because of\"", "k": 50 })),
        ("rag_search_vector", json!({ "query_text": "delayed aircraft and bad weather", "k": 50 })),
        ("rag_search_hybrid", json!({ "query": "can I get my money back within thirty days", "k": 50 })),
        ("rag_search_hybrid", json!({ "query": "東京 office by the lake", "k": 50, "group_by": "document" })),
    ];
    for filters in [
        json!({ "source_names": ["offices"] }),
        json!({ "source_files": ["lunch.txt", "returns.md"] }),
        json!({ "tags_any": ["travel", "policy"] }),
        json!({ "tags_all": ["shop", "policy"] }),
        json!({ "metadata": { "author": ["Ann", "Bob O'Neil"], "Score": { "gte": 5 } } }),
        json!({ "post_type_ids": [1, 7] }),
        json!({ "created_after": "2024-01-01", "created_before": "2024-12-31" }),
    ] {
        all.push(("rag_search_hybrid", json!({ "query": "the rules", "k": 50, "filters": filters })));
    }
    all
}

/// What each of these searches finds: chunks in their order, and their scores.
async fn found(acme: &Acme) -> Vec<Vec<(String, f64)>> {
    let mut all = Vec::new();
    for (tool, arguments) in searches() {
        let (failed, reply) = acme.service.tool(&acme.token, tool, arguments.clone()).await;
        assert!(!failed && reply.get("degraded").is_none_or(Value::is_null), "{tool} {arguments}: {reply}");
        let hits = reply.get("results").or_else(|| reply.get("matches")).unwrap().as_array().unwrap();
        let id = |hit: &Value| hit.get("id").or_else(|| hit.get("chunk_id")).unwrap().to_string();
        all.push(hits.iter().map(|hit| (id(hit), hit["score"].as_f64().unwrap())).collect());
    }
    all
}

/// The same chunks in the same order, with scores that differ as sums of other orders do.
fn assert_same(one: &[Vec<(String, f64)>], other: &[Vec<(String, f64)>], when: &str) {
    for ((search, one), other) in searches().iter().zip(one).zip(other) {
        let ids = |hits: &[(String, f64)]| hits.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(one), ids(other), "{when}: {search:?}\n{one:?}\n{other:?}");
        for ((id, a), (_, b)) in one.iter().zip(other) {
            assert!((a - b).abs() < 1e-3, "{when}: {search:?}: {id} has {a} and {b}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_answers_alike_on_the_server_and_in_the_folder_and_moves_from_the_one_to_the_other_and_back() {
    let server = Qdrant::start().await;
    let acme = acme(&server).await;
    let on_server = found(&acme).await;
    assert!(on_server.iter().all(|hits| !hits.is_empty()), "{on_server:?}");
    let points = server.points().await;
    assert_eq!(points, 8, "the chunks of three datasets");

    let mut told = std::sync::Mutex::new(Vec::new());
    let tell = |name: &str| told.lock().unwrap().push(name.to_owned());
    let moved = acme.service.gateway.move_indexes(acme.org.id, Home::Folder, tell).await.unwrap();
    assert_eq!((moved.moved, moved.chunks, moved.there, moved.rebuilt), (3, points, 0, 0));
    assert_eq!(*told.get_mut().unwrap(), ["handbook", "offices", "plans"]);
    assert_eq!(server.points().await, 0, "nothing is left there");
    let in_folder = found(&acme).await;
    assert_same(&on_server, &in_folder, "moved to the folder");
    // New ones are where the workspace's are, whatever the settings say.
    acme.import("lunches", &[("menu.txt", "Soup on Fridays.")], true).await;
    assert_eq!(server.points().await, 0);

    let again = acme.service.gateway.move_indexes(acme.org.id, Home::Cluster, |_| ()).await.unwrap();
    assert_eq!((again.moved, again.chunks, again.rebuilt), (4, points + 1, 0));
    assert_eq!(server.points().await, points + 1);
    let op = DeleteDataset { dataset_id: id_of(&acme, "lunches").await, name: "lunches".into() };
    acme.service.gateway.call(&operator(&acme.org), op, Via::new("admin.call")).await.unwrap();
    assert_same(&in_folder, &found(&acme).await, "moved back");
    let nothing = acme.service.gateway.move_indexes(acme.org.id, Home::Cluster, |_| ()).await.unwrap();
    assert_eq!((nothing.moved, nothing.there), (0, 3), "asked for again, nothing is left to do");
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_goes_on_with_the_rest_when_a_version_is_erased_meanwhile() {
    let server = Qdrant::start().await;
    let acme = acme(&server).await;
    let op = DeleteDataset { dataset_id: id_of(&acme, "offices").await, name: "offices".into() };
    let op = std::sync::Mutex::new(Some(op));
    let mut told = std::sync::Mutex::new(Vec::new());
    let tell = |name: &str| {
        told.lock().unwrap().push(name.to_owned());
        let op = op.lock().unwrap().take();
        let Some(op) = op else { return };
        let caller = operator(&acme.org);
        let erased = acme.service.gateway.call(&caller, op, Via::new("admin.call"));
        tokio::task::block_in_place(|| Handle::current().block_on(erased)).unwrap();
    };
    let moved = acme.service.gateway.move_indexes(acme.org.id, Home::Folder, tell).await.unwrap();
    assert_eq!((moved.moved, moved.erased, moved.rebuilt), (2, 1, 0));
    assert_eq!(*told.get_mut().unwrap(), ["handbook", "plans"]);
    assert_eq!(server.points().await, 0);
    let reply = acme.ask("rag_search_hybrid", json!({ "query": "the rules", "k": 50 })).await;
    assert!(!files(&reply).is_empty() && !files(&reply).contains(&"zurich.txt"), "{reply}");
    acme.service.stop().await;
}

/// A dataset's id.
async fn id_of(acme: &Acme, name: &str) -> Id<Dataset> {
    let mut read = acme.service.db.read_tenant(acme.org.id).await.unwrap();
    dragoman::store::datasets::by_name(&mut read, acme.org.id, name).await.unwrap().unwrap().id
}

/// What the command to move a workspace says: its facts, or why not.
async fn move_by_command(data: &Path, url: &str, to: &str) -> Result<Value, String> {
    let mut dragoman = command(data);
    dragoman.env("QDRANT_URL", url).args(["admin", "index", "move", "--workspace", "acme", "--to", to, "--json"]);
    let output = dragoman.output().await.unwrap();
    match output.status.success() {
        true => Ok(serde_json::from_slice(&output.stdout).unwrap()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_command_moves_a_workspace_while_no_service_runs() {
    let server = Qdrant::start().await;
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().display().to_string();
    let acme = Acme::open(Service::with(&[("DRAGOMAN_DATA_DIR", &folder)]).await).await;
    let in_folder = found(&acme).await;
    let refused = move_by_command(data.path(), &server.url, "qdrant").await.unwrap_err();
    assert!(refused.contains("Stop it"), "{refused}");
    acme.service.stop().await;

    let moved = move_by_command(data.path(), &server.url, "qdrant").await.unwrap();
    assert_eq!(moved, json!({ "to": "qdrant", "moved": 3, "chunks": 8, "there": 0, "rebuilt": 0, "erased": 0 }));
    assert_eq!(server.points().await, 8);
    let settings = [("DRAGOMAN_DATA_DIR", folder.as_str()), ("QDRANT_URL", server.url.as_str())];
    let acme = started(&settings, "bob@example.com").await;
    assert_same(&in_folder, &found(&acme).await, "moved by the command");
    acme.service.stop().await;
    let back = move_by_command(data.path(), &server.url, "folder").await.unwrap();
    assert_eq!((&back["moved"], &back["chunks"]), (&json!(3), &json!(8)), "{back}");
    assert_eq!(server.points().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn replaced_and_erased_texts_leave_the_server() {
    let server = Qdrant::start().await;
    let acme = acme(&server).await;
    acme.import("offices", &[("paris.txt", "The office in Paris is by the river.")], true).await;
    assert_eq!(server.points().await, 8, "the version before is not kept: one passage in the place of one");
    let reply = acme.ask("rag_search_hybrid", json!({ "query": "office Zürich", "k": 50 })).await;
    assert!(files(&reply).contains(&"paris.txt") && !files(&reply).contains(&"zurich.txt"), "{reply}");
    for name in ["offices", "plans"] {
        let op = DeleteDataset { dataset_id: id_of(&acme, name).await, name: name.into() };
        acme.service.gateway.call(&operator(&acme.org), op, Via::new("admin.call")).await.unwrap();
    }
    assert_eq!(server.points().await, 6);
    acme.service.stop().await;
}

/// A point with the texts of another tenant, which is as near to every question as ours are: a copy of each of our points,
/// with nothing changed but whose it says that it is.
async fn plant(server: &Qdrant, clock: &Clock, tenant: &str) -> usize {
    let (client, collection) = (server.client(), server.collection().await);
    let all = ScrollPointsBuilder::new(&collection).limit(1_000).with_payload(true).with_vectors(true);
    let copies: Vec<PointStruct> = client
        .scroll(all)
        .await
        .unwrap()
        .result
        .into_iter()
        .map(|point| {
            let mut payload = point.payload;
            payload.insert("tenant".into(), tenant.to_owned().into());
            payload.insert("source_file".into(), "secret.txt".to_owned().into());
            let Some(vectors_output::VectorsOptions::Vectors(named)) = point.vectors.unwrap().vectors_options else {
                panic!("vectors have names")
            };
            let vector = |given: vector_output::Vector| match given {
                vector_output::Vector::Dense(dense) => vector::Vector::Dense(DenseVector { data: dense.data }),
                vector_output::Vector::Sparse(sparse) => {
                    vector::Vector::Sparse(SparseVector { values: sparse.values, indices: sparse.indices })
                }
                other @ vector_output::Vector::MultiDense(_) => panic!("{other:?}"),
            };
            let vectors: HashMap<String, Vector> = named
                .vectors
                .into_iter()
                .map(|(name, given)| (name, Vector { vector: Some(vector(given.into_vector())), ..Vector::default() }))
                .collect();
            let vectors = Vectors { vectors_options: Some(VectorsOptions::Vectors(NamedVectors { vectors })) };
            PointStruct { id: Some(Id::<Dataset>::new(clock).to_string().into()), payload, vectors: Some(vectors) }
        })
        .collect();
    let count = copies.len();
    client.upsert_points(UpsertPointsBuilder::new(&collection, copies).wait(true)).await.unwrap();
    count
}

#[tokio::test(flavor = "multi_thread")]
async fn points_of_another_tenant_are_never_found_or_counted_whatever_else_they_say() {
    let server = Qdrant::start().await;
    let acme = acme(&server).await;
    let before = found(&acme).await;
    let theirs = acme.service.workspace("globex").await;
    assert_eq!(plant(&server, &acme.service.clock, &theirs.id.to_string()).await, 8);
    assert_eq!(server.points().await, 16);
    // But for whose they are, they are as ours: nothing else keeps them away.
    let handbook = Filter::must([Condition::matches("dataset", id_of(&acme, "handbook").await.to_string())]);
    let alike = CountPointsBuilder::new(server.collection().await).filter(handbook).exact(true);
    assert_eq!(server.client().count(alike).await.unwrap().result.unwrap().count, 12);
    assert_same(&before, &found(&acme).await, "beside their points");
    let reply = acme.ask("rag_search_hybrid", json!({ "query": "thirty days", "k": 50 })).await;
    assert!(!files(&reply).contains(&"secret.txt"), "{reply}");
    let renewed = acme.service.gateway.renew_once().await.unwrap();
    assert_eq!((renewed.rebuilt, renewed.failed), (0, 0), "they do not count as ours: {renewed:?}");
    acme.service.stop().await;
}
