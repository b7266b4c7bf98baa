//! The pages of a web site, as its sitemap names them: of the sitemap's own origin alone, as far as robots.txt lets them be
//! read, one after the other with a pause between.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http::header::{
    ACCEPT_ENCODING, ETAG, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LOCATION, USER_AGENT,
};
use tokio::time::Instant;
use url::Url;

use super::Ingest;
use super::place::{Item, Listed, Looked, MOST, Place, client, send, too_many, unavailable};
use super::robots::Robots;
use crate::base::counted::counted;
use crate::base::outbound::Refused;
use crate::engine::extract::sitemap::Sitemap;
use crate::engine::job::Job;
use crate::model::error::{Code, Error, Result};
use crate::model::sync::{Mark, Site};

/// Our product token in robots.txt.
const AGENT: &str = "dragoman";
/// The pause between two requests, and the longest that a site may ask for.
const PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// The longest that one answer may take.
const TIME: Duration = Duration::from_secs(30);
/// Bytes of a page; of a sitemap, packed or not; of robots.txt, as RFC 9309 §2.5 has it.
const PAGE: usize = 32 << 20;
const SITEMAP: usize = 50 << 20;
const ROBOTS: usize = 500 << 10;
/// Sitemaps that are read, what they name together, and indexes within indexes.
const SITEMAPS: usize = 200;
const LINKS: usize = 200_000;
const DEPTH: usize = 2;
const REDIRECTS: usize = 3;
/// Paths that may be named, and bytes of an address, a path, and of what an answer is known by.
const PATHS: usize = 20;
const ADDRESS: usize = 2_048;
const TAG: usize = 500;

/// A visit at a site.
pub(super) struct Visit {
    client: reqwest::Client,
    sitemap: Url,
    paths: Vec<String>,
    agent: String,
    robots: Robots,
    pause: Duration,
    turn: Arc<tokio::sync::Mutex<Instant>>,
}

/// What an address answered, at the end of its redirects.
enum Answer {
    Body(Vec<u8>, Mark),
    Same,
    Gone,
    /// The status of a refusal that is about this address.
    Denied(u16),
    /// Why, for people, and whether it is the site that fails, not this address.
    Failed(String, bool),
}

/// A site as it will be kept, with its addresses in full.
///
/// # Errors
/// `invalid_argument` for an address that is not one, or may not be reached from here; for paths that are none.
pub(super) async fn checked(on: &Ingest, job: &Job<'_>, site: &Site) -> Result<Site> {
    let (sitemap, _) = reach(on, job, site).await?;
    let path = |path: &String| {
        let is_path = path.starts_with('/') && path.len() <= ADDRESS && !path.contains(['?', '#', '*']);
        let message = format!("{:?} is no path such as /docs.", path.chars().take(64).collect::<String>());
        let mut at = sitemap.clone();
        at.set_path(path);
        if is_path { Ok(at.path().to_owned()) } else { Err(Error::invalid("site.paths", message)) }
    };
    if site.paths.len() > PATHS {
        return Err(Error::invalid("site.paths", format!("Name at most {PATHS} paths.")));
    }
    let paths = site.paths.iter().map(path).collect::<Result<_>>()?;
    Ok(Site { sitemap: sitemap.into(), paths })
}

/// The sitemap's address and a client for its origin.
async fn reach(on: &Ingest, job: &Job<'_>, site: &Site) -> Result<(Url, reqwest::Client)> {
    let url = Url::parse(site.sitemap.trim()).ok().filter(|url| url.as_str().len() <= ADDRESS);
    let url = url.ok_or_else(|| {
        Error::invalid("site.sitemap", "The sitemap is an address such as https://www.example.com/sitemap.xml.")
    })?;
    let client = client(on, job, &url).await?.ok_or_else(|| {
        // One sentence for all: which names and addresses there are inside is nobody's business.
        Error::invalid(
            "site.sitemap",
            "This sitemap cannot be reached from here. It is at an https address of a public site, by its name, at port 443 \
             and without a user; sites of the operator's own network are those that the operator has opened for this \
             workspace.",
        )
    })?;
    Ok((url, client))
}

