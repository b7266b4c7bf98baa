//! Which machines that others name may be connected to directly: public ones, and of the operator's own network those
//! that the operator has listed. The addresses that were vetted are the ones to connect to: a second DNS answer changes
//! nothing (DNS rebinding).

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use crate::base::network::Network;
use crate::base::outbound::{Refused, is_inside, is_public};

/// How long a look-up may take.
const LOOK_UP: Duration = Duration::from_secs(5);

/// A host name as written, or a network: `db.internal`, `10.1.2.3`, `10.0.0.0/8`, `fd00::/8`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrivateHost {
    Name(String),
    Network(Network),
}

/// Neither a host name nor a network.
#[derive(Debug)]
pub struct NotAHost;

impl FromStr for PrivateHost {
    type Err = NotAHost;

    fn from_str(text: &str) -> Result<Self, NotAHost> {
        if let Ok(network) = text.parse() {
            return Ok(Self::Network(network));
        }
        let plain = |c: u8| c.is_ascii_alphanumeric() || b"-._".contains(&c);
        let is_name = (1..=253).contains(&text.len()) && text.bytes().all(plain);
        if is_name { Ok(Self::Name(text.to_ascii_lowercase())) } else { Err(NotAHost) }
    }
}

impl PrivateHost {
    fn covers(&self, host: &str, address: IpAddr) -> bool {
        match self {
            Self::Name(name) => name.eq_ignore_ascii_case(host),
            Self::Network(network) => network.covers(address),
        }
    }
}

/// Where a host is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The addresses to connect to; never empty.
    pub addresses: Vec<SocketAddr>,
    /// Whether it is in a private network, which the operator has allowed.
    pub is_private: bool,
}

/// Looks a host up. Every address that it has must be public, or listed in `private` by name or network; of special
/// addresses only loopback and private networks can be listed: link-local ones, where the metadata services of clouds
/// answer, stay closed.
///
/// # Errors
/// [`Refused::Unresolved`], [`Refused::Private`].
pub async fn reach(host: &str, port: u16, private: &[PrivateHost]) -> Result<Reached, Refused> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let looked_up = tokio::time::timeout(LOOK_UP, tokio::net::lookup_host((bare, port))).await;
    let addresses: Vec<SocketAddr> =
        looked_up.map_err(|_| Refused::Unresolved)?.map_err(|_| Refused::Unresolved)?.collect();
    vet(bare, addresses, private)
}

fn vet(host: &str, addresses: Vec<SocketAddr>, private: &[PrivateHost]) -> Result<Reached, Refused> {
    if addresses.is_empty() {
        return Err(Refused::Unresolved);
    }
    let listed = |ip: IpAddr| is_inside(ip) && private.iter().any(|rule| rule.covers(host, ip));
    if addresses.iter().any(|address| !is_public(address.ip()) && !listed(address.ip())) {
        return Err(Refused::Private);
    }
    let is_private = addresses.iter().any(|address| !is_public(address.ip()));
    Ok(Reached { addresses, is_private })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<PrivateHost> {
        text.split(',').map(|rule| rule.parse().unwrap()).collect()
    }

    fn at(host: &str, ips: &[&str], private: &[PrivateHost]) -> Option<bool> {
        let addresses = ips.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 5432)).collect();
        vet(host, addresses, private).ok().map(|reached| reached.is_private)
    }

    #[test]
    fn only_listed_parts_of_the_own_network_are_open() {
        let none: [PrivateHost; 0] = [];
        assert_eq!(at("db.example.com", &["1.1.1.1"], &none), Some(false));
        for inside in ["127.0.0.1", "10.1.2.3", "::1", "fd00::1", "169.254.169.254", "0.0.0.0", "::ffff:10.1.2.3"] {
            assert_eq!(at("db.example.com", &[inside], &none), None, "{inside}");
        }
        let some = rules("db.internal,10.1.0.0/16,::1");
        assert_eq!(at("DB.internal", &["192.168.0.7"], &some), Some(true));
        assert_eq!(at("other.internal", &["192.168.0.7"], &some), None);
        assert_eq!(at("x", &["10.1.255.255"], &some), Some(true));
        assert_eq!(at("x", &["10.2.0.0"], &some), None);
        assert_eq!(at("x", &["::1"], &some), Some(true));
        assert_eq!(at("x", &["::2"], &some), None);
        // One address that is closed closes them all.
        assert_eq!(at("x", &["1.1.1.1", "10.2.0.0"], &some), None);
        // What is neither public nor a private network cannot be listed.
        let all = rules("0.0.0.0/0,::/0,db.internal");
        assert_eq!(at("x", &["192.168.0.7"], &all), Some(true));
        assert_eq!(at("x", &["127.0.0.1"], &all), Some(true));
        for never in ["169.254.169.254", "0.0.0.0", "224.0.0.1", "fe80::1", "::ffff:127.0.0.1"] {
            assert_eq!(at("db.internal", &[never], &all), None, "{never}");
        }
    }

    #[test]
    fn rules_are_names_addresses_and_networks() {
        for bad in ["", "10.0.0.0/33", "::/129", "a b", "name/8", "10.0.0.0/x", "https://x"] {
            assert!(bad.parse::<PrivateHost>().is_err(), "{bad}");
        }
        assert_eq!("DB.Internal".parse::<PrivateHost>().unwrap(), PrivateHost::Name("db.internal".into()));
    }

    #[tokio::test]
    async fn other_spellings_of_loopback_are_loopback() {
        for host in ["127.0.0.1", "[::1]", "2130706433", "0x7f.1", "127.1"] {
            let refused = reach(host, 5432, &[]).await.unwrap_err();
            assert!(matches!(refused, Refused::Private | Refused::Unresolved), "{host}: {refused}");
        }
        let reached = reach("127.0.0.1", 7, &rules("127.0.0.0/8")).await.unwrap();
        assert_eq!((reached.addresses, reached.is_private), (vec!["127.0.0.1:7".parse().unwrap()], true));
    }
}
