//! Connecting clients: the guides are true, what they print is what the clients read, a client is seen on its way in, and
//! models without MCP get right answers by functions and by a prompt.

mod arriving;
mod configurations;
mod documents;
mod local;
mod models;
mod pages;

use dragoman::model::access::Role;
use dragoman::model::org::Org;
use dragoman::ops::connectivity::guides::GUIDES;
use serde_json::Value;

use crate::support::service::{Service, json_of};

pub const FLIGHTS: &[u8] = b"carrier,delay\nUA,5\nUA,7\nAA,3\n";

/// A workspace with a published table, one that is not, and an admin's client.
pub struct Place {
    pub service: Service,
    pub org: Org,
    pub token: String,
}

impl Place {
    pub async fn open(service: Service) -> Self {
        let org = service.workspace("acme").await;
        let (_, token) = service.member(&org, "ann@example.com", Role::Admin).await;
        service.import(&org, "flights.csv", FLIGHTS, true).await.unwrap();
        service.import(&org, "salaries.csv", b"person,pay\nann,1\n", false).await.unwrap();
        Self { service, org, token }
    }

    /// The guide of a client.
    pub async fn setup(&self, platform: &str) -> Value {
        let (status, body) =
            self.service.manage(&self.token, "GET", &format!("/connectivity/setup?platform={platform}"), None).await;
        assert_eq!(status, 200, "{platform}: {body}");
        body
    }

    /// Every guide, by its platform.
    pub async fn setups(&self) -> Vec<(&'static str, Value)> {
        let mut all = Vec::new();
        for guide in GUIDES {
            all.push((guide.id, self.setup(guide.id).await));
        }
        all
    }
}

/// What is to be copied in a guide: file, format and content.
pub fn pieces(setup: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let steps = setup["steps"].as_array().unwrap().iter().map(|step| &step["configuration"]);
    steps
        .filter(|piece| piece.is_object())
        .map(|it| (text(&it["file"]), text(&it["format"]), text(&it["content"])))
        .collect()
}

/// What the guides name is there: every address below the service's own, every scope, every setting.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_guides_name_is_what_the_service_has() {
    let place = Place::open(Service::start().await).await;
    let service = &place.service;
    let base = service.url("");
    let settings: Vec<&str> = dragoman::config::VARIABLES.iter().map(|variable| variable.name).collect();
    let mut asked = std::collections::BTreeSet::new();
    for (platform, setup) in place.setups().await {
        let text = setup.to_string();
        for (at, _) in text.match_indices(&base) {
            let rest = &text[at + base.len()..];
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"/._-".contains(c)).unwrap_or(rest.len());
            asked.insert(rest[..end].trim_end_matches('.').to_owned());
        }
        for (at, _) in text.match_indices("ext:") {
            let end = text[at + 4..].find(|c: char| !c.is_ascii_lowercase()).unwrap();
            let scope = &text[at..at + 4 + end];
            assert!(dragoman::model::access::ExtScope::parse(scope).is_some(), "{platform}: {scope}");
        }
        for (at, _) in text.match_indices("DRAGOMAN_") {
            let end = text[at..].find(|c: char| !c.is_ascii_uppercase() && c != '_').unwrap();
            let name = &text[at..at + end];
            // The token's variable is one of the clients' own machine.
            assert!(name == "DRAGOMAN_TOKEN" || settings.contains(&name), "{platform}: {name}");
        }
    }
    assert!(asked.len() >= 6, "{asked:?}");
    for path in asked {
        let status = service.http.get(service.url(&path)).send().await.unwrap().status().as_u16();
        assert!(status != 404, "{path} is named and is not there");
    }
    for limit in ["30 requests a minute", "10 of SQL"] {
        let program = place.setup("program").await.to_string();
        assert!(program.contains(limit), "{limit}");
    }
    let rates = dragoman::config::Config::read(|_| None).unwrap().limits.rates;
    assert_eq!((rates.token.calls, rates.token.sql), (30, 10), "the guides say so");
    place.service.stop().await;
}

