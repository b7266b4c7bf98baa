//! The console's pages for ontologies and questions: what each role sees, what forms refuse, and the way from tables to
//! an answer, with and without scripts.

use dragoman::model::access::Role;
use dragoman::model::org::Org;
use reqwest::StatusCode;
use serde_json::Value;

use crate::console::{person, send, send_from, token};
use crate::site::{Browser, client, location};
use crate::support::service::{PASSWORD, Service, as_json, operator};
use dragoman::gateway::Via;
use dragoman::ops::ontology_texts::{CheckOntology, CreateOntology};

/// Two tables: 4 orders of 2 shops.
const SHOPS: &[u8] = b"shop_id,city\n1,Oslo\n2,Bergen\n";
const ORDERS: &[u8] =
    b"order_id,shop_id,ordered_on,amount\n1,1,2024-01-05,10\n2,1,2024-02-07,30\n3,2,2024-02-09,5\n4,2,2024-03-01,7\n";

/// The same as an ontology.
const TEXT: &str = r#"version: "0.2.0.dev0"
name: retail
description: Orders of shops
datasets:
  - name: shops
    source: shops
    primary_key: [shop_id]
    custom_extensions: [{vendor_name: DRAGOMAN, data: '{"label_field":"city","grain":"shop"}'}]
    fields:
      - {name: shop_id, datatype: Integer, expression: {dialects: [{dialect: ANSI_SQL, expression: shop_id}]}}
      - name: city
        datatype: String
        expression: {dialects: [{dialect: ANSI_SQL, expression: city}]}
        custom_extensions: [{vendor_name: DRAGOMAN, data: '{"role":"dimension","index_values":true,"pii":"address"}'}]
  - name: orders
    source: orders
    primary_key: [order_id]
    custom_extensions: [{vendor_name: DRAGOMAN, data: '{"default_time_field":"ordered_on","grain":"order"}'}]
    fields:
      - {name: order_id, datatype: Integer, expression: {dialects: [{dialect: ANSI_SQL, expression: order_id}]}}
      - {name: shop_id, datatype: Integer, expression: {dialects: [{dialect: ANSI_SQL, expression: shop_id}]}}
      - name: ordered_on
        datatype: Date
        dimension: {is_time: true}
        expression: {dialects: [{dialect: ANSI_SQL, expression: ordered_on}]}
      - name: amount
        datatype: Integer
        expression: {dialects: [{dialect: ANSI_SQL, expression: amount}]}
        custom_extensions: [{vendor_name: DRAGOMAN, data: '{"role":"measure","default_aggregation":"sum"}'}]
relationships:
  - {name: orders_to_shops, from: orders, to: shops, from_columns: [shop_id], to_columns: [shop_id]}
metrics:
  - name: turnover
    expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(orders.amount)}]}
    datatype: Integer
    ai_context: {synonyms: [sales]}
"#;

async fn workspace(service: &Service, slug: &str) -> Org {
    let org = service.workspace(slug).await;
    for (file, content) in [("shops.csv", SHOPS), ("orders.csv", ORDERS)] {
        service.import(&org, file, content, true).await.unwrap();
    }
    org
}

/// An ontology that can be asked; its id.
async fn ready(service: &Service, org: &Org) -> String {
    let op = CreateOntology { text: TEXT.into(), summary: "First".into() };
    let saved = as_json(service.gateway.call(&operator(org), op, Via::new("admin.call")).await).unwrap();
    let id = saved["ontology"]["ontology_id"].as_str().unwrap().to_owned();
    let op = CheckOntology { ontology_id: id.parse().unwrap() };
    let checked = as_json(service.gateway.call(&operator(org), op, Via::new("admin.call")).await).unwrap();
    assert_eq!(checked["ontology"]["status"], "ready", "{checked}");
    id
}

