//! The objects of a bucket: of Amazon S3, or of another server that speaks its protocol. They are listed and then read one by
//! one. Requests are signed in their addresses (AWS Signature Version 4), which are logged nowhere.

use std::collections::HashMap;
use std::time::Duration;

use http::header::{ACCEPT_ENCODING, DATE, USER_AGENT};
use jiff::Timestamp;
use rusty_s3::{Credentials, S3Action, UrlStyle};
use url::Url;

use super::Ingest;
use super::place::{Item, Listed, Looked, MOST, Place, client, send, too_many, unavailable};
use crate::base::clock::Clock;
use crate::base::counted::counted;
use crate::base::id::Id;
use crate::base::outbound::Refused;
use crate::base::secret::{MasterKey, Secret};
use crate::engine::extract::bucket::{Page, Refusal, Said};
use crate::engine::job::Job;
use crate::model::error::{Code, Error, Result};
use crate::model::org::Org;
use crate::model::sync::{Bucket, Checked, Mark, Origin};

/// Where the buckets of servers are that have no regions, as they take it.
const REGION: &str = "us-east-1";
/// The longest that one answer may take; how long a signature holds, and from how many minutes on clocks differ too much for it.
const TIME: Duration = Duration::from_secs(300);
const VALID: Duration = Duration::from_secs(15 * 60);
const SKEW: i64 = 15;
/// Bytes of a page of the list.
const LIST: usize = 16 << 20;
/// Bytes of an object: it is held in memory.
const OBJECT: u64 = 64 << 20;
/// Bytes of an object's key, and of a prefix; of an address, of what an access key is called, and of its secret.
const KEY: usize = 1_024;
const ADDRESS: usize = 2_048;
const ACCESS_KEY: usize = 128;
const SECRET: usize = 500;

/// A bucket that is open.
pub(super) struct Objects {
    client: reqwest::Client,
    bucket: rusty_s3::Bucket,
    credentials: Option<Credentials>,
    prefix: String,
    agent: String,
    clock: Clock,
    /// Bytes of one object.
    most: u64,
    /// Why some that are listed are not asked for, by their keys.
    closed: HashMap<String, String>,
}

/// A bucket as it will be kept, and its secret sealed.
///
/// # Errors
/// `invalid_argument` in the name of what is wrong.
pub(super) async fn checked(on: &Ingest, job: &Job<'_>, bucket: &Bucket, secret: Option<&Secret>) -> Result<Checked> {
    let given = |text: Option<&String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let checked = Bucket {
        name: bucket.name.trim().to_owned(),
        region: given(bucket.region.as_ref()),
        // Blanks may be meant.
        prefix: bucket.prefix.clone().filter(|prefix| !prefix.is_empty()),
        endpoint: given(bucket.endpoint.as_ref()),
        access_key_id: given(bucket.access_key_id.as_ref()),
    };
    let is_of = |text: &str, more: &[char]| text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(&c));
    if !(3..=63).contains(&checked.name.len()) || !is_of(&checked.name, &['.', '-', '_']) || checked.name.contains("..")
    {
        return Err(Error::invalid("bucket.name", "A bucket's name has 3 to 63 letters, digits, dots and hyphens."));
    }
    let is_region = |region: &String| region.len() <= 32 && is_of(region, &['-']);
    if checked.region.as_ref().map_or(checked.endpoint.is_none(), |region| !is_region(region)) {
        let message = "Name the region that the bucket is in, such as eu-central-1.";
        return Err(Error::invalid("bucket.region", message));
    }
    let prefix = checked.prefix.as_deref().unwrap_or_default();
    if prefix.len() > KEY || prefix.contains(char::is_control) {
        return Err(Error::invalid("bucket.prefix", format!("A prefix has at most {KEY} bytes in one line.")));
    }
    let is_plain = |text: &str, most: usize| text.len() <= most && text.chars().all(|c| c.is_ascii_graphic());
    if checked.access_key_id.as_ref().is_some_and(|id| !is_plain(id, ACCESS_KEY) || id.contains('/')) {
        return Err(Error::invalid(
            "bucket.access_key_id",
            "This is no access key's id, such as AKIAIOSFODNN7EXAMPLE.",
        ));
    }
    let is_secret = |secret: &&Secret| !secret.expose().is_empty() && is_plain(secret.expose(), SECRET);
    let secret = match (&checked.access_key_id, secret) {
        (None, None) => None,
        (None, Some(_)) => {
            let message = "Name the access key that the secret is of, or give none to read a bucket that is open to all.";
            return Err(Error::invalid("bucket.access_key_id", message));
        }
        (Some(_), secret) => Some(secret.filter(is_secret).ok_or_else(|| {
            let message = "Give the secret of the access key with it, each time that the bucket is set. It is kept sealed, and \
                           shown to nobody.";
            Error::invalid("secret_access_key", message)
        })?),
    };
    let opened = opened(&checked)?;
    if client(on, job, opened.base_url()).await?.is_none() {
        return Err(closed(&checked));
    }
    // One server is one text: by it is known what was read there.
    let endpoint = checked.endpoint.as_deref().and_then(|endpoint| Url::parse(endpoint).ok());
    let endpoint = endpoint.map(|url| url.as_str().trim_end_matches('/').to_owned());
    let checked = Bucket { endpoint, ..checked };
    let sealed_secret = secret.map(|secret| seal(&on.places.master, job.pass.org(), &checked, secret)).transpose()?;
    Ok(Checked { origin: Origin::Bucket(checked), sealed_secret })
}

