//! Where a person goes after logging in: the home page, or back to an authorization request of ours. Nothing else, so
//! that a link to our login page cannot send anybody anywhere (B29).

/// The path of the authorization endpoint.
pub const AUTHORIZE: &str = "/api/oauth/authorize";
/// Bytes of the longest address to return to.
const LONGEST: usize = 12 << 10;

/// The address if it is one of ours, else the home page.
pub fn safe(text: Option<&str>) -> &str {
    let ours = |text: &&str| {
        text.len() <= LONGEST
            && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\#".contains(&byte))
            && text.strip_prefix(AUTHORIZE).is_some_and(|rest| rest.starts_with('?'))
    };
    text.filter(ours).unwrap_or("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b29_only_our_own_addresses_are_returned_to() {
        let good = "/api/oauth/authorize?client_id=x&state=%0d%0a";
        assert_eq!(safe(Some(good)), good);
        for bad in [
            "",
            "//evil.com",
            "/\\evil.com",
            "/%2f%2fevil.com",
            "https:evil.com",
            "https://evil.com/api/oauth/authorize?x",
            "/%09/evil.com",
            "/api/oauth/authorize",
            "/api/oauth/authorize/../../evil?x",
            "/api/oauth/authorized?x",
            "/api/oauth/authorize?x\r\nLocation: https://evil.com",
            "/api/oauth/authorize?x y",
            "@evil.com",
            "javascript:alert(1)",
        ] {
            assert_eq!(safe(Some(bad)), "/", "{bad:?}");
        }
        assert_eq!(safe(None), "/");
    }
}