async fn text(browser: &Browser, path: &str) -> String {
    let response = browser.get(path).await;
    assert_eq!(response.status(), 200, "{path}");
    response.text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_reads_and_a_stranger_sees_nothing() {
    let service = Service::start().await;
    let org = workspace(&service, "acme").await;
    let id = ready(&service, &org).await;
    let (_, viewer) = person(&service, "vic@example.com", &[(&org, Role::Viewer)]).await;
    let list = text(&viewer, "/w/acme/ontologies").await;
    assert!(list.contains("retail") && !list.contains("/ontologies/new") && !list.contains(">Ask<"), "{list}");
    let about = text(&viewer, &format!("/w/acme/ontologies/{id}")).await;
    for part in ["turnover", "SUM(orders.amount)", "sales", "orders", "shops"] {
        assert!(about.contains(part), "{part}: {about}");
    }
    for part in ["Delete", "Check against", "/edit", "/history"] {
        assert!(!about.contains(part), "{part}: {about}");
    }
    let described = text(&viewer, &format!("/w/acme/ontologies/{id}?dataset=shops")).await;
    assert!(described.contains("city"), "{described}");
    for page in ["/edit", "/history", "/ask", "/questions", "/remembered", "/export?format=ossie"] {
        let refused = viewer.get(&format!("/w/acme/ontologies/{id}{page}")).await;
        assert_eq!(refused.status(), 403, "{page}");
        assert!(refused.text().await.unwrap().contains("Your role in this workspace is viewer"), "{page}");
    }
    assert_eq!(viewer.get("/w/acme/ontologies/new").await.status(), 403);

    let other = service.workspace("other").await;
    let (_, stranger) = person(&service, "eve@example.com", &[(&other, Role::Admin)]).await;
    for page in ["", "/edit", "/history", "/ask", "/questions", "/remembered"] {
        assert_eq!(stranger.get(&format!("/w/acme/ontologies/{id}{page}")).await.status(), 404, "{page}");
        let foreign = stranger.get(&format!("/w/other/ontologies/{id}{page}")).await;
        assert_eq!(foreign.status(), 404, "{page}");
        assert!(!foreign.text().await.unwrap().contains("retail"), "{page}");
    }
    let nobody = Browser { base: service.url(""), http: client(true) };
    assert!(location(&nobody.get("/w/acme/ontologies").await).starts_with("/login?"));
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_of_elsewhere_change_nothing() {
    let service = Service::start().await;
    let org = workspace(&service, "acme").await;
    let id = ready(&service, &org).await;
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let about = format!("/w/acme/ontologies/{id}");
    let forms = [
        (about.clone(), vec![("do", "delete"), ("name", "retail")]),
        (format!("{about}/edit"), vec![("text", "name: x")]),
        (format!("{about}/history"), vec![("do", "restore"), ("version", "1"), ("newest", "1")]),
        (format!("{about}/ask"), vec![("question", "turnover by city")]),
        ("/w/acme/ontologies/new".into(), vec![("do", "create"), ("text", TEXT)]),
    ];
    for (page, form) in &forms {
        assert_eq!(ann.post(page, form).await.status(), 403, "{page}: without a token");
        // The token of one page is not that of another.
        let foreign = token(&text(&ann, &format!("{about}/remembered")).await);
        let mut with = vec![("csrf", foreign.as_str())];
        with.extend(form);
        assert_eq!(ann.post(page, &with).await.status(), 403, "{page}: with the token of another page");
    }
    let wrong = send(&ann, &about, "delete", &[("name", "retale")]).await;
    assert_eq!(wrong.status(), 422);
    assert!(text(&ann, "/w/acme/ontologies").await.contains(">retail<"));
    assert_eq!(location(&send(&ann, &about, "delete", &[("name", "retail")]).await), "/w/acme/ontologies");
    assert!(!text(&ann, "/w/acme/ontologies").await.contains(">retail<"));
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_are_saved_refused_with_their_places_and_brought_back() {
    let service = Service::start().await;
    let org = workspace(&service, "acme").await;
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let (_, bob) = person(&service, "bob@example.com", &[(&org, Role::Contributor)]).await;
    let made = send(&ann, "/w/acme/ontologies/new", "create", &[("text", TEXT), ("summary", "Mine")]).await;
    let about = location(&made);
    let edit = format!("{about}/edit");
    let began = text(&bob, &edit).await;
    assert!(text(&ann, &about).await.contains(">ready<"), "what is saved is compared with the data at once");

    // What cannot be read is not saved; the text stays, and each problem says its line.
    let broken = TEXT.replace("relationships:", "relations:");
    let line = 1 + TEXT.lines().position(|line| line == "relationships:").unwrap();
    let refused = send(&ann, &edit, "", &[("text", &broken)]).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let page = refused.text().await.unwrap();
    assert!(page.contains(&format!("data-line=\"{line}\"")) && page.contains(&format!("line {line}")), "{page}");
    assert!(page.contains("relations:\n  - {name: orders_to_shops"), "the text is kept: {page}");

    // What can be read and not used is saved, and says where it fails.
    let unusable = TEXT.replace("SUM(orders.amount)", "SUM(orders.amonut)");
    let saved = send(&ann, &edit, "", &[("text", &unusable), ("summary", "Typo")]).await;
    let page = saved.text().await.unwrap();
    let line = 1 + TEXT.lines().position(|line| line.contains("SUM(")).unwrap();
    assert!(page.contains("Saved as version 2") && page.contains(&format!("data-line=\"{line}\"")), "{page}");
    assert!(page.contains(">failed<") && page.contains("name=\"was\" value=\"2\""), "{page}");

    let asked = send(&ann, &format!("{about}/ask"), "", &[("question", "revenue by city")]).await;
    assert_eq!(asked.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let asked = asked.text().await.unwrap();
    assert!(asked.contains("mend it there, or go back to an earlier version"), "{asked}");

    // Bob began at version 1: he is told, and keeps his text.
    let mine = TEXT.replace("Orders of shops", "What shops sold");
    let late = send_from(&began, &bob, &edit, "", &[("text", &mine)]).await;
    assert_eq!(late.status(), 422);
    let page = late.text().await.unwrap();
    assert!(page.contains("What shops sold") && page.contains("Save over version 2"), "{page}");
    let over = send_from(&began, &bob, &edit, "", &[("text", &mine), ("over", "2")]).await;
    assert_eq!(location(&over), about);

    let history = text(&ann, &format!("{about}/history")).await;
    assert!(history.contains("Typo") && history.contains("bob@example.com"), "{history}");
    let old = text(&ann, &format!("{about}/history?version=2")).await;
    assert!(old.contains("SUM(orders.amonut)"), "{old}");
    let csrf = token(&text(&ann, &format!("{about}/history?version=1")).await);
    let form = [("csrf", csrf.as_str()), ("do", "restore"), ("version", "1"), ("newest", "3")];
    assert_eq!(ann.post(&format!("{about}/history"), &form).await.status(), 303);
    let history = text(&ann, &format!("{about}/history?version=4")).await;
    assert!(history.contains("Version 1 again") && history.contains("Orders of shops"), "{history}");

    let file = ann.get(&format!("{about}/export?format=legacy_json")).await;
    assert_eq!(file.headers()["content-disposition"], "attachment; filename=\"retail.0.1.1.json\"");
    let file: Value = serde_json::from_str(&file.text().await.unwrap()).unwrap();
    assert_eq!(file["semantic_model"][0]["name"], "retail");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_of_a_hundred_kilobytes_fits_into_the_form_and_one_of_thirty_one_megabytes_does_not() {
    let service = Service::start().await;
    let org = workspace(&service, "acme").await;
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let metric = |number: usize| {
        let about = "What it is, at length. ".repeat(40);
        let expression = "{dialects: [{dialect: ANSI_SQL, expression: SUM(orders.amount)}]}";
        format!("  - {{name: measure {number}, description: '{about}', expression: {expression}}}\n")
    };
    let long = format!("{TEXT}{}", (0..100).map(metric).collect::<String>());
    assert!(long.len() > 100_000);
    let saved = send(&ann, "/w/acme/ontologies/new", "create", &[("text", &long)]).await;
    assert!([200, 303].contains(&saved.status().as_u16()), "{}", saved.status());
    assert!(text(&ann, "/w/acme/ontologies").await.contains(">retail<"));
    let longer = "x".repeat(31 << 20);
    let refused = send(&ann, "/w/acme/ontologies/new", "create", &[("text", &longer)]).await;
    assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_still_sending_a_form_that_is_too_large_gets_the_answer() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let service = Service::start().await;
    let address = service.url("").trim_start_matches("http://").to_owned();
    let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
    let head = "POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n";
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n", 8 << 20).as_bytes()).await.unwrap();
    // As a client does that reads nothing before it has sent all.
    for _ in 0..8 {
        stream.write_all(&vec![b'x'; 1 << 20]).await.unwrap();
    }
    let mut reply = vec![0; 12];
    stream.read_exact(&mut reply).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&reply), "HTTP/1.1 413");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b11_the_pages_of_ontologies_load_our_script_and_the_others_of_a_workspace_none() {
    let service = Service::start().await;
    let org = workspace(&service, "acme").await;
    let id = ready(&service, &org).await;
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    let about = format!("/w/acme/ontologies/{id}");
    for (path, scripted) in [
        (about.clone(), true),
        (format!("{about}/edit"), true),
        (format!("{about}/ask"), true),
        ("/w/acme/ontologies/new".into(), true),
        ("/w/acme/ontologies".into(), false),
        (format!("{about}/history"), false),
        (format!("{about}/questions"), false),
        ("/w/acme/clients".into(), false),
        ("/w/acme/members".into(), false),
        ("/w/acme/settings".into(), false),
    ] {
        let response = ann.get(&path).await;
        assert_eq!(response.status(), 200, "{path}");
        let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert_eq!(policy.contains("script-src 'self';"), scripted, "{path}: {policy}");
        assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{path}: {policy}");
        let page = response.text().await.unwrap();
        let scripts: Vec<&str> = page.split("<script").skip(1).collect();
        assert_eq!(scripts.len(), usize::from(scripted), "{path}");
        assert!(scripts.iter().all(|script| script.starts_with(" src=\"/assets/editor")), "{path}: {scripts:?}");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_answered_traced_and_remembered_by_forms_alone() {
    let service = Service::start().await;
    let org = workspace(&service, "acme").await;
    let id = ready(&service, &org).await;
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let ask = format!("/w/acme/ontologies/{id}/ask");
    let answered = send(&ann, &ask, "", &[("question", "turnover by city")]).await;
    assert_eq!(answered.status(), 200);
    let policy = answered.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
    let page = answered.text().await.unwrap();
    // Oslo 10 + 30, Bergen 5 + 7.
    for part in ["Oslo", "40", "Bergen", "12", "src=\"data:image/svg+xml;base64,", "Where it comes from", "SELECT"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let href = page.split("href=\"").find(|rest| rest.starts_with("/w/acme/questions/")).unwrap();
    let trace = href.split('"').next().unwrap().to_owned();
    let shown = text(&ann, &trace).await;
    for part in ["How it was understood", "turnover", "Steps", "The statement", "Checks of the result"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }

    // Nothing is remembered without consent.
    let unasked = send(&ann, &trace, "remember", &[("memory", "verified")]).await;
    assert_eq!(unasked.status(), 422);
    let kept = send(&ann, &trace, "remember", &[("memory", "verified"), ("agreed", "1")]).await;
    assert_eq!(kept.status(), 303);
    let remembered = format!("/w/acme/ontologies/{id}/remembered");
    let shown = text(&ann, &remembered).await;
    assert!(shown.contains("turnover by city") && shown.contains("ann@example.com"), "what and by whom: {shown}");
    let kept = crate::site::field(&shown, "remembered_id");
    assert_eq!(send(&ann, &remembered, "forget", &[("remembered_id", &kept)]).await.status(), 303);
    assert!(!text(&ann, &remembered).await.contains("turnover by city"));

    // A word of nobody is named, and markup in a question stays text.
    let odd = send(&ann, &ask, "", &[("question", "turnover by <b>zorgblatt</b>")]).await.text().await.unwrap();
    assert!(odd.contains("zorgblatt") && !odd.contains("<b>"), "{odd}");
    let list = text(&ann, &format!("/w/acme/ontologies/{id}/questions")).await;
    assert!(list.contains("turnover by city") && list.contains(">answered<") && !list.contains("<b>"), "{list}");

    // Another contributor sees none of it; an admin who asks for it does, and the record says who looked.
    let (_, cy) = person(&service, "cy@example.com", &[(&org, Role::Contributor)]).await;
    let theirs = text(&cy, &format!("/w/acme/ontologies/{id}/questions")).await;
    assert!(!theirs.contains("turnover") && !theirs.contains("whose=everybody"), "{theirs}");
    assert_eq!(cy.get(&format!("/w/acme/ontologies/{id}/questions?whose=everybody")).await.status(), 422);
    assert_eq!(cy.get(&trace).await.status(), 404);
    let (_, bea) = person(&service, "bea@example.com", &[(&org, Role::Admin)]).await;
    let own = text(&bea, &format!("/w/acme/ontologies/{id}/questions")).await;
    assert!(!own.contains("turnover") && own.contains("whose=everybody"), "{own}");
    let all = text(&bea, &format!("/w/acme/ontologies/{id}/questions?whose=everybody")).await;
    assert!(all.contains("turnover by city"), "{all}");
    assert!(text(&bea, &trace).await.contains("How it was understood"));
    let rows = dragoman::store::audit::newest(&service.db, Some(org.id), 10).await.unwrap();
    assert!(rows.iter().any(|(_, row)| row.action == "admin.question.inspect" && row.outcome == "ok"), "{rows:?}");

    // A trace of one workspace is none of another.
    let other = service.workspace("other").await;
    let (_, eve) = person(&service, "eve@example.com", &[(&other, Role::Admin)]).await;
    let foreign = eve.get(&trace.replace("/w/acme/", "/w/other/")).await;
    assert_eq!(foreign.status(), 404);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_only_doubtful_is_compared_with_the_data_when_it_is_saved() {
    let service = Service::start().await;
    let org = workspace(&service, "acme").await;
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    // One word of two meanings: questions with it are asked back.
    let doubtful = TEXT.replace("synonyms: [sales]", "synonyms: [city]");
    let saved = send(&ann, "/w/acme/ontologies/new", "create", &[("text", &doubtful)]).await;
    assert_eq!(saved.status(), StatusCode::OK);
    let page = saved.text().await.unwrap();
    assert!(page.contains("Saved as version 1, and it can be asked."), "{page}");
    assert!(page.contains(">ready<") && page.contains(">warning<"), "{page}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_browser_goes_from_tables_to_an_answer() {
    let service = Service::start().await;
    let org = workspace(&service, "acme").await;
    person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let clients = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
    assert!(clients.join("node_modules").exists(), "run `npm ci --ignore-scripts` in tests/clients");
    let pictures = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("ontologies");
    for look in ["light", "dark"] {
        let output = tokio::process::Command::new("node")
            .args(["ontologies.mjs", &service.url(""), "ann@example.com", PASSWORD])
            .arg(&pictures)
            .arg(look)
            .current_dir(&clients)
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(std::time::Duration::from_secs(120), output).await.expect("in time").unwrap();
        let (said, problems) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{problems}");
        let said: Value = serde_json::from_str(&said).unwrap();
        // The editor marks and selects the line that was broken, and keeps the text.
        assert_eq!(said["selected"].as_str().map(str::trim), Some("datatype: Nonsense"), "{said}");
        assert_eq!((&said["marked"], &said["kept"]), (&Value::from(true), &Value::from(true)), "{said}");
        assert_eq!(said["status"], "ready", "{said}");
        let answer = said["answer"].as_str().unwrap();
        assert!(answer.contains("Oslo") && answer.contains("40") && answer.contains("12"), "{answer}");
        assert_eq!((&said["drawn"], &said["steps"]), (&Value::from(true), &Value::from(true)), "{said}");
        assert!(said["wide"].as_array().unwrap().is_empty(), "pages wider than the screen: {said}");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_made_of_tables_a_time_zone_and_a_dictionary() {
    let service = Service::start().await;
    let org = workspace(&service, "acme").await;
    service.import(&org, "zones.csv", b"zone\nnorth\n", false).await.unwrap();
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let page = text(&ann, "/w/acme/ontologies/new").await;
    for part in ["name=\"timezone\"", "name=\"dictionary\"", "not published"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("name=\"improve\""), "nobody has set up a language model here: {page}");
    let table = page.split("name=\"dataset_id\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let boxes = page.split("name=\"dataset_id\" value=\"").skip(1).map(|rest| rest.split('>').next().unwrap());
    let ticked: Vec<bool> = boxes.map(|it| it.ends_with(" checked")).collect();
    assert_eq!(ticked, [true, true, false], "what is published: {page}");
    let dictionary = "table,column,description\nshops,city,Where it stands\norders,amount,What was paid\n";
    let form = [("name", "sales"), ("dataset_id", table), ("dictionary", dictionary), ("improve", "1")];
    let wrong = [form.as_slice(), &[("timezone", "Berlin")]].concat();
    let refused = send(&ann, "/w/acme/ontologies/new", "draft", &wrong).await;
    assert_eq!(refused.status(), 422);
    let refused = refused.text().await.unwrap();
    assert!(refused.contains("is not a time zone") && refused.contains("What was paid"), "{refused}");
    let right = [form.as_slice(), &[("timezone", "Europe/Berlin")]].concat();
    let made = send(&ann, "/w/acme/ontologies/new", "draft", &right).await.text().await.unwrap();
    assert!(made.contains("Europe/Berlin"), "{made}");
    assert!(made.contains("Where it stands") || made.contains("What was paid"), "{made}");
    // Nobody has set one up here.
    assert!(made.contains("No language model improved the words"), "{made}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_asks_what_the_tables_leave_open_and_keeps_the_answer() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let shops: String = (1..=20).map(|id| format!("{},Town{id}\n", id * 2)).collect();
    let orders: String = (1..=40).map(|id| format!("{},{id}\n", id + 500)).collect();
    for (file, content) in
        [("shops.csv", format!("shop_id,city\n{shops}")), ("orders.csv", format!("order_id,shop_id\n{orders}"))]
    {
        service.import(&org, file, content.as_bytes(), true).await.unwrap();
    }
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let page = text(&ann, "/w/acme/ontologies/new").await;
    let ids: Vec<&str> =
        page.split("name=\"dataset_id\" value=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let form: Vec<(&str, &str)> =
        [("name", "sales")].into_iter().chain(ids.iter().map(|id| ("dataset_id", *id))).collect();
    let made = send(&ann, "/w/acme/ontologies/new", "draft", &form).await.text().await.unwrap();
    assert!(made.contains("Does <code>orders.shop_id</code> refer to <code>shops.shop_id</code>?"), "{made}");
    assert!(made.contains("selected>Not sure: draft it"), "{made}");
    let columns = made.split("Why columns are what they are").nth(1).unwrap_or_default();
    let orders = columns.split("<summary><code>orders</code></summary>").nth(1).unwrap_or_default();
    let key = "<code>order_id</code><br>Key: <span class=\"quiet\">It is in the key.</span>";
    assert!(orders.contains(key), "{made}");
    let yes = made.split("<option value=\"").find(|it| it.contains(">Yes<")).unwrap().split('"').next().unwrap();
    let yes = yes.replace("&#34;", "\"");
    let answered: Vec<(&str, &str)> = form.iter().copied().chain([("answer", yes.as_str())]).collect();
    let made = send(&ann, "/w/acme/ontologies/new", "draft", &answered).await.text().await.unwrap();
    assert!(made.contains("selected>Yes") && made.contains("A person said so."), "{made}");
    // What the form carries makes the same draft again.
    for id in &ids {
        assert!(made.contains(&format!("<textarea name=\"dataset_id\" hidden>\n{id}</textarea>")), "{id}: {made}");
    }
    let refused = send(&ann, "/w/acme/ontologies/new", "draft", &[form.as_slice(), &[("answer", "{}")]].concat()).await;
    assert_eq!(refused.status(), 422);

    let document =
        made.split("wrap=\"off\"").nth(1).unwrap().split('>').nth(1).unwrap().split("</textarea").next().unwrap();
    let document =
        document.trim_start().replace("&#34;", "\"").replace("&#39;", "'").replace("&#38;", "&").replace("&#62;", ">");
    let saved = send(&ann, "/w/acme/ontologies/new", "create", &[("text", &document)]).await;
    assert_eq!(saved.status(), StatusCode::SEE_OTHER, "{}", saved.text().await.unwrap());
    let edit = format!("{}/edit", location(&saved));
    let page = text(&ann, &edit).await;
    assert!(page.contains("Draft anew"), "{page}");
    let anew = send(&ann, &edit, "anew", &[]).await.text().await.unwrap();
    assert!(anew.contains("Nothing is new in the tables") && anew.contains("selected>Yes"), "{anew}");
    assert!(anew.contains("Why columns are what they are"), "{anew}");
    service
        .import(&org, "shops.csv", format!("shop_id,city,owner\n{}", shops.replace('\n', ",Lee\n")).as_bytes(), true)
        .await
        .unwrap();
    let anew = send(&ann, &edit, "anew", &[]).await.text().await.unwrap();
    assert!(anew.contains("The field `shops.owner` was added."), "{anew}");
    service.stop().await;
}
