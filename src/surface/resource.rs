//! The `resource` parameter (RFC 8707 §2): which of our addresses a client wants a token for, in one spelling.

use url::Url;

use crate::config::Config;
use crate::model::org::is_slug;

/// An MCP endpoint of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// `/mcp`: the person chooses the workspace.
    Any,
    /// `/t/{workspace}/mcp`; whether the workspace exists is not known here, nor told.
    Workspace(String),
}

impl Resource {
    /// Reads the parameter. Upper case in scheme and host and one trailing slash are forgiven (A18: people type
    /// addresses), and the toolsets that somebody asks for in the address of a connection: a token is for the endpoint,
    /// whatever it offers. Anything else that differs from our own spelling is not ours (A16).
    pub fn parse(config: &Config, text: &str) -> Option<Self> {
        let (text, query) = text.split_once('?').map_or((text, None), |(text, query)| (text, Some(query)));
        if query.is_some_and(|query| !is_toolsets(query)) {
            return None;
        }
        let plain = |byte: u8| byte.is_ascii_graphic() && !b"\\#?%@".contains(&byte);
        if text.len() > 2048 || !text.bytes().all(plain) {
            return None;
        }
        let (scheme, rest) = text.split_once("://")?;
        let (authority, path) = rest.split_at_checked(rest.find('/')?)?;
        let origin = Url::parse(&format!("{scheme}://{authority}")).ok()?;
        if origin.origin() != config.public_url.origin() {
            return None;
        }
        Self::of_path(path.strip_suffix('/').unwrap_or(path))
    }

    /// The resource served at a path, without a trailing slash.
    pub fn of_path(path: &str) -> Option<Self> {
        if path == "/mcp" {
            return Some(Resource::Any);
        }
        let slug = path.strip_prefix("/t/")?.strip_suffix("/mcp")?;
        is_slug(slug).then(|| Resource::Workspace(slug.to_owned()))
    }

    /// The path that it is served at.
    pub fn path(&self) -> String {
        match self {
            Resource::Any => "/mcp".to_owned(),
            Resource::Workspace(slug) => format!("/t/{slug}/mcp"),
        }
    }

    /// The one spelling: what tokens are bound to.
    pub fn url(&self, config: &Config) -> String {
        config.url(&self.path())
    }

    /// Where its metadata is (RFC 9728 §3.1: the well-known name goes before the path).
    pub fn metadata_url(&self, config: &Config) -> String {
        config.url(&format!("/.well-known/oauth-protected-resource{}", self.path()))
    }
}

/// Whether a query names toolsets and nothing else.
fn is_toolsets(query: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b",%_-".contains(&byte);
    query.strip_prefix("toolsets=").is_some_and(|names| names.len() <= 100 && names.bytes().all(fits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        let source = |name: &str| (name == "DRAGOMAN_PUBLIC_URL").then(|| "https://data.example.com".to_owned());
        Config::read(source).unwrap()
    }

    #[test]
    fn a18_case_of_scheme_and_host_is_forgiven_and_the_canonical_form_kept() {
        let config = config();
        for text in [
            "https://data.example.com/mcp",
            "HTTPS://DATA.Example.com/mcp",
            "https://data.example.com:443/mcp",
            "https://data.example.com/mcp/",
        ] {
            let resource = Resource::parse(&config, text).unwrap();
            assert_eq!(resource.url(&config), "https://data.example.com/mcp", "{text}");
        }
        let one = Resource::parse(&config, "https://Data.example.com/t/acme/mcp").unwrap();
        assert_eq!(one, Resource::Workspace("acme".into()));
        assert_eq!(one.url(&config), "https://data.example.com/t/acme/mcp");
        assert_eq!(
            one.metadata_url(&config),
            "https://data.example.com/.well-known/oauth-protected-resource/t/acme/mcp"
        );
    }

    #[test]
    fn the_toolsets_of_an_address_are_no_part_of_what_a_token_is_for() {
        let config = config();
        for (query, forgiven) in [
            ("?toolsets=data,ask", true),
            ("?toolsets=data%2Cask", true),
            ("?toolsets=data&x=1", false),
            ("?x=1&toolsets=data", false),
            ("?toolsets=data#x", false),
            ("?toolsets=data?toolsets=ask", false),
            ("?Toolsets=data", false),
        ] {
            let resource = Resource::parse(&config, &format!("https://data.example.com/t/acme/mcp{query}"));
            assert_eq!(resource, forgiven.then(|| Resource::Workspace("acme".into())), "{query}");
        }
    }

    #[test]
    fn a16_anything_else_is_not_ours() {
        let config = config();
        for text in [
            "",
            "/mcp",
            "mcp",
            "https://data.example.com",
            "https://data.example.com/",
            "https://data.example.com/MCP",
            "https://data.example.com/mcp#x",
            "https://data.example.com/mcp#",
            "https://data.example.com/mcp?x=1",
            "https://data.example.com/mcp//",
            "https://data.example.com//mcp",
            "https://data.example.com/mcp/x",
            "https://data.example.com/mcp-evil",
            "https://data.example.com/x/../mcp",
            "https://data.example.com/t/../mcp",
            "https://data.example.com/t/%61cme/mcp",
            "https://data.example.com/t/Acme/mcp",
            "https://data.example.com/t//mcp",
            "https://data.example.com/t/a/b/mcp",
            "https://user@data.example.com/mcp",
            "https://data.example.com.evil.com/mcp",
            "https://evil.com/mcp",
            "http://data.example.com/mcp",
            "https://data.example.com:8443/mcp",
            "https://data.example.com\\mcp",
            " https://data.example.com/mcp",
            "https://data.example.com/mcp\n",
        ] {
            assert_eq!(Resource::parse(&config, text), None, "{text:?}");
        }
    }
}
