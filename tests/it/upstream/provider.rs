//! An OpenID provider that misbehaves on demand, and remembers everything that it was asked.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::{IntoResponse as _, Response};
use dragoman::base::clock::Clock;
use dragoman::base::secret::{base64url, sha256};
use serde_json::{Value, json};

use crate::site::param;

pub const CLIENT: &str = "house";
pub const SECRET: &str = "a secret of the house";

/// One thing that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    WrongNonce,
    NoNonce,
    AlgNone,
    Hs256WithThePublicKey,
    BadSignature,
    Expired,
    IssuedInTheFuture,
    OtherIssuer,
    OtherAudience,
    SeveralAudiences,
    OtherParty,
    UnknownKey,
    UnverifiedEmail,
    NoSubject,
    NoIdToken,
    NotJson,
    RefusesCodes,
    TokenRedirects,
    TokenHuge,
    TokenSlow,
    DiscoveryOfAnother,
    DiscoveryWithSlash,
    DiscoveryWithoutTls,
    DiscoveryToPrivateKeys,
    DiscoveryToScript,
    DiscoveryRedirects,
    DiscoveryHuge,
    DiscoverySlow,
}

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: Method,
    pub path: String,
    pub headers: HeaderMap,
    pub body: String,
}

struct Script {
    fault: Fault,
    /// Claims that replace the usual ones.
    claims: Value,
    key: EcdsaKeyPair,
    kid: String,
    /// Of the authorization request that is answered next.
    nonce: String,
    challenge: String,
    /// The person has to sign in again, and the ID token says when they did.
    anew: bool,
    asked: Vec<Asked>,
    last_id_token: String,
}

#[derive(Clone)]
pub struct Provider {
    pub issuer: String,
    clock: Clock,
    script: Arc<Mutex<Script>>,
}