impl Visit {
    /// Begins with robots.txt.
    ///
    /// # Errors
    /// As [`checked`]; `source_unavailable` where robots.txt cannot be read: then all is closed (RFC 9309 §2.3.1.4).
    pub(super) async fn begin(on: &Ingest, job: &Job<'_>, site: &Site) -> Result<Self> {
        let (sitemap, client) = reach(on, job, site).await?;
        let turn = on.places.turn(sitemap.origin().ascii_serialization());
        let (robots, agent) = (Robots::default(), on.places.agent.clone());
        let mut visit = Self { client, sitemap, paths: site.paths.clone(), agent, robots, pause: PAUSE, turn };
        let address = visit.sitemap.join("/robots.txt").map_err(Error::internal)?;
        job.says(0.0, format!("Reading {address}"));
        match visit.get(job, &address, None, ROBOTS, Self::is_own).await? {
            Answer::Body(text, _) => visit.robots = Robots::read(&String::from_utf8_lossy(&text), AGENT),
            // There is none (§2.3.1.3).
            Answer::Gone | Answer::Same | Answer::Denied(_) => {}
            Answer::Failed(why, _) => {
                return Err(unavailable(format!(
                    "{address} cannot be read, so that nothing of the site may be: {why}."
                )));
            }
        }
        visit.pause = visit.robots.delay.unwrap_or_default().clamp(PAUSE, LONGEST_PAUSE);
        Ok(visit)
    }

    /// The pages that its sitemaps name and that may be read.
    ///
    /// # Errors
    /// `source_unavailable` for a sitemap that does not answer: without it, what is gone would not be known;
    /// `invalid_argument` for one that is none, or that is closed, or where no page is left; `limit_exceeded`.
    pub(super) async fn list(&self, on: &Ingest, job: &Job<'_>) -> Result<Listed> {
        let staging = on.staging(job.pass.org())?;
        let (mut left, mut seen) = (vec![(self.sitemap.clone(), 0)], HashSet::from([self.sitemap.clone()]));
        let mut pages: BTreeMap<String, Option<String>> = BTreeMap::new();
        let (mut links, mut elsewhere, mut closed) = (0_usize, 0_usize, 0_usize);
        while let Some((address, depth)) = left.pop() {
            let (found, is_index) = match self.sitemap(on, job, &address, staging.path()).await? {
                Sitemap::Index(_) if depth == DEPTH => {
                    let message = format!("{address} is an index within {DEPTH} others; no more are gone through.");
                    return Err(too_many("sitemap_depth", message, DEPTH));
                }
                Sitemap::Index(found) => (found, true),
                Sitemap::Pages(found) => (found, false),
            };
            links += found.len();
            if links > LINKS {
                let message = format!("{} leads to more than {LINKS} addresses.", self.sitemap);
                return Err(too_many("sitemap_links", message, LINKS));
            }
            for (at, found) in found.into_iter().enumerate() {
                if at % 64 == 0 {
                    // A sitemap and the rules of a site may be long.
                    tokio::task::yield_now().await;
                    job.check()?;
                }
                match Url::parse(&found.url).ok().filter(|url| self.is_own(url)) {
                    None => elsewhere += 1,
                    Some(url) if is_index => {
                        if seen.insert(url.clone()) {
                            left.push((url, depth + 1));
                        }
                        if seen.len() > SITEMAPS {
                            let message = format!("{} leads to more than {SITEMAPS} sitemaps.", self.sitemap);
                            return Err(too_many("sitemaps", message, SITEMAPS));
                        }
                    }
                    Some(url) if !self.is_under(&url) => {}
                    Some(url) if !self.is_open(&url) => closed += 1,
                    Some(mut url) => {
                        url.set_fragment(None);
                        pages.insert(url.into(), found.changed);
                    }
                }
            }
            if pages.len() > MOST {
                let message = format!("{} names more than {MOST} pages. Name paths, such as /docs.", self.sitemap);
                return Err(too_many("sync_pages", message, MOST));
            }
        }
        let mut notes = Vec::new();
        if elsewhere > 0 {
            notes.push(format!("{} of other sites left out", counted(elsewhere, "link")));
        }
        if closed > 0 {
            notes.push(format!("{} closed by robots.txt left out", counted(closed, "page")));
        }
        if pages.is_empty() {
            let told = notes.iter().map(|note| format!(" {note}.")).collect::<String>();
            let message =
                format!("{} names no page of its own site that may be read{}.{told}", self.sitemap, self.within());
            return Err(Error::invalid("site.sitemap", message));
        }
        let items = pages.into_iter().map(|(name, stamp)| Item { file: file_of(&name), name, stamp }).collect();
        Ok(Listed { items, notes })
    }

