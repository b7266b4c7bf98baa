//! Several things at once in the browser: datasets that are changed with one form, and files that wait together.

use std::time::Duration;

use dragoman::gateway::Via;
use dragoman::model::access::Role;
use dragoman::model::org::Org;
use dragoman::ops::delete_dataset::DeleteDataset;
use dragoman::ops::ontology_texts::CreateOntology;
use dragoman::store::audit;
use reqwest::{Response, header};
use serde_json::{Value, json};

use crate::console::person;
use crate::console_data::{ONTOLOGY, SHOP, script_token, text, upload};
use crate::site::{Browser, client, location};
use crate::support::service::{Service, as_json, json_of, operator};

const PAGE: &str = "/w/acme/datasets";

/// Sends the form of a page that says what would change, as it stands, with `more`.
async fn confirm(browser: &Browser, page: &str, more: &[(&str, &str)]) -> Response {
    let (_, form) = page.split_once(&format!("<form method=\"post\" action=\"{PAGE}\"")).unwrap();
    let (form, _) = form.split_once("</form>").unwrap();
    let fields = form.split("<input type=\"hidden\" name=\"").skip(1).map(|field| {
        let (name, rest) = field.split_once("\" value=\"").unwrap();
        (name, rest.split_once('"').unwrap().0)
    });
    let form: Vec<_> = fields.chain(more.iter().copied()).collect();
    browser.post(PAGE, &form).await
}

/// Tables of these names, none of them published; gives their ids.
async fn tables(service: &Service, org: &Org, names: &[&str]) -> Vec<String> {
    let mut ids = Vec::new();
    for name in names {
        let made = service.import(org, &format!("{name}.csv"), SHOP.as_bytes(), false).await.unwrap();
        ids.push(made["dataset_id"].as_str().unwrap().to_owned());
    }
    ids
}

/// How many rows of the record are of an operation that was done.
async fn recorded(service: &Service, org: &Org, what: &str) -> usize {
    let rows = audit::newest(&service.db, Some(org.id), 500).await.unwrap();
    rows.iter().filter(|(_, row)| row.target.split(' ').next() == Some(what) && row.outcome == "ok").count()
}