/// Where the bucket is.
fn opened(bucket: &Bucket) -> Result<rusty_s3::Bucket> {
    let region = bucket.region.as_deref().unwrap_or(REGION);
    let amazon = || {
        let end = if region.starts_with("cn-") { ".cn" } else { "" };
        format!("https://s3.{region}.amazonaws.com{end}")
    };
    let address = bucket.endpoint.clone().unwrap_or_else(amazon);
    let is_plain = |url: &Url| address.len() <= ADDRESS && url.query().is_none() && url.fragment().is_none();
    let is_nobodys = |url: &Url| url.username().is_empty() && url.password().is_none();
    let url = Url::parse(&address).ok().filter(|url| is_plain(url) && is_nobodys(url)).ok_or_else(|| closed(bucket))?;
    // What cannot be part of a host's name, or of its certificate, is part of the path.
    let is_host = bucket.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let style = if bucket.endpoint.is_none() && is_host { UrlStyle::VirtualHost } else { UrlStyle::Path };
    let opened = rusty_s3::Bucket::new(url, style, bucket.name.clone(), region.to_owned());
    opened.map_err(|_| closed(bucket))
}

/// One sentence for all: which names and addresses there are inside is nobody's business.
fn closed(bucket: &Bucket) -> Error {
    match &bucket.endpoint {
        Some(_) => Error::invalid(
            "bucket.endpoint",
            "This server cannot be reached from here. It is at an https address of a public server, by its name, at port 443 \
             and without a user; servers of the operator's own network are those that the operator has opened for this \
             workspace.",
        ),
        None => Error::invalid("bucket.region", "Amazon has no such region, or it cannot be reached from here."),
    }
}

/// Bound to where it is sent and for whom: moved to another bucket or server, it does not open.
fn label(org: Id<Org>, bucket: &Bucket) -> String {
    let Bucket { name, endpoint, access_key_id, .. } = bucket;
    let [endpoint, id] = [endpoint, access_key_id].map(|text| text.as_deref().unwrap_or_default());
    format!("bucket secret {org} {endpoint} {name} {id}")
}

fn seal(master: &MasterKey, org: Id<Org>, bucket: &Bucket, secret: &Secret) -> Result<String> {
    master.seal_secret(&label(org, bucket), secret).map_err(Error::internal)
}

fn unseal(master: &MasterKey, org: Id<Org>, bucket: &Bucket, sealed: &str) -> Result<Secret> {
    master.open_secret(&label(org, bucket), sealed).map_err(Error::internal)
}

