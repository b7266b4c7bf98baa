//! Identity on both databases. Names carry the number of the attack that the test makes (see the catalogue in the
//! reference on OAuth): C for codes, D for refresh, I for access tokens, L for revocation.

mod audit;
mod codes;
mod connectivity;
mod faults;
mod keys;
mod lives;
mod people;
mod races;
mod refresh;
mod revoke;
mod secrets;
mod sweep;
mod tokens;
mod upstream;

use std::sync::Arc;
use std::time::Duration;

use dragoman::base::clock::{Clock, Millis};
use dragoman::base::id::Id;
use dragoman::base::secret::{MasterKey, Secret, base64url, sha256};
use dragoman::config::Config;
use dragoman::identity::Identity;
use dragoman::identity::grants::{Approval, CodeUse, GrantError, RefreshUse, TokenPair};
use dragoman::identity::proven::{Proven, Refusal};
use dragoman::model::access::{Role, Scope};
use dragoman::model::acr::Acr;
use dragoman::model::org::Org;
use dragoman::model::user::User;
use dragoman::store::Db;

pub const NOW: Millis = 1_790_000_000_000;
pub const REDIRECT: &str = "http://127.0.0.1:9999/callback";
/// RFC 7636 appendix B.
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const PASSWORD: &str = "correct horse battery";
pub const CLIENT: &str = "client-a";

/// A workspace with one contributor, at a time that stands still.
pub struct World {
    pub identity: Identity,
    pub clock: Clock,
    pub master: MasterKey,
    pub org: Org,
    pub user: User,
}

impl World {
    pub async fn new(db: Db) -> Self {
        Self::with(db, config()).await
    }

    /// At an address that has a name.
    pub async fn named(db: Db) -> Self {
        let url = |name: &str| (name == "DRAGOMAN_PUBLIC_URL").then(|| "https://data.example.com".to_owned());
        Self::with(db, Arc::new(Config::read(url).unwrap())).await
    }

    async fn with(db: Db, config: Arc<Config>) -> Self {
        let clock = Clock::manual(NOW);
        let master = MasterKey::generate();
        let identity = Identity::open(db, config, master.clone(), clock.clone()).await.unwrap();
        let org = identity.create_org("acme", "Acme").await.unwrap();
        let user = identity.create_user("ann@example.com", "Ann", &Secret::new(PASSWORD)).await.unwrap();
        identity.set_role(org.id, user.id, Role::Contributor).await.unwrap();
        Self { identity, clock, master, org, user }
    }

    pub fn resource(&self) -> String {
        self.identity.config().resource()
    }

    pub fn wait(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    pub fn approval(&self) -> Approval {
        Approval {
            client_id: CLIENT.into(),
            user: self.user.id,
            org: self.org.id,
            scopes: vec![Scope::DataRead, Scope::DataWrite],
            resource: self.resource(),
            redirect_uri: REDIRECT.into(),
            code_challenge: base64url(&sha256(VERIFIER.as_bytes())),
            auth_time: self.clock.now() - 5_000,
            session_hash: None,
            acr: Acr::Aal1,
        }
    }

    pub async fn code(&self) -> Secret {
        self.identity.approve(self.approval()).await.unwrap()
    }

    pub async fn redeem(&self, code: &Secret) -> Result<TokenPair, GrantError> {
        self.identity.redeem(code_use(code)).await
    }

    /// Tokens of a new grant.
    pub async fn pair(&self) -> TokenPair {
        self.redeem(&self.code().await).await.unwrap()
    }

    pub async fn refresh(&self, token: &Secret) -> Result<TokenPair, GrantError> {
        self.identity.refresh(refresh_use(token)).await
    }

    pub async fn verify(&self, token: &Secret) -> Result<Proven, Refusal> {
        self.identity.verify(token.expose(), &self.resource()).await
    }
}

pub fn config() -> Arc<Config> {
    // Some refresh more often at a time that stands still than a client does in a minute.
    let raised = |name: &str| (name == "DRAGOMAN_RATE_TOKEN").then(|| "10000".to_owned());
    Arc::new(Config::read(raised).unwrap())
}

pub fn code_use(code: &Secret) -> CodeUse<'_> {
    CodeUse { code: code.expose(), client_id: CLIENT, redirect_uri: Some(REDIRECT), verifier: VERIFIER, resource: None }
}

pub fn refresh_use(token: &Secret) -> RefreshUse<'_> {
    RefreshUse { token: token.expose(), client_id: CLIENT, scope: None, resource: None }
}

#[track_caller]
pub fn invalid_grant(result: Result<TokenPair, GrantError>) {
    assert!(matches!(result, Err(GrantError::InvalidGrant(_) | GrantError::Reused(_))), "{result:?}");
}

#[track_caller]
pub fn revoked(result: &Result<Proven, Refusal>) {
    assert!(matches!(result, Err(Refusal::Revoked)), "{result:?}");
}

/// An id that nothing has.
pub fn nowhere<T>() -> Id<T> {
    Id::new(&Clock::manual(1))
}
