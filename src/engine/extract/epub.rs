//! Books (EPUB 3.3): the documents of the spine in reading order, each a part.

use std::collections::HashMap;

use super::budget::Budget;
use super::package::{Package, beside, protected};
use super::write::Text;
use super::xml::{Node, Xml, text_of};
use super::{Extracted, broken, html, office};
use crate::model::error::Result;

const CONTAINER: &str = "META-INF/container.xml";

pub(super) fn read(bytes: &[u8], name: &str, budget: &Budget) -> Result<Extracted> {
    let mut package = Package::open(bytes, budget)?;
    let container = package.need(CONTAINER)?;
    let root = root_file(&text_of(&container))?;
    let part = package.need(&root)?;
    let content = text_of(&part);
    let (title, facts) = (office::text_in(&content, "title"), office::facts_in(&content));
    let mut text = Text::new(budget);
    let encrypted = encrypted(&mut package)?;
    let mut is_first = true;
    for target in spine(&content, &root)? {
        if encrypted.contains(&target) {
            return Err(protected());
        }
        // A part that the manifest names and the zip lacks is no reason to lose the book.
        let Some(chapter) = package.read(&target)? else { continue };
        if !std::mem::take(&mut is_first) {
            text.page()?;
        }
        html::whole_text(&html::source(&chapter), &mut text)?;
    }
    let title = title.or_else(|| text.first_heading().map(str::to_owned));
    Ok(Extracted::new(name, title, text, facts))
}

fn root_file(container: &str) -> Result<String> {
    let mut xml = Xml::new(container, CONTAINER);
    while let Some(node) = xml.next()? {
        if let Node::Open(tag) = node
            && tag.name == "rootfile"
            && let Some(path) = tag.get("full-path")
        {
            return Ok(path.to_owned());
        }
    }
    Err(broken(format!("{CONTAINER} names no content")))
}

/// The paths of the chapters, in order.
fn spine(content: &str, root: &str) -> Result<Vec<String>> {
    let (mut manifest, mut spine) = (HashMap::new(), Vec::new());
    let mut xml = Xml::new(content, root);
    while let Some(node) = xml.next()? {
        let Node::Open(tag) = node else { continue };
        match tag.name.as_str() {
            "item" if tag.get("media-type").is_some_and(|kind| kind.contains("html")) => {
                let target = unescaped(tag.get("href").unwrap_or_default());
                manifest.insert(tag.get("id").unwrap_or_default().to_owned(), beside(root, &target));
            }
            "itemref" => spine.extend(tag.get("idref").map(str::to_owned)),
            _ => {}
        }
    }
    Ok(spine.iter().filter_map(|id| manifest.get(id).cloned()).collect())
}

/// A reference without its escapes and its fragment.
fn unescaped(href: &str) -> String {
    let path = href.split('#').next().unwrap_or(href);
    let mut pieces = path.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let escaped = piece.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (escaped, piece.get(2..)) {
            (Some(byte), Some(rest)) => {
                bytes.push(byte);
                bytes.extend(rest.as_bytes());
            }
            _ => {
                bytes.push(b'%');
                bytes.extend(piece.as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Paths of what is encrypted: fonts often are, and are not read.
fn encrypted(package: &mut Package<'_>) -> Result<Vec<String>> {
    const ENCRYPTION: &str = "META-INF/encryption.xml";
    let Some(part) = package.read(ENCRYPTION)? else { return Ok(Vec::new()) };
    let text = text_of(&part);
    let (mut paths, mut xml) = (Vec::new(), Xml::new(&text, ENCRYPTION));
    while let Some(node) = xml.next()? {
        if let Node::Open(tag) = node
            && tag.name == "CipherReference"
            && let Some(path) = tag.get("URI")
        {
            paths.push(unescaped(path).trim_start_matches('/').to_owned());
        }
    }
    Ok(paths)
}
