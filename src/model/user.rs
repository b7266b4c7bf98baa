//! A person, and their membership in a workspace.

use serde::{Deserialize, Serialize};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::access::Role;
use crate::model::org::Org;

/// A person as stored; one person may belong to several workspaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    pub id: Id<User>,
    /// Lower-case; unique over the installation.
    pub email: String,
    pub name: String,
    pub created_at: Millis,
}

/// A person's place in a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    pub org: Org,
    pub user: Id<User>,
    pub role: Role,
}

/// The stored form of an e-mail address, or `None` when it cannot be one.
pub fn normal_email(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    let (local, domain) = text.split_once('@')?;
    let plain =
        |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control() || c == '@');
    (text.len() <= 254 && plain(local) && plain(domain)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::normal_email;

    #[test]
    fn emails_are_compared_in_one_form() {
        assert_eq!(normal_email(" Ann@Example.COM ").as_deref(), Some("ann@example.com"));
        for bad in ["", "ann", "@x", "ann@", "a b@x", "a@b@c", "a\u{0}@b"] {
            assert_eq!(normal_email(bad), None, "{bad}");
        }
    }
}
