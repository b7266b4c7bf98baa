//! I: access tokens at the resource.

use dragoman::base::secret::from_base64url;
use dragoman::model::access::Action;
use dragoman::model::caller::Proof;
use dragoman::store::keys;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use super::*;
use crate::support::databases::both;

/// The private key of the installation, as one who has the master key can take it.
pub async fn signing_key(world: &World) -> (String, Vec<u8>) {
    let row = keys::list(world.identity.db().pool()).await.unwrap().remove(0);
    let private = world.master.open(&row.kid, &hex::decode(&row.sealed).unwrap()).unwrap();
    (row.kid, private)
}

pub fn part(token: &Secret, index: usize) -> Value {
    let text = token.expose().split('.').nth(index).unwrap();
    serde_json::from_slice(&from_base64url(text).unwrap()).unwrap()
}

/// A correctly signed token whose header and claims are these very bytes.
pub fn signed(private: &[u8], header: &str, claims: &str) -> String {
    let pair = aws_lc_rs::signature::Ed25519KeyPair::from_pkcs8(private).unwrap();
    let message = format!("{}.{}", base64url(header.as_bytes()), base64url(claims.as_bytes()));
    let signature = base64url(pair.sign(message.as_bytes()).as_ref());
    format!("{message}.{signature}")
}

async fn invalid(world: &World, what: &str, token: &str) {
    let result = world.identity.verify(token, &world.resource()).await;
    assert!(matches!(result, Err(Refusal::Invalid)), "{what}: {result:?}");
}

#[tokio::test]
async fn a_token_is_what_rfc_9068_says() {
    both(async |db| {
        let world = World::new(db).await;
        let access = world.pair().await.access;
        let header = part(&access, 0);
        let kid = world.identity.signing_keys()[0].0.kid.clone();
        assert_eq!(header, json!({ "typ": "at+jwt", "alg": "EdDSA", "kid": kid }));
        let claims = part(&access, 1);
        assert_eq!(claims["iss"], "http://127.0.0.1:8787");
        assert_eq!(claims["aud"], "http://127.0.0.1:8787/mcp");
        assert_eq!(claims["sub"], world.user.id.to_string());
        assert_eq!(claims["org"], world.org.id.to_string());
        assert_eq!(claims["client_id"], CLIENT);
        assert_eq!(claims["scope"], "data_agent:read data_agent:write");
        let now = NOW / 1000;
        assert_eq!([&claims["iat"], &claims["nbf"]], [now, now]);
        assert_eq!(claims["exp"], now + 600);
        assert_eq!(claims["auth_time"], now - 5);
        assert_eq!(claims["acr"], "aal1");
        let other = part(&world.pair().await.access, 1);
        assert_ne!(claims["jti"], other["jti"]);
        assert_ne!(claims["fam"], other["fam"]);
    })
    .await;
}

#[tokio::test]
async fn rights_are_those_of_the_scopes_and_of_the_role_now() {
    both(async |db| {
        let world = World::new(db).await;
        let access = world.pair().await.access;
        let proven = world.verify(&access).await.unwrap();
        assert!(proven.rights.allow(Action::RunSql));
        assert!(!proven.rights.allow(Action::WriteDatasets), "the role would, the scopes do not");
        assert!(matches!(proven.proof, Proof::AccessToken { auth_time, .. } if auth_time == NOW / 1000 - 5));
        world.identity.set_role(world.org.id, world.user.id, Role::Viewer).await.unwrap();
        let proven = world.verify(&access).await.unwrap();
        assert_eq!(proven.role, Role::Viewer);
        assert!(!proven.rights.allow(Action::RunSql), "the scopes would, the role does not");
        assert!(proven.rights.allow(Action::ListDatasets));
    })
    .await;
}

