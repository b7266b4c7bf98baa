//! The language model that may be asked.

use std::time::Duration;

use url::{Host, Url};

use super::reader::Reader;
use crate::base::outbound::is_public;
use crate::base::peers::PrivateHost;
use crate::base::secret::Secret;

/// A configured language model.
#[derive(Clone, Debug)]
pub struct Llm {
    pub provider: LlmProvider,
    /// The base of the endpoint's address, or all of it.
    pub url: Url,
    /// `None` for servers that ask for none.
    pub api_key: Option<Secret>,
    pub model: String,
    /// The longest that one answer may take, with everything that is tried again.
    pub timeout: Duration,
    /// Tokens of each workspace and day, of prompts and answers together.
    pub daily_tokens: u64,
    /// Tokens of the longest answer.
    pub output_tokens: u32,
    /// What counts as local for workspaces that allow only that.
    pub local_hosts: Vec<PrivateHost>,
}

/// Which protocol the endpoint speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LlmProvider {
    /// Chat completions, OpenAI's or any compatible server's.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

impl LlmProvider {
    fn default_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
        }
    }
}

pub(super) fn llm(read: &mut Reader<impl Fn(&str) -> Option<String>>) -> Option<Llm> {
    // Read whether or not there is a provider: what cannot be used is said in any case.
    let timeout = read.seconds("DRAGOMAN_LLM_TIMEOUT");
    let daily_tokens = read.number("DRAGOMAN_LLM_DAILY_TOKENS", 1u64);
    let output_tokens = read.number("DRAGOMAN_LLM_OUTPUT_TOKENS", 1u32);
    let local_hosts = read.list("DRAGOMAN_LLM_LOCAL_HOSTS", "hosts, addresses and networks separated by commas");
    let (url, key) = (read.text("DRAGOMAN_LLM_URL"), read.text("DRAGOMAN_LLM_API_KEY"));
    let model = read.text("DRAGOMAN_LLM_MODEL");
    let provider = match read.text("DRAGOMAN_LLM_PROVIDER").as_deref() {
        Some("openai") => LlmProvider::OpenAi,
        Some("anthropic") => LlmProvider::Anthropic,
        None if url.is_none() && key.is_none() && model.is_none() => return None,
        _ => {
            read.problems.push("DRAGOMAN_LLM_PROVIDER: expected openai or anthropic".into());
            return None;
        }
    };
    let url_text = url.unwrap_or_else(|| provider.default_url().to_owned());
    let url = Url::parse(&url_text).ok().filter(fits);
    if url.is_none() {
        read.problems.push(
            "DRAGOMAN_LLM_URL: expected https://…, or http://… in your own network, without a login or a query".into(),
        );
    }
    if model.is_none() {
        read.problems.push("DRAGOMAN_LLM_MODEL: required when DRAGOMAN_LLM_PROVIDER is set".into());
    }
    if key.as_ref().is_some_and(|key| !key.bytes().all(|byte| byte.is_ascii_graphic())) {
        read.problems.push("DRAGOMAN_LLM_API_KEY: expected one word of ASCII characters".into());
    }
    if key.is_none() && url_text.starts_with(provider.default_url()) {
        read.problems.push("DRAGOMAN_LLM_API_KEY: required at the provider's own address".into());
    }
    let api_key = key.map(Secret::new);
    Some(Llm { provider, url: url?, api_key, model: model?, timeout, daily_tokens, output_tokens, local_hosts })
}

/// Whether requests can go there at all. Names are judged again by the addresses that they have then.
pub(super) fn fits(url: &Url) -> bool {
    let open = match (url.scheme(), url.host()) {
        ("https", Some(_)) | ("http", Some(Host::Domain(_))) => true,
        ("http", Some(Host::Ipv4(ip))) => !is_public(ip.into()),
        ("http", Some(Host::Ipv6(ip))) => !is_public(ip.into()),
        _ => false,
    };
    let login = !url.username().is_empty() || url.password().is_some();
    open && !login && url.query().is_none() && url.fragment().is_none()
}