async fn erase(service: &Service, org: &Org, id: &str, name: &str) {
    let op = DeleteDataset { dataset_id: id.parse().unwrap(), name: name.into() };
    as_json(service.gateway.call(&operator(org), op, Via::new("admin.call")).await).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn several_datasets_are_published_and_withdrawn_with_one_form() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let ids = tables(&service, &org, &["east", "sales", "sales_2", "sales_3"]).await;
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let (_, vic) = person(&service, "vic@example.com", &[(&org, Role::Viewer)]).await;
    let reader = service.token(&org).await;
    let seen = async || -> Vec<String> {
        let listed = service.tool(&reader, "dragoman_list_datasets", json!({})).await.1;
        listed["datasets"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    let list = text(&ann, "/w/acme").await;
    assert!(ids.iter().all(|id| list.contains(&format!(r#"name="dataset_id" value="{id}""#))), "{list}");
    assert!(!text(&vic, "/w/acme").await.contains("dataset_id"), "a viewer changes nothing");

    // Those that are ticked: the page names them, and nothing is changed before its form is sent.
    let ticked = format!("{PAGE}?do=publish&dataset_id={}&dataset_id={}", ids[0], ids[1]);
    assert_eq!(vic.get(&ticked).await.status(), 403);
    let refused = service.last_audit(&org).await;
    assert_eq!((refused.target.as_str(), refused.outcome.as_str()), ("publish_dataset", "scope_denied"));
    assert_eq!(location(&ann.get(PAGE).await), "/w/acme", "nothing is chosen");
    let page = text(&ann, &ticked).await;
    assert!(page.contains("Publish 2 datasets") && page.contains(">east</a>") && page.contains(">sales</a>"), "{page}");
    assert!(!page.contains("sales_2") && seen().await.is_empty(), "{page}");
    let done = confirm(&ann, &page, &[]).await;
    assert_eq!(done.status(), 200);
    assert!(done.text().await.unwrap().contains("2 datasets published"));
    assert_eq!(seen().await, ["east", "sales"]);
    assert_eq!(recorded(&service, &org, "publish_dataset").await, 2, "each is an operation of its own");

    // What the search finds: one call, without what would not change. What is refused meanwhile says why.
    let before = recorded(&service, &org, "dragoman_list_datasets").await;
    let found = text(&ann, "/w/acme?text=SALES").await;
    assert!(found.contains(">sales_3</a>") && !found.contains(">east</a>"), "{found}");
    assert!(found.contains("All that say “SALES”") && found.contains(r#"name="text" value="SALES""#), "{found}");
    assert_eq!(recorded(&service, &org, "dragoman_list_datasets").await, before + 1);
    let page = text(&ann, &format!("{PAGE}?do=publish&all=1&text=SALES")).await;
    assert!(page.contains("Publish 2 datasets") && !page.contains(">sales</a>"), "{page}");
    erase(&service, &org, &ids[3], "sales_3").await;
    let partly = confirm(&ann, &page, &[]).await;
    assert_eq!(partly.status(), 422);
    let partly = partly.text().await.unwrap();
    assert!(partly.contains("1 dataset published, 1 not"), "{partly}");
    assert!(partly.contains(">sales_3</a>: There is no such dataset."), "{partly}");
    assert_eq!(seen().await, ["east", "sales", "sales_2"]);

    let page = text(&ann, &format!("{PAGE}?do=withdraw&all=1")).await;
    assert_eq!(confirm(&ann, &page, &[]).await.status(), 200);
    assert!(seen().await.is_empty());
    let idle = text(&ann, &format!("{PAGE}?do=withdraw&dataset_id={}", ids[0])).await;
    assert!(idle.contains("Nothing would change") && !idle.contains(&format!("action=\"{PAGE}\"")), "{idle}");

    let many = |count: usize| -> String {
        (0..count).map(|number| format!("&dataset_id=01936f2e-7c1a-7000-8000-{number:012}")).collect()
    };
    for (query, part) in [
        (String::new(), "tick at least one dataset"),
        (many(51), "At most 50 datasets"),
        (many(200), "At most 50 datasets"),
        ("&dataset_id=x".into(), "There is no such dataset"),
    ] {
        let refused = ann.get(&format!("{PAGE}?do=publish{query}")).await;
        assert!(refused.status().is_client_error(), "{query}");
        assert!(refused.text().await.unwrap().contains(part), "{part}");
    }
    let east = format!("dataset:{}", ids[0]);
    assert_eq!(ann.post(PAGE, &[("csrf", "00"), ("do", "publish"), (&east, "east")]).await.status(), 403);
    assert!(seen().await.is_empty());

    // What only pages ask is no argument of a client's.
    let asked = service.get("/api/v1/ext/datasets?only=published", &reader).send().await.unwrap();
    let (status, refused) = json_of(asked).await;
    assert_eq!((status, &refused["error"]["code"]), (400, &json!("invalid_argument")), "{refused}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_datasets_are_deleted_by_who_has_seen_what_rests_on_them_and_counts_them() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let ids = tables(&service, &org, &["east", "sales"]).await;
    let op = CreateOntology { text: ONTOLOGY.into(), summary: "First".into() };
    as_json(service.gateway.call(&operator(&org), op, Via::new("admin.call")).await).unwrap();
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    let ask = format!("{PAGE}?do=delete&dataset_id={}&dataset_id={}", ids[0], ids[1]);
    let page = text(&ann, &ask).await;
    assert_eq!(page.matches("<bdi>shop</bdi>").count(), 1, "an ontology rests on one of them: {page}");
    assert!(page.contains("Delete 2 datasets for good"), "{page}");
    for count in ["", "1", "east"] {
        let refused = confirm(&ann, &page, &[("count", count)]).await;
        assert_eq!(refused.status(), 422, "{count}");
        let refused = refused.text().await.unwrap();
        assert!(refused.contains("Nothing was deleted. Write 2,") && refused.contains(">east</a>"), "{refused}");
    }

    // A proof that is too old deletes nothing, and is asked for before the page is shown again.
    service.clock.advance(service.config.limits.lifetimes.step_up + Duration::from_secs(1));
    let sent_on = location(&confirm(&ann, &page, &[("count", "2")]).await);
    assert!(sent_on.starts_with("/login/confirm?return_to="), "{sent_on}");
    let sent_on = location(&ann.get(&ask).await);
    assert!(sent_on.starts_with("/login/confirm?return_to=%2Fw%2Facme%2Fdatasets%3Fdo%3Ddelete"), "{sent_on}");
    let ann = Browser { base: service.url(""), http: client(true) }.signed_in("ann@example.com").await;
    let list = text(&ann, "/w/acme").await;
    assert!(list.contains(">east</a>") && list.contains(">sales</a>"), "{list}");

    let page = text(&ann, &ask).await;
    let gone = confirm(&ann, &page, &[("count", "2")]).await;
    assert_eq!(gone.status(), 200);
    assert!(gone.text().await.unwrap().contains("2 datasets deleted"));
    assert!(text(&ann, "/w/acme").await.contains("There is no data yet"));
    let rows = audit::newest(&service.db, Some(org.id), 100).await.unwrap();
    let deletions = rows.iter().filter(|(_, row)| row.action == "admin.dataset.delete" && row.outcome == "ok");
    assert_eq!(deletions.count(), 2, "each is an operation of its own");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_that_wait_are_one_line_and_become_one_dataset() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    upload(&ann, "sales.csv", SHOP.as_bytes()).await;
    upload(&ann, "one.md", b"# One\n\nThe first.\n").await;
    let alone = text(&ann, "/w/acme").await;
    assert!(!alone.contains("<details><summary>") && alone.contains("<bdi>one.md</bdi>"), "{alone}");
    upload(&ann, "two.md", b"# Two\n\nThe second.\n").await;
    upload(&ann, "three.txt", b"The third.\n").await;
    let list = text(&ann, "/w/acme").await;
    let (_, group) = list.split_once("<details><summary>").unwrap();
    let (documents, rest) = group.split_once("</details>").unwrap();
    assert!(documents.contains("3 documents, the oldest since"), "{documents}");
    for (name, is_among) in [("one.md", true), ("two.md", true), ("three.txt", true), ("sales.csv", false)] {
        let line = format!("<bdi>{name}</bdi>");
        assert_eq!((documents.contains(&line), rest.contains(&line)), (is_among, !is_among), "{name}");
    }
    let (_, link) = rest.split_once("<a href=\"").unwrap();
    let found = text(&ann, link.split('"').next().unwrap()).await;
    assert!(found.contains("3 texts."), "{found}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workbook_is_held_against_the_names_that_its_sheets_will_have() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let workbook = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/documents/harbour.xlsx")).unwrap();
    let id = upload(&ann, "harbour.xlsx", &workbook).await;
    let page = format!("/w/acme/check?uploads={id}");
    // No sheet becomes a dataset of the workbook's own name.
    tables(&service, &org, &["harbour"]).await;
    let free = text(&ann, &page).await;
    assert!(free.contains("When there is a dataset of that name") && free.contains(r#"value="harbour""#), "{free}");

    let there = tables(&service, &org, &["harbour_ships_2024"]).await;
    let taken = text(&ann, &page).await;
    assert!(taken.contains("There is a dataset harbour_ships_2024 already"), "{taken}");
    assert!(taken.contains(r#"value="harbour""#), "the name of the workbook stays: {taken}");
    let csrf = script_token(&ann).await;
    let look = async |name: &str| -> Value {
        let form = [("csrf", csrf.as_str()), ("do", "check"), ("uploads", id.as_str()), ("name", name)];
        let request = ann.http.post(format!("{}/w/acme/check", ann.base)).form(&form).header("origin", &ann.base);
        let (status, body) = json_of(request.header(header::ACCEPT, "application/json").send().await.unwrap()).await;
        assert_eq!(status, 200, "{body}");
        body
    };
    assert_eq!(look("").await["exists"], "harbour_ships_2024");
    assert_eq!(look("port").await["exists"], Value::Null);
    tables(&service, &org, &["harbour_berths"]).await;
    assert_eq!(look("").await["exists"], "harbour_berths, harbour_ships_2024");
    erase(&service, &org, &there[0], "harbour_ships_2024").await;
    assert_eq!(look("").await["exists"], "harbour_berths");
    service.stop().await;
}
