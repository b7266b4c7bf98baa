//! Any bytes as what another server lists, and as the part of a workbook that holds a sheet: each reader ends with what
//! it read, within the bounds that it promises, or an error. The first byte picks the reader.

#![no_main]

use std::io::{Cursor, Write as _};
use std::time::Duration;

use dragoman::engine::extract::sheets::{Kind, Workbook};
use dragoman::engine::extract::sitemap::Sitemap;
use dragoman::engine::extract::{Budget, bucket, sitemap};
use dragoman::engine::ingest::sync::robots::Robots;
use libfuzzer_sys::fuzz_target;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// What makes a workbook of a sheet.
const XLSX: &[(&str, &str)] = &[
    ("[Content_Types].xml", "<Types/>"),
    (
        "_rels/.rels",
        "<Relationships><Relationship Id='r' Type='/relationships/officeDocument' Target='xl/workbook.xml'/>\
         </Relationships>",
    ),
    ("xl/workbook.xml", "<workbook><sheets><sheet name='Sheet' sheetId='1' r:id='r'/></sheets></workbook>"),
    (
        "xl/_rels/workbook.xml.rels",
        "<Relationships><Relationship Id='r' Type='/worksheet' Target='worksheets/sheet1.xml'/></Relationships>",
    ),
    ("xl/sharedStrings.xml", "<sst><si><t>town</t></si><si><t>sum</t></si><si><t>Ghent</t></si></sst>"),
    (
        "xl/styles.xml",
        "<styleSheet><cellXfs><xf numFmtId='0'/><xf numFmtId='14'/><xf numFmtId='21'/><xf numFmtId='46'/></cellXfs>\
         </styleSheet>",
    ),
];
const ODS: &[(&str, &str)] = &[
    ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
    ("META-INF/manifest.xml", "<manifest:manifest/>"),
];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    match first % 5 {
        0 => of_sitemap(rest),
        1 => of_bucket(rest),
        2 => of_robots(&String::from_utf8_lossy(rest)),
        3 => of_sheet(XLSX, "xl/worksheets/sheet1.xml", rest),
        _ => of_sheet(ODS, "content.xml", rest),
    }
});

fn of_sitemap(bytes: &[u8]) {
    let Ok(Sitemap::Pages(found) | Sitemap::Index(found)) = sitemap::read(bytes) else { return };
    assert!(found.len() <= 50_000);
    for address in found {
        assert!((1..=2_048).contains(&address.url.len()) && !address.url.contains(char::is_control));
        assert!(address.changed.is_none_or(|changed| changed.len() <= 64 && changed.is_ascii()));
    }
}

fn of_bucket(bytes: &[u8]) {
    match bucket::read(bytes) {
        Ok(bucket::Said::Page(page)) => {
            assert!(page.next.is_none_or(|next| !next.is_empty()));
            assert!(page.objects.iter().filter_map(|object| object.etag.as_ref()).all(|tag| !tag.is_empty()));
        }
        Ok(bucket::Said::Refused(refusal)) => assert!(refusal.code.len() <= 64 && refusal.code.is_ascii()),
        Err(_) => {}
    }
}

/// The first line is a path, the others are the file.
fn of_robots(text: &str) {
    let (path, file) = text.split_once('\n').unwrap_or((text, ""));
    let robots = Robots::read(file, "dragoman");
    let is_open = robots.allows(path);
    assert!(is_open || file.to_lowercase().contains("allow"), "no rule closes {path}");
    assert!(robots.delay.is_none_or(|delay| delay <= Duration::from_secs(86_400)));
}

fn of_sheet(others: &[(&str, &str)], part: &str, bytes: &[u8]) {
    if is_vast(bytes) {
        return;
    }
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let members = others.iter().map(|(name, text)| (*name, text.as_bytes())).chain([(part, bytes)]);
    for (name, bytes) in members {
        zip.start_file(name, options).expect("a member can be begun");
        zip.write_all(bytes).expect("a member can be written");
    }
    let file = zip.finish().expect("a zip can be ended").into_inner();
    let budget = Budget::new(file.len() as u64);
    let Ok(mut workbook) = Workbook::open(file, &budget) else { return };
    for sheet in workbook.sheets() {
        let Ok(Some(table)) = workbook.table(&sheet) else { continue };
        let mut names: Vec<String> = table.columns.iter().map(|(name, _)| name.to_lowercase()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), table.columns.len(), "names of columns differ");
        for row in table.rows() {
            assert_eq!(row.len(), table.columns.len());
            for (value, (_, kind)) in row.iter().zip(&table.columns) {
                let Some(value) = value else { continue };
                assert!(*kind != Kind::Integer || value.parse::<i64>().is_ok(), "{value} is no whole number");
            }
        }
    }
}

/// Whether an attribute ends in a number of four digits or more, which says where a cell stands, or how often: a sheet of
/// a few bytes may ask for more memory than there is. Only the bounds of a worker are an answer to that.
fn is_vast(part: &[u8]) -> bool {
    let ends_large = |window: &[u8]| match window {
        [digits @ .., b'"' | b'\''] => digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    part.windows(5).any(ends_large)
}
