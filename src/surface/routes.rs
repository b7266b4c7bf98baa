//! Every path of the program and every layer around it, on one page. Layers are listed in the order in which a request
//! passes them.
//!
//! | routes | who calls | what they show |
//! |---|---|---|
//! | `operators` in `doors` | the operator, at the socket of the data folder alone | nothing but the file's rights |
//! | `ai_clients` | AI clients, over MCP | a bearer token for this address |
//! | `programs` | programs, over REST | a bearer token |
//! | `authorization` | clients on their way to a token | their own secret, where they have one |
//! | `signing_in`, `account`, `workspace` | people in a browser | a session, where the page needs one |
//! | `anybody`, `probes`, `metrics` | readers of documents, and machines that watch | nothing |
//!
//! A new page is a template, its handler, its line here, and where it has a tab, one in `console/frame.rs`. A new
//! operation has none: it is in [`crate::ops::each`].

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodFilter, delete, get, on, post};
use http::StatusCode;
use metrics_exporter_prometheus::PrometheusHandle;
use rmcp::ServerHandler;
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutLayer;

use crate::gateway::Gateway;
use crate::gateway::audit::AuditLog;
use crate::store::Db;
use crate::surface::arrive::{arrive, as_published};
use crate::surface::body::paced;
use crate::surface::browser::one_name::one_name;
use crate::surface::browser::{again, once, session};
use crate::surface::console::account::{apps, passkeys, profile, providers, questions, sessions};
use crate::surface::console::workspace::{
    self, Console, ask, audit, check, clients, connect, dataset, demo, document, figures, follow, import, members,
    ontologies, overview, rows, several, sources, texts, uploads,
};
use crate::surface::console::{account, home};
use crate::surface::cors;
use crate::surface::drain::drain;
use crate::surface::finish::{finish, recorded, refused};
use crate::surface::guard::{GuardState, Guards, guard};
use crate::surface::login::upstream::{callback, depart};
use crate::surface::login::{confirm, forgot, invitation, log_in, log_out, passkey, reset, two_step};
use crate::surface::made::Made;
use crate::surface::mcp::{self, Library, Mcp};
use crate::surface::oauth::consent;
use crate::surface::oauth::{self, authorize, introspect, metadata, register, revoke, token};
use crate::surface::operator::{FACTS, ITSELF, LOCAL, erase, operator};
use crate::surface::rest::health::{OpenHealth, open_health};
use crate::surface::rest::{Rest, actions, functions, openapi, operations};
use crate::surface::web::Web;
use crate::surface::{docs, error, health, html};

/// How long a page or an OAuth endpoint may take.
const PAGE_TIME: Duration = Duration::from_secs(30);

/// How long a page may take that reads whole tables: a little more than the operations behind it.
const LONG_PAGE_TIME: Duration = Duration::from_secs(305);

/// The ways in.
pub struct Doors {
    /// For the network.
    pub outside: Router,
    /// For the socket of the data folder.
    pub local: Router,
}

/// The whole service, with the MCP server inside `library`; `listen` is where it listens for the network, if it does.
pub fn doors<H: ServerHandler>(
    web: &Web,
    gateway: Arc<Gateway>,
    audit: AuditLog,
    mcp: Arc<Mcp>,
    library: Library<H>,
    listen: Option<SocketAddr>,
) -> Doors {
    let console = Console { web: web.clone(), gateway: gateway.clone() };
    let operators = operations::for_operator(Rest { gateway: gateway.clone(), config: web.config.clone() })
        .route(ITSELF, delete(erase).with_state(gateway.clone()))
        .layer(
            ServiceBuilder::new().layer(from_fn_with_state(web.clone(), operator)).layer(DefaultBodyLimit::disable()),
        );
    // What a guard lets in may be large, and has to keep a pace.
    let guarded = ai_clients(web, mcp, library).merge(programs(web, gateway)).layer(from_fn(paced));
    let pages = without_gateway(web.clone())
        .route_layer(from_fn_with_state(web.clone(), refused))
        .route_layer(from_fn_with_state(audit.clone(), recorded));
    let pages = pages.merge(in_console(web, workspace()).with_state(console.clone()));
    let long_pages = in_console(web, long_workspace()).with_state(console.clone());
    // Bodies are bounded, and have to keep a pace, where they are read.
    let files = in_console(web, files())
        .with_state(console)
        .layer(ServiceBuilder::new().layer(DefaultBodyLimit::disable()).layer(from_fn(paced)).layer(from_fn(finish)));
    let routes = Router::new()
        .merge(guarded)
        .merge(within(PAGE_TIME, pages))
        .merge(within(LONG_PAGE_TIME, long_pages))
        .merge(files)
        .merge(anybody(web))
        .merge(probes(web.identity.db().clone(), audit))
        .fallback(error::not_found);
    let facts = get(health::facts).with_state((web.config.clone(), listen));
    let at_socket = routes.clone().nest(LOCAL, operators).route(FACTS, facts);
    // Who comes by the socket need not know which address the outside uses.
    let local = arriving(web, at_socket).layer(from_fn_with_state(web.config.clone(), as_published));
    Doors { outside: arriving(web, routes), local }
}

