//! What is kept for a person from a form to the page after it: sealed, for a few minutes, the last of its kind alone, and
//! given to that person once.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::base::clock::millis;
use crate::base::id::Id;
use crate::base::secret::{Secret, random_token, sha256_hex};
use crate::model::error::Result;
use crate::model::user::User;
use crate::store::pending::{self, PendingKey};
use crate::surface::web::Web;

/// As long as a sign-in with two steps may take, and a little more.
const LIFE: Duration = Duration::from_secs(15 * 60);

/// What is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The fields of a form that was refused.
    Form,
    /// A page that is shown once.
    Page,
}

impl Kind {
    /// What its rows carry in the place of a digest.
    fn name(self) -> &'static str {
        match self {
            Kind::Form => "form",
            Kind::Page => "page",
        }
    }

    /// What a sealed value opens with.
    fn label(self, user: Id<User>) -> String {
        format!("kept {} of {user}", self.name())
    }
}

/// Keeps it in the place of what the person has of this kind; returns the handle.
///
/// # Errors
/// The database fails.
pub(super) async fn keep(web: &Web, user: Id<User>, kind: Kind, what: &impl Serialize) -> Result<Secret> {
    let handle = random_token("");
    let sealed = web.identity.seal(&kind.label(user), what, LIFE)?;
    let expires_at = web.identity.clock().now().saturating_add(millis(LIFE));
    let key = key(handle.expose(), user, kind);
    pending::replace(&mut *web.identity.db().writer().await?, &key, &sealed, expires_at).await?;
    Ok(handle)
}

/// What has this handle, used up; `None` for what is another's, was taken, or is too old.
///
/// # Errors
/// The database fails.
pub(super) async fn take<T: DeserializeOwned>(
    web: &Web,
    user: Id<User>,
    kind: Kind,
    handle: &str,
) -> Result<Option<T>> {
    let now = web.identity.clock().now();
    let key = key(handle, user, kind);
    let sealed = pending::take(&mut *web.identity.db().writer().await?, &key, now).await?;
    Ok(sealed.and_then(|sealed| web.identity.unseal(&kind.label(user), &sealed)).map(|(what, _)| what))
}

fn key(handle: &str, user: Id<User>, kind: Kind) -> PendingKey {
    PendingKey { handle_hash: sha256_hex(handle.as_bytes()), session_hash: kind.name().to_owned(), user }
}
