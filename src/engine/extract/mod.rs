//! Documents of others into text. What is read here comes from strangers: all of it runs in a worker process that can
//! reach nothing, and only telling what a file is ([`detect`]) looks at a few bytes outside of one.
//!
//! ```text
//! detect   bytes → format
//! read     bytes → documents, each one text of Markdown (write.rs), pages apart by form feeds; archives and mails are
//!          gone through, and what they hold is read the same way
//! sheets   workbook → tables
//! sitemap  list of a web site's pages → addresses
//! bucket   list of a bucket's objects → keys
//! ```
//!
//! One file a family of formats. Sizes, counts and depths are bounded by one [`Budget`] for all that is within a file.

pub mod bucket;
mod budget;
pub mod decode;
pub mod detect;
mod docx;
mod drawings;
mod epub;
mod formula;
mod html;
mod mail;
mod numbers;
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
use std::panic::{AssertUnwindSafe, catch_unwind};

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
    /// Why members of archives, mails of boxes and attachments are not among them, each in a sentence with its name.
    pub skipped: Vec<String>,
}

impl Found {
    /// What is wrong with one of many spoils none of the others; what the whole may cost holds for all of them.
    fn unless_skipped<T: Default>(&mut self, name: &str, read: Result<T>) -> Result<T> {
        match read {
            Err(error) if error.code == Code::InvalidArgument => {
                let told = of_file(name, error).message;
                // Said once for a file alone, not for each of its parts.
                self.skipped.push(told.split_once(detect::HELP).map_or(told.as_str(), |(told, _)| told).to_owned());
                Ok(T::default())
            }
            read => read,
        }
    }
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
    match (found.documents.is_empty(), found.skipped.as_slice()) {
        (false, _) => Ok(found),
        (true, []) => Err(of_file(name, no_text())),
        (true, [reason, others @ ..]) => {
            let mut message = format!("nothing in it can be read. {reason}");
            if !others.is_empty() {
                message.push_str(&format!(" It is the first of {}.", others.len() + 1));
            }
            Err(of_file(name, Error::invalid("file", message)))
        }
    }
}

/// Reads what is within an archive or a mail.
fn within(bytes: &[u8], name: &str, budget: &Budget, found: &mut Found) -> Result<()> {
    let format = detect::format(&mut Cursor::new(bytes), name);
    let read = format.and_then(|format| held(|| by_format(format, bytes, name, budget, found))?);
    found.unless_skipped(name, read)
}

fn by_format(format: Format, bytes: &[u8], name: &str, budget: &Budget, found: &mut Found) -> Result<()> {
    let one = match format {
        Format::Mail => return mail::read(bytes, name, budget, found).map_err(|error| of_file(name, error)),
        Format::Mailbox => return mail::read_box(bytes, name, budget, found).map_err(|error| of_file(name, error)),
        Format::Zip => return archive(bytes, name, budget, found).map_err(|error| of_file(name, error)),
        Format::Parquet => Err(Error::invalid("file", "it is a table; import it by itself.")),
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
    let one = one.and_then(|one| if one.text.is_empty() { Err(no_text()) } else { Ok(one) });
    found.documents.push(one.map_err(|error| of_file(name, error))?);
    Ok(())
}

/// Each member of a zip that is a document.
fn archive(bytes: &[u8], name: &str, budget: &Budget, found: &mut Found) -> Result<()> {
    let _deeper = budget.deeper()?;
    let mut package = package::Package::open(bytes, budget)?;
    for index in 0..package.len() {
        let member = package.name(index);
        let own = member.rsplit(['/', '\\']).next().unwrap_or(&member);
        // What systems put beside files.
        if own.starts_with('.') || member.starts_with("__MACOSX/") || matches!(own, "Thumbs.db" | "desktop.ini") {
            continue;
        }
        let name = format!("{name}/{member}");
        let read = package.member(index);
        if let Some(bytes) = found.unless_skipped(&name, read)? {
            within(&bytes, &name, budget, found)?;
        }
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

fn no_text() -> Error {
    Error::invalid("file", "it has no text.")
}

/// What a reader answers, which on some damaged files gives up in its midst.
fn held<T>(read: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read))
        .map_err(|_| broken("its reader failed on it. Open it in the program that made it, and save it anew"))
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

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    pub(super) fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in members {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn names(found: &Found) -> Vec<&str> {
        found.documents.iter().map(|document| document.name.as_str()).collect()
    }

    #[test]
    fn what_is_wrong_with_one_member_spoils_no_other_and_is_told() {
        let zip = zipped(&[("a.txt", b"Words."), ("b.pdf", b"%PDF-1.7\nno"), ("c.txt", b""), ("d.png", b"\x89PNG")]);
        let found = read(&zip, "x.zip").unwrap();
        assert_eq!(names(&found), ["x.zip/a.txt"]);
        let reasons =
            ["x.zip/b.pdf cannot be imported: it is damaged", "x.zip/c.txt cannot be imported: it has no text."];
        assert!(
            found.skipped.iter().zip(reasons).all(|(told, reason)| told.starts_with(reason)),
            "{:?}",
            found.skipped
        );
        assert_eq!(found.skipped.len(), 3);

        let mail = b"From: a@b.c\nSubject: Scan\nContent-Type: multipart/mixed; boundary=X\n\n--X\n\nSee it.\n--X\n\
                     Content-Type: application/pdf; name=s.pdf\nContent-Disposition: attachment; filename=s.pdf\n\
                     Content-Transfer-Encoding: base64\n\nJVBERi0xLjcK\n--X--\n";
        let found = read(mail, "m.eml").unwrap();
        assert_eq!((names(&found), found.skipped.len()), (vec!["m.eml"], 1));

        let mails =
            b"From a@b Mon\nSubject: 1\nFrom: a@b.c\n\nOne\n\nFrom a@b Tue\n\nFrom a@b Wed\nSubject: 3\n\nThree\n";
        let found = read(mails, "m.mbox").unwrap();
        assert_eq!((names(&found), found.skipped.len()), (vec!["m.mbox/1", "m.mbox/3"], 1));
    }

    #[test]
    fn a_file_without_anything_to_read_says_why_and_bounds_hold_for_the_whole() {
        let nothing = read(&zipped(&[("b.pdf", b"%PDF-1.7\nno")]), "x.zip").unwrap_err();
        assert!(nothing.message.starts_with("x.zip cannot be imported: nothing in it can be read. x.zip/b.pdf"));
        let mut nested = zipped(&[("a.txt", b"deep")]);
        for _ in 0..8 {
            nested = zipped(&[("a.txt", b"Words."), ("inner.zip", &nested)]);
        }
        assert_eq!(read(&nested, "x.zip").unwrap_err().code, Code::LimitExceeded);
    }
}
