//! Devices without a browser (RFC 8628): both sides of the grant, and the page between them.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use dragoman::base::secret::{Secret, random_token};
use dragoman::identity::clients::{NewClient, OAuthClient};
use dragoman::identity::device::{DeviceError, Started};
use dragoman::identity::grants::{Approval, GrantError, TokenPair};
use dragoman::model::access::{Role, Scope};
use dragoman::model::error::Code;
use futures_util::future::join_all;
use serde_json::Value;

use crate::identity::{World, nowhere};
use crate::site::{Browser, PASSWORD, Site, field, location, param};
use crate::support::databases::both;

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
const IP: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 7));

async fn client(world: &World, name: &str) -> OAuthClient {
    let new = NewClient {
        name: name.into(),
        redirect_uris: vec!["http://127.0.0.1/callback".into()],
        application_type: "native".into(),
        uri: None,
    };
    world.identity.register_client(new).await.unwrap()
}

async fn start(world: &World, client: &OAuthClient) -> Started {
    let scopes = [Scope::DataRead, Scope::DataWrite];
    world.identity.start_device(client, &scopes, world.resource(), IP).await.unwrap()
}

/// As the page does it: the code leads to the device, the device is answered.
async fn approve(world: &World, client: &OAuthClient, started: &Started) -> bool {
    let Some(waiting) = world.identity.waiting_device(started.user_code.expose()).await.unwrap() else { return false };
    world.identity.approve_device(&waiting.digest, approval(world, client)).await.unwrap()
}

fn approval(world: &World, client: &OAuthClient) -> Approval {
    let (redirect_uri, code_challenge) = (String::new(), String::new());
    Approval { client_id: client.id.clone(), redirect_uri, code_challenge, ..world.approval() }
}

async fn poll(world: &World, client: &OAuthClient, started: &Started) -> Result<TokenPair, DeviceError> {
    world.identity.poll_device(started.device_code.expose(), &client.id, None).await
}

#[track_caller]
fn invalid_grant(result: Result<TokenPair, DeviceError>) {
    assert!(matches!(result, Err(DeviceError::Grant(GrantError::InvalidGrant(_)))), "{result:?}");
}

