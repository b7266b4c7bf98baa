//! A server that is not there, refuses, or has lost something, and a process that died between its steps.

use std::time::{Duration, Instant};

use dragoman::base::id::Id;
use dragoman::gateway::Via;
use dragoman::model::cluster_index::{Chain, ClusterIndex, Home, Standing};
use dragoman::model::dataset::IfExists;
use dragoman::model::error::{Code, Error};
use dragoman::ops::delete_dataset::DeleteDataset;
use dragoman::ops::import::{Import, Staged};
use dragoman::store::cluster_indexes as rows;
use qdrant_client::qdrant::{Condition, Filter};
use serde_json::json;

use super::{acme, assert_same, found, id_of, searches, started};
use crate::rag::{Acme, files};
use crate::support::databases::postgres_url;
use crate::support::program::{command, free_port};
use crate::support::qdrant::Qdrant;
use crate::support::service::{Service, operator};

#[tokio::test(flavor = "multi_thread")]
async fn while_the_server_is_down_it_is_said_and_when_it_is_back_all_works_without_a_restart() {
    let mut server = Qdrant::start().await;
    let acme = acme(&server).await;
    let before = found(&acme).await;
    server.stop().await;

    let (code, message) = acme.slip("rag_search_hybrid", json!({ "query": "thirty days" })).await;
    assert_eq!(code, "service_unavailable", "{message}");
    assert!(message.contains("server that keeps the indexes") && !message.contains("QDRANT"), "{message}");
    let (code, _) = acme.slip("dragoman_search", json!({ "query": "thirty days" })).await;
    assert_eq!(code, "service_unavailable");
    // Nothing is imported, and nothing is erased by halves.
    let refused = acme.service.import(&acme.org, "new.txt", b"A new text.", true).await.unwrap_err();
    assert_eq!(refused.code, Code::ServiceUnavailable, "{refused}");
    let id = id_of(&acme, "offices").await;
    let op = DeleteDataset { dataset_id: id, name: "offices".into() };
    let refused = acme.service.gateway.call(&operator(&acme.org), op, Via::new("admin.call")).await.err().unwrap();
    assert_eq!(refused.code, Code::ServiceUnavailable, "{refused}");
    let renewed = acme.service.gateway.renew_once().await.unwrap();
    let counts = (renewed.rebuilt, renewed.failed, renewed.unknown);
    assert_eq!(counts, (0, 0, 3), "what cannot be looked at is not made anew: {renewed:?}");

    server.again().await;
    assert_same(&before, &found(&acme).await, "after the server came back");
    acme.service.import(&acme.org, "new.txt", b"A new text about ferries.", true).await.unwrap();
    let reply = acme.ask("rag_search_hybrid", json!({ "query": "ferries" })).await;
    assert_eq!(files(&reply)[0], "new.txt", "{reply}");
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_the_folder_answers_while_the_server_is_down_and_the_rest_is_said_to_be_missing() {
    let mut server = Qdrant::start().await;
    let acme = acme(&server).await;
    let mut tx = acme.service.db.tenant(acme.org.id).await.unwrap();
    rows::set_home(&mut tx, acme.org.id, Home::Folder).await.unwrap();
    tx.commit().await.unwrap();
    acme.import("lunches", &[("menu.txt", "Soup within thirty days.")], true).await;
    server.stop().await;
    let reply = acme.ask("rag_search_hybrid", json!({ "query": "thirty days", "k": 50 })).await;
    assert_eq!(files(&reply), ["menu.txt"]);
    assert!(reply["degraded"].to_string().contains("server that keeps the indexes"), "{reply}");
    assert!(!reply.to_string().contains("QDRANT"), "{reply}");
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn points_that_the_server_lost_are_made_anew_of_the_texts() {
    let server = Qdrant::start().await;
    let acme = acme(&server).await;
    let before = found(&acme).await;
    server.lose(Filter::default()).await;
    let renewed = acme.service.gateway.renew_once().await.unwrap();
    assert_eq!((renewed.rebuilt, renewed.failed), (3, 0), "{renewed:?}");
    assert_same(&before, &found(&acme).await, "made anew");
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_lost_points_answers_from_those_that_are_there_and_says_so() {
    let server = Qdrant::start().await;
    let acme = acme(&server).await;
    let before = found(&acme).await;
    let reply = acme.ask("rag_search_hybrid", json!({ "query": "soup at noon", "k": 1 })).await;
    let (lunch, document) = (reply["results"][0]["chunk_id"].clone(), reply["results"][0]["doc_id"].clone());
    assert_eq!(files(&reply), ["lunch.txt"]);
    server.lose(Filter::must([Condition::matches("source_file", "lunch.txt".to_owned())])).await;

    for tool in ["rag_search_fts", "rag_search_hybrid"] {
        let reply = acme.ask(tool, json!({ "query": "thirty days soup", "k": 50 })).await;
        assert!(files(&reply).contains(&"returns.md"), "{tool}: {reply}");
        let said = reply["degraded"].to_string();
        assert!(said.contains("handbook could be searched in part only") && !said.contains("offices"), "{reply}");
    }
    let (_, reply) = acme.service.tool(&acme.token, "dragoman_search", json!({ "query": "soup at noon" })).await;
    assert!(reply["degraded"].to_string().contains("in part only"), "{reply}");
    // What is asked for by its name is not said to be unknown.
    let (code, _) = acme.slip("rag_get_chunks", json!({ "chunk_ids": [lunch] })).await;
    assert_eq!(code, "internal_error");
    let (code, _) = acme.slip("rag_search_vector", json!({ "like": document })).await;
    assert_eq!(code, "internal_error");

    let renewed = acme.service.gateway.renew_once().await.unwrap();
    assert_eq!((renewed.rebuilt, renewed.failed), (1, 0), "{renewed:?}");
    assert_same(&before, &found(&acme).await, "made anew");
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_there_keeps_nothing_from_starting() {
    let mut server = Qdrant::start().await;
    server.stop().await;
    let service = Service::with(&[("QDRANT_URL", &server.url)]).await;
    let org = service.workspace("acme").await;
    service.import(&org, "numbers.csv", b"n\n40\n2\n", true).await.unwrap();
    let refused = service.import(&org, "new.txt", b"A new text.", true).await.unwrap_err();
    assert_eq!(refused.code, Code::ServiceUnavailable, "{refused}");
    assert!(refused.message.contains("server that keeps the indexes"), "{refused}");
    server.again().await;
    service.import(&org, "new.txt", b"A new text.", true).await.unwrap();
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_connections_and_says_nothing_holds_up_the_start_for_seconds_alone() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let started = Instant::now();
    let service = Service::with(&[("QDRANT_URL", &url)]).await;
    let org = service.workspace("acme").await;
    service.import(&org, "numbers.csv", b"n\n40\n2\n", true).await.unwrap();
    let refused = service.import(&org, "new.txt", b"A new text.", true).await.unwrap_err();
    assert_eq!(refused.code, Code::ServiceUnavailable, "{refused}");
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    service.stop().await;
}

/// As a process would leave it that died before the metadata named what it had written.
async fn die_before(acme: &Acme, name: &str, standing: &str) {
    let id = id_of(acme, name).await.to_string();
    let mut tx = acme.service.db.everyone().await.unwrap();
    for sql in [
        format!("UPDATE cluster_indexes SET standing = '{standing}' WHERE dataset_id = '{id}'"),
        format!("DELETE FROM dataset_versions WHERE dataset_id = '{id}'"),
        format!("DELETE FROM version_documents WHERE dataset_id = '{id}'"),
        format!("DELETE FROM documents WHERE dataset_id = '{id}'"),
        format!("DELETE FROM datasets WHERE id = '{id}'"),
    ] {
        sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&mut *tx).await.unwrap();
    }
    tx.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_process_wrote_and_never_named_is_gone_after_the_next_start() {
    let server = Qdrant::start().await;
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().display().to_string();
    let settings = [("QDRANT_URL", server.url.as_str()), ("DRAGOMAN_DATA_DIR", folder.as_str())];
    let acme = Acme::open(Service::with(&settings).await).await;
    die_before(&acme, "offices", "written").await;
    die_before(&acme, "plans", "placed").await;
    acme.service.stop().await;
    assert_eq!(server.points().await, 8);

    let acme = started(&settings, "bob@example.com").await;
    acme.service.gateway.renew_once().await.unwrap();
    assert_eq!(server.points().await, 6, "those of the handbook");
    let reply = acme.ask("rag_search_hybrid", json!({ "query": "thirty days" })).await;
    assert!(files(&reply).contains(&"returns.md"), "{reply}");
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_until_a_server_has_removed_what_another_erased() {
    let server = Qdrant::start().await;
    let acme = acme(&server).await;
    let held = server.hold_deletes().await;
    let op = DeleteDataset { dataset_id: id_of(&acme, "offices").await, name: "offices".into() };
    let (gateway, caller) = (acme.service.gateway.clone(), operator(&acme.org));
    let erasing = tokio::spawn(async move { gateway.call(&caller, op, Via::new("admin.call")).await.map(|_| ()) });
    let is_there = async || {
        let mut read = acme.service.db.read_tenant(acme.org.id).await.unwrap();
        dragoman::store::datasets::by_name(&mut read, acme.org.id, "offices").await.unwrap().is_some()
    };
    while is_there().await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let import = acme.service.import(&acme.org, "numbers.csv", b"n\n40\n2\n", true);
    tokio::time::timeout(Duration::from_secs(20), import).await.expect("an import waits for the server").unwrap();
    assert!(held.is_none() || !erasing.is_finished());
    drop(held);
    erasing.await.unwrap().unwrap();
    assert_eq!(server.points().await, 7);
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_erased_while_no_server_is_set_goes_from_it_when_it_is_set_again() {
    let server = Qdrant::start().await;
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().display().to_string();
    let settings = [("DRAGOMAN_DATA_DIR", folder.as_str()), ("QDRANT_URL", server.url.as_str())];
    let acme = Acme::open(Service::with(&settings).await).await;
    acme.service.stop().await;

    let mut erase = command(data.path());
    erase.args(["admin", "dataset", "delete", "offices", "--workspace", "acme"]);
    let output = erase.output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("texts stay on the Qdrant server"), "{said}");
    assert_eq!(server.points().await, 8);

    let acme = started(&settings, "bob@example.com").await;
    acme.service.clock.advance(Duration::from_secs(60));
    acme.service.gateway.renew_once().await.unwrap();
    assert_eq!(server.points().await, 7);
    let reply = acme.ask("rag_search_hybrid", json!({ "query": "thirty days" })).await;
    assert!(files(&reply).contains(&"returns.md"), "{reply}");
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_repairs_while_the_server_is_down_learns_that_its_indexes_were_not_checked() {
    let mut server = Qdrant::start().await;
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().display().to_string();
    let settings = [("DRAGOMAN_DATA_DIR", folder.as_str()), ("QDRANT_URL", server.url.as_str())];
    Acme::open(Service::with(&settings).await).await.service.stop().await;
    let url = server.url.clone();
    let repair = async || {
        let mut repair = command(data.path());
        let output = repair.env("QDRANT_URL", &url).args(["admin", "repair", "--json"]).output().await.unwrap();
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.success(), said["indexes"]["unknown"].clone(), String::from_utf8(output.stderr).unwrap())
    };
    let (worked, unknown, says) = repair().await;
    assert!(worked && unknown == 0, "{says}");
    server.stop().await;
    let (worked, unknown, says) = repair().await;
    assert!(!worked && unknown == 3 && says.contains("3 not be checked"), "{says}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_gone_is_gone_since_then_and_a_place_has_one_index_whoever_takes_it() {
    Service::both(async |service| {
        let org = service.workspace("acme").await.id;
        let dataset = Id::new(&service.clock);
        let written = |version: &str| {
            let build = Id::new(&service.clock);
            ClusterIndex {
                org,
                build,
                dataset,
                version: version.into(),
                encoder: "e".into(),
                terms: "t".into(),
                cutter: "c".into(),
                points: 1,
                chain: Chain::whole(build),
                standing: Standing::Written,
                touched_at: 1,
            }
        };
        let (first, second, other) = (written("v1"), written("v1"), written("v2"));
        let mut tx = service.db.tenant(org).await.unwrap();
        for index in [&first, &second, &other] {
            rows::insert(&mut tx, index).await.unwrap();
        }
        tx.commit().await.unwrap();
        let place = async |index: &ClusterIndex| {
            let mut tx = service.db.tenant(org).await.unwrap();
            assert!(rows::place(&mut tx, index, 2).await.unwrap());
            tx.commit().await.unwrap();
        };
        tokio::join!(place(&first), place(&second));
        let mut tx = service.db.tenant(org).await.unwrap();
        let [answers] = rows::placed(&mut tx, org).await.unwrap().try_into().unwrap();
        let found = rows::of_version(&mut tx, org, dataset, "v1").await.unwrap();
        assert_eq!(found.as_ref(), Some(&answers));
        let all = [(dataset, "v1"), (dataset, "v2"), (Id::new(&service.clock), "v1")];
        assert_eq!(rows::of_versions(&mut tx, org, &all).await.unwrap(), std::slice::from_ref(&answers));
        assert_eq!(rows::of_versions(&mut tx, org, &all[1..]).await.unwrap(), []);

        let retired = rows::retire(&mut tx, org, dataset, Some("v1"), 3).await.unwrap();
        assert_eq!(retired.iter().map(|index| index.build).collect::<Vec<_>>(), [answers.build]);
        assert!(rows::retire(&mut tx, org, dataset, Some("v1"), 4).await.unwrap().is_empty());
        rows::end(&mut tx, org, answers.build, 5).await.unwrap();
        rows::end(&mut tx, org, other.build, 0).await.unwrap();
        assert!(rows::retire(&mut tx, org, dataset, None, 5).await.unwrap().is_empty());
        let mut since: Vec<i64> = rows::gone(&mut tx, 9).await.unwrap().iter().map(|index| index.touched_at).collect();
        since.sort_unstable();
        assert_eq!(since, [0, 2, 3], "none is put off");
        tx.commit().await.unwrap();
        service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_looks_learns_whether_the_server_answers_and_takes_the_key() {
    let data = tempfile::tempdir().unwrap();
    let server = Qdrant::with_key(Some("hunter2")).await;
    let nowhere = format!("http://127.0.0.1:{}", free_port());
    for (url, key, state, says) in [
        (server.url.as_str(), "hunter2", "good", "answers"),
        (server.url.as_str(), "wrong", "wrong", "refuses the key of QDRANT_API_KEY"),
        (nowhere.as_str(), "hunter2", "wrong", "cannot be reached"),
    ] {
        let mut doctor = command(data.path());
        doctor.env("DRAGOMAN_LISTEN", format!("127.0.0.1:{}", free_port()));
        doctor.env("QDRANT_URL", url).env("QDRANT_API_KEY", key).args(["doctor", "--json"]);
        let output = doctor.output().await.unwrap();
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = said["findings"].as_array().unwrap();
        let finding = findings.iter().find(|finding| finding["what"] == "Qdrant server").unwrap();
        assert_eq!(finding["state"], state, "{finding}");
        assert!(finding["says"].as_str().unwrap().contains(says), "{finding}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("hunter2"), "{said}");
    }
    // With the right key it serves.
    let settings = [("QDRANT_URL", server.url.as_str()), ("QDRANT_API_KEY", "hunter2")];
    let acme = Acme::open(Service::with(&settings).await).await;
    assert_eq!(found(&acme).await.len(), searches().len());
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_imports_into_a_dataset_that_another_erases_meanwhile_learns_it() {
    let server = Qdrant::start().await;
    let acme = acme(&server).await;
    let held = server.hold_writes().await;
    let before = server.writes_asked();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("offices.md");
    std::fs::write(&path, "# Offices\n\nThe office by the lake has moved.\n").unwrap();
    let files = vec![Staged { name: "offices.md".into(), path }];
    let op = Import { name: Some("offices".into()), if_exists: IfExists::Replace, files, ..Import::default() };
    let (gateway, caller) = (acme.service.gateway.clone(), operator(&acme.org));
    let importing = tokio::spawn(async move { gateway.call(&caller, op, Via::new("admin.call")).await.map(|_| ()) });
    while held.is_some() && server.writes_asked() == before {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let op = DeleteDataset { dataset_id: id_of(&acme, "offices").await, name: "offices".into() };
    acme.service.gateway.call(&operator(&acme.org), op, Via::new("admin.call")).await.unwrap();
    // The program itself cannot be held: there the import may be the first.
    let was_held = held.is_some();
    // What is written now is written after all was removed. Nor does whoever wrote it get to remove it.
    server.refuse_deletes(true);
    drop(held);
    let refused = importing.await.unwrap().err();
    let is_told = |it: &Error| it.code != Code::InternalError && it.message.contains("was deleted");
    assert!(refused.as_ref().map_or(!was_held, is_told), "{refused:?}");
    let mut read = acme.service.db.read_tenant(acme.org.id).await.unwrap();
    assert_eq!(dragoman::store::datasets::by_name(&mut read, acme.org.id, "offices").await.unwrap(), None);
    drop(read);
    while was_held && server.deletes_refused() == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(!was_held || server.points().await > 7, "it came late");
    server.refuse_deletes(false);
    acme.service.clock.advance(Duration::from_secs(120));
    acme.service.gateway.renew_once().await.unwrap();
    assert_eq!(server.points().await, 7, "nothing of it is kept");
    acme.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_leaves_what_another_node_has_placed_and_is_about_to_name() {
    let (server, database, key) = (Qdrant::start().await, postgres_url().await, "7".repeat(64));
    let settings = [("DATABASE_URL", &*database), ("DRAGOMAN_MASTER_KEY", &*key), ("QDRANT_URL", server.url.as_str())];
    let first = Service::with(&settings).await;
    let org = first.workspace("acme").await.id;
    let build = Id::new(&first.clock);
    let index = ClusterIndex {
        org,
        build,
        dataset: Id::new(&first.clock),
        version: "v1".into(),
        encoder: "e".into(),
        terms: "t".into(),
        cutter: "c".into(),
        points: 1,
        chain: Chain::whole(build),
        standing: Standing::Written,
        touched_at: first.clock.now(),
    };
    let mut tx = first.db.tenant(org).await.unwrap();
    rows::insert(&mut tx, &index).await.unwrap();
    assert!(rows::place(&mut tx, &index, first.clock.now()).await.unwrap());
    tx.commit().await.unwrap();

    let second = Service::with(&settings).await;
    let answers = async || {
        second.gateway.renew_once().await.unwrap();
        let mut read = second.db.read_tenant(org).await.unwrap();
        rows::of_version(&mut read, org, index.dataset, "v1").await.unwrap().is_some()
    };
    assert!(answers().await, "somebody may name it yet");
    second.clock.advance(Duration::from_secs(660));
    assert!(!answers().await, "nobody will");
    first.stop().await;
    second.stop().await;
}
