//! How many connections there may be at once: each takes a file handle, and memory for its header, before anybody knows
//! whose it is. Whoever opens as many as they can leaves room for the next.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use nix::sys::resource::{Resource, getrlimit};

use crate::base::network::Network;
use crate::base::shares::{Key, Share, Shares};
use crate::base::throttle::subscriber;
use crate::config::Config;

/// Of one address.
const EACH: usize = 256;
/// At the address for metrics, whose readers are few.
const OPERATORS: usize = 64;

/// The places for connections.
#[derive(Debug)]
pub struct Crowd {
    places: Arc<Shares>,
    /// Who may have all of them: proxies, through which everybody comes, and this machine.
    open_to: Vec<Network>,
}

impl Crowd {
    /// As the settings say.
    pub fn of(config: &Config) -> Self {
        let own = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)].map(Network::from);
        let open_to = config.trusted_proxies.iter().copied().chain(own).collect();
        Self::new(config.limits.rates.instance_connections, open_to)
    }

    /// At the address for metrics: a crowd of its own, so that neither address has places of the other.
    pub fn of_operators() -> Self {
        Self { places: Shares::new("metrics", OPERATORS), open_to: Vec::new() }
    }

    /// `most` in all, and never more than half of the files that this process may open: the other half is for databases,
    /// workers and data. An address that is not in `open_to` has at most 256, and no more than are free.
    pub fn new(most: usize, open_to: Vec<Network>) -> Self {
        let files = getrlimit(Resource::RLIMIT_NOFILE).map_or(u64::MAX, |(soft, _)| soft);
        let half = usize::try_from(files / 2).unwrap_or(usize::MAX);
        Self { places: Shares::new("connections", most.min(half)), open_to }
    }

    /// A place for a connection from this address, for as long as it is open; `None` when there is none for it.
    pub(super) fn enter(&self, peer: IpAddr) -> Option<Share> {
        let peer = peer.to_canonical();
        let own = Key { name: subscriber(peer).to_string(), most: EACH, part: 1 };
        let keys: &[Key] = match self.open_to.iter().any(|network| network.covers(peer)) {
            true => &[],
            false => std::slice::from_ref(&own),
        };
        let entered = self.places.enter(keys);
        if let Err(full) = &entered {
            let by = if full.key.is_some() { "address" } else { "instance" };
            metrics::counter!("dragoman_connections_refused_total", "by" => by).increment(1);
            tracing::debug!(%peer, by, "a connection was closed: there are too many");
        }
        entered.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_has_so_many_and_a_subscriber_counts_as_one() {
        let crowd = Crowd { places: Shares::new("connections", 10_000), open_to: vec!["10.0.0.0/8".parse().unwrap()] };
        let of = |at: &dyn Fn(usize) -> IpAddr| (0..1_000).map_while(|n| crowd.enter(at(n))).collect::<Vec<_>>();
        let one = of(&|_| ip("203.0.113.9"));
        assert_eq!(one.len(), EACH);
        assert!(crowd.enter(ip("::ffff:203.0.113.9")).is_none(), "in IPv6 clothes");
        assert_eq!(of(&|n| ip(&format!("2001:db8::{n:x}"))).len(), EACH, "of one /64");
        assert_eq!(of(&|_| ip("::ffff:10.1.2.3")).len(), 1_000, "a proxy speaks for everybody");
        drop(one);
        assert!(crowd.enter(ip("203.0.113.9")).is_some());
    }
}
