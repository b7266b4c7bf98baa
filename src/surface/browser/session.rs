//! Browser sessions: a cookie with a random id, whose digest finds the row. A session exists only once a person has
//! logged in, so that strangers write nothing.

use std::collections::HashMap;
use std::pin::Pin;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::Response;
use tower_sessions::cookie::SameSite;
use tower_sessions::cookie::time::OffsetDateTime;
use tower_sessions::session::{Error as SessionError, Id as SessionId, Record};
use tower_sessions::session_store::{Error as StoreError, Result as StoreResult};
use tower_sessions::{Expiry, Session, SessionManagerLayer, SessionStore};

use crate::base::clock::{Clock, Millis, millis};
use crate::base::id::Id;
use crate::base::secret::{same, sha256_hex};
use crate::config::Config;
use crate::model::acr::Acr;
use crate::model::error::{Error, Result};
use crate::model::user::User;
use crate::store::Db;
use crate::store::sessions::{self, SessionRow, Trace};
use crate::surface::context::Context;
use crate::surface::html;
use crate::surface::web::{Sender, Web};

const USER: &str = "user";
const AUTH_TIME: &str = "auth_time";
/// When the person proved who they are to the provider that they come from, where that was another time.
const PROVEN_ELSEWHERE: &str = "proven_elsewhere";
const ACR: &str = "acr";
const PASSWORD: &str = "password";
const TRACE: &str = "trace";
/// Uses within this time of each other are one.
const SEEN_EVERY: Millis = 60_000;
/// Characters kept of what a browser calls itself.
const LONGEST_AGENT: usize = 300;
/// However much it is used, a session ends a week after the person last signed in or proved here who they are.
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
}

/// Keeps where and when a session is used, at most once a minute; that is also when its time without use starts anew,
/// in the row and in the cookie. A new session gets its public id here, whatever way the person signed in. A refusal
/// says whose session it came with.
pub async fn trace(
    State(web): State<Web>,
    context: Context,
    session: Session,
    request: Request,
    next: Next,
) -> Response {
    let agent = request.headers().get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or("");
    let agent: String = agent.chars().filter(|c| !c.is_control()).take(LONGEST_AGENT).collect();
    // A stranger has no id, and is not looked for in the database. What is seen is saved before the page is made, which
    // may show it.
    if session.id().is_some() {
        let saved = match seen(&web, &context, &session, &agent).await {
            Ok(true) => session.save().await.map_err(failed),
            other => other.map(drop),
        };
        if let Err(error) = saved {
            return html::failure(&error);
        }
    }
    let mut response = next.run(request).await;
    if response.status().is_client_error()
        && let Ok(Some(person)) = SignedIn::find(&web, &session).await
    {
        response.extensions_mut().insert(Sender(person.principal()));
    }
    match seen(&web, &context, &session, &agent).await {
        Ok(_) => response,
        Err(error) => html::failure(&error),
    }
}

/// Whether there was something to keep.
async fn seen(web: &Web, context: &Context, session: &Session, agent: &str) -> Result<bool> {
    if session.get_value(USER).await.map_err(failed)?.is_none() {
        return Ok(false);
    }
    let now = web.identity.clock().now();
    let before: Option<Trace> = session.get(TRACE).await.map_err(failed)?;
    let (id, created_at) = match before {
        Some(before) if now - before.seen_at < SEEN_EVERY => return Ok(false),
        Some(before) => (before.id, before.created_at),
        None => (Id::<Session>::new(web.identity.clock()).to_string(), now),
    };
    let trace = Trace { id, created_at, seen_at: now, ip: context.ip.to_string(), agent: agent.to_owned() };
    session.insert(TRACE, trace).await.map_err(failed)?;
    Ok(true)
}

/// A person who has logged in in this browser.
#[derive(Clone, Debug)]
pub struct SignedIn {
    pub user: User,
    /// When the person last proved who they are.
    pub auth_time: Millis,
    /// How well they did.
    pub acr: Acr,
    session_id: String,
}

