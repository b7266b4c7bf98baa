//! The way of a command to a workspace: through the gateway of this process, which has the data folder for itself, or
//! through the running service that has it, at the socket in that folder. What is asked, what may be, and what is
//! recorded are the same.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use reqwest::{Client, RequestBuilder, multipart};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::io::AsyncReadExt as _;

use super::find_data;
use super::stdio::link::{BEHIND_SOCKET, is_in_use, served};
use crate::app::App;
use crate::base::clock::Clock;
use crate::base::id::Id;
use crate::base::local::SocketPath;
use crate::config::Config;
use crate::engine::job::Progress;
use crate::gateway::operation::Operation;
use crate::gateway::{Erased, Via};
use crate::model::caller::Caller;
use crate::model::column_change::ColumnChange;
use crate::model::error::Error;
use crate::model::org::Org;
use crate::ops::check_import::CheckImport;
use crate::ops::explain_question::ExplainQuestion;
use crate::ops::import::{IfExists, Import, Staged};
use crate::surface::operator::{ITSELF, LOCAL, WORKSPACE};
use crate::surface::rest::openapi;
use crate::surface::rest::operations::EXPLAIN;

/// How long a process that has the folder may take until it answers at its socket.
const PATIENCE: Duration = Duration::from_secs(3);
const AGAIN: Duration = Duration::from_millis(100);

/// Who has the data folder.
pub(super) enum House {
    /// This process.
    Own(Box<App>),
    /// A running service. The path of its socket stays good for as long as it is kept.
    Running { client: Client, _socket: SocketPath },
}

impl House {
    /// Takes the folder, or finds the service that has it.
    ///
    /// # Errors
    /// A sentence that says what to do.
    pub(super) async fn open(mut config: Config) -> anyhow::Result<Self> {
        find_data(&config)?;
        config.admin_listen = None;
        let (folder, started) = (config.data_dir.clone(), Instant::now());
        loop {
            match App::open(config.clone(), Clock::system()).await {
                Ok(app) => return Ok(Self::Own(Box::new(app))),
                Err(problem) if !is_in_use(&problem) => return Err(problem),
                Err(problem) => {
                    if let Some((client, socket)) = served(&folder).await {
                        return Ok(Self::Running { client, _socket: socket });
                    }
                    anyhow::ensure!(started.elapsed() < PATIENCE, problem);
                    tokio::time::sleep(AGAIN).await;
                }
            }
        }
    }

    /// The way to a workspace.
    ///
    /// # Errors
    /// There is no such workspace.
    pub(super) async fn door(&self, workspace: &str) -> anyhow::Result<Door<'_>> {
        match self {
            Self::Own(app) => {
                let org = app.office.identity.org_by_slug(workspace).await?;
                Ok(Door::of(app, &org.with_context(|| format!("there is no workspace {workspace:?}"))?))
            }
            Self::Running { client, .. } => Ok(Door::Running { client, workspace: workspace.to_owned() }),
        }
    }

    /// Erases a workspace.
    ///
    /// # Errors
    /// As [`crate::gateway::Gateway::erase_workspace`].
    pub(super) async fn erase(&self, org: &Org) -> anyhow::Result<Erased> {
        match self {
            Self::Own(app) => app.gateway.erase_workspace(&operator(app, org.id)).await.map_err(said),
            Self::Running { client, .. } => {
                let request = client.delete(at("", ITSELF));
                Ok(serde_json::from_value(answer(request, &org.slug).await?)?)
            }
        }
    }

    pub(super) async fn close(self) {
        if let Self::Own(app) = self {
            app.close().await;
        }
    }
}

