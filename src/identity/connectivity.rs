//! Connectivity tokens: long-lived, revocable credentials of a workspace for scripts and for programs that cannot do
//! OAuth. `dgmcp_` + 8 of `[A-Za-z0-9]` (public) + `_` + 32 hex (secret, 128 bit).

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::Identity;
use super::proven::{Proven, Refusal};
use super::uses::Uses;
use crate::base::clock::{Millis, millis};
use crate::base::id::Id;
use crate::base::secret::{Secret, hmac_hex, random_bytes, same};
use crate::model::access::{ExtScope, Rights, Role};
use crate::model::caller::{Caller, Client, Proof};
use crate::model::error::{Code, Error, Result};
use crate::model::name;
use crate::model::org::Org;
use crate::model::user::User;
use crate::store::tenant::Scoped;
use crate::store::tokens::{self, Found, TokenRow};
use crate::store::{members, orgs};

/// How every connectivity token begins.
pub const PREFIX: &str = "dgmcp_";

/// The longest that a replaced token may be good.
pub const MAX_OVERLAP: Duration = Duration::from_secs(7 * 24 * 60 * 60);

const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const MAX_LABEL: usize = 80;

/// What may be shown of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenInfo {
    /// The eight public characters.
    pub id: String,
    pub org: Id<Org>,
    pub label: String,
    pub scopes: Vec<ExtScope>,
    pub last_four: String,
    pub created_at: Millis,
    pub expires_at: Option<Millis>,
    pub revoked_at: Option<Millis>,
    pub last_used_at: Option<Millis>,
    pub use_count: i64,
    /// The token that was made in its place.
    pub replaced_by: Option<String>,
}

impl Identity {
    /// A new token and, for the only time, its secret.
    ///
    /// # Errors
    /// `invalid_argument` for a bad label, no scope, an expiry that is past, or an unknown workspace;
    /// `limit_exceeded` when the workspace has as many tokens in force as the settings let it have.
    pub async fn create_token(
        &self,
        org: Id<Org>,
        label: &str,
        scopes: &[ExtScope],
        expires_at: Option<Millis>,
    ) -> Result<(TokenInfo, Secret)> {
        self.create_token_by(org, None, label, scopes, expires_at).await
    }

    /// As [`Identity::create_token`], by an admin (`None` for the operator), who must still be one.
    ///
    /// # Errors
    /// `forbidden` besides.
    pub async fn create_token_by(
        &self,
        org: Id<Org>,
        by: Option<Id<User>>,
        label: &str,
        scopes: &[ExtScope],
        expires_at: Option<Millis>,
    ) -> Result<(TokenInfo, Secret)> {
        let (label, now) = (name::checked("label", label, MAX_LABEL)?, self.0.clock.now());
        if scopes.is_empty() {
            return Err(Error::invalid("scopes", "Name at least one scope: a token without scopes opens nothing."));
        }
        if expires_at.is_some_and(|at| at <= now) {
            return Err(Error::invalid("expires_at", "The expiry must be in the future."));
        }
        let mut tx = self.0.db.tenant(org).await?;
        still_admin(&mut tx, org, by).await?;
        let most = self.0.config.limits.lifetimes.tokens;
        if tokens::count_active(&mut tx, org, false, now).await? >= most {
            let message = format!("A workspace has at most {most} tokens in force. Revoke one first.");
            return Err(Error::new(Code::LimitExceeded, message).with(json!({ "limit": "tokens", "max": most })));
        }
        let mut row = TokenRow {
            org,
            id: String::new(),
            label,
            scopes: scope_text(scopes),
            digest: String::new(),
            last_four: String::new(),
            created_at: now,
            expires_at,
            revoked_at: None,
            last_used_at: None,
            use_count: 0,
            replaced_by: None,
        };
        let secret = self.insert_token(&mut tx, &mut row).await?;
        tx.commit().await?;
        Ok((info(row), secret))
    }

