//! Documents that are kept from a folder of the operator's, whose files come, change and go.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use dragoman::model::access::{Role, Scope};
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use super::sync::{FIRST, Shop, counts, names, syncs};
use crate::support::databases::postgres_url;
use crate::support::service::Service;

async fn again(shop: &Shop) -> Value {
    shop.bring("pages").await;
    shop.ended("pages").await
}

fn handbook() -> Value {
    json!({ "name": "pages", "folder": "handbook" })
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_follow_the_files_of_a_folder() {
    let postgres = postgres_url().await;
    for settings in [&[][..], &[("DATABASE_URL", postgres.as_str())]] {
        follow(settings).await;
    }
}

async fn follow(settings: &[(&str, &str)]) {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("handbook");
    fs::create_dir_all(folder.join("deep")).unwrap();
    let put = |path: &str, text: &str| fs::write(folder.join(path), text).unwrap();
    put("returns.md", "# Returns\n\nGoods may be sent back within thirty days.\n");
    put("deep/lunch.txt", "The canteen opens at noon.\n");
    put("parking.html", "<!doctype html><title>Parking</title><main><p>The garage closes at ten.</p></main>");
    put(".secret.md", "Nobody reads what is hidden.\n");
    fs::write(folder.join("picture.png"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
    fs::write(place.path().join("outside.md"), "Nobody reads what is outside.\n").unwrap();
    symlink(place.path().join("outside.md"), folder.join("link.md")).unwrap();

    let given = format!("acme/handbook={},other/books={}", folder.display(), place.path().display());
    let mut all = vec![("DRAGOMAN_SYNC_FOLDERS", given.as_str())];
    all.extend(settings);
    let shop = Shop::open(Service::with(&all).await, FIRST).await;
    let (status, set) = shop.set(handbook()).await;
    assert_eq!((status, &set["folder"]), (200, &json!("handbook")), "{set}");
    let run = shop.ended("pages").await;
    assert_eq!((run["state"].as_str(), counts(&run)), (Some("done"), [3, 0, 0, 0, 3]), "{run}");
    let message = run["message"].as_str().unwrap();
    for part in ["1 of 4 could not be read", "1 link not followed", "picture.png"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    shop.publish("pages").await;
    let returns = shop.found("goods").await;
    assert_eq!(names(&returns), ["returns.md"]);
    assert_eq!(names(&shop.found("canteen").await), ["deep/lunch.txt"]);
    assert!(shop.found("nobody").await.is_empty());

    // The size and the time say that nothing changed, and they are believed.
    let path = folder.join("deep/lunch.txt");
    let at = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "The canteen opens at nine.\n").unwrap();
    File::open(&path).unwrap().set_modified(at).unwrap();
    let run = again(&shop).await;
    assert_eq!(counts(&run)[..2], [0, 0], "{run}");
    // The text says it, when the time does not.
    File::open(folder.join("returns.md")).unwrap().set_modified(at + Duration::from_secs(5)).unwrap();
    let run = again(&shop).await;
    assert_eq!(counts(&run)[..3], [0, 0, 1], "{run}");

    put("returns.md", "# Returns\n\nGoods may be sent back within sixty days.\n");
    put("new.md", "# Bicycles\n\nThey are kept in the yard.\n");
    fs::write(folder.join("parking.html"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
    fs::remove_file(&path).unwrap();
    let run = again(&shop).await;
    assert_eq!(counts(&run), [1, 1, 0, 1, 3], "{run}");
    assert!(run["message"].as_str().unwrap().contains("2 of 4 could not be read"), "{run}");
    assert_eq!(shop.found("sixty").await, returns, "its id stays");
    assert_eq!(names(&shop.found("garage").await), ["parking.html"], "a bad file keeps its text");
    assert!(shop.found("canteen").await.is_empty());

    let failed = async |part: &str| {
        let run = again(&shop).await;
        assert_eq!(run["state"], "failed", "{run}");
        let message = run["message"].as_str().unwrap();
        assert!(message.contains(part) && !message.contains(&place.path().display().to_string()), "{part}: {run}");
        assert_eq!(names(&shop.found("garage").await), ["parking.html"]);
    };
    fs::rename(&folder, place.path().join("away")).unwrap();
    failed("The folder handbook cannot be read").await;
    fs::create_dir(&folder).unwrap();
    failed("handbook has no files").await;
    shop.service.stop().await;
}

/// A file that never could be read has no document, whatever version of the dataset comes back.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_uploaded_under_the_name_of_a_file_stays_when_the_file_goes() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("parking.md"), "# Parking\n\nThe garage closes at ten.\n").unwrap();
    let unread = place.path().join("old.md");
    fs::write(&unread, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
    let given = format!("acme/handbook={}", place.path().display());
    let shop = Shop::open(Service::with(&[("DRAGOMAN_SYNC_FOLDERS", &given)]).await, FIRST).await;
    assert_eq!(shop.set(handbook()).await.0, 200);
    assert_eq!(counts(&shop.ended("pages").await), [1, 0, 0, 0, 1]);
    shop.publish("pages").await;
    for (file, text) in [("old.md", "# Canteen\n\nIt opens at noon.\n"), ("more.md", "# More\n\nNothing else.\n")] {
        let form = Form::new().text("name", "pages").text("if_exists", "append");
        let form = form.part("file", Part::bytes(text.as_bytes().to_vec()).file_name(file));
        let sent =
            shop.service.http.post(shop.service.url("/api/v1/datasets")).bearer_auth(&shop.admin).multipart(form);
        assert_eq!(sent.send().await.unwrap().status(), 200, "{file}");
    }
    let versions = format!("/datasets/{}/versions", shop.dataset("pages").await);
    let (_, kept) = shop.service.manage(&shop.admin, "GET", &versions, None).await;
    let with_old = kept["versions"].as_array().unwrap().iter().find(|version| version["document_count"] == 2).unwrap();
    let restore = format!("{versions}/{}/restore", with_old["version"].as_str().unwrap());
    assert_eq!(shop.service.manage(&shop.admin, "POST", &restore, Some(json!({}))).await.0, 200);

    fs::remove_file(&unread).unwrap();
    let run = again(&shop).await;
    assert_eq!((run["state"].as_str(), counts(&run)[3]), (Some("done"), 0), "{run}");
    assert_eq!(names(&shop.found("canteen").await), ["old.md"]);
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_one_workspaces_and_others_do_not_learn_of_it() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("a.md"), "# A\n").unwrap();
    let of = |name: &str, path: &Path| format!("{name}={}", path.display());
    let given = format!("{},{}", of("acme/handbook", place.path()), of("other/books", place.path()));
    let shop = Shop::open(Service::with(&[("DRAGOMAN_SYNC_FOLDERS", &given)]).await, FIRST).await;
    let other = shop.service.workspace("third").await;
    let neighbour = shop.service.access_token(&other, Role::Admin, &Scope::ALL).await;
    let viewer = shop.service.access_token(&shop.org, Role::Viewer, &Scope::ALL).await;
    let set = async |who: &str, folder: &str| {
        let sync = json!({ "name": "pages", "folder": folder });
        shop.service.manage(who, "POST", "/document-syncs", Some(sync)).await
    };
    for (who, folder, hint) in [
        (&shop.admin, "handbok", "Did you mean handbook?"),
        (&shop.admin, "books", "These are: handbook."),
        (&shop.admin, "/etc", "These are: handbook."),
        (&shop.admin, "../handbook", "handbook"),
        (&neighbour, "handbook", "None is"),
    ] {
        let (status, refused) = set(who, folder).await;
        assert_eq!((status, &refused["error"]["details"]["field"]), (400, &json!("folder")), "{folder} {refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(hint), "{folder} {refused}");
    }
    assert_eq!(set(&viewer, "handbook").await.0, 403);
    let mut two = handbook();
    two["table"] = json!("posts");
    assert_eq!(shop.set(two).await.0, 400);
    assert_eq!(set(&shop.admin, "handbook").await.0, 200);
    assert_eq!(counts(&shop.ended("pages").await), [1, 0, 0, 0, 1]);
    assert_eq!(syncs(&shop.service, &other).await, json!([]));
    shop.service.stop().await;
}
