//! Data in the browser: files come in, are described, published, looked through, asked and taken away.

use dragoman::gateway::Via;
use dragoman::model::access::{Role, Scope};
use dragoman::ops::ontology_texts::{CheckOntology, CreateOntology};
use dragoman::store;
use reqwest::multipart::{Form, Part};
use reqwest::{Method, Response, header};
use serde_json::{Value, json};

use crate::console::{person, send, send_from, token};
use crate::site::{Browser, field, location};
use crate::support::service::{PASSWORD, Service, as_json, json_of, operator};

const SALES: &str = "town,day,amount\nOslo,2024-01-01,12.50\nBergen,2024-01-02,7.00\nOslo,2024-01-03,\n";

fn file(name: &str, content: &str) -> Part {
    Part::bytes(content.as_bytes().to_vec()).file_name(name.to_owned())
}

/// Sends files as the form of the overview does.
async fn bring(browser: &Browser, fields: &[(&str, &str)], files: Vec<Part>) -> Response {
    let page = browser.get("/w/acme").await.text().await.unwrap();
    let (_, upload) = page.split_once("action=\"/w/acme/import\"").unwrap();
    let form = Form::new().text("csrf", field(upload, "csrf"));
    let form = fields.iter().fold(form, |form, (name, value)| form.text((*name).to_owned(), (*value).to_owned()));
    multipart(browser, files.into_iter().fold(form, |form, file| form.part("file", file))).await
}

async fn multipart(browser: &Browser, form: Form) -> Response {
    let request = browser.http.post(format!("{}/w/acme/import", browser.base)).multipart(form);
    request.header("origin", &browser.base).header("sec-fetch-site", "same-origin").send().await.unwrap()
}

/// The token of the script of the overview.
pub async fn script_token(browser: &Browser) -> String {
    let page = text(browser, "/w/acme").await;
    let (_, csrf) = page.split_once("data-check-csrf value=\"").unwrap();
    csrf.split('"').next().unwrap().to_owned()
}

/// Sends a file as the script does; gives the id of its upload.
pub async fn upload(browser: &Browser, name: &str, content: &[u8]) -> String {
    use base64::Engine as _;
    let csrf = script_token(browser).await;
    let ask = |method: Method, path: &str| {
        let request = browser.http.request(method, format!("{}{path}", browser.base)).header("origin", &browser.base);
        request.header("sec-fetch-site", "same-origin").header("tus-resumable", "1.0.0").header("x-csrf-token", &csrf)
    };
    let name = base64::engine::general_purpose::STANDARD.encode(name);
    let begin = ask(Method::POST, "/w/acme/uploads").header("upload-length", content.len());
    let begun = begin.header("upload-metadata", format!("filename {name}")).send().await.unwrap();
    assert_eq!(begun.status(), 201, "{}", begun.text().await.unwrap());
    let at = location(&begun);
    let whole = ask(Method::PATCH, &at).header("upload-offset", 0).body(content.to_vec());
    let sent = whole.header("content-type", "application/offset+octet-stream").send().await.unwrap();
    assert_eq!(sent.status(), 204, "{}", sent.text().await.unwrap());
    at.rsplit('/').next().unwrap().to_owned()
}

