//! Every page that people see, in a real browser: nothing that keeps anybody out, nothing wider than the screen, nothing
//! from elsewhere, by day and by night, and by the keyboard alone.

use std::time::Duration;

use dragoman::gateway::Via;
use dragoman::model::access::{ExtScope, Role, Scope};
use dragoman::ops::connectivity::guides::GUIDES;
use dragoman::ops::ontology_texts::{CheckOntology, CreateOntology};
use dragoman::surface::docs::PAGES;
use serde_json::{Value, json};

use crate::console::{person, send};
use crate::console_data::{ONTOLOGY, SHOP};
use crate::site::Browser;
use crate::support::program::clients;
use crate::support::service::{PASSWORD, Service, as_json, operator};

/// What answers a browser and is no page of its own, with the reason.
const NO_PAGES: [(&str, &str); 7] = [
    ("/login/two-step", "only while somebody signs in with two steps; tests/it/factors is there"),
    ("/login/{provider}", "leads to another server"),
    ("/login/{provider}/callback", "comes from another server"),
    ("/account/providers/confirm", "only on the way back from another server; tests/it/upstream is there"),
    ("/w/{slug}/connect/{id}/seen", "a part of the page of a guide"),
    ("/w/{slug}/audit/export", "a file"),
    ("/w/{slug}/ontologies/{id}/export", "a file"),
];

