//! A workspace: the tenant.

use serde::{Deserialize, Serialize};

use crate::base::clock::Millis;
use crate::base::id::Id;

/// A workspace as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Org {
    pub id: Id<Org>,
    /// In URLs and on the command line: `[a-z0-9-]`, 2 to 40 characters.
    pub slug: String,
    pub name: String,
    /// The switch for external clients; off until an admin turns it on.
    pub connectivity_enabled: bool,
    pub created_at: Millis,
}

/// Whether a text can be a workspace's slug.
pub fn is_slug(text: &str) -> bool {
    (2..=40).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    #[test]
    fn slugs_are_plain() {
        for good in ["demo", "acme-2", "a1"] {
            assert!(super::is_slug(good), "{good}");
        }
        for bad in ["", "a", "-x", "x-", "Acme", "a/b", "..", "a b", &"x".repeat(41)] {
            assert!(!super::is_slug(bad), "{bad}");
        }
    }
}
