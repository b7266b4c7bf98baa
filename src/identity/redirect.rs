//! Redirect addresses: which may be registered, which may be used, and when a presented one is a registered one.
//!
//! Addresses are compared as raw text (RFC 9700 §4.1.3), and one that a URL parser would repair is refused, so that
//! what we compared is what a browser will open. The one freedom is the port of a loopback address (RFC 8252 §7.3).

use url::Url;

/// Bytes of the longest address (F02).
const LONGEST: usize = 2048;
/// Addresses one client may have (F02).
const MOST: usize = 10;

/// Schemes of installed programs that have no dot although RFC 8252 §7.1 asks for one.
const KNOWN_APPS: [&str; 14] = [
    "cursor", "vscode", "vscode-insiders", "vscodium", "windsurf", "zed", "claude", "codex", "goose", "kiro",
    "lmstudio", "raycast", "trae", "warp",
];

/// Schemes that run code, read files or leave the web; one of them spoils a whole registration (A06).
const DANGEROUS: [&str; 20] = [
    "javascript", "data", "vbscript", "file", "blob", "about", "filesystem", "view-source", "jar", "chrome",
    "chrome-extension", "moz-extension", "resource", "intent", "ms-msdt", "search-ms", "ws", "wss", "ftp", "mailto",
];

/// What an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A web address.
    Https,
    /// A program on the person's own machine, on any port.
    Loopback,
    /// An installed program, through its own scheme.
    App,
    /// An installed program through a scheme that we do not know: may be registered, cannot be used (A07).
    UnknownApp,
}

/// Why addresses cannot be a client's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("a redirect_uri has a scheme that could run code or read files")]
    Dangerous,
    #[error("a redirect_uri is not an absolute URI in its normal form, or is too long")]
    Malformed,
    #[error("a redirect_uri must not have a fragment, user information or a wildcard")]
    Forbidden,
    #[error("an http redirect_uri must be on localhost, 127.0.0.1 or [::1]")]
    PlainHttp,
    #[error("a redirect_uri is on a domain under which anybody may register names")]
    PublicSuffix,
    #[error("between 1 and 10 redirect_uris are needed")]
    Number,
    #[error("a redirect_uri must be https, a loopback address, or a scheme with a dot (RFC 8252 §7.1)")]
    Unusable,
}

impl Kind {
    pub fn is_usable(self) -> bool {
        self != Kind::UnknownApp
    }
}

/// Judges all addresses of a client: one that is unfit spoils them all, and at least one must be usable.
pub fn judge(uris: &[String]) -> Result<Vec<Kind>, Unfit> {
    if uris.is_empty() || uris.len() > MOST {
        return Err(Unfit::Number);
    }
    let kinds = uris.iter().map(|uri| kind(uri)).collect::<Result<Vec<_>, Unfit>>()?;
    if kinds.iter().any(|kind| kind.is_usable()) { Ok(kinds) } else { Err(Unfit::Unusable) }
}

/// Judges one address.
pub fn kind(uri: &str) -> Result<Kind, Unfit> {
    let scheme = scheme(uri)?;
    let plain = |byte: u8| byte.is_ascii_graphic() && !br#"\"<>^`{|}"#.contains(&byte);
    if uri.len() > LONGEST || !uri.bytes().all(plain) || hides_control(uri) || !is_lower(scheme) {
        return Err(Unfit::Malformed);
    }
    if uri.contains(['#', '*']) {
        return Err(Unfit::Forbidden);
    }
    let url = Url::parse(uri).map_err(|_| Unfit::Malformed)?;
    if !url.username().is_empty() || url.password().is_some() || authority(uri).contains('@') {
        return Err(Unfit::Forbidden);
    }
    // Whatever a browser would rewrite (case of the host, default port, dot segments, odd IPv4) is refused, except
    // that it writes the empty path as "/".
    let written = url.as_str();
    let normal = written == uri || (url.path() == "/" && url.query().is_none() && written == format!("{uri}/"));
    match scheme {
        "https" if normal && url.domain().is_some_and(is_public_suffix) => Err(Unfit::PublicSuffix),
        "https" if normal => Ok(Kind::Https),
        "http" if loopback(uri).is_some() && normal_loopback(uri) => Ok(Kind::Loopback),
        "http" if loopback(uri).is_none() => Err(Unfit::PlainHttp),
        "https" | "http" => Err(Unfit::Malformed),
        app if app.contains('.') || KNOWN_APPS.contains(&app) => Ok(Kind::App),
        _ => Ok(Kind::UnknownApp),
    }
}

