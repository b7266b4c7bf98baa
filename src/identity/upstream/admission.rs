//! Which account somebody from another provider is. By issuer and subject alone: an e-mail address may pass to another
//! person, and a provider may say any address, so that an equal address proves nothing about an account of ours.

use super::{Foreigner, Id, Identity, User};
use crate::identity::members::{MAX_NAME, checked_name};
use crate::model::error::{Error, Result};
use crate::store::upstream::{self, UpstreamIdentity};
use crate::store::users;

/// What becomes of somebody who has just signed in at a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Linked before.
    Known(User),
    /// Linked before, to an account that is suspended.
    Suspended(User),
    /// Nobody's, and there is an account with the same address: its person has to sign in to it and link.
    SignInFirst { email: String },
    /// Expected here, by an invitation or a workspace's domain: a new account, member of nothing.
    Created(User),
    /// Nobody's, and nobody waits for them.
    Uninvited { email: String },
    /// Nobody's, and without a verified address.
    NoEmail,
}

/// What came of linking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linking {
    Done,
    /// It was this person's already.
    Already,
    /// It is another person's.
    AnothersAlready,
}

/// What came of unlinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlinking {
    Done,
    /// The person could not sign in any more.
    LastWay,
    NotTheirs,
}

impl Identity {
    /// Finds the account of a proven foreigner, or makes one for somebody who is expected.
    ///
    /// # Errors
    /// The database fails.
    pub async fn admit(&self, foreigner: &Foreigner) -> Result<Admission> {
        if let Some(known) = self.known(foreigner).await? {
            return Ok(known);
        }
        let Some(email) = foreigner.email.clone() else { return Ok(Admission::NoEmail) };
        if users::by_email(self.0.db.pool(), &email).await?.is_some() {
            return Ok(Admission::SignInFirst { email });
        }
        if !self.is_expected(foreigner, &email).await? {
            return Ok(Admission::Uninvited { email });
        }
        let user =
            User { id: Id::new(&self.0.clock), name: name(foreigner, &email), email, created_at: self.0.clock.now() };
        let mut tx = self.0.db.begin().await?;
        // Without a password: an empty hash is nobody's.
        if !users::insert(&mut tx, &user, "").await? {
            return Ok(Admission::SignInFirst { email: user.email });
        }
        if !upstream::insert(&mut tx, &self.row(user.id, foreigner)).await? {
            // The same person in another tab was faster; what this one made is rolled back.
            drop(tx);
            return self.known(foreigner).await?.ok_or_else(|| Error::internal("an identity came and went"));
        }
        tx.commit().await?;
        Ok(Admission::Created(user))
    }

    /// Makes an identity one of the person's ways to sign in. The caller has proven both.
    ///
    /// # Errors
    /// The database fails.
    pub async fn link(&self, user: Id<User>, foreigner: &Foreigner) -> Result<Linking> {
        if upstream::insert(&mut *self.0.db.writer().await?, &self.row(user, foreigner)).await? {
            return Ok(Linking::Done);
        }
        let whose = upstream::find(self.0.db.pool(), &foreigner.issuer, &foreigner.subject).await?;
        let theirs = whose.is_some_and(|(found, _)| found.id == user);
        Ok(if theirs { Linking::Already } else { Linking::AnothersAlready })
    }

    /// Takes away a way to sign in, unless it is the last that works. One at a provider that is no longer configured
    /// does not work.
    ///
    /// # Errors
    /// The database fails.
    pub async fn unlink(&self, user: Id<User>, issuer: &str, subject: &str) -> Result<Unlinking> {
        let mut tx = self.0.db.begin().await?;
        upstream::lock(&mut tx, user).await?;
        if !upstream::delete(&mut tx, user, issuer, subject).await? {
            return Ok(Unlinking::NotTheirs);
        }
        let configured = |issuer: &str| self.0.config.providers.iter().any(|provider| provider.issuer == issuer);
        let left = upstream::of_user(&mut *tx, user).await?;
        let works = left.iter().any(|identity| configured(&identity.issuer));
        if !works && upstream::own_ways(&mut *tx, user).await? == 0 {
            return Ok(Unlinking::LastWay);
        }
        tx.commit().await?;
        Ok(Unlinking::Done)
    }

    /// A person's identities at other providers, oldest first.
    ///
    /// # Errors
    /// The database fails.
    pub async fn upstream_identities(&self, user: Id<User>) -> Result<Vec<UpstreamIdentity>> {
        Ok(upstream::of_user(self.0.db.pool(), user).await?)
    }

    async fn known(&self, foreigner: &Foreigner) -> Result<Option<Admission>> {
        let (pool, issuer, subject) = (self.0.db.pool(), &foreigner.issuer, &foreigner.subject);
        let Some((user, suspended)) = upstream::find(pool, issuer, subject).await? else { return Ok(None) };
        if suspended {
            return Ok(Some(Admission::Suspended(user)));
        }
        upstream::touch(&mut *self.0.db.writer().await?, issuer, subject, self.0.clock.now()).await?;
        Ok(Some(Admission::Known(user)))
    }

    /// Whether somebody may have an account: invited, or of a domain that a workspace lists. At Google anybody can have
    /// an account with an address of any domain; only `hd` says that the domain's organisation manages it.
    async fn is_expected(&self, foreigner: &Foreigner, email: &str) -> Result<bool> {
        let pool = self.0.db.pool();
        if upstream::is_invited(pool, email, self.0.clock.now()).await? {
            return Ok(true);
        }
        let domain = email.rsplit('@').next().unwrap_or_default();
        if foreigner.provider == "google" && foreigner.hosted_domain.as_deref() != Some(domain) {
            return Ok(false);
        }
        for listed in upstream::email_domains(pool).await? {
            let listed: Vec<String> = serde_json::from_str(&listed).map_err(Error::internal)?;
            if listed.iter().any(|one| one.eq_ignore_ascii_case(domain)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn row(&self, user: Id<User>, foreigner: &Foreigner) -> UpstreamIdentity {
        let now = self.0.clock.now();
        UpstreamIdentity {
            issuer: foreigner.issuer.clone(),
            subject: foreigner.subject.clone(),
            user,
            email: foreigner.email.clone().unwrap_or_default(),
            created_at: now,
            last_used_at: now,
        }
    }
}

/// The name that the provider says, where it can be one of ours; else what stands before the `@`.
fn name(foreigner: &Foreigner, email: &str) -> String {
    let said = foreigner.name.as_deref().and_then(|name| checked_name(name).ok());
    said.unwrap_or_else(|| email.split('@').next().unwrap_or_default().chars().take(MAX_NAME).collect())
}