#[tokio::test]
async fn l04_a_device_asks_in_its_time_and_gets_its_tokens_once() {
    both(async |db| {
        let world = World::new(db).await;
        let client = client(&world, "Television").await;
        let started = start(&world, &client).await;
        assert_eq!((started.expires_in, started.interval), (900, 5));
        // Five seconds apart is right; a second apart costs five seconds more, for good.
        for (wait, hasty) in [(0, false), (5, false), (1, true), (9, true), (14, true), (20, false), (19, true)] {
            world.wait(wait);
            let answer = poll(&world, &client, &started).await;
            match hasty {
                true => assert!(matches!(answer, Err(DeviceError::SlowDown)), "after {wait}: {answer:?}"),
                false => assert!(matches!(answer, Err(DeviceError::Pending)), "after {wait}: {answer:?}"),
            }
        }
        assert!(approve(&world, &client, &started).await);
        let pair = poll(&world, &client, &started).await.unwrap();
        assert_eq!(pair.scopes, [Scope::DataRead, Scope::DataWrite]);
        let proven = world.verify(&pair.access).await.unwrap();
        assert_eq!((proven.org.id, proven.client.name.as_str()), (world.org.id, "Television"));
        // Once.
        invalid_grant(poll(&world, &client, &started).await);
        world.wait(3_600);
        invalid_grant(poll(&world, &client, &started).await);
        let refresh = dragoman::identity::grants::RefreshUse {
            token: pair.refresh.expose(),
            client_id: &client.id,
            scope: None,
            resource: None,
        };
        world.identity.refresh(refresh).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn l04_denied_and_old_codes_say_so_and_cannot_be_approved_any_more() {
    both(async |db| {
        let world = World::new(db).await;
        let client = client(&world, "Television").await;
        let (denied, old) = (start(&world, &client).await, start(&world, &client).await);
        let waiting = world.identity.waiting_device(denied.user_code.expose()).await.unwrap().unwrap();
        assert!(world.identity.deny_device(&waiting.digest).await.unwrap());
        assert!(!world.identity.deny_device(&waiting.digest).await.unwrap());
        assert!(!world.identity.approve_device(&waiting.digest, approval(&world, &client)).await.unwrap());
        assert!(!approve(&world, &client, &denied).await, "the user code leads nowhere any more");
        let answer = poll(&world, &client, &denied).await;
        assert!(matches!(answer, Err(DeviceError::Denied)), "{answer:?}");

        let waiting = world.identity.waiting_device(old.user_code.expose()).await.unwrap().unwrap();
        world.wait(899);
        assert!(matches!(poll(&world, &client, &old).await, Err(DeviceError::Pending)));
        world.wait(1);
        assert!(matches!(poll(&world, &client, &old).await, Err(DeviceError::Expired)));
        assert!(!world.identity.approve_device(&waiting.digest, approval(&world, &client)).await.unwrap());
        assert!(!world.identity.deny_device(&waiting.digest).await.unwrap());
        assert!(!approve(&world, &client, &old).await);
        // An approval that the device did not fetch in time is void too.
        let late = start(&world, &client).await;
        assert!(approve(&world, &client, &late).await);
        world.wait(900);
        assert!(matches!(poll(&world, &client, &late).await, Err(DeviceError::Expired)));
        // What is long past is cleaned up, and unknown.
        world.wait(24 * 3_600);
        world.identity.sweep().await.unwrap();
        invalid_grant(poll(&world, &client, &old).await);
    })
    .await;
}

#[tokio::test]
async fn l05_a_device_code_is_worth_nothing_to_another_client_and_nothing_changes() {
    both(async |db| {
        let world = World::new(db).await;
        let (ours, other) = (client(&world, "Television").await, client(&world, "Thief").await);
        let started = start(&world, &ours).await;
        for _ in 0..3 {
            invalid_grant(poll(&world, &other, &started).await);
        }
        // The thief's haste is not the owner's.
        assert!(matches!(poll(&world, &ours, &started).await, Err(DeviceError::Pending)));
        assert!(approve(&world, &ours, &started).await);
        invalid_grant(poll(&world, &other, &started).await);
        let unknown = random_token("dgdc_");
        for bad in ["", "dgdc_", "dgdc_x", "dgac_' OR 1=1", unknown.expose(), started.user_code.expose()] {
            invalid_grant(world.identity.poll_device(bad, &ours.id, None).await);
        }
        // As an authorization code it is nothing at all.
        let used = dragoman::identity::grants::CodeUse {
            code: started.device_code.expose(),
            client_id: &ours.id,
            redirect_uri: None,
            verifier: crate::identity::VERIFIER,
            resource: None,
        };
        crate::identity::invalid_grant(world.identity.redeem(used).await);
        poll(&world, &ours, &started).await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l04_of_twenty_questions_at_once_one_gets_the_tokens_and_of_two_answers_one_counts() {
    both(async |db| {
        let world = World::new(db).await;
        let client = client(&world, "Television").await;
        let started = start(&world, &client).await;
        let waiting = world.identity.waiting_device(started.user_code.expose()).await.unwrap().unwrap();
        let answers = (0..8).map(|at| {
            let (identity, digest) = (world.identity.clone(), waiting.digest.clone());
            let approval = approval(&world, &client);
            tokio::spawn(async move {
                match at % 2 {
                    0 => identity.approve_device(&digest, approval).await.unwrap(),
                    _ => identity.deny_device(&digest).await.unwrap(),
                }
            })
        });
        let counted: Vec<bool> = join_all(answers).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(counted.iter().filter(|counts| **counts).count(), 1, "{counted:?}");

        let started = start(&world, &client).await;
        assert!(approve(&world, &client, &started).await);
        let polls = (0..20).map(|_| {
            let (identity, client) = (world.identity.clone(), client.id.clone());
            let code = started.device_code.clone();
            tokio::spawn(async move { identity.poll_device(code.expose(), &client, None).await })
        });
        let results: Vec<_> = join_all(polls).await.into_iter().map(Result::unwrap).collect();
        let (good, bad): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
        assert_eq!(good.len(), 1);
        bad.into_iter().for_each(invalid_grant);
        world.verify(&good.into_iter().next().unwrap().unwrap().access).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn c15_a_device_gets_what_its_person_may_give_when_it_asks() {
    both(async |db| {
        let world = World::new(db).await;
        let client = client(&world, "Television").await;
        let (narrowed, withdrawn, removed) =
            (start(&world, &client).await, start(&world, &client).await, start(&world, &client).await);
        for started in [&narrowed, &withdrawn, &removed] {
            assert!(approve(&world, &client, started).await);
        }
        world.identity.set_role(world.org.id, world.user.id, Role::Viewer).await.unwrap();
        assert_eq!(poll(&world, &client, &narrowed).await.unwrap().scopes, [Scope::DataRead]);
        // The one that has its tokens, and the two that wait for theirs.
        assert_eq!(world.identity.withdraw_consent(world.org.id, world.user.id, &client.id).await.unwrap(), 3);
        invalid_grant(poll(&world, &client, &withdrawn).await);
        world.identity.remove_member(world.org.id, world.user.id).await.unwrap();
        invalid_grant(poll(&world, &client, &removed).await);
        // Who is no member approves nothing, and the device goes on waiting.
        let started = start(&world, &client).await;
        let waiting = world.identity.waiting_device(started.user_code.expose()).await.unwrap().unwrap();
        for org in [world.org.id, nowhere()] {
            let refused = world.identity.approve_device(&waiting.digest, Approval { org, ..approval(&world, &client) });
            assert_eq!(refused.await.unwrap_err().code, Code::InvalidArgument);
        }
        assert!(matches!(poll(&world, &client, &started).await, Err(DeviceError::Pending)));
    })
    .await;
}

#[tokio::test]
async fn c08_c19_a_poll_that_cannot_finish_leaves_the_approval_unused() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let client = client(&world, "Television").await;
        let started = start(&world, &client).await;
        assert!(approve(&world, &client, &started).await);
        let elsewhere = Some("https://evil.example/mcp");
        let wrong = world.identity.poll_device(started.device_code.expose(), &client.id, elsewhere).await;
        assert!(matches!(wrong, Err(DeviceError::Grant(GrantError::InvalidTarget))), "{wrong:?}");
        // The tokens have nowhere to go.
        sqlx::query("ALTER TABLE refresh_tokens RENAME TO away").execute(db.pool()).await.unwrap();
        let failed = poll(&world, &client, &started).await;
        assert!(matches!(failed, Err(DeviceError::Grant(GrantError::Internal(_)))), "{failed:?}");
        sqlx::query("ALTER TABLE away RENAME TO refresh_tokens").execute(db.pool()).await.unwrap();
        poll(&world, &client, &started).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn c20_of_both_codes_the_database_holds_digests() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let started = start(&world, &client(&world, "Television").await).await;
        let row: (String, String) =
            sqlx::query_as("SELECT digest, user_code FROM device_codes").fetch_one(db.pool()).await.unwrap();
        for kept in [&row.0, &row.1] {
            assert_eq!(kept.len(), 64);
            assert!(kept.bytes().all(|byte| byte.is_ascii_hexdigit()));
        }
        // A short code could be found from a plain digest by trying them all.
        let letters = started.user_code.expose().replace('-', "");
        for plain in [started.user_code.expose(), &letters] {
            assert_ne!(row.1, dragoman::base::secret::sha256_hex(plain.as_bytes()));
        }
    })
    .await;
}

/// A device that speaks to a site.
struct Tv<'a> {
    site: &'a Site,
    client: String,
    code: String,
    user_code: String,
    complete: String,
}

impl<'a> Tv<'a> {
    async fn start(site: &'a Site, client: &str, more: &[(&str, &str)]) -> Self {
        let mut form = vec![("client_id", client)];
        form.extend(more);
        let (status, body) = ask(site, &form).await;
        assert_eq!(status, 200, "{body}");
        let text = |name: &str| body[name].as_str().unwrap().to_owned();
        assert_eq!(text("verification_uri"), site.url("/device"));
        assert_eq!((&body["expires_in"], &body["interval"]), (&900.into(), &5.into()));
        Self {
            site,
            client: client.to_owned(),
            code: text("device_code"),
            user_code: text("user_code"),
            complete: text("verification_uri_complete"),
        }
    }

    async fn poll(&self) -> (u16, Value) {
        let form = [("grant_type", GRANT), ("device_code", &*self.code), ("client_id", &*self.client)];
        self.site.token(&form).await
    }

    async fn error(&self) -> String {
        let (status, body) = self.poll().await;
        assert_eq!(status, 400, "{body}");
        body["error"].as_str().unwrap().to_owned()
    }
}

async fn ask(site: &Site, form: &[(&str, &str)]) -> (u16, Value) {
    let endpoint = site.url("/api/oauth/device_authorization");
    let response = site.program().post(endpoint).form(form).send().await.unwrap();
    assert_eq!(response.headers()["cache-control"], "no-store");
    (response.status().as_u16(), response.json().await.unwrap())
}

/// Types a code; the answer.
async fn enter(browser: &Browser, code: &str) -> reqwest::Response {
    let page = browser.get("/device").await.text().await.unwrap();
    browser.post("/device", &[("csrf", &*field(&page, "csrf")), ("user_code", code)]).await
}

/// From the code to the confirmation page.
async fn confirmation(browser: &Browser, code: &str) -> String {
    let response = enter(browser, code).await;
    assert_eq!(response.status(), 303);
    let page = browser.get(&location(&response)).await;
    assert_eq!(page.status(), 200);
    page.text().await.unwrap()
}

#[tokio::test]
async fn l04_l05_a_person_connects_a_device_from_their_own_browser() {
    let site = Site::start().await;
    let metadata = site.url("/.well-known/oauth-authorization-server");
    let metadata: Value = site.program().get(metadata).send().await.unwrap().json().await.unwrap();
    assert_eq!(metadata["device_authorization_endpoint"], site.url("/api/oauth/device_authorization"));
    assert!(metadata["grant_types_supported"].as_array().unwrap().contains(&GRANT.into()));

    let client = site.named_client("Television").await;
    let tv = Tv::start(&site, &client, &[("scope", "data_agent:read data_agent:write")]).await;
    assert!(tv.code.starts_with("dgdc_") && tv.code.len() >= 48, "256 bits");
    assert_eq!(tv.complete, format!("{}?user_code={}", site.url("/device"), tv.user_code));
    assert_eq!(tv.error().await, "authorization_pending");
    assert_eq!(tv.error().await, "slow_down");

    // Nobody is signed in: log in first, and come back to the code.
    let browser = site.browser();
    let login = location(&browser.get(&tv.complete[site.base.len()..]).await);
    let back = param(&site.url(&login), "return_to").unwrap();
    assert_eq!(back, format!("/device?user_code={}", tv.user_code));
    let done = browser.log_in("ann@example.com", PASSWORD, &back).await;
    assert_eq!((done.status().as_u16(), location(&done)), (303, back));

    site.clock.advance(Duration::from_secs(180));
    let page = confirmation(&browser, &format!(" {} ", tv.user_code.replace('-', "").to_lowercase())).await;
    for shown in ["Television", "unverified", "3 minutes ago", "127.0.0.1", "ann@example.com", "Demo"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(page.contains("only if you started this yourself on a device that you hold"));
    assert!(page.contains("See published datasets") && !page.contains("You will be sent to"));
    let answer = browser.answer(&page, "approve", &[]).await;
    assert_eq!(answer.status(), 200);
    assert!(answer.headers().get("refresh").is_none(), "the browser stays where it is");
    assert!(answer.text().await.unwrap().contains("<h1>Connected</h1>"));

    let (status, tokens) = tv.poll().await;
    assert_eq!(status, 200, "{tokens}");
    assert_eq!((&tokens["token_type"], &tokens["expires_in"]), (&"Bearer".into(), &600.into()));
    assert_eq!(tokens["scope"], "data_agent:read data_agent:write");
    let answer = site.call("/mcp", tokens["access_token"].as_str().unwrap()).await;
    assert_eq!(answer.text().await.unwrap(), format!("{} admin", site.demo.id));
    let refresh = tokens["refresh_token"].as_str().unwrap();
    let form = [("grant_type", "refresh_token"), ("refresh_token", refresh), ("client_id", &*client)];
    assert_eq!(site.token(&form).await.0, 200);
    assert_eq!(tv.error().await, "invalid_grant", "a second use");
    assert_eq!(browser.answer(&page, "approve", &[]).await.status(), 400);
    // The code leads nowhere any more.
    assert_eq!(enter(&browser, &tv.user_code).await.status(), 422);

    let events = site.events.lock().unwrap();
    let of = |action: &str| {
        let all = events.iter().filter(|event| event.action == action);
        all.map(|event| (event.outcome.as_str(), event.client.as_str(), event.target.as_str())).collect::<Vec<_>>()
    };
    assert_eq!(of("oauth.device_authorization"), [("ok", &*client, "")]);
    assert_eq!(of("oauth.device"), [("ok", &*client, ""), ("unknown_code", "", "")]);
    assert_eq!(of("oauth.consent"), [("ok", &*client, "device")]);
    let tokens = of("oauth.token");
    assert_eq!(tokens.len(), 5, "{tokens:?}");
    assert!(tokens.contains(&("authorization_pending", "", "device_code")), "{tokens:?}");
    assert!(tokens.contains(&("ok", &*client, "device_code")), "{tokens:?}");
    let issued = events.iter().find(|event| (event.action, &*event.outcome) == ("oauth.token", "ok")).unwrap();
    assert_eq!((issued.org, issued.principal.clone()), (Some(site.demo.id), format!("user:{}", site.ann.id)));
}

#[tokio::test]
async fn l05_a_link_with_the_code_only_fills_in_the_form() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let tv = Tv::start(&site, &client, &[]).await;
    let ann = site.browser().signed_in("ann@example.com").await;
    let page = ann.get(&tv.complete[site.base.len()..]).await;
    assert_eq!(page.status(), 200);
    let page = page.text().await.unwrap();
    assert!(page.contains(&format!("value=\"{}\"", tv.user_code)) && page.contains("very code"));
    assert!(!page.contains("value=\"approve\""));
    assert_eq!(site.rows("pending").await, 0);
    assert_eq!(tv.error().await, "authorization_pending");
    // What came with the link is text, whatever it is.
    let hostile = ann.get("/device?user_code=%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E").await.text().await.unwrap();
    assert!(!hostile.contains("<script") && hostile.contains("&#60;script&#62;"), "{hostile}");
    assert!(confirmation(&ann, &tv.user_code).await.contains("value=\"approve\""));
    assert_eq!(tv.site.rows("pending").await, 1);
}

#[tokio::test]
async fn b07_b08_l05_only_the_form_of_this_browser_for_this_device_is_an_answer() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let (first, second) = (Tv::start(&site, &client, &[]).await, Tv::start(&site, &client, &[]).await);
    let ann = site.browser().signed_in("ann@example.com").await;
    let bob = site.browser().signed_in("bob@example.com").await;
    // The form for the code.
    let foreign = field(&bob.get("/device").await.text().await.unwrap(), "csrf");
    for wrong in ["", "x", &foreign] {
        let form = [("csrf", wrong), ("user_code", &*first.user_code)];
        assert_eq!(ann.post("/device", &form).await.status(), 403, "{wrong}");
    }
    let own = field(&ann.get("/device").await.text().await.unwrap(), "csrf");
    let form = [("csrf", &*own), ("user_code", &*first.user_code)];
    let cross = ann.http.post(site.url("/device")).form(&form).header("sec-fetch-site", "cross-site").send().await;
    assert_eq!(cross.unwrap().status(), 403);
    assert_eq!(site.rows("pending").await, 0);
    // The form for the answer.
    let (page, other) = (confirmation(&ann, &first.user_code).await, confirmation(&ann, &second.user_code).await);
    let (request, csrf) = (field(&page, "request"), field(&other, "csrf"));
    for wrong in ["", &*csrf, &*own] {
        let form = [("csrf", wrong), ("request", &request), ("workspace", "demo"), ("decision", "approve")];
        assert_eq!(ann.post("/consent", &form).await.status(), 403, "{wrong}");
    }
    for stranger in [&bob, &site.browser().signed_in("ann@example.com").await] {
        assert!([400, 403].contains(&stranger.answer(&page, "approve", &[]).await.status().as_u16()));
    }
    assert_eq!(first.error().await, "authorization_pending");
    // The answer to one says nothing to the other.
    assert_eq!(ann.answer(&other, "deny", &[]).await.status(), 200);
    assert_eq!(second.error().await, "access_denied");
    site.clock.advance(Duration::from_secs(5));
    assert_eq!(first.error().await, "authorization_pending");
    assert_eq!(ann.answer(&other, "approve", &[]).await.status(), 400);
    assert_eq!(second.error().await, "access_denied");
}

#[tokio::test]
async fn l04_five_wrong_codes_a_minute_and_no_sixth() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let tv = Tv::start(&site, &client, &[]).await;
    let ann = site.browser().signed_in("ann@example.com").await;
    // Right codes do not count.
    for _ in 0..6 {
        assert_eq!(enter(&ann, &tv.user_code).await.status(), 303);
    }
    for wrong in ["BCDF-GHJK", "", "short", "AEIO-UAEI", &"B".repeat(2_000)] {
        let response = enter(&ann, wrong).await;
        assert_eq!(response.status(), 422, "{wrong}");
        assert!(response.text().await.unwrap().contains("role=\"alert\""));
    }
    let refused = enter(&ann, &tv.user_code).await;
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()), (429, "60"));
    // A new session at the same address is no way out.
    let again = site.browser().signed_in("ann@example.com").await;
    assert_eq!(enter(&again, &tv.user_code).await.status(), 429);
    site.clock.advance(Duration::from_secs(60));
    assert_eq!(enter(&ann, &tv.user_code).await.status(), 303);
    let events = site.events.lock().unwrap();
    let outcomes: Vec<_> =
        events.iter().filter(|event| event.action == "oauth.device").map(|event| event.outcome.as_str()).collect();
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == "unknown_code").count(), 5);
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == "rate_limited").count(), 2);
}