#[tokio::test]
async fn i03_i16_garbage_and_tampering_are_refused() {
    both(async |db| {
        let world = World::new(db).await;
        let access = world.pair().await.access;
        let token = access.expose();
        let parts: Vec<&str> = token.split('.').collect();
        let mut claims = part(&access, 1);
        claims["scope"] = json!("workspace:admin");
        let other = world.pair().await.access;
        let foreign_signature = other.expose().rsplit('.').next().unwrap();
        let long = format!("{token}{}", "A".repeat(8192));
        for (what, bad) in [
            ("empty", String::new()),
            ("dots", "..".into()),
            ("words", "not a token".into()),
            ("too long", long),
            ("no signature", format!("{}.{}", parts[0], parts[1])),
            ("empty signature", format!("{}.{}.", parts[0], parts[1])),
            ("another's signature", format!("{}.{}.{foreign_signature}", parts[0], parts[1])),
            ("changed claims", format!("{}.{}.{}", parts[0], base64url(claims.to_string().as_bytes()), parts[2])),
            ("four parts", format!("{token}.{}", parts[2])),
            ("five parts (JWE)", format!("{token}.{}.{}", parts[1], parts[2])),
            ("padding", format!("{token}=")),
            ("space", format!(" {token}")),
            ("nul", format!("{token}\0")),
        ] {
            invalid(&world, what, &bad).await;
        }
        // The last character of 64 bytes carries four bits that decoders must not ignore.
        let (start, last) = token.split_at(token.len() - 1);
        for other in ["B", "C", "P", "h", "-", "_"].into_iter().filter(|other| *other != last) {
            invalid(&world, "trailing bits", &format!("{start}{other}")).await;
        }
        world.verify(&access).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn i04_i05_i06_i07_i08_i09_i10_the_header_decides_nothing() {
    both(async |db| {
        let world = World::new(db).await;
        let access = world.pair().await.access;
        let (kid, private) = signing_key(&world).await;
        let claims = part(&access, 1).to_string();
        let header = |typ: &str, alg: &str, kid: &str| json!({ "typ": typ, "alg": alg, "kid": kid }).to_string();
        let good = header("at+jwt", "EdDSA", &kid);
        let control = world.identity.verify(&signed(&private, &good, &claims), &world.resource()).await;
        assert!(control.is_ok(), "the forgery is right but for what each case changes: {control:?}");
        let upper = signed(&private, &header("AT+JWT", "EdDSA", &kid), &claims);
        assert!(world.identity.verify(&upper, &world.resource()).await.is_ok());

        let long_kid = "k".repeat(3000);
        for (what, header) in [
            ("alg none", header("at+jwt", "none", &kid)),
            ("alg None", header("at+jwt", "None", &kid)),
            ("alg of another family", header("at+jwt", "RS256", &kid)),
            ("alg ES256", header("at+jwt", "ES256", &kid)),
            ("alg missing", json!({ "typ": "at+jwt", "kid": kid }).to_string()),
            ("typ JWT", header("JWT", "EdDSA", &kid)),
            ("typ of an id token", header("id+jwt", "EdDSA", &kid)),
            ("typ of a proof", header("dpop+jwt", "EdDSA", &kid)),
            ("typ missing", json!({ "alg": "EdDSA", "kid": kid }).to_string()),
            ("kid missing", json!({ "typ": "at+jwt", "alg": "EdDSA" }).to_string()),
            ("kid null", json!({ "typ": "at+jwt", "alg": "EdDSA", "kid": null }).to_string()),
            ("kid unknown", header("at+jwt", "EdDSA", "other")),
            ("kid a path", header("at+jwt", "EdDSA", "../../dev/null")),
            ("kid SQL", header("at+jwt", "EdDSA", "' OR 1=1 --")),
            ("kid of another case", header("at+jwt", "EdDSA", &kid.to_uppercase())),
            ("kid long", header("at+jwt", "EdDSA", &long_kid)),
            ("crit", json!({ "typ": "at+jwt", "alg": "EdDSA", "kid": kid, "crit": ["exp"] }).to_string()),
            ("crit empty", json!({ "typ": "at+jwt", "alg": "EdDSA", "kid": kid, "crit": [] }).to_string()),
            ("kid twice", format!(r#"{{"typ":"at+jwt","alg":"EdDSA","kid":"{kid}","kid":"{kid}"}}"#)),
            ("header no object", "[]".into()),
        ] {
            invalid(&world, what, &signed(&private, &header, &claims)).await;
        }

        let public = from_base64url(world.identity.jwks()["keys"][0]["x"].as_str().unwrap()).unwrap();
        let mut hmac = Header::new(Algorithm::HS256);
        (hmac.typ, hmac.kid) = (Some("at+jwt".into()), Some(kid.clone()));
        for secret in [public.clone(), base64url(&public).into_bytes(), hex::encode(&public).into_bytes()] {
            let forged = encode(&hmac, &part(&access, 1), &EncodingKey::from_secret(&secret)).unwrap();
            invalid(&world, "HS256 with the public key", &forged).await;
        }

        // A key that the token brings along, and another that claims our id.
        let own = aws_lc_rs::signature::Ed25519KeyPair::generate_pkcs8(&aws_lc_rs::rand::SystemRandom::new()).unwrap();
        let x = base64url(
            aws_lc_rs::signature::KeyPair::public_key(
                &aws_lc_rs::signature::Ed25519KeyPair::from_pkcs8(own.as_ref()).unwrap(),
            )
            .as_ref(),
        );
        let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": x });
        for header in [
            json!({ "typ": "at+jwt", "alg": "EdDSA", "kid": kid, "jwk": jwk }),
            json!({ "typ": "at+jwt", "alg": "EdDSA", "kid": kid, "jku": "https://evil.example/keys" }),
            json!({ "typ": "at+jwt", "alg": "EdDSA", "kid": kid }),
        ] {
            invalid(&world, "a key of the attacker's", &signed(own.as_ref(), &header.to_string(), &claims)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn i11_i12_i13_claims_of_another_value_or_type_are_refused() {
    both(async |db| {
        let world = World::new(db).await;
        let access = world.pair().await.access;
        let (kid, private) = signing_key(&world).await;
        let header = json!({ "typ": "at+jwt", "alg": "EdDSA", "kid": kid }).to_string();
        let now = NOW / 1000;
        let (resource, issuer) = (world.resource(), world.identity.config().issuer());
        for (claim, value) in [
            ("exp", json!((now + 600).to_string())),
            ("exp", json!(-1.5)),
            ("exp", json!(true)),
            ("exp", json!(null)),
            ("exp", json!([now + 600])),
            ("nbf", json!(now + 120)),
            ("nbf", json!(now.to_string())),
            ("iat", json!(now + 120)),
            ("iat", json!(null)),
            ("iss", json!("https://evil.example")),
            ("iss", json!(format!("{issuer}/"))),
            ("iss", json!([issuer])),
            ("iss", json!([issuer, "https://evil.example"])),
            ("iss", json!(null)),
            ("aud", json!("https://evil.example/mcp")),
            ("aud", json!(format!("{resource}/"))),
            ("aud", json!(resource[..resource.len() - 1])),
            ("aud", json!(CLIENT)),
            ("aud", json!([])),
            ("aud", json!([resource])),
            ("aud", json!([resource, "http://127.0.0.1:8787/t/other/mcp"])),
            ("aud", json!(null)),
            ("sub", json!(nowhere::<User>())),
            ("sub", json!("ann@example.com")),
            ("org", json!(nowhere::<Org>())),
            ("org", json!("acme")),
            ("fam", json!("other")),
            ("fam", json!("' OR 1=1 --")),
            ("client_id", json!("client-b")),
            ("acr", json!("aal3")),
            ("acr", json!(2)),
            ("scope", json!(["data_agent:read"])),
            ("scope", json!("data_agent:read everything")),
        ] {
            let mut claims = part(&access, 1);
            claims[claim] = value.clone();
            invalid(&world, &format!("{claim} = {value}"), &signed(&private, &header, &claims.to_string())).await;
            let mut claims = part(&access, 1);
            claims.as_object_mut().unwrap().remove(claim);
            invalid(&world, &format!("no {claim}"), &signed(&private, &header, &claims.to_string())).await;
        }
        let claims = part(&access, 1).to_string();
        let twice = claims.replacen('{', r#"{"aud":"https://evil.example","#, 1);
        invalid(&world, "aud twice", &signed(&private, &header, &twice)).await;
        let huge = claims.replace(&format!("\"exp\":{}", now + 600), "\"exp\":1e400");
        assert_ne!(huge, claims);
        invalid(&world, "exp 1e400", &signed(&private, &header, &huge)).await;
        invalid(&world, "claims no object", &signed(&private, &header, "[]")).await;

        let mut none = part(&access, 1);
        none["scope"] = json!("");
        let proven = world.identity.verify(&signed(&private, &header, &none.to_string()), &resource).await.unwrap();
        assert_eq!(proven.rights, dragoman::model::access::Rights::NONE, "no scope is no right, not the usual ones");
    })
    .await;
}

#[tokio::test]
async fn i14_a_token_for_one_resource_is_none_for_another() {
    both(async |db| {
        let world = World::new(db).await;
        let access = world.pair().await.access;
        for other in ["http://127.0.0.1:8787", "http://127.0.0.1:8787/mcp/", "http://127.0.0.1:8787/t/acme/mcp", ""] {
            let result = world.identity.verify(access.expose(), other).await;
            assert!(matches!(result, Err(Refusal::Invalid)), "{other}: {result:?}");
        }
        let special = Approval { resource: "http://127.0.0.1:8787/t/acme/mcp".into(), ..world.approval() };
        let code = world.identity.approve(special).await.unwrap();
        let narrow = world.redeem(&code).await.unwrap().access;
        assert!(matches!(world.verify(&narrow).await, Err(Refusal::Invalid)));
        assert!(world.identity.verify(narrow.expose(), "http://127.0.0.1:8787/t/acme/mcp").await.is_ok());
    })
    .await;
}

#[tokio::test]
async fn i11_i25_a_token_ends_at_its_time_with_a_minute_for_differing_clocks() {
    both(async |db| {
        let world = World::new(db).await;
        let access = world.pair().await.access;
        world.wait(600 + 59);
        world.verify(&access).await.unwrap();
        world.wait(1);
        let result = world.verify(&access).await;
        assert!(matches!(result, Err(Refusal::Expired)), "{result:?}");

        let (kid, private) = signing_key(&world).await;
        let header = json!({ "typ": "at+jwt", "alg": "EdDSA", "kid": kid }).to_string();
        let fresh = world.pair().await.access;
        let mut claims = part(&fresh, 1);
        for (ahead, good) in [(60, true), (61, false)] {
            claims["nbf"] = json!(world.clock.now() / 1000 + ahead);
            let result =
                world.identity.verify(&signed(&private, &header, &claims.to_string()), &world.resource()).await;
            assert_eq!(result.is_ok(), good, "{ahead} s ahead: {result:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn i15_a_token_of_another_environment_is_refused() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = Db::open_sqlite(&folder.path().join("other.db")).await.unwrap();
        let other = World::new(elsewhere).await;
        let access = other.pair().await.access;
        other.verify(&access).await.unwrap();
        assert!(matches!(world.verify(&access).await, Err(Refusal::Invalid)));
    })
    .await;
}

#[tokio::test]
async fn i18_a_removed_member_is_refused_at_once_and_others_are_not() {
    both(async |db| {
        let world = World::new(db).await;
        let bob = world.identity.create_user("bob@example.com", "Bob", &Secret::new(PASSWORD)).await.unwrap();
        world.identity.set_role(world.org.id, bob.id, Role::Viewer).await.unwrap();
        let code = world.identity.approve(Approval { user: bob.id, ..world.approval() }).await.unwrap();
        let (anns, bobs) = (world.pair().await.access, world.redeem(&code).await.unwrap().access);
        world.identity.remove_member(world.org.id, world.user.id).await.unwrap();
        revoked(&world.verify(&anns).await);
        assert_eq!(world.verify(&bobs).await.unwrap().user, Some(bob));
    })
    .await;
}

#[tokio::test]
async fn i26_a_refusal_says_nothing_of_the_token() {
    let refusals = [Refusal::Invalid, Refusal::Expired, Refusal::Revoked];
    for refusal in refusals {
        let text = refusal.to_string();
        assert!(!text.contains("kid") && !text.contains("aud") && !text.contains("org"), "{text}");
    }
}
