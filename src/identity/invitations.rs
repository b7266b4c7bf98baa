//! Invitations: a link that makes one person, by their e-mail address, a member of one workspace, once.

use sqlx::any::AnyExecutor;

use super::Identity;
use super::roles::{lock, role_under_lock};
use crate::base::clock::millis;
use crate::base::id::Id;
use crate::base::secret::{Secret, hmac_hex, random_token, same, sha256_hex};
use crate::model::access::Role;
use crate::model::error::{Code, Error, Result};
use crate::model::name;
use crate::model::org::{Org, domain_allowed};
use crate::model::user::{User, checked_email};
pub use crate::store::invitations::InvitationRow;
use crate::store::{Tx, invitations, members, users, workspace_settings};

/// Most invitations of a workspace that may be open.
pub const MAX_OPEN: usize = 50;

const PREFIX: &str = "dgin_";
/// Characters of the proof that a link was mailed.
const PROOF: usize = 32;

/// What the holder of a link is shown.
#[derive(Clone, Debug)]
pub struct Offer {
    pub org: Org,
    pub role: Role,
    pub email: String,
    /// The address of the admin who invites, when they are still there.
    pub invited_by: Option<String>,
    /// Whether somebody has this address already: then they sign in, else they make an account here.
    pub has_account: bool,
    /// Whether the link shows that its bearer reads the address's mail. On a machine where mails go to the log, every
    /// link does.
    pub proven: bool,
}

impl Identity {
    /// Invites an address, which replaces what is open for it; returns the invitation and, for the only time, its link.
    ///
    /// # Errors
    /// `invalid_argument` for an address that is malformed, outside the workspace's domains, or a member's;
    /// `forbidden` for a role above one's own; `limit_exceeded` with [`MAX_OPEN`] open invitations.
    pub async fn invite(
        &self,
        org: Id<Org>,
        by: Option<Id<User>>,
        email: &str,
        role: Role,
    ) -> Result<(InvitationRow, Secret)> {
        let email = checked_email(email)?;
        let (now, token) = (self.0.clock.now(), random_token(PREFIX));
        let mut tx = self.0.db.begin().await?;
        if role > role_under_lock(&mut tx, org, by).await? {
            return Err(Error::forbidden("role_above_own", "You cannot invite to a role above your own."));
        }
        let (org_now, domains) =
            workspace_settings::get(&mut *tx, org).await?.ok_or_else(|| Error::not_found("workspace"))?;
        if !domain_allowed(&domains, &email) {
            let message = format!("Members of this workspace have addresses of {}.", domains.join(", "));
            return Err(Error::invalid("email", message));
        }
        if let Some(user) = users::by_email(&mut *tx, &email).await?
            && members::kept_role(&mut *tx, org, user.id).await?.is_some()
        {
            return Err(Error::invalid("email", format!("{email} is a member already.")));
        }
        invitations::revoke_for(&mut tx, org, &email, now).await?;
        if invitations::open(&mut *tx, org, now).await?.len() >= MAX_OPEN {
            let message = format!("A workspace has at most {MAX_OPEN} open invitations. Take one back first.");
            return Err(Error::new(Code::LimitExceeded, message));
        }
        let life = millis(self.0.config.limits.lifetimes.invite);
        let row = InvitationRow {
            org,
            id: Id::new(&self.0.clock),
            email,
            role,
            digest: sha256_hex(token.expose().as_bytes()),
            invited_by: by.map_or_else(|| "local".to_owned(), |by| by.to_string()),
            created_at: now,
            expires_at: now.saturating_add(life),
        };
        invitations::insert(&mut tx, &row).await?;
        tx.commit().await?;
        let link = |token: &str| Secret::new(self.0.config.url(&format!("/invitation/{token}")));
        // Only the mail proves the mailbox: whoever invites is shown a link without the proof.
        let mailed = format!("{}{}", token.expose(), self.mailed_proof(token.expose()));
        self.mail_invitation(&row.email, &name::shown(&org_now.name), &link(&mailed));
        Ok((row, link(token.expose())))
    }

    /// A workspace's open invitations, newest first.
    pub async fn invitations(&self, org: Id<Org>) -> Result<Vec<InvitationRow>> {
        Ok(invitations::open(self.0.db.pool(), org, self.0.clock.now()).await?)
    }

    /// Takes an open invitation back; `false` when the workspace has none with this id.
    pub async fn revoke_invitation(&self, org: Id<Org>, id: Id<InvitationRow>) -> Result<bool> {
        Ok(invitations::revoke(&mut *self.0.db.writer().await?, org, id, self.0.clock.now()).await?)
    }

