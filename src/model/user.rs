//! A person, and their membership in a workspace.

use serde::{Deserialize, Serialize};
use unicode_normalization::is_nfc;

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::name;
use crate::model::org::{Org, is_domain};
use crate::model::rights::Role;

/// Bytes of the longest e-mail address (RFC 5321 §4.5.3.1.3, erratum 1690), and of what stands before its `@`
/// (§4.5.3.1.1).
const LONGEST_EMAIL: usize = 254;
const LONGEST_LOCAL: usize = 64;

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

/// The form of an e-mail address in which it is looked up, or `None` when it cannot be one.
pub fn normal_email(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    let (local, domain) = text.split_once('@')?;
    let plain =
        |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control() || c == '@');
    (text.len() <= LONGEST_EMAIL && plain(local) && plain(domain)).then_some(text)
}

/// The stored form of an e-mail address that somebody is to have here: RFC 5321 §4.1.2 without quoted texts and address
/// literals, with the letters of RFC 6531 before the `@`. What is looked up is not held to this, so that whoever has
/// another address from before can still sign in.
///
/// # Errors
/// `invalid_argument` for `email`, with what is wrong.
pub fn checked_email(text: &str) -> Result<String> {
    let refused = |why: &str| Error::invalid("email", why);
    let email = normal_email(text).ok_or_else(|| {
        refused("Expected an e-mail address such as ann@example.com, without spaces, in at most 254 bytes.")
    })?;
    let (local, domain) = email.split_once('@').unwrap_or_default();
    let is_atom = |atom: &str| !atom.is_empty() && atom.chars().all(is_atext);
    if local.len() > LONGEST_LOCAL || !local.split('.').all(is_atom) || !is_nfc(local) {
        return Err(refused(
            "The part of an e-mail address before the @ has at most 64 bytes: letters, digits, single dots between \
             them, and !#$%&'*+-/=?^_`{|}~.",
        ));
    }
    if !is_domain(domain) {
        return Err(refused(
            "The part of an e-mail address after the @ is a domain such as example.com; one of other letters is \
             written in its ASCII form (xn--…).",
        ));
    }
    Ok(email)
}

/// `atext` of RFC 5322 §3.2.3, and letters of all scripts.
fn is_atext(c: char) -> bool {
    match c.is_ascii() {
        true => c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c),
        false => name::is_written(c),
    }
}

#[cfg(test)]
mod tests {
    use super::{checked_email, normal_email};

    #[test]
    fn emails_are_compared_in_one_form() {
        assert_eq!(normal_email(" Ann@Example.COM ").as_deref(), Some("ann@example.com"));
        for bad in ["", "ann", "@x", "ann@", "a b@x", "a@b@c", "a\u{0}@b"] {
            assert_eq!(normal_email(bad), None, "{bad}");
        }
    }

    #[test]
    fn addresses_that_people_have_are_taken() {
        for good in [
            "ann@example.com",
            "ann.lee+list@mail.example.co.uk",
            "o'neill@example.com",
            "a@b.co",
            "1@2.example",
            "!#$%&'*+-/=?^_`{|}~@example.com",
            "анна@example.com",
            "josé@example.com",
            "山田@xn--r8jz45g.example",
            &format!("{}@example.com", "x".repeat(64)),
        ] {
            assert_eq!(checked_email(good).unwrap(), good);
        }
        assert_eq!(checked_email(" Ann@Example.COM ").unwrap(), "ann@example.com");
    }

    #[test]
    fn what_only_looks_like_an_address_is_refused_with_the_field_and_the_part() {
        let long = format!("{}@example.com", "x".repeat(65));
        let label = format!("a@{}.com", "x".repeat(64));
        let whole = format!("a@{}com", "x.".repeat(130));
        for (bad, part) in [
            ("", "such as"),
            ("ann", "such as"),
            ("a@b@c.com", "such as"),
            ("a b@c.com", "such as"),
            ("a\u{7}@c.com", "such as"),
            (&whole, "such as"),
            ("<script>@x.y", "before the @"),
            ("\"a\"@c.com", "before the @"),
            ("a<b@c.com", "before the @"),
            ("ann(x)@c.com", "before the @"),
            ("ann,bob@c.com", "before the @"),
            ("a\\@c.com", "before the @"),
            (".ann@c.com", "before the @"),
            ("ann.@c.com", "before the @"),
            ("a..b@c.com", "before the @"),
            ("nna\u{202e}@c.com", "before the @"),
            ("an\u{200b}n@c.com", "before the @"),
            ("an\u{3164}n@c.com", "before the @"),
            ("an\u{e0100}n@c.com", "before the @"),
            ("jose\u{301}@c.com", "before the @"),
            ("ann🦀@c.com", "before the @"),
            (&long, "before the @"),
            ("ann@localhost", "after the @"),
            ("ann@c..com", "after the @"),
            ("ann@.com", "after the @"),
            ("ann@c.com.", "after the @"),
            ("ann@-c.com", "after the @"),
            ("ann@c_d.com", "after the @"),
            ("ann@<b>.com", "after the @"),
            ("ann@exämple.com", "after the @"),
            ("ann@exa\u{200d}mple.com", "after the @"),
            ("ann@192.0.2.1", "after the @"),
            ("ann@[192.0.2.1]", "after the @"),
            (&label, "after the @"),
        ] {
            let refused = checked_email(bad).unwrap_err();
            assert_eq!(refused.details["field"], "email", "{bad:?}");
            assert!(refused.message.contains(part), "{bad:?}: {}", refused.message);
        }
    }
}