/// See the module.
pub(super) enum Door<'a> {
    Own { app: &'a App, org: Id<Org> },
    Running { client: &'a Client, workspace: String },
}

/// Files for one dataset.
pub(super) struct Dataset {
    pub name: Option<String>,
    pub description: String,
    pub publish: bool,
    pub if_exists: IfExists,
    pub files: Vec<PathBuf>,
    /// What is corrected of a table's columns.
    pub columns: Vec<ColumnChange>,
}

impl Dataset {
    fn staged(&self) -> anyhow::Result<Vec<Staged>> {
        let mut files = Vec::new();
        for path in &self.files {
            let name = path.file_name().and_then(|name| name.to_str()).context("a file name is not UTF-8")?.to_owned();
            let path = path.canonicalize().with_context(|| format!("{} cannot be read", path.display()))?;
            files.push(Staged { name, path });
        }
        Ok(files)
    }
}

impl<'a> Door<'a> {
    pub(super) fn of(app: &'a App, org: &Org) -> Self {
        Self::Own { app, org: org.id }
    }

    /// Asks for an operation with its arguments, of which those that are null are not given.
    ///
    /// # Errors
    /// The operation's own, as a sentence with its particulars.
    pub(super) async fn call<O: Operation>(&self, arguments: Value) -> anyhow::Result<Value> {
        let Value::Object(mut arguments) = arguments else { anyhow::bail!("arguments are an object") };
        arguments.retain(|_, value| !value.is_null());
        match self {
            Self::Own { app, org } => {
                let op: O = serde_json::from_value(Value::Object(arguments))?;
                let reply = app.gateway.call(&operator(app, *org), op, Via::new("admin.call")).await;
                Ok(serde_json::to_value(reply.map_err(said)?)?)
            }
            Self::Running { client, workspace } => answer(request::<O>(client, arguments), workspace).await,
        }
    }

    /// The same, with the reply as the operation has it.
    ///
    /// # Errors
    /// As [`Door::call`].
    pub(super) async fn ask<O: Operation<Reply: DeserializeOwned>>(
        &self,
        arguments: Value,
    ) -> anyhow::Result<O::Reply> {
        Ok(serde_json::from_value(self.call::<O>(arguments).await?)?)
    }

    /// Imports files of this machine into one dataset; progress on standard error when `loud`.
    ///
    /// # Errors
    /// As [`Door::call`].
    pub(super) async fn import(&self, dataset: Dataset, loud: bool) -> anyhow::Result<Value> {
        let files = dataset.staged()?;
        let Dataset { name, description, publish, if_exists, columns, .. } = dataset;
        let label = name.clone().unwrap_or_else(|| files.first().map(|file| file.name.clone()).unwrap_or_default());
        match self {
            Self::Own { app, org } => {
                let mut via = Via::new("admin.call");
                if loud {
                    via.on_progress = Some(Arc::new(move |progress: Progress| match progress.fraction {
                        Some(fraction) => remark!("  {label}: {} ({:.0} %)", progress.message, fraction * 100.0),
                        None => remark!("  {label}: {}", progress.message),
                    }));
                }
                let op = Import { name, description, publish, if_exists, files, columns, uploads: vec![] };
                let reply = app.gateway.call(&operator(app, *org), op, via).await;
                Ok(serde_json::to_value(reply.map_err(said)?)?)
            }
            Self::Running { client, workspace } => {
                if loud {
                    remark!("  {label}: handed to the running service");
                }
                let mut form = multipart::Form::new().text("description", description);
                form = form.text("publish", publish.to_string()).text("name", name.unwrap_or_default());
                form = form.text("if_exists", if_exists.name());
                send::<Import>(client, workspace, form, &columns, files).await
            }
        }
    }

    /// What an import of these files would make.
    ///
    /// # Errors
    /// As [`Door::call`].
    pub(super) async fn check(&self, dataset: Dataset) -> anyhow::Result<Value> {
        let files = dataset.staged()?;
        let Dataset { name, if_exists, columns, .. } = dataset;
        match self {
            Self::Own { app, org } => {
                let op = CheckImport { name, if_exists, columns, files, ..CheckImport::default() };
                let reply = app.gateway.call(&operator(app, *org), op, Via::new("admin.call")).await;
                Ok(serde_json::to_value(reply.map_err(said)?)?)
            }
            Self::Running { client, workspace } => {
                let form = multipart::Form::new().text("name", name.unwrap_or_default());
                let form = form.text("if_exists", if_exists.name());
                send::<CheckImport>(client, workspace, form, &columns, files).await
            }
        }
    }
}

/// Sends files with a form to the running service.
async fn send<O: Operation>(
    client: &Client,
    workspace: &str,
    mut form: multipart::Form,
    columns: &[ColumnChange],
    files: Vec<Staged>,
) -> anyhow::Result<Value> {
    if !columns.is_empty() {
        form = form.text("columns", serde_json::to_string(columns)?);
    }
    for file in files {
        form = form.part("file", part(&file.path, file.name).await?);
    }
    let request = client.post(at(openapi::base(O::INFO.surface), O::INFO.route.path));
    answer(request.multipart(form), workspace).await
}

/// The operator of this machine.
pub(super) fn operator(app: &App, org: Id<Org>) -> Caller {
    struct Request;
    Caller::operator(org, Id::<Request>::new(&app.office.clock).to_string())
}

fn said(error: Error) -> anyhow::Error {
    match error.details.as_object().filter(|details| !details.is_empty()) {
        Some(_) => anyhow::anyhow!("{error} {}", error.details),
        None => anyhow::anyhow!("{error}"),
    }
}

/// A file as a part of a form, read as it is sent.
async fn part(path: &Path, name: String) -> anyhow::Result<multipart::Part> {
    let read = || format!("{} cannot be read", path.display());
    let file = tokio::fs::File::open(path).await.with_context(read)?;
    let length = file.metadata().await.with_context(read)?.len();
    let chunks = futures_util::stream::try_unfold(file, |mut file| async move {
        let mut chunk = vec![0; 64 << 10];
        let read = file.read(&mut chunk).await?;
        chunk.truncate(read);
        Ok::<_, std::io::Error>((read > 0).then_some((chunk, file)))
    });
    Ok(multipart::Part::stream_with_length(reqwest::Body::wrap_stream(chunks), length).file_name(name))
}

fn at(base: &str, path: &str) -> String {
    format!("{BEHIND_SOCKET}{LOCAL}{base}{path}")
}

/// An operation as REST has it: what its path names is in the path, the rest in the body, or in the query where there is
/// none.
fn request<O: Operation>(client: &Client, mut arguments: Map<String, Value>) -> RequestBuilder {
    let info = O::INFO;
    if info.name == ExplainQuestion::INFO.name {
        return client.post(at("", EXPLAIN)).json(&arguments);
    }
    let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut path = info.route.path.to_owned();
    for name in info.route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
        let value = arguments.remove(name).map(text).unwrap_or_default();
        let value: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
        path = path.replace(&format!("{{{name}}}"), &value.replace('+', "%20"));
    }
    let url = at(openapi::base(info.surface), &path);
    let method = info.route.method.parse().unwrap_or(http::Method::POST);
    let request = client.request(method, url);
    if openapi::has_body(info.route.method) {
        return request.json(&arguments);
    }
    let query: Vec<(String, String)> = arguments.into_iter().map(|(name, value)| (name, text(value))).collect();
    request.query(&query)
}

async fn answer(request: RequestBuilder, workspace: &str) -> anyhow::Result<Value> {
    let response = request.header(WORKSPACE, workspace).send().await;
    let response = response.map_err(|problem| anyhow::anyhow!(problem.without_url()).context("the running service"))?;
    let (status, body) = (response.status(), response.text().await.unwrap_or_default());
    let reply: Value = serde_json::from_str(&body).with_context(|| {
        format!("the running service answered with status {}; is it of another version?", status.as_u16())
    })?;
    if status.is_success() {
        return Ok(reply);
    }
    let message = reply.pointer("/error/message").and_then(Value::as_str).unwrap_or("the running service refused");
    match reply.pointer("/error/details").and_then(Value::as_object).filter(|details| !details.is_empty()) {
        Some(details) => anyhow::bail!("{message} {}", Value::Object(details.clone())),
        None => anyhow::bail!("{message}"),
    }
}
