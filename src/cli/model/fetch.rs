//! Files of a model, from a folder or from an address that the operator names: what their server redirects to is fetched
//! where it is a public address. A stream that breaks is gone on with where it broke, now or by the next command.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use futures_util::StreamExt as _;
use http::StatusCode;
use http::header::{CONTENT_RANGE, ETAG, HeaderMap, IF_RANGE, LOCATION, RANGE};
use reqwest::Response;
use url::Url;

use crate::base::outbound::{Trusted, client_for};

/// Redirects that are followed, and how often a stream that breaks is taken up again.
const HOPS: usize = 5;
const TRIES: usize = 5;
/// How long a server may say nothing.
const SILENCE: Duration = Duration::from_secs(60);
/// The largest file.
const BYTES: u64 = 8 << 30;
/// Bytes of a text that is held in memory.
const TEXT: u64 = 1 << 20;
/// How often progress is told.
const STEP: u64 = 8 << 20;

/// Where a model comes from.
pub(super) enum Source {
    Folder(PathBuf),
    Address(Url, Trusted),
}

impl Source {
    /// # Errors
    /// An address that may not be asked, or a folder that is none.
    pub(super) fn read(from: &str) -> anyhow::Result<Self> {
        if !from.contains("://") {
            ensure!(Path::new(from).is_dir(), "{from} is neither a folder nor an address such as https://….");
            return Ok(Self::Folder(from.into()));
        }
        let mut url = Url::parse(from).context("this is no address")?;
        let trusted = Trusted::of(&url).filter(|_| url.username().is_empty() && url.password().is_none());
        let trusted =
            trusted.context("the address begins with https://, or http:// on this machine, without a login")?;
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        Ok(Self::Address(url, trusted))
    }

    /// What the model is called: the last part of the address that names something.
    pub(super) fn name(&self) -> String {
        let path = match self {
            Self::Folder(path) => path.display().to_string(),
            Self::Address(url, _) => url.path().to_owned(),
        };
        let mut parts = path.split('/').filter(|part| !matches!(*part, "" | "." | "resolve" | "main"));
        let name = parts.next_back().unwrap_or("model");
        name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' }).collect()
    }

    /// A small text, if it is there.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) async fn text(&self, file: &str) -> anyhow::Result<Option<String>> {
        let folder = tempfile::tempdir()?;
        let place = folder.path().join("text");
        if !self.file(file, &place).await? {
            return Ok(None);
        }
        ensure!(fs::metadata(&place)?.len() <= TEXT, "{file} is too long");
        Ok(Some(fs::read_to_string(&place)?))
    }

    /// Puts a file in its place; `false` when the source has none of the name.
    ///
    /// # Errors
    /// It cannot be read or written; what is there of it then is gone on with by the next call.
    pub(super) async fn file(&self, file: &str, place: &Path) -> anyhow::Result<bool> {
        // It came whole before something else broke off.
        if place.exists() {
            return Ok(true);
        }
        match self {
            Self::Folder(folder) => {
                let from = folder.join(file);
                let is_there = from.is_file();
                if is_there {
                    fs::copy(&from, place).with_context(|| format!("{} cannot be read", from.display()))?;
                }
                Ok(is_there)
            }
            Self::Address(base, trusted) => {
                let url = base.join(file)?;
                for left in (0..TRIES).rev() {
                    match download(&url, trusted, place).await {
                        Ok(is_there) => return Ok(is_there),
                        Err(problem) if left == 0 || !is_broken(&problem) => {
                            return Err(problem.context(format!("{url} could not be fetched")));
                        }
                        Err(problem) => remark!("  {file}: {problem}; going on where it broke"),
                    }
                }
                bail!("{url} could not be fetched")
            }
        }
    }
}

/// A stream that ended before its end.
#[derive(Debug, thiserror::Error)]
#[error("the stream broke: {0}")]
struct Broken(String);

fn is_broken(problem: &anyhow::Error) -> bool {
    problem.is::<Broken>()
}

