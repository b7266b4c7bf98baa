//! What strangers make to do harm: a clear error each, nothing left behind, memory within its bounds, and the service
//! goes on. What only looks harmful is read as what it is.

use std::io::Write as _;

use dragoman::engine::extract;
use dragoman::store::Db;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};

use super::{HANDBOOKS, House, changed, data, zipped};
use crate::sql::bombs::Watch;
use crate::support::program::{Program, command, free_port};

/// Megabytes that a query may have in a house whose workers are watched: they are known by it.
const MEMORY_MB: u64 = 1_030;

/// A file, the code by which it is refused, and words of the message.
type Case<'c> = (&'c str, Vec<u8>, &'c str, &'c str);

/// A Word document with this as its body.
fn word(body: &str) -> Vec<u8> {
    let document = format!("<w:document xmlns:w=\"w\"><w:body>{body}</w:body></w:document>");
    zipped(&[("[Content_Types].xml", b"<Types/>"), ("word/document.xml", document.as_bytes())])
}

/// A workbook of one sheet with these rows, and with this as its texts.
fn workbook(rows: &str, texts: &[u8]) -> Vec<u8> {
    const KIND: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let relation = |kind: &str, target: &str| {
        format!("<Relationships><Relationship Id=\"r\" Type=\"{KIND}/{kind}\" Target=\"{target}\"/></Relationships>")
    };
    let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
    zipped(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("_rels/.rels", relation("officeDocument", "xl/workbook.xml").as_bytes()),
        ("xl/workbook.xml", b"<workbook><sheets><sheet name=\"Sheet\" sheetId=\"1\" r:id=\"r\"/></sheets></workbook>"),
        ("xl/_rels/workbook.xml.rels", relation("worksheet", "worksheets/sheet1.xml").as_bytes()),
        ("xl/sharedStrings.xml", texts),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
    ])
}

/// A sheet of OpenDocument: a row of two numbers, and a cell that says to stand in so many rows and columns.
fn repeated(cell: &str, rows: usize, columns: usize) -> Vec<u8> {
    let number = "<table:table-cell office:value-type=\"float\" office:value=\"1\"/>";
    let content = format!(
        "<office:document-content><office:body><office:spreadsheet><table:table table:name=\"Sheet\">\
         <table:table-row>{number}{number}</table:table-row><table:table-row table:number-rows-repeated=\"{rows}\">\
         <table:table-cell {cell} table:number-columns-repeated=\"{columns}\"/></table:table-row></table:table>\
         </office:spreadsheet></office:body></office:document-content>"
    );
    zipped(&[
        ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", b"<manifest:manifest/>"),
        ("content.xml", content.as_bytes()),
    ])
}

/// A zip that says of a member that it unpacks to a thousand bytes.
fn understated(mut file: Vec<u8>, member: &str) -> Vec<u8> {
    // Where the size and the name stand in the member's own header and in the directory's.
    for (mark, size, name) in [(b"PK\x03\x04", 22, 30), (b"PK\x01\x02", 24, 46)] {
        let is_header = |window: &[u8]| window.starts_with(mark) && window.ends_with(member.as_bytes());
        let at = file.windows(name + member.len()).position(is_header).unwrap();
        file[at + size..at + size + 4].copy_from_slice(&1_000_u32.to_le_bytes());
    }
    file
}

/// A PDF of one page with these entries, below a tree of pages that goes round in a circle.
fn pdf(page: &str, further: &[Vec<u8>]) -> Vec<u8> {
    let objects = [
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[2 0 R 3 0 R 2 0 R]/Count 1>>".to_vec(),
        format!("<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]{page}>>").into_bytes(),
    ];
    let mut file = b"%PDF-1.4\n".to_vec();
    for (at, object) in objects.iter().chain(further).enumerate() {
        file.extend(format!("{} 0 obj", at + 1).bytes());
        file.extend(object);
        file.extend(b"endobj\n");
    }
    file.extend(b"trailer<</Root 1 0 R>>");
    file
}

fn stream(entries: &str, bytes: &[u8]) -> Vec<u8> {
    let head = format!("<<{entries}/Length {}>>stream\n", bytes.len());
    [head.as_bytes(), bytes, b"\nendstream "].concat()
}

