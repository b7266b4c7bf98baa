//! Consent that is remembered, so that the same request need not be asked again, and consent that is withdrawn.

use super::Identity;
use super::redirect::{self, Kind};
use super::roles::lock;
use super::token::read_scopes;
use crate::base::id::Id;
use crate::base::secret::sha256_hex;
use crate::model::access::Scope;
use crate::model::error::Result;
use crate::model::grant::scope_text;
use crate::model::org::Org;
use crate::model::user::User;
use crate::store::consents::{self, ConsentKey};
use crate::store::grants;

/// A request that may have been approved before.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub user: Id<User>,
    pub client_id: &'a str,
    pub redirect_uri: &'a str,
    /// Canonical.
    pub resource: &'a str,
    /// Digest of all redirect addresses of the client ([`addresses`]): a client that has others now is asked about
    /// anew, for it may be in other hands (G13).
    pub addresses: &'a str,
}

impl Request<'_> {
    fn key(&self) -> ConsentKey {
        ConsentKey {
            user: self.user,
            client_id: self.client_id.to_owned(),
            redirect_uri: self.redirect_uri.to_owned(),
            resource: self.resource.to_owned(),
        }
    }
}

impl Identity {
    /// Remembers what a person approved. Only for web addresses: a loopback address or a program's own scheme may
    /// lead to another program the next time (RFC 8252 §8.6), so that a person must see each request from there.
    pub async fn remember_consent(&self, org: Id<Org>, request: Request<'_>, scopes: &[Scope]) -> Result<()> {
        if redirect::kind(request.redirect_uri) != Ok(Kind::Https) {
            return Ok(());
        }
        let (scopes, now) = (scope_text(scopes), self.0.clock.now());
        let mut writer = self.0.db.writer().await?;
        Ok(consents::remember(&mut writer, org, &request.key(), &scopes, request.addresses, now).await?)
    }

    /// The workspace that a person approved exactly this for, or more scopes; `None` when there is no such one or
    /// several, or when the client is blocked there. Whether the person may still give the scopes is not judged here.
    pub async fn remembered_consent(&self, request: Request<'_>, scopes: &[Scope]) -> Result<Option<Id<Org>>> {
        let rows = consents::of_request(self.0.db.pool(), &request.key()).await?;
        let [row] = rows.as_slice() else { return Ok(None) };
        let approved = read_scopes(&row.scopes).unwrap_or_default();
        let same = row.addresses == request.addresses && scopes.iter().all(|scope| approved.contains(scope));
        Ok((same && !row.blocked).then_some(row.org))
    }

    /// Takes back what a person approved for a client in a workspace: every grant ends, and the next request is asked
    /// about. Returns how many grants ended.
    pub async fn withdraw_consent(&self, org: Id<Org>, user: Id<User>, client_id: &str) -> Result<u64> {
        let mut tx = self.0.db.begin().await?;
        lock(&mut tx, org).await?;
        let ended = grants::revoke_given(&mut tx, org, user, client_id, "withdrawn", self.0.clock.now()).await?;
        consents::forget(&mut tx, org, user, client_id).await?;
        tx.commit().await?;
        Ok(ended)
    }
}

/// Digest of a client's redirect addresses; their order says nothing.
pub fn addresses(redirect_uris: &[String]) -> String {
    let mut sorted: Vec<&str> = redirect_uris.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    // No address holds a line break.
    sha256_hex(sorted.join("\n").as_bytes())
}
