//! What a form was made from. Its page may be older than what is there by now, so the form carries in `was` what the
//! page showed: what a person left as it was is no change, and what others changed since stays.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::model::error::{Error, Result};
use crate::surface::form::Params;

/// The value of the field `was`.
///
/// # Errors
/// `internal_error` for what is no JSON.
pub(super) fn shown<T: Serialize>(now: &T) -> Result<String> {
    serde_json::to_string(now).map_err(Error::internal)
}

/// What the page of a form showed.
///
/// # Errors
/// `invalid_argument` for a form that does not say it.
pub(super) fn of<T: DeserializeOwned>(params: &Params) -> Result<T> {
    let was = params.get("was").and_then(|was| serde_json::from_str(was).ok());
    let message = "This page does not say what it showed: it is older than the service. Open it again, and save there.";
    was.ok_or_else(|| Error::invalid("was", message))
}

/// What a form sent, where it is not what its page showed.
pub(super) fn changed<T: PartialEq>(sent: T, was: &T) -> Option<T> {
    (sent != *was).then_some(sent)
}
