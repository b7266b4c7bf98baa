//! Passkeys (WebAuthn Level 3): discoverable, and always with user verification, so that one is as good as two factors.
//!
//! A ceremony has two halves. The first gives the browser its options, and carries its state sealed, for five minutes,
//! for one browser and, where it is known, one person. The second checks the answer and uses the challenge up: strangers
//! who only ask write nothing.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use webauthn_rs::prelude::{
    AuthenticationResult, Passkey, PasskeyAuthentication, PasskeyRegistration, PublicKeyCredential,
    RegisterPublicKeyCredential, Webauthn, WebauthnBuilder, WebauthnError,
};

use super::Identity;
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::base::secret::{Secret, base64url, sha256_hex};
use crate::config::Config;
use crate::model::error::{Error, Result};
use crate::model::name;
use crate::model::user::User;
use crate::store::factors::{self, PasskeyRow};
use crate::store::{Tx, users};

/// Time for the person to answer.
const LIFE: Duration = Duration::from_secs(5 * 60);
/// Passkeys that one person may have.
const MOST: usize = 20;
/// Longest name of a passkey, in characters.
const MAX_NAME: usize = 60;

/// This installation as authenticators know it: the name and origin of its public address, whatever a request says.
pub struct RelyingParty(Webauthn);

impl RelyingParty {
    /// `None` when the public address is a number: passkeys belong to names.
    pub(super) fn of(config: &Config) -> Result<Option<Self>> {
        let Some(name) = config.public_url.domain() else { return Ok(None) };
        let party = WebauthnBuilder::new(name, &config.public_url)
            .and_then(|builder| builder.rp_name("Dragoman").timeout(LIFE).build())
            .map_err(Error::internal)?;
        Ok(Some(Self(party)))
    }
}

/// The first half of a ceremony.
#[derive(Clone, Debug)]
pub struct Ceremony {
    /// JSON of `CredentialCreationOptions` or `CredentialRequestOptions`, bytes in URL-safe base64.
    pub options: String,
    /// Comes back with the answer.
    pub state: String,
}

/// An answer as a browser sends it.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    pub state: &'a str,
    /// JSON of a `PublicKeyCredential`, bytes in URL-safe base64.
    pub credential: &'a str,
}

/// A passkey as its owner sees it.
#[derive(Clone, Debug)]
pub struct PasskeyInfo {
    pub id: String,
    pub name: String,
    pub created_at: Millis,
    pub last_used_at: Option<Millis>,
}