/// A guide speaks to a person, names the workspace's own address, and holds no secret.
#[tokio::test(flavor = "multi_thread")]
async fn a_guide_is_for_a_person_and_holds_no_secret() {
    let place = Place::open(Service::start().await).await;
    let service = &place.service;
    let secret = service.token(&place.org).await;
    let id = secret.split('_').nth(1).unwrap();
    let asked = format!("/connectivity/setup?platform=inspector&token_id={id}");
    let (_, with) = service.manage(&place.token, "GET", &asked, None).await;
    assert_eq!(with["token"], format!("dgmcp_{id}_YOUR_SECRET"));
    assert!(!with.to_string().contains(&secret) && with.to_string().contains(&format!("dgmcp_{id}_YOUR_SECRET")));
    assert_eq!(with["address"], service.url("/t/acme/mcp"));
    // The secret in the place of the id is refused, and not said again.
    let asked = format!("/connectivity/setup?platform=inspector&token_id={secret}");
    let (status, refused) = service.manage(&place.token, "GET", &asked, None).await;
    assert_eq!((status, refused["error"]["details"]["field"].as_str()), (400, Some("token_id")));
    assert!(!refused.to_string().contains(&secret));
    let (status, refused) = service.manage(&place.token, "GET", "/connectivity/setup?platform=netscape", None).await;
    assert!(status == 400 && refused.to_string().contains("cursor"), "{refused}");
    let by_token = service.get("/api/v1/connectivity/setup?platform=cursor", &secret).send().await.unwrap();
    let (status, refused) = json_of(by_token).await;
    assert_eq!((status, refused["error"]["details"]["rule"].as_str()), (403, Some("person")));
    let (_, viewer) = service.member(&place.org, "vic@example.com", Role::Viewer).await;
    assert_eq!(service.manage(&viewer, "GET", "/connectivity/setup?platform=cursor", None).await.0, 200);
    place.service.stop().await;
}

/// The switch as two things to ask for: it holds at once, tokens are kept, and another workspace's name is refused.
#[tokio::test(flavor = "multi_thread")]
async fn the_switch_is_two_operations_and_says_what_follows() {
    Service::both(async |service| {
        let place = Place::open(service).await;
        let service = &place.service;
        let secret = service.token(&place.org).await;
        let status = async || service.get("/api/v1/ext/datasets", &secret).send().await.unwrap().status().as_u16();
        assert_eq!(status().await, 200);
        let disable =
            async |body: Value| service.manage(&place.token, "POST", "/connectivity/disable", Some(body)).await;
        assert_eq!(disable(serde_json::json!({ "name": "other" })).await.0, 400);
        assert_eq!(status().await, 200, "nothing was switched off");
        let (code, off) = disable(serde_json::json!({ "name": "acme" })).await;
        assert_eq!((code, &off["connectivity_enabled"]), (200, &Value::Bool(false)), "{off}");
        assert_eq!(status().await, 503);
        // Whoever is shut out cannot let themselves in again: that is done here, or in the console.
        let (code, _) = service.manage(&place.token, "POST", "/connectivity/enable", None).await;
        assert_eq!(code, 503);
        service.identity.set_connectivity(place.org.id, true).await.unwrap();
        assert_eq!(status().await, 200, "the token was kept");
        let (code, on) = service.manage(&place.token, "POST", "/connectivity/enable", None).await;
        assert_eq!((code, &on["connectivity_enabled"]), (200, &Value::Bool(true)), "{on}");
        assert_eq!(on["mcp_address"], service.url("/t/acme/mcp"));
        place.service.stop().await;
    })
    .await;
}

/// How it stands: the tokens without secrets, what was asked and what came of it, and no word of a query.
#[tokio::test(flavor = "multi_thread")]
async fn the_status_counts_what_came_from_outside() {
    let place = Place::open(Service::start().await).await;
    let service = &place.service;
    let secret = service.token(&place.org).await;
    for sql in ["SELECT 42 AS xyzzy", "DROP TABLE xyzzy"] {
        service.post("/api/v1/ext/sql", &secret).json(&serde_json::json!({ "sql": sql })).send().await.unwrap();
    }
    service.get("/api/v1/ext/datasets", &secret).send().await.unwrap();
    let (status, now) = service.manage(&place.token, "GET", "/connectivity", None).await;
    assert_eq!(status, 200, "{now}");
    let usage = &now["last_24_hours"];
    assert_eq!((&usage["calls"], &usage["errors"]), (&3.into(), &1.into()), "{now}");
    assert_eq!((&usage["by_operation"]["dragoman_sql"], &usage["by_error"]["forbidden_sql"]), (&2.into(), &1.into()));
    assert_eq!(now["recent"].as_array().unwrap().len(), 3);
    assert_eq!(
        (&now["recent"][0]["operation"], &now["recent"][0]["outcome"]),
        (&"dragoman_list_datasets".into(), &"ok".into())
    );
    assert_eq!(now["tokens"][0]["last_four"], secret[secret.len() - 4..]);
    let told = now.to_string();
    assert!(!told.contains("xyzzy") && !told.contains(&secret), "{told}");
    place.service.stop().await;
}
