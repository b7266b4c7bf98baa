//! What there is to read: the pages by reader, and where each is.

use super::guides;
use crate::config::Config;
use crate::ops::connectivity::guide::Guide;
use crate::ops::connectivity::guides::GUIDES;
use crate::ops::connectivity::place::Place;

/// The address that stands in the texts for that of the service.
pub(super) const ADDRESS: &str = "http://127.0.0.1:8787";

/// Whom a page is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Asking,
    Admin,
    Operator,
    Engineer,
}

/// In the order in which they are listed.
pub(super) const READERS: [Reader; 4] = [Reader::Asking, Reader::Admin, Reader::Operator, Reader::Engineer];

impl Reader {
    pub fn name(self) -> &'static str {
        match self {
            Reader::Asking => "People who ask",
            Reader::Admin => "Admins of a workspace",
            Reader::Operator => "Operators of the service",
            Reader::Engineer => "Engineers",
        }
    }
}

/// A page.
#[derive(Debug)]
pub struct Page {
    /// Of its file, and in its address.
    pub name: &'static str,
    pub reader: Reader,
    /// Markdown.
    pub text: &'static str,
}

/// A file that pages show or give away.
#[derive(Debug)]
pub struct File {
    /// As the pages name it, from `docs/`.
    pub source: &'static str,
    pub name: &'static str,
    pub kind: &'static str,
    pub content: &'static [u8],
}

/// A page by the name of its file.
macro_rules! page {
    ($reader:ident, $name:literal) => {
        Page { name: $name, reader: Reader::$reader, text: include_str!(concat!("../../../docs/", $name, ".md")) }
    };
}

const INDEX: Page = page!(Asking, "README");

/// All but the first page, in the order in which they are listed.
pub const PAGES: &[Page] = &[
    page!(Asking, "asking"),
    page!(Asking, "connect"),
    page!(Asking, "account"),
    page!(Asking, "troubleshooting"),
    page!(Admin, "data"),
    page!(Admin, "ontologies"),
    page!(Admin, "sources"),
    page!(Admin, "workspace"),
    page!(Operator, "running"),
    page!(Operator, "people"),
    page!(Operator, "models"),
    page!(Operator, "backup"),
    page!(Operator, "incidents"),
    page!(Operator, "settings"),
    page!(Operator, "limits"),
    page!(Engineer, "rest"),
    page!(Engineer, "tokens"),
    page!(Engineer, "clients"),
    page!(Engineer, "security"),
    page!(Engineer, "architecture"),
];

/// See [`File`].
pub const FILES: &[File] = &[
    File {
        source: "pictures/answer.png",
        name: "answer.png",
        kind: "image/png",
        content: include_bytes!("../../../docs/pictures/answer.png"),
    },
    File {
        source: "../nginx/dragoman.conf",
        name: "dragoman.conf",
        kind: "text/plain; charset=utf-8",
        content: include_bytes!("../../../nginx/dragoman.conf"),
    },
    File {
        source: "../.env.example",
        name: "env.example",
        kind: "text/plain; charset=utf-8",
        content: include_bytes!("../../../.env.example"),
    },
];

/// What a name stands for.
pub(super) enum Found {
    Page(&'static Page),
    Guide(&'static Guide),
}

/// `name` is the path of a file in `docs/` without its ending.
pub(super) fn find(name: &str) -> Option<Found> {
    if let Some(id) = name.strip_prefix("connect/") {
        return GUIDES.iter().find(|guide| guide.id == id).map(Found::Guide);
    }
    let page = if name == INDEX.name { Some(&INDEX) } else { PAGES.iter().find(|page| page.name == name) };
    page.map(Found::Page)
}

/// The Markdown of a page, with the service's own address.
pub(super) fn text(config: &Config, name: &str) -> Option<String> {
    Some(match find(name)? {
        Found::Page(page) => page.text.replace(ADDRESS, &config.issuer()),
        Found::Guide(guide) => guides::text(guide, &Place::new(config, None, None)),
    })
}

/// Of a text that begins with its title.
pub(super) fn title(text: &str) -> &str {
    text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default()
}

/// Where a page is shown.
pub(super) fn path(name: &str) -> String {
    if name == INDEX.name { "/docs".to_owned() } else { format!("/docs/{name}") }
}

/// The folder of a page in `docs/`, with a slash behind it.
pub(super) fn folder(name: &str) -> &str {
    name.rfind('/').and_then(|at| name.get(..=at)).unwrap_or_default()
}

/// Where a link leads that stands in a page of `folder`: to a page or a file of ours, or to the web. Other files are
/// found in the source alone.
pub(super) fn address(folder: &str, to: &str) -> Option<String> {
    if to.starts_with("https://") || to.starts_with('#') {
        return Some(to.to_owned());
    }
    let (file, part) = to.split_once('#').map_or((to, String::new()), |(file, part)| (file, format!("#{part}")));
    let file = match (folder, file.strip_prefix("../")) {
        ("", _) => file.to_owned(),
        (_, Some(above)) => above.to_owned(),
        (folder, None) => format!("{folder}{file}"),
    };
    if let Some(given) = FILES.iter().find(|given| given.source == file) {
        return Some(format!("/docs/files/{}", given.name));
    }
    let name = file.strip_suffix(".md")?;
    find(name).map(|_| format!("{}{part}", path(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_pages_files_and_the_web_and_nowhere_else() {
        for (from, to, expected) in [
            ("", "settings.md#settings", Some("/docs/settings#settings")),
            ("", "connect/claude.md", Some("/docs/connect/claude")),
            ("", "README.md", Some("/docs")),
            ("connect/", "../troubleshooting.md", Some("/docs/troubleshooting")),
            ("connect/", "cursor.md", Some("/docs/connect/cursor")),
            ("", "#here", Some("#here")),
            ("", "https://example.com/a", Some("https://example.com/a")),
            ("", "../.env.example", Some("/docs/files/env.example")),
            ("", "pictures/answer.png", Some("/docs/files/answer.png")),
            ("", "../src/lib.rs", None),
            ("", "nothing.md", None),
            ("", "javascript:alert(1)", None),
            ("", "http://example.com", None),
        ] {
            assert_eq!(address(from, to).as_deref(), expected, "{from} {to}");
        }
    }

    #[test]
    fn every_page_has_a_title_of_its_own() {
        let mut titles: Vec<&str> = PAGES.iter().map(|page| title(page.text)).collect();
        titles.sort_unstable();
        titles.dedup();
        assert!(titles.len() == PAGES.len() && !titles.contains(&""), "{titles:?}");
    }
}