    /// What a link offers; `None` for one that was used, taken back, is too old, or never was.
    pub async fn offer(&self, token: &str) -> Result<Option<Offer>> {
        let Some(row) = self.invitation(token).await? else { return Ok(None) };
        let Some(org) = crate::store::orgs::active(self.0.db.pool(), row.org).await? else { return Ok(None) };
        if !may_still_invite(self.0.db.pool(), &row).await? {
            return Ok(None);
        }
        let invited_by = match row.invited_by.parse() {
            Ok(by) => users::by_id(self.0.db.pool(), by).await?.map(|user| user.email),
            Err(_) => None,
        };
        let has_account = users::by_email(self.0.db.pool(), &row.email).await?.is_some();
        let proven = self.proves_mailbox(token);
        Ok(Some(Offer { org, role: row.role, email: row.email, invited_by, has_account, proven }))
    }

    async fn invitation(&self, token: &str) -> Result<Option<InvitationRow>> {
        if !token.starts_with(PREFIX) {
            return Ok(None);
        }
        let digest = sha256_hex(self.without_proof(token).0.as_bytes());
        Ok(invitations::by_digest(self.0.db.pool(), &digest, self.0.clock.now()).await?)
    }

    /// What a mailed link has at its end, and the one that is shown to whoever invites has not.
    fn mailed_proof(&self, token: &str) -> String {
        let proof = hmac_hex(&self.0.master.derive("mailed invitations"), token.as_bytes());
        proof.chars().take(PROOF).collect()
    }

    /// The token itself, and whether the proof of the mail stood behind it.
    fn without_proof<'a>(&self, token: &'a str) -> (&'a str, bool) {
        match token.len().checked_sub(PROOF).and_then(|at| token.split_at_checked(at)) {
            Some((bare, proof)) if same(proof.as_bytes(), self.mailed_proof(bare).as_bytes()) => (bare, true),
            _ => (token, false),
        }
    }

    fn proves_mailbox(&self, token: &str) -> bool {
        self.0.mailer.is_log() || self.without_proof(token).1
    }

    /// Makes a signed-in person a member through a link; returns the workspace. `None`, with nothing changed, for a link
    /// that is not open or is another address's (K08).
    pub async fn accept_invitation(&self, token: &str, user: &User) -> Result<Option<Id<Org>>> {
        let Some(row) = self.invitation(token).await?.filter(|row| row.email == user.email) else { return Ok(None) };
        let mut tx = self.0.db.begin().await?;
        let joined = self.enter(&mut tx, &row, user.id).await?;
        if joined {
            tx.commit().await?;
        }
        Ok(joined.then_some(row.org))
    }

    /// Makes an account for a link's address, which the link proves, and a member of it. `None` for a link that is not
    /// open, that was not mailed, or whose address has an account already: its owner signs in.
    ///
    /// # Errors
    /// `invalid_argument` for a bad name or password.
    pub async fn join_with_invitation(&self, token: &str, name: &str, password: &Secret) -> Result<Option<User>> {
        if !self.proves_mailbox(token) {
            return Ok(None);
        }
        let Some(row) = self.invitation(token).await? else { return Ok(None) };
        let name = super::members::checked_name(name)?;
        let hash = self.hash_new(&row.email, password).await?;
        let now = self.0.clock.now();
        let user = User { id: Id::new(&self.0.clock), email: row.email.clone(), name, created_at: now };
        let mut tx = self.0.db.begin().await?;
        if !users::insert(&mut tx, &user, &hash).await? || !self.enter(&mut tx, &row, user.id).await? {
            return Ok(None);
        }
        tx.commit().await?;
        Ok(Some(user))
    }

    /// The membership that an invitation offers, if it is still open and the workspace still takes this address. Who is
    /// a member already keeps the greater role.
    async fn enter(&self, tx: &mut Tx, row: &InvitationRow, user: Id<User>) -> Result<bool> {
        let now = self.0.clock.now();
        lock(tx, row.org).await?;
        let active = crate::store::orgs::active(&mut **tx, row.org).await?.is_some();
        let domains =
            workspace_settings::get(&mut **tx, row.org).await?.map(|(_, domains)| domains).unwrap_or_default();
        if !active || !domain_allowed(&domains, &row.email) || !may_still_invite(&mut **tx, row).await? {
            return Ok(false);
        }
        if !invitations::accept(tx, row.org, row.id, now).await? {
            return Ok(false);
        }
        let before = members::kept_role(&mut **tx, row.org, user).await?;
        if before.is_none_or(|before| before < row.role) {
            members::set(tx, row.org, user, row.role, now).await?;
        }
        Ok(true)
    }
}

/// Whether who sent it is still an admin: an invitation does not outlive the right to invite.
async fn may_still_invite(on: impl AnyExecutor<'_>, row: &InvitationRow) -> Result<bool> {
    match row.invited_by.parse() {
        Ok(by) => Ok(members::role(on, row.org, by).await? == Some(Role::Admin)),
        // The operator.
        Err(_) => Ok(true),
    }
}
