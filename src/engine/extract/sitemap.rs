//! Sitemaps (the protocol of sitemaps.org, 0.9): which pages a web site has, or which sitemaps it has.

use std::borrow::Cow;
use std::io::Read as _;

use flate2::bufread::MultiGzDecoder;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::broken;
use super::xml::{Node, Xml, text_of};
use crate::model::error::{Code, Error, Result};

/// Bytes of an unpacked sitemap, and addresses in one, as the protocol has them.
const BYTES: u64 = 50 << 20;
const ADDRESSES: usize = 50_000;
/// Bytes of an address; the protocol has shorter ones.
const ADDRESS: usize = 2_048;
/// Bytes of what is said of a change.
const CHANGED: usize = 64;

/// What a sitemap names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sitemap {
    Pages(Vec<Address>),
    /// Further sitemaps.
    Index(Vec<Address>),
}

/// An address as it was written, and its `lastmod` where that was said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    pub url: String,
    pub changed: Option<String>,
}

/// Reads a sitemap, packed with gzip or not.
///
/// # Errors
/// `invalid_argument` with the byte for what is none; `limit_exceeded` for more than 50 MiB or 50,000 addresses.
pub fn read(bytes: &[u8]) -> Result<Sitemap> {
    let bytes = unpacked(bytes)?;
    let text = text_of(&bytes);
    let mut xml = Xml::new(&text, "the sitemap");
    let (mut open, mut found): (Vec<String>, Vec<Address>) = (Vec::new(), Vec::new());
    let (mut is_index, mut address, mut said) = (false, Address::default(), String::new());
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(tag) => {
                if open.is_empty() {
                    is_index = match tag.name.as_str() {
                        "urlset" => false,
                        "sitemapindex" => true,
                        other => {
                            return Err(broken(format!("it begins with <{other}>, not <urlset> or <sitemapindex>")));
                        }
                    };
                }
                said.clear();
                open.push(tag.name);
            }
            Node::Text(text) if open.len() == 3 => said.push_str(&text),
            Node::Text(_) => {}
            Node::Close(_) => {
                let closed = open.pop();
                match (open.len(), closed.as_deref()) {
                    (2, Some("loc")) => said.trim().clone_into(&mut address.url),
                    (2, Some("lastmod")) => {
                        address.changed = Some(said.chars().filter(char::is_ascii_graphic).take(CHANGED).collect());
                    }
                    (1, Some("url" | "sitemap")) => found.push(std::mem::take(&mut address)),
                    _ => {}
                }
                if found.len() > ADDRESSES {
                    return Err(too_much("addresses", ADDRESSES as u64));
                }
            }
        }
    }
    if open.is_empty() && found.is_empty() && text.trim().is_empty() {
        return Err(broken("it is empty"));
    }
    // What no address has would only take room.
    let is_plain = |address: &Address| !address.url.contains(|c: char| c.is_control() || matches!(c, '"' | '\\'));
    found.retain(|address| (1..=ADDRESS).contains(&address.url.len()) && is_plain(address));
    Ok(if is_index { Sitemap::Index(found) } else { Sitemap::Pages(found) })
}

fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return if bytes.len() as u64 > BYTES { Err(too_much("bytes", BYTES)) } else { Ok(bytes.into()) };
    }
    let mut unpacked = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(BYTES + 1).read_to_end(&mut unpacked);
    read.map_err(|cause| broken(format!("gzip: {cause}")))?;
    if unpacked.len() as u64 > BYTES { Err(too_much("bytes", BYTES)) } else { Ok(unpacked.into()) }
}

fn too_much(what: &str, most: u64) -> Error {
    let message = format!("it has more than {most} {what}, which no sitemap may have.");
    Error::new(Code::LimitExceeded, message).with(json!({ "limit": format!("sitemap_{what}"), "max": most }))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    }

    fn address(url: &str, changed: Option<&str>) -> Address {
        Address { url: url.into(), changed: changed.map(str::to_owned) }
    }

    #[test]
    fn pages_and_sitemaps_are_told_apart_packed_or_not() {
        let pages = r#"<?xml version="1.0"?><urlset xmlns="x" xmlns:image="y">
            <url><loc> https://e.com/?a=1&amp;b=2 </loc><lastmod>2024-01-02</lastmod><priority>1</priority></url>
            <url><loc><![CDATA[https://e.com/b]]></loc><image:image><image:loc>https://e.com/b.png</image:loc></image:image></url>
            <url><lastmod>2024-01-02</lastmod></url></urlset>"#;
        let expected = Sitemap::Pages(vec![
            address("https://e.com/?a=1&b=2", Some("2024-01-02")),
            address("https://e.com/b", None),
        ]);
        assert_eq!(read(pages.as_bytes()).unwrap(), expected);
        assert_eq!(read(&packed(pages.as_bytes())).unwrap(), expected);
        let index = "<sitemapindex><sitemap><loc>https://e.com/s.xml.gz</loc></sitemap></sitemapindex>";
        assert_eq!(read(index.as_bytes()).unwrap(), Sitemap::Index(vec![address("https://e.com/s.xml.gz", None)]));
    }

    #[test]
    fn what_is_no_sitemap_or_unpacks_to_too_much_is_refused() {
        for bad in [&b""[..], b"<html><body>Not found</body></html>", b"<urlset><url>", b"\x1f\x8bnothing"] {
            assert_eq!(read(bad).unwrap_err().code, Code::InvalidArgument, "{bad:?}");
        }
        let bomb = packed(&vec![b' '; (BYTES + 1) as usize]);
        assert!(bomb.len() < 100_000);
        let refused = read(&bomb).unwrap_err();
        assert_eq!((refused.code, &refused.details["limit"]), (Code::LimitExceeded, &json!("sitemap_bytes")));
        let many = format!("<urlset>{}</urlset>", "<url><loc>https://e.com/</loc></url>".repeat(ADDRESSES + 1));
        assert_eq!(read(many.as_bytes()).unwrap_err().details["limit"], json!("sitemap_addresses"));
    }
}
