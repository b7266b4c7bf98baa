//! `dragoman stdio`: MCP over standard input and output, for clients that start their servers (Claude Desktop, Cursor,
//! VS Code). A bridge to the service's own endpoint: at an address, or behind the socket of the data folder, which this
//! process serves itself where no other does. Its messages pass the same door as all others.
//!
//! Standard output has messages and nothing else; what is to be said to people goes to standard error.

mod bridge;
mod events;
pub(super) mod link;
mod message;
mod pipes;

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use http::HeaderValue;
use url::Url;

use self::bridge::Bridge;
use self::link::{Link, Place};
use super::{find_data, stop_signal};
use crate::base::secret::Secret;
use crate::config::Config;
use crate::model::org::is_slug;

/// Arguments of `stdio`.
#[derive(Debug, Args)]
pub(super) struct Stdio {
    /// MCP address of a service elsewhere, such as https://data.example.com/mcp; the data folder when absent
    #[arg(long, value_name = "URL", conflicts_with_all = ["workspace", "toolsets"])]
    url: Option<Url>,
    /// The workspace's short name: only tokens of this one are accepted
    #[arg(long, value_name = "W")]
    workspace: Option<String>,
    /// The tools to offer: data, rag, ask, chatgpt; separated by commas
    #[arg(long, value_name = "NAMES")]
    toolsets: Option<String>,
    /// File with the token, which only you can read (instead of DRAGOMAN_TOKEN)
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl Stdio {
    /// Serves the client until it hangs up.
    ///
    /// # Errors
    /// A sentence that says what to do.
    pub(super) async fn run(self, config: Config) -> anyhow::Result<()> {
        let token = authorization(&self.token(&config)?)?;
        let stopped = stop_signal()?;
        let link = Link::find(self.place(config)?).await?;
        let ((output, written), lines) = (pipes::output(), pipes::input());
        let bridge = Bridge::new(link, token, output.clone());
        tokio::select! {
            () = bridge.run(lines) => {}
            () = output.closed() => tracing::info!("the client reads no more"),
            () = stopped => {}
        }
        bridge.close().await;
        // What is written last is written when nobody can write any more.
        drop((bridge, output));
        written.wait().await;
        Ok(())
    }

    fn place(self, config: Config) -> anyhow::Result<Place> {
        if let Some(url) = self.url {
            let host = url.host_str().unwrap_or_default();
            anyhow::ensure!(url.path() != "/", "--url: the address ends in /mcp: {}://{host}/mcp", url.scheme());
            return Ok(Place::Address(url));
        }
        find_data(&config)?;
        let mut path = match self.workspace {
            Some(slug) => {
                anyhow::ensure!(is_slug(&slug), "--workspace: {slug:?} is no short name of a workspace");
                format!("/t/{slug}/mcp")
            }
            None => "/mcp".to_owned(),
        };
        if let Some(toolsets) = self.toolsets {
            let query =
                url::form_urlencoded::Serializer::new(String::new()).append_pair("toolsets", &toolsets).finish();
            path.push_str(&format!("?{query}"));
        }
        Ok(Place::Folder(Box::new(config), path))
    }

    fn token(&self, config: &Config) -> anyhow::Result<Secret> {
        if let Some(file) = &self.token_file {
            return from_file(file);
        }
        config.token.clone().context(
            "a token is needed: set DRAGOMAN_TOKEN, or name a file with --token-file. Make one with\n  dragoman admin token \
             create --workspace W --label L --scopes ext:datasets,ext:schema,ext:search,ext:sql",
        )
    }
}

/// A secret that others of this machine can read is none.
fn from_file(file: &Path) -> anyhow::Result<Secret> {
    let name = file.display();
    let about = std::fs::metadata(file).with_context(|| format!("--token-file: {name} cannot be read"))?;
    anyhow::ensure!(about.is_file() && about.len() <= 16 << 10, "--token-file: {name} is no file with a token");
    anyhow::ensure!(
        about.mode() & 0o077 == 0,
        "--token-file: others of this machine can read {name}. Close it with\n  chmod 600 {name}\nand rotate the token if \
         somebody may have seen it"
    );
    let text = std::fs::read_to_string(file).with_context(|| format!("--token-file: {name} cannot be read"))?;
    anyhow::ensure!(!text.trim().is_empty(), "--token-file: {name} is empty");
    Ok(Secret::new(text.trim()))
}

fn authorization(token: &Secret) -> anyhow::Result<HeaderValue> {
    let value = HeaderValue::from_str(&format!("Bearer {}", token.expose()));
    let mut value = value.ok().context("the token has characters that no token has")?;
    value.set_sensitive(true);
    Ok(value)
}
