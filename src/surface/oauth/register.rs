//! `POST /api/oauth/register` (RFC 7591): a program makes itself known. It proves nothing, gets no secret and no
//! right; the consent page says that its name is unverified. Nothing that it names is fetched.

use std::collections::BTreeMap;
use std::fmt;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};
use url::Url;

use crate::base::json::put;
use crate::identity::clients::{self, NewClient, OAuthClient};
use crate::identity::own_name;
use crate::identity::redirect::{self, Kind};
use crate::model::name;
use crate::surface::context::Context;
use crate::surface::oauth::device;
use crate::surface::oauth::error::{OAuthError, answer};
use crate::surface::web::{AuditEvent, Web};

/// Bytes of the longest registration (F07).
const LONGEST: usize = 64 << 10;
/// Characters of a name that are kept.
const NAME: usize = 200;

/// What is read of a registration. Unknown members (F05: `client_id`, `client_secret`, `trusted`…) have no effect; nor
/// has a software statement (RFC 7591 §2.3: it is ignored, for we trust nobody who could sign one).
#[derive(Debug, Deserialize)]
struct Metadata {
    redirect_uris: Option<Vec<String>>,
    client_name: Option<String>,
    application_type: Option<String>,
    grant_types: Option<Vec<String>>,
    response_types: Option<Vec<String>>,
    token_endpoint_auth_method: Option<String>,
    client_uri: Option<String>,
    jwks: Option<Value>,
    jwks_uri: Option<Value>,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

/// Members that a person might be led to click, if we ever showed them; with their language variants (F01).
const LINKS: [&str; 4] = ["client_uri", "logo_uri", "tos_uri", "policy_uri"];

/// The members of an object in which no name is repeated (F07): what another reader would take for the value is not
/// left to chance.
struct Members(Map<String, Value>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Once)
    }
}

struct Once;

impl<'de> Visitor<'de> for Once {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Members, A::Error> {
        let mut members = Map::new();
        while let Some((name, value)) = from.next_entry::<String, Value>()? {
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a member is repeated"));
            }
        }
        Ok(Members(members))
    }
}

pub async fn register(State(web): State<Web>, context: Context, request: Request) -> Response {
    // Before the body is read (F06).
    if let Err(wait) = web.throttle.check_register(context.ip) {
        return OAuthError::too_many(wait).into_response();
    }
    let outcome = match read(request).await {
        Ok((client, device)) => keep(&web, &context, client).await.map(|client| (client, device)),
        Err(error) => Err(error),
    };
    let event = match &outcome {
        Ok((client, _)) => {
            let target = client.redirect_uris.first().map(|uri| redirect::shown(uri)).unwrap_or_default();
            AuditEvent::new(&context, "oauth.register", "ok").client(&client.id).target(target)
        }
        Err(error) => AuditEvent::new(&context, "oauth.register", error.error),
    };
    match (web.record(event).await, outcome) {
        (Err(error), _) => OAuthError::from(error).into_response(),
        (Ok(()), Ok((client, device))) => answer(StatusCode::CREATED, registered(&client, device)),
        (Ok(()), Err(error)) => error.into_response(),
    }
}

/// The client. One that is known already does not count for its address: programs register at every start, and hosted
/// ones for all their people.
async fn keep(web: &Web, context: &Context, new: NewClient) -> Result<OAuthClient, OAuthError> {
    let is_known = web.identity.is_registered(&new).await?;
    let client = web.identity.register_client(new).await?;
    if is_known {
        web.throttle.client_was_known(context.ip, &client.id);
    }
    Ok(client)
}

/// No member is null or empty: strict clients refuse such answers. `device` says that it asked for that grant, which is
/// said again; a client that has no address to be sent back to has that one only.
fn registered(client: &OAuthClient, device: bool) -> Value {
    let by_browser = !client.redirect_uris.is_empty();
    let grants = [("authorization_code", by_browser), (device::GRANT, device), ("refresh_token", true)];
    let grants: Vec<&str> = grants.into_iter().filter(|(_, has)| *has).map(|(grant, _)| grant).collect();
    let mut body = json!({
        "client_id": client.id,
        "client_id_issued_at": client.created_at / 1000,
        "client_name": client.name,
        "grant_types": grants,
        // RFC 7591 §3.2.1: the server may replace what was asked. Clients that asked for a secret go on without one.
        "token_endpoint_auth_method": "none",
        "application_type": client.application_type,
    });
    if by_browser {
        put(&mut body, "redirect_uris", json!(client.redirect_uris));
        put(&mut body, "response_types", json!(["code"]));
    }
    if let (Some(uri), Some(object)) = (&client.uri, body.as_object_mut()) {
        object.insert("client_uri".into(), uri.as_str().into());
    }
    body
}

