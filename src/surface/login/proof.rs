//! What a known person can show beyond a first factor, as forms and as checks: used by the second step of a log-in and by
//! the page that confirms who is there.

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use crate::base::secret::Secret;
use crate::identity::passkeys::{Answer, Ceremony, ProofError};
use crate::model::acr::Acr;
use crate::model::error::{Code, Error, Result};
use crate::model::user::User;
use crate::surface::browser::csrf;
use crate::surface::browser::password::{self, Compared};
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::web::{AuditEvent, Web};

/// The page's forms, for `ways.html`.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    /// Where the forms go.
    pub action: &'static str,
    pub csrf: String,
    pub return_to: String,
    /// The least that is asked for; goes along with the forms.
    pub acr: &'static str,
    pub email: String,
    pub passkey: Option<Ceremony>,
    pub totp: bool,
    pub password: bool,
    pub recovery: bool,
}

impl Ways {
    /// Second factors of a person. `browser` is what the forms are bound to.
    pub(super) async fn of(
        web: &Web,
        user: &User,
        browser: &str,
        action: &'static str,
        purpose: &str,
        return_to: &str,
    ) -> Result<Self> {
        let factors = web.identity.factors(user.id).await?;
        let passkey = match factors.passkeys && web.identity.has_passkeys() {
            true => Some(web.identity.begin_passkey_proof(Some(user.id), browser).await?),
            false => None,
        };
        Ok(Self {
            action,
            csrf: csrf::token(web, browser, purpose),
            return_to: return_to.to_owned(),
            acr: "",
            email: user.email.clone(),
            passkey,
            totp: factors.totp,
            password: false,
            recovery: factors.any() && factors.recovery_codes > 0,
        })
    }

    /// Whether there is any way at all.
    pub(super) fn any(&self) -> bool {
        self.passkey.is_some() || self.others()
    }

    /// Whether there is one without a passkey.
    pub(super) fn others(&self) -> bool {
        self.totp || self.password || self.recovery
    }
}

/// What came of a form.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Together with the first factor it is this strong.
    Proven(Acr),
    /// Not this time; the status and what to tell the person.
    Refused(StatusCode, &'static str),
    /// Too many tries; the page says how long to wait.
    Wait(Response),
}

/// What to say of a passkey that was refused.
pub(super) const PASSKEY_REFUSED: &str = "The passkey was not accepted, or the page was old. Please try again.";

/// Checks a form of `ways.html`, and records what came of it. `target` says what it was for.
pub(super) async fn check(
    web: &Web,
    context: &Context,
    headers: &HeaderMap,
    user: &User,
    browser: &str,
    params: &Params,
    target: &'static str,
) -> Result<Outcome> {
    if params.get("way") == Some("password") {
        let password = Secret::new(params.get("password").unwrap_or(""));
        return Ok(
            match password::compare(web, context, headers, "login.password", (&user.email, &password)).await? {
                Compared::Right(right) if right.user.id == user.id => Outcome::Proven(Acr::Aal1),
                Compared::Right(_) | Compared::Wrong => {
                    Outcome::Refused(StatusCode::UNAUTHORIZED, "The password is not right.")
                }
                Compared::Later(page) => Outcome::Wait(page),
            },
        );
    }
    let _trying = match web.throttle.try_login(context.ip) {
        Ok(trying) => trying,
        Err(wait) => return Ok(Outcome::Wait(html::too_many(Code::IpBlocked, wait))),
    };
    let code = Secret::new(params.get("code").unwrap_or(""));
    let (action, tried) = match params.get("way") {
        Some("totp") => ("login.totp", right(web.identity.use_totp(user.id, &code).await)),
        Some("recovery_code") => ("login.recovery_code", right(web.identity.use_recovery_code(user.id, &code).await)),
        Some("passkey") => ("login.passkey", passkey(web, Some(user), browser, params).await.map(|_| Acr::Aal2)),
        _ => return Ok(Outcome::Refused(StatusCode::BAD_REQUEST, "Choose one of the ways below.")),
    };
    let event = |outcome: &'static str| AuditEvent::new(context, action, outcome).target(target);
    match tried {
        Ok(acr) => {
            web.record(event("ok").by(format!("user:{}", user.id))).await?;
            Ok(Outcome::Proven(acr))
        }
        Err(ProofError::Refused(why)) => {
            web.throttle.record_failure(context.ip);
            web.record(event(why).by(format!("user:{}", user.id))).await?;
            Ok(match action {
                "login.passkey" => Outcome::Refused(StatusCode::BAD_REQUEST, PASSKEY_REFUSED),
                _ => Outcome::Refused(StatusCode::UNAUTHORIZED, "The code is not right, or was used already."),
            })
        }
        Err(ProofError::Internal(error)) => {
            web.record(event(error.code.info().name).by(format!("user:{}", user.id))).await?;
            Err(error)
        }
    }
}

/// The person of a passkey's answer: `user` where they are known.
pub(super) async fn passkey(
    web: &Web,
    user: Option<&User>,
    browser: &str,
    params: &Params,
) -> std::result::Result<User, ProofError> {
    let answer =
        Answer { state: params.get("state").unwrap_or(""), credential: params.get("credential").unwrap_or("") };
    web.identity.passkey_proof(user.map(|user| user.id), browser, answer).await
}

fn right(used: std::result::Result<bool, Error>) -> std::result::Result<Acr, ProofError> {
    if used? { Ok(Acr::Aal2) } else { Err(ProofError::Refused("auth_invalid")) }
}