/// The layers that everything passes.
fn arriving(web: &Web, routes: Router) -> Router {
    // A router says at its outer edge which methods an address has, outside of all layers of its own.
    Router::new().fallback_service(routes).layer(
        ServiceBuilder::new()
            .layer(from_fn(drain))
            .layer(from_fn_with_state(web.clone(), arrive))
            .layer(CatchPanicLayer::custom(error::panicked))
            .layer(from_fn(error::wrong_method)),
    )
}

/// MCP, for a workspace that the person chose, or for one that the address names.
fn ai_clients<H: ServerHandler>(web: &Web, mcp: Arc<Mcp>, library: Library<H>) -> Router {
    Router::new()
        .route_service("/mcp", library.clone())
        .route_service("/mcp/", library.clone())
        .route_service("/t/{workspace}/mcp", library)
        .layer(
            ServiceBuilder::new()
                .layer(from_fn_with_state((cors::MCP, web.config.clone()), cors::cors))
                .layer(from_fn_with_state(GuardState { web: web.clone(), guards: Guards::Mcp }, guard))
                .layer(from_fn_with_state(mcp, mcp::enter)),
        )
}

/// REST: `/api/v1/ext/…` and `/api/v1/…`, a route for each operation, each behind the count of its caller's requests.
fn programs(web: &Web, gateway: Arc<Gateway>) -> Router {
    let health = OpenHealth::new(web.identity.db().clone());
    operations::routes(Rest { gateway, config: web.config.clone() }).layer(
        ServiceBuilder::new()
            .layer(from_fn_with_state((cors::PROGRAMS, web.config.clone()), cors::cors))
            .layer(from_fn_with_state(health, open_health))
            .layer(from_fn_with_state(GuardState { web: web.clone(), guards: Guards::Rest }, guard))
            // Bodies are bounded where they are read: JSON to kilobytes, uploads to their own limit.
            .layer(DefaultBodyLimit::disable()),
    )
}

/// OAuth for programs; the browser's endpoint is among the pages, since it needs their session.
fn authorization() -> Router<Web> {
    Router::new()
        .route("/.well-known/jwks.json", get(metadata::jwks))
        .route("/.well-known/oauth-protected-resource", get(metadata::protected_resource))
        .route("/.well-known/oauth-protected-resource/mcp", get(metadata::protected_resource))
        .route("/.well-known/oauth-protected-resource/t/{workspace}/mcp", get(metadata::protected_workspace))
        // A hosted client probes this spelling too.
        .route("/mcp/.well-known/oauth-protected-resource", get(metadata::protected_resource))
        // Clients look below the MCP path as well, although the issuer has none.
        .route("/.well-known/oauth-authorization-server", get(metadata::server))
        .route("/.well-known/oauth-authorization-server/mcp", get(metadata::server))
        .route("/.well-known/oauth-authorization-server/t/{workspace}/mcp", get(metadata::server))
        .route("/.well-known/openid-configuration", get(metadata::server))
        .route("/.well-known/openid-configuration/mcp", get(metadata::server))
        .route("/.well-known/openid-configuration/t/{workspace}/mcp", get(metadata::server))
        .route("/api/oauth/register", post(register::register))
        .route("/api/oauth/device_authorization", post(oauth::device::start))
        .route("/api/oauth/token", post(token::token))
        .route("/api/oauth/revoke", post(revoke::revoke))
        .route_layer(from_fn(oauth::open_to_scripts))
        // For servers alone: a secret has no business in a browser.
        .route("/api/oauth/introspect", post(introspect::introspect))
}