/// Fetches what is missing of a file.
async fn download(url: &Url, trusted: &Trusted, place: &Path) -> anyhow::Result<bool> {
    let (part, tag) = (beside(place, ".part"), beside(place, ".etag"));
    let have = fs::metadata(&part).map_or(0, |known| known.len());
    let mut headers = HeaderMap::new();
    if have > 0
        && let Ok(tag) = fs::read_to_string(&tag)
    {
        headers.insert(RANGE, format!("bytes={have}-").parse()?);
        // What is another by now is sent whole.
        headers.insert(IF_RANGE, tag.parse()?);
    }
    let response = ask(url, trusted, headers).await?;
    let goes_on = match response.status() {
        StatusCode::NOT_FOUND => return Ok(false),
        StatusCode::OK => false,
        StatusCode::PARTIAL_CONTENT => {
            let range = response.headers().get(CONTENT_RANGE).and_then(|range| range.to_str().ok()).unwrap_or_default();
            ensure!(range.starts_with(&format!("bytes {have}-")), "the server sent another part than it was asked for");
            true
        }
        status => bail!("the server answered with status {}", status.as_u16()),
    };
    let strong = response.headers().get(ETAG).filter(|tag| !tag.as_bytes().starts_with(b"W/"));
    if let Some(strong) = strong.filter(|_| !goes_on) {
        fs::write(&tag, strong.as_bytes())?;
    }
    let file = OpenOptions::new().create(true).write(true).append(goes_on).truncate(!goes_on).open(&part)?;
    let have = if goes_on { have } else { 0 };
    save(response, file, have, place).await?;
    fs::rename(&part, place)?;
    // Without a tag there was none.
    let _gone = fs::remove_file(&tag);
    Ok(true)
}

/// Writes a stream behind what is there, and tells how far it is.
async fn save(response: Response, mut file: File, mut have: u64, place: &Path) -> anyhow::Result<()> {
    let whole = response.content_length().map(|rest| rest + have);
    let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let mut told = have;
    let mut stream = response.bytes_stream();
    loop {
        let next = tokio::time::timeout(SILENCE, stream.next()).await;
        let chunk = match next.map_err(|_| Broken("nothing came for a minute".into()))? {
            Some(chunk) => chunk.map_err(|problem| Broken(problem.without_url().to_string()))?,
            None => break,
        };
        have += chunk.len() as u64;
        ensure!(have <= BYTES, "it has more than {BYTES} bytes");
        file.write_all(&chunk)?;
        if have >= told + STEP {
            told = have;
            match whole {
                Some(whole) => remark!("  {name}: {:.0} of {:.0} MB", megabytes(have), megabytes(whole)),
                None => remark!("  {name}: {:.0} MB", megabytes(have)),
            }
        }
    }
    file.sync_all()?;
    if whole.is_some_and(|whole| whole != have) {
        return Err(Broken(format!("{have} of {} bytes came", whole.unwrap_or_default())).into());
    }
    Ok(())
}

/// Asks for a file, wherever its server says that it is.
async fn ask(url: &Url, trusted: &Trusted, headers: HeaderMap) -> anyhow::Result<Response> {
    let mut url = url.clone();
    for _ in 0..HOPS {
        let client = client_for(&url, trusted).await.with_context(|| url.to_string())?;
        let response = client.get(url.clone()).headers(headers.clone()).send().await;
        let response = response.map_err(|problem| Broken(problem.without_url().to_string()))?;
        if !response.status().is_redirection() {
            return Ok(response);
        }
        let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
        url = url.join(to.context("the server redirects to nowhere")?)?;
        url.set_fragment(None);
    }
    bail!("the server redirects more than {HOPS} times")
}

fn beside(place: &Path, ending: &str) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_called_by_the_last_part_that_names_something() {
        for (from, name) in [
            ("https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main", "all-MiniLM-L6-v2"),
            ("http://127.0.0.1:9/my%20model/", "my_20model"),
            ("https://models.example.com/", "model"),
        ] {
            assert_eq!(Source::read(from).unwrap().name(), name);
        }
        for wrong in ["http://models.example.com/x", "https://me:x@models.example.com/x", "no/such/folder", "ftp://x"] {
            assert!(Source::read(wrong).is_err(), "{wrong}");
        }
    }
}
