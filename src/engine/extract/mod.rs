//! Documents of others into text. What is read here comes from strangers: all of it runs in a worker process that can
//! reach nothing, and only telling what a file is ([`detect`]) looks at a few bytes outside of one.
//!
//! ```text
//! detect   bytes → format
//! read     bytes → documents, each one text of Markdown (write.rs), pages apart by form feeds; archives and mails are
//!          gone through, and what they hold is read the same way
//! sheets   workbook → tables
//! sitemap  list of a web site's pages → addresses
//! ```
//!
//! One file a family of formats. Sizes, counts and depths are bounded by one [`Budget`] for all that is within a file.

mod budget;
pub mod decode;
pub mod detect;
mod docx;
mod epub;
mod html;
mod mail;
mod odf;
mod office;
mod package;
mod pdf;
mod pptx;
mod rtf;
pub mod sheets;
pub mod sitemap;
mod tables;
mod write;
mod xml;

use std::io::Cursor;

use serde::{Deserialize, Serialize};

pub use budget::Budget;
pub use detect::Format;
pub use write::PAGE_BREAK;

use crate::model::document::{Facts, Markup};
use crate::model::error::{Code, Error, Result};

/// Characters of one thing that a document says of itself.
const FACT: usize = 500;

/// A document as it was found in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extracted {
    /// The file's name, followed by the path within it: `mail.eml/offer.docx`.
    pub name: String,
    /// What the document calls itself; empty when it does not.
    pub title: String,
    /// Lines end in `\n`, pages, slides and parts in a form feed.
    pub text: String,
    pub markup: Markup,
    /// What it says of itself beside its text.
    #[serde(default)]
    pub facts: Facts,
}

impl Extracted {
    fn new(name: &str, title: Option<String>, text: write::Text<'_>, facts: Facts) -> Self {
        let text = if text.is_blank() { String::new() } else { text.finish() };
        Self { name: name.to_owned(), title: title.unwrap_or_default(), text, markup: Markup::Markdown, facts }
    }
}

/// What is said under some names, of what says something. Filters ask for `created` and `author` by these names.
fn facts<'n>(said: impl IntoIterator<Item = (&'n str, Option<String>)>) -> Facts {
    let said = said.into_iter().filter_map(|(name, text)| Some((name, text.filter(|text| !text.trim().is_empty())?)));
    said.map(|(name, text)| (name.to_owned(), text.chars().take(FACT).collect::<String>().into())).collect()
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    pub documents: Vec<Extracted>,
    /// Members of archives, and attachments, that are of no kind that is read.
    pub skipped: Vec<String>,
}

/// Reads a file of documents.
///
/// # Errors
/// `invalid_argument` that says which file, and where it is wrong; `limit_exceeded` for one that holds too much.
pub fn read(bytes: &[u8], name: &str) -> Result<Found> {
    let budget = Budget::new(bytes.len() as u64);
    let mut found = Found::default();
    let format = detect::format(&mut Cursor::new(bytes), name).map_err(|error| of_file(name, error))?;
    by_format(format, bytes, name, &budget, &mut found)?;
    found.documents.retain(|document| !document.text.is_empty());
    if found.documents.is_empty() {
        let message =
            if found.skipped.is_empty() { "it has no text." } else { "nothing in it is of a kind that is read." };
        return Err(of_file(name, Error::invalid("file", message)));
    }
    Ok(found)
}

/// Reads what is within an archive or a mail; what is of no kind that is read is passed over.
fn within(bytes: &[u8], name: &str, budget: &Budget, found: &mut Found) -> Result<()> {
    match detect::format(&mut Cursor::new(bytes), name) {
        Ok(format) => by_format(format, bytes, name, budget, found),
        Err(_) => {
            found.skipped.push(name.to_owned());
            Ok(())
        }
    }
}

fn by_format(format: Format, bytes: &[u8], name: &str, budget: &Budget, found: &mut Found) -> Result<()> {
    let one = match format {
        Format::Mail => return mail::read(bytes, name, budget, found).map_err(|error| of_file(name, error)),
        Format::Mailbox => return mail::read_box(bytes, name, budget, found).map_err(|error| of_file(name, error)),
        Format::Zip => return archive(bytes, name, budget, found).map_err(|error| of_file(name, error)),
        Format::Parquet => {
            found.skipped.push(name.to_owned());
            return Ok(());
        }
        Format::Pdf => pdf::read(bytes, name, budget),
        Format::Docx => docx::read(bytes, name, budget),
        Format::Pptx => pptx::read(bytes, name, budget),
        Format::OpenDocument => odf::read(bytes, name, budget),
        Format::Html => html::read(bytes, name, budget),
        Format::Epub => epub::read(bytes, name, budget),
        Format::Rtf => rtf::read(bytes, name, budget),
        Format::Workbook => sheets::read(bytes, name, budget),
        Format::Csv | Format::Json | Format::Text => plain(bytes, name, Markup::Plain, budget),
        Format::Markdown => plain(bytes, name, Markup::Markdown, budget),
    };
    found.documents.push(one.map_err(|error| of_file(name, error))?);
    Ok(())
}

/// Each member of a zip that is a document.
fn archive(bytes: &[u8], name: &str, budget: &Budget, found: &mut Found) -> Result<()> {
    let _deeper = budget.deeper()?;
    let mut package = package::Package::open(bytes, budget)?;
    for index in 0..package.len() {
        let Some((member, bytes)) = package.member(index)? else { continue };
        let own = member.rsplit(['/', '\\']).next().unwrap_or(&member);
        // What systems put beside files.
        if own.starts_with('.') || member.starts_with("__MACOSX/") || matches!(own, "Thumbs.db" | "desktop.ini") {
            continue;
        }
        within(&bytes, &format!("{name}/{member}"), budget, found)?;
    }
    Ok(())
}

/// A text that is one already.
fn plain(bytes: &[u8], name: &str, markup: Markup, budget: &Budget) -> Result<Extracted> {
    let (text, _) = decode::text(bytes).map_err(|wrong| broken(format!("byte {} is no text", wrong.at + 1)))?;
    budget.text(text.len())?;
    let text = text.replace("\r\n", "\n").replace(PAGE_BREAK, "\n");
    Ok(Extracted { name: name.to_owned(), title: String::new(), text, markup, facts: Facts::new() })
}

/// What is wrong within a file.
fn broken(what: impl std::fmt::Display) -> Error {
    Error::invalid("file", format!("it is damaged or not what it seems: {what}."))
}

/// The same, with the file's name before it; the innermost name stays.
fn of_file(name: &str, error: Error) -> Error {
    if error.details.get("file").is_some() || error.code == Code::InternalError {
        return error;
    }
    let message = format!("{name} cannot be imported: {}", error.message);
    let mut details = error.details;
    if let Some(details) = details.as_object_mut() {
        details.insert("file".to_owned(), name.into());
    }
    Error::new(error.code, message).with(details)
}