impl Objects {
    /// # Errors
    /// As [`checked`], for a server that is out of reach.
    pub(super) async fn open(on: &Ingest, job: &Job<'_>, bucket: &Bucket, sealed: Option<&str>) -> Result<Self> {
        let opened = opened(bucket)?;
        let client = client(on, job, opened.base_url()).await?.ok_or_else(|| closed(bucket))?;
        let credentials = match (&bucket.access_key_id, sealed) {
            (Some(id), Some(sealed)) => {
                let secret = unseal(&on.places.master, job.pass.org(), bucket, sealed)?;
                Some(Credentials::new(id.as_str(), secret.expose()))
            }
            _ => None,
        };
        Ok(Self {
            client,
            bucket: opened,
            credentials,
            prefix: bucket.prefix.clone().unwrap_or_default(),
            agent: on.places.agent.clone(),
            clock: on.clock.clone(),
            most: job.budget.upload_bytes.min(OBJECT),
            closed: HashMap::new(),
        })
    }

    /// The objects whose keys begin with the prefix, but for hidden ones and those that stand for folders.
    ///
    /// # Errors
    /// `source_unavailable` with what to do where the server does not let them be listed, or does not answer: then what is gone
    /// is not known; `invalid_argument` where there are none; `limit_exceeded`.
    pub(super) async fn list(&mut self, on: &Ingest, job: &Job<'_>) -> Result<Listed> {
        let staging = on.staging(job.pass.org())?;
        let (mut items, mut next, mut nameless) = (Vec::new(), None, 0_usize);
        loop {
            job.says(0.0, format!("Looking through {}", self.bucket.name()));
            let Page { objects, next: more } = self.page(on, job, next, &staging.path().join("list")).await?;
            for object in objects {
                let file = object.key.rsplit('/').next().unwrap_or_default().to_owned();
                if file.is_empty() || object.key.split('/').any(|part| part.starts_with('.')) {
                    continue;
                }
                if object.key.len() > KEY || object.key.contains(char::is_control) {
                    nameless += 1;
                    continue;
                }
                if object.size > self.most {
                    self.closed.insert(object.key.clone(), format!("it has more than {} MiB", self.most >> 20));
                } else if ["GLACIER", "DEEP_ARCHIVE"].contains(&object.class.as_str()) {
                    let why = format!("it is archived ({}): restore it first", object.class);
                    self.closed.insert(object.key.clone(), why);
                }
                items.push(Item { name: object.key, file, stamp: object.etag });
            }
            if items.len() > MOST {
                let message =
                    format!("{} has more than {MOST} objects{}. Name a prefix.", self.bucket.name(), self.below());
                return Err(too_many("sync_objects", message, MOST));
            }
            match more {
                Some(more) => next = Some(more),
                None => break,
            }
        }
        if items.is_empty() {
            let message = format!("{} has no objects{}. Its documents stay.", self.bucket.name(), self.below());
            return Err(Error::invalid("bucket.prefix", message));
        }
        let told = || format!("{} without a usable key left out", counted(nameless, "object"));
        Ok(Listed { items, notes: if nameless == 0 { vec![] } else { vec![told()] } })
    }

    async fn page(&self, on: &Ingest, job: &Job<'_>, next: Option<String>, path: &std::path::Path) -> Result<Page> {
        // The address of no object is the bucket's, and a GET of it lists.
        let mut action = self.bucket.get_object(self.credentials.as_ref(), "");
        let query = action.query_mut();
        if let Some(next) = next {
            query.insert("continuation-token", next);
        }
        query.insert("list-type", "2");
        query.insert("prefix", self.prefix.as_str());
        let (name, host) = (self.bucket.name(), self.host());
        let answer = self.ask(job, &action, LIST).await?.map_err(|why| match why {
            Refused::TooLarge(_) => unavailable(format!("{host} lists {name} in more than {} MiB.", LIST >> 20)),
            _ => unavailable(format!(
                "{host} did not answer. Look at the bucket's endpoint and region, or try again later."
            )),
        })?;
        let (parts, body) = answer.into_parts();
        tokio::fs::write(path, body).await.map_err(Error::internal)?;
        let said = on.sql.bucket(job, path, name).await;
        if job.check().is_ok() && parts.status != http::StatusCode::OK {
            let refusal = if let Ok(Said::Refused(refusal)) = said { refusal } else { Refusal::default() };
            return Err(self.refused(&parts, refusal));
        }
        let none = |error: Error| match error.code {
            Code::InvalidArgument => unavailable(format!("{host} gives no list of {name}: {}", error.message)),
            _ => error,
        };
        match said.map_err(none)? {
            Said::Page(page) => Ok(page),
            Said::Refused(refusal) => Err(self.refused(&parts, refusal)),
        }
    }

