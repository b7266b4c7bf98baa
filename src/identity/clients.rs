//! OAuth clients: those that register themselves (RFC 7591), and those known by their document. Clients of some
//! products register on every start, so equal metadata is one client: registering is idempotent and the table stays
//! small.

use serde_json::{Value, json};

use super::{Identity, documents};
use crate::base::outbound;
use crate::base::secret::{random_token, sha256_hex};
use crate::model::error::Result;
use crate::store::clients;
pub use crate::store::clients::OAuthClient;

/// Whether a client's key set gives away what only one side may know.
pub fn is_private(jwks: &Value) -> bool {
    documents::is_private(jwks)
}

/// The host that vouches for a client, when it is known by its document.
pub fn verified_host(id: &str) -> Option<String> {
    documents::host(id)
}

/// Metadata of a client that registers; already checked by the registration endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewClient {
    pub name: String,
    pub redirect_uris: Vec<String>,
    pub application_type: String,
    pub uri: Option<String>,
}

impl Identity {
    /// Registers a public client, or returns the one with the same metadata, which counts as new again: one that nobody
    /// uses is forgotten, and this one is about to be used.
    pub async fn register_client(&self, new: NewClient) -> Result<OAuthClient> {
        let fingerprint = fingerprint(&new);
        let client = OAuthClient {
            id: random_token("dgc_").expose().to_owned(),
            name: new.name,
            redirect_uris: new.redirect_uris,
            application_type: new.application_type,
            uri: new.uri,
            secret_digest: None,
            may_introspect: false,
            created_at: self.0.clock.now(),
        };
        Ok(clients::insert_or_get(&mut *self.0.db.writer().await?, &client, &fingerprint).await?)
    }

    /// Whether a client with this metadata has registered already.
    pub async fn is_registered(&self, client: &NewClient) -> Result<bool> {
        Ok(clients::is_known(self.0.db.pool(), &fingerprint(client)).await?)
    }

    /// A client by its exact id: a registered one, or the one that the document at this address describes, which is
    /// fetched when it is not known yet.
    pub async fn client(&self, id: &str) -> Result<Option<OAuthClient>> {
        if id.starts_with("https:") {
            let fetch = |url| async move { outbound::fetch(&url, documents::LIMITS).await };
            return Ok(self.0.documents.client(id, fetch).await);
        }
        Ok(clients::by_id(self.0.db.pool(), id).await?)
    }

    /// Whether a client may be known by this address, where it has to prove what it was given. Nothing is fetched: the
    /// grant says that the client was known.
    pub(super) fn is_document(&self, id: &str) -> bool {
        self.0.documents.address(id).is_some()
    }
}

/// SHA-256 of the metadata as JSON with its members in a fixed order. The order of redirect addresses says nothing.
fn fingerprint(client: &NewClient) -> String {
    let mut redirect_uris: Vec<&str> = client.redirect_uris.iter().map(String::as_str).collect();
    redirect_uris.sort_unstable();
    let metadata = json!([client.name, redirect_uris, client.application_type, client.uri]);
    sha256_hex(metadata.to_string().as_bytes())
}
