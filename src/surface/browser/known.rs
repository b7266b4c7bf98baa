//! Browsers that have signed in before. Who guesses at an account from everywhere slows down the log-ins of strangers to
//! it; the owner's own browser is no stranger. It keeps a cookie that proves this and nothing else: nothing is stored
//! here, and a new password makes it worthless.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue};

use crate::base::secret::{base64url, from_base64url, random_bytes};
use crate::identity::password::Candidate;
use crate::surface::browser::cookies;
use crate::surface::web::Web;

const NAME: &str = "dragoman-known";
/// A browser that stays away longer is a stranger again.
const AGE: Duration = Duration::from_secs(180 * 24 * 3600);
/// Accounts that one browser remembers; the oldest go first.
const MOST: usize = 5;

/// What the cookie holds: a random id of the browser, and a mark for each account.
#[derive(Clone, Debug, Default)]
pub struct KnownBrowser {
    device: Option<String>,
    marks: Vec<String>,
}

impl KnownBrowser {
    /// A malformed cookie is none.
    pub fn of(web: &Web, headers: &HeaderMap) -> Self {
        let read = || {
            let mut parts = cookies::read(headers, &cookies::name(&web.config, NAME))?.split('.');
            let device = parts.next().filter(|id| from_base64url(id).is_some_and(|bytes| bytes.len() == 16))?;
            Some(Self { device: Some(device.to_owned()), marks: parts.take(MOST).map(str::to_owned).collect() })
        };
        read().unwrap_or_default()
    }

    /// The browser's random id; empty for one that has none.
    pub fn device(&self) -> &str {
        self.device.as_deref().unwrap_or_default()
    }

    /// Whether the candidate has signed in here since their password was set. The work is the same for nobody.
    pub fn knows(&self, web: &Web, candidate: &Candidate) -> bool {
        let marks: Vec<&str> = self.marks.iter().map(String::as_str).collect();
        web.identity.knows_browser(candidate, self.device(), &marks)
    }

    /// The `Set-Cookie` that remembers the candidate here, before those that were remembered already.
    pub fn remember(&self, web: &Web, candidate: &Candidate) -> Option<HeaderValue> {
        let device = self.device.clone().unwrap_or_else(|| base64url(&random_bytes::<16>()));
        let mark = web.identity.browser_mark(candidate, &device);
        let others = self.marks.iter().filter(|other| **other != mark).take(MOST - 1);
        let value = std::iter::once(&device).chain([&mark]).chain(others).map(String::as_str).collect::<Vec<_>>();
        cookies::line(&web.config, NAME, &value.join("."), Some(AGE))
    }
}
