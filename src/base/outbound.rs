//! The only way out to addresses that others name: client metadata documents, which strangers name, the endpoints of a
//! sign-in provider, which that provider names, and web sites, which members of workspaces name. Refuses every
//! special-use address, pins the vetted address so that a second DNS answer changes nothing (DNS rebinding), follows no
//! redirect, uses no proxy, and bounds size and time.
//!
//! What the operator wrote into the settings may lie inside, and nothing but that: an origin ([`Trusted`]), and the
//! engines of [`engine_client`].

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::{Client, ClientBuilder};
use url::{Host, Origin, Url};

/// How long a service may take to take a connection.
const CONNECT: Duration = Duration::from_secs(10);

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
    within(limits.total, async {
        let client = vetted_client(url).await?;
        get(&client, url, limits.max_bytes).await
    })
    .await
}

/// An origin that the operator configured. Requests to exactly this origin, and to no other, may reach loopback and
/// private networks, at any port; without TLS only when it is on loopback. Link-local addresses stay closed: the
/// metadata services of clouds answer there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trusted(Origin);

impl Trusted {
    /// The origin of a configured URL; `None` unless it is https, or http to loopback.
    pub fn of(url: &Url) -> Option<Self> {
        let fits = match url.scheme() {
            "https" => url.host().is_some(),
            "http" => is_loopback(url),
            _ => false,
        };
        fits.then(|| Self(url.origin()))
    }

    /// Whether a request or a browser may be sent to `url`: the origin itself, or any https address.
    pub fn admits(&self, url: &Url) -> bool {
        url.scheme() == "https" || url.origin() == self.0
    }
}

/// Whether a URL names this machine.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// Sends a request for the sake of a configured peer: to its own origin as [`Trusted`] allows, to any other address
/// as [`fetch`] would. The answer comes back whatever its status; a redirect is an answer.
///
/// # Errors
/// [`Refused`], before a socket is opened where the address is the reason.
pub async fn send(
    request: http::Request<Vec<u8>>,
    trusted: &Trusted,
    limits: FetchLimits,
) -> Result<http::Response<Vec<u8>>, Refused> {
    within(limits.total, async {
        let (parts, body) = request.into_parts();
        let url = Url::parse(&parts.uri.to_string()).map_err(|_| Refused::Address)?;
        let client = client_for(&url, trusted).await?;
        exchange(&client, http::Request::from_parts(parts, body), limits.max_bytes).await
    })
    .await
}

/// A client for requests to one address for the sake of a configured peer, as [`send`] has it. Streams may take as long as
/// they do.
///
/// # Errors
/// [`Refused`]: the address is the reason.
pub async fn client_for(url: &Url, trusted: &Trusted) -> Result<Client, Refused> {
    site_client(url, std::slice::from_ref(trusted)).await
}

/// A client for requests to the origin of an address that somebody named, as [`fetch`] reaches it; as [`Trusted`] allows where
/// it is one of those. It connects to the addresses that were vetted now, for as long as it is used.
///
/// # Errors
/// [`Refused`]: the address is the reason.
pub async fn site_client(url: &Url, trusted: &[Trusted]) -> Result<Client, Refused> {
    match trusted.iter().any(|trusted| url.origin() == trusted.0) {
        true => trusted_client(url).await,
        false => vetted_client(url).await,
    }
}

/// Sends a request through a client that this module made. The answer comes back whatever its status; a redirect is an
/// answer.
///
/// # Errors
/// [`Refused::Failed`], [`Refused::TooLarge`].
pub async fn exchange(
    client: &Client,
    request: http::Request<Vec<u8>>,
    max_bytes: usize,
) -> Result<http::Response<Vec<u8>>, Refused> {
    let (parts, body) = request.into_parts();
    let request = client.request(parts.method, parts.uri.to_string()).headers(parts.headers).body(body);
    let response = request.send().await.map_err(|e| Refused::Failed(with_causes(&e.without_url())))?;
    let mut answer = http::Response::new(Vec::new());
    *answer.status_mut() = response.status();
    *answer.headers_mut() = response.headers().clone();
    *answer.body_mut() = body_of(response, max_bytes).await?;
    Ok(answer)
}

/// Where the host of an address is, as its name resolves at this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// Every address of it is a public one.
    Public,
    /// At least one is not: loopback, a private network, or another that the world does not reach.
    Inside,
    /// The name has no address.
    Nowhere,
}

