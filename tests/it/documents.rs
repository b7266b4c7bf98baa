//! Documents and sheets of other programs through the whole service: uploaded over REST, read in the worker process, found
//! with their page and headings, or asked as tables.

mod hostile;

use std::io::{Read as _, Write as _};
use std::path::PathBuf;

use dragoman::engine::extract;
use dragoman::model::access::{Role, Scope};
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;

use crate::support::service::{Service, json_of};

const HANDBOOKS: [&str; 8] = [
    "handbook.docx", "handbook.odt", "handbook.epub", "handbook.rtf", "handbook.pptx", "handbook.html", "handbook.pdf",
    "handbook-office.pdf",
];

fn data(name: &str) -> Vec<u8> {
    std::fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/documents").join(name)).unwrap()
}

struct House {
    service: Service,
    token: String,
}

impl House {
    async fn open() -> Self {
        Self::with(&[]).await
    }

    async fn with(settings: &[(&str, &str)]) -> Self {
        let service = Service::with(settings).await;
        let org = service.workspace("acme").await;
        let scopes = [Scope::DataRead, Scope::DataWrite, Scope::DatasetsWrite];
        let token = service.access_token(&org, Role::Contributor, &scopes).await;
        Self { service, token }
    }

    async fn upload(&self, name: &str, files: &[(&str, Vec<u8>)]) -> (u16, Value) {
        let mut form = Form::new().text("name", name.to_owned()).text("publish", "true");
        for (name, bytes) in files {
            form = form.part("file", Part::bytes(bytes.clone()).file_name((*name).to_owned()));
        }
        json_of(self.service.post("/api/v1/datasets", &self.token).multipart(form).send().await.unwrap()).await
    }

    async fn search(&self, query: &str) -> Vec<Value> {
        let (failed, found) = self.service.tool(&self.token, "dragoman_search", json!({ "query": query })).await;
        assert!(!failed, "{found}");
        found["matches"].as_array().unwrap().clone()
    }