#[tokio::test]
async fn l04_wrong_codes_sent_at_once_are_no_more_than_those_sent_in_turn() {
    let site = Site::start().await;
    let ann = site.browser().signed_in("ann@example.com").await;
    let csrf = field(&ann.get("/device").await.text().await.unwrap(), "csrf");
    let form = [("csrf", &*csrf), ("user_code", "BCDF-GHJK")];
    let guesses = (0..20).map(|_| ann.post("/device", &form));
    let mut statuses: Vec<_> = join_all(guesses).await.iter().map(|answer| answer.status().as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [[422; 5].as_slice(), [429; 15].as_slice()].concat());
}

#[tokio::test]
async fn a_person_gives_a_device_less_than_it_asks_in_the_workspace_of_their_choice() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let scope = ("scope", "data_agent:read data_agent:write datasets:write");
    let tv = Tv::start(&site, &client, &[scope]).await;
    let ann = site.browser().signed_in("ann@example.com").await;
    let page = confirmation(&ann, &tv.user_code).await;
    let request = field(&page, "request");
    // The other workspace does not accept AI clients; its admin may turn them on here.
    let page = ann.get(&format!("/consent?request={request}&workspace=quiet")).await.text().await.unwrap();
    assert_eq!(ann.answer(&page, "approve", &[]).await.status(), 422, "the box is not ticked");
    let none = [("enable", "1"), ("scope", "workspace:admin")];
    assert_eq!(ann.answer(&page, "approve", &none).await.status(), 422, "nothing that was asked is left");
    let fewer = [("enable", "1"), ("scope", "data_agent:read"), ("scope", "workspace:admin")];
    assert_eq!(ann.answer(&page, "approve", &fewer).await.status(), 200);
    let (status, tokens) = tv.poll().await;
    assert_eq!((status, &tokens["scope"]), (200, &"data_agent:read".into()));
    let answer = site.call("/mcp", tokens["access_token"].as_str().unwrap()).await;
    assert_eq!(answer.text().await.unwrap(), format!("{} admin", site.quiet.id));

    // Bob is a viewer.
    let tv = Tv::start(&site, &client, &[scope]).await;
    let bob = site.browser().signed_in("bob@example.com").await;
    let page = confirmation(&bob, &tv.user_code).await;
    assert!(page.contains("beyond your role"));
    assert_eq!(bob.answer(&page, "approve", &[]).await.status(), 200);
    assert_eq!(tv.poll().await.1["scope"], "data_agent:read");
}

