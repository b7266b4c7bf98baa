//! Where a client is connected to: the addresses that guides and tests name.

use url::Host;

use crate::base::outbound;
use crate::config::Config;

/// Where a client is to be connected to.
#[derive(Clone, Debug)]
pub struct Place {
    /// The service's public address, without a slash at its end.
    pub base: String,
    /// The endpoint of MCP for clients that run at their people's: the workspace's own, where there is one.
    pub mcp: String,
    /// The endpoint for hosted clients, some of which work with no other path; the workspace is chosen at the approval.
    pub hosted: String,
    /// The workspace's page with its tokens; the start page where no workspace is known.
    pub clients: String,
    /// What stands for a token: never one.
    pub token: String,
    /// Whether the address is https and names no machine of the reader's own.
    pub is_public: bool,
}

impl Place {
    /// The place of a workspace, or with `None` of the service. `token_id` are the eight public characters of the token
    /// that the reader holds.
    pub fn new(config: &Config, slug: Option<&str>, token_id: Option<&str>) -> Self {
        let mcp = slug.map_or_else(|| config.resource(), |slug| config.url(&format!("/t/{slug}/mcp")));
        let clients = slug.map_or_else(|| config.url("/"), |slug| config.url(&format!("/w/{slug}/clients")));
        Self {
            base: config.issuer(),
            mcp,
            hosted: config.resource(),
            clients,
            token: token_id.map_or_else(|| "dgmcp_YOUR_TOKEN".to_owned(), |id| format!("dgmcp_{id}_YOUR_SECRET")),
            is_public: is_public(config),
        }
    }

    /// A text with this place's addresses.
    pub fn fill(&self, text: &str) -> String {
        [
            ("{base}", &self.base),
            ("{mcp}", &self.mcp),
            ("{hosted}", &self.hosted),
            ("{clients}", &self.clients),
            ("{token}", &self.token),
        ]
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }
}

/// Whether the address could be one that the whole world reaches, as far as it says itself; nothing is looked up.
fn is_public(config: &Config) -> bool {
    let inside = match config.public_url.host() {
        Some(Host::Ipv4(ip)) => !outbound::is_public(ip.into()),
        Some(Host::Ipv6(ip)) => !outbound::is_public(ip.into()),
        Some(Host::Domain(name)) => !name.contains('.') || name.ends_with(".localhost") || name.ends_with(".local"),
        None => true,
    };
    config.is_https() && !inside
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(public_url: &str) -> Config {
        Config::read(|name| (name == "DRAGOMAN_PUBLIC_URL").then(|| public_url.to_owned())).unwrap()
    }

    #[test]
    fn an_address_says_whether_a_cloud_could_reach_it() {
        for (address, public) in [
            ("https://data.example.com", true),
            ("https://8.8.8.8", true),
            ("http://127.0.0.1:8787", false),
            ("http://localhost:8787", false),
            ("https://10.0.0.5", false),
            ("https://nas.local", false),
            ("https://intranet", false),
        ] {
            assert_eq!(Place::new(&config(address), None, None).is_public, public, "{address}");
        }
    }
}
