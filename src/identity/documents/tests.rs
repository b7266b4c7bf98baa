use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::*;

const ID: &str = "https://app.example/oauth/client.json";

fn document() -> Value {
    json!({
        "client_id": ID,
        "client_name": "App",
        "redirect_uris": ["https://app.example/cb", "http://127.0.0.1/cb"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "logo_uri": "https://cdn.example/logo.png",
    })
}

fn judged(document: &Value) -> Result<OAuthClient, Unfit> {
    read(ID, document.to_string().as_bytes(), 7)
}

fn with(member: &str, value: Value) -> Value {
    let mut document = document();
    document[member] = value;
    document
}

fn answer(document: &Value, max_age: Option<u64>) -> Result<Fetched, Refused> {
    Ok(Fetched { body: document.to_string().into_bytes(), max_age })
}

fn documents(clock: &Clock) -> Documents {
    Documents::new(clock.clone(), &Url::parse("https://data.example.com/").unwrap())
}

/// Asks for a client; says what was found and whether anything was fetched for it.
async fn ask(of: &Documents, id: &str, answer: Result<Fetched, Refused>) -> (Option<OAuthClient>, bool) {
    let fetches = AtomicUsize::new(0);
    let fetch = |_| {
        fetches.fetch_add(1, Ordering::SeqCst);
        async { answer }
    };
    (of.client(id, fetch).await, fetches.load(Ordering::SeqCst) == 1)
}

#[test]
fn g01_addresses_of_real_documents_are_client_ids() {
    for id in [
        "https://claude.ai/oauth/mcp-oauth-client-metadata",
        "https://chatgpt.com/oauth/a1B2-c3/client.json",
        "https://vscode.dev/oauth/client-metadata.json",
        "https://xn--exmple-cua.com/c",
        "https://a.b.example/~c/x.y/",
    ] {
        assert_eq!(address(id).map(|url| url.to_string()).as_deref(), Some(id));
    }
    assert_eq!(host(ID).as_deref(), Some("app.example"));
    assert_eq!(host("dgc_123"), None);
}

/// Each app of ChatGPT's may have a document of its own, which data centres do not get.
#[tokio::test]
async fn the_document_of_an_app_of_chatgpts_is_known_by_its_form() {
    let of = documents(&Clock::manual(0));
    let id = "https://chatgpt.com/oauth/a1B2-c3_d/client.json";
    let (found, fetched) = ask(&of, id, Err(Refused::Status(403))).await;
    let found = found.unwrap();
    assert_eq!((found.name.as_str(), fetched), ("ChatGPT", false));
    assert_eq!(found.redirect_uris, ["https://chatgpt.com/connector/oauth/a1B2-c3_d"]);
    let long = format!("https://chatgpt.com/oauth/{}/client.json", "a".repeat(129));
    for other in [
        "https://chatgpt.com/oauth//client.json",
        "https://chatgpt.com/oauth/a/b/client.json",
        "https://chatgpt.com/oauth/a~b/client.json",
        "https://chatgpt.com/oauth/a/client.jsonx",
        "https://chatgpt.com.evil.example/oauth/a/client.json",
        long.as_str(),
    ] {
        let (found, fetched) = ask(&of, other, Err(Refused::Status(403))).await;
        assert!(found.is_none() && fetched, "{other}");
    }
}

#[tokio::test]
async fn g01_g04_g14_other_texts_are_none_and_nothing_is_fetched_for_them() {
    let of = documents(&Clock::manual(0));
    let long = format!("https://app.example/{}", "a".repeat(2048));
    for id in [
        "",
        "app.example/c",
        "http://app.example/c",
        "HTTPS://app.example/c",
        "https:app.example/c",
        "https:/app.example/c",
        "https:///app.example/c",
        "https://app.example",
        "https://app.example/",
        "https://app.example?c",
        "https://app.example/c?d",
        "https://app.example/c?",
        "https://app.example/c#d",
        "https://app.example/c#",
        "https://app.example/./c",
        "https://app.example/a/../c",
        "https://app.example/a/..",
        "https://app.example/%2e/c",
        "https://app.example/a/%2E%2e/c",
        "https://app.example/a/.%2e/c",
        "https://user@app.example/c",
        "https://user:pass@app.example/c",
        "https://@app.example/c",
        "https://:@app.example/c",
        "https://app.example\\c",
        "https://app.example\\@evil.example/c",
        "https:\\\\app.example/c",
        "https://app.example/c\\d",
        "https://app.example/c d",
        " https://app.example/c",
        "https://app.example/c\t",
        "https://app.example/c\r\nx",
        "https://app.ex\tample/c",
        "https://app.example/c\u{0}",
        "https://app.example/%00",
        "https://app.example/%0d%0ax",
        "https://app.example/%zz",
        "https://APP.example/c",
        "https://app%2eexample/c",
        "https://äpp.example/c",
        "https://app。example/c",
        "https://app.example./c",
        "https://app.example:443/c",
        "https://app.example:22/c",
        "https://app.example:6379/c",
        "https://app.example:/c",
        "https://localhost/c",
        "https://metadata/c",
        "https://127.0.0.1/c",
        "https://127.1/c",
        "https://2130706433/c",
        "https://0x7f.0.0.1/c",
        "https://0177.0.0.1/c",
        "https://[::1]/c",
        "https://[::ffff:127.0.0.1]/c",
        "file:///etc/passwd",
        &long,
    ] {
        assert_eq!(address(id), None, "{id:?}");
        let (found, fetched) = ask(&of, id, answer(&with("client_id", id.into()), None)).await;
        assert!(found.is_none() && !fetched, "{id:?}");
    }
}

#[tokio::test]
async fn g15_an_address_of_our_own_is_no_client_id() {
    let of = documents(&Clock::manual(0));
    for id in ["https://data.example.com/api/oauth/authorize", "https://data.example.com/c"] {
        assert_eq!(of.address(id), None);
        let (found, fetched) = ask(&of, id, answer(&with("client_id", id.into()), None)).await;
        assert!(found.is_none() && !fetched, "{id}");
    }
    assert!(of.address("https://other.data.example.com/c").is_some());
}

#[test]
fn a_document_says_who_the_client_is() {
    let client = judged(&document()).unwrap();
    let expected = OAuthClient {
        id: ID.into(),
        name: "App".into(),
        redirect_uris: vec!["https://app.example/cb".into(), "http://127.0.0.1/cb".into()],
        application_type: "native".into(),
        uri: None,
        secret_digest: None,
        may_introspect: false,
        created_at: 7,
    };
    assert_eq!(client, expected);
    let web = judged(&with("redirect_uris", json!(["https://elsewhere.example/cb"]))).unwrap();
    assert_eq!(web.application_type, "web");
    // Prefers to prove itself, and can do without.
    let mut flexible = with("token_endpoint_auth_method", "private_key_jwt".into());
    flexible["token_endpoint_auth_methods_supported"] = json!(["private_key_jwt", "none"]);
    flexible["jwks"] = json!({ "keys": [{ "kty": "EC", "crv": "P-256", "x": "AA", "y": "AA" }] });
    assert!(judged(&flexible).is_ok());
}

#[test]
fn g02_the_document_must_name_its_own_address_exactly() {
    for other in [
        "https://app.example/oauth/client.json/",
        "https://app.example/oauth/Client.json",
        "https://App.example/oauth/client.json",
        "https://app.example:443/oauth/client.json",
        "https://app.example/oauth/client%2Ejson",
        "https://claude.ai/oauth/mcp-oauth-client-metadata",
        "",
    ] {
        assert_eq!(judged(&with("client_id", other.into())), Err(Unfit::Id), "{other}");
    }
}

#[test]
fn g09_what_is_not_a_whole_document_is_refused() {
    let text = document().to_string();
    let twice = text.replacen('{', "{\"client_name\":\"Other\",", 1);
    let array = json!([ID, "App", ["https://app.example/cb"]]).to_string();
    for body in ["", "null", "\"x\"", "<html></html>", "[]", &array, &twice, &format!("{text}x"), &text[1..]] {
        assert_eq!(read(ID, body.as_bytes(), 0), Err(Unfit::Shape), "{body}");
    }
    let broken = [text.as_bytes().split_last().unwrap().1, b",\"x\":\"\xff\"}"].concat();
    assert_eq!(read(ID, &broken, 0), Err(Unfit::Shape));
    for member in ["client_id", "client_name", "redirect_uris"] {
        for wrong in [Value::Null, json!(1), json!({}), json!([1])] {
            assert_eq!(judged(&with(member, wrong)), Err(Unfit::Shape), "{member}");
        }
        let mut lacking = document();
        lacking.as_object_mut().unwrap().remove(member);
        assert_eq!(judged(&lacking), Err(Unfit::Shape), "{member}");
    }
    for empty in ["", " ", "\u{7}\n", "\u{202e}\u{200b}"] {
        assert_eq!(judged(&with("client_name", empty.into())), Err(Unfit::Name), "{empty:?}");
    }
    assert_eq!(judged(&with("grant_types", json!(["implicit"]))), Err(Unfit::Grant));
    assert_eq!(judged(&with("response_types", json!(["token"]))), Err(Unfit::Grant));
}

#[test]
fn g10_a_public_document_holds_no_secret() {
    for member in ["client_secret", "client_secret_expires_at"] {
        for value in [json!("s"), json!(0), Value::Null] {
            assert_eq!(judged(&with(member, value)), Err(Unfit::Secret), "{member}");
        }
    }
    for part in ["d", "p", "k"] {
        let mut key = json!({ "kty": "RSA", "n": "AA", "e": "AQAB" });
        key[part] = "AA".into();
        assert_eq!(judged(&with("jwks", json!({ "keys": [key] }))), Err(Unfit::Secret), "{part}");
    }
    for method in ["client_secret_basic", "client_secret_post", "client_secret_jwt"] {
        let mut symmetric = with("token_endpoint_auth_method", method.into());
        assert_eq!(judged(&symmetric), Err(Unfit::Method), "{method}");
        symmetric["token_endpoint_auth_methods_supported"] = json!([method, "none"]);
        assert_eq!(judged(&symmetric), Err(Unfit::Method), "{method}");
    }
    // It would prove itself at the token endpoint, which refuses every such try.
    assert_eq!(judged(&with("token_endpoint_auth_method", "private_key_jwt".into())), Err(Unfit::Method));
}

#[test]
fn g11_redirect_addresses_follow_the_rules_of_registration() {
    use redirect::Unfit as Wrong;
    for (uris, expected) in [
        (json!([]), Wrong::Number),
        (json!(vec!["https://app.example/cb"; 11]), Wrong::Number),
        (json!(["http://app.example/cb"]), Wrong::PlainHttp),
        (json!(["https://app.example/cb", "http://10.0.0.1/cb"]), Wrong::PlainHttp),
        (json!(["https://app.example/cb", "javascript:alert(1)"]), Wrong::Dangerous),
        (json!(["https://app.example/cb#x"]), Wrong::Forbidden),
        (json!(["/cb"]), Wrong::Malformed),
        (json!(["whatever://cb"]), Wrong::Unusable),
    ] {
        assert_eq!(judged(&with("redirect_uris", uris.clone())), Err(Unfit::Redirect(expected)), "{uris}");
    }
}

#[tokio::test]
async fn g12_documents_are_kept_as_long_as_they_say_within_bounds() {
    for (said, seconds) in [
        (None, 300),
        (Some(0), 30),
        (Some(29), 30),
        (Some(3600), 3600),
        (Some(86_401), 86_400),
        (Some(u64::MAX), 86_400),
    ] {
        let clock = Clock::manual(1_000);
        let of = documents(&clock);
        let (first, fetched) = ask(&of, ID, answer(&document(), said)).await;
        assert!(first.is_some() && fetched);
        clock.advance(Duration::from_millis(seconds * 1000 - 1));
        let (again, fetched) = ask(&of, ID, Err(Refused::Status(500))).await;
        assert!(again == first && !fetched, "{said:?}");
        clock.advance(Duration::from_millis(1));
        let (_, fetched) = ask(&of, ID, answer(&document(), said)).await;
        assert!(fetched, "{said:?}");
    }
}

#[tokio::test]
async fn g09_g12_failures_are_remembered_only_briefly() {
    for failure in
        [Err(Refused::Status(404)), Err(Refused::Private), answer(&with("client_name", "".into()), Some(86_400))]
    {
        let clock = Clock::manual(1_000);
        let of = documents(&clock);
        assert_eq!(ask(&of, ID, failure).await, (None, true));
        clock.advance(Duration::from_millis(9_999));
        assert_eq!(ask(&of, ID, answer(&document(), None)).await, (None, false));
        clock.advance(Duration::from_millis(1));
        let (found, _) = ask(&of, ID, answer(&document(), None)).await;
        assert!(found.is_some());
    }
}

#[tokio::test]
async fn g12_those_who_ask_at_once_share_one_fetch_and_the_number_kept_is_bounded() {
    let clock = Clock::manual(1_000);
    let of = documents(&clock);
    let fetches = AtomicUsize::new(0);
    let slow = |_| {
        fetches.fetch_add(1, Ordering::SeqCst);
        async {
            // The others are polled before this goes on.
            tokio::task::yield_now().await;
            answer(&document(), None)
        }
    };
    let (a, b, c) = tokio::join!(of.client(ID, slow), of.client(ID, slow), of.client(ID, slow));
    assert!(a.is_some() && a == b && b == c);
    assert_eq!(fetches.load(Ordering::SeqCst), 1);
    for number in 0..KEPT.get() {
        ask(&of, &format!("https://flood.example/{number}"), Err(Refused::Unresolved)).await;
    }
    assert_eq!(of.slots.lock().unwrap().len(), KEPT.get());
    assert!(ask(&of, ID, answer(&document(), None)).await.1, "the oldest made room");
}

#[tokio::test]
async fn g12_no_more_than_a_few_are_fetched_at_a_time() {
    let of = documents(&Clock::manual(1_000));
    let (under_way, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let slow = |_| async {
        most.fetch_max(under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        tokio::task::yield_now().await;
        under_way.fetch_sub(1, Ordering::SeqCst);
        Err(Refused::Unresolved)
    };
    let ids: Vec<String> = (0..AT_ONCE * 3).map(|number| format!("https://flood.example/{number}")).collect();
    futures_util::future::join_all(ids.iter().map(|id| of.client(id, slow))).await;
    assert_eq!(most.load(Ordering::SeqCst), AT_ONCE);
}

#[tokio::test]
async fn g13_a_changed_document_counts_at_the_next_look() {
    let clock = Clock::manual(1_000);
    let of = documents(&clock);
    ask(&of, ID, answer(&document(), Some(30))).await;
    clock.advance(Duration::from_secs(30));
    let moved = with("redirect_uris", json!(["https://app.example/new"]));
    let (found, _) = ask(&of, ID, answer(&moved, Some(30))).await;
    assert_eq!(found.unwrap().redirect_uris, ["https://app.example/new"]);
    // Nor does the former document stand in for one that is gone.
    clock.advance(Duration::from_secs(30));
    assert_eq!(ask(&of, ID, Err(Refused::Status(404))).await, (None, true));
}

#[tokio::test]
async fn pinned_documents_are_used_without_fetching_and_keep_the_rules() {
    let of = documents(&Clock::manual(7));
    for (id, name, uris) in PINNED {
        let (found, fetched) = ask(&of, id, Err(Refused::Status(403))).await;
        assert!(!fetched, "{id}");
        // What the same document would be, had it been fetched.
        let document = json!({ "client_id": id, "client_name": name, "redirect_uris": uris });
        assert_eq!(found, Some(read(id, document.to_string().as_bytes(), 7).unwrap()), "{id}");
    }
}
