//! Which passwords are good enough (NIST SP 800-63B §3.1.1): long, and none that somebody would try first. No rules on
//! kinds of characters. Every refusal says why.

use unicode_normalization::UnicodeNormalization as _;

use super::breached::is_common;
use crate::base::secret::Secret;
use crate::model::error::{Error, Result};

/// Nothing longer is hashed, searched or normalised: work for an attacker's text must stay small.
pub(super) const MAX_BYTES: usize = 1024;

/// The one form of a password: the same letters typed on another keyboard must be the same password (NFC).
pub(super) fn normal(password: &Secret) -> Secret {
    Secret::new(password.expose().nfc().collect::<String>())
}

/// Judges a new password of the person with this address, in its normal form.
///
/// # Errors
/// `invalid_argument` with a sentence for the person.
pub(super) fn check(email: &str, password: &Secret) -> Result<()> {
    let password = password.expose();
    if !(8..=128).contains(&password.chars().count()) || password.len() > MAX_BYTES {
        return refuse("A password has 8 to 128 characters.");
    }
    let folded = password.to_lowercase();
    let (local, domain) = email.split_once('@').unwrap_or((email, ""));
    if [email, local, domain].iter().any(|part| repeats(&folded, part)) {
        return refuse("This password is your e-mail address, or a part of it. Choose one that nobody can guess.");
    }
    if folded.chars().all(|c| folded.starts_with(c)) {
        return refuse("This password is one character again and again. Choose one that nobody can guess.");
    }
    if is_common(&folded) {
        return refuse("This password is one of the most used in the world. Choose one that nobody can guess.");
    }
    Ok(())
}

/// What is said of a password that was found among breached ones.
pub(super) fn breached() -> Error {
    Error::invalid("password", "This password has appeared in a breach of another service. Choose another one.")
}

fn refuse(why: &str) -> Result<()> {
    Err(Error::invalid("password", why))
}

/// Whether `text` is `part`, once or several times in a row.
fn repeats(text: &str, part: &str) -> bool {
    !part.is_empty() && text.len().is_multiple_of(part.len()) && text.replace(part, "").is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(password: &str) -> String {
        check("ann.lee@acme-data.example", &normal(&Secret::new(password)))
            .err()
            .map_or_else(String::new, |e| e.message)
    }

    #[test]
    fn b25_a_weak_password_is_refused_with_the_reason() {
        for (password, reason) in [
            ("", "8 to 128"),
            ("seven77", "8 to 128"),
            (&"xy".repeat(65), "8 to 128"),
            (&"\u{1f511}".repeat(257), "8 to 128"),
            ("Ann.Lee@acme-data.example", "e-mail address"),
            ("ann.leeANN.LEE", "e-mail address"),
            ("acme-data.example", "e-mail address"),
            ("        ", "again and again"),
            ("ÉÉÉÉÉéééé", "again and again"),
            ("Password1", "most used"),
            ("ILoveYou", "most used"),
        ] {
            assert!(why(password).contains(reason), "{password}: {:?}", why(password));
        }
    }

    #[test]
    fn b25_any_characters_are_welcome() {
        for good in [
            "correct horse",
            "пароль-8",
            "\u{1f511}\u{1f40e}\u{1f50b}🪝abcd",
            "nul\0inside",
            "a b c d e",
            "ann.lee.2031",
        ] {
            assert_eq!(why(good), "", "{good}");
        }
        assert_eq!(why(&"ab".repeat(64)), "");
    }

    #[test]
    fn b25_what_looks_the_same_is_the_same() {
        // U+00E9, and e with U+0301; U+AC00, and its two parts.
        assert_eq!(normal(&Secret::new("caf\u{e9}\u{ac00}")), normal(&Secret::new("cafe\u{301}\u{1100}\u{1161}")));
        assert_ne!(normal(&Secret::new("Ⅸ")), normal(&Secret::new("IX")), "compatibility forms stay apart");
    }
}
