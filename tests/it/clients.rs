//! OAuth clients through the real port: how they prove themselves (catalogue E), what they may ask about tokens and give
//! back (L01 to L03), and how they are blocked. Where state matters, on both databases.

use std::time::Duration;

use dragoman::base::secret::{Secret, base64url, sha256};
use dragoman::identity::clients::NewClient;
use dragoman::identity::confidential::NewConfidentialClient;
use dragoman::identity::grants::{Approval, CodeUse, TokenPair};
use dragoman::model::access::{Role, Scope};
use dragoman::model::org::Org;
use dragoman::model::user::User;
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};

use crate::site::{Browser, client as browser_client, location, param, refresh};
use crate::support::databases::postgres_url;
use crate::support::service::{PASSWORD, Service, json_of};

const REDIRECT: &str = "http://127.0.0.1:43210/callback";
/// PKCE pair (RFC 7636 appendix B).
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// The service with two open workspaces, both of which Ann is a contributor of.
struct World {
    service: Service,
    acme: Org,
    other: Org,
    ann: User,
}

/// A confidential client.
struct Program {
    id: String,
    secret: String,
}

impl World {
    async fn start(settings: &[(&str, &str)]) -> Self {
        let rates = ["DRAGOMAN_RATE_TOKEN", "DRAGOMAN_RATE_REGISTER", "DRAGOMAN_RATE_AUTHORIZE"];
        let mut all: Vec<(&str, &str)> = settings.to_vec();
        all.extend(rates.map(|rate| (rate, "100000")));
        let service = Service::with(&all).await;
        let (acme, other) = (service.workspace("acme").await, service.workspace("other").await);
        let ann = service.identity.create_user("ann@example.com", "Ann", &Secret::new(PASSWORD)).await.unwrap();
        for org in [&acme, &other] {
            service.identity.set_role(org.id, ann.id, Role::Contributor).await.unwrap();
        }
        Self { service, acme, other, ann }
    }

    /// Runs a test on SQLite and then on PostgreSQL.
    async fn both(test: impl AsyncFn(World)) {
        eprintln!("on SQLite");
        test(Self::start(&[]).await).await;
        eprintln!("on PostgreSQL");
        test(Self::start(&[("DATABASE_URL", &postgres_url().await)]).await).await;
    }

    async fn confidential(&self, name: &str, may_introspect: bool) -> Program {
        let new = NewConfidentialClient { name: name.into(), redirect_uris: vec![REDIRECT.into()], may_introspect };
        let (client, secret) = self.service.identity.create_confidential_client(new).await.unwrap();
        Program { id: client.id, secret: secret.expose().to_owned() }
    }

    /// The id of a client that registered itself.
    async fn public(&self, name: &str) -> String {
        let new = NewClient {
            name: name.into(),
            redirect_uris: vec![REDIRECT.into()],
            application_type: "native".into(),
            uri: None,
        };
        self.service.identity.register_client(new).await.unwrap().id
    }

    /// A code that Ann approved.
    async fn code(&self, org: &Org, client: &str) -> String {
        let approval = Approval {
            client_id: client.into(),
            user: self.ann.id,
            org: org.id,
            scopes: vec![Scope::DataRead, Scope::DataWrite],
            resource: self.service.config.resource(),
            redirect_uri: REDIRECT.into(),
            code_challenge: base64url(&sha256(VERIFIER.as_bytes())),
            auth_time: self.service.clock.now() - 5_000,
            session_hash: None,
            acr: dragoman::model::acr::Acr::Aal1,
        };
        self.service.identity.approve(approval).await.unwrap().expose().to_owned()
    }

    async fn tokens(&self, org: &Org, client: &str) -> TokenPair {
        let code = self.code(org, client).await;
        let used = CodeUse { code: &code, client_id: client, redirect_uri: None, verifier: VERIFIER, resource: None };
        self.service.identity.redeem(used).await.unwrap()
    }

    fn post(&self, endpoint: &str, form: &[(&str, &str)]) -> RequestBuilder {
        self.service.http.post(self.service.url(&format!("/api/oauth/{endpoint}"))).form(form)
    }

    async fn refresh(&self, client: &str, token: &str) -> (u16, Value) {
        let form = [("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", client)];
        json_of(self.post("token", &form).send().await.unwrap()).await
    }

