//! Parts of a network, as operators write them.

use std::net::IpAddr;
use std::str::FromStr;

/// One address, or all that begin with the same bits: `10.1.2.3`, `10.0.0.0/8`, `fd00::/8`. An IPv4 address in IPv6
/// clothes (`::ffff:10.1.2.3`) is the IPv4 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    /// How many of its leading bits count.
    bits: u32,
}

/// Neither an address nor a network.
#[derive(Debug)]
pub struct NotANetwork;

impl FromStr for Network {
    type Err = NotANetwork;

    fn from_str(text: &str) -> Result<Self, NotANetwork> {
        let (written, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let written: IpAddr = written.parse().map_err(|_| NotANetwork)?;
        let whole = Self::from(written);
        let Some(bits) = bits else { return Ok(whole) };
        let bits: u32 = bits.parse().map_err(|_| NotANetwork)?;
        let clothes = width(written) - whole.bits;
        let bits = bits.checked_sub(clothes).filter(|bits| *bits <= whole.bits).ok_or(NotANetwork)?;
        Ok(Self { bits, ..whole })
    }
}

impl From<IpAddr> for Network {
    /// The one address.
    fn from(address: IpAddr) -> Self {
        let address = address.to_canonical();
        Self { address, bits: width(address) }
    }
}

/// Bits of an address.
fn width(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

impl Network {
    /// Whether an address is in it.
    pub fn covers(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(net), IpAddr::V4(address)) => {
                let differ = u32::from(net) ^ u32::from(address);
                differ.checked_shr(32 - self.bits).unwrap_or(0) == 0
            }
            (IpAddr::V6(net), IpAddr::V6(address)) => {
                let differ = u128::from(net) ^ u128::from(address);
                differ.checked_shr(128 - self.bits).unwrap_or(0) == 0
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(network: &str, address: &str) -> bool {
        network.parse::<Network>().unwrap().covers(address.parse().unwrap())
    }

    #[test]
    fn a_network_is_what_begins_with_its_bits() {
        for (network, inside, outside) in [
            ("10.1.2.3", "10.1.2.3", "10.1.2.4"),
            ("10.1.0.0/16", "10.1.255.255", "10.2.0.0"),
            ("0.0.0.0/0", "203.0.113.9", "2001:db8::1"),
            ("fd00::/8", "fdff::1", "fe80::1"),
            ("::/0", "2001:db8::1", "203.0.113.9"),
            ("::ffff:10.1.2.3", "10.1.2.3", "10.1.2.4"),
            ("::ffff:10.1.0.0/112", "10.1.255.255", "10.2.0.0"),
        ] {
            assert!(covers(network, inside) && !covers(network, outside), "{network}");
        }
        for bad in
            ["", "10.0.0.0/33", "::/129", "::ffff:10.1.0.0/80", "10.0.0.0/x", "10.0.0.0/", "db.internal", "::1%lo"]
        {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
    }
}