#[tokio::test]
async fn a17_a_device_that_names_a_workspace_gets_that_one_from_its_members_only() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let ann = site.browser().signed_in("ann@example.com").await;
    let mut refusals = Vec::new();
    for slug in ["others", "nowhere"] {
        let tv = Tv::start(&site, &client, &[("resource", &site.url(&format!("/t/{slug}/mcp")))]).await;
        let response = enter(&ann, &tv.user_code).await;
        assert_eq!(response.status(), 403);
        refusals.push(response.text().await.unwrap());
        assert_eq!(tv.error().await, "authorization_pending", "somebody else may be a member");
    }
    assert_eq!(refusals[0], refusals[1]);
    // A device that asked before our address changed: its resource is no workspace's, and must not become any.
    let known = site.identity.client(&client).await.unwrap().unwrap();
    let resource = "https://before.example/t/demo/mcp".to_owned();
    let started = site.identity.start_device(&known, &[Scope::DataRead], resource, IP).await.unwrap();
    assert_eq!(enter(&ann, started.user_code.expose()).await.status(), 403);
    let tv = Tv::start(&site, &client, &[("resource", &site.url("/t/demo/mcp"))]).await;
    let page = confirmation(&ann, &tv.user_code).await;
    assert!(!page.contains("workspace=quiet") && !page.contains("Quiet"));
    let quiet = page.replace("name=\"workspace\" value=\"demo\"", "name=\"workspace\" value=\"quiet\"");
    assert_eq!(ann.answer(&quiet, "approve", &[("enable", "1")]).await.status(), 422);
    assert_eq!(ann.answer(&page, "approve", &[]).await.status(), 200);
    let tokens = tv.poll().await.1;
    let access = tokens["access_token"].as_str().unwrap();
    assert_eq!(site.call("/t/demo/mcp", access).await.status(), 200);
    assert_eq!(site.call("/mcp", access).await.status(), 401);
}

