//! I: what is not an access token of ours for this address, over the port and on both databases. The forger has our
//! private key, so that each case is right but for the one thing that it changes.

use std::collections::BTreeSet;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use dragoman::base::secret::{MasterKey, base64url, from_base64url, hmac_hex};
use dragoman::model::access::{Role, Scope};
use dragoman::store::keys;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::service::Service;

struct Forger {
    kid: String,
    key: Ed25519KeyPair,
    /// A good token, and what it says.
    token: String,
    claims: Value,
}

impl Forger {
    async fn new(service: &Service) -> Self {
        let org = service.workspace("acme").await;
        service.workspace("other").await;
        let token = service.access_token(&org, Role::Admin, &Scope::ALL).await;
        let master = std::fs::read_to_string(service.config.data_dir.join("master.key")).unwrap();
        let row = keys::list(service.db.pool()).await.unwrap().remove(0);
        let private = MasterKey::from_hex(&master).unwrap().open(&row.kid, &hex::decode(&row.sealed).unwrap()).unwrap();
        let claims = from_base64url(token.split('.').nth(1).unwrap()).unwrap();
        Self {
            kid: row.kid,
            key: Ed25519KeyPair::from_pkcs8(&private).unwrap(),
            claims: serde_json::from_slice(&claims).unwrap(),
            token,
        }
    }

    fn header(&self) -> Value {
        json!({ "typ": "at+jwt", "alg": "EdDSA", "kid": self.kid })
    }

    /// Signed over these two parts as they are.
    fn sealed(&self, header: &str, claims: &str) -> String {
        let message = format!("{header}.{claims}");
        format!("{message}.{}", base64url(self.key.sign(message.as_bytes()).as_ref()))
    }

    fn signed(&self, header: &str, claims: &str) -> String {
        self.sealed(&base64url(header.as_bytes()), &base64url(claims.as_bytes()))
    }

    fn with_header(&self, changes: Value) -> String {
        let mut header = self.header();
        merge(&mut header, changes);
        self.signed(&header.to_string(), &self.claims.to_string())
    }

    fn with_claims(&self, changes: Value) -> String {
        let mut claims = self.claims.clone();
        merge(&mut claims, changes);
        self.signed(&self.header().to_string(), &claims.to_string())
    }

    fn signature(&self) -> Vec<u8> {
        from_base64url(self.token.rsplit('.').next().unwrap()).unwrap()
    }

    fn resigned(&self, signature: &[u8]) -> String {
        format!("{}.{}", self.token.rsplit_once('.').unwrap().0, base64url(signature))
    }
}

/// A member that is null is taken out.
fn merge(into: &mut Value, changes: Value) {
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            into.as_object_mut().unwrap().remove(name);
        } else {
            into[name] = value.clone();
        }
    }
}

/// Presents each token at both kinds of endpoint: 401, the same words for all, and nothing in them of the token.
async fn all_invalid(service: &Service, tokens: Vec<(String, String)>) {
    let mut answers = BTreeSet::new();
    for (what, token) in tokens {
        for path in ["/mcp", "/api/v1/ext/datasets"] {
            let header = http::HeaderValue::from_bytes(format!("Bearer {token}").as_bytes());
            let Ok(header) = header else { continue };
            let response = service.http.get(service.url(path)).header("authorization", header).send().await.unwrap();
            assert_eq!(response.status(), 401, "{what} at {path}");
            let challenge = response.headers()["www-authenticate"].to_str().unwrap().to_owned();
            assert!(challenge.contains("error=\"invalid_token\""), "{what}: {challenge}");
            assert_eq!(response.headers()["cache-control"], "no-store");
            let body = response.text().await.unwrap();
            let body = body.split(",\"request_id\"").next().unwrap().to_owned();
            answers.insert((path, challenge, body));
        }
    }
    assert_eq!(answers.len(), 2, "an answer tells which check failed: {answers:#?}");
    let entry = dragoman::store::audit::newest(&service.db, None, 1).await.unwrap().remove(0).1;
    assert_eq!((entry.action.as_str(), entry.outcome.as_str()), ("auth.refused", "auth_invalid"));
}

fn named(cases: Vec<(&str, String)>) -> Vec<(String, String)> {
    cases.into_iter().map(|(what, token)| (what.to_owned(), token)).collect()
}

