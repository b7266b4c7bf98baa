//! Names and addresses that hide something: refused wherever people and programs give them, and harmless on the pages
//! where they stand from before.

use dragoman::model::access::Role;
use serde_json::{Value, json};

use crate::console::person;
use crate::site::Site;
use crate::tenancy::both;
use crate::upstream::House;

/// Each has something that is not seen, or turns around what follows.
const HIDING: [&str; 7] =
    ["Ann\u{202e}nimda", "An\u{200b}n", "Ann\u{2067}", "An\u{ad}n", "A\u{e0041}nn", "A\u{7}nn", "A\u{3164}nn"];

/// A code point as a refusal names it.
fn named(name: &str) -> String {
    let hidden = name.chars().find(|c| !c.is_ascii_alphabetic()).unwrap();
    format!("U+{:04X}", u32::from(hidden))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_hides_in_a_name_or_an_address_is_refused_with_the_field() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (_, admin) = service.member(&org, "ann@example.com", Role::Admin).await;
        let refused = |field: &str, (status, body): (u16, Value)| {
            assert_eq!((status, &body["error"]["code"]), (400, &json!("invalid_argument")), "{body}");
            assert_eq!(body["error"]["details"]["field"], field, "{body}");
            body["error"]["message"].as_str().unwrap().to_owned()
        };
        for bad in HIDING {
            let said = service.manage(&admin, "PATCH", "/settings", Some(json!({ "name": bad }))).await;
            assert!(refused("name", said).contains(&named(bad)), "{bad:?}");
            let token = json!({ "label": bad, "scopes": ["ext:datasets"] });
            let said = service.manage(&admin, "POST", "/tokens", Some(token)).await;
            assert!(refused("label", said).contains(&named(bad)), "{bad:?}");
        }
        for (bad, part) in [
            ("<script>@x.y", "before the @"),
            ("\"ann\"@example.com", "before the @"),
            ("an\u{200b}n@example.com", "before the @"),
            ("moc.elpmaxe\u{202e}@example.com", "before the @"),
            ("ann..lee@example.com", "before the @"),
            ("ann@localhost", "after the @"),
            ("ann@exa\u{ad}mple.com", "after the @"),
            ("ann@-example.com", "after the @"),
        ] {
            let invitation = json!({ "email": bad, "role": "viewer" });
            let said = service.manage(&admin, "POST", "/invitations", Some(invitation)).await;
            assert!(refused("email", said).contains(part), "{bad:?}");
        }
        // What a script or an emoji needs is kept.
        for good in ["می\u{200c}خواهم", "R&D 👩\u{200d}🔬", "株式会社 データ"] {
            let (status, body) = service.manage(&admin, "PATCH", "/settings", Some(json!({ "name": good }))).await;
            assert_eq!((status, &body["name"]), (200, &json!(good)));
        }
        let invitation = json!({ "email": "O'Neill+data@Example.com", "role": "viewer" });
        let (status, body) = service.manage(&admin, "POST", "/invitations", Some(invitation)).await;
        assert_eq!(status, 200, "{body}");
        assert!(body.to_string().contains("o'neill+data@example.com"), "{body}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_hides_in_names_from_before_is_not_on_the_pages() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
        person(&service, "bob@example.com", &[(&org, Role::Viewer)]).await;
        service.token(&org).await;
        for (sql, name) in [
            ("UPDATE users SET name = $1 WHERE email = 'ann@example.com'", "Ann\u{200b}a\u{202e}"),
            ("UPDATE users SET name = $1 WHERE email = 'bob@example.com'", "\u{2066}Bob\u{202e}by"),
            ("UPDATE orgs SET name = $1", "Ac\u{200b}me\u{2028}\u{202e} Ltd"),
        ] {
            sqlx::query(sql).bind(name).execute(service.db.pool()).await.unwrap();
        }
        let mut tx = service.db.tenant(org.id).await.unwrap();
        let label = sqlx::query("UPDATE connectivity_tokens SET label = $1").bind("week\u{ad}ly\u{e0041} report");
        assert_eq!(label.execute(&mut *tx).await.unwrap().rows_affected(), 1);
        tx.commit().await.unwrap();
        for (page, shown) in [
            ("/", "Welcome, Anna<"),
            ("/account", "value=\"Anna\""),
            ("/w/acme", "<h1>Acme Ltd</h1>"),
            ("/w/acme/members", ">Bobby<"),
            ("/w/acme/settings", "value=\"Acme Ltd\""),
            ("/w/acme/clients", ">weekly report<"),
        ] {
            let text = ann.get(page).await.text().await.unwrap();
            assert!(text.contains(shown), "{page}: {text}");
            let hidden =
                |c: char| matches!(c, '\u{ad}' | '\u{200b}' | '\u{2028}' | '\u{202e}' | '\u{2066}' | '\u{e0041}');
            assert!(!text.contains(hidden), "{page}");
        }
    })
    .await;
}

#[tokio::test]
async fn b12_a_program_that_hides_something_in_its_name_is_known_without_it() {
    let site = Site::start().await;
    for (said, kept) in [
        ("Goo\u{200b}gle\u{202e} \n\u{2066}x\u{7}", "Google x"),
        ("\u{202e}\u{200f}", "Unnamed client"),
        ("Zoe\u{308}s 👩\u{200d}💻", "Zoës 👩\u{200d}💻"),
    ] {
        let body = json!({ "client_name": said, "redirect_uris": ["https://app.example/cb"] });
        let response = site.register(body).await;
        assert_eq!(response.status(), 201);
        assert_eq!(response.json::<Value>().await.unwrap()["client_name"], kept, "{said:?}");
    }
}

#[tokio::test]
async fn an_address_that_is_none_is_not_taken_from_a_provider_either() {
    let house = House::start().await;
    house.open_to("example.com").await;
    let before = house.counts().await;
    for email in ["<script>@example.com", "an\u{200b}n@example.com"] {
        house.provider.claims(json!({ "email": email }));
        assert_eq!(house.come_back(&house.site.browser(), "/").await.status(), 401, "{email}");
    }
    assert_eq!(house.counts().await, before);
}