    /// Why there is no list, with what to do.
    fn refused(&self, answer: &http::response::Parts, refusal: Refusal) -> Error {
        let (name, host, ours) = (self.bucket.name(), self.host(), self.bucket.region());
        let header = |name: &str| answer.headers.get(name).and_then(|value| value.to_str().ok());
        let id = self.credentials.as_ref().map(Credentials::key);
        let elsewhere = header("x-amz-bucket-region").map(str::to_owned).or(refusal.region).filter(|at| at != ours);
        let dated = header(DATE.as_str()).and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
        let apart = dated.map_or(0, |date| (date.timestamp().as_millisecond() - self.clock.now()).abs() / 60_000);
        unavailable(match (refusal.code.as_str(), answer.status.as_u16(), id, elsewhere) {
            (_, 400..=403, Some(_), _) if apart >= SKEW => format!(
                "{host} refuses: its clock and the one of this service are {apart} minutes apart. Whoever runs the service sets \
                 its clock right."
            ),
            ("InvalidAccessKeyId", ..) => {
                let id = id.unwrap_or_default();
                format!("{host} does not know the access key {id}. Look whether it is spelled right and still active.")
            }
            ("SignatureDoesNotMatch", ..) => {
                let id = id.unwrap_or_default();
                format!(
                    "The secret is not that of the access key {id}. Set the sync anew with the right secret_access_key."
                )
            }
            ("NoSuchBucket", ..) | (_, 404, ..) => {
                format!("There is no bucket {name} at {host}. Look at its name, its region and its endpoint.")
            }
            (.., Some(at)) => {
                format!("The bucket {name} is in the region {at}, not in {ours}. Set its region to {at}.")
            }
            ("PermanentRedirect" | "TemporaryRedirect", ..) | (_, 301 | 307, ..) => {
                format!("The bucket {name} is not in the region {ours}. Set its region to where it is.")
            }
            (_, 401 | 403, Some(id), _) => format!(
                "The access key {id} may not list the bucket {name}. Allow it s3:ListBucket on the bucket, and s3:GetObject on \
                 its objects."
            ),
            (_, 401 | 403, None, _) => {
                format!("The bucket {name} is not open to everybody. Give an access key that may list and read it.")
            }
            ("", status, ..) => format!("{host} does not list the bucket {name}: status {status}."),
            (code, status, ..) => format!("{host} does not list the bucket {name}: status {status}, {code}."),
        })
    }

    async fn ask<'b>(
        &self,
        job: &Job<'_>,
        action: &impl S3Action<'b>,
        most: usize,
    ) -> Result<std::result::Result<http::Response<Vec<u8>>, Refused>> {
        let now = Timestamp::from_millisecond(self.clock.now()).map_err(Error::internal)?;
        let url = action.sign_with_time(VALID, &now);
        let request = http::Request::get(url.as_str()).header(USER_AGENT, self.agent.as_str());
        // Packed answers could be bombs.
        let request = request.header(ACCEPT_ENCODING, "identity").body(Vec::new()).map_err(Error::internal)?;
        send(job, &self.client, request, most, TIME).await
    }

    fn host(&self) -> &str {
        self.bucket.base_url().host_str().unwrap_or_default()
    }

    fn below(&self) -> String {
        if self.prefix.is_empty() { String::new() } else { format!(" whose keys begin with {}", self.prefix) }
    }
}

impl Place for Objects {
    const WITHIN: char = '#';

