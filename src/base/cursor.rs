//! Opaque page cursors. A cursor carries its position and a MAC over (scope, position), so that one made for a
//! tenant or a listing is refused in another, and nobody can make one up.

use crate::base::secret::{base64url, from_base64url, hmac_hex, same};

/// Makes and checks cursors with one key.
#[derive(Clone, Debug)]
pub struct Cursors {
    key: Vec<u8>,
}

impl Cursors {
    pub fn new(key: Vec<u8>) -> Self {
        Self { key }
    }

    /// A cursor that continues after `position` in the listing named by `scope` (tenant id first).
    pub fn make(&self, scope: &str, position: &str) -> String {
        base64url(format!("{}.{position}", self.mac(scope, position)).as_bytes())
    }

    /// The position, or `None` when the cursor is not one of ours for this listing.
    pub fn read(&self, scope: &str, cursor: &str) -> Option<String> {
        let text = String::from_utf8(from_base64url(cursor)?).ok()?;
        let (mac, position) = text.split_once('.')?;
        same(mac.as_bytes(), self.mac(scope, position).as_bytes()).then(|| position.to_owned())
    }

    fn mac(&self, scope: &str, position: &str) -> String {
        hmac_hex(&self.key, format!("{}:{scope}:{position}", scope.len()).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_works_only_where_it_was_made() {
        let cursors = Cursors::new(vec![1; 32]);
        let cursor = cursors.make("acme:datasets", "41");
        assert_eq!(cursors.read("acme:datasets", &cursor).as_deref(), Some("41"));
        assert_eq!(cursors.read("other:datasets", &cursor), None);
        assert_eq!(cursors.read("acme:datasets", "garbage"), None);
        assert_eq!(Cursors::new(vec![2; 32]).read("acme:datasets", &cursor), None);
    }
}
