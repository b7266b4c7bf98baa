//! Versions that share points: an import that adds documents writes these alone, each version finds what is its own, and
//! points go with the last version that has them.

use dragoman::gateway::Via;
use dragoman::model::cluster_index::{Chain, Home};
use dragoman::ops::dataset_versions::{DeleteVersion, RestoreVersion};
use dragoman::ops::delete_dataset::DeleteDataset;
use dragoman::store::cluster_indexes as rows;
use serde_json::json;

use super::{assert_same, found, id_of};
use crate::rag::{Acme, files};
use crate::support::qdrant::Qdrant;
use crate::support::service::{Service, operator};

async fn acme(server: &Qdrant) -> Acme {
    Acme::open(Service::with(&[("QDRANT_URL", &server.url), ("DRAGOMAN_VERSIONS", "50")]).await).await
}

/// The current version of a dataset.
async fn version(acme: &Acme, name: &str) -> String {
    let mut read = acme.service.db.read_tenant(acme.org.id).await.unwrap();
    let dataset = dragoman::store::datasets::by_name(&mut read, acme.org.id, name).await.unwrap();
    dataset.unwrap().version.unwrap()
}

/// The builds that answer for the current version of a dataset.
async fn chain(acme: &Acme, name: &str) -> Chain {
    let (id, version) = (id_of(acme, name).await, version(acme, name).await);
    let mut read = acme.service.db.read_tenant(acme.org.id).await.unwrap();
    rows::of_version(&mut read, acme.org.id, id, &version).await.unwrap().unwrap().chain
}

async fn restore(acme: &Acme, name: &str, version: &str) {
    let op = RestoreVersion { dataset_id: id_of(acme, name).await, version: version.parse().unwrap() };
    acme.service.gateway.call(&operator(&acme.org), op, Via::new("admin.call")).await.unwrap();
}

async fn delete(acme: &Acme, name: &str, version: &str) {
    let op = DeleteVersion { dataset_id: id_of(acme, name).await, version: version.parse().unwrap() };
    acme.service.gateway.call(&operator(&acme.org), op, Via::new("admin.call")).await.unwrap();
}

/// The files of the passages that have one of these words, in the order of their names.
async fn with_words(acme: &Acme, words: &str) -> Vec<String> {
    let reply = acme.ask("rag_search_fts", json!({ "query": words, "k": 50 })).await;
    assert!(reply.get("degraded").is_none_or(serde_json::Value::is_null), "{reply}");
    let mut files: Vec<String> = files(&reply).into_iter().map(str::to_owned).collect();
    files.sort();
    files
}

const NOODLES: &str = "The canteen serves noodles.";
const FERRY: &str = "The ferry leaves the pier.";
const NOTHING: [&str; 0] = [];

