//! What a server that speaks S3's protocol says of a bucket: a page of the list of its objects (`ListObjectsV2`), or why there
//! is none.

use serde::{Deserialize, Serialize};

use super::broken;
use super::xml::{Node, Xml, text_of};
use crate::model::error::Result;

/// Bytes of what an object is known by, and of a code of the protocol.
const TAG: usize = 200;
const CODE: usize = 64;

/// What was said of a bucket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Said {
    Page(Page),
    Refused(Refusal),
}

/// A page of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    pub objects: Vec<Object>,
    /// By which the next page is asked for; none after the last.
    pub next: Option<String>,
}

/// An object, as it is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    pub key: String,
    /// Another one with every change of its bytes.
    pub etag: Option<String>,
    /// Bytes.
    pub size: u64,
    /// How it is kept, such as STANDARD or GLACIER; empty where that is not said.
    pub class: String,
}

/// Why there is no list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Such as NoSuchBucket.
    pub code: String,
    /// Where the bucket is, when it was asked for elsewhere.
    pub region: Option<String>,
}

/// Reads an answer.
///
/// # Errors
/// `invalid_argument` with the byte for what is none.
pub fn read(bytes: &[u8]) -> Result<Said> {
    let text = text_of(bytes);
    let mut xml = Xml::new(&text, "the answer");
    let (mut open, mut said): (Vec<String>, String) = (Vec::new(), String::new());
    let (mut page, mut object, mut refusal) = (Page::default(), Object::default(), Refusal::default());
    let (mut is_cut, mut is_whole) = (false, false);
    let mut root = String::new();
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(tag) => {
                if open.is_empty() {
                    root.clone_from(&tag.name);
                }
                said.clear();
                open.push(tag.name);
            }
            Node::Text(text) => said.push_str(&text),
            Node::Close(_) => {
                let Some(closed) = open.pop() else { continue };
                let within = open.get(1).map(String::as_str);
                match (open.len(), within, closed.as_str()) {
                    (1, None, "IsTruncated") => {
                        is_whole = said.trim().eq_ignore_ascii_case("false");
                        is_cut = !is_whole;
                    }
                    (1, None, "NextContinuationToken") => {
                        page.next = Some(said.trim().to_owned()).filter(|next| !next.is_empty());
                    }
                    (1, None, "Code") => refusal.code = word(&said),
                    (1, None, "Region") => refusal.region = Some(word(&said)),
                    (1, None, "Contents") => page.objects.push(std::mem::take(&mut object)),
                    (2, Some("Contents"), "Key") => object.key = std::mem::take(&mut said),
                    (2, Some("Contents"), "ETag") => object.etag = tag(&said),
                    (2, Some("Contents"), "Size") => object.size = said.trim().parse().unwrap_or(u64::MAX),
                    (2, Some("Contents"), "StorageClass") => object.class = word(&said),
                    _ => {}
                }
            }
        }
    }
    match root.as_str() {
        "Error" => Ok(Said::Refused(refusal)),
        "ListBucketResult" if is_cut && page.next.is_none() => {
            Err(broken("it has more objects, and does not say how to ask for them"))
        }
        "ListBucketResult" => Ok(Said::Page(Page { next: page.next.filter(|_| !is_whole), ..page })),
        _ => Err(broken(format!("it begins with <{}>, not <ListBucketResult>", word(&root)))),
    }
}

/// What an object is known by; `None` when that says nothing.
fn tag(said: &str) -> Option<String> {
    Some(said.trim().chars().take(TAG).collect()).filter(|tag: &String| !tag.is_empty())
}

/// A word of the protocol, without what it never has.
fn word(said: &str) -> String {
    said.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).take(CODE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::error::Code;

    #[test]
    fn a_page_has_its_objects_and_leads_to_the_next() {
        // As the API reference has it, with a prefix and another key.
        let list = r#"<?xml version="1.0" encoding="UTF-8"?>
            <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>docs</Name><Prefix/><KeyCount>2</KeyCount>
            <MaxKeys>1000</MaxKeys><IsTruncated>true</IsTruncated><NextContinuationToken>1ueGcxL==</NextContinuationToken>
            <Contents><Key>a &amp; b/ my-image.jpg</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified>
            <ETag>&quot;fba9dede5f27731c9771645a39863328&quot;</ETag><Size>434234</Size>
            <Owner><ID>8a69</ID><DisplayName>Key</DisplayName></Owner><StorageClass>STANDARD</StorageClass></Contents>
            <Contents><Key>empty</Key></Contents></ListBucketResult>"#;
        let Said::Page(page) = read(list.as_bytes()).unwrap() else { panic!("it is a page") };
        assert_eq!(page.next.as_deref(), Some("1ueGcxL=="));
        let first = Object {
            key: "a & b/ my-image.jpg".into(),
            etag: Some("\"fba9dede5f27731c9771645a39863328\"".into()),
            size: 434_234,
            class: "STANDARD".into(),
        };
        assert_eq!(page.objects, [first, Object { key: "empty".into(), ..Object::default() }]);
        let last = list.replace("<IsTruncated>true", "<IsTruncated>false");
        assert!(matches!(read(last.as_bytes()).unwrap(), Said::Page(Page { next: None, .. })));
        // What is not plainly the end is none: objects that are not listed would be taken for gone.
        for unsaid in ["<IsTruncated>True</IsTruncated>", "<IsTruncated>1</IsTruncated>", ""] {
            let more = list.replace("<IsTruncated>true</IsTruncated>", unsaid);
            assert!(matches!(read(more.as_bytes()).unwrap(), Said::Page(Page { next: Some(_), .. })), "{unsaid}");
        }
    }

    #[test]
    fn a_refusal_has_its_code_and_what_is_none_is_refused() {
        let refused = "<Error><Code>AuthorizationQueryParametersError</Code><Message>the region 'x' is wrong</Message>\
                       <Region>eu-central-1</Region><RequestId>1</RequestId></Error>";
        let expected =
            Refusal { code: "AuthorizationQueryParametersError".into(), region: Some("eu-central-1".into()) };
        assert_eq!(read(refused.as_bytes()).unwrap(), Said::Refused(expected));
        let cut = "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>";
        for bad in ["", "Not found", "<html></html>", "<ListBucketResult><Contents>", cut] {
            assert_eq!(read(bad.as_bytes()).unwrap_err().code, Code::InvalidArgument, "{bad}");
        }
    }
}