#[tokio::test]
async fn a_client_with_a_document_is_named_by_it_on_its_device_too() {
    let site = Site::start().await;
    let tv = Tv::start(&site, "https://claude.ai/oauth/claude-code-client-metadata", &[]).await;
    let ann = site.browser().signed_in("ann@example.com").await;
    let page = confirmation(&ann, &tv.user_code).await;
    assert!(page.contains("is published by <strong>claude.ai</strong>") && !page.contains("unverified"));
    assert!(page.contains("can still say that it is this one"), "a device proves no more than a program on a computer");
    assert_eq!(ann.answer(&page, "approve", &[]).await.status(), 200);
    assert_eq!(tv.poll().await.0, 200);
}

#[tokio::test]
async fn a_device_that_is_too_old_when_it_is_answered_is_over() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let tv = Tv::start(&site, &client, &[]).await;
    let ann = site.browser().signed_in("ann@example.com").await;
    site.clock.advance(Duration::from_secs(600));
    let page = confirmation(&ann, &tv.user_code).await;
    site.clock.advance(Duration::from_secs(300));
    assert_eq!(ann.answer(&page, "approve", &[]).await.status(), 400);
    assert_eq!(tv.error().await, "expired_token");
    let events = site.events.lock().unwrap();
    let consent = events.iter().find(|event| event.action == "oauth.consent").unwrap();
    assert_eq!(consent.outcome, "gone");
}