/// The forger can do it: with nothing changed the token is good.
async fn control(service: &Service, forger: &Forger) {
    for token in [forger.token.clone(), forger.with_claims(json!({})), forger.with_header(json!({ "typ": "AT+JWT" }))] {
        assert_eq!(service.get("/api/v1/ext/datasets", &token).send().await.unwrap().status(), 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i03_i16_i17_tampered_and_misspelled_tokens() {
    Service::both(async |service| {
        let forger = Forger::new(&service).await;
        control(&service, &forger).await;
        let token = forger.token.as_str();
        let parts: Vec<&str> = token.split('.').collect();
        let (header, claims, signature) = (parts[0], parts[1], forger.signature());
        let header_text = forger.header().to_string();
        let claims_text = forger.claims.to_string();
        let twice = |text: &str, member: &str| text.replacen('{', &format!("{{{member},"), 1);
        let mut wider = forger.claims.clone();
        wider["scope"] = json!("workspace:admin");
        // One byte over a multiple of three: four bits of the last letter mean nothing.
        let odd = format!("{claims_text}{}", " ".repeat(3 - (claims_text.len() + 2) % 3));
        assert_eq!(odd.len() % 3, 1);
        let odd = base64url(odd.as_bytes());
        let loose = format!("{}{}", &odd[..odd.len() - 1], next_letter(&odd));
        let mut cases = vec![
            ("nothing", String::new()),
            ("dots", "..".into()),
            ("many dots", ".".repeat(100)),
            ("words", "not.a.token".into()),
            ("one part", header.into()),
            ("two parts", format!("{header}.{claims}")),
            ("no signature", format!("{header}.{claims}.")),
            ("four parts", format!("{token}.{claims}")),
            ("five parts, as an encrypted one has", format!("{token}.{claims}.{header}")),
            ("too long", format!("{token}{}", "A".repeat(8192))),
            ("claims changed", format!("{header}.{}.{}", base64url(wider.to_string().as_bytes()), parts[2])),
            (
                "header changed",
                format!("{}.{claims}.{}", base64url(twice(&header_text, "\"x\":1").as_bytes()), parts[2]),
            ),
            ("parts exchanged", format!("{claims}.{header}.{}", parts[2])),
            ("padded", format!("{token}=")),
            (
                "padded claims, signed so",
                forger.sealed(header, &format!("{}=", base64url(format!("{claims_text}  ").as_bytes()))),
            ),
            ("loose bits in the claims, signed so", forger.sealed(header, &loose)),
            ("standard letters", token.replace('_', "/").replace('-', "+") + "+/"),
            ("claims no object", forger.signed(&header_text, "[]")),
            ("claims a text", forger.signed(&header_text, "\"x\"")),
            ("claims no JSON", forger.signed(&header_text, "{")),
            ("claims not UTF-8", forger.sealed(header, &base64url(b"{\"iss\":\"\xff\"}"))),
            ("claims empty", forger.sealed(header, "")),
            ("header empty", forger.sealed("", claims)),
            ("header no object", forger.signed("[]", &claims_text)),
            ("unencoded payload (RFC 7797)", forger.with_header(json!({ "b64": false, "crit": ["b64"] }))),
            // The signature itself (RFC 8032 §5.1.7).
            ("zeros", forger.resigned(&[0; 64])),
            ("a point of small order", forger.resigned(&[&[1], &[0; 63][..]].concat())),
            ("a scalar that is not reduced", forger.resigned(&plus_order(&signature))),
            ("63 bytes", forger.resigned(&signature[..63])),
            ("65 bytes", forger.resigned(&[&signature[..], &[0]].concat())),
            ("halves exchanged", forger.resigned(&[&signature[32..], &signature[..32]].concat())),
            (
                "as DER would write two numbers",
                forger.resigned(&[&[0x30, 68, 2, 32], &signature[..32], &[2, 32], &signature[32..]].concat()),
            ),
        ];
        let members = ["iss", "aud", "sub", "exp", "nbf", "iat", "jti", "scope", "client_id", "org", "fam"];
        for member in members {
            let value = format!("\"{member}\":{}", forger.claims[member]);
            cases.push((member, forger.signed(&header_text, &twice(&claims_text, &value))));
        }
        for member in ["alg", "typ", "kid"] {
            let value = format!("\"{member}\":{}", forger.header()[member]);
            cases.push((member, forger.signed(&twice(&header_text, &value), &claims_text)));
        }
        // The last letter of 64 bytes has four bits that mean nothing.
        let (start, last) = token.split_at(token.len() - 1);
        for letter in ["A", "B", "Q", "g", "w", "-", "_", "8"].into_iter().filter(|letter| *letter != last) {
            cases.push(("another last letter", format!("{start}{letter}")));
        }
        all_invalid(&service, named(cases)).await;
    })
    .await;
}

/// The letter after the last one of a text, which has the same six bits but the last.
fn next_letter(text: &str) -> char {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let at = LETTERS.find(text.chars().last().unwrap()).unwrap();
    LETTERS.chars().nth(at ^ 1).unwrap()
}

/// The same signature with the group's order added to its scalar (RFC 8032 §5.1): the same number to a careless
/// verifier, another token.
fn plus_order(signature: &[u8]) -> Vec<u8> {
    let order = hex::decode("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010").unwrap();
    let mut carried = 0;
    let sum = signature[32..].iter().zip(&order).map(|(left, right)| {
        let sum = u16::from(*left) + u16::from(*right) + carried;
        carried = sum >> 8;
        u8::try_from(sum & 0xff).unwrap()
    });
    let sum: Vec<u8> = sum.collect();
    [&signature[..32], &sum].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn i04_i05_i06_i07_i08_i09_i10_the_header_decides_nothing() {
    Service::both(async |service| {
        let forger = Forger::new(&service).await;
        control(&service, &forger).await;
        let claims = forger.claims.to_string();
        let mut cases = Vec::new();
        for alg in [
            "none", "None", "NONE", "nOnE", "", "HS256", "HS512", "RS256", "PS256", "ES256", "ES256K", "Ed25519",
            "eddsa", "EdDSA ",
        ] {
            cases.push((format!("alg {alg:?}"), forger.with_header(json!({ "alg": alg }))));
        }
        for alg in [json!(null), json!(1), json!(["EdDSA"]), json!({})] {
            cases.push((format!("alg {alg}"), forger.with_header(json!({ "alg": alg }))));
        }
        let unsigned = base64url(json!({ "typ": "at+jwt", "alg": "none", "kid": forger.kid }).to_string().as_bytes());
        cases.push(("alg none, unsigned".into(), format!("{unsigned}.{}.", base64url(claims.as_bytes()))));
        // The public key as the secret of a symmetric algorithm, in each of its forms.
        let jwks: Value =
            service.http.get(service.url("/.well-known/jwks.json")).send().await.unwrap().json().await.unwrap();
        let x = jwks["keys"][0]["x"].as_str().unwrap();
        let raw = from_base64url(x).unwrap();
        let der = [&hex::decode("302a300506032b6570032100").unwrap()[..], &raw].concat();
        let der64 = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &der);
        let pem = format!("-----BEGIN PUBLIC KEY-----\n{der64}\n-----END PUBLIC KEY-----\n");
        for secret in
            [raw.clone(), x.into(), hex::encode(&raw).into_bytes(), der, pem.into(), jwks["keys"][0].to_string().into()]
        {
            let header = json!({ "typ": "at+jwt", "alg": "HS256", "kid": forger.kid }).to_string();
            let message = format!("{}.{}", base64url(header.as_bytes()), base64url(claims.as_bytes()));
            let mac = hex::decode(hmac_hex(&secret, message.as_bytes())).unwrap();
            cases.push(("HS256 with the public key".into(), format!("{message}.{}", base64url(&mac))));
        }
        let (path, long) = ("../../../../../../dev/null", "k".repeat(10_000));
        let half = "k".repeat(4000);
        for kid in [
            "",
            "other",
            path,
            "/etc/passwd",
            "file:///dev/null",
            "https://evil.example/jwks",
            "' OR 1=1 --",
            "x' UNION SELECT 1",
            "%00",
            "\u{0}",
            "*",
            &forger.kid.to_uppercase(),
            &format!("{} ", forger.kid),
            &half,
            &long,
        ] {
            cases.push((format!("kid {:.30}", kid), forger.with_header(json!({ "kid": kid }))));
        }
        for kid in [json!(null), json!(0), json!([forger.kid]), json!(true)] {
            cases.push((format!("kid {kid}"), forger.with_header(json!({ "kid": kid }))));
        }
        for typ in [
            json!("JWT"),
            json!("at"),
            json!("jwt"),
            json!("id+jwt"),
            json!("dpop+jwt"),
            json!("logout+jwt"),
            json!("secevent+jwt"),
            json!("client-authentication+jwt"),
            json!("application/at+jwt "),
            json!(""),
            json!(null),
            json!(1),
        ] {
            cases.push((format!("typ {typ}"), forger.with_header(json!({ "typ": typ }))));
        }
        for crit in [json!([]), json!(["exp"]), json!(["b64"]), json!("exp"), json!({}), json!(1)] {
            cases.push((format!("crit {crit}"), forger.with_header(json!({ "crit": crit }))));
        }
        // A key of the attacker's, brought along or claimed to be ours.
        let own = Ed25519KeyPair::generate_pkcs8(&aws_lc_rs::rand::SystemRandom::new()).unwrap();
        let own = Ed25519KeyPair::from_pkcs8(own.as_ref()).unwrap();
        let jwk =
            json!({ "kty": "OKP", "crv": "Ed25519", "x": base64url(own.public_key().as_ref()), "kid": forger.kid });
        let attacker =
            Forger { key: own, kid: forger.kid.clone(), token: String::new(), claims: forger.claims.clone() };
        for changes in [
            json!({}),
            json!({ "jwk": jwk }),
            json!({ "jku": "https://evil.example/keys" }),
            json!({ "x5u": "https://evil.example/cert" }),
            json!({ "x5c": [base64url(b"certificate")] }),
            json!({ "x5t": "x" }),
            json!({ "jwk": jwk, "kid": null }),
        ] {
            cases.push((format!("a key of the attacker's {changes:.40}"), attacker.with_header(changes)));
        }
        all_invalid(&service, cases).await;
        // Signed by us, they are not looked at.
        for ignored in [json!({ "jwk": jwk }), json!({ "jku": "https://evil.example/keys" })] {
            let token = forger.with_header(ignored.clone());
            let status = service.get("/api/v1/ext/datasets", &token).send().await.unwrap().status();
            assert_eq!(status, 200, "{ignored}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i11_i12_i13_i14_i26_claims_of_another_value_or_kind() {
    Service::both(async |service| {
        let forger = Forger::new(&service).await;
        control(&service, &forger).await;
        let now = service.clock.now() / 1000;
        let (issuer, resource) = (service.config.issuer(), service.config.resource());
        let other = service.url("/t/other/mcp");
        let mut cases = Vec::new();
        for (claim, values) in [
            (
                "exp",
                vec![
                    json!(""),
                    json!((now + 600).to_string()),
                    json!(now as f64 + 600.5),
                    json!(true),
                    json!([now]),
                    json!({}),
                    json!("1e400"),
                    json!(u64::MAX),
                ],
            ),
            ("nbf", vec![json!(now + 120), json!(now.to_string()), json!("soon"), json!(i64::MAX), json!([now])]),
            ("iat", vec![json!(now + 120), json!(now.to_string()), json!(1e300), json!([])]),
            (
                "iss",
                vec![
                    json!("https://evil.example"),
                    json!(format!("{issuer}/")),
                    json!(issuer.to_uppercase()),
                    json!([issuer]),
                    json!([issuer, "x"]),
                    json!(""),
                ],
            ),
            (
                "aud",
                vec![
                    json!("https://evil.example/mcp"),
                    json!(format!("{resource}/")),
                    json!(resource[..resource.len() - 1]),
                    json!(format!("{resource}x")),
                    json!(issuer),
                    json!(forger.claims["client_id"]),
                    json!([]),
                    json!([resource]),
                    json!([resource, other]),
                    json!([other]),
                    json!(other),
                    json!(""),
                    json!(0),
                ],
            ),
            (
                "sub",
                vec![
                    json!("ann@example.com"),
                    json!(""),
                    json!(1),
                    json!("01936f2e-7c1a-7000-8000-000000000001"),
                    json!([forger.claims["sub"]]),
                ],
            ),
            ("org", vec![json!("acme"), json!(""), json!("01936f2e-7c1a-7000-8000-000000000001"), json!(1)]),
            ("fam", vec![json!("other"), json!(""), json!("' OR 1=1 --"), json!(1)]),
            ("client_id", vec![json!("client-b"), json!(""), json!(1)]),
            ("scope", vec![json!(["data_agent:read"]), json!("data_agent:read everything"), json!(1)]),
            ("jti", vec![json!(1), json!([])]),
        ] {
            cases.push((format!("no {claim}"), forger.with_claims(json!({ claim: null }))));
            for value in values {
                cases.push((format!("{claim} {value}"), forger.with_claims(json!({ claim: value }))));
            }
        }
        let text = forger.claims.to_string();
        let header = forger.header().to_string();
        let exp = format!("\"exp\":{}", forger.claims["exp"]);
        for huge in ["1e400", "-1e400", "1E999", "99999999999999999999999", "0x7fffffff", "NaN", "Infinity"] {
            let claims = text.replace(&exp, &format!("\"exp\":{huge}"));
            assert_ne!(claims, text);
            cases.push((format!("exp {huge}"), forger.signed(&header, &claims)));
        }
        all_invalid(&service, cases).await;

        // I14: good ones, at addresses that they are not for.
        for (path, token) in [
            ("/t/acme/mcp", forger.token.clone()),
            ("/t/other/mcp", forger.token.clone()),
            ("/t/nowhere/mcp", forger.token.clone()),
            ("/mcp", forger.with_claims(json!({ "aud": service.url("/t/acme/mcp") }))),
            ("/api/v1/ext/datasets", forger.with_claims(json!({ "aud": service.url("/t/acme/mcp") }))),
            ("/t/other/mcp", forger.with_claims(json!({ "aud": service.url("/t/acme/mcp") }))),
        ] {
            let response = service.get(path, &token).send().await.unwrap();
            assert_eq!(response.status(), 401, "{path}");
            let challenge = response.headers()["www-authenticate"].to_str().unwrap();
            assert!(challenge.contains("error=\"invalid_token\""), "{path}: {challenge}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i01_i02_i21_i22_i24_only_one_bearer_header_is_a_credential() {
    let service = Service::start().await;
    let forger = Forger::new(&service).await;
    let token = forger.token.as_str();
    let address = (service.config.public_url.host_str().unwrap().to_owned(), service.config.listen.port());
    let ask = async |path: &str, headers: &[String]| {
        let mut stream = tokio::net::TcpStream::connect(address.clone()).await.unwrap();
        let host = service.config.listen;
        let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{lines}\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        String::from_utf8(answer).unwrap()
    };
    let bearer = format!("authorization: Bearer {token}");
    assert!(ask("/api/v1/ext/datasets", std::slice::from_ref(&bearer)).await.starts_with("HTTP/1.1 200"));
    let query = format!("/api/v1/ext/datasets?access_token={token}");
    for (path, headers) in [
        ("/api/v1/ext/datasets", vec![]),
        ("/api/v1/ext/datasets", vec!["authorization: Basic YTpi".to_owned()]),
        ("/api/v1/ext/datasets", vec![format!("authorization: Token {token}")]),
        ("/api/v1/ext/datasets", vec![format!("authorization: {token}")]),
        // We bind no token to a key: a proof's scheme is a scheme that we do not know.
        ("/api/v1/ext/datasets", vec![format!("authorization: DPoP {token}"), "dpop: e30.e30.e30".to_owned()]),
        (&*query, vec![]),
        ("/api/v1/ext/datasets", vec![format!("cookie: access_token={token}; authorization=Bearer {token}")]),
        ("/api/v1/ext/datasets", vec![format!("x-authorization: Bearer {token}")]),
        ("/api/v1/ext/datasets", vec![format!("proxy-authorization: Bearer {token}")]),
    ] {
        let answer = ask(path, &headers).await;
        assert!(answer.starts_with("HTTP/1.1 401"), "{headers:?}: {answer}");
        let challenge = answer.lines().find(|line| line.starts_with("www-authenticate: ")).unwrap();
        let metadata = service.url("/.well-known/oauth-protected-resource/mcp");
        assert!(challenge.contains(&format!("resource_metadata=\"{metadata}\"")), "{challenge}");
        assert!(challenge.contains("scope=\"") && !challenge.contains("error="), "bare: {challenge}");
    }
    for headers in [
        vec![bearer.clone(), bearer.clone()],
        vec![bearer.clone(), "authorization: Basic YTpi".to_owned()],
        vec!["authorization: Basic YTpi".to_owned(), bearer.clone()],
        vec![format!("authorization: Bearer {token}, Bearer {token}")],
        vec![format!("authorization: Bearer {token},{token}")],
        vec![format!("authorization: Bearer {token} {token}")],
        vec!["authorization: Bearer".to_owned()],
        vec!["authorization: Bearer ".to_owned()],
    ] {
        let answer = ask("/api/v1/ext/datasets", &headers).await;
        assert!(
            answer.starts_with("HTTP/1.1 401") && answer.contains("error=\"invalid_token\""),
            "{headers:?}: {answer}"
        );
    }
    let form = service.http.post(service.url("/mcp")).form(&[("access_token", token)]).send().await.unwrap();
    assert_eq!(form.status(), 401);
    assert!(!form.headers()["www-authenticate"].to_str().unwrap().contains("error="));
}
