//! Documents that are kept from a bucket, whose objects come, change and go.

use dragoman::model::access::{Role, Scope};
use serde_json::{Value, json};

use super::sync::{FIRST, Shop, counts, names};
use crate::support::databases::postgres_url;
use crate::support::dump::dump;
use crate::support::s3::{KEY, Object, REGION, S3, SECRET};
use crate::support::service::Service;

async fn again(shop: &Shop) -> Value {
    shop.bring("pages").await;
    shop.ended("pages").await
}

fn sync(s3: &S3) -> Value {
    let bucket = json!({ "name": "docs", "region": REGION, "prefix": "handbook/", "endpoint": s3.endpoint, "access_key_id": KEY });
    json!({ "name": "pages", "bucket": bucket, "secret_access_key": SECRET })
}

/// A workspace that may keep documents from it.
async fn shop(s3: &S3, settings: &[(&str, &str)]) -> Shop {
    let private = format!("acme={}", s3.endpoint);
    let mut all = vec![("DRAGOMAN_SYNC_PRIVATE_SITES", private.as_str())];
    all.extend(settings);
    let shop = Shop::open(Service::with(&all).await, FIRST).await;
    s3.goes_by(&shop.service.clock, 0);
    shop
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_follow_the_objects_of_a_bucket() {
    let postgres = postgres_url().await;
    for settings in [&[][..], &[("DATABASE_URL", postgres.as_str())]] {
        follow(settings).await;
    }
}

async fn follow(settings: &[(&str, &str)]) {
    let s3 = S3::open().await;
    s3.put("handbook/returns.md", "# Returns\n\nGoods may be sent back within thirty days.\n");
    // What is written otherwise in an address, and otherwise signed.
    let lunch = "handbook/für alle/lunch & co. +1 (new)=50%~*'!.txt";
    s3.put(lunch, "The canteen opens at noon.\n");
    s3.put(
        "handbook/parking.html",
        "<!doctype html><title>Parking</title><main><p>The garage closes at ten.</p></main>",
    );
    s3.put("handbook/picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    for unread in ["handbook/", "handbook/two\nlines.md", "handbook/.secret.md", "handbook/../up.md", "elsewhere/a.md"]
    {
        s3.put(unread, "Nobody reads what is hidden.\n");
    }
    let archived = Object { body: b"# Old\n".to_vec(), class: "GLACIER" };
    s3.objects.lock().unwrap().insert("handbook/old.md".into(), archived);

    let shop = shop(&s3, settings).await;
    let (status, set) = shop.set(sync(&s3)).await;
    assert_eq!(
        (status, &set["bucket"]["name"], &set["bucket"]["access_key_id"]),
        (200, &json!("docs"), &json!(KEY)),
        "{set}"
    );
    let run = shop.ended("pages").await;
    assert_eq!((run["state"].as_str(), counts(&run)), (Some("done"), [3, 0, 0, 0, 3]), "{run}");
    let message = run["message"].as_str().unwrap();
    let unread = "1 object without a usable key left out";
    for part in ["2 of 5 could not be read", "picture.png", "old.md: it is archived (GLACIER)", unread] {
        assert!(message.contains(part), "{part}: {message}");
    }
    shop.publish("pages").await;
    let returns = shop.found("goods").await;
    assert_eq!(names(&returns), ["handbook/returns.md"]);
    assert_eq!(names(&shop.found("canteen").await), [lunch]);
    assert!(shop.found("nobody").await.is_empty());
    let mut asked = s3.asked();
    asked.sort();
    let read = ["handbook/für alle/lunch & co. +1 (new)=50%~*'!.txt", "handbook/parking.html", "handbook/picture.png"];
    let lists = ["?handbook/"; 5];
    assert_eq!(asked, [&lists[..], &read[..], &["handbook/returns.md"]].concat());

    // What has the tag of before is not read again.
    let run = again(&shop).await;
    assert_eq!(counts(&run)[..2], [0, 0], "{run}");
    assert_eq!(s3.asked(), [&lists[..], &["handbook/picture.png"]].concat());

    s3.put("handbook/returns.md", "# Returns\n\nGoods may be sent back within sixty days.\n");
    s3.put("handbook/new.md", "# Bicycles\n\nThey are kept in the yard.\n");
    s3.objects.lock().unwrap().remove(lunch);
    let run = again(&shop).await;
    assert_eq!(counts(&run), [1, 1, 0, 1, 3], "{run}");
    assert_eq!(shop.found("sixty").await, returns, "its id stays");
    assert!(shop.found("canteen").await.is_empty());

    // An empty bucket takes nothing with it, nor does one that may not be read any more.
    s3.put("handbook/returns.md", "# Returns\n\nGoods are never taken back.\n");
    s3.denied.lock().unwrap().push("read");
    let run = again(&shop).await;
    assert_eq!((run["state"].as_str(), counts(&run)[3]), (Some("done"), 0), "{run}");
    assert!(
        run["message"].as_str().unwrap().contains("returns.md: it may not be read, which takes s3:GetObject"),
        "{run}"
    );
    s3.objects.lock().unwrap().retain(|key, _| !key.starts_with("handbook/"));
    let run = again(&shop).await;
    assert_eq!(run["state"], "failed", "{run}");
    assert!(run["message"].as_str().unwrap().contains("docs has no objects whose keys begin with handbook/"), "{run}");
    assert_eq!(shop.found("sixty").await, returns);

    // The secret is nowhere: neither in answers nor in the database, where it is sealed.
    let (_, listed) = shop.service.manage(&shop.admin, "GET", "/document-syncs", None).await;
    let mut tx = shop.service.db.tenant(shop.org.id).await.unwrap();
    let row = "SELECT mapping || ' ' || sealed_secret FROM document_syncs";
    let row: String = sqlx::query_scalar(row).fetch_one(&mut *tx).await.unwrap();
    drop(tx);
    let kept = format!("{row} {}", dump(shop.service.db.pool()).await);
    assert!(kept.contains(KEY), "the access key is there");
    for (place, text) in [("answers", format!("{set}{listed}")), ("the database", kept)] {
        assert!(!text.contains(SECRET) && !text.contains("secret_access_key") && !text.contains("X-Amz"), "{place}");
    }
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_refuses_is_told_with_what_to_do() {
    let s3 = S3::open().await;
    s3.put("handbook/a.md", "# A\n\nThe only one.\n");
    let shop = shop(&s3, &[]).await;
    let with = |change: fn(&mut Value)| {
        let mut sync = sync(&s3);
        change(&mut sync);
        sync
    };
    let failed = async |sync: Value, sentence: &str| {
        assert_eq!(shop.set(sync).await.0, 200, "{sentence}");
        let run = shop.ended("pages").await;
        assert_eq!((run["state"].as_str(), run["message"].as_str()), (Some("failed"), Some(sentence)));
    };
    let wrong = "The secret is not that of the access key AKIAIOSFODNN7EXAMPLE. Set the sync anew with the right \
                 secret_access_key.";
    failed(with(|sync| sync["secret_access_key"] = json!("wJalrXUtnFEMI/K7MDENG/bPxRfiCYOTHER")), wrong).await;
    let unknown =
        "127.0.0.1 does not know the access key AKIAOTHER. Look whether it is spelled right and still active.";
    failed(with(|sync| sync["bucket"]["access_key_id"] = json!("AKIAOTHER")), unknown).await;
    let none = "There is no bucket dogs at 127.0.0.1. Look at its name, its region and its endpoint.";
    failed(with(|sync| sync["bucket"]["name"] = json!("dogs")), none).await;
    let elsewhere = "The bucket docs is in the region eu-central-1, not in us-west-2. Set its region to eu-central-1.";
    failed(with(|sync| sync["bucket"]["region"] = json!("us-west-2")), elsewhere).await;
    let closed = "The bucket docs is not open to everybody. Give an access key that may list and read it.";
    let anonymous = |sync: &mut Value| {
        sync["bucket"].as_object_mut().unwrap().remove("access_key_id");
        sync.as_object_mut().unwrap().remove("secret_access_key");
    };
    failed(with(anonymous), closed).await;
    s3.goes_by(&shop.service.clock, 20 * 60_000 + 30_000);
    let late = "127.0.0.1 refuses: its clock and the one of this service are 20 minutes apart. Whoever runs the service sets its \
                clock right.";
    failed(sync(&s3), late).await;
    s3.goes_by(&shop.service.clock, 0);
    s3.denied.lock().unwrap().push("list");
    let denied = "The access key AKIAIOSFODNN7EXAMPLE may not list the bucket docs. Allow it s3:ListBucket on the bucket, and \
                  s3:GetObject on its objects.";
    failed(sync(&s3), denied).await;

    s3.denied.lock().unwrap().clear();
    *s3.is_open.lock().unwrap() = true;
    for sync in [with(anonymous), sync(&s3)] {
        assert_eq!(shop.set(sync).await.0, 200);
        let run = shop.ended("pages").await;
        assert_eq!((run["state"].as_str(), run["changes"]["total"].as_u64()), (Some("done"), Some(1)), "{run}");
        s3.put("handbook/a.md", "# A\n\nThe only one, changed.\n");
    }
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_server_takes_nothing_with_it() {
    let s3 = S3::open().await;
    for number in 0..12 {
        s3.put(&format!("handbook/{number:02}.md"), format!("# Rule {number}\n\nThe rule of the house.\n"));
    }
    let shop = shop(&s3, &[]).await;
    assert_eq!(shop.set(sync(&s3)).await.0, 200);
    assert_eq!(counts(&shop.ended("pages").await), [12, 0, 0, 0, 12]);
    s3.asked();

    // Half of a list is none: what the other half names is not gone.
    s3.busy.lock().unwrap().push("next");
    let run = again(&shop).await;
    let message = "127.0.0.1 does not list the bucket docs: status 503, SlowDown.";
    assert_eq!((run["state"].as_str(), run["message"].as_str()), (Some("failed"), Some(message)), "{run}");
    assert_eq!(s3.asked(), ["?handbook/"; 2], "no object was read");

    // One that answers for none of them is left alone.
    *s3.busy.lock().unwrap() = vec!["read"];
    for number in 0..12 {
        s3.put(&format!("handbook/{number:02}.md"), format!("# Rule {number}\n\nIt has changed.\n"));
    }
    let run = again(&shop).await;
    let silent = "127.0.0.1 did not answer for 10 of them one after the other: status 503.";
    assert_eq!((run["state"].as_str(), run["message"].as_str()), (Some("failed"), Some(silent)), "{run}");
    assert_eq!(s3.asked().iter().filter(|key| !key.starts_with('?')).count(), 10);
    s3.busy.lock().unwrap().clear();
    let run = again(&shop).await;
    assert_eq!(counts(&run), [0, 12, 0, 0, 12], "all of them were still there: {run}");
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_buckets_that_can_be_are_kept() {
    let s3 = S3::open().await;
    let shop = shop(&s3, &[]).await;
    for (at, value, field) in [
        ("/bucket/endpoint", json!("http://127.0.0.1:1"), "bucket.endpoint"),
        ("/bucket/endpoint", json!("https://169.254.169.254"), "bucket.endpoint"),
        ("/bucket/endpoint", json!("https://ann:x@example.com"), "bucket.endpoint"),
        ("/bucket/endpoint", json!("minio"), "bucket.endpoint"),
        ("/bucket/endpoint", json!(null), "bucket.region"),
        ("/bucket/region", json!("eu central"), "bucket.region"),
        ("/bucket/name", json!("a/b"), "bucket.name"),
        ("/bucket/name", json!("a"), "bucket.name"),
        ("/bucket/prefix", json!("a".repeat(1_025)), "bucket.prefix"),
        ("/bucket/access_key_id", json!("a/b"), "bucket.access_key_id"),
        ("/bucket/access_key_id", json!(null), "bucket.access_key_id"),
        ("/secret_access_key", json!(null), "secret_access_key"),
        ("/folder", json!("handbook"), "table"),
        ("/title", json!("x"), "table"),
    ] {
        let mut sync = sync(&s3);
        match sync.pointer_mut(at) {
            Some(there) => *there = value,
            None => sync[&at[1..]] = value,
        }
        if field == "bucket.region" && at == "/bucket/endpoint" {
            sync["bucket"].as_object_mut().unwrap().remove("region");
        }
        let (status, refused) = shop.set(sync).await;
        assert_eq!((status, &refused["error"]["details"]["field"]), (400, &json!(field)), "{at} {refused}");
        assert!(!refused.to_string().contains(SECRET), "{refused}");
    }
    let neighbour = shop.service.access_token(&shop.service.workspace("third").await, Role::Admin, &Scope::ALL).await;
    let (status, refused) = shop.service.manage(&neighbour, "POST", "/document-syncs", Some(sync(&s3))).await;
    assert_eq!((status, &refused["error"]["details"]["field"]), (400, &json!("bucket.endpoint")), "{refused}");
    assert!(s3.asked().is_empty(), "nothing was sent");
    shop.service.stop().await;
}