/// A workspace in which every page has something to show, and the pages.
async fn world(service: &Service) -> (Browser, Vec<Value>) {
    let org = service.workspace("acme").await;
    let (ann, browser) = person(service, "ann@example.com", &[(&org, Role::Admin)]).await;
    let table = service.import(&org, "sales.csv", SHOP.as_bytes(), true).await.unwrap();
    let notes = service.import(&org, "notes.md", b"# Notes\n\nOslo is in Norway.", true).await.unwrap();
    // What is long takes no room from what stands beside it.
    let name = "x".repeat(70);
    person(service, &format!("{}@example.com", &name[..50]), &[(&org, Role::Viewer)]).await;
    service.identity.create_token(org.id, &format!("nightly {name}"), &ExtScope::ALL, None).await.unwrap();
    let long = format!("kind,made,name,place\nwholesale,2019-05-30,{name}{name},Northbound\n");
    let long = service.import(&org, "lengths.csv", long.as_bytes(), true).await.unwrap();
    let token = service.access_token_of(&org, ann.id, &Scope::ALL).await;
    let (_, found) = service.tool(&token, "dragoman_search", json!({ "query": "Where is Oslo?" })).await;
    let (_, invitation) = service.identity.invite(org.id, Some(ann.id), "bob@example.com", Role::Viewer).await.unwrap();
    let saved = CreateOntology { text: ONTOLOGY.into(), summary: "First".into() };
    let saved = as_json(service.gateway.call(&operator(&org), saved, Via::new("admin.call")).await).unwrap();
    let ontology = saved["ontology"]["ontology_id"].as_str().unwrap();
    let check = CheckOntology { ontology_id: ontology.parse().unwrap() };
    as_json(service.gateway.call(&operator(&org), check, Via::new("admin.call")).await).unwrap();
    let question = [("mode", "question"), ("ontology_id", ontology), ("question", "turnover by town")];
    let told = send(&browser, "/w/acme/ask", "", &question).await.text().await.unwrap();
    let trace = told.split("/w/acme/questions/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let client = service.grant(&org, ann.id, &[Scope::DataRead], &service.config.resource()).await.0;

    let dataset = format!("/w/acme/datasets/{}", table["dataset_id"].as_str().unwrap());
    let document = found["matches"][0]["metadata"]["document_id"].as_str().unwrap().to_owned();
    let ontology = format!("/w/acme/ontologies/{ontology}");
    let authorize = format!(
        "/api/oauth/authorize?response_type=code&client_id={client}&redirect_uri=http%3A%2F%2F127.0.0.1%2Fcallback&state=x\
         &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&scope=data_agent%3Aread"
    );
    let stranger = |path: &str| json!({ "by": "stranger", "path": path });
    let mut pages = vec![
        json!({ "by": "stranger", "path": authorize, "lands": "/login" }),
        json!({ "by": "stranger", "path": "/login/reset?token=over", "status": 400 }),
        json!({ "by": "person", "path": authorize, "lands": "/consent" }),
        json!({ "by": "person", "path": "/w/acme/datasets/nothing", "status": 404 }),
    ];
    pages.extend(["/", "/login", "/login/forgot", "/login/passkey", "/docs"].map(stranger));
    pages.push(stranger(invitation.expose().strip_prefix(&service.url("")).unwrap()));
    pages.extend(PAGES.iter().map(|page| stranger(&format!("/docs/{}", page.name))));
    pages.extend(GUIDES.iter().map(|guide| stranger(&format!("/docs/connect/{}", guide.id))));

    let account = ["", "/two-step", "/passkeys", "/providers", "/sessions", "/apps", "/questions"];
    let mut paths = account.map(|path| format!("/account{path}")).to_vec();
    let inside = [
        "",
        "/ask",
        "/ask?mode=sql",
        "/ask?mode=question",
        "/ask?mode=query",
        "/ask/history",
        "/connect",
        "/datasets?do=delete&all=1",
        "/follow",
        "/ontologies",
        "/ontologies/new",
        "/members",
        "/clients",
        "/sources",
        "/audit",
        "/settings",
    ];
    paths.extend(inside.map(|path| format!("/w/acme{path}")));
    paths.extend(["/", "/login/confirm", "/device"].map(str::to_owned));
    paths.extend(["", "/rows", "/profile"].map(|path| format!("{dataset}{path}")));
    paths.push(format!("/w/acme/datasets/{}/rows", long["dataset_id"].as_str().unwrap()));
    let notes = format!("/w/acme/datasets/{}", notes["dataset_id"].as_str().unwrap());
    paths.extend(["", "/texts", "/texts?text=Oslo"].map(|path| format!("{notes}{path}")));
    paths
        .extend(["", "/ask", "/edit", "/history", "/questions", "/remembered"].map(|path| format!("{ontology}{path}")));
    paths.extend(GUIDES.iter().map(|guide| format!("/w/acme/connect/{}", guide.id)));
    paths.extend([format!("/w/acme/documents/{document}"), format!("/w/acme/questions/{trace}")]);
    pages.extend(paths.into_iter().map(|path| json!({ "by": "person", "path": path })));
    (browser, pages)
}

/// Whether a path is one of a route's.
fn is_of(route: &str, path: &str) -> bool {
    let path = path.split('?').next().unwrap();
    let (route, path): (Vec<_>, Vec<_>) = (route.split('/').collect(), path.split('/').collect());
    route.len() == path.len() && route.iter().zip(&path).all(|(route, path)| route.starts_with('{') || route == path)
}

/// The routes of pages: what a browser gets, without what only programs ask.
fn routes() -> Vec<String> {
    let source = include_str!("../../src/surface/routes.rs");
    let pages = source.split("\nfn ").filter(|function| {
        ["signing_in", "account", "workspace", "files", "long_workspace", "anybody"]
            .iter()
            .any(|name| function.starts_with(&format!("{name}(")))
    });
    let routes = pages.flat_map(|function| function.split(".route(").skip(1)).filter_map(|route| {
        let (path, handler) = route.split_once('"')?.1.split_once('"')?;
        handler.trim_start_matches([',', ' ', '\n']).starts_with("get(").then(|| path.to_owned())
    });
    routes
        .filter(|path| !path.starts_with("/api/v1/") && !path.ends_with(".txt") && !path.contains("/files/"))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_for_everybody_by_day_and_night_on_every_screen_and_by_the_keyboard() {
    let service = Service::start().await;
    let (_browser, pages) = world(&service).await;
    let visited: Vec<&str> =
        pages.iter().flat_map(|page| [&page["path"], &page["lands"]]).filter_map(Value::as_str).collect();
    let routes = routes();
    assert!(routes.len() > 50, "{routes:?}");
    for route in &routes {
        let looked_at =
            visited.iter().any(|path| is_of(route, path)) || route == "/docs/" || route == "/w/{slug}/check";
        assert!(looked_at || NO_PAGES.iter().any(|(path, _)| path == route), "{route} is looked at by nobody");
    }
    let output = tokio::process::Command::new("node")
        .args(["pages.mjs", &service.url(""), "ann@example.com", PASSWORD, &Value::from(pages).to_string()])
        .current_dir(clients())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(900), output).await.expect("in time").unwrap();
    let (said, problems) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{problems}");
    eprintln!("{problems}");
    service.stop().await;
}