    /// What the introspection endpoint says to a client.
    async fn introspect(&self, by: &Program, token: &str) -> Value {
        let response = self.post("introspect", &[("token", token)]).basic_auth(&by.id, Some(&by.secret)).send().await;
        let response = response.unwrap();
        assert_eq!(response.headers()["cache-control"], "no-store");
        let (status, body) = json_of(response).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    /// The code of REST's answer to an access token: `ok`, or the refusal.
    async fn use_of(&self, access: &Secret) -> String {
        let response = self.service.get("/api/v1/ext/datasets", access.expose()).send().await.unwrap();
        let (status, body) = json_of(response).await;
        if status == 200 { "ok".into() } else { body["error"]["code"].as_str().unwrap().to_owned() }
    }

    async fn browser(&self) -> Browser {
        let browser = Browser { base: self.service.config.issuer(), http: browser_client(true) };
        browser.signed_in("ann@example.com").await
    }

    /// Newest first: action, outcome, client and target.
    async fn record(&self, org: Option<&Org>, most: i64) -> Vec<[String; 4]> {
        let entries = dragoman::store::audit::newest(&self.service.db, org.map(|org| org.id), most).await.unwrap();
        entries.into_iter().map(|(_, entry)| [entry.action, entry.outcome, entry.client, entry.target]).collect()
    }
}

fn authorize_path(client: &str, resource: &str) -> String {
    let params = [
        ("client_id", client),
        ("redirect_uri", REDIRECT),
        ("response_type", "code"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("scope", "data_agent:read data_agent:write"),
        ("resource", resource),
    ];
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(params).finish();
    format!("/api/oauth/authorize?{query}")
}

/// Status, error, and whether the answer challenges for HTTP Basic.
async fn refused(response: Response) -> (u16, String, bool) {
    let challenge = response.headers().get("www-authenticate").map(|value| value.to_str().unwrap().to_owned());
    assert!(challenge.as_deref().is_none_or(|text| text == "Basic realm=\"dragoman\""), "{challenge:?}");
    assert_eq!(response.headers()["cache-control"], "no-store");
    let (status, body) = json_of(response).await;
    (status, body["error"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned(), challenge.is_some())
}

#[tokio::test(flavor = "multi_thread")]
async fn e01_e02_e03_e04_e05_e08_a_client_that_does_not_prove_itself_gets_nothing_and_uses_nothing_up() {
    World::both(async |world| {
        let (app, rival) = (world.confidential("App", false).await, world.confidential("Rival", false).await);
        let public = world.public("Public").await;
        let tokens = world.tokens(&world.acme, &app.id).await;
        let code = world.code(&world.acme, &app.id).await;
        let (id, secret) = (app.id.as_str(), app.secret.as_str());
        let (short, long) = (&secret[..secret.len() - 1], format!("{secret}0"));
        let jwt = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
        let asserted = [("client_id", id), ("client_assertion_type", jwt), ("client_assertion", "e30.e30.")];
        let document = "https://claude.ai/oauth/mcp-oauth-client-metadata";
        type Case<'a> = (Option<(&'a str, &'a str)>, Vec<(&'a str, &'a str)>, (u16, &'a str, bool));
        let cases: Vec<Case<'_>> = vec![
            // E05: a confidential client without its secret, a public one with one.
            (None, vec![("client_id", id)], (401, "invalid_client", false)),
            (None, vec![("client_id", id), ("client_secret", "")], (401, "invalid_client", false)),
            (None, vec![("client_id", &public), ("client_secret", secret)], (401, "invalid_client", false)),
            (None, vec![("client_id", document), ("client_secret", secret)], (401, "invalid_client", false)),
            (Some((&public, "")), vec![], (401, "invalid_client", true)),
            // E01, E08: unknown, wrong, of other lengths, empty, another's.
            (None, vec![("client_id", "dgc_unknown"), ("client_secret", secret)], (401, "invalid_client", false)),
            (None, vec![("client_id", id), ("client_secret", short)], (401, "invalid_client", false)),
            (None, vec![("client_id", id), ("client_secret", &long)], (401, "invalid_client", false)),
            (None, vec![("client_id", id), ("client_secret", &rival.secret)], (401, "invalid_client", false)),
            (Some((id, &rival.secret)), vec![], (401, "invalid_client", true)),
            (Some((id, "")), vec![], (401, "invalid_client", true)),
            (Some(("", "")), vec![], (401, "invalid_client", true)),
            (Some(("dgc_unknown", secret)), vec![], (401, "invalid_client", true)),
            // E03: two ways at once, two ids.
            (Some((id, secret)), vec![("client_secret", secret)], (400, "invalid_request", false)),
            (Some((id, secret)), vec![("client_assertion", "e30.e30.")], (400, "invalid_request", false)),
            (Some((id, secret)), vec![("client_id", &rival.id)], (401, "invalid_client", true)),
            (None, vec![("client_id", id), ("client_id", id)], (400, "invalid_request", false)),
            // E04: a method that is not offered does not fall back to another.
            (None, asserted.to_vec(), (401, "invalid_client", false)),
            (None, vec![("client_id", &public), ("client_assertion_type", jwt)], (401, "invalid_client", false)),
        ];
        for (basic, credentials, expected) in cases {
            let expected = (expected.0, expected.1.to_owned(), expected.2);
            let redeem = [("grant_type", "authorization_code"), ("code", &*code), ("code_verifier", VERIFIER)];
            let revoke = [("token", tokens.refresh.expose())];
            for (endpoint, form) in [("token", &redeem[..]), ("revoke", &revoke[..])] {
                let mut request = world.post(endpoint, &[form, &credentials].concat());
                if let Some((id, secret)) = basic {
                    request = request.basic_auth(id, Some(secret));
                }
                let got = refused(request.send().await.unwrap()).await;
                assert_eq!(got, expected, "{endpoint} {basic:?} {credentials:?}");
            }
        }
        for row in world.record(None, 8).await {
            let refused = ["invalid_client", "invalid_request"].contains(&row[1].as_str());
            assert!(["oauth.token", "oauth.revoke"].contains(&row[0].as_str()) && refused, "{row:?}");
            assert_eq!(row[2], "", "no client was proven");
        }
        assert_eq!(world.use_of(&tokens.access).await, "ok", "nothing was revoked");

        // The code is still good, for its client, in lower case and with its id repeated.
        let form = [("grant_type", "authorization_code"), ("code", &code), ("code_verifier", VERIFIER)];
        let request = world.post("token", &[&form[..], &[("client_id", id)]].concat());
        let basic = base64_of(&format!("{id}:{secret}"));
        let (status, body) =
            json_of(request.header("authorization", format!("basic {basic}")).send().await.unwrap()).await;
        assert_eq!(status, 200, "{body}");
        let form = [("grant_type", "refresh_token"), ("refresh_token", body["refresh_token"].as_str().unwrap())];
        let form = [&form[..], &[("client_id", id), ("client_secret", secret)]].concat();
        let (status, body) = json_of(world.post("token", &form).send().await.unwrap()).await;
        assert_eq!(status, 200, "in the form: {body}");
        assert_eq!(world.record(Some(&world.acme), 1).await[0][..3], ["oauth.token", "ok", id].map(str::to_owned));
        world.service.stop().await;
    })
    .await;
}