    /// A new token in the place of one in force, with its label and scopes and as long a life as it had; the old one ends
    /// `overlap` later, or when it would have. `by` is the admin (`None` for the operator), who must still be one.
    ///
    /// # Errors
    /// `not_found` for a token that is not in force; `invalid_argument` for one that was replaced before, or an overlap
    /// longer than [`MAX_OVERLAP`]; `limit_exceeded` when as many replaced ones have not ended yet.
    pub async fn rotate_token(
        &self,
        org: Id<Org>,
        by: Option<Id<User>>,
        id: &str,
        overlap: Duration,
    ) -> Result<(TokenInfo, Secret)> {
        if overlap > MAX_OVERLAP {
            let most = MAX_OVERLAP.as_secs() / 60;
            let message = format!("The old token may be good for at most {most} minutes more.");
            return Err(Error::invalid("overlap_minutes", message));
        }
        let now = self.0.clock.now();
        let mut tx = self.0.db.tenant(org).await?;
        still_admin(&mut tx, org, by).await?;
        let old = tokens::list(&mut tx, org).await?.into_iter().find(|row| row.id == id);
        let ends = |row: &TokenRow| row.revoked_at.is_some() || row.expires_at.is_some_and(|at| at <= now);
        let old = old.filter(|row| !ends(row)).ok_or_else(|| Error::not_found("token in force"))?;
        if let Some(next) = &old.replaced_by {
            let message = format!("This token was rotated already. Rotate the one in its place, {next}.");
            return Err(Error::invalid("token_id", message));
        }
        let most = self.0.config.limits.lifetimes.tokens;
        if tokens::count_active(&mut tx, org, true, now).await? >= most {
            let message = format!("{most} rotated tokens have not ended yet. Revoke one, or wait for it.");
            return Err(Error::new(Code::LimitExceeded, message));
        }
        let life = old.expires_at.map(|at| at - old.created_at);
        let mut new = TokenRow {
            created_at: now,
            expires_at: life.map(|life| now.saturating_add(life)),
            last_used_at: None,
            use_count: 0,
            ..old
        };
        let secret = self.insert_token(&mut tx, &mut new).await?;
        let ends_at = now.saturating_add(millis(overlap));
        if !tokens::replace(&mut tx, org, id, &new.id, ends_at, now).await? {
            return Err(Error::not_found("token in force"));
        }
        tx.commit().await?;
        Ok((info(new), secret))
    }

    /// Keeps a token under a public id and with a secret that are drawn now. An id that is taken, here or in another
    /// workspace, is drawn again.
    async fn insert_token(&self, tx: &mut Scoped, row: &mut TokenRow) -> Result<Secret> {
        loop {
            let secret = draw(row, &self.0.pepper);
            if tokens::insert(tx, row).await? {
                return Ok(secret);
            }
        }
    }

    /// Uses of tokens that are not written yet.
    pub fn uses(&self) -> Uses {
        self.0.uses.clone()
    }

    /// A workspace's tokens, newest first.
    pub async fn tokens(&self, org: Id<Org>) -> Result<Vec<TokenInfo>> {
        self.write_uses().await?;
        Ok(tokens::list(&mut self.0.db.read_tenant(org).await?, org).await?.into_iter().map(info).collect())
    }

    /// Writes the uses that wait, for who reads them now.
    async fn write_uses(&self) -> Result<()> {
        let uses = self.0.uses.take();
        if uses.is_empty() {
            return Ok(());
        }
        let write = async {
            let mut tx = self.0.db.everyone().await?;
            for one in &uses {
                tokens::add_uses(&mut tx, one).await?;
            }
            tx.commit().await
        };
        let written = write.await;
        if written.is_err() {
            self.0.uses.put_back(uses);
        }
        Ok(written?)
    }

    /// Ends a token at once; `false` when the workspace has no such token in force.
    pub async fn revoke_token(&self, org: Id<Org>, id: &str) -> Result<bool> {
        let mut tx = self.0.db.tenant(org).await?;
        let revoked = tokens::revoke(&mut tx, org, id, self.0.clock.now()).await?;
        tx.commit().await?;
        Ok(revoked)
    }

    /// Forgets a token that was made for a moment, as if it had never been.
    pub async fn forget_token(&self, org: Id<Org>, id: &str) -> Result<()> {
        let mut tx = self.0.db.tenant(org).await?;
        tokens::remove(&mut tx, org, id).await?;
        Ok(tx.commit().await?)
    }

    /// A connectivity token that is in force, and its workspace.
    pub(super) async fn find_connectivity(&self, bearer: &str) -> Result<(Arc<Found>, Org), Refusal> {
        let id = public_id(bearer).ok_or(Refusal::Invalid)?;
        let digest = digest(&self.0.pepper, bearer);
        let found = self.connectivity(id).await?;
        let found = found.filter(|found| same(found.token.digest.as_bytes(), digest.as_bytes()));
        in_force(found.ok_or(Refusal::Invalid)?, self.0.clock.now())
    }