async fn read(request: Request) -> Result<(NewClient, bool), OAuthError> {
    let (_, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, LONGEST).await.map_err(|_| OAuthError {
        status: StatusCode::PAYLOAD_TOO_LARGE,
        ..metadata_error("The registration is too long.")
    })?;
    let unreadable = |_| metadata_error("The body must be a JSON object of RFC 7591 client metadata.");
    let Members(members) = serde_json::from_slice(&bytes).map_err(unreadable)?;
    judge(serde_json::from_value(Value::Object(members)).map_err(unreadable)?)
}

fn metadata_error(text: &str) -> OAuthError {
    OAuthError::bad("invalid_client_metadata", text)
}

/// The client, and whether it asked for the grant of devices (RFC 8628).
fn judge(metadata: Metadata) -> Result<(NewClient, bool), OAuthError> {
    let redirect_uris = metadata.redirect_uris.unwrap_or_default();
    let asks =
        |given: &Option<Vec<String>>, one: &str| given.as_ref().is_some_and(|given| given.iter().any(|g| g == one));
    let device = asks(&metadata.grant_types, device::GRANT);
    let by_browser = !device || !redirect_uris.is_empty() || asks(&metadata.grant_types, "authorization_code");
    let kinds = if by_browser { redirect::judge(&redirect_uris) } else { Ok(Vec::new()) };
    let kinds = kinds.map_err(|unfit| OAuthError::bad("invalid_redirect_uri", unfit.to_string()))?;
    for (name, value) in &metadata.rest {
        let is_link = LINKS.contains(&name.split('#').next().unwrap_or(""));
        if is_link && !value.is_null() && !value.as_str().is_some_and(|text| text.is_empty() || is_web(text)) {
            return Err(metadata_error("Links in client metadata must be https or http addresses."));
        }
    }
    check_keys(metadata.jwks.as_ref(), metadata.jwks_uri.as_ref())?;
    let client_uri = metadata.client_uri.filter(|uri| !uri.is_empty());
    if client_uri.as_deref().is_some_and(|uri| !is_web(uri)) {
        return Err(metadata_error("Links in client metadata must be https or http addresses."));
    }
    let lacks = |given: &Option<Vec<String>>, needed| {
        given.as_ref().is_some_and(|given| !given.is_empty() && !given.iter().any(|one| one == needed))
    };
    if by_browser && (lacks(&metadata.grant_types, "authorization_code") || lacks(&metadata.response_types, "code")) {
        let text = "Only the grants authorization_code (with the response type code) and device_code are supported.";
        return Err(metadata_error(text));
    }
    const METHODS: [&str; 6] =
        ["none", "client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt", ""];
    if metadata.token_endpoint_auth_method.is_some_and(|method| !METHODS.contains(&method.as_str())) {
        return Err(metadata_error("token_endpoint_auth_method must be none."));
    }
    let application_type = match metadata.application_type.as_deref() {
        Some(stated @ ("web" | "native")) => stated,
        None | Some("") if by_browser && kinds.iter().all(|kind| *kind == Kind::Https) => "web",
        None | Some("") => "native",
        Some(_) => return Err(metadata_error("application_type must be web or native.")),
    };
    // What cannot be shown is left out instead of refused: a program cannot ask anybody for another name.
    let name: String = name::shown(&metadata.client_name.unwrap_or_default()).chars().take(NAME).collect();
    if own_name::is_claimed(&name) {
        return Err(metadata_error("client_name claims to be this service: choose another name."));
    }
    let name = if name.is_empty() { "Unnamed client".to_owned() } else { name };
    Ok((NewClient { name, redirect_uris, application_type: application_type.to_owned(), uri: client_uri }, device))
}

/// Keys are not used, and those that are named are not fetched (F09); what cannot be right is refused all the same
/// (RFC 7591 §2: not both, and no secret).
fn check_keys(jwks: Option<&Value>, jwks_uri: Option<&Value>) -> Result<(), OAuthError> {
    if jwks.is_some() && jwks_uri.is_some() {
        return Err(metadata_error("jwks and jwks_uri must not both be present."));
    }
    if jwks_uri.is_some_and(|uri| !uri.as_str().is_some_and(|text| text.is_empty() || is_web(text))) {
        return Err(metadata_error("jwks_uri must be an https or http address."));
    }
    let is_set =
        |set: &Value| set.get("keys").and_then(Value::as_array).is_some_and(|keys| keys.iter().all(Value::is_object));
    if jwks.is_some_and(|set| !is_set(set) || clients::is_private(set)) {
        return Err(metadata_error("jwks must be a set of public keys."));
    }
    Ok(())
}

