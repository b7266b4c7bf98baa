//! How a client proves who it is to the endpoints that programs call (RFC 6749 §2.3): with its secret in the header or
//! in the form, or, for a public client, not at all. Every endpoint asks here, before it does anything else; what
//! fails here has changed nothing (E04).
//!
//! Signed assertions (RFC 7523) are not offered: one that is sent is refused, and never read as the lack of a proof.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::base::secret::{Secret, from_base64};
use crate::identity::confidential::KnownClient;
use crate::surface::form::{Params, decode};
use crate::surface::oauth::error::OAuthError;
use crate::surface::web::Web;

/// What the token and revocation endpoints accept; a client that names none of them itself takes the first.
pub(super) const METHODS: [&str; 3] = ["none", "client_secret_basic", "client_secret_post"];
/// What an endpoint for confidential clients accepts.
pub(super) const SECRET_METHODS: [&str; 2] = ["client_secret_basic", "client_secret_post"];

/// The client.
///
/// # Errors
/// 401 `invalid_client` when it is unknown, or did not prove itself as it must; 400 `invalid_request` when it named
/// itself not at all or tried to prove itself twice.
pub(super) async fn authenticate(web: &Web, headers: &HeaderMap, params: &Params) -> Result<KnownClient, OAuthError> {
    let basic = headers.contains_key(header::AUTHORIZATION);
    let found = find(web, headers, params).await;
    // Who tried HTTP authentication is told which there is (RFC 6749 §5.2).
    found.map_err(|error| OAuthError { basic: basic && error.status == StatusCode::UNAUTHORIZED, ..error })
}

/// As [`authenticate`], for an endpoint that public clients may not use.
///
/// # Errors
/// 401 `invalid_client` for anything but a confidential client that proved itself.
pub(super) async fn authenticate_confidential(
    web: &Web,
    headers: &HeaderMap,
    params: &Params,
) -> Result<KnownClient, OAuthError> {
    let refused = || OAuthError::invalid_client("Only a client that proves itself with its secret may ask this.");
    let found = match headers.contains_key(header::AUTHORIZATION) || params.get("client_secret").is_some() {
        true => find(web, headers, params).await,
        false => Err(refused()),
    };
    let found = found.and_then(|client| if client.confidential { Ok(client) } else { Err(refused()) });
    found.map_err(|error| OAuthError { basic: error.status == StatusCode::UNAUTHORIZED, ..error })
}

async fn find(web: &Web, headers: &HeaderMap, params: &Params) -> Result<KnownClient, OAuthError> {
    let (id, secret) = presented(headers, params)?;
    let client = web.identity.authenticate_client(&id, secret.as_ref().map(Secret::expose)).await?;
    client.ok_or_else(|| OAuthError::invalid_client("The client is not registered, or did not prove itself."))
}

/// The id, and the secret if one was sent.
fn presented(headers: &HeaderMap, params: &Params) -> Result<(String, Option<Secret>), OAuthError> {
    let basic = headers.contains_key(header::AUTHORIZATION);
    let posted = params.get("client_secret");
    let asserted = params.get("client_assertion").is_some() || params.get("client_assertion_type").is_some();
    if [basic, posted.is_some(), asserted].into_iter().filter(|tried| *tried).count() > 1 {
        return Err(OAuthError::bad("invalid_request", "The client tried to prove itself in more than one way."));
    }
    if asserted {
        return Err(OAuthError::invalid_client("Client assertions are not supported."));
    }
    let said = params.get("client_id");
    if basic {
        let refused = || OAuthError::invalid_client("The Authorization header is not a client's id and secret.");
        let (id, secret) = basic_credentials(headers).ok_or_else(refused)?;
        if said.is_some_and(|said| said != id) {
            return Err(OAuthError::invalid_client("client_id is not the one in the Authorization header."));
        }
        return Ok((id, Some(secret)));
    }
    let id = said.ok_or_else(|| OAuthError::missing("client_id"))?;
    Ok((id.to_owned(), posted.map(Secret::new)))
}

/// HTTP Basic (RFC 7617): id and secret, each encoded as in a form first (RFC 6749 §2.3.1).
fn basic_credentials(headers: &HeaderMap) -> Option<(String, Secret)> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let text = values.next().and_then(|value| HeaderValue::to_str(value).ok()).filter(|_| values.next().is_none())?;
    let (scheme, encoded) = text.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = String::from_utf8(from_base64(encoded.trim_matches(' '))?).ok()?;
    let (id, secret) = pair.split_once(':')?;
    let (id, secret) = (decode(id).ok()?, decode(secret).ok()?);
    (!id.is_empty()).then(|| (id, Secret::new(secret)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, HeaderValue::try_from(*value).unwrap());
        }
        headers
    }

    #[test]
    fn e02_basic_credentials_are_read_as_the_rfc_writes_them() {
        // RFC 6749 §4.1.3's example.
        let (id, secret) = basic_credentials(&headers(&["Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW"])).unwrap();
        assert_eq!((id.as_str(), secret.expose()), ("s6BhdRkqt3", "gX1fBat3bV"));
        // "a%3Ab:c+d%2Be:f", any case of the scheme.
        for scheme in ["Basic", "basic", "BASIC"] {
            let (id, secret) = basic_credentials(&headers(&[&format!("{scheme} YSUzQWI6YytkJTJCZTpm")])).unwrap();
            assert_eq!((id.as_str(), secret.expose()), ("a:b", "c d+e:f"));
        }
    }

    #[test]
    fn e02_what_is_no_pair_is_refused() {
        for values in [
            vec!["Basic"],
            vec!["Basic "],
            vec!["Basic !!!"],
            // Without padding where there must be some, and with bits that no encoder sets.
            vec!["Basic YTpiYg"],
            vec!["Basic YTpiYh=="],
            // "abc", ":b", "a%zz:b", "a:%", "a:%00", and bytes that are not UTF-8.
            vec!["Basic YWJj"],
            vec!["Basic OmI="],
            vec!["Basic YSV6ejpi"],
            vec!["Basic YTol"],
            vec!["Basic YTolMDA="],
            vec!["Basic /zr/"],
            vec!["Bearer YTpi"],
            vec!["Basic YTpi", "Basic YTpi"],
            vec!["Basic YTpi", "Bearer x"],
        ] {
            assert!(basic_credentials(&headers(&values)).is_none(), "{values:?}");
        }
        assert!(basic_credentials(&headers(&["Basic YTpi"])).is_some());
    }
}
