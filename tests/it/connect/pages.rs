//! The pages of the hub, through a browser without scripts.

use dragoman::model::access::Role;
use dragoman::ops::connectivity::guides::GUIDES;

use crate::console::{person, send, token};
use crate::support::service::Service;

#[tokio::test(flavor = "multi_thread")]
async fn the_hub_shows_every_client_to_everybody() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    service.import(&org, "flights.csv", super::FLIGHTS, true).await.unwrap();
    let (_, admin) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    let (_, viewer) = person(&service, "vic@example.com", &[(&org, Role::Viewer)]).await;
    let overview = viewer.get("/w/acme").await.text().await.unwrap();
    assert!(overview.contains("href=\"/w/acme/connect\""), "{overview}");
    for (browser, is_admin) in [(&admin, true), (&viewer, false)] {
        let list = browser.get("/w/acme/connect").await.text().await.unwrap();
        assert_eq!(list.contains("In the last 24 hours"), is_admin);
        for guide in GUIDES {
            let path = format!("/w/acme/connect/{}", guide.id);
            assert!(list.contains(&format!("href=\"{path}\"")), "{path}");
            let page = browser.get(&path).await;
            assert_eq!(page.status(), 200, "{path}");
            let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
            assert!(policy.contains("connect-src 'self'") && policy.contains("script-src 'self'"), "{policy}");
            let page = page.text().await.unwrap();
            for part in ["How far it has come", "If something goes wrong", "aria-live=\"polite\""] {
                assert!(page.contains(part), "{path}: {part}");
            }
            assert_eq!(page.contains("Run the test"), is_admin, "{path}");
            assert!(!page.contains("style=") && !page.contains("<script>"), "{path}: the policy would refuse it");
        }
    }
    let list = viewer.get("/w/acme/connect").await.text().await.unwrap();
    for address in [service.url("/t/acme/mcp"), service.url("/mcp")] {
        assert!(list.contains(&format!("<code>{address}</code>")), "{address}: {list}");
    }

    // Nothing here is for strangers, and there is no guide of another name.
    for path in ["/w/acme/connect/netscape", "/w/acme/connect/netscape/seen", "/w/other/connect"] {
        assert_eq!(admin.get(path).await.status(), 404, "{path}");
    }
    let prompt = viewer.get("/w/acme/connect/prompt").await.text().await.unwrap();
    assert!(prompt.contains("The prompt of this workspace") && prompt.contains("flights"), "{prompt}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admin_turns_clients_on_makes_a_token_and_tests_on_the_page_itself() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    service.identity.set_connectivity(org.id, false).await.unwrap();
    service.import(&org, "flights.csv", super::FLIGHTS, true).await.unwrap();
    let (_, browser) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    let page = "/w/acme/connect/inspector";
    assert!(browser.get(page).await.text().await.unwrap().contains("AI clients are off"));
    let tested = browser.once(send(&browser, page, "test", &[]).await).await;
    assert!(tested.contains("The switch for AI clients") && tested.contains("AI clients are off."), "{tested}");
    assert_eq!(send(&browser, page, "enable", &[]).await.status(), 303);
    assert!(service.identity.org(org.id).await.unwrap().unwrap().connectivity_enabled);

    let made = browser.once(send(&browser, page, "token", &[]).await).await;
    let (_, secret) = made.split_once("data-copy=\"the token\"><code>").unwrap();
    let secret = secret.split('<').next().unwrap().to_owned();
    let id = secret.split('_').nth(1).unwrap();
    assert_eq!(service.get("/api/v1/ext/datasets", &secret).send().await.unwrap().status(), 200);
    assert_eq!(made.matches(&secret).count(), 1, "it is shown once, and stands in no configuration");
    assert!(made.contains(&format!("dgmcp_{id}_YOUR_SECRET")) && made.contains(&format!("seen?token={id}")), "{made}");
    let again = browser.get(page).await.text().await.unwrap();
    assert!(!again.contains(&secret));

    let tested = browser.once(send(&browser, page, "test", &[("token_id", id)]).await).await;
    assert!(tested.contains("Everything that could be tried works"), "{tested}");
    let odd = send(&browser, page, "nonsense", &[]).await;
    assert_eq!(odd.status(), 422);
    // The switch on the list of clients, and a form that is not ours.
    service.identity.set_connectivity(org.id, false).await.unwrap();
    assert_eq!(send(&browser, "/w/acme/connect", "", &[]).await.status(), 303);
    assert!(service.identity.org(org.id).await.unwrap().unwrap().connectivity_enabled);
    assert_eq!(browser.post("/w/acme/connect", &[("csrf", "00")]).await.status(), 403);
    // A viewer makes no token and tests nothing.
    let (_, viewer) = person(&service, "vic@example.com", &[(&org, Role::Viewer)]).await;
    let csrf = token(&viewer.get(page).await.text().await.unwrap());
    assert!(csrf.is_empty(), "there is no form for a viewer");
    service.stop().await;
}
