//! The whole service in this process on a real port, with its real workers, over SQLite or PostgreSQL.

use std::path::Path;
use std::sync::Arc;

use dragoman::app::App;
use dragoman::base::clock::Clock;
use dragoman::base::id::Id;
use dragoman::base::secret::{Secret, base64url, sha256};
use dragoman::config::Config;
use dragoman::gateway::{Answered, Gateway, Via};
use dragoman::identity::Identity;
use dragoman::identity::clients::NewClient;
use dragoman::identity::grants::{Approval, CodeUse, TokenPair};
use dragoman::model::access::{ExtScope, Rights, Role, Scope};
use dragoman::model::audit::Entry;
use dragoman::model::caller::{Caller, Client, Proof};
use dragoman::model::error::Result;
use dragoman::model::org::Org;
use dragoman::model::user::User;
use dragoman::ops::import::{Import, Staged};
use dragoman::store::{self, Db};
use dragoman::surface::mcp::{Library, Mcp};
use reqwest::{RequestBuilder, Response};
use rmcp::ServerHandler;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::support::databases::postgres_url;

const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const PASSWORD: &str = "correct horse battery";

pub struct Service {
    pub config: Arc<Config>,
    pub clock: Clock,
    pub db: Db,
    pub identity: Identity,
    pub gateway: Arc<Gateway>,
    pub http: reqwest::Client,
    stop: Option<oneshot::Sender<()>>,
    served: Option<tokio::task::JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

impl Service {
    /// On SQLite, with limits that tests do not meet by accident.
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    /// Runs a test on SQLite and then on PostgreSQL, each fresh.
    pub async fn both(test: impl AsyncFn(Service)) {
        test(Self::start().await).await;
        test(Self::with(&[("DATABASE_URL", &postgres_url().await)]).await).await;
    }

    /// With settings of one's own.
    pub async fn with(settings: &[(&str, &str)]) -> Self {
        Self::with_mcp(settings, Mcp::service).await
    }