/// With padding, as HTTP Basic wants it.
fn base64_of(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// The facts that a command prints beside the running service.
fn admin(world: &World, arguments: &[&str]) -> Value {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dragoman"));
    command.arg("--data").arg(&world.service.config.data_dir).args(["--json", "admin", "client"]).args(arguments);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_the_operator_registers_connects_a_person_until_it_is_blocked() {
    let world = World::start(&[]).await;
    let made = admin(&world, &["create", "--name", "Portal", "--redirect-uri", REDIRECT]);
    let program = Program { id: made["id"].as_str().unwrap().into(), secret: made["secret"].as_str().unwrap().into() };
    assert!(dragoman::base::secret::is_well_formed("dgcs_", &program.secret));
    let browser = world.browser().await;
    let authorize = authorize_path(&program.id, &world.service.config.resource());
    let page = browser.consent_page(&authorize).await;
    assert!(page.contains("Portal</bdi></strong> was registered by the people who run this service"), "{page}");
    assert!(!page.contains("unverified"), "{page}");
    let code = browser.code(&authorize).await;
    let (status, tokens) = json_of(world.redeem(&program, &code).send().await.unwrap()).await;
    assert_eq!(status, 200, "{tokens}");
    let access = Secret::new(tokens["access_token"].as_str().unwrap());
    assert_eq!(world.use_of(&access).await, "ok");
    assert_eq!(admin(&world, &["list"])[0]["confidential"], true);
    admin(&world, &["block", &program.id, "--workspace", "acme"]);
    assert_eq!(world.use_of(&access).await, "auth_revoked");
    admin(&world, &["unblock", &program.id, "--workspace", "acme"]);
    assert_eq!(world.use_of(&access).await, "ok");
    let secret = admin(&world, &["secret", &program.id])["secret"].as_str().unwrap().to_owned();
    assert_ne!(secret, program.secret);
    admin(&world, &["remove", &program.id]);
    assert_eq!(world.use_of(&access).await, "auth_revoked");
    let record = world.record(None, 100).await;
    let commands: Vec<_> = record.iter().filter(|row| row[0].starts_with("admin.client")).map(|row| &row[..]).collect();
    let target = format!("acme {}", program.id);
    for (row, (action, target)) in commands.iter().zip([
        ("admin.client.remove", &*program.id),
        ("admin.client.secret", &program.id),
        ("admin.client.unblock", &target),
        ("admin.client.block", &target),
        ("admin.client.create", "Portal"),
    ]) {
        assert_eq!(row[..], [action, "ok", "dragoman", target].map(str::to_owned));
    }
    assert_eq!(commands.len(), 5, "reading leaves no trace: {commands:?}");
    world.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn e01_unknown_clients_and_wrong_secrets_get_the_same_answer() {
    let world = World::start(&[]).await;
    let app = world.confidential("App", false).await;
    let mut answers = Vec::new();
    for (id, secret) in [(&*app.id, "dgcs_wrong"), ("dgc_unknown", "dgcs_wrong"), ("https://a.example/c", &app.secret)]
    {
        for endpoint in ["token", "revoke", "introspect"] {
            let form = [("grant_type", "refresh_token"), ("refresh_token", "x"), ("token", "x")];
            let response = world.post(endpoint, &form).basic_auth(id, Some(secret)).send().await.unwrap();
            answers.push(json_of(response).await);
        }
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!((answers[0].0, &answers[0].1["error"]), (401, &json!("invalid_client")));
    world.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn e09_d09_a_replaced_secret_and_a_removed_client_are_worth_nothing_at_once() {
    World::both(async |world| {
        let app = world.confidential("App", false).await;
        let tokens = world.tokens(&world.acme, &app.id).await;
        let waiting = world.code(&world.acme, &app.id).await;
        let renew = async |secret: &str| {
            let form = [("grant_type", "refresh_token"), ("refresh_token", tokens.refresh.expose())];
            json_of(world.post("token", &form).basic_auth(&app.id, Some(secret)).send().await.unwrap()).await
        };
        let secret = world.service.identity.replace_client_secret(&app.id).await.unwrap();
        assert_eq!(renew(&app.secret).await.0, 401);
        let (status, renewed) = renew(secret.expose()).await;
        assert_eq!(status, 200, "{renewed}");
        let access = Secret::new(renewed["access_token"].as_str().unwrap());
        assert_eq!(world.use_of(&access).await, "ok");

        world.service.identity.remove_client(&app.id).await.unwrap();
        let (status, body) = renew(secret.expose()).await;
        assert_eq!((status, &body["error"]), (401, &json!("invalid_client")));
        assert_eq!(world.use_of(&access).await, "auth_revoked");
        assert_eq!(world.use_of(&tokens.access).await, "auth_revoked");
        // Even one who could be that client again finds the approval gone.
        let used =
            CodeUse { code: &waiting, client_id: &app.id, redirect_uri: None, verifier: VERIFIER, resource: None };
        assert!(world.service.identity.redeem(used).await.is_err());
        let identity = &world.service.identity;
        assert!(
            identity.remove_client(&app.id).await.is_err() && identity.replace_client_secret(&app.id).await.is_err()
        );
        let public = world.public("Public").await;
        assert!(identity.replace_client_secret(&public).await.is_err(), "a public client gets no secret");
        world.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l03_a_living_token_is_told_to_its_own_client_and_to_a_gateway() {
    World::both(async |world| {
        let gateway = world.confidential("Gateway", true).await;
        let (app, rival) = (world.confidential("App", false).await, world.confidential("Rival", false).await);
        let public = world.public("Public").await;
        let (own, foreign) = (world.tokens(&world.acme, &app.id).await, world.tokens(&world.acme, &public).await);
        let now = world.service.clock.now() / 1000;
        let jti = |access: &Secret| {
            let payload = access.expose().split('.').nth(1).unwrap();
            let payload = dragoman::base::secret::from_base64url(payload).unwrap();
            serde_json::from_slice::<Value>(&payload).unwrap()["jti"].clone()
        };
        let expected = |client: &str, access: &Secret| {
            json!({
                "active": true, "token_type": "Bearer", "scope": "data_agent:read data_agent:write",
                "client_id": client, "sub": world.ann.id, "aud": world.service.config.resource(),
                "iss": world.service.config.issuer(), "iat": now, "nbf": now, "exp": now + 600,
                "jti": jti(access), "auth_time": now - 5, "acr": "aal1", "org": world.acme.id,
            })
        };
        assert_eq!(world.introspect(&app, own.access.expose()).await, expected(&app.id, &own.access));
        assert_eq!(world.introspect(&gateway, own.access.expose()).await, expected(&app.id, &own.access));
        assert_eq!(world.introspect(&gateway, foreign.access.expose()).await, expected(&public, &foreign.access));
        let row = world.record(Some(&world.acme), 1).await.remove(0);
        assert_eq!(row, ["oauth.introspect", "ok", &*gateway.id, "access_token"].map(str::to_owned));
        assert_eq!(
            world.introspect(&app, own.refresh.expose()).await,
            json!({
                "active": true, "scope": "data_agent:read data_agent:write", "client_id": app.id, "sub": world.ann.id,
                "aud": world.service.config.resource(), "iss": world.service.config.issuer(), "iat": now,
                "exp": now + 30 * 24 * 3600, "auth_time": now - 5, "org": world.acme.id,
            })
        );

        // A workspace that keeps the gateway out is not told about.
        world.service.identity.block_client(Some(world.acme.id), &gateway.id).await.unwrap();
        assert_eq!(world.introspect(&gateway, foreign.access.expose()).await, json!({ "active": false }));
        world.service.identity.unblock_client(Some(world.acme.id), &gateway.id).await.unwrap();

        let connectivity = world.service.token(&world.acme).await;
        let code = world.code(&world.acme, &app.id).await;
        let (head, signature) = own.access.expose().rsplit_once('.').unwrap();
        let forged = format!("{head}.{}", foreign.access.expose().rsplit_once('.').unwrap().1);
        let renamed = format!("{}.{signature}", foreign.access.expose().rsplit_once('.').unwrap().0);
        for (by, token, what) in [
            (&rival, own.access.expose(), "another's access token"),
            (&rival, own.refresh.expose(), "another's refresh token"),
            (&app, foreign.access.expose(), "a public client's access token"),
            (&gateway, own.refresh.expose(), "a refresh token is for its own client alone"),
            (&app, &*code, "a code"),
            (&gateway, &*connectivity, "a connectivity token"),
            (&gateway, &*forged, "another's signature"),
            (&gateway, &*renamed, "in another's name"),
            (&gateway, "nonsense", "nonsense"),
            (&gateway, &*"a".repeat(9000), "too long"),
        ] {
            assert_eq!(world.introspect(by, token).await, json!({ "active": false }), "{what}");
        }
        let row = world.record(None, 1).await.remove(0);
        assert_eq!(row, ["oauth.introspect", "ok", &*gateway.id, "nothing"].map(str::to_owned));
        assert_eq!(world.service.identity.tokens(world.acme.id).await.unwrap()[0].use_count, 0, "asking is no use");
        let (status, _) = json_of(world.redeem(&app, &code).send().await.unwrap()).await;
        assert_eq!(status, 200, "asking about a code does not use it up");
        world.service.stop().await;
    })
    .await;
}

impl World {
    fn redeem(&self, by: &Program, code: &str) -> RequestBuilder {
        let form = [("grant_type", "authorization_code"), ("code", code), ("code_verifier", VERIFIER)];
        self.post("token", &form).basic_auth(&by.id, Some(&by.secret))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn l03_a_token_lives_as_long_as_it_opens_anything() {
    World::both(async |world| {
        let app = world.confidential("App", true).await;
        let identity = &world.service.identity;
        let (dead, live) = (json!({ "active": false }), json!(true));
        let first = world.tokens(&world.acme, &app.id).await;
        let (access, token) = (first.access.expose(), first.refresh.expose());
        let both = async || [world.introspect(&app, access).await, world.introspect(&app, token).await];

        // A lower role narrows, no role ends.
        identity.set_role(world.acme.id, world.ann.id, Role::Viewer).await.unwrap();
        for body in both().await {
            assert_eq!((&body["active"], &body["scope"]), (&live, &json!("data_agent:read")));
        }
        identity.set_role(world.acme.id, world.ann.id, Role::Contributor).await.unwrap();
        // A closed workspace, a block.
        identity.set_connectivity(world.acme.id, false).await.unwrap();
        assert_eq!(both().await, [dead.clone(), dead.clone()], "closed");
        identity.set_connectivity(world.acme.id, true).await.unwrap();
        identity.block_client(Some(world.acme.id), &app.id).await.unwrap();
        assert_eq!(both().await, [dead.clone(), dead.clone()], "blocked");
        identity.unblock_client(Some(world.acme.id), &app.id).await.unwrap();
        assert!(both().await.iter().all(|body| body["active"] == live));

        // A replaced refresh token is dead, though a repeat of it would still be forgiven.
        let form = [("grant_type", "refresh_token"), ("refresh_token", token)];
        let renew = || world.post("token", &form).basic_auth(&app.id, Some(&app.secret)).send();
        let next = json_of(renew().await.unwrap()).await.1;
        let [access_body, token_body] = both().await;
        assert_eq!((&access_body["active"], token_body), (&live, dead.clone()));
        let again = json_of(renew().await.unwrap()).await.1;
        assert_eq!(again["refresh_token"], next["refresh_token"], "asking was no use of it");

        // To the second.
        world.service.clock.advance(Duration::from_secs(599));
        assert_eq!(world.introspect(&app, access).await["active"], live);
        world.service.clock.advance(Duration::from_secs(1));
        assert_eq!(world.introspect(&app, access).await, dead);
        let next = next["refresh_token"].as_str().unwrap();
        assert_eq!(world.introspect(&app, next).await["active"], live);
        world.service.clock.advance(Duration::from_secs(30 * 24 * 3600));
        assert_eq!(world.introspect(&app, next).await, dead);

        let revoked = world.tokens(&world.acme, &app.id).await;
        identity.revoke(revoked.refresh.expose(), &app.id).await.unwrap().unwrap();
        let removed = world.tokens(&world.other, &app.id).await;
        identity.remove_member(world.other.id, world.ann.id).await.unwrap();
        for token in [&revoked.access, &revoked.refresh, &removed.access, &removed.refresh] {
            assert_eq!(world.introspect(&app, token.expose()).await, dead);
        }
        world.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l03_only_a_proven_confidential_client_may_ask() {
    let world = World::start(&[]).await;
    let app = world.confidential("App", false).await;
    let public = world.public("Public").await;
    let tokens = world.tokens(&world.acme, &public).await;
    let token = ("token", tokens.access.expose());
    let id = ("client_id", &*app.id);
    for form in [
        vec![token],
        vec![token, id],
        vec![token, ("client_id", &public)],
        vec![token, ("client_id", "https://claude.ai/oauth/mcp-oauth-client-metadata")],
        vec![token, ("client_id", &public), ("client_secret", &app.secret)],
        vec![token, id, ("client_secret", "dgcs_wrong")],
        vec![token, id, ("client_assertion", "e30.e30.")],
    ] {
        let got = refused(world.post("introspect", &form).send().await.unwrap()).await;
        assert_eq!(got, (401, "invalid_client".into(), true), "{form:?}");
    }
    assert_eq!(world.record(None, 1).await[0][..2], ["oauth.introspect", "invalid_client"].map(str::to_owned));
    // The token itself is no credential here.
    let request = world.post("introspect", &[token]).bearer_auth(tokens.access.expose());
    assert_eq!(refused(request.send().await.unwrap()).await, (401, "invalid_client".into(), true));

    let proven = |form: &[(&str, &str)]| world.post("introspect", form).basic_auth(&app.id, Some(&app.secret));
    for form in [vec![], vec![("token", "")], vec![token, token], vec![token, ("client_secret", &*app.secret)]] {
        let got = refused(proven(&form).send().await.unwrap()).await;
        assert_eq!(got, (400, "invalid_request".into(), false), "{form:?}");
    }
    let url = world.service.url("/api/oauth/introspect");
    let http = &world.service.http;
    assert_eq!(http.get(&url).send().await.unwrap().status(), 405);
    let json = http.post(&url).basic_auth(&app.id, Some(&app.secret)).json(&json!({ "token": "x" }));
    assert_eq!(json.send().await.unwrap().status(), 415);
    let response = proven(&[token]).header("origin", "https://app.example").send().await.unwrap();
    assert!(!response.headers().contains_key("access-control-allow-origin"), "not for scripts in browsers");

    world.service.identity.block_client(None, &app.id).await.unwrap();
    let got = refused(proven(&[token]).send().await.unwrap()).await;
    assert_eq!(got, (400, "unauthorized_client".into(), false));
    world.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn introspection_shares_the_rate_of_the_token_endpoint() {
    let service = Service::with(&[("DRAGOMAN_RATE_TOKEN", "2")]).await;
    for (endpoint, status) in [("introspect", 401), ("token", 400), ("introspect", 429), ("token", 429)] {
        let url = service.url(&format!("/api/oauth/{endpoint}"));
        let response = service.http.post(url).form(&[("token", "x")]).send().await.unwrap();
        assert_eq!(response.status(), status, "{endpoint}");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn h04_the_metadata_says_how_clients_prove_themselves_and_where_they_ask() {
    let world = World::start(&[]).await;
    let url = world.service.url("/.well-known/oauth-authorization-server");
    let (_, metadata) = json_of(world.service.http.get(url).send().await.unwrap()).await;
    let with_secret = ["client_secret_basic", "client_secret_post"];
    for (endpoint, methods) in [
        ("token", json!(["none", with_secret[0], with_secret[1]])),
        ("revocation", json!(["none", with_secret[0], with_secret[1]])),
        ("introspection", json!(with_secret)),
    ] {
        assert_eq!(metadata[format!("{endpoint}_endpoint_auth_methods_supported")], methods, "{endpoint}");
    }
    assert_eq!(metadata["introspection_endpoint"], world.service.url("/api/oauth/introspect"));
    assert!(!metadata.to_string().contains("jwt"), "assertions are not offered: {metadata}");
    world.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l01_l02_a_confidential_client_gives_back_its_own_tokens_only_when_it_proves_itself() {
    World::both(async |world| {
        let (app, rival) = (world.confidential("App", false).await, world.confidential("Rival", true).await);
        let tokens = world.tokens(&world.acme, &app.id).await;
        let (access, refresh) = (tokens.access.expose(), tokens.refresh.expose());
        let revoke = async |by: Option<&Program>, token: &str| {
            let request = world.post("revoke", &[("token", token)]);
            let request = match by {
                Some(by) => request.basic_auth(&by.id, Some(&by.secret)),
                None => request,
            };
            let response = request.send().await.unwrap();
            (response.status().as_u16(), response.text().await.unwrap())
        };
        assert_eq!(revoke(None, refresh).await.0, 400, "nobody named itself");
        let unproven = world.post("revoke", &[("token", refresh), ("client_id", &app.id)]).send().await.unwrap();
        assert_eq!(refused(unproven).await, (401, "invalid_client".into(), false));
        // Another's, unknown ones and other kinds: the answer of success, and nothing ends.
        let code = world.code(&world.acme, &app.id).await;
        for token in [access, refresh, "dgrt_unknown", "a.b.c", &code] {
            assert_eq!(revoke(Some(&rival), token).await, (200, String::new()), "{token}");
        }
        assert_eq!(world.use_of(&tokens.access).await, "ok");
        assert_eq!(revoke(Some(&app), refresh).await, (200, String::new()));
        assert_eq!(world.use_of(&tokens.access).await, "auth_revoked");
        assert_eq!(revoke(Some(&app), refresh).await, (200, String::new()));

        // A blocked client may still give back what it holds.
        let tokens = world.tokens(&world.acme, &app.id).await;
        world.service.identity.block_client(None, &app.id).await.unwrap();
        assert_eq!(revoke(Some(&app), tokens.access.expose()).await, (200, String::new()));
        world.service.identity.unblock_client(None, &app.id).await.unwrap();
        assert_eq!(world.use_of(&tokens.access).await, "auth_revoked");
        world.service.stop().await;
    })
    .await;
}

/// A page of ours about a blocked client, which sends nobody anywhere.
async fn is_blocked_page(response: Response) {
    assert_eq!(response.status(), 400);
    assert!(!response.headers().contains_key("location") && !response.headers().contains_key("refresh"));
    let page = response.text().await.unwrap();
    assert!(page.contains("is blocked") && !page.contains("127.0.0.1:43210"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_is_blocked_everywhere_is_stopped_at_every_door_at_once() {
    World::both(async |world| {
        let public = world.public("Public").await;
        let identity = &world.service.identity;
        let browser = world.browser().await;
        let authorize = authorize_path(&public, &world.service.config.resource());
        // Everything that was on its way when the block came.
        let tokens = world.tokens(&world.acme, &public).await;
        let code = world.code(&world.acme, &public).await;
        let page = browser.consent_page(&authorize).await;

        assert!(identity.block_client(None, &public).await.unwrap());
        assert!(!identity.block_client(None, &public).await.unwrap(), "it is already");
        is_blocked_page(browser.get(&authorize).await).await;
        let row = world.record(None, 1).await.remove(0);
        assert_eq!(row, ["oauth.authorize", "client_blocked", &*public, ""].map(str::to_owned));
        // Before a log-in too, and without asking anything of the stranger.
        let stranger = Browser { base: browser.base.clone(), http: browser_client(true) };
        is_blocked_page(stranger.get(&authorize).await).await;
        let shown = browser.get(&consent_address(&page)).await.text().await.unwrap();
        assert!(shown.contains("This program is blocked") && !shown.contains("value=\"approve\""), "{shown}");
        let answer = browser.answer(&page, "approve", &[]).await;
        assert_eq!(answer.status(), 422);
        assert!(answer.text().await.unwrap().contains("This program is blocked"));
        assert_eq!(
            world.record(None, 1).await[0][..3],
            ["oauth.consent", "client_blocked", &*public].map(str::to_owned)
        );

        let redeem = [("grant_type", "authorization_code"), ("code", &*code), ("code_verifier", VERIFIER)];
        let redeem = [&redeem[..], &[("client_id", &*public)]].concat();
        let redeemed = async || json_of(world.post("token", &redeem).send().await.unwrap()).await;
        for (status, body) in [redeemed().await, world.refresh(&public, tokens.refresh.expose()).await] {
            assert_eq!((status, &body["error"]), (400, &json!("unauthorized_client")), "{body}");
        }
        assert_eq!(world.record(None, 1).await[0][..2], ["oauth.token", "unauthorized_client"].map(str::to_owned));
        assert_eq!(world.use_of(&tokens.access).await, "auth_revoked");
        let mcp = world.service.rpc(tokens.access.expose(), "tools/list", json!({})).send().await.unwrap();
        assert_eq!(mcp.status(), 401);
        // Others go on.
        let other = world.public("Another").await;
        assert_eq!(world.use_of(&world.tokens(&world.acme, &other).await.access).await, "ok");

        assert!(identity.unblock_client(None, &public).await.unwrap());
        assert!(!identity.unblock_client(None, &public).await.unwrap(), "it is not any more");
        assert_eq!(world.use_of(&tokens.access).await, "ok");
        assert_eq!(redeemed().await.0, 200, "the block did not use the code up");
        assert_eq!(world.refresh(&public, tokens.refresh.expose()).await.0, 200, "nor end the grant");
        let left = refresh(&browser.answer(&page, "approve", &[]).await);
        assert!(param(&left, "code").is_some(), "the consent page was still good");
        world.service.stop().await;
    })
    .await;
}

/// The address of a consent page, from its form.
fn consent_address(page: &str) -> String {
    format!("/consent?request={}", crate::site::field(page, "request"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_blocks_a_client_for_itself_alone() {
    World::both(async |world| {
        let public = world.public("Public").await;
        let identity = &world.service.identity;
        let browser = world.browser().await;
        let (here, there) = (world.tokens(&world.acme, &public).await, world.tokens(&world.other, &public).await);
        let code = world.code(&world.acme, &public).await;
        identity.block_client(Some(world.acme.id), &public).await.unwrap();
        assert_eq!(
            (world.use_of(&here.access).await, world.use_of(&there.access).await),
            ("auth_revoked".into(), "ok".into())
        );
        let (status, body) = world.refresh(&public, here.refresh.expose()).await;
        assert_eq!((status, &body["error"]), (400, &json!("unauthorized_client")));
        let form = [("grant_type", "authorization_code"), ("code", &*code), ("code_verifier", VERIFIER)];
        let form = [&form[..], &[("client_id", &*public)]].concat();
        let (status, body) = json_of(world.post("token", &form).send().await.unwrap()).await;
        assert_eq!((status, &body["error"]), (400, &json!("unauthorized_client")));
        assert_eq!(world.refresh(&public, there.refresh.expose()).await.0, 200);

        // A request for this very workspace ends on a page; one for any may be approved for another.
        is_blocked_page(browser.get(&authorize_path(&public, &world.service.url("/t/acme/mcp"))).await).await;
        let row = world.record(None, 1).await.remove(0);
        assert_eq!(row[..3], ["oauth.authorize", "client_blocked", &*public].map(str::to_owned));
        let page = browser.consent_page(&authorize_path(&public, &world.service.config.resource())).await;
        let acme = browser.get(&format!("{}&workspace=acme", consent_address(&page))).await.text().await.unwrap();
        assert!(acme.contains("This program is blocked") && !acme.contains("value=\"approve\""), "{acme}");
        assert_eq!(browser.answer(&acme, "approve", &[]).await.status(), 422);
        let other = browser.get(&format!("{}&workspace=other", consent_address(&page))).await.text().await.unwrap();
        assert!(!other.contains("is blocked"), "{other}");
        assert!(param(&refresh(&browser.answer(&other, "approve", &[]).await), "code").is_some());
        // Whoever approves by another way is refused all the same.
        let approval = Approval {
            client_id: public.clone(),
            user: world.ann.id,
            org: world.acme.id,
            scopes: vec![Scope::DataRead],
            resource: world.service.config.resource(),
            redirect_uri: REDIRECT.into(),
            code_challenge: CHALLENGE.into(),
            auth_time: world.service.clock.now(),
            session_hash: None,
            acr: dragoman::model::acr::Acr::Aal1,
        };
        assert!(identity.approve(approval).await.is_err());

        let ids = async |org| -> Vec<String> {
            identity.blocked_clients(org).await.unwrap().into_iter().map(|block| block.client_id).collect()
        };
        assert_eq!(ids(Some(world.acme.id)).await, vec![public.clone()]);
        assert!(ids(Some(world.other.id)).await.is_empty() && ids(None).await.is_empty());
        assert!(!identity.is_blocked(&public, None).await.unwrap());
        assert!(!identity.is_blocked(&public, Some(world.other.id)).await.unwrap());
        assert!(identity.is_blocked(&public, Some(world.acme.id)).await.unwrap());
        assert!(!identity.unblock_client(None, &public).await.unwrap(), "it was not put there");
        assert!(identity.unblock_client(Some(world.acme.id), &public).await.unwrap());
        assert_eq!(world.use_of(&here.access).await, "ok");
        world.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_is_known_by_its_document_can_be_blocked() {
    let world = World::start(&[]).await;
    let document = "https://claude.ai/oauth/claude-code-client-metadata";
    let path = authorize_path(document, &world.service.config.resource());
    // Its document names `localhost`.
    let path = path.replace("redirect_uri=http%3A%2F%2F127.0.0.1", "redirect_uri=http%3A%2F%2Flocalhost");
    let browser = world.browser().await;
    assert!(location(&browser.get(&path).await).starts_with("/consent?"));
    let tokens = world.tokens(&world.acme, document).await;
    world.service.identity.block_client(None, document).await.unwrap();
    is_blocked_page(browser.get(&path).await).await;
    assert_eq!(world.use_of(&tokens.access).await, "auth_revoked");
    let (status, body) = world.refresh(document, tokens.refresh.expose()).await;
    assert_eq!((status, &body["error"]), (400, &json!("unauthorized_client")));
    for bad in ["", "a b", "a\nb", "é", &"x".repeat(513)] {
        assert!(world.service.identity.block_client(None, bad).await.is_err(), "{bad:?}");
    }
    world.service.stop().await;
}
