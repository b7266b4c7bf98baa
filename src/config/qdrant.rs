//! A Qdrant server for the indexes of documents.

use url::Url;

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
    let url = Url::parse(&text).ok().filter(fits).filter(|url| url.path() == "/");
    if url.is_none() {
        read.problems.push(
            "QDRANT_URL: expected the gRPC address, https://host:6334, or http://host:6334 in your own network, without a \
             path or a login"
                .into(),
        );
    }
    Some(Qdrant { url: url?, api_key: key.map(Secret::new) })
}