    /// With settings, and another MCP server in the place of the product's own.
    pub async fn with_mcp<H: ServerHandler>(
        settings: &[(&str, &str)],
        library: impl FnOnce(&Mcp) -> Library<H> + Send + 'static,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let config = Config::read(|name| {
            let own = settings.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            own.or_else(|| match name {
                "DRAGOMAN_DATA_DIR" => Some(folder.path().display().to_string()),
                "DRAGOMAN_LISTEN" => Some(address.to_string()),
                "DRAGOMAN_ADMIN_LISTEN" => Some("off".into()),
                "DRAGOMAN_EXT_RATE_TOKEN"
                | "DRAGOMAN_EXT_RATE_SQL"
                | "DRAGOMAN_EXT_RATE_ASK"
                | "DRAGOMAN_CLIENT_RATE_CALLS"
                | "DRAGOMAN_CLIENT_RATE_SQL"
                | "DRAGOMAN_CLIENT_RATE_ASK"
                | "DRAGOMAN_CLIENT_RATE_RESOURCES"
                | "DRAGOMAN_EXT_RATE_WORKSPACE"
                | "DRAGOMAN_RATE_MANAGE"
                | "DRAGOMAN_EXT_RATE_RESOURCES"
                | "DRAGOMAN_EXT_RATE_REQUESTS"
                | "DRAGOMAN_EXT_RATE_SESSIONS"
                | "DRAGOMAN_RATE_REFUSED"
                | "DRAGOMAN_FAILURES_PER_IP" => Some("100000".into()),
                _ => None,
            })
        })
        .unwrap();
        // Starts now and stands still until a test moves it.
        let clock = Clock::manual(Clock::system().now());
        let app = App::open_with_worker(config, clock.clone(), env!("CARGO_BIN_EXE_dragoman").into()).await.unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let (config, db) = (app.office.config.clone(), app.office.db.clone());
        let (identity, gateway) = (app.office.identity.clone(), app.gateway.clone());
        let served = tokio::spawn(async move {
            let until = async { stopped.await.unwrap_or(()) };
            app.serve_mcp(listener, until, library).await.unwrap();
        });
        Self {
            config,
            clock,
            db,
            identity,
            gateway,
            http: http(),
            stop: Some(stop),
            served: Some(served),
            _folder: folder,
        }
    }

    /// Stops as the signal does, and waits for the end.
    pub async fn stop(self) {
        drop(self.ended().await);
    }

    /// As [`Service::stop`]; gives the data folder, which is there until this is dropped.
    pub async fn ended(mut self) -> tempfile::TempDir {
        let _ = self.stop.take().unwrap().send(());
        let served = self.served.take().unwrap();
        let Self { identity, gateway, db, _folder: folder, .. } = self;
        drop((identity, gateway, db));
        served.await.unwrap();
        folder
    }

    /// Waits until a call has begun.
    pub async fn answers_a_call(&self) {
        let begun = async {
            while self.gateway.calls_under_way() == 0 {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(60), begun).await.expect("no call begins");
    }

    /// A workspace that accepts clients.
    pub async fn workspace(&self, slug: &str) -> Org {
        let org = self.identity.create_org(slug, slug).await.unwrap();
        self.identity.set_connectivity(org.id, true).await.unwrap();
        self.identity.org(org.id).await.unwrap().unwrap()
    }

    /// An access token of a new person with a role in a workspace, for `/mcp`.
    pub async fn access_token(&self, org: &Org, role: Role, scopes: &[Scope]) -> String {
        self.access_token_for(org, role, scopes, &self.config.resource()).await
    }

    /// As [`Service::access_token`], for any resource.
    pub async fn access_token_for(&self, org: &Org, role: Role, scopes: &[Scope], resource: &str) -> String {
        struct Person;
        let email = format!("{}@example.com", Id::<Person>::new(&self.clock));
        let user = self.identity.create_user(&email, "Person", &Secret::new(PASSWORD)).await.unwrap();
        self.identity.set_role(org.id, user.id, role).await.unwrap();
        self.granted(org, user.id, scopes, resource).await
    }

    /// An access token of a person who is a member already, for `/mcp`.
    pub async fn access_token_of(&self, org: &Org, user: Id<User>, scopes: &[Scope]) -> String {
        self.granted(org, user, scopes, &self.config.resource()).await
    }

    async fn granted(&self, org: &Org, user: Id<User>, scopes: &[Scope], resource: &str) -> String {
        self.grant(org, user, scopes, resource).await.1.access.expose().to_owned()
    }

    /// A client's id, and its first tokens of a grant by a member.
    pub async fn grant(&self, org: &Org, user: Id<User>, scopes: &[Scope], resource: &str) -> (String, TokenPair) {
        let redirect_uri = "http://127.0.0.1/callback".to_owned();
        let new = NewClient {
            name: "Test client".into(),
            redirect_uris: vec![redirect_uri.clone()],
            application_type: "native".into(),
            uri: None,
        };
        let client = self.identity.register_client(new).await.unwrap();
        let pair = self.approved(org, user, scopes, resource, (&client.id, &redirect_uri)).await;
        (client.id, pair)
    }

    /// An access token for `/mcp` of a client that is known already, by its id and an address that it is sent back to.
    pub async fn access_token_by(&self, org: &Org, user: Id<User>, scopes: &[Scope], client: (&str, &str)) -> String {
        let pair = self.approved(org, user, scopes, &self.config.resource(), client).await;
        pair.access.expose().to_owned()
    }

    async fn approved(
        &self,
        org: &Org,
        user: Id<User>,
        scopes: &[Scope],
        resource: &str,
        (client_id, redirect_uri): (&str, &str),
    ) -> TokenPair {
        let approval = Approval {
            client_id: client_id.into(),
            user,
            org: org.id,
            scopes: scopes.to_vec(),
            resource: resource.into(),
            redirect_uri: redirect_uri.into(),
            code_challenge: base64url(&sha256(VERIFIER.as_bytes())),
            auth_time: self.clock.now(),
            session_hash: None,
            acr: dragoman::model::acr::Acr::Aal1,
        };
        let code = self.identity.approve(approval).await.unwrap();
        let used = CodeUse {
            code: code.expose(),
            client_id,
            redirect_uri: Some(redirect_uri),
            verifier: VERIFIER,
            resource: None,
        };
        self.identity.redeem(used).await.unwrap()
    }

    /// A connectivity token with all scopes.
    pub async fn token(&self, org: &Org) -> String {
        let (_, secret) = self.identity.create_token(org.id, "test", &ExtScope::ALL, None).await.unwrap();
        secret.expose().to_owned()
    }

    /// Imports a file with this name and content as the operator; returns the reply.
    pub async fn import(&self, org: &Org, file: &str, content: &[u8], publish: bool) -> Result<Value> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("source");
        std::fs::write(&path, content).unwrap();
        self.import_path(org, file, &path, publish).await
    }

    pub async fn import_path(&self, org: &Org, file: &str, path: &Path, publish: bool) -> Result<Value> {
        let files = vec![Staged { name: file.into(), path: path.to_owned() }];
        let op = Import { publish, files, ..Import::default() };
        as_json(self.gateway.call(&operator(org), op, Via::new("admin.call")).await)
    }

    pub fn url(&self, path: &str) -> String {
        self.config.url(path)
    }

    pub fn get(&self, path: &str, token: &str) -> RequestBuilder {
        self.http.get(self.url(path)).bearer_auth(token)
    }

    pub fn post(&self, path: &str, token: &str) -> RequestBuilder {
        self.http.post(self.url(path)).bearer_auth(token)
    }

    /// A request of the revision without sessions, with the headers that it requires.
    pub fn rpc(&self, token: &str, method: &str, params: Value) -> RequestBuilder {
        self.rpc_at("/mcp", token, method, params)
    }

    /// As [`Service::rpc`], at another address of the endpoint.
    pub fn rpc_at(&self, path: &str, token: &str, method: &str, mut params: Value) -> RequestBuilder {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
        });
        let mut request = self
            .http
            .post(self.url(path))
            .bearer_auth(token)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method);
        let name = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str);
        if let Some(name) = name {
            request = request.header("mcp-name", name);
        }
        request.json(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
    }

    /// Calls a tool; returns whether it failed, and its JSON.
    pub async fn tool(&self, token: &str, name: &str, arguments: Value) -> (bool, Value) {
        let response = self.rpc(token, "tools/call", json!({ "name": name, "arguments": arguments })).send().await;
        let (status, body) = json_of(response.unwrap()).await;
        assert_eq!(status, 200, "{body}");
        let result = &body["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{body}"));
        (result["isError"] == true, serde_json::from_str(text).unwrap())
    }

    /// The newest entry of a workspace's audit log.
    pub async fn last_audit(&self, org: &Org) -> Entry {
        store::audit::newest(&self.db, Some(org.id), 1).await.unwrap().remove(0).1
    }
}