/// Who is not signed in yet, or has to show more; and who is asked to let a client in.
fn signing_in() -> Router<Web> {
    Router::new()
        .route("/login", get(log_in::show).post(log_in::submit))
        .route("/login/forgot", get(forgot::show).post(forgot::submit))
        .route("/login/reset", get(reset::show).post(reset::submit))
        .route("/login/two-step", get(two_step::show).post(two_step::submit))
        .route("/login/passkey", get(passkey::show).post(passkey::submit))
        .route("/login/confirm", get(confirm::show).post(confirm::submit))
        .route("/login/{provider}", get(depart::show).post(depart::submit))
        .route("/login/{provider}/callback", get(callback::arrive))
        .route("/logout", post(log_out::submit))
        .route("/invitation/{token}", get(invitation::show).post(invitation::submit))
        .route("/api/oauth/authorize", get(authorize::authorize).post(authorize::authorize))
        .route("/consent", get(consent::show).post(consent::submit))
        .route("/device", get(consent::device::show).post(consent::device::submit))
}

/// The person's own things.
fn account() -> Router<Web> {
    Router::new()
        .route("/", get(home::show))
        .route("/account", get(profile::show))
        .route("/account/profile", post(profile::rename))
        .route("/account/password", post(profile::change_password))
        .route("/account/two-step", get(account::two_step::show))
        .route("/account/two-step/start", post(account::two_step::start))
        .route("/account/two-step/confirm", post(account::two_step::confirm_code))
        .route("/account/two-step/off", post(account::two_step::turn_off))
        .route("/account/two-step/codes", post(account::two_step::new_codes))
        .route("/account/passkeys", get(passkeys::show))
        .route("/account/passkeys/add", post(passkeys::add))
        .route("/account/passkeys/rename", post(passkeys::rename))
        .route("/account/passkeys/remove", post(passkeys::remove))
        .route("/account/providers", get(providers::show).post(providers::link))
        .route("/account/providers/unlink", post(providers::unlink))
        .route("/account/providers/confirm", get(providers::ask).post(providers::confirm))
        .route("/account/sessions", get(sessions::show))
        .route("/account/sessions/end", post(sessions::end))
        .route("/account/sessions/end-others", post(sessions::end_others))
        .route("/account/apps", get(apps::show).post(apps::disconnect))
        .route("/account/questions", get(questions::show).post(questions::save))
}

/// A workspace, for its people.
fn workspace() -> Router<Console> {
    Router::new()
        .route("/w/{slug}", get(overview::show))
        .route("/w/{slug}/datasets/{id}", get(dataset::show).post(dataset::submit))
        .route("/w/{slug}/follow", get(follow::show).post(follow::submit))
        .route("/w/{slug}/members", get(members::show).post(members::submit))
        .route("/w/{slug}/clients", get(clients::show).post(clients::submit))
        .route("/w/{slug}/connect/{id}/seen", get(connect::seen))
        .route("/w/{slug}/sources", get(sources::show).post(sources::submit))
        .route("/w/{slug}/audit", get(audit::show))
        .route("/w/{slug}/audit/export", get(audit::export))
        .route("/w/{slug}/settings", get(workspace::settings::show).post(workspace::settings::submit))
        .route("/w/{slug}/ontologies", get(ontologies::list::show))
        .route("/w/{slug}/ontologies/{id}/export", get(ontologies::about::export))
        .route("/w/{slug}/ontologies/{id}/questions", get(ontologies::questions::show))
        .route(
            "/w/{slug}/ontologies/{id}/remembered",
            get(ontologies::remembered::show).post(ontologies::remembered::submit),
        )
        .route("/w/{slug}/questions/{id}", get(ontologies::trace::show).post(ontologies::trace::submit))
}

/// Forms of a workspace that bring files.
fn files() -> Router<Console> {
    let bytes = MethodFilter::HEAD.or(MethodFilter::PATCH).or(MethodFilter::DELETE);
    Router::new()
        .route("/w/{slug}/import", post(import::submit))
        .route("/w/{slug}/check", get(check::show).post(check::submit))
        .route("/w/{slug}/uploads", post(uploads::answer))
        .route("/w/{slug}/uploads/{id}", on(bytes, uploads::answer))
}

