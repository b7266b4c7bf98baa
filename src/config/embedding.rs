//! What makes vectors of texts.

use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use super::llm::fits;
use super::reader::Reader;
use crate::base::secret::Secret;

/// The encoder that the operator chose.
#[derive(Clone, Debug)]
pub enum Embedding {
    /// The one that is part of the program.
    Builtin,
    /// A model in a folder.
    Folder(PathBuf),
    Server(EmbeddingServer),
}

/// A server with OpenAI's `/v1/embeddings`.
#[derive(Clone, Debug)]
pub struct EmbeddingServer {
    /// The base of its address, or all of it.
    pub url: Url,
    /// `None` for servers that ask for none.
    pub api_key: Option<Secret>,
    pub model: String,
    /// The longest that one batch may take, with everything that is tried again.
    pub timeout: Duration,
}

pub(super) fn embedding(read: &mut Reader<impl Fn(&str) -> Option<String>>) -> Embedding {
    // Read whether or not there is a server: what cannot be used is said in any case.
    let timeout = read.seconds("DRAGOMAN_EMBEDDING_TIMEOUT");
    let (model, key) = (read.text("DRAGOMAN_EMBEDDING_MODEL"), read.text("DRAGOMAN_EMBEDDING_API_KEY"));
    let folder = read.text("DRAGOMAN_EMBEDDING_FOLDER");
    let Some(url) = read.text("DRAGOMAN_EMBEDDING_URL") else {
        if model.is_some() || key.is_some() {
            read.problems.push("DRAGOMAN_EMBEDDING_URL: required where a model or a key of a server is set".into());
        }
        let Some(folder) = folder else { return Embedding::Builtin };
        let folder = PathBuf::from(folder);
        for file in ["config.json", "tokenizer.json", "model.safetensors"] {
            if !folder.join(file).is_file() {
                read.problems.push(format!("DRAGOMAN_EMBEDDING_FOLDER: {file} is not in that folder"));
            }
        }
        return Embedding::Folder(folder);
    };
    if folder.is_some() {
        read.problems.push("DRAGOMAN_EMBEDDING_FOLDER: set a folder or a server, not both".into());
    }
    if model.is_none() {
        read.problems.push("DRAGOMAN_EMBEDDING_MODEL: required when DRAGOMAN_EMBEDDING_URL is set".into());
    }
    if key.as_ref().is_some_and(|key| !key.bytes().all(|byte| byte.is_ascii_graphic())) {
        read.problems.push("DRAGOMAN_EMBEDDING_API_KEY: expected one word of ASCII characters".into());
    }
    let url = Url::parse(&url).ok().filter(fits);
    if url.is_none() {
        read.problems.push(
            "DRAGOMAN_EMBEDDING_URL: expected https://…, or http://… in your own network, without a login or a query"
                .into(),
        );
    }
    match (url, model) {
        (Some(url), Some(model)) => {
            Embedding::Server(EmbeddingServer { url, api_key: key.map(Secret::new), model, timeout })
        }
        // A problem was said.
        _ => Embedding::Builtin,
    }
}