/// Whether `presented` is the registered address: the same text, or for a loopback address the same but for the port.
pub fn matches(registered: &str, presented: &str) -> bool {
    let usable = |uri| kind(uri).is_ok_and(Kind::is_usable);
    if !usable(presented) {
        return false;
    }
    registered == presented
        || match (loopback(registered), loopback(presented)) {
            (Some(ours), Some(theirs)) => usable(registered) && ours == theirs,
            _ => false,
        }
}

/// Host and, for what is not the web, scheme: what a person is shown of where the browser will be sent.
pub fn shown(uri: &str) -> String {
    match kind(uri) {
        Ok(Kind::Https) => authority(uri).to_owned(),
        Ok(Kind::Loopback) => loopback(uri).map_or_else(String::new, |(host, _)| host.to_owned()),
        _ => format!("{}://", uri.split(':').next().unwrap_or("")),
    }
}

fn scheme(uri: &str) -> Result<&str, Unfit> {
    // Browsers drop tabs, newlines and leading spaces before they look for a scheme; so do we before judging it.
    let cleaned: String = uri.chars().filter(|c| !c.is_control() && !c.is_whitespace()).collect();
    let bare = cleaned.split(':').next().unwrap_or("").to_ascii_lowercase();
    if cleaned.contains(':') && DANGEROUS.contains(&bare.as_str()) {
        return Err(Unfit::Dangerous);
    }
    let (scheme, _) = uri.split_once(':').ok_or(Unfit::Malformed)?;
    let fits = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if fits { Ok(scheme) } else { Err(Unfit::Malformed) }
}

fn is_lower(scheme: &str) -> bool {
    !scheme.contains(|c: char| c.is_ascii_uppercase())
}