impl SignedIn {
    /// The person of a session, if the session lives, and the person still exists, is not suspended, and has the password
    /// that they signed in with.
    pub async fn find(web: &Web, session: &Session) -> Result<Option<Self>> {
        let Some(user) = session.get::<Id<User>>(USER).await.map_err(failed)? else { return Ok(None) };
        let Some(since) = session.get::<Millis>(AUTH_TIME).await.map_err(failed)? else { return Ok(None) };
        let auth_time = session.get::<Millis>(PROVEN_ELSEWHERE).await.map_err(failed)?.unwrap_or(since);
        let acr = session.get::<Acr>(ACR).await.map_err(failed)?.unwrap_or(Acr::Aal1);
        if web.identity.clock().now() - since > LONGEST {
            return Ok(None);
        }
        let Some(session_id) = session.id() else { return Ok(None) };
        let Some((user, stamp)) = web.identity.active_user(user).await? else { return Ok(None) };
        let password = session.get::<String>(PASSWORD).await.map_err(failed)?;
        let holds = password.is_none_or(|password| same(password.as_bytes(), stamp.as_bytes()));
        Ok(holds.then(|| Self { user, auth_time, acr, session_id: session_id.to_string() }))
    }

    /// Starts a session for a person who has just proved who they are, as well as `acr` says. Whatever session the
    /// browser came with is deleted, and the new one has a new id (B01). Who has shown a first factor only goes through
    /// `login/two_step.rs`, which asks for the second where there is one.
    pub async fn start(web: &Web, session: &Session, user: &User, acr: Acr) -> Result<()> {
        session.clear().await;
        session.cycle_id().await.map_err(failed)?;
        session.insert(USER, user.id).await.map_err(failed)?;
        session.insert(ACR, acr).await.map_err(failed)?;
        session.insert(AUTH_TIME, web.identity.clock().now()).await.map_err(failed)
    }

    /// The person of this session has proved themselves again, just now: the session goes on under a new id (B02). It
    /// does not become weaker than it was.
    pub async fn renew(&self, web: &Web, session: &Session, acr: Acr) -> Result<()> {
        session.cycle_id().await.map_err(failed)?;
        session.remove_value(PROVEN_ELSEWHERE).await.map_err(failed)?;
        session.insert(ACR, acr.max(self.acr)).await.map_err(failed)?;
        session.insert(AUTH_TIME, web.identity.clock().now()).await.map_err(failed)
    }

    /// The person of a session that has just begun proved who they are at another provider, at `auth_time`: no later
    /// proof is known here.
    pub async fn proved_elsewhere(session: &Session, auth_time: Millis) -> Result<()> {
        session.insert(PROVEN_ELSEWHERE, auth_time).await.map_err(failed)
    }

    /// Binds the session to the password that was given, by the stamp of the log-in's candidate. A log-in that is under
    /// way while the password changes would otherwise outlive the change, which ends only sessions that are there.
    pub async fn bind_to_password(session: &Session, stamp: &str) -> Result<()> {
        session.insert(PASSWORD, stamp).await.map_err(failed)
    }

    /// Gives the session of a person whose password has just changed a new id, and its old one to nobody (B02). Forms
    /// that were shown before are void. `stamp` is that of the new password.
    pub async fn cycle(session: &Session, stamp: &str) -> Result<()> {
        session.cycle_id().await.map_err(failed)?;
        Self::bind_to_password(session, stamp).await
    }

    /// Ends the session on the server.
    pub async fn end(session: &Session) -> Result<()> {
        session.flush().await.map_err(failed)
    }

    /// Whether the session is there still, under the same id. A failure is a no.
    pub async fn stays(&self, web: &Web) -> bool {
        let (pool, now) = (web.identity.db().pool(), web.identity.clock().now());
        sessions::lives(pool, &self.session_hash(), now).await.unwrap_or(false)
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
        let unused = self.clock.now().saturating_add(millis(self.lifetime));
        let signed_in = record.data.get(AUTH_TIME).and_then(serde_json::Value::as_i64);
        let longest = signed_in.map_or(Millis::MAX, |at| at.saturating_add(LONGEST));
        Ok(SessionRow {
            id_hash: hash(&record.id),
            user_id: record.data.get(USER).and_then(|user| user.as_str()).map(str::to_owned),
            data,
            expires_at: unused.min(longest),
            trace: record.data.get(TRACE).and_then(|trace| serde_json::from_value(trace.clone()).ok()),
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
            while !sessions::create(&mut *self.db.writer().await.map_err(backend)?, &self.row(record)?)
                .await
                .map_err(backend)?
            {
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
        Box::pin(async move {
            sessions::save(&mut *self.db.writer().await.map_err(backend)?, &self.row(record)?).await.map_err(backend)
        })
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
        Box::pin(async move {
            sessions::delete(&mut *self.db.writer().await.map_err(backend)?, &hash(id)).await.map_err(backend)
        })
    }
}
