//! Browser sessions: a cookie with a random id, whose digest finds the row. A session exists only once a person has
//! logged in, so that strangers write nothing.

use std::collections::HashMap;
use std::pin::Pin;
use std::time::Duration;

use tower_sessions::cookie::SameSite;
use tower_sessions::cookie::time::OffsetDateTime;
use tower_sessions::session::{Error as SessionError, Id as SessionId, Record};
use tower_sessions::session_store::{Error as StoreError, Result as StoreResult};
use tower_sessions::{Expiry, Session, SessionManagerLayer, SessionStore};

use crate::base::clock::{Clock, Millis};
use crate::base::id::Id;
use crate::base::secret::sha256_hex;
use crate::config::Config;
use crate::model::error::{Error, Result};
use crate::model::user::User;
use crate::store::Db;
use crate::store::sessions::{self, SessionRow};
use crate::surface::web::Web;

const USER: &str = "user";
const AUTH_TIME: &str = "auth_time";
/// However much it is used, a session ends a week after the password was given.
const LONGEST: Millis = 7 * 24 * 3_600_000;

/// The cookie's name; `__Host-` makes browsers refuse it from another host, path or without TLS.
pub fn cookie_name(config: &Config) -> &'static str {
    if config.is_https() { "__Host-dragoman" } else { "dragoman" }
}

/// The layer that finds and saves sessions. Lax, because a person arrives from the client's site.
pub fn layer(web: &Web) -> SessionManagerLayer<Sessions> {
    let lifetime = web.config.limits.lifetimes.browser_session;
    let store = Sessions { db: web.identity.db().clone(), clock: web.identity.clock().clone(), lifetime };
    let idle = tower_sessions::cookie::time::Duration::try_from(lifetime);
    SessionManagerLayer::new(store)
        .with_name(cookie_name(&web.config))
        .with_http_only(true)
        .with_same_site(SameSite::Lax)
        .with_secure(web.config.is_https())
        .with_path("/")
        .with_expiry(idle.map_or(Expiry::OnSessionEnd, Expiry::OnInactivity))
        .with_always_save(true)
}

/// A person who has logged in in this browser.
#[derive(Clone, Debug)]
pub struct SignedIn {
    pub user: User,
    /// When the password was given.
    pub auth_time: Millis,
    session_id: String,
}

impl SignedIn {
    /// The person of a session, if the session lives and the person is still there and not suspended.
    pub async fn find(web: &Web, session: &Session) -> Result<Option<Self>> {
        let Some(user) = session.get::<Id<User>>(USER).await.map_err(failed)? else { return Ok(None) };
        let Some(auth_time) = session.get::<Millis>(AUTH_TIME).await.map_err(failed)? else { return Ok(None) };
        if web.identity.clock().now() - auth_time > LONGEST {
            return Ok(None);
        }
        let Some(session_id) = session.id() else { return Ok(None) };
        let user = web.identity.active_user(user).await?;
        Ok(user.map(|user| Self { user, auth_time, session_id: session_id.to_string() }))
    }

    /// Starts a session for a person who has just proved who they are. Whatever session the browser came with is
    /// deleted, and the new one has a new id (B01).
    pub async fn start(web: &Web, session: &Session, user: &User) -> Result<()> {
        session.clear().await;
        session.cycle_id().await.map_err(failed)?;
        session.insert(USER, user.id).await.map_err(failed)?;
        session.insert(AUTH_TIME, web.identity.clock().now()).await.map_err(failed)
    }

    /// Ends the session on the server.
    pub async fn end(session: &Session) -> Result<()> {
        session.flush().await.map_err(failed)
    }

    /// The session's id; only for deriving form tokens.
    pub fn binding(&self) -> &str {
        &self.session_id
    }

    /// What rows that belong to this session carry.
    pub fn session_hash(&self) -> String {
        sha256_hex(self.session_id.as_bytes())
    }

    /// For the record.
    pub fn principal(&self) -> String {
        format!("user:{}", self.user.id)
    }
}

#[track_caller]
fn failed(cause: SessionError) -> Error {
    Error::internal(cause)
}

/// Sessions in the metadata database. Expiry is by our clock, not by the record's date.
#[derive(Clone, Debug)]
pub struct Sessions {
    db: Db,
    clock: Clock,
    lifetime: Duration,
}

impl Sessions {
    fn row(&self, record: &Record) -> StoreResult<SessionRow> {
        let data = serde_json::to_string(&record.data).map_err(|cause| StoreError::Encode(cause.to_string()))?;
        Ok(SessionRow {
            id_hash: hash(&record.id),
            user_id: record.data.get(USER).and_then(|user| user.as_str()).map(str::to_owned),
            data,
            expires_at: self.clock.now().saturating_add(Millis::try_from(self.lifetime.as_millis()).unwrap_or(0)),
        })
    }
}

fn hash(id: &SessionId) -> String {
    sha256_hex(id.to_string().as_bytes())
}

fn backend(cause: sqlx::Error) -> StoreError {
    StoreError::Backend(cause.to_string())
}

type Answer<'a, T> = Pin<Box<dyn Future<Output = StoreResult<T>> + Send + 'a>>;

// The trait is written with `async_trait`; these are the signatures that it makes.
impl SessionStore for Sessions {
    fn create<'a, 'b, 'c>(&'a self, record: &'b mut Record) -> Answer<'c, ()>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        Box::pin(async move {
            sessions::sweep(self.db.pool(), self.clock.now()).await.map_err(backend)?;
            while !sessions::create(self.db.pool(), &self.row(record)?).await.map_err(backend)? {
                record.id = SessionId::default();
            }
            Ok(())
        })
    }

    fn save<'a, 'b, 'c>(&'a self, record: &'b Record) -> Answer<'c, ()>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        Box::pin(async move { sessions::save(self.db.pool(), &self.row(record)?).await.map_err(backend) })
    }

    fn load<'a, 'b, 'c>(&'a self, id: &'b SessionId) -> Answer<'c, Option<Record>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        Box::pin(async move {
            let found = sessions::load(self.db.pool(), &hash(id), self.clock.now()).await.map_err(backend)?;
            let Some((data, expires_at)) = found else { return Ok(None) };
            let data: HashMap<_, _> =
                serde_json::from_str(&data).map_err(|cause| StoreError::Decode(cause.to_string()))?;
            let expiry_date =
                OffsetDateTime::from_unix_timestamp(expires_at / 1000).unwrap_or(OffsetDateTime::UNIX_EPOCH);
            Ok(Some(Record { id: *id, data, expiry_date }))
        })
    }

    fn delete<'a, 'b, 'c>(&'a self, id: &'b SessionId) -> Answer<'c, ()>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        Box::pin(async move { sessions::delete(self.db.pool(), &hash(id)).await.map_err(backend) })
    }
}