/// The raw text between `//` and the next `/` or `?`.
fn authority(uri: &str) -> &str {
    let rest = uri.split_once("://").map_or("", |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or("")
}

/// Whether a host is one of those that the Public Suffix List names, such as `co.uk` or `github.io`: nobody's own, so
/// that it cannot stand for who gets the code (F03). A name that the list does not know is somebody's: so are the hosts
/// of a private network.
fn is_public_suffix(host: &str) -> bool {
    let host = host.trim_end_matches('.').as_bytes();
    psl::suffix(host).is_some_and(|suffix| suffix.is_known() && suffix.as_bytes() == host)
}

/// Percent-encoded control characters and malformed escapes.
fn hides_control(uri: &str) -> bool {
    uri.match_indices('%').any(|(at, _)| {
        let digits = uri.get(at + 1..at + 3).unwrap_or("");
        u8::from_str_radix(digits, 16).map_or(true, |byte| byte < 0x20 || byte == 0x7f)
            || !digits.bytes().all(|b| b.is_ascii_hexdigit())
    })
}

/// Host and remainder (path and query) of an http address on one of the three loopback names, without its port.
fn loopback(uri: &str) -> Option<(&str, &str)> {
    let rest = uri.strip_prefix("http://")?;
    let host = ["localhost", "127.0.0.1", "[::1]"].into_iter().find(|host| rest.starts_with(host))?;
    let after = rest.get(host.len()..)?;
    let path = match after.strip_prefix(':') {
        Some(port) => {
            let end = port.find(|c: char| !c.is_ascii_digit()).unwrap_or(port.len());
            let (digits, path) = port.split_at(end);
            digits.parse::<u16>().ok().filter(|port| *port > 0)?;
            path
        }
        None => after,
    };
    (path.is_empty() || path.starts_with(['/', '?'])).then_some((host, path))
}

/// As the check for https, with the port left out (a browser drops `:80`).
fn normal_loopback(uri: &str) -> bool {
    let Some((host, path)) = loopback(uri) else { return false };
    let bare = format!("http://{host}{path}");
    Url::parse(&bare).is_ok_and(|url| url.as_str() == bare || (path.is_empty() && url.as_str() == format!("{bare}/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_clients_can_register_and_use_their_addresses() {
        for (uri, expected) in [
            ("https://claude.ai/api/mcp/auth_callback", Kind::Https),
            ("https://chatgpt.com/connector/oauth/a1B2-c3", Kind::Https),
            ("https://vscode.dev/redirect", Kind::Https),
            ("https://app.example.com:8443/cb?tenant=1", Kind::Https),
            ("https://example.com", Kind::Https),
            ("http://127.0.0.1/", Kind::Loopback),
            ("http://127.0.0.1:33418/", Kind::Loopback),
            ("http://localhost:6274/oauth/callback", Kind::Loopback),
            ("http://localhost:80/callback", Kind::Loopback),
            ("http://[::1]:9/cb", Kind::Loopback),
            ("http://localhost", Kind::Loopback),
            ("cursor://anysphere.cursor-mcp/oauth/callback", Kind::App),
            ("com.example.app:/oauth", Kind::App),
            ("com.example.app://oauth/cb", Kind::App),
        ] {
            assert_eq!(kind(uri), Ok(expected), "{uri}");
            assert!(matches(uri, uri), "{uri}");
        }
    }

    #[test]
    fn a06_f01_dangerous_schemes_are_refused_in_any_disguise() {
        for uri in [
            "javascript:alert(1)",
            "JavaScript://x/%0aalert(1)",
            " javascript:alert(1)",
            "\tjavascript:alert(1)",
            "java\nscript:alert(1)",
            "java\u{0}script:alert(1)",
            "data:text/html,x",
            "DATA:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "blob:https://a/b",
            "about:blank",
            "intent://x#Intent;end",
        ] {
            assert_eq!(kind(uri), Err(Unfit::Dangerous), "{uri:?}");
        }
    }

    #[test]
    fn f02_addresses_that_are_not_plain_are_refused() {
        for uri in [
            "",
            "/cb",
            "example.com/cb",
            "//example.com/cb",
            "https://",
            "https:/example.com/cb",
            "https://example.com/a/../b",
            "https://example.com/a/%2e%2e/b",
            "https://example.com/./b",
            "https://EXAMPLE.com/cb",
            "HTTPS://example.com/cb",
            "https://example.com:443/cb",
            "https://exa mple.com/cb",
            "https://example.com/c\tb",
            "https://example.com/c\r\nb",
            "https://example.com\\@evil.com/cb",
            "https://example.com%00.evil.com/cb",
            "https://example.com/%0d%0aSet-Cookie:x",
            "https://example.com/%zz",
            "https://exämple.com/cb",
            "https://2130706433/cb",
            "https://0x7f000001/cb",
            "http://localhost/a/../b",
            "http://localhost/c\tb",
        ] {
            assert_eq!(kind(uri), Err(Unfit::Malformed), "{uri:?}");
        }
        for uri in [
            "https://example.com/cb#x",
            "https://example.com/cb#",
            "https://user@example.com/cb",
            "https://good.com@evil.com/cb",
            "https://@example.com/cb",
            "https://*.example.com/cb",
            "https://example.com/*",
            "http://localhost:1/cb#x",
        ] {
            assert_eq!(kind(uri), Err(Unfit::Forbidden), "{uri:?}");
        }
        assert_eq!(kind(&format!("https://example.com/{}", "a".repeat(2048))), Err(Unfit::Malformed));
    }

    #[test]
    fn f03_a_domain_that_is_nobodys_own_gets_no_codes() {
        for uri in [
            "https://co.uk/cb",
            "https://co.uk./cb",
            "https://com/cb",
            "https://co.uk:8443/cb",
            "https://github.io/cb",
            "https://herokuapp.com/cb",
            // A wildcard of the list: `*.ck`.
            "https://anything.ck/cb",
        ] {
            assert_eq!(kind(uri), Err(Unfit::PublicSuffix), "{uri}");
            assert!(!matches(uri, uri), "{uri}");
        }
        for uri in [
            "https://bbc.co.uk/cb",
            "https://someone.github.io/cb",
            "https://intranet/cb",
            "https://claude.ai/api/mcp/auth_callback",
            "https://claude.com/api/mcp/auth_callback",
            "https://chatgpt.com/connector_platform_oauth_redirect",
            "https://vscode.dev/redirect",
            "https://insiders.vscode.dev/redirect",
            "https://www.cursor.com/cb",
            "https://oauth.n8n.cloud/oauth2/callback",
            "https://callback.mistral.ai/v1/integrations_auth/oauth2_callback",
            "https://global.consent.azure-apim.net/redirect/x",
            "https://token.botframework.com/.auth/web/redirect",
            "https://192.0.2.1/cb",
            "https://[2001:db8::1]/cb",
        ] {
            assert_eq!(kind(uri), Ok(Kind::Https), "{uri}");
        }
    }

    #[test]
    fn a04_only_the_three_loopback_names_may_be_plain_http() {
        for uri in [
            "http://example.com/cb",
            "http://127.0.0.1.evil.com/cb",
            "http://localhost.evil.com/cb",
            "http://127.0.0.2/cb",
            "http://127.1/cb",
            "http://0x7f000001/cb",
            "http://2130706433/cb",
            "http://[::ffff:127.0.0.1]/cb",
            "http://[0:0:0:0:0:0:0:1]/cb",
            "http://LOCALHOST/cb",
            "http://localhost:0/cb",
            "http://192.168.1.1/cb",
        ] {
            assert_eq!(kind(uri), Err(Unfit::PlainHttp), "{uri:?}");
        }
        assert!(kind("http://localhost:99999/cb").is_err());
        assert!(kind("http://localhost:x/cb").is_err());
        assert!(kind("http://user@localhost/cb").is_err());
    }

    #[test]
    fn a03_near_misses_do_not_match() {
        let registered = "https://good.example/cb?a=1";
        for presented in [
            "https://good.example/cb?a=1/",
            "https://good.example/cb?a=2",
            "https://good.example/cb?a=1&b=2",
            "https://good.example/cb",
            "https://good.example/cb/?a=1",
            "https://good.example/CB?a=1",
            "https://good.example/%63b?a=1",
            "https://good.example//cb?a=1",
            "https://good.example/x/../cb?a=1",
            "https://good.example/cb;?a=1",
            "https://good.example@evil.example/cb?a=1",
            "https://good.example.evil.example/cb?a=1",
            "https://good.example\\@evil.example/cb?a=1",
            "https://good.example%00.evil.example/cb?a=1",
            "https://good.example/cb?a=1\t",
            "https://good.example/cb?a=1\r\n",
            "https://good.example/cb?a=1#x",
            "https://gооd.example/cb?a=1",
            "https://good.example:444/cb?a=1",
            "http://good.example/cb?a=1",
            " https://good.example/cb?a=1",
        ] {
            assert!(!matches(registered, presented), "{presented:?}");
        }
        assert!(matches(registered, registered));
    }

    #[test]
    fn a04_only_the_port_of_a_loopback_address_is_free() {
        for (registered, presented) in [
            ("http://127.0.0.1/", "http://127.0.0.1:51234/"),
            ("http://localhost:3000/cb", "http://localhost:4000/cb"),
            ("http://localhost:3000/cb?a=1", "http://localhost/cb?a=1"),
            ("http://[::1]/cb", "http://[::1]:9/cb"),
        ] {
            assert!(matches(registered, presented), "{registered} {presented}");
        }
        for (registered, presented) in [
            ("http://127.0.0.1/cb", "http://127.0.0.1:1/other"),
            ("http://127.0.0.1/cb", "https://127.0.0.1:1/cb"),
            ("http://127.0.0.1/cb", "http://localhost/cb"),
            ("http://localhost/cb", "http://127.0.0.1/cb"),
            ("http://localhost/cb", "http://[::1]/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.2/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1.evil.com/cb"),
            ("http://localhost/cb", "http://localhost:1@evil.com/cb"),
            ("http://localhost/cb", "http://localhost:1/cb?x"),
            ("http://localhost/cb", "http://localhost:/cb"),
            ("https://example.com/cb", "https://example.com:444/cb"),
        ] {
            assert!(!matches(registered, presented), "{registered} {presented}");
        }
    }

    #[test]
    fn a07_an_unknown_scheme_may_be_registered_but_not_used() {
        assert_eq!(kind("whatever://cb"), Ok(Kind::UnknownApp));
        assert!(!matches("whatever://cb", "whatever://cb"));
    }

    #[test]
    fn b13_a_person_sees_where_the_browser_goes() {
        assert_eq!(shown("https://claude.ai/api/mcp/auth_callback"), "claude.ai");
        assert_eq!(shown("http://localhost:6274/oauth/callback"), "localhost");
        assert_eq!(shown("cursor://anysphere.cursor-mcp/oauth/callback"), "cursor://");
    }
}
