//! How well a person proved themselves: the `acr` of sessions and tokens (RFC 9068 §2.2.1, RFC 9470).

use serde::{Deserialize, Serialize};

/// Authentication assurance levels as in NIST SP 800-63B, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Acr {
    /// One factor.
    Aal1,
    /// Two factors, or a passkey that verified its user.
    Aal2,
}

impl Acr {
    pub const ALL: [Acr; 2] = [Acr::Aal1, Acr::Aal2];

    /// As in claims, metadata and `acr_values`.
    pub fn name(self) -> &'static str {
        match self {
            Acr::Aal1 => "aal1",
            Acr::Aal2 => "aal2",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|acr| acr.name() == text)
    }

    /// The least that satisfies an `acr_values` (OpenID Connect Core §3.1.2.1): any of the values is good enough, and
    /// those that we do not know say nothing.
    pub fn asked(acr_values: &str) -> Option<Self> {
        acr_values.split(' ').filter_map(Acr::parse).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weakest_known_value_is_enough() {
        assert_eq!(Acr::asked("aal2"), Some(Acr::Aal2));
        assert_eq!(Acr::asked("urn:mace:incommon:iap:silver aal2"), Some(Acr::Aal2));
        assert_eq!(Acr::asked("aal2 aal1"), Some(Acr::Aal1));
        for nothing in ["", "AAL2", "2", "aal3"] {
            assert_eq!(Acr::asked(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn names_are_read_back_and_written_alike_by_serde() {
        for acr in Acr::ALL {
            assert_eq!(Acr::parse(acr.name()), Some(acr));
            assert_eq!(serde_json::to_value(acr).unwrap(), acr.name());
        }
    }
}