/// A form, and the status and the error that it is answered with.
type Case<'a> = (&'a [(&'a str, &'a str)], u16, &'a str);

#[tokio::test]
async fn c10_c11_c12_bad_requests_of_devices_are_refused() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let foreign = site.url("/mcp-evil");
    let cases: &[Case] = &[
        (&[], 400, "invalid_request"),
        (&[("client_id", "dgc_unknown")], 401, "invalid_client"),
        (&[("client_id", "https://127.0.0.1/c")], 401, "invalid_client"),
        (&[("client_id", &client), ("client_secret", "x")], 401, "invalid_client"),
        (&[("client_id", &client), ("client_id", &client)], 400, "invalid_request"),
        (&[("client_id", &client), ("scope", "root")], 400, "invalid_scope"),
        (&[("client_id", &client), ("scope", "x"), ("scope", "y")], 400, "invalid_request"),
        (&[("client_id", &client), ("resource", &foreign)], 400, "invalid_target"),
        (&[("client_id", &client), ("resource", "a"), ("resource", "b")], 400, "invalid_request"),
    ];
    for (form, status, error) in cases {
        let (answered, body) = ask(&site, form).await;
        assert_eq!((answered, body["error"].as_str().unwrap()), (*status, *error), "{form:?}");
    }
    let endpoint = site.url("/api/oauth/device_authorization");
    let json = site.program().post(&endpoint).json(&serde_json::json!({ "client_id": client })).send().await.unwrap();
    assert_eq!(json.status(), 415);
    assert_eq!(site.program().get(&endpoint).send().await.unwrap().status(), 405);
    let preflight = site.program().request(reqwest::Method::OPTIONS, &endpoint).send().await.unwrap();
    assert_eq!(preflight.headers()["access-control-allow-origin"], "*");

    let tv = Tv::start(&site, &client, &[]).await;
    let (grant, code, id) = (("grant_type", GRANT), ("device_code", &*tv.code), ("client_id", &*client));
    let other = site.named_client("Other").await;
    let cases: &[Case] = &[
        (&[grant, id], 400, "invalid_request"),
        (&[grant, code], 400, "invalid_request"),
        (&[grant, code, code, id], 400, "invalid_request"),
        (&[grant, code, id, ("client_secret", "x")], 401, "invalid_client"),
        (&[grant, code, ("client_id", "dgc_unknown")], 401, "invalid_client"),
        (&[grant, code, ("client_id", &other)], 400, "invalid_grant"),
        (&[("grant_type", "device_code"), code, id], 400, "unsupported_grant_type"),
        (&[("grant_type", "authorization_code"), ("code", &tv.code), id, ("code_verifier", "x")], 400, "invalid_grant"),
        (&[grant, code, id, ("resource", &foreign)], 400, "invalid_target"),
        (&[grant, code, id], 400, "authorization_pending"),
    ];
    for (form, status, error) in cases {
        let (answered, body) = site.token(form).await;
        assert_eq!((answered, body["error"].as_str().unwrap()), (*status, *error), "{form:?}");
    }
}

