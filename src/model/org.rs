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

/// Which language models a workspace lets be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Egress {
    /// None: the built-in planner answers.
    #[default]
    Off,
    /// Only those that the operator has listed as local (`DRAGOMAN_LLM_LOCAL_HOSTS`): nothing leaves his network.
    Restricted,
    /// The configured one, wherever it is.
    Allowed,
}

impl Egress {
    pub const ALL: [Egress; 3] = [Egress::Off, Egress::Restricted, Egress::Allowed];

    /// As it is written in settings and kept.
    pub fn name(self) -> &'static str {
        match self {
            Egress::Off => "off",
            Egress::Restricted => "restricted",
            Egress::Allowed => "allowed",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|egress| egress.name() == text)
    }
}

/// What a workspace lets be sent to language models. Without anything set, nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LanguageModels {
    pub egress: Egress,
    /// Whether stored values may be part of it: those that an ontology has other names for, those in earlier plans of
    /// the conversation, and those in an answer that is put into better words. Otherwise only the questions themselves,
    /// and names, descriptions and types.
    pub send_values: bool,
}

/// Whether a text can be a workspace's slug.
pub fn is_slug(text: &str) -> bool {
    (2..=40).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// The stored form of an e-mail domain, or `None` when it cannot be one.
pub fn normal_domain(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches('@').to_lowercase();
    is_domain(&text).then_some(text)
}

/// Whether a lower-case text is a domain that mail goes to: at least two labels of letters, digits and `-`, others in
/// their ASCII form (RFC 5890), the last of which is no number (RFC 1123 §2.1: it would be a network address).
pub(super) fn is_domain(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let named = text.rsplit_once('.').is_some_and(|(_, last)| last.bytes().any(|b| b.is_ascii_alphabetic()));
    text.len() <= 253 && named && text.split('.').all(label)
}

/// Whether an address in its stored form has one of the domains, exactly; without domains every address may come.
pub fn domain_allowed(domains: &[String], email: &str) -> bool {
    let domain = email.rsplit_once('@').map(|(_, domain)| domain);
    domains.is_empty() || domains.iter().any(|allowed| Some(allowed.as_str()) == domain)
}

#[cfg(test)]
mod tests {
    use super::{domain_allowed, normal_domain};

    #[test]
    fn domains_are_compared_whole() {
        assert_eq!(normal_domain(" @Example.COM ").as_deref(), Some("example.com"));
        for bad in
            ["", "com", "a@b.com", "-a.com", "a..com", "a.com.", "*.a.com", "exämple.com", "a b.com", "192.0.2.1"]
        {
            assert_eq!(normal_domain(bad), None, "{bad}");
        }
        let domains = ["example.com".to_owned()];
        assert!(domain_allowed(&domains, "ann@example.com"));
        assert!(domain_allowed(&[], "ann@elsewhere.org"));
        for bad in ["ann@x.example.com", "ann@example.com.evil.org", "ann@notexample.com", "example.com"] {
            assert!(!domain_allowed(&domains, bad), "{bad}");
        }
    }

    #[test]
    fn egress_is_kept_under_the_name_that_it_has_on_the_wire() {
        for egress in super::Egress::ALL {
            assert_eq!(serde_json::to_value(egress).unwrap(), egress.name());
            assert_eq!(super::Egress::parse(egress.name()), Some(egress));
        }
        assert_eq!(super::Egress::parse("Allowed"), None);
    }

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