#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_adds_writes_its_own_points_alone_and_is_found_as_if_all_were_written_anew() {
    let server = Qdrant::start().await;
    let acme = acme(&server).await;
    let bytes = async || {
        let mut read = acme.service.db.read_tenant(acme.org.id).await.unwrap();
        dragoman::store::datasets::by_name(&mut read, acme.org.id, "handbook").await.unwrap().unwrap().bytes
    };
    let (points, before) = (server.points().await, bytes().await);
    acme.append("handbook", &[("ferries.txt", FERRY), ("lunch.txt", NOODLES)]).await;
    assert_eq!((points, server.points().await), (8, 10), "a passage of each text, and none of those that stay");
    assert_eq!((chain(&acme, "handbook").await.parts.len(), chain(&acme, "handbook").await.kept), (2, 5));
    assert!(bytes().await > before, "the bytes of what stays count too");

    assert_eq!(with_words(&acme, "pier").await, ["ferries.txt"]);
    assert_eq!(with_words(&acme, "noodles").await, ["lunch.txt"]);
    assert_eq!(with_words(&acme, "soup").await, NOTHING, "the text that was replaced");
    assert!(with_words(&acme, "thirty days").await.contains(&"returns.md".to_owned()));
    let reply = acme.ask("rag_search_vector", json!({ "query_text": "soup at noon", "k": 50 })).await;
    let lunches = files(&reply).into_iter().filter(|file| *file == "lunch.txt").count();
    assert_eq!(lunches, 1, "by meaning too: {reply}");

    // How rare words are, which passages are best, and their order: all as in an index that was written in one go.
    let in_parts = found(&acme).await;
    let renewed = acme.service.gateway.renew_once().await.unwrap();
    assert_eq!((renewed.rebuilt, renewed.failed, renewed.unknown), (0, 0, 0), "nothing is missing: {renewed:?}");
    let moved = acme.service.gateway.move_indexes(acme.org.id, Home::Folder, |_| ()).await.unwrap();
    assert_eq!((moved.moved, moved.chunks, moved.rebuilt), (4, 6 + 7 + 1 + 1, 0));
    assert_eq!(server.points().await, 0, "nothing is left there");
    assert_same(&in_parts, &found(&acme).await, "moved to the folder");
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_version_has_its_own_and_what_is_erased_is_what_no_other_has() {
    let server = Qdrant::start().await;
    let acme = acme(&server).await;
    // As indexes were written before there were parts.
    let mut tx = acme.service.db.everyone().await.unwrap();
    sqlx::query("UPDATE cluster_indexes SET chain = ''").execute(&mut *tx).await.unwrap();
    tx.commit().await.unwrap();
    let first = version(&acme, "handbook").await;
    acme.append("handbook", &[("ferries.txt", FERRY), ("lunch.txt", NOODLES)]).await;
    let second = version(&acme, "handbook").await;
    restore(&acme, "handbook", &first).await;
    assert_eq!(with_words(&acme, "soup").await, ["lunch.txt"]);
    assert_eq!(with_words(&acme, "noodles pier").await, NOTHING);
    // It goes on from the one that was restored, beside the other.
    acme.append("handbook", &[("trams.txt", "The tram rings its bell.")]).await;
    let third = version(&acme, "handbook").await;
    assert_eq!(server.points().await, 8 + 2 + 1);
    assert_eq!(with_words(&acme, "soup bell pier noodles").await, ["lunch.txt", "trams.txt"]);
    restore(&acme, "handbook", &second).await;
    assert_eq!(with_words(&acme, "bell soup").await, NOTHING);

    delete(&acme, "handbook", &first).await;
    assert_eq!(server.points().await, 11, "others have all that it had");
    delete(&acme, "handbook", &third).await;
    assert_eq!(server.points().await, 9, "its own text, and the one that was replaced in what is left");
    assert_eq!(with_words(&acme, "noodles").await, ["lunch.txt"]);
    assert_eq!(with_words(&acme, "pier thunderstorms").await, ["ferries.txt", "flights.md"]);
    acme.service.clock.advance(std::time::Duration::from_secs(120));
    let renewed = acme.service.gateway.renew_once().await.unwrap();
    let counts = (renewed.rebuilt, renewed.failed, renewed.removed);
    assert_eq!((counts, server.points().await), ((0, 0, 0), 9), "{renewed:?}");

    // What is removed is named no more.
    acme.append("handbook", &[("trams.txt", "The tram rings its bell.")]).await;
    let parts = chain(&acme, "handbook").await.parts;
    assert!(parts.len() == 3 && parts.iter().all(|part| part.takes.is_empty()), "{parts:?}");
    assert_eq!(with_words(&acme, "soup").await, NOTHING);
    let op = DeleteDataset { dataset_id: id_of(&acme, "handbook").await, name: "handbook".into() };
    acme.service.gateway.call(&operator(&acme.org), op, Via::new("admin.call")).await.unwrap();
    assert_eq!(server.points().await, 2, "all that several versions had goes with them");
    acme.service.stop().await;
}

const STONES: [&str; 16] = [
    "agate", "basalt", "chert", "dolomite", "flint", "gneiss", "jasper", "kaolin", "marble", "obsidian", "pumice",
    "quartz", "schist", "shale", "slate", "tuff",
];
const TREES: [&str; 14] = [
    "alder", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "poplar", "rowan", "spruce",
    "yew",
];

#[tokio::test(flavor = "multi_thread")]
async fn when_there_are_too_many_parts_the_small_ones_are_written_anew_or_all_of_it() {
    let server = Qdrant::start().await;
    let acme = acme(&server).await;
    let stones = STONES.map(|stone| (format!("{stone}.txt"), format!("A piece of {stone}.")));
    let stones = stones.each_ref().map(|(file, text)| (file.as_str(), text.as_str()));
    acme.import("stones", &stones, true).await;
    let cases = [("stones", "dolomite.txt", 15 + 1, vec![0, 16]), ("handbook", "lunch.txt", 5 + 15 + 1, vec![0])];
    for (name, replaced, written, shape) in cases {
        // One takes the place of a text, the others come beside them.
        acme.append(name, &[(replaced, NOODLES)]).await;
        for tree in TREES {
            let (file, text) = (format!("{tree}.txt"), format!("The {tree} has leaves."));
            acme.append(name, &[(file.as_str(), text.as_str())]).await;
        }
        assert_eq!(chain(&acme, name).await.parts.len(), 16, "{name}");
        let before = server.points().await;
        acme.append(name, &[("ferries.txt", FERRY)]).await;
        assert_eq!(server.points().await - before, written, "{name}");
        let firsts: Vec<u64> = chain(&acme, name).await.parts.iter().map(|part| part.first).collect();
        assert_eq!(firsts, shape, "{name}");
    }
    assert_eq!(with_words(&acme, "alder").await.len(), 2, "one in each");
    assert_eq!(with_words(&acme, "yew pier").await.len(), 4);
    assert_eq!(with_words(&acme, "noodles").await, ["dolomite.txt", "lunch.txt"]);
    assert_eq!(with_words(&acme, "dolomite soup").await, ["dolomite.txt"], "by its name: its text was replaced");
    assert_eq!(with_words(&acme, "flint").await, ["flint.txt"]);
    acme.service.stop().await;
}
