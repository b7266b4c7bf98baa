//! A Qdrant server for the indexes of documents.

use url::{Host, Url};

use super::llm::fits;
use super::reader::Reader;
use crate::base::secret::Secret;

/// The server that the operator chose.
#[derive(Clone, Debug)]
pub struct Qdrant {
    /// Its gRPC address.
    pub url: Url,
    /// `None` for a server that asks for none.
    pub api_key: Option<Secret>,
}

pub(super) fn qdrant(read: &mut Reader<impl Fn(&str) -> Option<String>>) -> Option<Qdrant> {
    let key = read.text("QDRANT_API_KEY");
    let Some(text) = read.text("QDRANT_URL") else {
        if key.is_some() {
            read.problems.push("QDRANT_URL: required where QDRANT_API_KEY is set".into());
        }
        return None;
    };
    if key.as_ref().is_some_and(|key| !key.bytes().all(|byte| byte.is_ascii_graphic())) {
        read.problems.push("QDRANT_API_KEY: expected one word of ASCII characters".into());
    }
    let url = Url::parse(&text).ok().filter(fits).filter(|url| url.path() == "/" && is_sealed_or_near(url));
    if url.is_none() {
        read.problems.push(
            "QDRANT_URL: expected the gRPC address, https://host:6334, or http://host:6334 in your own network (an address, a \
             name without a dot, or one that ends in .local, .internal, .lan or .svc), without a path or a login"
                .into(),
        );
    }
    Some(Qdrant { url: url?, api_key: key.map(Secret::new) })
}

/// Whether texts and key go encrypted, or to a name that only one's own network has.
fn is_sealed_or_near(url: &Url) -> bool {
    const NEAR: [&str; 6] = [".local", ".internal", ".lan", ".svc", ".localhost", ".home.arpa"];
    match (url.scheme(), url.host()) {
        ("http", Some(Host::Domain(name))) => !name.contains('.') || NEAR.iter().any(|end| name.ends_with(end)),
        _ => true,
    }
}