/// Pages of a workspace whose forms read tables, hold long documents, remove one, change several datasets or test a
/// connection, and so may take longer than a page does.
fn long_workspace() -> Router<Console> {
    Router::new()
        .route("/w/{slug}/datasets", get(several::show).post(several::submit))
        .route("/w/{slug}/datasets/{id}/rows", get(rows::show))
        .route("/w/{slug}/datasets/{id}/texts", get(texts::show))
        .route("/w/{slug}/documents/{id}", get(document::show).post(document::submit))
        .route("/w/{slug}/datasets/{id}/profile", get(figures::show))
        .route("/w/{slug}/ask", get(ask::show).post(ask::submit))
        .route("/w/{slug}/ask/history", get(ask::history))
        .route("/w/{slug}/ask/csv", post(ask::csv))
        .route("/w/{slug}/demo", post(demo::submit))
        .route("/w/{slug}/connect", get(connect::list).post(connect::switch))
        .route("/w/{slug}/connect/{id}", get(connect::show).post(connect::submit))
        .route("/w/{slug}/ontologies/new", get(ontologies::new::show).post(ontologies::new::submit))
        .route("/w/{slug}/ontologies/{id}/edit", get(ontologies::edit::show).post(ontologies::edit::submit))
        .route("/w/{slug}/ontologies/{id}/history", get(ontologies::history::show).post(ontologies::history::submit))
        .route("/w/{slug}/ontologies/{id}", get(ontologies::about::show).post(ontologies::about::submit))
        .route("/w/{slug}/ontologies/{id}/ask", get(ontologies::ask::show).post(ontologies::ask::submit))
}

/// The documentation, and the documents of REST.
fn anybody(web: &Web) -> Router {
    Router::new()
        .route("/api/v1/ext/openapi.actions.json", get(actions::actions))
        .route("/api/v1/ext/functions/openai.json", get(functions::openai))
        .route("/api/v1/ext/functions/anthropic.json", get(functions::anthropic))
        .route("/docs", get(docs::index))
        .route("/docs/", get(docs::index))
        .route("/docs/files/{name}", get(docs::file))
        .route("/docs/connect/{guide}", get(docs::guide))
        .route("/docs/{page}", get(docs::page))
        .route("/llms.txt", get(docs::for_models))
        .with_state(Made::new(web.config.clone()))
        .route("/api/v1/ext/openapi.json", get(openapi::tools))
        .route("/api/v1/openapi.json", get(openapi::management))
}

/// For who keeps the service running.
fn probes(db: Db, audit: AuditLog) -> Router {
    let router = Router::new().route("/health/live", get(health::live)).route("/health/ready", get(health::ready));
    router.with_state((db, audit))
}

/// The listener of the operator's own, on another address, which is this machine's alone where it `is_local`: no tenant
/// data.
pub fn metrics(metrics: PrometheusHandle, is_local: bool) -> Router {
    Router::new().route("/metrics", get(health::metrics)).with_state((metrics, is_local))
}

/// OAuth, and the pages that need no gateway, with what they are drawn with.
pub fn without_gateway(web: Web) -> Router {
    let pages = with_session(&web, signing_in()).merge(in_console(&web, account()));
    authorization().merge(pages).route("/assets/{name}", get(html::asset)).with_state(web)
}

/// The layers of every page that needs to know who is in front of the browser.
fn with_session<S: Clone + Send + Sync + 'static>(web: &Web, pages: Router<S>) -> Router<S> {
    pages.route_layer(
        ServiceBuilder::new()
            .layer(from_fn_with_state(web.clone(), one_name))
            .layer(session::layer(web))
            .layer(from_fn_with_state(web.clone(), session::trace)),
    )
}

/// As [`with_session`], for the console, whose pages are given from a form to the page after it. Who signs in or answers a
/// client is given nothing so.
fn in_console<S: Clone + Send + Sync + 'static>(web: &Web, pages: Router<S>) -> Router<S> {
    let pages = pages.route_layer(
        ServiceBuilder::new()
            .layer(from_fn_with_state(web.clone(), once::shown_once))
            .layer(from_fn_with_state(web.clone(), again::given_back)),
    );
    with_session(web, pages)
}

/// An answer has so long; what it has changed by then is changed, and on the record.
fn within(time: Duration, pages: Router) -> Router {
    pages.layer(
        ServiceBuilder::new()
            .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, time))
            .layer(from_fn(finish)),
    )
}