    async fn rows(&self, sql: &str) -> Value {
        let (failed, found) = self.service.tool(&self.token, "dragoman_sql", json!({ "sql": sql })).await;
        assert!(!failed, "{found}");
        found["rows"].clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_of_any_format_is_found_with_its_headings() {
    let house = House::open().await;
    for (n, file) in HANDBOOKS.iter().enumerate() {
        // Under a name that says nothing: what is in it counts.
        let (status, made) = house.upload(&format!("book{n}"), &[("upload.bin", data(file))]).await;
        assert_eq!((status, &made["type"]), (200, &json!("documents")), "{file}: {made}");
        let id = made["dataset_id"].as_str().unwrap();
        let query = json!({ "query": "where are batteries brought", "dataset_id": id, "top_k": 1 });
        let (_, found) = house.service.tool(&house.token, "dragoman_search", query).await;
        let best = &found["matches"][0];
        let text = best["text"].as_str().unwrap();
        assert!(text.contains("ranger's shed") || text.contains("ranger’s shed"), "{file}: {found}");
        // pandoc writes a heading of the third level as a paragraph of the slide.
        let heading = if *file == "handbook.pptx" { "Waste" } else { "Batteries" };
        assert!(best["metadata"]["heading"].as_str().unwrap().contains(heading), "{file}: {found}");
        assert_eq!(best["metadata"]["title"], "Harbour handbook", "{file}: {found}");
        let has_pages = matches!(*file, "handbook.pptx" | "handbook.pdf" | "handbook-office.pdf");
        assert!(!has_pages || best["metadata"]["page"].as_u64().is_some(), "{file}: {found}");
    }
    house.service.stop().await;
}

#[test]
fn a_document_says_who_wrote_it_and_when() {
    let with_author = |member: &str, tag: &str, file: &str| {
        let (empty, full) = (format!("<{tag}></{tag}>"), format!("<{tag}>Ada &amp; Bo</{tag}>"));
        changed(file, member, |text| text.replacen(&empty, &full, 1))
    };
    for (name, bytes, author, created) in [
        (
            "x.docx",
            with_author("docProps/core.xml", "dc:creator", "handbook.docx"),
            json!("Ada & Bo"),
            "2026-11-23T13:24:11Z",
        ),
        (
            "x.pptx",
            with_author("docProps/core.xml", "dc:creator", "handbook.pptx"),
            json!("Ada & Bo"),
            "2026-11-23T13:24:12Z",
        ),
        ("x.odt", data("handbook.odt"), json!(null), "2026-11-23T13:24:12Z"),
        ("x.epub", data("handbook.epub"), json!(null), "2026-11-23T13:24:12Z"),
        ("x.pdf", data("handbook.pdf"), json!(null), "2026-11-23T13:26:15+00:00"),
        ("x.eml", data("berth.eml"), json!(["Ann Berg", "ann@example.org"]), "2024-06-03T09:15:00+02:00"),
    ] {
        let found = extract::read(&bytes, name).unwrap();
        let facts = json!(found.documents[0].facts);
        assert_eq!((&facts["author"], &facts["created"]), (&author, &json!(created)), "{name}: {facts}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_file_says_of_itself_narrows_searches() {
    let house = House::open().await;
    let (status, made) = house.upload("post", &[("a.eml", data("berth.eml")), ("b.mbox", data("watch.mbox"))]).await;
    assert_eq!(status, 200, "{made}");
    for (filters, file) in [
        (json!({ "metadata": { "author": "ann@example.org" } }), "a.eml"),
        (json!({ "created_after": "2024-06-04", "created_before": "2024-06-04T12:00:00Z" }), "b.mbox/"),
    ] {
        let asked = json!({ "query": "berth fog signals ships roads", "k": 50, "filters": filters });
        let (failed, found) = house.service.tool(&house.token, "rag_search_hybrid", asked).await;
        let hits = found["results"].as_array().unwrap_or_else(|| panic!("{found}"));
        assert!(!failed && !hits.is_empty(), "{found}");
        for hit in hits {
            assert!(hit["metadata"]["source_file"].as_str().unwrap().starts_with(file), "{filters}: {hit}");
        }
    }
    house.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mails_boxes_and_archives_hold_documents() {
    let house = House::open().await;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in
        [("a/watch.mbox", data("watch.mbox")), ("b.eml", data("berth.eml")), ("logo.png", b"\x89PNG\r\n".to_vec())]
    {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    let (status, made) = house.upload("post", &[("post.zip", bytes)]).await;
    assert_eq!(status, 200, "{made}");
    let skipped = made["skipped"].as_array().unwrap_or_else(|| panic!("{made}"));
    let picture = "cannot be imported: it is a PNG picture; its text would have to be recognised (OCR).";
    assert_eq!(skipped, &[format!("post.zip/b.eml/logo.png {picture}"), format!("post.zip/logo.png {picture}")]);
    for (query, file) in [
        ("fog signals", "post.zip/a/watch.mbox/1"),
        ("dredger in the fairway", "post.zip/a/watch.mbox/2"),
        ("berth with shore power", "post.zip/b.eml"),
        ("dues ships under sail", "post.zip/b.eml/rules.bin"),
    ] {
        let found = house.search(query).await;
        assert_eq!(found[0]["metadata"]["source_file"], file, "{query}: {found:?}");
    }
    house.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_sheet_that_shows_is_a_table_with_types() {
    let house = House::open().await;
    for (n, file) in ["harbour.xlsx", "harbour.xls", "harbour.ods"].into_iter().enumerate() {
        let name = format!("port{n}");
        let (status, made) = house.upload(&name, &[(file, data(file))]).await;
        assert_eq!((status, &made["name"]), (200, &json!(format!("{name}_berths"))), "{file}: {made}");
        assert_eq!(made["also"].as_array().map(Vec::len), Some(1), "{file}: {made}");
        assert_eq!(
            (&made["also"][0]["name"], &made["also"][0]["row_count"]),
            (&json!(format!("{name}_ships_2024")), &json!(if n == 0 { 2 } else { 3 })),
            "{file}: {made}"
        );
        let types = house.rows(&format!("SELECT column_name, column_type FROM (DESCRIBE {name}_berths)")).await;
        // LibreOffice writes what a formula says is true as a number into ODS.
        let (kind, yes, no) =
            if n == 2 { ("BIGINT", json!(1), json!(0)) } else { ("BOOLEAN", json!(true), json!(false)) };
        let expected = json!([
            ["Berth", "VARCHAR"],
            ["length_m", "BIGINT"],
            ["Dues", "DOUBLE"],
            ["Free", kind],
            ["Since", "DATE"],
            ["last_call", "TIMESTAMP"],
            ["Remark", "VARCHAR"],
        ]);
        assert_eq!(types, expected, "{file}");
        let rows = house
            .rows(&format!("SELECT \"Berth\", \"Dues\", \"Free\", \"Since\"::VARCHAR, last_call::VARCHAR, \"Remark\" FROM {name}_berths"))
            .await;
        let expected = json!([
            ["A1", 18.5, yes, "1998-05-01", "2024-03-01 09:30:00", null],
            ["A2", 41.0, no, "2001-07-15", "2024-03-02 17:05:30", "lee side"],
            ["B1", 97.25, yes, "2010-01-01", null, "12"],
        ]);
        assert_eq!(rows, expected, "{file}");
    }
    house.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sheets_of_a_workbook_are_imported_together_or_not_at_all() {
    let house = House::open().await;
    let bring = async |name: &str, how: &str, file: &str, bytes: Vec<u8>| {
        let form = Form::new().text("name", name.to_owned()).text("if_exists", how.to_owned()).text("publish", "true");
        let form = form.part("file", Part::bytes(bytes).file_name(file.to_owned()));
        json_of(house.service.post("/api/v1/datasets", &house.token).multipart(form).send().await.unwrap()).await
    };
    let workbook = || data("harbour.xlsx");
    let another = || b"mast,sail\n1,2\n".to_vec();

    // The name of the second sheet is taken: the first makes nothing either.
    let (status, made) = bring("port_ships_2024", "replace", "another.csv", another()).await;
    assert_eq!(status, 200, "{made}");
    let (status, error) = bring("port", "refuse", "harbour.xlsx", workbook()).await;
    assert!((400..500).contains(&status) && error.to_string().contains("port_ships_2024"), "{status} {error}");
    let (_, listed) = house.service.tool(&house.token, "dragoman_list_datasets", json!({})).await;
    assert_eq!(listed["count"], 1, "{listed}");

    // The rows of the second do not fit: those of the first are not added.
    assert_eq!(bring("port", "replace", "harbour.xlsx", workbook()).await.0, 200);
    assert_eq!(bring("port_ships_2024", "replace", "another.csv", another()).await.0, 200);
    let before = house.rows("SELECT count(*) FROM port_berths").await;
    let (status, error) = bring("port", "append", "harbour.xlsx", workbook()).await;
    assert!((400..500).contains(&status), "{status} {error}");
    assert_eq!(house.rows("SELECT count(*) FROM port_berths").await, before);

    // Where both fit, each has its rows twice.
    assert_eq!(bring("port", "replace", "harbour.xlsx", workbook()).await.0, 200);
    assert_eq!(bring("port", "append", "harbour.xlsx", workbook()).await.0, 200);
    let rows = house.rows("SELECT (SELECT count(*) FROM port_berths), (SELECT count(*) FROM port_ships_2024)").await;
    assert_eq!((before, rows), (json!([[3]]), json!([[6, 4]])));
    house.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_text_are_read_whatever_their_encoding_and_signs() {
    let house = House::open().await;
    let utf16 = |text: &str| [vec![0xff, 0xfe], text.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat();
    let latin = |text: &str| text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect::<Vec<u8>>();
    for (n, bytes) in [
        utf16("town;sum\nGöteborg;1\nLiège;2\n"),
        latin("town,sum\nGöteborg,1\nLiège,2\n"),
        "\u{feff}town\tsum\nGöteborg\t1\nLiège\t2\n".as_bytes().to_vec(),
        "town^sum\nGöteborg^1\nLiège^2\n".as_bytes().to_vec(),
        "'town','sum'\n'Göteborg','1'\n'Liège','2'\n".as_bytes().to_vec(),
        utf16("[{\"town\": \"Göteborg\", \"sum\": 1}, {\"town\": \"Liège\", \"sum\": 2}]"),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("towns{n}");
        let (status, made) = house.upload(&name, &[(if n == 5 { "x.json" } else { "x.csv" }, bytes)]).await;
        assert_eq!(status, 200, "{n}: {made}");
        let rows = house.rows(&format!("SELECT town, sum FROM {name} ORDER BY sum")).await;
        assert_eq!(rows, json!([["Göteborg", 1], ["Liège", 2]]), "{n}");
    }
    house.service.stop().await;
}

/// A zip of these members.
fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A file of ours with one member of its zip changed.
fn changed(file: &str, member: &str, change: impl Fn(String) -> String) -> Vec<u8> {
    let mut whole = zip::ZipArchive::new(std::io::Cursor::new(data(file))).unwrap();
    let mut members = Vec::new();
    for index in 0..whole.len() {
        let mut entry = whole.by_index(index).unwrap();
        let name = String::from_utf8(entry.name_raw().to_vec()).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        if name == member {
            bytes = change(String::from_utf8(bytes).unwrap()).into_bytes();
        }
        members.push((name, bytes));
    }
    let members: Vec<(&str, &[u8])> = members.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    zipped(&members)
}
