//! Time, chance, network, mail, telemetry and the like: each has one door here, and nothing in here knows the product.

pub(crate) mod bounded;
pub mod clock;
pub mod counted;
pub mod csv;
pub mod cursor;
pub mod id;
pub mod json;
pub mod local;
pub mod mail;
pub mod markup;
pub mod memory;
pub mod nearest;
pub mod network;
pub mod outbound;
pub mod peers;
pub mod secret;
pub mod shares;
pub mod telemetry;
pub mod throttle;
pub mod tls;