fn is_web(text: &str) -> bool {
    text.len() <= 2048 && Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "https" | "http") && url.has_host())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(body: Value) -> Result<NewClient, &'static str> {
        let metadata = serde_json::from_value(body).map_err(|_| "json")?;
        judge(metadata).map(|(client, _)| client).map_err(|error| error.error)
    }

    #[test]
    fn registrations_of_real_clients_are_taken() {
        let client = judged(json!({
            "client_name": "Claude Code (dragoman)",
            "redirect_uris": ["http://localhost:41234/callback"],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "scope": "data_agent:read",
            "logo_uri": null,
        }))
        .unwrap();
        assert_eq!(client.name, "Claude Code (dragoman)");
        assert_eq!(client.application_type, "native");
        let cursor = judged(json!({
            "client_name": "Cursor",
            "redirect_uris": ["cursor://anysphere.cursor-mcp/oauth/callback", "https://www.cursor.com/cb"],
            "token_endpoint_auth_method": "client_secret_post",
            "client_uri": "https://cursor.com",
        }))
        .unwrap();
        assert_eq!(cursor.uri.as_deref(), Some("https://cursor.com"));
    }

    #[test]
    fn f08_what_cannot_be_shown_is_left_out_of_a_name() {
        let name = |name: &str| {
            judged(json!({ "client_name": name, "redirect_uris": ["https://example.com/cb"] })).unwrap().name
        };
        assert_eq!(name("Goo\u{200b}gle\u{202e}\u{2066} \n x\u{0}"), "Google x");
        assert_eq!(name("\u{202e}\u{200f}"), "Unnamed client");
        assert_eq!(name(&"é".repeat(1000)).chars().count(), NAME);
    }

    #[test]
    fn f01_f02_bad_addresses_refuse_the_registration() {
        for uris in [
            json!([]),
            json!(["javascript:alert(1)", "https://good.example/cb"]),
            json!(["http://example.com/cb"]),
            json!(["https://example.com/cb#x"]),
            json!(["/cb"]),
            json!(["whatever://cb"]),
            json!(vec!["https://example.com/cb"; 11]),
        ] {
            assert_eq!(judged(json!({ "redirect_uris": uris })).unwrap_err(), "invalid_redirect_uri", "{uris}");
        }
        assert_eq!(judged(json!({})).unwrap_err(), "invalid_redirect_uri");
        for member in ["client_uri", "logo_uri", "tos_uri", "policy_uri", "jwks_uri", "logo_uri#de"] {
            let mut body = json!({ "redirect_uris": ["https://example.com/cb"] });
            body[member] = "javascript:alert(1)".into();
            assert_eq!(judged(body).unwrap_err(), "invalid_client_metadata", "{member}");
        }
    }

    #[test]
    fn f04_what_is_not_supported_is_refused() {
        for (member, value) in [
            ("grant_types", json!(["implicit"])),
            ("response_types", json!(["token"])),
            ("token_endpoint_auth_method", json!("tls_client_auth")),
            ("application_type", json!("toaster")),
            ("jwks", json!("x")),
            ("jwks", json!({})),
            ("jwks", json!({ "keys": [null] })),
            ("jwks", json!({ "keys": [{ "kty": "oct", "kid": "1" }] })),
            ("jwks", json!({ "keys": [{ "kty": "oct", "k": "AA" }] })),
            ("jwks", json!({ "keys": [{ "kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "d": "AA" }] })),
            ("jwks_uri", json!("file:///keys")),
            ("jwks_uri", json!(["https://example.com/keys"])),
        ] {
            let mut body = json!({ "redirect_uris": ["https://example.com/cb"] });
            body[member] = value;
            assert_eq!(judged(body).unwrap_err(), "invalid_client_metadata", "{member}");
        }
        let key = json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "x": "AA" }] });
        let mut both = json!({ "redirect_uris": ["https://example.com/cb"], "jwks": key });
        assert!(judged(both.clone()).is_ok());
        both["jwks_uri"] = "https://example.com/keys".into();
        assert_eq!(judged(both).unwrap_err(), "invalid_client_metadata");
    }
}
