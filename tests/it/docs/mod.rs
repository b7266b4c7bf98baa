//! The documentation is true: its commands run, its links lead somewhere, what it repeats is what the program says, and
//! the service shows it.

mod commands;
mod elsewhere;
mod page;
mod repeats;
mod served;

use std::fs;
use std::path::PathBuf;

use dragoman::surface::docs::PAGES;
use page::Page;

/// Where the source is.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The README and every page that people wrote, by its path in the source.
pub fn written() -> Vec<Page> {
    let files = PAGES.iter().map(|page| format!("docs/{}.md", page.name));
    let files = ["README.md".to_owned(), "docs/README.md".to_owned()].into_iter().chain(files);
    files.map(|file| Page { text: fs::read_to_string(root().join(&file)).unwrap(), file }).collect()
}

/// As [`written`], with the guides of clients.
pub fn all() -> Vec<Page> {
    let guides =
        dragoman::ops::connectivity::guides::GUIDES.iter().map(|guide| format!("docs/connect/{}.md", guide.id));
    let guides = guides.map(|file| Page { text: fs::read_to_string(root().join(&file)).unwrap(), file });
    written().into_iter().chain(guides).collect()
}

#[test]
fn a_newcomer_reads_the_readme_in_ten_minutes() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.lines().count() < 200, "{} lines", readme.lines().count());
    let picture = fs::metadata(root().join("docs/pictures/answer.png")).unwrap().len();
    assert!(picture < 100 << 10, "{picture} bytes");
}

#[test]
fn every_page_is_listed_and_every_file_is_a_page() {
    let index = fs::read_to_string(root().join("docs/README.md")).unwrap();
    for page in PAGES {
        assert!(index.contains(&format!("({}.md)", page.name)), "docs/README.md does not list {}", page.name);
    }
    for (folder, files) in [("docs", all()), ("docs/connect", all())] {
        for file in fs::read_dir(root().join(folder)).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            let path = format!("{folder}/{name}");
            assert!(!name.ends_with(".md") || files.iter().any(|page| page.file == path), "{path} is no page");
        }
    }
}

/// Relative links lead to files of the source, and their anchors to headings.
#[test]
fn every_link_leads_somewhere() {
    let mut wrong = Vec::new();
    for page in all() {
        let folder = root().join(&page.file).parent().unwrap().to_owned();
        for link in page.links().into_iter().filter(|link| !link.starts_with("https://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { root().join(&page.file) } else { folder.join(file) };
            let there =
                target.exists() && (anchor.is_empty() || Page::read(&target).anchors().iter().any(|id| id == anchor));
            if !there {
                wrong.push(format!("{}: {link}", page.file));
            }
        }
    }
    assert!(wrong.is_empty(), "links that lead nowhere: {wrong:#?}");
}