#[tokio::test]
async fn devices_share_the_rate_of_tokens_which_counts_before_the_body_is_read() {
    let site = Site::with(&[("DRAGOMAN_RATE_TOKEN", "2")]).await;
    let endpoint = site.url("/api/oauth/device_authorization");
    for status in [415, 415, 429] {
        let response = site.program().post(&endpoint).json(&serde_json::json!({})).send().await.unwrap();
        assert_eq!(response.status(), status);
    }
    let form = [("grant_type", GRANT), ("device_code", "x"), ("client_id", "x")];
    let (status, body) = site.token(&form).await;
    assert_eq!((status, &body["error"]), (429, &"temporarily_unavailable".into()));
}

#[tokio::test]
async fn c16_signing_out_at_a_borrowed_machine_does_not_end_what_a_device_was_given() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let tv = Tv::start(&site, &client, &[]).await;
    let ann = site.browser().signed_in("ann@example.com").await;
    let page = confirmation(&ann, &tv.user_code).await;
    assert_eq!(ann.answer(&page, "approve", &[]).await.status(), 200);
    let home = ann.get("/").await.text().await.unwrap();
    assert_eq!(ann.post("/logout", &[("csrf", &field(&home, "csrf"))]).await.status(), 303);
    assert_eq!(tv.poll().await.0, 200);
}

