//! L11: documents that a stranger wrote.

#[path = "../../../tests/it/support/chance.rs"]
mod chance;

use self::chance::Chance;
use super::*;

const ID: &str = "https://client.example.com/c";
const DOCUMENT: &str = r#"{"client_id":"https://client.example.com/c","client_name":"C","redirect_uris":["https://client.example.com/cb"],
    "jwks":{"keys":[{"kty":"OKP","x":"AA"}]},"token_endpoint_auth_method":"none","grant_types":["authorization_code"]}"#;
const BARE: &str = r#"{"client_id":"https://client.example.com/c","client_name":"C","redirect_uris":["http://localhost/cb"],"x":[[[1e999]]]}"#;

#[test]
fn l11_a_document_is_whole_or_none() {
    let mut chance = Chance::new(8);
    let mut good = 0;
    for _ in 0..20_000 {
        let body = chance.mutated(&[DOCUMENT, BARE]);
        let Ok(client) = read(ID, &body, 1) else { continue };
        good += 1;
        let shown = String::from_utf8_lossy(&body);
        assert_eq!(client.id, ID, "{shown}");
        assert!(!client.name.trim().is_empty() && client.name.chars().count() <= NAME, "{shown}");
        assert!(redirect::judge(&client.redirect_uris).is_ok(), "{shown}");
        assert!(!shown.contains("client_secret\""), "{shown}");
    }
    assert!(good > 200, "{good}");
    assert!(read(ID, "[".repeat(5000).as_bytes(), 1).is_err());
}

#[test]
fn l11_an_address_is_what_a_parser_would_not_repair() {
    let mut chance = Chance::new(9);
    let valid = [
        ID,
        chance.one(&["https://claude.ai/oauth/claude-code-client-metadata"]),
        "https://127.0.0.1/c",
        "https://[::1]/c",
    ];
    for _ in 0..20_000 {
        let text = chance.text(&valid);
        let Some(url) = address(&text) else { continue };
        assert_eq!((url.as_str(), url.scheme(), url.port()), (text.as_str(), "https", None), "{text:?}");
        assert!(
            matches!(url.host(), Some(Host::Domain(_))) && url.fragment().is_none() && url.query().is_none(),
            "{text:?}"
        );
    }
}
