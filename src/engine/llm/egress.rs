//! Whether a workspace's questions may go to the configured endpoint: the one place where that is decided.

use std::net::SocketAddr;

use url::Url;

use super::ask::LlmError;
use crate::base::outbound::{Refused, is_inside};
use crate::base::peers::{self, PrivateHost};
use crate::model::org::Egress;

/// The addresses to connect to; none where any address will do that the endpoint's name has when it is connected to.
///
/// # Errors
/// [`LlmError::Off`]; [`LlmError::EgressDenied`] where the workspace wants a local model and an address of the endpoint
/// is not in the operator's own network, or not listed as local there.
pub(super) async fn admit(egress: Egress, url: &Url, local: &[PrivateHost]) -> Result<Vec<SocketAddr>, LlmError> {
    match egress {
        Egress::Off => Err(LlmError::Off),
        Egress::Allowed => Ok(vec![]),
        Egress::Restricted => {
            let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
                return Err(LlmError::EgressDenied);
            };
            let reached = peers::reach(host, port, local).await.map_err(|refused| match refused {
                Refused::Unresolved => LlmError::Failed("the endpoint's name does not resolve".into()),
                _ => LlmError::EgressDenied,
            })?;
            // A public address is reachable without being listed: it is not local for that.
            match reached.addresses.iter().all(|address| is_inside(address.ip())) {
                true => Ok(reached.addresses),
                false => Err(LlmError::EgressDenied),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn admitted(egress: Egress, url: &str, local: &str) -> Result<usize, LlmError> {
        let local: Vec<PrivateHost> = local.split_terminator(',').map(|rule| rule.parse().unwrap()).collect();
        admit(egress, &Url::parse(url).unwrap(), &local).await.map(|addresses| addresses.len())
    }

    #[tokio::test]
    async fn restricted_reaches_only_listed_hosts_of_the_own_network() {
        for (url, local) in [
            ("http://127.0.0.1:9/v1", "127.0.0.0/8"),
            ("http://127.0.0.1:9/v1", "127.0.0.1"),
            ("https://10.1.2.3/v1", "192.168.0.0/16,10.0.0.0/8"),
            ("http://[::1]:9/v1", "::1"),
        ] {
            assert_eq!(admitted(Egress::Restricted, url, local).await, Ok(1), "{url} {local}");
        }
        for (url, local) in [
            ("http://127.0.0.1:9/v1", ""),
            ("http://127.0.0.1:9/v1", "10.0.0.0/8"),
            // Public addresses are not local, whatever is listed.
            ("https://1.1.1.1/v1", ""),
            ("https://1.1.1.1/v1", "1.1.1.1,0.0.0.0/0"),
            ("https://169.254.169.254/v1", "169.254.0.0/16"),
        ] {
            assert_eq!(admitted(Egress::Restricted, url, local).await, Err(LlmError::EgressDenied), "{url} {local}");
        }
    }

    #[tokio::test]
    async fn off_is_off_and_allowed_asks_nothing() {
        for url in ["http://127.0.0.1:9", "https://1.1.1.1"] {
            assert_eq!(admitted(Egress::Off, url, "127.0.0.0/8").await, Err(LlmError::Off));
            assert_eq!(admitted(Egress::Allowed, url, "").await, Ok(0));
        }
        assert_eq!(Egress::default(), Egress::Off);
    }
}