#[tokio::test]
async fn b10_b11_the_pages_of_devices_cannot_be_framed_stored_or_scripted() {
    let site = Site::start().await;
    let client = site.named_client("<script>alert(1)</script>\u{202e}").await;
    let tv = Tv::start(&site, &client, &[]).await;
    let ann = site.browser().signed_in("ann@example.com").await;
    let confirm = location(&enter(&ann, &tv.user_code).await);
    let page = ann.get(&confirm).await.text().await.unwrap();
    let answered = ann.answer(&page, "approve", &[]).await;
    for response in [ann.get("/device").await, ann.get(&tv.complete[site.base.len()..]).await, answered] {
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert_eq!((header("x-frame-options").as_str(), header("cache-control").as_str()), ("DENY", "no-store"));
        let page = response.text().await.unwrap();
        assert!(!page.contains("<script") && !page.contains('\u{202e}') && !page.contains("https://"), "{page}");
    }
}

#[tokio::test]
async fn a_secret_of_a_device_does_not_show_itself() {
    both(async |db| {
        let world = World::new(db).await;
        let started = start(&world, &client(&world, "Television").await).await;
        let shown = format!("{started:?}");
        let hidden: [&Secret; 2] = [&started.device_code, &started.user_code];
        assert!(hidden.iter().all(|secret| !shown.contains(secret.expose())), "{shown}");
    })
    .await;
}
