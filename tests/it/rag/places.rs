//! The forms on the page of documents that keep them from a place outside.

use std::fs;

use dragoman::model::access::Role;

use super::sites::{Site, page};
use super::sync::{FIRST, Shop, counts};
use crate::console::{person, send, send_from};
use crate::site::Browser;
use crate::support::s3::{KEY, REGION, S3, SECRET};
use crate::support::service::Service;

#[tokio::test(flavor = "multi_thread")]
async fn a_person_begins_it_on_the_page_of_documents() {
    let (site, s3, folder) = (Site::open().await, S3::open().await, tempfile::tempdir().unwrap());
    site.list("/sitemap.xml", &[("/docs/a", ""), ("/shop", "")]);
    site.put("/docs/a", page("A", "The only page below."));
    s3.put("handbook/b.md", "# B\n\nThe only object.\n");
    fs::write(folder.path().join("c.md"), "# C\n\nThe only file.\n").unwrap();
    let private = format!("acme={},acme={}", site.origin, s3.endpoint);
    let given = format!("acme/handbook={}", folder.path().display());
    let settings = [("DRAGOMAN_SYNC_PRIVATE_SITES", private.as_str()), ("DRAGOMAN_SYNC_FOLDERS", given.as_str())];
    let shop = Shop::open(Service::with(&settings).await, FIRST).await;
    s3.goes_by(&shop.service.clock, 0);
    shop.service.import(&shop.org, "notes.md", b"# Notes\n\nThese were uploaded.", true).await.unwrap();
    let at = format!("/w/acme/datasets/{}", shop.dataset("notes").await);
    let (_, ann) = person(&shop.service, "ann@example.com", &[(&shop.org, Role::Contributor)]).await;
    let text = async |browser: &Browser| browser.get(&at).await.text().await.unwrap();
    let shown = text(&ann).await;
    for part in [
        "<summary>From a web site</summary>",
        r#"<option value="handbook">handbook</option>"#,
        "<summary>From a bucket of S3</summary>",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }

    // What is wrong is said at its field; what was typed stays, but for the secret.
    let bucket = |name: &'static str, endpoint: &str| {
        [
            ("bucket.name", name.to_owned()),
            ("bucket.region", REGION.to_owned()),
            ("bucket.endpoint", endpoint.to_owned()),
            ("bucket.access_key_id", KEY.to_owned()),
            ("secret_access_key", SECRET.to_owned()),
            ("every_minutes", "60".to_owned()),
        ]
    };
    let begin = async |does: &str, fields: &[(&str, String)]| {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        send(&ann, &at, does, &fields).await
    };
    let endpoint = s3.endpoint.as_str();
    for (name, server, wrong, said) in [
        ("a", endpoint, "bucket.name", "has 3 to 63 letters"),
        ("docs", "http://10.0.0.1", "bucket.endpoint", "This server cannot be reached from here."),
    ] {
        let refused = begin("keep-bucket", &bucket(name, server)).await;
        assert_eq!(refused.status(), 422);
        let refused = refused.text().await.unwrap();
        let (_, at_field) = refused.split_once(&format!(r#"<p class="wrong" id="keep-bucket-{wrong}-help">"#)).unwrap();
        assert!(at_field.split_once("</p>").unwrap().0.contains(said), "{at_field}");
        let region = format!(r#"value="{REGION}""#);
        for part in [region.as_str(), r#"<option value="60" selected>"#, r#" aria-invalid="true">"#] {
            assert_eq!(refused.matches(part).count(), 1, "{part}: {refused}");
        }
        assert_eq!(refused.matches(r#"<details class="more" open>"#).count(), 1, "{refused}");
        assert!(!refused.contains(SECRET));
    }
    let refused = begin("keep-site", &[("site.sitemap", "x".into())]).await.text().await.unwrap();
    assert!(
        refused.contains(r#"class="wrong" id="keep-site-site.sitemap-help">The sitemap is an address"#),
        "{refused}"
    );

    let sitemap = ("site.sitemap", site.url("/sitemap.xml"));
    let site_form = [sitemap, ("site.paths", "/docs  /help".to_owned())];
    for (does, fields, told, total) in [
        ("keep-site", &site_form[..], "at or below <code><bdi>/docs, /help</bdi></code> is a document here", 2),
        ("keep-folder", &[("folder", "handbook".to_owned())][..], "Each file of the folder <bdi>handbook</bdi>", 3),
        ("keep-bucket", &bucket("docs", endpoint)[..], "Each object of the bucket <bdi>docs</bdi>", 4),
    ] {
        assert_eq!(begin(does, fields).await.status(), 303, "{does}");
        let run = shop.ended("notes").await;
        assert_eq!(counts(&run), [1, 0, 0, 0, total], "{does} {run}");
        let shown = text(&ann).await;
        assert!(shown.contains(told) && !shown.contains("<summary>From a "), "{told}: {shown}");
        assert!(!shown.contains(SECRET));
        assert_eq!(send(&ann, &at, "unfollow", &[("name", "notes")]).await.status(), 303);
    }
    let (_, vic) = person(&shop.service, "vic@example.com", &[(&shop.org, Role::Viewer)]).await;
    assert!(!text(&vic).await.contains("<summary>From a "));
    assert_eq!(vic.get("/w/acme/follow").await.status(), 403);

    // New ones begin on a page of all, under a name.
    let at = "/w/acme/follow";
    let page = async || ann.get(at).await.text().await.unwrap();
    assert!(!page().await.contains("Bring it up now"), "nothing follows anything");
    let named = |name: &'static str| [("name", name), ("folder", "handbook")];
    let refused = send(&ann, at, "keep-folder", &named("Hand book")).await;
    assert_eq!(refused.status(), 422);
    let refused = refused.text().await.unwrap();
    for part in [r#"class="wrong" id="keep-folder-name-help">"#, r#"value="Hand book""#] {
        assert_eq!(refused.matches(part).count(), 1, "{part}: {refused}");
    }
    assert_eq!(send(&ann, at, "keep-folder", &named("handbook")).await.status(), 303);
    assert_eq!(counts(&shop.ended("handbook").await), [1, 0, 0, 0, 1]);
    let own = format!(r#"<a href="/w/acme/datasets/{}">handbook</a>"#, shop.dataset("handbook").await);
    let shown = page().await;
    for part in [own.as_str(), "Each file of the folder <bdi>handbook</bdi>", "The last run brought 1 new"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let last = shop.service.last_audit(&shop.org).await.target;
    assert!(last.starts_with("list_document_syncs"), "no dataset is asked for by itself: {last}");
    fs::write(folder.path().join("d.md"), "# D\n\nOne more.\n").unwrap();
    assert_eq!(send(&ann, at, "sync", &[("name", "handbook")]).await.status(), 303);
    assert_eq!(counts(&shop.ended("handbook").await), [1, 0, 0, 0, 2]);
    assert_eq!(send(&ann, at, "unfollow", &[("name", "handbook")]).await.status(), 303);
    assert!(!page().await.contains("Bring it up now"));
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_else_began_meanwhile_stays() {
    let (handbook, rules) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(handbook.path().join("a.md"), "# A\n\nOne.\n").unwrap();
    fs::write(rules.path().join("b.md"), "# B\n\nAnother.\n").unwrap();
    let given = format!("acme/handbook={},acme/rules={}", handbook.path().display(), rules.path().display());
    let shop = Shop::open(Service::with(&[("DRAGOMAN_SYNC_FOLDERS", given.as_str())]).await, FIRST).await;
    let (_, ann) = person(&shop.service, "ann@example.com", &[(&shop.org, Role::Contributor)]).await;
    let (_, bob) = person(&shop.service, "bob@example.com", &[(&shop.org, Role::Contributor)]).await;
    let at = "/w/acme/follow";
    let old = ann.get(at).await.text().await.unwrap();
    let handbook = [("name", "texts"), ("folder", "handbook"), ("every_minutes", "60")];
    assert_eq!(send(&bob, at, "keep-folder", &handbook).await.status(), 303);
    shop.ended("texts").await;
    let refused = send_from(&old, &ann, at, "keep-folder", &[("name", "texts"), ("folder", "rules")]).await;
    assert_eq!(refused.status(), 422);
    let refused = refused.text().await.unwrap();
    for part in ["texts follows the folder handbook already.", "Each file of the folder <bdi>handbook</bdi>"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    // Who sees that it follows the folder may say how often.
    assert_eq!(send(&ann, at, "keep-folder", &[("name", "texts"), ("folder", "handbook")]).await.status(), 303);
    assert_eq!(shop.ended("texts").await["state"], "done");
    assert!(ann.get(at).await.text().await.unwrap().contains("Each file of the folder <bdi>handbook</bdi>"));
    shop.service.stop().await;
}