    async fn connectivity_in_force(&self, id: &str) -> Result<Arc<Found>, Refusal> {
        let found = self.connectivity(id).await?;
        in_force(found.ok_or(Refusal::Invalid)?, self.0.clock.now()).map(|(found, _)| found)
    }

    /// A token by its public id, as it is now.
    async fn connectivity(&self, id: &str) -> Result<Option<Arc<Found>>> {
        let (known, id) = (&self.0.known.tokens, id.to_owned());
        if let Some(found) = known.known(&id).await {
            return Ok(Some(found));
        }
        let _place = self.0.known.lookups.acquire().await;
        // Whoever was before may have looked for the same one.
        if let Some(found) = known.known(&id).await {
            return Ok(Some(found));
        }
        let found = tokens::by_public_id(&mut self.0.db.read_everyone().await?, &id).await?;
        Ok(found.map(|(stamp, found)| known.keep(id, stamp, found)))
    }

    /// Proves the bearer of a connectivity token and counts the use.
    pub(super) async fn verify_connectivity(&self, bearer: &str) -> Result<Proven, Refusal> {
        let (found, org) = self.find_connectivity(bearer).await?;
        let token = &found.token;
        self.0.uses.note(token.org, &token.id, self.0.clock.now());
        Ok(Proven {
            org,
            user: None,
            role: Role::Contributor,
            rights: rights(token),
            proof: Proof::ConnectivityToken { id: token.id.clone() },
            client: Client { id: token.label.clone(), ..Client::default() },
        })
    }

    /// Whether a bearer of any kind who was proven before still would be; no use is counted.
    pub async fn still_good(&self, bearer: &str, resource: &str) -> bool {
        self.still_may(bearer, resource).await.is_some()
    }

    /// What a bearer of any kind who was proven before may do now; `None` when they would not be proven any more. No use
    /// is counted.
    pub async fn still_may(&self, bearer: &str, resource: &str) -> Option<Rights> {
        match bearer.starts_with(PREFIX) {
            true => self.find_connectivity(bearer).await.ok().map(|(found, _)| rights(&found.token)),
            false => self.verify(bearer, resource).await.ok().map(|proven| proven.rights),
        }
    }

    /// Whether what a caller was let in by is in force: the grant, whatever became of its tokens, or the connectivity token.
    /// A failure to find out ends nothing.
    pub async fn stands(&self, caller: &Caller) -> bool {
        self.rights_left(caller).await.is_some()
    }

    /// What is left of a caller's rights, who may be less by now than they were; `None` when what they were let in by is
    /// withdrawn. As [`Identity::stands`].
    pub async fn rights_left(&self, caller: &Caller) -> Option<Rights> {
        let now = match &caller.proof {
            Proof::AccessToken { family, .. } => match caller.user {
                Some(user) => {
                    let standing = self.standing(caller.org, family, user, &caller.client.id).await;
                    standing.map(|(_, role)| Rights::of_role(role))
                }
                None => Err(Refusal::Invalid),
            },
            Proof::ConnectivityToken { id } => self.connectivity_in_force(id).await.map(|found| rights(&found.token)),
            Proof::BrowserSession { .. } | Proof::Local => Ok(caller.rights),
        };
        match now {
            Ok(rights) => Some(caller.rights.and(rights)),
            Err(Refusal::Internal(_)) => Some(caller.rights),
            Err(_) => None,
        }
    }
}

/// Locks the workspace, whose admin somebody has to be still (`None`: the operator).
async fn still_admin(tx: &mut Scoped, org: Id<Org>, by: Option<Id<User>>) -> Result<()> {
    if !orgs::lock(tx, org).await? {
        return Err(Error::invalid("workspace", "There is no such workspace."));
    }
    if let Some(by) = by
        && members::role(&mut **tx, org, by).await? != Some(Role::Admin)
    {
        return Err(Error::forbidden("not_an_admin", "You are not an admin of this workspace any more."));
    }
    Ok(())
}

/// The workspace of a token that is neither revoked nor past its time.
fn in_force(found: Arc<Found>, now: Millis) -> Result<(Arc<Found>, Org), Refusal> {
    if found.token.revoked_at.is_some() {
        return Err(Refusal::Revoked);
    }
    if found.token.expires_at.is_some_and(|at| at <= now) {
        return Err(Refusal::Expired);
    }
    let org = found.org.clone().ok_or(Refusal::Revoked)?;
    Ok((found, org))
}