/// An answer as programs get it.
pub fn as_json<R: Serialize>(answered: Result<Answered<R>>) -> Result<Value> {
    Ok(serde_json::to_value(answered?).unwrap())
}

/// The operator at the command line.
pub fn operator(org: &Org) -> Caller {
    Caller {
        org: org.id,
        user: None,
        role: Role::Admin,
        rights: Rights::of_role(Role::Admin),
        proof: Proof::Local,
        client: Client::default(),
        session: None,
        ip: std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
        request_id: "test".into(),
    }
}

/// A person in the console of a workspace, who signed in just now.
pub fn in_console(service: &Service, org: &Org, user: Id<User>, role: Role) -> Caller {
    Caller {
        user: Some(user),
        role,
        rights: Rights::of_role(role),
        proof: Proof::BrowserSession { auth_time: service.clock.now() / 1_000 },
        ..operator(org)
    }
}

/// Status and body.
pub async fn json_of(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

/// Bytes of a tool's result, as the record counts them: its texts, its structure and its pictures.
pub fn bytes_of(result: &Value) -> usize {
    let length = |value: &Value| value.as_str().map_or(0, str::len);
    let blocks = result["content"].as_array().unwrap().iter();
    let pictures = result["_meta"]["dragoman/svg"].as_array().into_iter().flatten();
    let structure = result.get("structuredContent").map_or(0, |structure| structure.to_string().len());
    structure
        + blocks.map(|block| length(&block["text"]) + length(&block["data"])).sum::<usize>()
        + pictures.map(length).sum::<usize>()
}

#[expect(clippy::disallowed_methods, reason = "the test is the outside; the ban is for the service's own calls")]
pub fn http() -> reqwest::Client {
    let _another_was_first = rustls::crypto::aws_lc_rs::default_provider().install_default();
    reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build().unwrap()
}
