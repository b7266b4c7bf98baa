//! Web pages: what the page is about, without what stands around it on every page of the site. Read as browsers read,
//! whatever is wrong with the markup (WHATWG HTML).

mod flow;
mod region;

use scraper::Html;

use super::budget::Budget;
use super::write::Text;
use super::{Extracted, broken, decode};
use crate::model::document::Facts;
use crate::model::error::Result;

/// Elements within elements; a parser of HTML looks through all that are open at each new one.
const DEPTH: usize = 5_000;
/// Elements that nest as deep as one likes.
const NESTING: &[&str] = &[
    "div", "span", "table", "tbody", "ul", "ol", "dl", "section", "article", "blockquote", "center", "font", "em",
    "strong", "small", "big", "code", "tt", "sub", "sup", "form", "fieldset", "details", "main", "nav", "header",
    "footer", "aside", "figure", "address", "button", "object", "svg", "math", "ruby", "template", "dir", "menu",
    "pre", "label", "ins", "del",
];

/// Where a page may name its encoding (WHATWG HTML §13.2.3.2).
const PRESCAN: usize = 1_024;

pub(super) fn read(bytes: &[u8], name: &str, budget: &Budget) -> Result<Extracted> {
    let mut text = Text::new(budget);
    let source = source(bytes);
    let title = main_text(&source, &mut text)?;
    // Sites put their name behind it.
    let heading = text.first_heading().filter(|heading| title.as_ref().is_none_or(|title| title.starts_with(heading)));
    let title = heading.map(str::to_owned).or(title);
    Ok(Extracted::new(name, title, text, Facts::new()))
}

/// Writes the main text of a page; answers what the page calls itself.
pub(super) fn main_text(source: &str, out: &mut Text<'_>) -> Result<Option<String>> {
    let page = parsed(source)?;
    let region = region::main(&page);
    flow::write(region.root, &region.left_out, out)?;
    Ok(region::title(&page))
}

/// Writes all of a text of markup: a chapter of a book, a mail.
pub(super) fn whole_text(source: &str, out: &mut Text<'_>) -> Result<()> {
    let page = parsed(source)?;
    let region = region::whole(&page);
    flow::write(region.root, &region.left_out, out)
}

/// # Errors
/// `invalid_argument` for elements that are nested too deep.
fn parsed(source: &str) -> Result<Html> {
    let mut depth = 0_usize;
    for tag in source.split('<').skip(1) {
        let (closes, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
        let name = tag.get(..tag.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tag.len())).unwrap_or_default();
        if !NESTING.contains(&name.to_ascii_lowercase().as_str()) {
            continue;
        }
        depth = if closes { depth.saturating_sub(1) } else { depth + 1 };
        if depth > DEPTH {
            return Err(broken(format!("elements are nested more than {DEPTH} deep")));
        }
    }
    Ok(Html::parse_document(source))
}

/// The text of a page, by its mark, what it says of itself, or its bytes.
pub(super) fn source(bytes: &[u8]) -> String {
    if let Some(text) = decode::marked(bytes) {
        return text.into_owned();
    }
    if let Ok(text) = std::str::from_utf8(bytes)
        && !decode::is_switched(bytes)
    {
        return text.to_owned();
    }
    let encoding = declared(bytes).unwrap_or_else(|| decode::older(bytes));
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

fn declared(bytes: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let head = String::from_utf8_lossy(bytes.get(..PRESCAN).unwrap_or(bytes)).to_ascii_lowercase();
    let at = ["charset=", "encoding="].iter().find_map(|word| head.find(word).map(|at| at + word.len()))?;
    let label = head.get(at..)?.trim_start_matches(['"', '\'', ' ']);
    let end = label.find(['"', '\'', ';', '>', ' ', '/', '?']).unwrap_or(label.len());
    encoding_rs::Encoding::for_label(label.get(..end)?.as_bytes())
}