pub async fn text(browser: &Browser, path: &str) -> String {
    let response = browser.get(path).await;
    assert_eq!(response.status(), 200, "{path}");
    response.text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_write_of_data_is_what_models_read() {
    Service::both(async |service| {
        let org = service.workspace("acme").await;
        let made = service.import(&org, "sales.csv", SALES.as_bytes(), true).await.unwrap();
        let id = made["dataset_id"].as_str().unwrap();
        let writer = service.access_token(&org, Role::Contributor, &[Scope::DatasetsWrite]).await;
        let path = format!("/api/v1/datasets/{id}/description");
        let patch = async |body: Value| {
            json_of(service.http.patch(service.url(&path)).bearer_auth(&writer).json(&body).send().await.unwrap()).await
        };
        let columns = json!({ "amount": "Euros, without tax", "TOWN": "Where it was sold" });
        let (status, body) =
            patch(json!({ "title": "Sales of 2024", "description": "One row is one sale.", "columns": columns })).await;
        assert_eq!((status, &body["name"], &body["title"]), (200, &json!("sales"), &json!("Sales of 2024")), "{body}");
        assert_eq!(body["columns"], json!({ "amount": "Euros, without tax", "town": "Where it was sold" }));

        let reader = service.token(&org).await;
        let list = async || service.tool(&reader, "dragoman_list_datasets", json!({})).await.1["datasets"][0].clone();
        let schema = async || service.tool(&reader, "dragoman_get_schema", json!({ "dataset_id": "sales" })).await.1;
        let description = |schema: &Value, name: &str| {
            let columns = schema["columns"].as_array().unwrap();
            columns.iter().find(|column| column["name"] == name).unwrap()["description"].clone()
        };
        let listed = list().await;
        assert_eq!(
            (&listed["title"], &listed["description"]),
            (&json!("Sales of 2024"), &json!("One row is one sale."))
        );
        let read = schema().await;
        assert_eq!((&read["title"], &read["published"]), (&json!("Sales of 2024"), &Value::Null), "{read}");
        assert_eq!(description(&read, "amount"), "Euros, without tax");
        let (_, resources) = json_of(service.rpc(&reader, "resources/list", json!({})).send().await.unwrap()).await;
        assert!(resources.to_string().contains("Sales of 2024"), "{resources}");

        // New rows are the same data: a column that comes back has its words again.
        service.import(&org, "sales.csv", b"town,day\nOslo,2024-01-01\n", true).await.unwrap();
        assert_eq!(description(&schema().await, "town"), "Where it was sold");
        service.import(&org, "sales.csv", SALES.as_bytes(), true).await.unwrap();
        assert_eq!(description(&schema().await, "amount"), "Euros, without tax");
        assert_eq!(list().await["description"], "One row is one sale.");

        let (_, body) = patch(json!({ "title": "", "columns": { "amount": "" } })).await;
        assert_eq!((&body["title"], &body["columns"]), (&json!(""), &json!({ "town": "Where it was sold" })));
        assert_eq!(list().await["title"], Value::Null);
        for (body, part) in [
            (json!({ "columns": { "amont": "x" } }), "Did you mean amount?"),
            (json!({ "title": "x".repeat(121) }), "title has at most 120"),
            (json!({ "columns": { "town": "x".repeat(501) } }), "columns.town has at most 500"),
            (json!({}), "Name what to change"),
        ] {
            let (status, refused) = patch(body).await;
            assert_eq!((status, &refused["error"]["code"]), (400, &json!("invalid_argument")), "{refused}");
            assert!(refused["error"]["message"].as_str().unwrap().contains(part), "{refused}");
        }
        assert_eq!(description(&schema().await, "town"), "Where it was sold", "a refusal changes nothing");
        service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_come_in_through_a_form_and_nothing_is_replaced_unasked() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let empty = text(&ann, "/w/acme").await;
    assert!(empty.contains("From data to the first answer") && empty.contains("There is no data yet"), "{empty}");

    let one = bring(&ann, &[("if_exists", "refuse")], vec![file("sales.csv", SALES)]).await;
    assert_eq!(one.status(), 303, "{}", one.text().await.unwrap());
    let page = location(&one);
    let shown = text(&ann, &page).await;
    for part in ["Bergen", "DOUBLE", "not published", "3 rows, 3 columns", "Publish it to AI clients"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }

    let fewer = "town,n\nVoss,1\n";
    let taken = bring(&ann, &[("if_exists", "refuse")], vec![file("sales.csv", fewer)]).await;
    assert_eq!(taken.status(), 422);
    let taken = taken.text().await.unwrap();
    assert!(taken.contains("There is a dataset sales already") && taken.contains("“Add to what it has”"), "{taken}");
    assert!(text(&ann, &page).await.contains("Bergen"), "it stays");
    let replaced = bring(&ann, &[("if_exists", "replace")], vec![file("sales.csv", fewer)]).await;
    assert_eq!((replaced.status().as_u16(), location(&replaced)), (303, page.clone()));
    let now = text(&ann, &page).await;
    assert!(now.contains("Voss") && !now.contains("Bergen"), "{now}");

    // Rows are added in the columns that are there; what would not fit is refused, and says why.
    let more = bring(&ann, &[("if_exists", "append")], vec![file("sales.csv", "N,TOWN\n2,Bodø\n")]).await;
    assert_eq!(more.status(), 303, "{}", more.text().await.unwrap());
    let both = text(&ann, &page).await;
    assert!(both.find("Voss").unwrap() < both.find("Bodø").unwrap() && both.contains("2 rows, 2 columns"), "{both}");
    let other = bring(&ann, &[("if_exists", "append")], vec![file("sales.csv", "town,price\nBodø,1\n")]).await;
    assert!(other.text().await.unwrap().contains("the table has no column price. It has: town, n."));
    let typed = bring(&ann, &[("name", "n")], vec![file("n.csv", "a,b,c\n1,x,1\n")]).await;
    assert_eq!(typed.status(), 303);
    let wrong = [("name", "n"), ("if_exists", "append")];
    let refused = bring(&ann, &wrong, vec![file("n.csv", "b,a,c\ny,word,2\n")]).await.text().await.unwrap();
    assert!(refused.contains("line 2, column a: &#34;word&#34; is no BIGINT"), "{refused}");
    let told = bring(&ann, &[("name", "few")], vec![file("few.csv", "a,b\n1,x\n-,y\n2,z\n")]).await;
    assert!(ann.once(told).await.contains("a: 2 of 3 values are whole numbers; 1 is not"));
    let turned = bring(&ann, &wrong, vec![file("n.csv", "b,a,c\ny,2,3\n")]).await;
    assert!(text(&ann, &location(&turned)).await.contains("2 rows, 3 columns"));

    // Each table is a dataset, texts are one, and what is wrong with a file says where.
    let broken = "{\"a\":1}\n{\"a\":2}\n{\"a\":x}\n";
    let files =
        vec![file("t.csv", "a\n1\n"), file("d.md", "# One"), file("broken.jsonl", broken), file("m.txt", "Two")];
    let several = bring(&ann, &[("if_exists", "refuse")], files).await;
    assert_eq!(several.status(), 422);
    let several = several.text().await.unwrap();
    for part in ["Some files are here", "broken.jsonl", "line 3", ">t</a>", ">d</a>"] {
        assert!(several.contains(part), "{part}: {several}");
    }
    let two = bring(&ann, &[("name", "both")], vec![file("x.csv", "a\n1\n"), file("y.csv", "a\n1\n")]).await;
    assert!(two.text().await.unwrap().contains("these files make several"));
    let none = bring(&ann, &[], vec![file("", "")]).await;
    assert!(none.text().await.unwrap().contains("Choose at least one file"));

    let script = Form::new().text("csrf", token(&text(&ann, "/w/acme").await)).part("file", file("j.csv", "a\n1\n"));
    let request = ann.http.post(format!("{}/w/acme/import", ann.base)).multipart(script).header("origin", &ann.base);
    let (status, body) = json_of(request.header(header::ACCEPT, "application/json").send().await.unwrap()).await;
    assert_eq!((status, &body["datasets"][0]["name"], &body["problems"]), (200, &json!("j"), &json!([])), "{body}");

    // The script says what the service says, also of an upload that is over.
    let csrf = script_token(&ann).await;
    let look = [("csrf", csrf.as_str()), ("do", "check"), ("uploads", "01936f2e-7c1a-7000-8000-000000000001")];
    let look = ann.http.post(format!("{}/w/acme/check", ann.base)).form(&look).header("origin", &ann.base);
    let (_, body) = json_of(look.header(header::ACCEPT, "application/json").send().await.unwrap()).await;
    assert!(body["problems"][0]["message"].as_str().unwrap().contains("Send the file again"), "{body}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_found_in_files_is_told_as_it_would_become() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let check = async |name: &str, content: &[u8], more: &str| {
        let id = upload(&ann, name, content).await;
        let shown = ann.get(&format!("/w/acme/check?uploads={id}{more}")).await;
        (shown.status().as_u16(), shown.text().await.unwrap())
    };

    // Each sheet of a workbook is a dataset, and nothing of it can be corrected.
    let workbook = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/documents/harbour.xlsx")).unwrap();
    let (status, found) = check("harbour.xlsx", &workbook, "").await;
    assert_eq!(status, 200, "{found}");
    assert!(found.contains("2 sheets, each a dataset: harbour_berths, harbour_ships_2024."), "{found}");
    assert!(found.contains("Import it") && !found.contains("Type of "), "{found}");

    // A broken row is told once, and of a file that can only be mended elsewhere nothing is asked.
    let rows = "1,2,3\n".repeat(40);
    let (status, broken) = check("broken.csv", format!("a,b,c\n{rows}7,8\n7,8,9,10,11\n{rows}").as_bytes(), "").await;
    assert_eq!((status, broken.matches(">line 43<").count()), (422, 1), "{broken}");
    for part in ["What is wrong with", ": it has fewer columns than the header. More lines that do not fit: 1."] {
        assert!(broken.contains(part), "{part}: {broken}");
    }
    assert!(broken.contains("<td>it has more columns than the header</td>"), "{broken}");
    assert!(broken.contains("Throw the upload away") && !broken.contains("Import it"), "{broken}");
    let (status, picture) = check("photo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "").await;
    assert!(status == 422 && !picture.contains("Import it"), "{picture}");

    // Rows that are added are those of the file, and those of a published table are published.
    service.import(&org, "sales.csv", SALES.as_bytes(), true).await.unwrap();
    let row = b"town,day,amount\nVoss,2024-02-01,1\n";
    let (_, added) = check("sales.csv", row, "&if_exists=append").await;
    assert!(added.contains("1 row, 3 columns.") && added.contains("Import it"), "{added}");
    let (status, unfit) = check("sales.csv", b"town,price\nVoss,1\n", "&if_exists=append").await;
    assert!(status == 422 && unfit.contains("Import it"), "it can be imported otherwise: {unfit}");
    let (id, csrf) = (upload(&ann, "sales.csv", row).await, script_token(&ann).await);
    let form = [("csrf", csrf.as_str()), ("do", "import"), ("uploads", id.as_str()), ("if_exists", "append")];
    let request = ann.http.post(format!("{}/w/acme/check", ann.base)).form(&form).header("origin", &ann.base);
    let (status, body) = json_of(request.header(header::ACCEPT, "application/json").send().await.unwrap()).await;
    let made = &body["datasets"][0];
    assert_eq!((status, &made["rows"], &made["published"]), (200, &json!(4), &json!(true)), "{body}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn datasets_on_other_pages_are_not_taken_for_published() {
    let service = Service::with(&[("DRAGOMAN_REPLY_BYTES", "8000")]).await;
    let org = service.workspace("acme").await;
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let writer = service.access_token(&org, Role::Contributor, &[Scope::DatasetsWrite]).await;
    for name in ["a.csv", "b.csv", "c.csv"] {
        let form = Form::new().text("description", "x".repeat(2_000)).part("file", file(name, "n\n1\n"));
        let sent = service.post("/api/v1/datasets", &writer).multipart(form).send().await.unwrap();
        assert_eq!(sent.status(), 200, "{}", sent.text().await.unwrap());
    }
    let done = "<strong>Publish them</strong> <span class=\"tag good\">done</span>";
    let page = text(&ann, "/w/acme").await;
    assert!(page.contains("More datasets") && !page.contains(done), "{page}");
    service.import(&org, "z.csv", b"n\n1\n", true).await.unwrap();
    assert!(text(&ann, "/w/acme").await.contains(done), "one on another page is");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_others_and_forged_forms_are_not_taken() {
    let service = Service::with(&[("DRAGOMAN_UPLOAD_BYTES", "1000")]).await;
    let org = service.workspace("acme").await;
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    let (_, vic) = person(&service, "vic@example.com", &[(&org, Role::Viewer)]).await;
    let (_, eve) = person(&service, "eve@example.com", &[]).await;
    let data = || file("t.csv", "a\n1\n");
    for form in [
        Form::new().part("file", data()),
        Form::new().text("csrf", "00").part("file", data()),
        // The token has to come before the first file.
        Form::new().part("file", data()).text("csrf", token(&text(&ann, "/w/acme").await)),
    ] {
        assert_eq!(multipart(&ann, form).await.status(), 403);
    }
    let own = text(&vic, "/w/acme").await;
    assert!(!own.contains("enctype") && !own.contains("<script"), "a viewer brings nothing: {own}");
    let form = Form::new().text("csrf", field(&own, "csrf")).part("file", data());
    assert_eq!(multipart(&vic, form).await.status(), 403);
    assert_eq!(multipart(&eve, Form::new().part("file", data())).await.status(), 404);
    let large = bring(&ann, &[], vec![file("large.csv", &"a\n".repeat(5_000))]).await;
    assert_eq!(large.status(), 413);
    assert!(text(&ann, "/w/acme").await.contains("There is no data yet"), "nothing of it was kept");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b11_pages_load_the_scripts_that_they_work_with_and_send_to_us_alone() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let made = service.import(&org, "sales.csv", SALES.as_bytes(), false).await.unwrap();
    let dataset = format!("/w/acme/datasets/{}", made["dataset_id"].as_str().unwrap());
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    let pages: [(String, &[&str], bool); 7] = [
        ("/w/acme".into(), &["upload"], true),
        (dataset.clone(), &["upload"], true),
        (format!("{dataset}/rows"), &[], false),
        (format!("{dataset}/profile"), &[], false),
        ("/w/acme/ask".into(), &["editor", "ask"], false),
        ("/w/acme/ask?mode=question".into(), &["editor"], false),
        ("/w/acme/ask/history".into(), &[], false),
    ];
    for (path, scripts, connects) in pages {
        let response = ann.get(&path).await;
        assert_eq!(response.status(), 200, "{path}");
        let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(policy.contains("script-src 'self';"), !scripts.is_empty(), "{path}: {policy}");
        assert_eq!(policy.contains("connect-src 'self';"), connects, "{path}: {policy}");
        let page = response.text().await.unwrap();
        let loaded: Vec<&str> = page.split("<script src=\"/assets/").skip(1).collect();
        let loaded: Vec<&str> = loaded.into_iter().map(|script| script.split('.').next().unwrap()).collect();
        assert_eq!((loaded.as_slice(), page.matches("<script").count()), (scripts, scripts.len()), "{path}");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_texts_of_documents_are_listed_searched_and_removed() {
    Service::both(async |service| {
        let org = service.workspace("acme").await;
        let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
        let (_, vic) = person(&service, "vic@example.com", &[(&org, Role::Viewer)]).await;
        let notes = (0..=100).map(|at| file(&format!("n{at:03}.md"), &format!("# Note {at}\n\nOf day {at}.\n")));
        let ferry = file("a.md", "# Ferry <b>\n\nThe ferry leaves the harbour at noon.\n");
        let made = bring(&ann, &[("name", "notes")], std::iter::once(ferry).chain(notes).collect()).await;
        assert_eq!(made.status(), 303, "{}", made.text().await.unwrap());
        let dataset = location(&made);
        let texts = format!("{dataset}/texts");

        // Nothing is published: people look at it before.
        assert!(text(&vic, &dataset).await.contains(&format!("href=\"{texts}\"")));
        let first = text(&vic, &texts).await;
        for part in ["Texts 1 to 100", "Ferry &#60;b&#62;", "<bdi>n098.md</bdi>", "?page=2\" rel=\"next\""] {
            assert!(first.contains(part), "{part}: {first}");
        }
        assert!(!first.contains("n099.md"), "{first}");
        let last = text(&vic, &format!("{texts}?page=2")).await;
        assert!(last.contains("Texts 101 to 102") && last.contains("n100.md"), "{last}");
        assert!(last.contains("rel=\"prev\"") && !last.contains("rel=\"next\""), "{last}");
        assert_eq!(vic.get(&format!("{texts}?page=0")).await.status(), 422);

        let found = text(&vic, &format!("{texts}?text=ferry")).await;
        assert!(found.contains("<mark>ferry</mark>") && !found.contains("<b>"), "{found}");
        let passage = found.split("href=\"/w/acme/documents/").nth(1).unwrap().split('"').next().unwrap();
        let (document, place) = passage.split_once('?').unwrap();
        assert!(place.starts_with("chunk=") && place.ends_with("#passage"), "{place}");
        let document = format!("/w/acme/documents/{document}");
        let read = text(&vic, &document).await;
        assert!(read.contains(&format!("href=\"{texts}\"")) && !read.contains("Remove this document"), "{read}");

        // The form is no viewer's.
        let read = text(&ann, &document).await;
        let dataset_id = field(&read, "dataset_id");
        let csrf = token(&read);
        let form = [("csrf", csrf.as_str()), ("dataset_id", dataset_id.as_str())];
        assert_eq!(vic.post(&document, &form).await.status(), 403);
        let gone = ann.post(&document, &form).await;
        assert_eq!((gone.status().as_u16(), location(&gone)), (303, format!("{texts}?done=1")));
        let left = text(&ann, &location(&gone)).await;
        assert!(left.contains("Done.") && !left.contains("Ferry"), "{left}");
        assert_eq!(ann.get(&document).await.status(), 404);

        let table = service.import(&org, "sales.csv", SALES.as_bytes(), false).await.unwrap();
        let table = format!("/w/acme/datasets/{}/texts", table["dataset_id"].as_str().unwrap());
        let none = ann.get(&table).await;
        assert_eq!(none.status(), 422);
        assert!(none.text().await.unwrap().contains("This dataset is a table"));
        service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_switch_says_who_sees_a_dataset_and_one_form_what_it_is() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let made = service.import(&org, "sales.csv", SALES.as_bytes(), false).await.unwrap();
    let page = format!("/w/acme/datasets/{}", made["dataset_id"].as_str().unwrap());
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let reader = service.token(&org).await;
    let seen = async || service.tool(&reader, "dragoman_list_datasets", json!({})).await.1["count"].clone();
    assert_eq!(seen().await, 0);
    assert_eq!(send(&ann, &page, "publish", &[("published", "1")]).await.status(), 303);
    assert_eq!(seen().await, 1);
    let shown = text(&ann, &page).await;
    assert!(shown.contains("every AI client and token") && shown.contains("Withdraw it from AI clients"), "{shown}");
    let words = [("title", "What we sold"), ("description", "Two\r\nlines"), ("column:amount", "Euros <b>")];
    let saved = send(&ann, &page, "describe", &words).await;
    assert_eq!(location(&saved), format!("{page}?saved=1"));
    let shown = text(&ann, &location(&saved)).await;
    for part in ["What we sold", "Two\nlines", "Euros &#60;b&#62;", "Saved."] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let wrong = send(&ann, &page, "describe", &[("title", "t"), ("column:nothing", "x")]).await;
    assert_eq!(wrong.status(), 422);
    assert!(wrong.text().await.unwrap().contains("There is no column &#34;nothing&#34;"));
    assert_eq!(send(&ann, &page, "publish", &[("published", "0")]).await.status(), 303);
    assert_eq!(seen().await, 0);
    let both = [("published", "1"), ("title", "What was sold"), ("description", "Lines"), ("column:amount", "")];
    assert_eq!(send(&ann, &page, "publish", &both).await.status(), 303);
    assert_eq!(seen().await, 1);
    assert!(text(&ann, &page).await.contains("What was sold"), "what was typed beside it is kept");
    assert_eq!(send(&ann, &page, "publish", &[("published", "0")]).await.status(), 303);
    let (_, vic) = person(&service, "vic@example.com", &[(&org, Role::Viewer)]).await;
    let read = text(&vic, &page).await;
    assert!(read.contains("What was sold") && !read.contains("Withdraw") && !read.contains("<textarea"), "{read}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_page_of_a_dataset_takes_back_nothing_that_others_wrote_or_hid() {
    Service::both(async |service| {
        let org = service.workspace("acme").await;
        let made = service.import(&org, "sales.csv", SALES.as_bytes(), true).await.unwrap();
        let page = format!("/w/acme/datasets/{}", made["dataset_id"].as_str().unwrap());
        let (_, ada) = person(&service, "ada@example.com", &[(&org, Role::Contributor)]).await;
        let (_, bob) = person(&service, "bob@example.com", &[(&org, Role::Contributor)]).await;
        let reader = service.token(&org).await;
        let seen = async || service.tool(&reader, "dragoman_get_schema", json!({ "dataset_id": "sales" })).await.1;
        let names = async || -> Vec<Value> {
            seen().await["columns"].as_array().unwrap().iter().map(|column| column["name"].clone()).collect()
        };
        let words =
            [("title", "Sales"), ("description", "One\r\nsale"), ("column:town", "Where"), ("column:amount", "")];
        assert_eq!(send(&ada, &page, "describe", &words).await.status(), 303);

        // Bob hides a column and writes of another; Ada's page is older.
        let old = text(&ada, &page).await;
        let bobs =
            [("title", "Sales"), ("description", "One\r\nsale"), ("column:town", "The shop's"), ("hidden:amount", "1")];
        assert_eq!(send(&bob, &page, "describe", &bobs).await.status(), 303);
        let adas = [("title", "Sales"), ("description", "One\r\nday"), ("column:town", "Where"), ("column:amount", "")];
        for (what, more) in [("describe", None), ("publish", Some(("published", "1")))] {
            let form: Vec<_> = adas.into_iter().chain(more).collect();
            assert_eq!(send_from(&old, &ada, &page, what, &form).await.status(), 303, "{what}");
            assert_eq!(names().await, ["town", "day"], "{what}");
            let schema = seen().await;
            assert_eq!((&schema["description"], &schema["title"]), (&json!("One\nday"), &json!("Sales")), "{what}");
            assert_eq!(schema["columns"][0]["description"], "The shop's", "{what}");
        }

        // What both wrote is not written over unseen; what was typed stays.
        let both =
            [("title", "Sold"), ("description", "One\r\nsale"), ("column:town", "Place"), ("column:amount", "Euros")];
        let refused = send_from(&old, &ada, &page, "describe", &both).await;
        assert_eq!(refused.status(), 422);
        let refused = refused.text().await.unwrap();
        for part in [
            "Somebody changed the description of town meanwhile: it is “The shop&#39;s” now. Nothing was saved.",
            r#"value="Place" aria-label="Description of town""#,
            r#"value="Sold""#,
            r#"aria-label="Hide amount from AI clients" checked"#,
            "One\nday</textarea>",
        ] {
            assert!(refused.contains(part), "{part}: {refused}");
        }
        assert_eq!((&seen().await["title"], names().await), (&json!("Sales"), vec![json!("town"), json!("day")]));
        // Whoever has seen it may.
        let again =
            [("title", "Sold"), ("description", "One\r\nday"), ("column:town", "Place"), ("hidden:amount", "1")];
        assert_eq!(send_from(&refused, &ada, &page, "describe", &again).await.status(), 303);
        let schema = seen().await;
        assert_eq!((&schema["title"], &schema["columns"][0]["description"]), (&json!("Sold"), &json!("Place")));
        assert_eq!(names().await, ["town", "day"]);
        // A page that does not say what it showed changes nothing.
        let csrf = token(&old);
        let silent = ada.post(&page, &[("csrf", &*csrf), ("do", "describe"), ("title", "Other")]).await;
        assert_eq!(silent.status(), 422);
        assert_eq!(seen().await["title"], "Sold");
        service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_looked_through_page_by_page_and_taken_away() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let rows: String = (1..=120).map(|n| format!("{n},{},\"it's {}%\"\n", n % 3, n * 7 % 120)).collect();
    let made = service.import(&org, "n.csv", format!("n,third,said\n{rows}").as_bytes(), false).await.unwrap();
    let page = format!("/w/acme/datasets/{}/rows", made["dataset_id"].as_str().unwrap());
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let cells = |page: &str| -> Vec<String> {
        let (_, body) = page.split_once("<tbody>").unwrap();
        let rows = body.split("<tr>").skip(1);
        rows.map(|row| row.split("<bdi>").nth(1).unwrap().split('<').next().unwrap().to_owned()).collect()
    };
    let numbers = |range: std::ops::RangeInclusive<u32>| range.map(|n| n.to_string()).collect::<Vec<_>>();
    let first = text(&ann, &page).await;
    assert_eq!(cells(&first), numbers(1..=50));
    assert!(
        first.contains("Rows 1 to 50") && first.contains("Rows after") && !first.contains("Rows before"),
        "{first}"
    );
    let last = text(&ann, &format!("{page}?page=3")).await;
    assert_eq!(cells(&last), numbers(101..=120));
    assert!(!last.contains("Rows after"), "{last}");

    // Every row is on one page of a sorted table, although most are equal where it is sorted.
    let mut all = Vec::new();
    for number in 1..=3 {
        all.extend(cells(&text(&ann, &format!("{page}?sort=third&order=desc&page={number}")).await));
    }
    let mut sorted: Vec<u32> = all.iter().map(|cell| cell.parse().unwrap()).collect();
    assert!(sorted[..40].iter().all(|n| n % 3 == 2) && sorted[80..].iter().all(|n| n % 3 == 0), "{sorted:?}");
    sorted.sort_unstable();
    assert_eq!(sorted, (1..=120).collect::<Vec<_>>());

    let found = text(&ann, &format!("{page}?column=said&text=IT%27S+7%25")).await;
    assert_eq!(cells(&found), ["1"]);
    let nothing = text(&ann, &format!("{page}?column=said&text=zzz")).await;
    assert!(nothing.contains("No row says"), "{nothing}");
    for wrong in ["sort=nothing", "page=0", "page=20001", "column=nothing&text=x"] {
        assert_eq!(ann.get(&format!("{page}?{wrong}")).await.status(), 422, "{wrong}");
    }

    let figures = text(&ann, &page.replace("/rows", "/profile")).await;
    assert!(figures.contains("1 to 7: 6, 7 to 13: 6, "), "values in ranges: {figures}");

    assert_eq!(csv(&ann, &found).await, ("n.csv".into(), "n,third,said\r\n1,1,it's 7%\r\n".into()));
    let (_, vic) = person(&service, "vic@example.com", &[(&org, Role::Viewer)]).await;
    assert_eq!(vic.get(&page).await.status(), 403);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_list_of_datasets_is_searched() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let notes = service.import(&org, "notes.md", b"# Notes\n\nOslo is in Norway.", true).await.unwrap();
    let notes = text(&ann, &format!("/w/acme/datasets/{}", notes["dataset_id"].as_str().unwrap())).await;
    assert!(notes.contains("they can search it and read its texts."), "{notes}");
    let short = text(&ann, "/w/acme").await;
    assert!(short.contains(">1 passage<") && !short.contains("Look for it"), "{short}");
    for number in 0..20 {
        service.import(&org, &format!("t{number}.csv"), b"a\n1\n", false).await.unwrap();
    }
    let long = text(&ann, "/w/acme").await;
    assert!(long.contains("Look for it") && long.contains(r##"<a class="button" href="#bring">"##), "{long}");
    let found = text(&ann, "/w/acme?text=T17").await;
    assert_eq!(found.matches(r#"<th scope="row">"#).count(), 1, "{found}");
    for part in [">t17</a>", r#"value="T17""#] {
        assert!(found.contains(part), "{part}: {found}");
    }
    assert!(long.contains("Publish them") && !found.contains("Publish them"), "a search shows what was looked for");
    let nothing = text(&ann, "/w/acme?text=elsewhere").await;
    assert!(nothing.contains("No dataset says “elsewhere”.") && nothing.contains("All datasets"), "{nothing}");
    service.stop().await;
}

/// The file that a page offers: its name, and what is in it.
async fn csv(browser: &Browser, page: &str) -> (String, String) {
    let (_, form) = page.split_once("ask/csv").unwrap();
    let value = |name: &str| {
        field(form, name).replace("&#34;", "\"").replace("&#39;", "'").replace("&#60;", "<").replace("&#62;", ">")
    };
    let fields = ["csrf", "sql", "name", "of"].map(|name| (name, value(name)));
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    let file = browser.post("/w/acme/ask/csv", &fields).await;
    let named = file.headers()["content-disposition"].to_str().unwrap().to_owned();
    let name = named.strip_prefix("attachment; filename=\"").and_then(|rest| rest.strip_suffix('"')).unwrap();
    (name.to_owned(), file.text().await.unwrap())
}

/// Sales and what they mean.
pub const SHOP: &str = "sale_id,town,amount\n1,Oslo,12\n2,Bergen,7\n3,Oslo,5\n";
pub const ONTOLOGY: &str = r#"version: "0.2.0.dev0"
name: shop
datasets:
  - name: sales
    source: sales
    primary_key: [sale_id]
    custom_extensions: [{vendor_name: DRAGOMAN, data: '{"grain":"sale"}'}]
    fields:
      - {name: sale_id, datatype: Integer, expression: {dialects: [{dialect: ANSI_SQL, expression: sale_id}]}}
      - name: town
        datatype: String
        expression: {dialects: [{dialect: ANSI_SQL, expression: town}]}
        custom_extensions: [{vendor_name: DRAGOMAN, data: '{"role":"dimension","index_values":true}'}]
      - name: amount
        datatype: Integer
        expression: {dialects: [{dialect: ANSI_SQL, expression: amount}]}
        custom_extensions: [{vendor_name: DRAGOMAN, data: '{"role":"measure","default_aggregation":"sum"}'}]
metrics:
  - name: turnover
    expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(sales.amount)}]}
    datatype: Integer
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_person_asks_in_sql_in_words_and_in_names_of_an_ontology() {
    let service = Service::with(&[("DRAGOMAN_ASK_ROWS", "2")]).await;
    let org = service.workspace("acme").await;
    service.import(&org, "sales.csv", SHOP.as_bytes(), false).await.unwrap();
    let (ann_id, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let (_, bob) = person(&service, "bob@example.com", &[(&org, Role::Contributor)]).await;
    let page = "/w/acme/ask";
    let blank = text(&ann, page).await;
    assert!(blank.contains("data-name>town<") && blank.contains("BIGINT"), "{blank}");
    let (_, vic) = person(&service, "vic@example.com", &[(&org, Role::Viewer)]).await;
    assert_eq!(vic.get(page).await.status(), 403);
    let sql = "SELECT town, sum(amount) AS paid FROM sales GROUP BY town ORDER BY town";
    let ran = send(&ann, page, "", &[("mode", "sql"), ("sql", sql)]).await;
    assert_eq!(ran.status(), 200);
    let ran = ran.text().await.unwrap();
    for part in ["2 rows", "Bergen", "17", "data:image/svg+xml;base64,", "From <code>sales</code>"] {
        assert!(ran.contains(part), "{part}: {ran}");
    }
    let refused = send(&ann, page, "", &[("mode", "sql"), ("sql", "DROP TABLE sales")]).await;
    assert_eq!(refused.status(), 422);
    assert!(refused.text().await.unwrap().contains("DROP TABLE sales"), "what was typed stays");

    let history = text(&ann, "/w/acme/ask/history").await;
    assert!(history.contains("sum(amount)") && history.contains("DROP TABLE"), "{history}");
    assert!(!text(&bob, "/w/acme/ask/history").await.contains("sum(amount)"), "it is hers");
    // Nobody but the person reads it, and no client of theirs.
    let own = service.access_token_of(&org, ann_id.id, &Scope::ALL).await;
    assert_eq!(service.get("/api/v1/sql/history", &own).send().await.unwrap().status(), 403);

    assert!(text(&ann, "/w/acme/ask?mode=question").await.contains("Draft one from your tables"));
    let op = CreateOntology { text: ONTOLOGY.into(), summary: "First".into() };
    let saved = as_json(service.gateway.call(&operator(&org), op, Via::new("admin.call")).await).unwrap();
    let id = saved["ontology"]["ontology_id"].as_str().unwrap().to_owned();
    let op = CheckOntology { ontology_id: id.parse().unwrap() };
    let checked = as_json(service.gateway.call(&operator(&org), op, Via::new("admin.call")).await).unwrap();
    assert_eq!(checked["ontology"]["status"], "ready", "{checked}");
    let question = [("mode", "question"), ("ontology_id", id.as_str()), ("question", "turnover by town")];
    let query =
        [("mode", "query"), ("ontology_id", id.as_str()), ("measures", "turnover"), ("dimensions", "sales.town")];
    for form in [question.as_slice(), query.as_slice()] {
        let told = send(&ann, page, "", form).await;
        assert_eq!(told.status(), 200);
        let told = told.text().await.unwrap();
        for part in ["Oslo", "17", "How this was answered", "Where it comes from", "data:image/svg"] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(told.contains(&format!("action=\"/w/acme/ontologies/{id}/ask\"")), "it goes on there: {told}");
        let (name, rows) = csv(&ann, &told).await;
        assert!(name.starts_with("turnover") && !name.contains("first"), "{name}");
        let lines: std::collections::BTreeSet<&str> = rows.lines().skip(1).collect();
        assert_eq!(lines, ["Bergen,7", "Oslo,17"].into(), "{rows}");
    }
    // An answer of more rows than it may have says so in the name of its file.
    let more =
        [("mode", "query"), ("ontology_id", id.as_str()), ("measures", "turnover"), ("dimensions", "sales.sale_id")];
    let told = send(&ann, page, "", &more).await.text().await.unwrap();
    let (name, rows) = csv(&ann, &told).await;
    assert!(name.ends_with("-first-3-rows.csv") && rows.lines().count() == 4, "{name}: {rows}");
    let wrong = [("mode", "query"), ("ontology_id", id.as_str()), ("measures", "turnovr"), ("order", "turnovr desc")];
    let refused = send(&ann, page, "", &wrong).await;
    assert_eq!(refused.status(), 422);
    let refused = refused.text().await.unwrap();
    assert!(
        refused.contains("turnover") && refused.contains("turnovr desc"),
        "nearest name, and what was typed: {refused}"
    );
    assert!(text(&ann, "/w/acme/ask/history").await.contains("turnover by town"));
    service.stop().await;
}

/// The first run without data of one's own: the demo's come, not published, and the steps lead on to connect.
#[tokio::test(flavor = "multi_thread")]
async fn an_empty_workspace_takes_the_demos_data_and_leads_on() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (_, vic) = person(&service, "vic@example.com", &[(&org, Role::Viewer)]).await;
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let (_, eve) = person(&service, "eve@example.com", &[]).await;
    assert!(!text(&vic, "/w/acme").await.contains("Take the demo data"));
    let empty = text(&ann, "/w/acme").await;
    let (_, form) = empty.split_once("action=\"/w/acme/demo\"").unwrap();
    let csrf = field(form, "csrf");
    assert_eq!(eve.post("/w/acme/demo", &[("csrf", &csrf)]).await.status(), 403, "not from a page of hers");

    let take = ann.http.post(format!("{}/w/acme/demo", ann.base)).form(&[("csrf", &csrf)]);
    let take = take.header("origin", &ann.base).header("sec-fetch-site", "same-origin");
    let told = take.header("accept", "application/json").send().await.unwrap();
    assert_eq!(
        (told.status().as_u16(), &told.headers()["content-type"]),
        (200, &"application/x-ndjson".parse().unwrap())
    );
    let told = told.text().await.unwrap();
    let lines: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (last, lines) = lines.split_last().unwrap();
    assert_eq!(*last, json!({ "done": true }), "{told}");
    let fractions: Vec<f64> = lines.iter().filter_map(|line| line["fraction"].as_f64()).collect();
    assert!(fractions.is_sorted() && fractions.last() > Some(&0.5), "{told}");
    for part in ["flights: Publishing", "flights_guide: Indexing", "ontology: Checking"] {
        assert!(lines.iter().any(|line| line["message"].as_str().unwrap().starts_with(part)), "{part}: {told}");
    }
    let page = text(&ann, "/w/acme").await;
    for part in ["336,776", "flights_guide", "Publish them", "Connect an AI client"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("Take the demo data") && !page.contains(">published<"), "{page}");
    let reader = service.token(&org).await;
    let listed = service.tool(&reader, "dragoman_list_datasets", json!({})).await.1;
    assert_eq!(listed["datasets"], json!([]), "AI clients see nothing yet");
    assert!(listed["note"].as_str().unwrap().starts_with("Nothing is published to you yet."), "{listed}");
    let ontologies = text(&ann, "/w/acme/ontologies").await;
    let id = ontologies.split("/w/acme/ontologies/").find_map(|rest| rest.get(..36).filter(|id| !id.contains('"')));
    let ask = format!("/w/acme/ontologies/{}/ask", id.unwrap());
    let answer = send(&ann, &ask, "", &[("question", "How many flights were there?")]).await.text().await.unwrap();
    assert!(answer.contains("336,776"), "{answer}");

    // Published, the step that is left is hers: a token that has ended connects nobody.
    let mut tx = service.db.tenant(org.id).await.unwrap();
    for dataset in store::datasets::list(&mut tx, org.id).await.unwrap() {
        store::datasets::publish(&mut tx, org.id, dataset.id, true, 1).await.unwrap();
    }
    tx.commit().await.unwrap();
    let (ada_id, ada) = person(&service, "ada@example.com", &[(&org, Role::Admin)]).await;
    let leads = async |who: &Browser| text(who, "/w/acme").await.contains("From data to the first answer");
    assert!(!leads(&ada).await, "a program has a token");
    assert!(leads(&ann).await && leads(&vic).await, "they have no client of their own");
    for token in service.identity.tokens(org.id).await.unwrap() {
        service.identity.revoke_token(org.id, &token.id).await.unwrap();
    }
    assert!(leads(&ada).await, "a revoked token is no connection");
    service.access_token_of(&org, ada_id.id, &Scope::ALL).await;
    assert!(!leads(&ada).await && leads(&ann).await);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_browser_brings_describes_publishes_and_asks() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    let clients = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
    assert!(clients.join("node_modules").exists(), "run `npm ci --ignore-scripts` in tests/clients");
    let pictures = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("data");
    for look in ["light", "dark"] {
        let output = tokio::process::Command::new("node")
            .args(["data.mjs", &service.url(""), "ann@example.com", PASSWORD])
            .arg(&pictures)
            .arg(look)
            .current_dir(&clients)
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(std::time::Duration::from_secs(120), output).await.expect("in time").unwrap();
        let (said, problems) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{problems}");
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said["replaced"], "asked first", "{said}");
        assert_eq!((&said["dropped"], &said["broken"]), (&Value::from(true), &Value::from(true)), "{said}");
        let resumed = said["resumed"].as_array().unwrap();
        assert!(resumed.iter().all(|request| request[2] == true), "the same upload: {said}");
        assert_eq!((&resumed[0][0], &resumed[1][0]), (&json!("HEAD"), &json!("PATCH")), "{said}");
        assert!(resumed[1][1].as_i64() >= Some(8 << 20), "from where the closed tab left it: {said}");
        assert_eq!(said["corrected"], true, "{said}");
        assert_eq!((&said["completed"], &said["drawn"]), (&json!("SELECT town FROM"), &Value::from(true)), "{said}");
        assert_eq!(said["file"], "town,amount\r\nBergen,7.0\r\nOslo,12.5\r\n", "{said}");
        assert!(said["wide"].as_array().unwrap().is_empty(), "pages wider than the screen: {said}");
        assert_eq!(said["faults"], json!([]), "{said}");
    }
    service.stop().await;
}