/// A page that shows a picture of so many pixels a side, and nothing else.
fn picture(side: u32, entries: &str) -> Vec<u8> {
    let shown = stream("", b"q 90 0 0 90 0 0 cm /I Do Q");
    let image = format!("/Type/XObject/Subtype/Image/Width {side}/Height {side}/ColorSpace/DeviceGray{entries}");
    pdf("/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>", &[shown, stream(&image, b"x")])
}

async fn are_refused(house: &House, cases: Vec<Case<'_>>) {
    for (name, bytes, code, words) in cases {
        let (status, error) = house.upload("hostile", &[(name, bytes)]).await;
        assert_eq!((status, &error["error"]["code"]), (400, &json!(code)), "{name}: {error}");
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{name}: {message}");
    }
}

/// What was refused left nothing behind, and the next file is read.
async fn lives_on(house: House) {
    let (status, made) = house.upload("after", &[("ok.docx", word("<w:p><w:r><w:t>x</w:t></w:r></w:p>"))]).await;
    assert_eq!(status, 200, "{made}");
    let (_, listed) = house.service.tool(&house.token, "dragoman_list_datasets", json!({})).await;
    assert_eq!(listed["count"], 1, "nothing of them is left: {listed}");
    house.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_files_are_refused_one_by_one_and_the_service_lives() {
    let house = House::open().await;
    let zeros = vec![0_u8; 200 << 20];
    let mut nested = zipped(&[("a.txt", b"deep")]);
    for _ in 0..8 {
        nested = zipped(&[("inner.zip", &nested)]);
    }
    let half = |name: &str| {
        let bytes = data(name);
        bytes[..bytes.len() / 2].to_vec()
    };
    let deep = format!("{}{}", "<w:p>".repeat(100_000), "</w:p>".repeat(100_000));
    // A cell in the last corner of a sheet.
    let far = "<row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row></sheetData>";
    let far = changed("harbour.xlsx", "xl/worksheets/sheet1.xml", |sheet| sheet.replace("</sheetData>", far));
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("bomb.zip", zipped(&[("zeros.txt", &zeros)]), "unpacks to more"),
        ("bomb.docx", zipped(&[("[Content_Types].xml", b"x"), ("word/document.xml", &zeros)]), "unpacks to more"),
        ("nested.zip", nested, "nested"),
        ("half.docx", half("handbook.docx"), "damaged"),
        ("half.pptx", half("handbook.pptx"), "damaged"),
        ("half.epub", half("handbook.epub"), "damaged"),
        ("half.xlsx", half("harbour.xlsx"), "cannot be imported"),
        ("half.xls", half("harbour.xls"), "cannot be imported"),
        ("deep.docx", word(&deep), "nested more than"),
        ("open.docx", word("<w:p><w:r>"), "word/document.xml, byte"),
        ("far.xlsx", far, "cannot be imported"),
        ("empty.docx", word(""), "no text"),
        ("protected.pdf", data("protected.pdf"), "password"),
        ("blank.pdf", b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>".to_vec(), "no text"),
        ("broken.pdf", b"%PDF-1.7\nnothing of the kind".to_vec(), "damaged"),
        ("deep.rtf", [b"{\\rtf1 ".as_slice(), &b"{".repeat(100_000)].concat(), "nested more than"),
        ("deep.html", format!("<!DOCTYPE html>{}", "<div>".repeat(200_000)).into_bytes(), "nested more than"),
        ("picture.png", b"\x89PNG\r\n\x1a\n".to_vec(), "PNG"),
        ("old.doc", [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".as_slice(), &[0; 120], &"WordDocument\0".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(), &[0; 200]].concat(), "Word before 2007"),
        ("nothing.zip", zipped(&[("a.png", b"\x89PNG"), ("b/", b"")]), "nothing in it"),
        ("wrong.txt", b"a\xff\xfe\xfd\x81 \x8d\x90".to_vec(), "byte"),
    ];
    for (name, bytes, words) in cases {
        let (status, error) = house.upload("hostile", &[(name, bytes)]).await;
        let message = error["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!((400..500).contains(&status), "{name}: {status} {error}");
        assert!(message.contains(words), "{name}: {message}");
        assert!(message.contains(name.split('.').next().unwrap()) || words == "byte", "{name}: {message}");
    }
    lives_on(house).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn small_files_that_ask_for_much_memory_get_no_more_than_a_worker_has() {
    let house = House::with(&[("DRAGOMAN_SQL_MEMORY_MB", &MEMORY_MB.to_string())]).await;
    let watch = Watch::over(MEMORY_MB);
    let zeros = vec![0_u8; 80 << 20];
    let (number, text) = ("<row><c><v>1</v></c></row>", "<c t=\"s\"><v>0</v></c>");
    let long = format!("<sst><si><t>{}</t></si></sst>", "x".repeat(1 << 20));
    let box_of_zeros = zipped(&[("zeros.txt", &zeros[..16 << 20])]);
    let boxes = ["a.zip", "b.zip", "c.zip", "d.zip", "e.zip", "f.zip"].map(|name| (name, box_of_zeros.as_slice()));
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&zeros[..64 << 20]).unwrap();
    let packed = stream("/Filter/FlateDecode", &packed.finish().unwrap());
    let often = format!("/Contents[{}]", "4 0 R ".repeat(40));
    let one = "office:value-type=\"float\" office:value=\"1\"";
    let cases = vec![
        ("texts.xlsx", workbook(number, &zeros), "limit_exceeded", "unpacks to more"),
        (
            "understated.xlsx",
            understated(workbook(number, &zeros), "xl/sharedStrings.xml"),
            "invalid_argument",
            "damaged",
        ),
        (
            "shared.xlsx",
            workbook(&format!("<row>{}</row>", text.repeat(16_384)), long.as_bytes()),
            "limit_exceeded",
            "MB of memory",
        ),
        ("count.xlsx", workbook(number, b"<sst uniqueCount=\"99999999999\"></sst>"), "limit_exceeded", "MB of memory"),
        ("rows.ods", repeated(one, 1_000_000, 90), "limit_exceeded", "MB of memory"),
        ("cells.ods", repeated(one, 1_000_000, 16_384), "invalid_argument", "damaged"),
        ("boxes.zip", zipped(&boxes), "limit_exceeded", "unpacks to more"),
        ("often.pdf", pdf(&often, &[packed]), "limit_exceeded", "MB of memory"),
    ];
    are_refused(&house, cases).await;
    lives_on(house).await;
    let peaks = watch.end();
    let most = peaks.values().max().copied().unwrap_or_default();
    assert!((256 << 20..=(MEMORY_MB + 1_024) << 20).contains(&most), "{peaks:?}");
}

/// Text, metadata and names are in the memory of the service itself, which all workspaces share.
#[tokio::test(flavor = "multi_thread")]
async fn what_files_say_of_themselves_and_lines_of_nothing_take_little_memory_of_the_service() {
    let (data, files) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // In the memory of the first is the load of the demo.
    Program::start(data.path(), free_port()).await.stop().await;
    let program = Program::start(data.path(), free_port()).await;
    let import = async |file: &str, bytes: String| -> i64 {
        let path = files.path().join(file);
        std::fs::write(&path, bytes).unwrap();
        let name = file.split('.').next().unwrap();
        let mut command = command(data.path());
        command.arg("import").arg(&path).args(["--workspace", "demo", "--name", name, "--json"]);
        let said = command.output().await.unwrap();
        let reply: Value = serde_json::from_slice(&said.stdout)
            .unwrap_or_else(|_| panic!("{file}: {}", String::from_utf8_lossy(&said.stderr)));
        reply["bytes"].as_i64().unwrap()
    };
    let words = "Pilots board the ship at noon and leave it at the lock. ".repeat(700);
    let plain = import("words.md", words.clone()).await;
    let before = program.peak();

    let named = (0..40).map(|n| format!("b{n}: *t\n")).collect::<String>();
    let others = (0..50).map(|n| format!("d{n}: &d{n} 1\n")).collect::<String>();
    let (one, many) = ("x".repeat(800), ["*s"; 250].join(", "));
    let aliases = format!("---\na: &s {one}\nt: &t [{many}]\n{named}{others}---\n{words}\n");
    let name = "n".repeat(1 << 20);
    let mail = format!(
        "From: a@b.c\nTo: d@e.f\nSubject: Names\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=X\n\n--X\n\n\
         See it.\n--X\nContent-Type: text/plain; name=\"{name}.txt\"\n\
         Content-Disposition: attachment; filename=\"{name}.txt\"\n\n{words}\n--X--\n"
    );
    let lines = format!("Begin.\n{}# End\n\nThe last line.\n", "\n".repeat(8 << 20));
    for (file, bytes) in [("aliases.md", aliases), ("names.eml", mail), ("lines.md", lines)] {
        let made = import(file, bytes).await;
        assert!(made < plain + (4 << 20), "{file}: {made} bytes, and {plain} of its words alone");
    }
    let more = program.peak().saturating_sub(before);
    assert!(more < 192 << 20, "{} MiB more", more >> 20);
    let db = Db::open_sqlite(&Db::file(data.path())).await.unwrap();
    let longest = "SELECT MAX(LENGTH(source_file)) FROM documents";
    let longest: i64 = sqlx::query_scalar(longest).fetch_one(db.pool()).await.unwrap();
    assert!((900..=1_000).contains(&longest), "{longest}");
    program.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deep_long_or_points_elsewhere_is_refused_in_words() {
    let house = House::open().await;
    let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let lists = format!("<office:text>{}", "<text:list>".repeat(100_000));
    let layers = "Content-Type: message/rfc822\n\n".repeat(1_000);
    let mail = format!("From: a@b.c\nTo: d@e.f\nSubject: Layers\n{layers}Subject: Last\n\nWords.\n");
    let kind: (&str, &[u8]) = ("mimetype", b"application/vnd.oasis.opendocument.text");
    let container = b"<container><rootfiles><rootfile full-path=\"../../etc/passwd\"/></rootfiles></container>";
    let book: [(&str, &[u8]); 2] = [("mimetype", b"application/epub+zip"), ("META-INF/container.xml", container)];
    let cases = vec![
        ("deep.json", objects.into_bytes(), "invalid_argument", "nested too deep"),
        ("deep.odt", zipped(&[kind, ("content.xml", lists.as_bytes())]), "invalid_argument", "nested more than"),
        ("deep.eml", mail.into_bytes(), "limit_exceeded", "nested in each other"),
        ("circle.pdf", pdf("", &[]), "invalid_argument", "no text"),
        ("scan.pdf", picture(1, "/BitsPerComponent 8"), "invalid_argument", "pictures of pages"),
        ("vast.pdf", picture(2_000_000_000, "/Filter/JBIG2Decode"), "invalid_argument", "pictures of pages"),
        ("elsewhere.epub", zipped(&book), "invalid_argument", "is missing"),
        ("line.csv", "x,".repeat(30 << 20).into_bytes(), "invalid_argument", "too long"),
        ("nul.txt", b"Words,\0 and more.".to_vec(), "invalid_argument", "is NUL"),
        ("nul.csv", b"a,b\0c\n1,x\n2,y\n".to_vec(), "invalid_argument", "NUL"),
    ];
    are_refused(&house, cases).await;
    lives_on(house).await;
}

/// A mail of a thousand parts, each within the one before.
fn layered(words: &str) -> String {
    let open = |n: usize| format!("Content-Type: multipart/mixed; boundary=b{n:04}\n\n--b{n:04}\n");
    let opened = (0..1_000).map(open).collect::<String>();
    let closed = (0..1_000).rev().map(|n| format!("--b{n:04}--\n")).collect::<String>();
    let head = "From: a@b.c\nTo: d@e.f\nSubject: Layers\nMIME-Version: 1.0\n";
    format!("{head}{opened}Content-Type: text/plain\n\n{words}\n{closed}")
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_that_only_look_harmful_are_read_without_what_they_bring() {
    let house = House::open().await;
    let body = |words: &str| format!("<w:body><w:p><w:r><w:t>{words}</w:t></w:r></w:p></w:body></w:document>");
    let types: (&str, &[u8]) = ("[Content_Types].xml", b"<Types/>");
    let plain = format!("<w:document xmlns:w=\"w\">{}", body("Pilots board at noon."));
    let macros: (&str, &[u8]) = ("word/vbaProject.bin", b"Sub AutoOpen()\nShell \"calc\"\nEnd Sub\n");
    let entities = format!(
        "<!DOCTYPE w:document [<!ENTITY file SYSTEM \"file:///etc/passwd\"><!ENTITY a \"lollol\">\
         <!ENTITY b \"&a;&a;&a;\">]><w:document xmlns:w=\"w\">{}",
        body("Cranes rest at night. &file;&b;")
    );
    let wide: Vec<u8> = "Ferries leave on the hour.\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cases = [
        ("macro.docm", zipped(&[types, ("word/document.xml", plain.as_bytes()), macros]), "Pilots board at noon."),
        ("entity.docx", zipped(&[types, ("word/document.xml", entities.as_bytes())]), "Cranes rest at night."),
        ("bin.rtf", b"{\\rtf1 Tugs wait at the lock.\\bin2147483647 x}".to_vec(), "Tugs wait at the lock."),
        ("wide.txt", wide, "Ferries leave on the hour."),
        // UTF-7 is no text of ours: its letters stay what they are in ASCII.
        ("seven.txt", b"Buoys carry +AGEAZg- lamps.\n".to_vec(), "Buoys carry +AGEAZg- lamps."),
        ("layers.eml", layered("Anchors hold in clay.").into_bytes(), "Anchors hold in clay."),
    ];
    for (n, (file, bytes, words)) in cases.into_iter().enumerate() {
        let (status, made) = house.upload(&format!("book{n}"), &[(file, bytes)]).await;
        assert_eq!(status, 200, "{file}: {made}");
        let found = house.search(words).await;
        let text = found[0]["text"].as_str().unwrap();
        assert!(text.contains(words), "{file}: {text}");
        assert!(!["root:", "AutoOpen", "lollol"].iter().any(|brought| text.contains(brought)), "{file}: {text}");
    }
    house.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_that_only_look_harmful_are_read() {
    let house = House::open().await;
    let empty: String = (1..1 << 20).map(|n| format!("<row r=\"{n}\"/>")).collect();
    let last = format!("{empty}<row r=\"1048576\"><c r=\"A1048576\"><v>7</v></c></row>");
    let text = |text: &str| format!("<row><c t=\"inlineStr\"><is><t>{text}</t></is></c></row>");
    let long = text("note") + &text(&"x".repeat(40 << 20));
    let name = format!("{},b\n1,2\n", "x".repeat(1 << 20));
    let columns = "SELECT max(length(column_name)) FROM (DESCRIBE named)";
    for (table, file, bytes, sql, rows) in [
        ("sparse", "last.xlsx", workbook(&last, b"<sst></sst>"), "SELECT * FROM sparse", json!([[7]])),
        ("cells", "cell.xlsx", workbook(&long, b"<sst></sst>"), "SELECT length(note) FROM cells", json!([[40 << 20]])),
        ("ending", "rows.ods", repeated("", 1_000_000, 16_384), "SELECT count(*) FROM ending", json!([[1]])),
        ("named", "name.csv", name.into_bytes(), columns, json!([[255]])),
    ] {
        let (status, made) = house.upload(table, &[(file, bytes)]).await;
        assert_eq!(status, 200, "{file}: {made}");
        assert_eq!(house.rows(sql).await, rows, "{file}");
    }
    house.service.stop().await;
}

#[test]
fn damaged_documents_never_bring_a_reader_down() {
    let mut state = 1_u64;
    let mut chance = move |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    };
    // With the stack that the worker gives it.
    let run = move || {
        for file in HANDBOOKS.into_iter().chain(["berth.eml", "watch.mbox", "harbour.xlsx", "harbour.ods"]) {
            let whole = data(file);
            for round in 0..25 {
                let mut bytes = whole.clone();
                for _ in 0..=round {
                    let at = chance(bytes.len());
                    bytes[at] = match chance(3) {
                        0 => 0xff,
                        1 => bytes[chance(bytes.len())],
                        _ => bytes[at] ^ (1 << chance(8)),
                    };
                }
                if round % 5 == 4 {
                    bytes.truncate(chance(bytes.len()));
                }
                if let Err(error) = extract::read(&bytes, file) {
                    assert!(error.message.contains("cannot be imported"), "{file}: {}", error.message);
                }
            }
        }
    };
    std::thread::Builder::new().stack_size(64 << 20).spawn(run).unwrap().join().unwrap();
}
