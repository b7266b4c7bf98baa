//! The page of sources, through a browser without scripts, and the same from the command line.

use dragoman::base::secret::Secret;
use dragoman::model::access::Role;
use serde_json::json;

use super::{OPEN, PASSWORD, Shop};
use crate::site::{Browser, client, field, location};
use crate::support::service::{PASSWORD as OWN, Service};

async fn send(browser: &Browser, page: &str, what: &str, more: &[(&str, &str)]) -> reqwest::Response {
    let text = browser.get(page).await.text().await.unwrap();
    let csrf = field(text.split_once("<main").unwrap().1, "csrf");
    let mut form = vec![("csrf", csrf.as_str()), ("do", what)];
    form.extend(more);
    browser.post(page, &form).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admin_connects_publishes_and_removes_by_forms_alone() {
    let service = Service::with(&[OPEN]).await;
    let org = service.workspace("acme").await;
    let user = service.identity.create_user("ann@example.com", "Ann", &Secret::new(OWN)).await.unwrap();
    service.identity.set_role(org.id, user.id, Role::Admin).await.unwrap();
    let browser = Browser { base: service.url(""), http: client(true) };
    let browser = browser.signed_in("ann@example.com").await;
    let page = "/w/acme/sources";
    let shop = Shop::open().await;
    let address = shop.address().replace(&format!("{}@", shop.reader), "");
    let typed = [
        ("name", "shop"),
        ("engine", "postgres"),
        ("address", &address),
        ("user", &shop.reader),
        ("password", PASSWORD),
    ];

    // A login that can write: told why, with the statements for another, and with all that was typed but the password.
    shop.admin(&format!("GRANT DELETE ON orders TO {}", shop.reader)).await;
    let refused = send(&browser, page, "add", &typed).await;
    assert_eq!(refused.status(), 422);
    let text = refused.text().await.unwrap();
    for part in ["role=\"alert\"", "can write to the table public.orders", "CREATE ROLE", "GRANT SELECT ON ALL TABLES"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains(&address) && text.contains(&shop.reader) && !text.contains(PASSWORD), "{text}");
    shop.admin(&format!("REVOKE DELETE ON orders FROM {}", shop.reader)).await;
    let mut wrong = typed;
    wrong[4].1 = "wrong";
    let refused = send(&browser, page, "add", &wrong).await;
    assert_eq!(refused.status(), 422);
    assert!(refused.text().await.unwrap().contains("Look at user and password"));

    let made = send(&browser, page, "add", &typed).await;
    let text = browser.once(made).await;
    assert!(text.contains("shop is connected") && text.contains("public.orders"), "{text}");
    assert!(!text.contains("payments") && !text.contains(PASSWORD) && text.contains(">Publish<"), "{text}");
    let main = text.split_once("<main").unwrap().1.to_owned();
    let (source, table) = (field(&main, "source_id"), field(&main, "dataset_id"));
    let sent = send(&browser, page, "publish", &[("dataset_id", &table), ("published", "1")]).await;
    assert_eq!((sent.status().as_u16(), location(&sent).as_str()), (303, page));
    let token = service.token(&org).await;
    let (_, listed) = service.tool(&token, "dragoman_list_datasets", json!({})).await;
    assert_eq!((&listed["count"], &listed["datasets"][0]["id"]), (&json!(1), &json!(table)));
    assert_eq!(send(&browser, page, "publish", &[("dataset_id", &table), ("published", "0")]).await.status(), 303);
    let (_, listed) = service.tool(&token, "dragoman_list_datasets", json!({})).await;
    assert_eq!(listed["count"], 0);

    let tested = browser.once(send(&browser, page, "test", &[("source_id", &source)]).await).await;
    assert!(tested.contains("It works.") && tested.contains("can read 2 tables and nothing else"), "{tested}");
    let again = browser.once(send(&browser, page, "refresh", &[("source_id", &source)]).await).await;
    assert!(again.contains("Tables that are new: 0; up to date: 2; gone: 0."), "{again}");
    assert_eq!(send(&browser, page, "remove", &[("source_id", &source)]).await.status(), 303);
    let empty = browser.get(page).await.text().await.unwrap();
    assert!(!empty.contains("public.orders"), "{empty}");
    service.stop().await;
}
