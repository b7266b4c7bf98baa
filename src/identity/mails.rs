//! What people are written to, and by whom. Every address in a mail comes from the settings (H03), and nothing in it
//! from whoever asked for it.

use super::Identity;
use crate::base::clock::Clock;
use crate::base::mail::{Mail, Mailer, Route};
use crate::base::secret::Secret;
use crate::config::Config;
use crate::model::error::{Error, Result};
use crate::model::user::User;

/// The sender of this installation's mails. Without a server they go to the log on a machine that only its owner
/// reaches; where others reach it there are none, because a link in a log is a key under the mat.
pub(super) fn mailer(config: &Config, clock: &Clock) -> Result<Mailer> {
    let route = match &config.mail.server {
        Some(server) => Route::Server(server.clone()),
        None if config.is_https() => {
            tracing::warn!("no mail server is set (DRAGOMAN_SMTP_URL): people cannot be sent links by e-mail");
            Route::Off
        }
        None => Route::Log,
    };
    Mailer::new(&route, &config.mail.from, clock.clone())
        .map_err(|problem| Error::invalid("mail", format!("DRAGOMAN_SMTP_URL or DRAGOMAN_MAIL_FROM: {problem}")))
}

impl Identity {
    /// Sends the mails of this installation.
    pub fn mailer(&self) -> &Mailer {
        &self.0.mailer
    }

    pub(super) fn mail_reset_link(&self, user: &User, token: &Secret) {
        let config = &self.0.config;
        let text = format!(
            "Somebody, hopefully you, asked to set a new password for {} at {}.\n\n\
             To choose one, open this address within {} minutes:\n\n{}\n\n\
             It works once. If it was not you, do nothing: your password stays as it is.\n",
            user.email,
            config.issuer(),
            config.limits.lifetimes.link.as_secs().div_ceil(60),
            config.url(&format!("/login/reset?token={}", token.expose())),
        );
        self.0.mailer.send(Mail { to: user.email.clone(), subject: "Set a new password".into(), text });
    }

    pub(super) fn mail_password_changed(&self, user: &User) {
        let config = &self.0.config;
        let text = format!(
            "The password of {} at {} has just been changed, and other browsers were signed out.\n\n\
             If it was not you, set a new one at once: {}\n\
             Then look at who else is signed in, and which apps are connected: {}\n",
            user.email,
            config.issuer(),
            config.url("/login/forgot"),
            config.url("/account/sessions"),
        );
        self.0.mailer.send(Mail { to: user.email.clone(), subject: "Your password was changed".into(), text });
    }
}
