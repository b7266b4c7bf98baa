//! Where an authorization request is answered: at a client and a redirect address that are both proven. While either is
//! in doubt nobody is sent there (RFC 9700 §4.11).

use crate::config::Config;
use crate::identity::clients::OAuthClient;
use crate::identity::redirect;
use crate::model::error::Error;
use crate::surface::form::Params;
use crate::surface::web::Web;

/// A proven place to answer to.
pub struct Destination {
    pub client: OAuthClient,
    pub redirect_uri: String,
    pub state: Option<String>,
}

/// Why there is none.
pub enum Unproven {
    /// What the person reads, on a page of ours.
    Page(&'static str),
    /// This client, by its id, may not be used. It is told nothing.
    Blocked(String),
    Failed(Error),
}

impl From<Error> for Unproven {
    fn from(error: Error) -> Self {
        Unproven::Failed(error)
    }
}

impl Destination {
    /// Of the parameters of a request.
    ///
    /// # Errors
    /// [`Unproven`].
    pub async fn find(web: &Web, params: &Params) -> Result<Self, Unproven> {
        if params.repeats(&["client_id", "redirect_uri"]) {
            return Err(Unproven::Page("client_id or redirect_uri was sent more than once."));
        }
        let client = match params.get("client_id") {
            // Of a blocked client not even the document is fetched.
            Some(id) if web.identity.is_blocked(id, None).await? => return Err(Unproven::Blocked(id.to_owned())),
            Some(id) => web.identity.client(id).await?,
            None => None,
        };
        let client = client.ok_or(Unproven::Page(
            "The program that sent you here is not registered with this service. Remove the connection in your AI client \
             and add it again.",
        ))?;
        let presented = params.get("redirect_uri").ok_or(Unproven::Page("redirect_uri is missing."))?;
        if !client.redirect_uris.iter().any(|registered| redirect::matches(registered, presented)) {
            return Err(Unproven::Page(
                "The address that the program wants you to be sent back to is not one that it registered. Remove the \
                 connection in your AI client and add it again.",
            ));
        }
        let redirect_uri = presented.to_owned();
        Ok(Destination { client, redirect_uri, state: params.get("state").map(str::to_owned) })
    }

    /// Of a request that waits, as a query, for somebody to log in; `None` for one without a proven place.
    ///
    /// # Errors
    /// The database fails.
    pub async fn waiting(web: &Web, query: &str) -> Result<Option<Self>, Error> {
        let Ok(params) = Params::parse(query) else { return Ok(None) };
        match Self::find(web, &params).await {
            Ok(destination) => Ok(Some(destination)),
            Err(Unproven::Failed(error)) => Err(error),
            Err(Unproven::Page(_) | Unproven::Blocked(_)) => Ok(None),
        }
    }
}

/// An authorization response (RFC 6749 §4.1.2): the redirect address, its own query kept as it is, then the answer,
/// `state` exactly as it came, and `iss` (RFC 9207).
pub fn answer_url(config: &Config, redirect_uri: &str, state: Option<&str>, answer: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(answer);
    if let Some(state) = state {
        query.append_pair("state", state);
    }
    query.append_pair("iss", &config.issuer());
    let join = if redirect_uri.contains('?') { '&' } else { '?' };
    format!("{redirect_uri}{join}{}", query.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a23_state_is_encoded_and_an_existing_query_is_kept() {
        let config = Config::read(|_| None).unwrap();
        let url = answer_url(&config, "https://c.example/cb?a=%41", Some("x\r\n\"<é"), &[("code", "1")]);
        assert_eq!(
            url,
            "https://c.example/cb?a=%41&code=1&state=x%0D%0A%22%3C%C3%A9&iss=http%3A%2F%2F127.0.0.1%3A8787"
        );
    }
}