/// Why an answer is refused.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProofError {
    /// The code for the record.
    #[error("{0}")]
    Refused(&'static str),
    #[error(transparent)]
    Internal(#[from] Error),
}

impl From<sqlx::Error> for ProofError {
    fn from(cause: sqlx::Error) -> Self {
        ProofError::Internal(cause.into())
    }
}

impl From<WebauthnError> for ProofError {
    fn from(problem: WebauthnError) -> Self {
        ProofError::Refused(match problem {
            WebauthnError::InvalidRPOrigin => "passkey_origin",
            WebauthnError::InvalidRPIDHash => "passkey_rp_id",
            WebauthnError::MismatchedChallenge => "passkey_challenge",
            WebauthnError::UserNotVerified => "passkey_unverified",
            WebauthnError::UserNotPresent => "passkey_absent",
            WebauthnError::CredentialNotFound => "passkey_unknown",
            WebauthnError::CredentialPossibleCompromise => "passkey_counter",
            _ => "passkey_invalid",
        })
    }
}

impl Identity {
    /// Whether people can have passkeys here at all.
    pub fn has_passkeys(&self) -> bool {
        self.0.relying_party.is_some()
    }

    fn relying_party(&self) -> Result<&Webauthn> {
        let party = self.0.relying_party.as_ref().map(|party| &party.0);
        party.ok_or_else(|| Error::invalid("passkey", "This address cannot have passkeys."))
    }

    /// Starts adding a passkey. `browser` is a secret of this browser.
    ///
    /// # Errors
    /// `invalid_argument` when there can be none, or the person has too many.
    pub async fn begin_passkey(&self, user: &User, browser: &str) -> Result<Ceremony> {
        let party = self.relying_party()?;
        let known = self.stored(user.id).await?;
        if known.len() >= MOST {
            return Err(Error::invalid("passkey", format!("You have {MOST} passkeys; remove one first.")));
        }
        let known = known.iter().map(|passkey| passkey.cred_id().clone()).collect();
        let (options, state) = party
            .start_passkey_registration(user.id.uuid(), &user.email, &user.name, Some(known))
            .map_err(Error::internal)?;
        let mut options = serde_json::to_value(options).map_err(Error::internal)?;
        // The library only asks for discoverable ones of attested makers; ours may come from any.
        if let Some(selection) = options.pointer_mut("/publicKey/authenticatorSelection") {
            selection["residentKey"] = json!("required");
            selection["requireResidentKey"] = json!(true);
        }
        self.ceremony(&options, &state, &adding(user.id, browser))
    }

    /// Adds the passkey. Recovery codes come with the first factor of a person.
    ///
    /// # Errors
    /// [`ProofError`].
    pub async fn add_passkey(
        &self,
        user: &User,
        browser: &str,
        answer: Answer<'_>,
        name: &str,
    ) -> Result<Vec<Secret>, ProofError> {
        let (state, expires_at) = self.opened(&adding(user.id, browser), answer.state)?;
        let started: PasskeyRegistration = serde_json::from_str(&state).map_err(Error::internal)?;
        let credential: RegisterPublicKeyCredential =
            serde_json::from_str(answer.credential).map_err(|_| ProofError::Refused("passkey_invalid"))?;
        let passkey = self.relying_party()?.finish_passkey_registration(&credential, &started)?;
        let now = self.0.clock.now();
        let row = PasskeyRow {
            credential_id: base64url(passkey.cred_id()),
            user: user.id,
            name: name_or_default(name),
            data: serde_json::to_string(&passkey).map_err(Error::internal)?,
            created_at: now,
            last_used_at: None,
        };
        let mut tx = self.0.db.begin().await?;
        use_up(&mut tx, &state, expires_at, now).await?;
        if !factors::insert_passkey(&mut tx, &row).await? {
            return Err(ProofError::Refused("passkey_known"));
        }
        tx.commit().await?;
        Ok(self.first_recovery_codes(user.id).await?)
    }

    /// Starts proving oneself: as `user`, or when nobody is known yet, as whom the passkey says.
    ///
    /// # Errors
    /// `invalid_argument` when there can be no passkeys.
    pub async fn begin_passkey_proof(&self, user: Option<Id<User>>, browser: &str) -> Result<Ceremony> {
        let known = match user {
            Some(user) => self.stored(user).await?,
            None => Vec::new(),
        };
        let (options, state) = self.relying_party()?.start_passkey_authentication(&known).map_err(Error::internal)?;
        let options = serde_json::to_value(options).map_err(Error::internal)?;
        self.ceremony(&options, &state, &proving(user, browser))
    }

    /// Who answered.
    ///
    /// # Errors
    /// [`ProofError`].
    pub async fn passkey_proof(
        &self,
        user: Option<Id<User>>,
        browser: &str,
        answer: Answer<'_>,
    ) -> Result<User, ProofError> {
        let unknown = ProofError::Refused("passkey_unknown");
        let (state, expires_at) = self.opened(&proving(user, browser), answer.state)?;
        let credential: PublicKeyCredential =
            serde_json::from_str(answer.credential).map_err(|_| ProofError::Refused("passkey_invalid"))?;
        let row = factors::passkey(self.0.db.pool(), &base64url(credential.get_credential_id())).await?;
        let row = row.filter(|row| user.is_none_or(|user| user == row.user)).ok_or(unknown.clone())?;
        // Whom the authenticator keeps it for; a discoverable one always says so (WebAuthn §7.2 step 6).
        let said = credential.get_user_unique_id();
        if said.map_or(user.is_none(), |said| said != row.user.uuid().as_bytes()) {
            return Err(unknown);
        }
        let mut passkey: Passkey = serde_json::from_str(&row.data).map_err(Error::internal)?;
        let started = with_credential(&state, &row)?;
        let proof = self.relying_party()?.finish_passkey_authentication(&credential, &started)?;
        self.keep_proof(&row, &mut passkey, &proof, &state, expires_at).await?;
        let person = users::active(self.0.db.pool(), row.user).await?;
        person.map(|(person, _)| person).ok_or(unknown)
    }

    /// The challenge is used up and the counter moves on, or nothing happens.
    async fn keep_proof(
        &self,
        row: &PasskeyRow,
        passkey: &mut Passkey,
        proof: &AuthenticationResult,
        state: &str,
        expires_at: Millis,
    ) -> Result<(), ProofError> {
        if !proof.user_verified() {
            return Err(ProofError::Refused("passkey_unverified"));
        }
        passkey.update_credential(proof).ok_or(ProofError::Refused("passkey_unknown"))?;
        let data = serde_json::to_string(passkey).map_err(Error::internal)?;
        let now = self.0.clock.now();
        let mut tx = self.0.db.begin().await?;
        use_up(&mut tx, state, expires_at, now).await?;
        if !factors::passkey_used(&mut tx, row, &data, now).await? {
            return Err(ProofError::Refused("passkey_counter"));
        }
        Ok(tx.commit().await?)
    }

    /// A person's passkeys, oldest first.
    ///
    /// # Errors
    /// The database fails.
    pub async fn passkeys(&self, user: Id<User>) -> Result<Vec<PasskeyInfo>> {
        let rows = factors::passkeys(self.0.db.pool(), user).await?;
        let info = |row: PasskeyRow| PasskeyInfo {
            id: row.credential_id,
            name: row.name,
            created_at: row.created_at,
            last_used_at: row.last_used_at,
        };
        Ok(rows.into_iter().map(info).collect())
    }

    /// Gives a passkey another name; `false` when the person has no such passkey.
    ///
    /// # Errors
    /// The database fails.
    pub async fn rename_passkey(&self, user: Id<User>, id: &str, name: &str) -> Result<bool> {
        Ok(factors::rename_passkey(&mut *self.0.db.writer().await?, user, id, &name_or_default(name)).await?)
    }

    /// Removes a passkey; `false` when the person has no such passkey.
    ///
    /// # Errors
    /// The database fails.
    pub async fn remove_passkey(&self, user: Id<User>, id: &str) -> Result<bool> {
        let removed = factors::delete_passkey(&mut *self.0.db.writer().await?, user, id).await?;
        self.drop_stale_recovery_codes(user).await?;
        Ok(removed)
    }

    async fn stored(&self, user: Id<User>) -> Result<Vec<Passkey>> {
        let rows = factors::passkeys(self.0.db.pool(), user).await?;
        rows.iter().map(|row| serde_json::from_str(&row.data).map_err(Error::internal)).collect()
    }

    fn ceremony(&self, options: &Value, state: &impl Serialize, label: &str) -> Result<Ceremony> {
        let state = serde_json::to_string(state).map_err(Error::internal)?;
        Ok(Ceremony { options: options.to_string(), state: self.seal(label, &state, LIFE)? })
    }

    fn opened(&self, label: &str, state: &str) -> Result<(String, Millis), ProofError> {
        self.unseal(label, state).ok_or(ProofError::Refused("passkey_expired"))
    }
}

/// The started proof with the credential as it is stored now: its counter may have moved since, and where nobody was
/// known the answer has to say which credential it is.
fn with_credential(state: &str, row: &PasskeyRow) -> Result<PasskeyAuthentication> {
    let mut started: Value = serde_json::from_str(state).map_err(Error::internal)?;
    let mut stored: Value = serde_json::from_str(&row.data).map_err(Error::internal)?;
    let kept = started.pointer_mut("/ast/credentials").zip(stored.get_mut("cred"));
    let (credentials, credential) = kept.ok_or_else(|| Error::internal("a passkey is kept in another form"))?;
    *credentials = json!([credential.take()]);
    serde_json::from_value(started).map_err(Error::internal)
}

async fn use_up(tx: &mut Tx, state: &str, expires_at: Millis, now: Millis) -> Result<(), ProofError> {
    match factors::use_challenge(tx, &sha256_hex(state.as_bytes()), expires_at, now).await? {
        true => Ok(()),
        false => Err(ProofError::Refused("passkey_replayed")),
    }
}

fn adding(user: Id<User>, browser: &str) -> String {
    format!("passkey add:{user}:{browser}")
}

fn proving(user: Option<Id<User>>, browser: &str) -> String {
    format!("passkey proof:{}:{browser}", user.map(|user| user.to_string()).unwrap_or_default())
}

/// The name of a passkey as it is kept; one that nobody can read is `Passkey`.
fn name_or_default(name: &str) -> String {
    let name: String = name::shown(name).chars().take(MAX_NAME).collect();
    let name = name.trim_end();
    if name.is_empty() { "Passkey".to_owned() } else { name.to_owned() }
}