fn rights(token: &TokenRow) -> Rights {
    Rights::of_ext_scopes(&parse_scopes(&token.scopes))
}

/// Draws a public id and a secret for the row.
fn draw(row: &mut TokenRow, pepper: &[u8]) -> Secret {
    row.id = random_id();
    let hidden = hex::encode(random_bytes::<16>());
    row.last_four = hidden.chars().skip(28).collect();
    let token = format!("{PREFIX}{}_{hidden}", row.id);
    row.digest = digest(pepper, &token);
    Secret::new(token)
}

/// Eight characters, each equally likely: bytes past the last whole multiple of 62 are thrown away.
fn random_id() -> String {
    let mut id = String::with_capacity(8);
    while id.len() < 8 {
        let [byte] = random_bytes::<1>();
        if byte < 248 {
            id.extend(ALPHABET.get(usize::from(byte % 62)).copied().map(char::from));
        }
    }
    id
}

/// The public part of a token that has exactly the right form; nothing else is ever looked up.
fn public_id(bearer: &str) -> Option<&str> {
    let (id, hidden) = bearer.strip_prefix(PREFIX)?.split_once('_')?;
    let formed = is_public_id(id) && hidden.len() == 32 && hidden.bytes().all(|b| b.is_ascii_hexdigit());
    formed.then_some(id)
}

/// Whether a text has the form of a token's public part.
pub fn is_public_id(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|b| b.is_ascii_alphanumeric())
}

fn digest(pepper: &[u8], token: &str) -> String {
    hmac_hex(pepper, token.as_bytes())
}

fn scope_text(scopes: &[ExtScope]) -> String {
    let mut scopes = scopes.to_vec();
    scopes.sort();
    scopes.dedup();
    scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(" ")
}

/// All or nothing: one word that is no scope means that the text cannot be trusted.
fn parse_scopes(text: &str) -> Vec<ExtScope> {
    text.split(' ').map(ExtScope::parse).collect::<Option<Vec<_>>>().unwrap_or_default()
}

fn info(row: TokenRow) -> TokenInfo {
    TokenInfo {
        scopes: parse_scopes(&row.scopes),
        id: row.id,
        org: row.org,
        label: row.label,
        last_four: row.last_four,
        created_at: row.created_at,
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
        last_used_at: row.last_used_at,
        use_count: row.use_count,
        replaced_by: row.replaced_by,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_form_has_a_public_id() {
        let good = "dgmcp_Abc12345_0123456789abcdef0123456789abcdef";
        assert_eq!(public_id(good), Some("Abc12345"));
        for bad in [
            "",
            "dgmcp_",
            "dgmcp_Abc12345",
            "dgmcp_Abc12345_",
            "dgmcp_Abc1234_0123456789abcdef0123456789abcdef",
            "dgmcp_Abc123456_0123456789abcdef0123456789abcdef",
            "dgmcp_Abc1234é_0123456789abcdef0123456789abcdef",
            "dgmcp_Abc-2345_0123456789abcdef0123456789abcdef",
            "dgmcp_Abc12345_0123456789abcdef0123456789abcde",
            "dgmcp_Abc12345_0123456789abcdef0123456789abcdeff",
            "dgmcp_Abc12345_0123456789abcdef0123456789abcdeg",
            "dgmcp_Abc12345_0123456789abcdef_123456789abcdef",
            " dgmcp_Abc12345_0123456789abcdef0123456789abcdef",
            "dgmcp_Abc12345_0123456789abcdef0123456789abcdef ",
            "DGMCP_Abc12345_0123456789abcdef0123456789abcdef",
        ] {
            assert_eq!(public_id(bad), None, "{bad}");
        }
    }

    #[test]
    fn scopes_that_cannot_be_read_are_none() {
        assert_eq!(parse_scopes("ext:datasets ext:sql"), [ExtScope::Datasets, ExtScope::Sql]);
        for bad in ["", " ", "ext:datasets  ext:sql", "ext:datasets ext:all", "*", "ext:datasets,ext:sql"] {
            assert_eq!(parse_scopes(bad), [], "{bad}");
        }
    }

    #[test]
    fn drawn_ids_use_the_whole_alphabet() {
        let seen: std::collections::HashSet<char> =
            (0..500).flat_map(|_| random_id().chars().collect::<Vec<_>>()).collect();
        // 4,000 draws miss one of 62 characters with a probability below 1e-26.
        assert_eq!(seen.len(), 62);
    }
}