    async fn sitemap(&self, on: &Ingest, job: &Job<'_>, address: &Url, staging: &Path) -> Result<Sitemap> {
        job.says(0.0, format!("Reading {address}"));
        if !self.is_open(address) {
            let message = format!("robots.txt of the site closes {address} to us ({AGENT}).");
            return Err(Error::invalid("site.sitemap", message));
        }
        let bytes = match self
            .get(job, address, None, SITEMAP, |visit, url| visit.is_own(url) && visit.is_open(url))
            .await?
        {
            Answer::Body(bytes, _) => bytes,
            Answer::Gone => return Err(unavailable(format!("There is no sitemap at {address}."))),
            Answer::Denied(status) => {
                return Err(unavailable(format!("The sitemap {address} cannot be read: status {status}.")));
            }
            Answer::Failed(why, _) => return Err(unavailable(format!("The sitemap {address} cannot be read: {why}."))),
            Answer::Same => return Err(Error::internal("a sitemap was not asked for under a condition")),
        };
        let path = staging.join("sitemap");
        tokio::fs::write(&path, bytes).await.map_err(Error::internal)?;
        on.sql.sitemap(job, &path, address.as_str()).await.map_err(|error| match error.code {
            Code::InvalidArgument | Code::LimitExceeded if !error.message.contains(address.as_str()) => {
                Error { message: format!("The sitemap {address} cannot be read: {}", error.message), ..error }
            }
            _ => error,
        })
    }

    /// Asks for an address, and where it leads as long as that is `admitted`.
    async fn get(
        &self,
        job: &Job<'_>,
        url: &Url,
        known: Option<&Mark>,
        most: usize,
        admits: fn(&Self, &Url) -> bool,
    ) -> Result<Answer> {
        let mut url = url.clone();
        for _ in 0..=REDIRECTS {
            let answer = match self.ask(job, &url, known, most).await? {
                Ok(answer) => answer,
                Err(Refused::TooLarge(most)) => {
                    return Ok(Answer::Failed(format!("it has more than {} KiB", most >> 10), false));
                }
                Err(_) => return Ok(Answer::Failed("no complete answer".into(), true)),
            };
            let header = |name: HeaderName| {
                let value = answer.headers().get(name).and_then(|value| value.to_str().ok());
                value.map(str::to_owned)
            };
            match answer.status().as_u16() {
                200 => {
                    let short = |value: &String| value.len() <= TAG;
                    let (etag, modified) = (header(ETAG).filter(short), header(LAST_MODIFIED).filter(short));
                    return Ok(Answer::Body(answer.into_body(), Mark { etag, modified, ..Mark::default() }));
                }
                304 if known.is_some() => return Ok(Answer::Same),
                404 | 410 => return Ok(Answer::Gone),
                301 | 302 | 303 | 307 | 308 => {
                    let next = header(LOCATION).and_then(|to| url.join(&to).ok()).map(|mut next| {
                        next.set_fragment(None);
                        next
                    });
                    match next.filter(|next| next.as_str().len() <= ADDRESS && admits(self, next)) {
                        Some(next) => url = next,
                        None => return Ok(Answer::Failed("it leads to where nothing is read".into(), false)),
                    }
                }
                status @ 400..=499 if status != 429 => return Ok(Answer::Denied(status)),
                status => return Ok(Answer::Failed(format!("status {status}"), status >= 500 || status == 429)),
            }
        }
        Ok(Answer::Failed(format!("it leads on more than {REDIRECTS} times"), false))
    }