    async fn read(&mut self, job: &Job<'_>, item: &Item, _: Option<&Mark>) -> Result<Looked> {
        if let Some(why) = self.closed.get(&item.name) {
            return Ok(Looked::Failed(why.clone()));
        }
        let action = self.bucket.get_object(self.credentials.as_ref(), &item.name);
        let most = usize::try_from(self.most).unwrap_or(usize::MAX);
        let answer = self.ask(job, &action, most).await?;
        let is_silent = match &answer {
            Ok(answer) => answer.status().is_server_error() || answer.status() == http::StatusCode::TOO_MANY_REQUESTS,
            Err(refused) => !matches!(refused, Refused::TooLarge(_)),
        };
        let why = match answer {
            Ok(answer) if answer.status() == http::StatusCode::OK => {
                return Ok(Looked::New(answer.into_body(), Mark::default()));
            }
            // Whether it is gone says the list: a bucket that is gone itself would take all with it.
            Ok(answer) if answer.status() == http::StatusCode::NOT_FOUND => "it was not there any more".to_owned(),
            Ok(answer) if answer.status() == http::StatusCode::FORBIDDEN => {
                "it may not be read, which takes s3:GetObject, or is archived".to_owned()
            }
            Ok(answer) => format!("status {}", answer.status().as_u16()),
            Err(Refused::TooLarge(most)) => format!("it has more than {} MiB", most >> 20),
            Err(_) => "no complete answer".to_owned(),
        };
        Ok(if is_silent { Looked::Silent { host: self.host().to_owned(), why } } else { Looked::Failed(why) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(name: &str, endpoint: Option<&str>) -> Bucket {
        Bucket {
            name: name.into(),
            region: Some("eu-central-1".into()),
            prefix: None,
            endpoint: endpoint.map(str::to_owned),
            access_key_id: Some("AKIAIOSFODNN7EXAMPLE".into()),
        }
    }

    #[test]
    fn a_bucket_of_amazons_is_a_host_where_it_can_be() {
        for (name, endpoint, address) in [
            ("docs", None, "https://docs.s3.eu-central-1.amazonaws.com/"),
            ("docs.example", None, "https://s3.eu-central-1.amazonaws.com/docs.example/"),
            ("docs", Some("https://minio.example:9000/s3"), "https://minio.example:9000/s3/docs/"),
        ] {
            assert_eq!(opened(&bucket(name, endpoint)).unwrap().base_url().as_str(), address);
        }
        let china = Bucket { region: Some("cn-north-1".into()), ..bucket("docs", None) };
        assert_eq!(opened(&china).unwrap().base_url().as_str(), "https://docs.s3.cn-north-1.amazonaws.com.cn/");
        for bad in ["minio", "ftp://e.com", "https://ann:x@e.com", "https://e.com/?a=1", "https://e.com/#a"] {
            let refused = opened(&bucket("docs", Some(bad))).unwrap_err();
            assert_eq!(refused.details["field"], "bucket.endpoint", "{bad}");
        }
    }

    #[test]
    fn a_secret_opens_for_its_bucket_server_and_key_alone() {
        let (master, org) = (MasterKey::generate(), Id::new(&Clock::manual(0)));
        let own = bucket("docs", Some("https://minio.example"));
        let sealed = seal(&master, org, &own, &Secret::new("wJalrXUtnFEMI")).unwrap();
        let again = Bucket { prefix: Some("a/".into()), ..own.clone() };
        assert_eq!(unseal(&master, org, &again, &sealed).unwrap().expose(), "wJalrXUtnFEMI");
        let other = Bucket { access_key_id: Some("AKIA".into()), ..own.clone() };
        for other in
            [bucket("docs", Some("https://evil.example")), bucket("more", Some("https://minio.example")), other]
        {
            assert!(unseal(&master, org, &other, &sealed).is_err(), "{other:?}");
        }
        assert!(unseal(&master, Id::new(&Clock::manual(1)), &own, &sealed).is_err());
    }

    /// The example of "Authenticating Requests: Using Query Parameters (AWS Signature Version 4)" in the API reference.
    #[test]
    fn requests_are_signed_as_amazon_publishes_it() {
        let url = Url::parse("https://s3.amazonaws.com").unwrap();
        let bucket = rusty_s3::Bucket::new(url, UrlStyle::VirtualHost, "examplebucket", REGION).unwrap();
        let credentials = Credentials::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
        let now: Timestamp = "2013-05-24T00:00:00Z".parse().unwrap();
        let signed =
            bucket.get_object(Some(&credentials), "test.txt").sign_with_time(Duration::from_secs(86_400), &now);
        let signature = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";
        assert!(signed.as_str().ends_with(&format!("X-Amz-Signature={signature}")), "{signed}");
    }
}