/// Looks a host up; nothing is sent to it.
pub async fn whereabouts(url: &Url) -> Whereabouts {
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else { return Whereabouts::Nowhere };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let found: Vec<SocketAddr> = match tokio::net::lookup_host((bare, port)).await {
        Ok(found) => found.collect(),
        Err(_) => vec![],
    };
    match vet(&found, is_public) {
        Ok(()) => Whereabouts::Public,
        Err(Refused::Unresolved) => Whereabouts::Nowhere,
        Err(_) => Whereabouts::Inside,
    }
}

/// An error with what caused it: the outermost says no more than that a request failed.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// A client for a URL of a trusted origin: reaches the addresses that its host has at this moment.
async fn trusted_client(url: &Url) -> Result<Client, Refused> {
    let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    let (Some(host), Some(port), true) = (url.host(), url.port_or_known_default(), plain) else {
        return Err(Refused::Address);
    };
    let addresses: Vec<SocketAddr> = match host {
        Host::Ipv4(ip) => vec![(ip, port).into()],
        Host::Ipv6(ip) => vec![(ip, port).into()],
        Host::Domain(name) => tokio::net::lookup_host((name, port)).await.map_err(|_| Refused::Unresolved)?.collect(),
    };
    let secure = url.scheme() == "https";
    let open = |ip: IpAddr| if secure { is_public(ip) || is_inside(ip) } else { ip.is_loopback() };
    vet(&addresses, open)?;
    let name = url.host_str().unwrap_or_default();
    client(name, &addresses).https_only(secure).build().map_err(|e| Refused::Failed(e.to_string()))
}

/// A client for an engine that somebody named, at any port: reaches the addresses that its host has at this moment, all
/// of them public, or with `private_hosts` in the operator's own network. Without TLS only inside that.
///
/// # Errors
/// [`Refused`], before a socket is opened.
pub async fn engine_client(url: &Url, private_hosts: bool, found: &[SocketAddr]) -> Result<Client, Refused> {
    let secure = url.scheme() == "https";
    let plain = url.password().is_none() && url.fragment().is_none() && (secure || url.scheme() == "http");
    let (Some(name), true) = (url.host_str(), plain) else {
        return Err(Refused::Address);
    };
    // What was vetted already is not looked up again: the second answer could be another.
    let addresses = if found.is_empty() { addresses(url).await? } else { found.to_vec() };
    vet(&addresses, |ip| private_hosts && is_inside(ip) || secure && is_public(ip))?;
    client(name, &addresses).https_only(secure).build().map_err(|e| Refused::Failed(e.to_string()))
}