    /// One request, when it is its turn; the next is after the pause.
    async fn ask(
        &self,
        job: &Job<'_>,
        url: &Url,
        known: Option<&Mark>,
        most: usize,
    ) -> Result<std::result::Result<http::Response<Vec<u8>>, Refused>> {
        let mut request = http::Request::get(url.as_str()).header(USER_AGENT, self.agent.as_str());
        // Packed answers could be bombs.
        request = request.header(ACCEPT_ENCODING, "identity");
        for (name, value) in [
            (IF_NONE_MATCH, known.and_then(|known| known.etag.as_ref())),
            (IF_MODIFIED_SINCE, known.and_then(|known| known.modified.as_ref())),
        ] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        let request = request.body(Vec::new()).map_err(Error::internal)?;
        let mut free_at = job.wait(self.turn.lock()).await?;
        job.wait(tokio::time::sleep_until(*free_at)).await?;
        let answer = send(job, &self.client, request, most, TIME).await?;
        *free_at = Instant::now() + self.pause;
        Ok(answer)
    }

    /// Whether an address is of the sitemap's origin.
    fn is_own(&self, url: &Url) -> bool {
        url.origin() == self.sitemap.origin() && url.username().is_empty() && url.password().is_none()
    }

    /// Whether it is at or below one of the paths that were named.
    fn is_under(&self, url: &Url) -> bool {
        let is_below = |path: &String| {
            let rest = url.path().strip_prefix(path.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.paths.is_empty() || self.paths.iter().any(is_below)
    }

    /// Whether robots.txt lets it be read.
    fn is_open(&self, url: &Url) -> bool {
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        self.robots.allows(&format!("{}{query}", url.path()))
    }

    fn within(&self) -> String {
        match self.paths.as_slice() {
            [] => String::new(),
            paths => format!(" at or below {}", paths.join(", ")),
        }
    }
}

impl Place for Visit {
    const WITHIN: char = '#';

    async fn read(&mut self, job: &Job<'_>, item: &Item, known: Option<&Mark>) -> Result<Looked> {
        let url = Url::parse(&item.name).map_err(Error::internal)?;
        let admits = |visit: &Self, url: &Url| visit.is_own(url) && visit.is_under(url) && visit.is_open(url);
        let answer = self.get(job, &url, known, PAGE, admits).await?;
        Ok(match answer {
            Answer::Failed(why, true) => Looked::Silent { host: self.sitemap.origin().ascii_serialization(), why },
            Answer::Denied(status) => Looked::Failed(format!("status {status}")),
            Answer::Failed(why, _) => Looked::Failed(why),
            Answer::Body(bytes, mark) => Looked::New(bytes, mark),
            Answer::Same => Looked::Same,
            Answer::Gone => Looked::Gone,
        })
    }
}

/// What the file of a page would be called: the last part of its path that says something, or the host.
fn file_of(address: &str) -> String {
    let path = address.split_once('?').map_or(address, |(path, _)| path);
    let name = path.split('/').rfind(|part| !part.is_empty()).unwrap_or(address);
    name.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_page_has_the_end_of_its_path() {
        for (address, file) in [
            ("https://e.com/docs/guide.html", "guide.html"),
            ("https://e.com/docs/guide/?page=a/b.csv", "guide"),
            ("https://e.com/", "e.com"),
        ] {
            assert_eq!(file_of(address), file);
        }
    }
}
