//! What clients read before they do anything: RFC 9728, RFC 8414, RFC 7517. Only what works is advertised (H04), and
//! every address comes from the configuration, never from a request (H01, H02).

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::identity::JWKS_CACHE;
use crate::model::access::Scope;
use crate::model::acr::Acr;
use crate::model::org::is_slug;
use crate::surface::browser::return_to::AUTHORIZE;
use crate::surface::oauth::client_auth::{METHODS, SECRET_METHODS};
use crate::surface::oauth::device;
use crate::surface::resource::Resource;
use crate::surface::web::Web;

fn cached(body: Value) -> Response {
    ([(header::CACHE_CONTROL, "public, max-age=300")], Json(body)).into_response()
}

fn scopes() -> Vec<&'static str> {
    Scope::ALL.iter().map(|scope| scope.name()).collect()
}

/// The metadata of `/mcp`.
pub async fn protected_resource(State(web): State<Web>) -> Response {
    protected(&web, &Resource::Any)
}

/// The metadata of `/t/{workspace}/mcp`: the same for a workspace that does not exist.
pub async fn protected_workspace(State(web): State<Web>, Path(workspace): Path<String>) -> Response {
    if !is_slug(&workspace) {
        return (StatusCode::NOT_FOUND, Json(json!({ "error": "not_found" }))).into_response();
    }
    protected(&web, &Resource::Workspace(workspace))
}

fn protected(web: &Web, resource: &Resource) -> Response {
    // `offline_access` is no scope of the resource (MCP 2026-07-28): it is left out here.
    cached(json!({
        "resource": resource.url(&web.config),
        "authorization_servers": [web.config.issuer()],
        "scopes_supported": scopes(),
        "bearer_methods_supported": ["header"],
        "resource_name": "Dragoman",
    }))
}

/// The metadata of the authorization server; `openid-configuration` is the same, for clients that look only there.
pub async fn server(State(web): State<Web>) -> Response {
    let config = &web.config;
    let mut scopes = scopes();
    // Makes hosted clients ask for it; a refresh token is given whether they do or not.
    scopes.push("offline_access");
    cached(json!({
        "issuer": config.issuer(),
        "authorization_endpoint": config.url(AUTHORIZE),
        "token_endpoint": config.url("/api/oauth/token"),
        "revocation_endpoint": config.url("/api/oauth/revoke"),
        "introspection_endpoint": config.url("/api/oauth/introspect"),
        "device_authorization_endpoint": config.url(device::ENDPOINT),
        "registration_endpoint": config.url("/api/oauth/register"),
        "jwks_uri": config.url("/.well-known/jwks.json"),
        "scopes_supported": scopes,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token", device::GRANT],
        "token_endpoint_auth_methods_supported": METHODS,
        "revocation_endpoint_auth_methods_supported": METHODS,
        "introspection_endpoint_auth_methods_supported": SECRET_METHODS,
        "code_challenge_methods_supported": ["S256"],
        "client_id_metadata_document_supported": true,
        "authorization_response_iss_parameter_supported": true,
        "acr_values_supported": Acr::ALL.map(Acr::name),
        "prompt_values_supported": ["none", "login", "consent"],
    }))
}

/// The public signing keys. They may be kept for as long as a new key waits before it signs, and no longer.
pub async fn jwks(State(web): State<Web>) -> Response {
    let kept = format!("public, max-age={}", JWKS_CACHE.as_secs());
    ([(header::CACHE_CONTROL, kept)], Json(web.identity.jwks())).into_response()
}
