//! PDF (ISO 32000): the text of each page in reading order. A page says only where glyphs stand; lines, columns,
//! paragraphs, tables and headings are found by where they are, how large, and how heavy.

mod direction;
mod fields;
mod glyphs;
mod headings;
mod layout;
mod lines;

use hayro_interpret::hayro_syntax::metadata::Metadata;
use hayro_interpret::hayro_syntax::object::DateTime;
use hayro_interpret::hayro_syntax::{LoadPdfError, Pdf};

use super::budget::Budget;
use super::package::protected;
use super::write::Text;
use super::{Extracted, broken};
use crate::model::document::Facts;
use crate::model::error::{Error, Result};

use layout::Block;

/// Pages that are read.
const PAGES: usize = 20_000;

pub(super) fn read(bytes: &[u8], name: &str, budget: &Budget) -> Result<Extracted> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(|problem| match problem {
        LoadPdfError::Decryption(_) => protected(),
        // Some that need a password are not even told to.
        LoadPdfError::Invalid if bytes.windows(8).any(|window| window == b"/Encrypt") => protected(),
        LoadPdfError::Invalid => broken("it has no readable table of its parts"),
    })?;
    if pdf.pages().len() > PAGES {
        return Err(broken(format!("it has more than {PAGES} pages")));
    }
    let mut seen = glyphs::Seen::default();
    let mut pages = Vec::new();
    for page in glyphs::pages(&pdf, &mut seen) {
        pages.push(layout::blocks(page?));
    }
    if pages.iter().all(Vec::is_empty) {
        return Err(no_text(&seen));
    }
    headings::drop_furniture(&mut pages);
    let levels = headings::levels(&pages);
    let mut text = Text::new(budget);
    for page in &pages {
        for block in page {
            match block {
                Block::Table(rows) => text.table(rows)?,
                Block::Paragraph(paragraph) => match levels.of(paragraph) {
                    Some(level) => text.heading(level, &paragraph.text)?,
                    None if paragraph.is_item => text.item(0, "-", &paragraph.text)?,
                    None => text.paragraph(&paragraph.text)?,
                },
            }
        }
        text.page()?;
    }
    let said = pdf.metadata();
    let own = said.title.as_ref().map(|title| fields::written(title)).filter(|title| is_title(title));
    let title = own.or_else(|| text.first_heading().map(str::to_owned));
    Ok(Extracted::new(name, title, text, facts(said)))
}

fn facts(said: &Metadata) -> Facts {
    let text = |bytes: &Option<Box<[u8]>>| bytes.as_ref().map(|bytes| fields::written(bytes));
    super::facts([
        ("author", text(&said.author)),
        ("subject", text(&said.subject)),
        ("keywords", text(&said.keywords)),
        ("created", said.creation_date.map(moment)),
        ("modified", said.modification_date.map(moment)),
    ])
}

/// As RFC 3339 has it.
fn moment(at: DateTime) -> String {
    let DateTime { year, month, day, hour, minute, second, utc_offset_hour, utc_offset_minute } = at;
    let sign = if utc_offset_hour < 0 { '-' } else { '+' };
    format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{sign}{:02}:{utc_offset_minute:02}",
        utc_offset_hour.unsigned_abs()
    )
}

/// Programs put names of files there, and of themselves.
fn is_title(title: &str) -> bool {
    let lower = title.to_lowercase();
    let is_file =
        [".doc", ".docx", ".tex", ".dvi", ".indd", ".pdf", ".ps", ".qxd", ".xls", ".xlsx", ".ppt", ".pptx", ".rtf"];
    title.chars().filter(|c| c.is_alphabetic()).count() >= 3
        && !is_file.iter().any(|ending| lower.ends_with(ending))
        && !lower.starts_with("microsoft word -")
        && !lower.starts_with("untitled")
}

fn no_text(seen: &glyphs::Seen) -> Error {
    let message = match (seen.images, seen.unnamed) {
        (0, 0) => "it has no text.",
        (_, 0) => "it has pictures of pages and no text. Have the text recognised (OCR), and import what comes of it.",
        _ => {
            "its fonts do not say which letters they show. Save it anew from its source, or have the text recognised (OCR)."
        }
    };
    Error::invalid("file", message)
}