/// The addresses that a URL's host has now.
///
/// # Errors
/// It has none.
pub async fn addresses(url: &Url) -> Result<Vec<SocketAddr>, Refused> {
    let (Some(name), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
        return Err(Refused::Address);
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let found = tokio::net::lookup_host((bare, port)).await.map_err(|_| Refused::Unresolved)?;
    let found: Vec<SocketAddr> = found.collect();
    if found.is_empty() { Err(Refused::Unresolved) } else { Ok(found) }
}

/// The [`engine_client`] of one URL, with its open connections, for as long as its host has the addresses that it had:
/// another handshake for each question would take longer than many an answer.
#[derive(Debug, Default)]
pub struct KeptClient(Mutex<Option<(BTreeSet<SocketAddr>, Client)>>);

impl KeptClient {
    /// # Errors
    /// As [`engine_client`].
    pub async fn get(&self, url: &Url, private_hosts: bool, found: &[SocketAddr]) -> Result<Client, Refused> {
        let addresses = if found.is_empty() { addresses(url).await? } else { found.to_vec() };
        let of: BTreeSet<SocketAddr> = addresses.iter().copied().collect();
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept().as_ref().filter(|(known, _)| *known == of).map(|(_, client)| client.clone());
        if let Some(client) = known {
            return Ok(client);
        }
        let client = engine_client(url, private_hosts, &addresses).await?;
        *kept() = Some((of, client.clone()));
        Ok(client)
    }
}

async fn within<T>(total: Duration, work: impl Future<Output = Result<T, Refused>>) -> Result<T, Refused> {
    tokio::time::timeout(total, work).await.unwrap_or_else(|_| Err(Refused::Failed("out of time".into())))
}

/// A client that can reach nothing but the vetted addresses of the URL's host.
async fn vetted_client(url: &Url) -> Result<Client, Refused> {
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
    vet(&addresses, is_public)?;
    client(host, &addresses).https_only(true).build().map_err(|e| Refused::Failed(e.to_string()))
}

async fn get(client: &Client, url: &Url, max_bytes: usize) -> Result<Fetched, Refused> {
    let response = client.get(url.clone()).send().await.map_err(|e| Refused::Failed(e.without_url().to_string()))?;
    if response.status() != http::StatusCode::OK {
        return Err(Refused::Status(response.status().as_u16()));
    }
    let max_age = response.headers().get(http::header::CACHE_CONTROL).and_then(|v| max_age(v.to_str().ok()?));
    Ok(Fetched { body: body_of(response, max_bytes).await?, max_age })
}

async fn body_of(response: reqwest::Response, max_bytes: usize) -> Result<Vec<u8>, Refused> {
    let mut body = Vec::new();
    let mut stream = response.bytes_stream();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|e| Refused::Failed(e.without_url().to_string()))?;
        if body.len() + chunk.len() > max_bytes {
            return Err(Refused::TooLarge(max_bytes));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// One address that is not open among the answers is enough to refuse them all.
fn vet(addresses: &[SocketAddr], open: impl Fn(IpAddr) -> bool) -> Result<(), Refused> {
    if addresses.is_empty() {
        return Err(Refused::Unresolved);
    }
    if addresses.iter().any(|address| !open(address.ip())) {
        return Err(Refused::Private);
    }
    Ok(())
}

/// A client for a service of their own that the person at this machine named: https to any address, or http to this
/// machine alone. No redirect is followed: what is sent has a credential in it. Streams may stay open for as long as they
/// do.
///
/// # Errors
/// [`Refused`], before a socket is opened.
#[expect(clippy::disallowed_methods, reason = "this is the door that the ban points to")]
pub fn own_service(url: &Url) -> Result<Client, Refused> {
    let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    if !plain || Trusted::of(url).is_none() {
        return Err(Refused::Address);
    }
    let builder = Client::builder().redirect(reqwest::redirect::Policy::none()).connect_timeout(CONNECT);
    // What is on this machine needs no proxy, and http through one would show it the credential.
    let builder = if is_loopback(url) { builder.no_proxy() } else { builder };
    tls_ready();
    builder.user_agent("dragoman").build().map_err(|e| Refused::Failed(e.to_string()))
}

/// A client for the service behind a socket of this machine, whatever host its requests name. Each request has a
/// connection of its own: that the service is gone shows before anything is sent.
///
/// # Errors
/// [`Refused::Failed`].
#[expect(clippy::disallowed_methods, reason = "this is the door that the ban points to")]
pub fn behind_socket(socket: &std::path::Path) -> Result<Client, Refused> {
    tls_ready();
    let builder = Client::builder().unix_socket(socket).redirect(reqwest::redirect::Policy::none()).no_proxy();
    builder.pool_max_idle_per_host(0).build().map_err(|e| Refused::Failed(e.to_string()))
}

/// A client cannot be made before the process has chosen who does its cryptography.
fn tls_ready() {
    let _already_chosen = rustls::crypto::aws_lc_rs::default_provider().install_default();
}

#[expect(clippy::disallowed_methods, reason = "this is the door that the ban points to")]
fn client(host: &str, vetted: &[SocketAddr]) -> ClientBuilder {
    tls_ready();
    Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .resolve_to_addrs(host, vetted)
        .user_agent("dragoman")
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

/// Whether an address is on loopback or in a private network (RFC 1918, RFC 4193, RFC 6598).
pub fn is_inside(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [first, second, ..] = v4.octets();
            v4.is_loopback() || v4.is_private() || (first == 100 && second & 0xc0 == 64)
        }
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local(),
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
    fn g03_special_addresses_are_not_public() {
        for text in [
            "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.0.1", "169.254.169.254", "100.64.0.1",
            "0.0.0.0", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "240.0.0.1",
            "255.255.255.255", "::1", "::", "fc00::1", "fd12::1", "fe80::1", "ff02::1", "::ffff:127.0.0.1",
            "::ffff:7f00:1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001::1", "2001:db8::1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
        for text in ["1.1.1.1", "172.32.0.1", "160.79.104.1", "2606:4700::1111", "2a00:1450:4001::200e"] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }

    /// G05: one private answer among public ones refuses them all.
    #[test]
    fn g05_a_mixed_answer_is_refused() {
        let mixed = ["1.1.1.1:443".parse().unwrap(), "10.0.0.1:443".parse().unwrap()];
        assert!(matches!(vet(&mixed, is_public), Err(Refused::Private)));
        assert!(matches!(vet(&[], is_public), Err(Refused::Unresolved)));
        assert!(vet(&["1.1.1.1:443".parse().unwrap()], is_public).is_ok());
    }

    /// G01, G04, G14: shapes that are refused before any look-up.
    #[tokio::test]
    async fn g01_g04_g14_odd_urls_are_refused_before_a_socket_is_opened() {
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

    /// Answers one request with these bytes and keeps the connection open; says what it was asked.
    async fn answering(answer: Vec<u8>) -> (Url, tokio::task::JoinHandle<String>) {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://pinned.invalid:{}/c", listener.local_addr().unwrap().port());
        let served = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") {
                asked.push(stream.read_u8().await.unwrap());
            }
            // Fails when the other side has seen enough.
            let _ = stream.write_all(&answer).await;
            let _until_closed = stream.read(&mut [0]).await;
            String::from_utf8(asked).unwrap()
        });
        (Url::parse(&url).unwrap(), served)
    }

    /// As [`fetch`] goes on once the address is vetted, but without TLS.
    async fn fetched(answer: Vec<u8>, total: Duration) -> (Result<Fetched, Refused>, String) {
        let _another_was_first = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let (url, served) = answering(answer).await;
        let client = client("pinned.invalid", &[([127, 0, 0, 1], 443).into()]).build().unwrap();
        let fetched = within(total, get(&client, &url, 100)).await;
        drop(client);
        (fetched, served.await.unwrap())
    }

    #[tokio::test]
    async fn an_engine_is_public_or_in_a_network_that_was_opened() {
        let _another_was_first = rustls::crypto::aws_lc_rs::default_provider().install_default();
        for (url, private_hosts, is_open) in [
            ("https://1.1.1.1:8443/", false, true),
            ("http://1.1.1.1:8123/", false, false),
            ("http://1.1.1.1:8123/", true, false),
            ("http://127.0.0.1:8123/", false, false),
            ("https://127.0.0.1:8443/", false, false),
            ("http://127.0.0.1:8123/", true, true),
            ("https://[fd00::1]/", true, true),
            ("https://169.254.169.254/", true, false),
            ("https://user:password@1.1.1.1/", false, false),
            ("ftp://1.1.1.1/", false, false),
        ] {
            let client = engine_client(&Url::parse(url).unwrap(), private_hosts, &[]).await;
            assert_eq!(client.is_ok(), is_open, "{url} {private_hosts}");
        }
    }

    const LONG: Duration = Duration::from_secs(20);

    /// G05, G06, G17: the name is never looked up again (this one cannot be), and the request carries nothing of ours.
    #[tokio::test]
    async fn g05_g06_g17_the_connection_goes_to_the_vetted_address_under_the_original_name() {
        let answer = "HTTP/1.1 200 OK\r\nCache-Control: public, max-age=60\r\nContent-Length: 2\r\n\r\n{}";
        let (fetched, asked) = fetched(answer.into(), LONG).await;
        let fetched = fetched.unwrap();
        assert_eq!((fetched.body.as_slice(), fetched.max_age), (b"{}".as_slice(), Some(60)));
        let mut lines: Vec<String> = asked.lines().map(str::to_ascii_lowercase).collect();
        lines.retain(|line| !line.starts_with("host: pinned.invalid:"));
        lines.sort();
        assert_eq!(lines, ["", "accept: */*", "get /c http/1.1", "user-agent: dragoman"]);
    }

    /// G07, G09: no redirect is followed, and nothing but 200 is a success.
    #[tokio::test]
    async fn g07_g09_only_a_direct_200_is_a_success() {
        for status in [201, 204, 301, 302, 303, 307, 308, 403, 404, 500] {
            let answer = format!("HTTP/1.1 {status} X\r\nLocation: https://example.com/\r\nContent-Length: 0\r\n\r\n");
            let (fetched, _) = fetched(answer.into(), LONG).await;
            assert!(matches!(fetched, Err(Refused::Status(seen)) if seen == status), "{status}: {fetched:?}");
        }
    }

    /// G08: honest, endless and compressed bodies over the limit.
    #[tokio::test]
    async fn g08_a_body_over_the_limit_is_given_up() {
        let declared = format!("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n{}", "a".repeat(101));
        let endless = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{}", "1\r\na\r\n".repeat(200));
        let packed =
            format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 101\r\n\r\n{}", "a".repeat(101));
        for answer in [declared, endless, packed] {
            let (fetched, _) = fetched(answer.into(), LONG).await;
            assert!(matches!(fetched, Err(Refused::TooLarge(100))), "{fetched:?}");
        }
        let most = format!("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}", "a".repeat(100));
        assert_eq!(fetched(most.into(), LONG).await.0.unwrap().body.len(), 100);
    }

    /// G08: who stops in the middle of the headers or of the body is not waited for.
    #[tokio::test]
    async fn g08_a_slow_answer_is_given_up() {
        for answer in ["", "HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"] {
            let (fetched, _) = fetched(answer.into(), Duration::from_millis(300)).await;
            assert!(matches!(&fetched, Err(Refused::Failed(why)) if why == "out of time"), "{answer}: {fetched:?}");
        }
    }

    fn request(url: &str) -> http::Request<Vec<u8>> {
        http::Request::builder().method("POST").uri(url).header("x-sent", "1").body(b"a=1".to_vec()).unwrap()
    }

    fn trusted(url: &str) -> Option<Trusted> {
        Trusted::of(&Url::parse(url).unwrap())
    }

    #[test]
    fn only_https_and_loopback_origins_can_be_trusted() {
        for good in ["https://id.example/realm", "https://10.0.0.7:8443", "http://127.0.0.1:4000", "http://localhost/"]
        {
            assert!(trusted(good).is_some(), "{good}");
        }
        for bad in
            ["http://id.example", "http://10.0.0.7", "ftp://127.0.0.1", "file:///etc", "http://127.0.0.1.example"]
        {
            assert!(trusted(bad).is_none(), "{bad}");
        }
        let id = trusted("http://localhost:4000/realm").unwrap();
        for (url, admitted) in [
            ("http://localhost:4000/token", true),
            ("https://elsewhere.example/token", true),
            ("http://localhost:4001/token", false),
            ("http://127.0.0.1:4000/token", false),
            ("http://elsewhere.example/token", false),
            ("javascript:alert(1)", false),
        ] {
            assert_eq!(id.admits(&Url::parse(url).unwrap()), admitted, "{url}");
        }
    }

    #[test]
    fn inside_is_loopback_and_private_networks_and_never_link_local() {
        for text in ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "::1", "fd12::1"] {
            assert!(is_inside(text.parse().unwrap()), "{text}");
        }
        for text in
            ["169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255", "100.128.0.1", "fe80::1", "::", "ff02::1"]
        {
            let ip = text.parse().unwrap();
            assert!(!is_inside(ip), "{text}");
        }
    }

    /// G05: the trust is for one origin; the same machine at another port or under another name is a stranger's address.
    #[tokio::test]
    async fn a_trusted_origin_opens_nothing_beside_itself() {
        let limits = FetchLimits { max_bytes: 100, total: Duration::from_secs(5) };
        let id = trusted("http://127.0.0.1:4000").unwrap();
        for url in
            ["http://127.0.0.1:4001/token", "http://localhost:4000/token", "http://10.0.0.1/token", "https://[::1]/"]
        {
            let refused = send(request(url), &id, limits).await.unwrap_err();
            assert!(matches!(refused, Refused::Address), "{url}: {refused}");
        }
        let refused = send(request("https://localhost/token"), &id, limits).await.unwrap_err();
        assert!(matches!(refused, Refused::Private | Refused::Unresolved), "{refused}");
        let refused = send(request("http://127.0.0.1:4000@evil.example/"), &id, limits).await.unwrap_err();
        assert!(matches!(refused, Refused::Address), "{refused}");
        let link_local = trusted("https://169.254.169.254").unwrap();
        let refused = send(request("https://169.254.169.254/latest"), &link_local, limits).await.unwrap_err();
        assert!(matches!(refused, Refused::Private), "{refused}");
    }

    /// A trusted origin on loopback is reached, with what was to be sent; its redirect is an answer and not followed.
    #[tokio::test]
    async fn a_trusted_origin_is_reached_and_its_redirect_is_an_answer() {
        let _another_was_first = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let limits = FetchLimits { max_bytes: 100, total: LONG };
        let answer = "HTTP/1.1 302 X\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 2\r\n\r\n{}";
        let (url, served) = answering(answer.into()).await;
        let url = format!("http://127.0.0.1:{}/token", url.port().unwrap());
        let answer = send(request(&url), &trusted(&url).unwrap(), limits).await.unwrap();
        assert_eq!((answer.status().as_u16(), answer.body().as_slice()), (302, b"{}".as_slice()));
        let asked = served.await.unwrap();
        assert!(asked.starts_with("POST /token HTTP/1.1\r\n") && asked.contains("x-sent: 1\r\n"), "{asked}");
        assert!(!asked.contains("cookie") && !asked.contains("authorization"), "{asked}");
    }
}
