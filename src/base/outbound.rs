//! The only way out to addresses that a stranger may name (client metadata documents, and later webhooks and
//! sources). Refuses every special-use address, pins the vetted address so that a second DNS answer changes
//! nothing (DNS rebinding), follows no redirect, uses no proxy, and bounds size and time.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use futures_util::StreamExt as _;
use url::{Host, Url};

/// Bounds of one fetch.
#[derive(Clone, Copy, Debug)]
pub struct FetchLimits {
    /// The body's largest size in bytes.
    pub max_bytes: usize,
    /// From the first packet to the last.
    pub total: Duration,
}

/// Why nothing was fetched. The texts are for logs; what the outside sees must not tell them apart.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("not an https URL with a host name, port 443, and neither user info nor fragment")]
    Address,
    #[error("the address is not a public one")]
    Private,
    #[error("the name does not resolve")]
    Unresolved,
    #[error("status {0}")]
    Status(u16),
    #[error("larger than {0} bytes")]
    TooLarge(usize),
    #[error("no complete answer: {0}")]
    Failed(String),
}

/// A fetched body.
#[derive(Debug)]
pub struct Fetched {
    pub body: Vec<u8>,
    /// `Cache-Control`'s `max-age` in seconds, when given.
    pub max_age: Option<u64>,
}

/// Fetches `url` under the rules of this module; only 200 is a success.
///
/// # Errors
/// [`Refused`], before a socket is opened where the address is the reason.
pub async fn fetch(url: &Url, limits: FetchLimits) -> Result<Fetched, Refused> {
    tokio::time::timeout(limits.total, fetch_within(url, limits))
        .await
        .unwrap_or_else(|_| Err(Refused::Failed("out of time".into())))
}

async fn fetch_within(url: &Url, limits: FetchLimits) -> Result<Fetched, Refused> {
    let plain = url.scheme() == "https"
        && url.port().is_none()
        && url.username().is_empty()
        && url.password().is_none()
        && url.fragment().is_none();
    let Some(Host::Domain(host)) = url.host().filter(|_| plain) else {
        return Err(Refused::Address);
    };
    let addresses: Vec<SocketAddr> =
        tokio::net::lookup_host((host, 443)).await.map_err(|_| Refused::Unresolved)?.collect();
    vet(&addresses)?;
    let client = client(host, &addresses)?;
    let response = client.get(url.clone()).send().await.map_err(|e| Refused::Failed(e.without_url().to_string()))?;
    if response.status() != http::StatusCode::OK {
        return Err(Refused::Status(response.status().as_u16()));
    }
    let max_age = response.headers().get(http::header::CACHE_CONTROL).and_then(|v| max_age(v.to_str().ok()?));
    let mut body = Vec::new();
    let mut stream = response.bytes_stream();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|e| Refused::Failed(e.without_url().to_string()))?;
        if body.len() + chunk.len() > limits.max_bytes {
            return Err(Refused::TooLarge(limits.max_bytes));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Fetched { body, max_age })
}

/// One private address among the answers is enough to refuse them all.
fn vet(addresses: &[SocketAddr]) -> Result<(), Refused> {
    if addresses.is_empty() {
        return Err(Refused::Unresolved);
    }
    if addresses.iter().any(|address| !is_public(address.ip())) {
        return Err(Refused::Private);
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "this is the door that the ban points to")]
fn client(host: &str, vetted: &[SocketAddr]) -> Result<reqwest::Client, Refused> {
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .https_only(true)
        .resolve_to_addrs(host, vetted)
        .user_agent("dragoman")
        .build()
        .map_err(|e| Refused::Failed(e.to_string()))
}

fn max_age(cache_control: &str) -> Option<u64> {
    cache_control.split(',').find_map(|part| part.trim().strip_prefix("max-age=")?.parse().ok())
}

/// Whether an address is an ordinary public one: not in any IANA special-purpose registry (RFC 6890), also not when
/// hidden inside an IPv6 transition form.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    const SPECIAL: [([u8; 4], u32); 16] = [
        ([0, 0, 0, 0], 8),
        ([10, 0, 0, 0], 8),
        ([100, 64, 0, 0], 10),
        ([127, 0, 0, 0], 8),
        ([169, 254, 0, 0], 16),
        ([172, 16, 0, 0], 12),
        ([192, 0, 0, 0], 24),
        ([192, 0, 2, 0], 24),
        ([192, 31, 196, 0], 24),
        ([192, 52, 193, 0], 24),
        ([192, 88, 99, 0], 24),
        ([192, 168, 0, 0], 16),
        ([198, 18, 0, 0], 15),
        ([198, 51, 100, 0], 24),
        ([203, 0, 113, 0], 24),
        ([224, 0, 0, 0], 3),
    ];
    let bits = u32::from(address);
    !SPECIAL.iter().any(|(net, length)| (bits ^ u32::from(Ipv4Addr::from(*net))) >> (32 - length) == 0)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    // Only global unicast (2000::/3) is public, less its special-purpose parts: 2001::/23 (Teredo among them),
    // documentation, 6to4 (which hides an IPv4 address), 3fff::/20. Mapped and NAT64 forms lie outside 2000::/3.
    first & 0xe000 == 0x2000
        && !(first == 0x2001 && second < 0x0200)
        && !(first == 0x2001 && second == 0x0db8)
        && first != 0x2002
        && !(first == 0x3fff && second < 0x1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G03: every special-use literal, in dotted and hex spellings of the IPv6 forms.
    #[test]
    fn special_addresses_are_not_public() {
        for text in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "192.0.0.8",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:7f00:1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
        for text in ["1.1.1.1", "172.32.0.1", "160.79.104.1", "2606:4700::1111", "2a00:1450:4001::200e"] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }

    /// G05: one private answer among public ones refuses them all.
    #[test]
    fn a_mixed_answer_is_refused() {
        let mixed = ["1.1.1.1:443".parse().unwrap(), "10.0.0.1:443".parse().unwrap()];
        assert!(matches!(vet(&mixed), Err(Refused::Private)));
        assert!(matches!(vet(&[]), Err(Refused::Unresolved)));
        assert!(vet(&["1.1.1.1:443".parse().unwrap()]).is_ok());
    }

    /// G01, G04, G14: shapes that are refused before any look-up.
    #[tokio::test]
    async fn odd_urls_are_refused_before_a_socket_is_opened() {
        let limits = FetchLimits { max_bytes: 100, total: Duration::from_secs(2) };
        for text in [
            "http://example.com/a",
            "https://example.com:22/",
            "https://user@example.com/",
            "https://example.com/#f",
            "https://127.0.0.1/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://[::1]/",
            "file:///etc/passwd",
        ] {
            let refused = fetch(&Url::parse(text).unwrap(), limits).await.unwrap_err();
            assert!(matches!(refused, Refused::Address), "{text}: {refused}");
        }
        let refused = fetch(&Url::parse("https://localhost/").unwrap(), limits).await.unwrap_err();
        assert!(matches!(refused, Refused::Private | Refused::Unresolved), "{refused}");
    }
}