impl Provider {
    pub async fn start(clock: Clock) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let script = Script {
            fault: Fault::None,
            claims: json!({}),
            key: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap(),
            kid: "k-1".into(),
            nonce: String::new(),
            challenge: String::new(),
            anew: false,
            asked: Vec::new(),
            last_id_token: String::new(),
        };
        let provider = Self { issuer, clock, script: Arc::new(Mutex::new(script)) };
        let app = Router::new().fallback(answer).with_state(provider.clone());
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        provider
    }

    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    pub fn fault(&self, fault: Fault) {
        self.script.lock().unwrap().fault = fault;
    }

    /// Who signs in next.
    pub fn claims(&self, claims: Value) {
        self.script.lock().unwrap().claims = claims;
    }

    /// A new key takes over.
    pub fn rotate(&self, kid: &str) {
        let mut script = self.script.lock().unwrap();
        script.key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        script.kid = kid.into();
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.script.lock().unwrap().asked.clone()
    }

    /// How often a path was asked for.
    pub fn count(&self, path: &str) -> usize {
        self.asked().iter().filter(|asked| asked.path == path).count()
    }

    pub fn last_id_token(&self) -> String {
        self.script.lock().unwrap().last_id_token.clone()
    }

    /// The person signs in: reads the authorization request, and returns the path of the way back.
    pub fn approve(&self, url: &str) -> String {
        assert!(url.starts_with(&format!("{}/authorize?", self.issuer)), "{url}");
        let get = |name| param(url, name).unwrap_or_default();
        assert_eq!((get("response_type"), get("client_id")), ("code".into(), CLIENT.into()));
        assert_eq!((get("code_challenge_method"), get("code_challenge").len()), ("S256".into(), 43));
        assert_eq!(get("scope"), "openid email profile");
        let mut script = self.script.lock().unwrap();
        (script.nonce, script.challenge) = (get("nonce"), get("code_challenge"));
        assert!(script.nonce.len() >= 43 && get("state").len() >= 43);
        script.anew = get("max_age") == "0";
        assert_eq!(get("prompt"), if script.anew { "login" } else { "" });
        let path = url::Url::parse(&get("redirect_uri")).unwrap().path().to_owned();
        format!("{path}?code=c-1&state={}", get("state"))
    }

    fn discovery(&self, fault: Fault) -> Response {
        let mut document = json!({
            "issuer": self.issuer,
            "authorization_endpoint": format!("{}/authorize", self.issuer),
            "token_endpoint": format!("{}/token", self.issuer),
            "userinfo_endpoint": format!("{}/userinfo", self.issuer),
            "jwks_uri": format!("{}/jwks", self.issuer),
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
        });
        let mut change = |name: &str, value: String| document[name] = value.into();
        match fault {
            Fault::DiscoveryOfAnother => change("issuer", "http://127.0.0.1:1".into()),
            Fault::DiscoveryWithSlash => change("issuer", format!("{}/", self.issuer)),
            Fault::DiscoveryWithoutTls => change("token_endpoint", "http://elsewhere.example/token".into()),
            Fault::DiscoveryToPrivateKeys => change("jwks_uri", "https://localhost:1/jwks".into()),
            Fault::DiscoveryToScript => change("authorization_endpoint", "javascript:alert(1)".into()),
            Fault::DiscoveryRedirects => return ([("location", self.issuer.clone())], document.to_string()).redirect(),
            Fault::DiscoveryHuge => return json_text(format!("{document}{}", " ".repeat(300 << 10))),
            Fault::DiscoverySlow => return slow(),
            _ => {}
        }
        json_text(document.to_string())
    }

    fn jwks(&self, script: &Script) -> Response {
        let point = script.key.public_key().as_ref();
        let (x, y) = (base64url(&point[1..33]), base64url(&point[33..]));
        let key =
            json!({ "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": script.kid, "x": x, "y": y });
        json_text(json!({ "keys": [key] }).to_string())
    }

    fn token(&self, script: &mut Script, asked: &Asked) -> Response {
        let form: Vec<(String, String)> = url::form_urlencoded::parse(asked.body.as_bytes()).into_owned().collect();
        let get = |name: &str| form.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.as_str());
        let right = get("code") == "c-1" && base64url(&sha256(get("code_verifier").as_bytes())) == script.challenge;
        if !right || script.fault == Fault::RefusesCodes {
            let error = json!({ "error": "invalid_grant" }).to_string();
            return (axum::http::StatusCode::BAD_REQUEST, json_text(error)).into_response();
        }
        match script.fault {
            Fault::TokenRedirects => return ([("location", format!("{}/other", self.issuer))], "{}".into()).redirect(),
            Fault::TokenHuge => return json_text(format!("{{\"x\":\"{}\"}}", "a".repeat(300 << 10))),
            Fault::TokenSlow => return slow(),
            Fault::NotJson => return json_text("<html>".into()),
            _ => {}
        }
        let mut answer =
            json!({ "access_token": "an upstream access token", "token_type": "Bearer", "expires_in": 60 });
        if script.fault != Fault::NoIdToken {
            script.last_id_token = self.id_token(script);
            answer["id_token"] = script.last_id_token.clone().into();
        }
        json_text(answer.to_string())
    }

    fn id_token(&self, script: &Script) -> String {
        let now = self.clock.now() / 1000;
        let mut claims = json!({
            "iss": self.issuer, "sub": "subject-1", "aud": CLIENT, "exp": now + 300, "iat": now, "nonce": script.nonce,
            "email": "new@example.com", "email_verified": true, "name": "New Person",
        });
        if script.anew {
            claims["auth_time"] = now.into();
        }
        for (name, value) in script.claims.as_object().unwrap() {
            claims[name] = value.clone();
        }
        let mut header = json!({ "alg": "ES256", "kid": script.kid, "typ": "JWT" });
        let mut set = |name: &str, value: Value| claims[name] = value;
        match script.fault {
            Fault::WrongNonce => set("nonce", "another".into()),
            Fault::NoNonce => set("nonce", Value::Null),
            Fault::Expired => set("exp", (now - 1).into()),
            Fault::IssuedInTheFuture => set("iat", (now + 120).into()),
            Fault::OtherIssuer => set("iss", "https://accounts.google.com".into()),
            Fault::OtherAudience => set("aud", "another client".into()),
            Fault::SeveralAudiences => set("aud", json!([CLIENT, "another client"])),
            Fault::OtherParty => set("azp", "another client".into()),
            Fault::UnverifiedEmail => set("email_verified", false.into()),
            Fault::NoSubject => set("sub", "".into()),
            Fault::UnknownKey => header["kid"] = "k-unknown".into(),
            Fault::AlgNone => header["alg"] = "none".into(),
            Fault::Hs256WithThePublicKey => header["alg"] = "HS256".into(),
            _ => {}
        }
        let text = format!("{}.{}", base64url(header.to_string().as_bytes()), base64url(claims.to_string().as_bytes()));
        let signature = match script.fault {
            Fault::AlgNone => Vec::new(),
            Fault::Hs256WithThePublicKey => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, script.key.public_key().as_ref());
                hmac::sign(&key, text.as_bytes()).as_ref().to_vec()
            }
            fault => {
                let mut signature = script.key.sign(&SystemRandom::new(), text.as_bytes()).unwrap().as_ref().to_vec();
                if fault == Fault::BadSignature {
                    signature[40] ^= 1;
                }
                signature
            }
        };
        format!("{text}.{}", base64url(&signature))
    }
}

async fn answer(
    State(provider): State<Provider>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = String::from_utf8(body.to_vec()).unwrap();
    let asked = Asked { method, path: uri.path().to_owned(), headers, body };
    let mut script = provider.script.lock().unwrap();
    script.asked.push(asked.clone());
    match asked.path.as_str() {
        "/.well-known/openid-configuration" => provider.discovery(script.fault),
        "/jwks" => provider.jwks(&script),
        "/token" => provider.token(&mut script, &asked),
        _ => axum::http::StatusCode::NOT_FOUND.into_response(),
    }
}

trait Redirect {
    fn redirect(self) -> Response;
}
impl Redirect for ([(&'static str, String); 1], String) {
    fn redirect(self) -> Response {
        (axum::http::StatusCode::TEMPORARY_REDIRECT, self.0, self.1).into_response()
    }
}

fn json_text(text: String) -> Response {
    ([("content-type", "application/json")], text).into_response()
}

/// Starts to answer, and never ends.
fn slow() -> Response {
    let first = futures_util::stream::once(async { Ok::<_, std::io::Error>(Bytes::from_static(b"{")) });
    let rest = futures_util::stream::pending();
    let body = Body::from_stream(futures_util::StreamExt::chain(first, rest));
    let mut response = body.into_response();
    response.headers_mut().insert("content-type", "application/json".parse().unwrap());
    response
}

/// Longer than the service waits for a provider.
pub const PATIENCE: Duration = Duration::from_secs(15);
