//! One worker process, as the server sees it: started, spoken to, and explained when it dies.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, setpriority_process};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;

use super::wire::{self, Confinement, Failure, Outcome, Reply};
use crate::base::clock::whole_millis;
use crate::engine::job::{OnProgress, Progress};
use crate::model::error::{Code, Error};

/// The hidden sub-command of the program.
pub const SUBCOMMAND: &str = "sql-worker";

/// How long a worker may take to start; far above what it needs.
const START: Duration = Duration::from_secs(20);

/// How long a dead worker's last words, and then its end, are waited for.
const LAST: Duration = Duration::from_secs(1);

/// How much of a dead worker's last words is read, in bytes.
const LAST_WORDS: u64 = 4_096;

/// How much a worker yields to others once its task takes long (`nice`).
const POLITE: i32 = 10;

/// A worker that can take a task.
pub(super) struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    pub confinement: Confinement,
}

/// What a worker answered: the outcome and the bytes that belong to it.
pub(super) type Answered = (Result<Outcome, Failure>, Vec<u8>);

impl Process {
    /// Waits until the child says that it can take a task.
    async fn ready(mut child: Child) -> io::Result<Self> {
        let streams = child.stdin.take().zip(child.stdout.take());
        let (input, output) = streams.ok_or_else(|| io::Error::other("a worker without streams"))?;
        let mut output = BufReader::new(output);
        match tokio::time::timeout(START, next(&mut output)).await {
            Ok(Ok(Reply::Ready(confinement))) => Ok(Self { child, input, output, confinement }),
            Ok(Ok(other)) => Err(io::Error::other(format!("a worker began with {other:?}"))),
            Ok(Err(problem)) => Err(Ending::of(&mut child).await.explains(&problem)),
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "a worker did not get ready in time")),
        }
    }

    /// Whether it lives, as far as is known.
    pub(super) fn lives(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Gives it a task. An error means that it cannot have begun.
    pub(super) async fn begin(&mut self, frame: &[u8]) -> io::Result<()> {
        let heard = match self.input.write_all(frame).await {
            Ok(()) => next(&mut self.output).await,
            Err(problem) => Err(problem),
        };
        match heard {
            Ok(Reply::Begun) => Ok(()),
            Ok(other) => Err(io::Error::other(format!("a worker answered a task with {other:?}"))),
            Err(problem) => Err(Ending::of(&mut self.child).await.explains(&problem)),
        }
    }

    /// Gives a worker that waited a further query. An error means that it cannot have begun; whether it has begun, the
    /// first that it says of it tells.
    pub(super) async fn order(&mut self, frame: &[u8]) -> io::Result<()> {
        self.input.write_all(frame).await
    }

    /// The end of the task, to be awaited, and beside it what can be done until then; `begun` becomes true with the first
    /// that the worker says.
    ///
    /// # Errors
    /// The worker died, or said what it should not.
    pub(super) fn ending<'p>(
        &'p mut self,
        begun: &'p AtomicBool,
        on_progress: Option<&'p OnProgress>,
    ) -> (Controls<'p>, impl Future<Output = io::Result<Answered>> + 'p) {
        let controls = Controls { id: self.child.id(), input: &mut self.input };
        let output = &mut self.output;
        let end = async move {
            loop {
                let said = next(output).await?;
                begun.store(true, Ordering::Relaxed);
                match said {
                    // A query that takes long says so beside it.
                    Reply::Begun => {}
                    Reply::Done { outcome, payload } => {
                        let mut bytes = vec![0; wire::checked_length(payload)?];
                        output.read_exact(&mut bytes).await?;
                        return Ok((outcome, bytes));
                    }
                    Reply::Progress(fraction) => {
                        if let Some(on_progress) = on_progress {
                            on_progress(Progress { fraction: Some(fraction), message: "Reading the file".to_owned() });
                        }
                    }
                    other @ Reply::Ready(_) => {
                        return Err(io::Error::other(format!("a worker said {other:?} amid its task")));
                    }
                }
            }
        };
        (controls, end)
    }

    /// Its memory in bytes, without what all workers share (the program); nothing when the system does not say.
    pub(super) fn own_memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id()?)).ok()?;
        let mut pages = status.split_ascii_whitespace().skip(1).map(str::parse::<u64>);
        let (resident, shared) = (pages.next()?.ok()?, pages.next()?.ok()?);
        Some(resident.saturating_sub(shared) * rustix::param::page_size() as u64)
    }

    /// Kills it, and waits for its end: from then on it has no memory and writes to no file.
    pub(super) async fn end(mut self) {
        if tokio::time::timeout(LAST, self.child.kill()).await.is_err() {
            tracing::warn!("an SQL worker that was killed does not end");
        }
    }

    /// What its death means: the processor limit, memory, or a crash.
    pub(super) async fn died(&mut self, problem: &io::Error) -> Error {
        let Ending { status, words } = Ending::of(&mut self.child).await;
        let Some(status) = status else {
            return Error::internal(format!("an SQL worker neither answers nor ends: {problem}"));
        };
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        let is = |wanted: nix::sys::signal::Signal| signal == Some(wanted as i32);
        let out_of_memory = words.contains("memory allocation") || words.contains("bad_alloc");
        if is(nix::sys::signal::Signal::SIGXCPU) {
            return too_slow(Duration::ZERO);
        }
        if is(nix::sys::signal::Signal::SIGXFSZ) {
            return Error::new(Code::LimitExceeded, "The table would be larger than allowed.")
                .with(json!({ "limit": "bytes" }));
        }
        // The kernel kills for memory with SIGKILL; we kill only where we no longer listen.
        if is(nix::sys::signal::Signal::SIGKILL) || out_of_memory {
            tracing::warn!(%status, "an SQL worker was killed, most likely for memory");
            let message = "The query was stopped, most likely for its memory. Filter or aggregate first.";
            return Error::new(Code::LimitExceeded, message).with(json!({ "limit": "memory" }));
        }
        tracing::error!(%status, %problem, %words, "an SQL worker crashed");
        let message = "The SQL engine crashed on this query. It was logged; other queries are not affected. \
                       Write the query another way.";
        Error::new(Code::InternalError, message).with(json!({ "reason": "engine_crashed" }))
    }
}

/// How a worker ended that no longer answers.
struct Ending {
    /// Nothing for one that hangs.
    status: Option<ExitStatus>,
    words: String,
}

impl Ending {
    async fn of(child: &mut Child) -> Self {
        let mut words = Vec::new();
        if let Some(stderr) = child.stderr.take() {
            // Its end comes with the process's; a worker that hangs is not waited for.
            let _partial = tokio::time::timeout(LAST, stderr.take(LAST_WORDS).read_to_end(&mut words)).await;
        }
        let status = tokio::time::timeout(LAST, child.wait()).await.ok().and_then(Result::ok);
        Self { status, words: String::from_utf8_lossy(&words).trim_end().to_owned() }
    }

    /// For the log of who operates the service.
    fn explains(&self, problem: &io::Error) -> io::Error {
        let status = self.status.map_or_else(|| "it hangs".to_owned(), |status| status.to_string());
        io::Error::other(format!("{problem} ({status}) {}", self.words))
    }
}

/// What can be done to a worker while its task runs.
pub(super) struct Controls<'p> {
    id: Option<u32>,
    input: &'p mut ChildStdin,
}

impl Controls<'_> {
    /// Asks it to interrupt the task. A worker that died meanwhile is noticed by who reads its answer.
    pub(super) async fn stop(&mut self) -> io::Result<()> {
        let stop = wire::encode(&wire::Order::Stop)?;
        let _unheard = self.input.write_all(&stop).await;
        Ok(())
    }

    /// Lets other processes go before it, from now on: only root could take that back. Each thread has a priority of
    /// its own.
    pub(super) fn yield_to_others(&self) {
        let threads = self.id.and_then(|id| std::fs::read_dir(format!("/proc/{id}/task")).ok());
        let ids = threads.into_iter().flatten().flatten();
        let ids = ids.filter_map(|thread| Pid::from_raw(thread.file_name().to_str()?.parse().ok()?));
        for thread in ids {
            // A thread that just ended needs no priority.
            let _gone = setpriority_process(Some(thread), POLITE);
        }
    }
}

/// The deadline of a query passed.
pub(super) fn too_slow(time: Duration) -> Error {
    let message = "The query took longer than allowed and was stopped. Read fewer rows, join less, or aggregate first.";
    Error::new(Code::QueryTimeout, message).with(json!({ "limit": "time", "limit_ms": whole_millis(time) }))
}

/// Workers die with the thread that started them (`PR_SET_PDEATHSIG`), so that one thread starts them all and lives
/// as long as the pool; threads of the runtime come and go.
#[derive(Clone)]
pub(super) struct Spawner(mpsc::Sender<oneshot::Sender<io::Result<Child>>>);

impl Spawner {
    /// Needs a runtime.
    ///
    /// # Errors
    /// The system has no thread for it.
    pub(super) fn new(program: PathBuf) -> io::Result<Self> {
        let (sender, requests) = mpsc::channel::<oneshot::Sender<io::Result<Child>>>();
        let runtime = tokio::runtime::Handle::current();
        let run = move || {
            let _inside = runtime.enter();
            while let Ok(answer) = requests.recv() {
                // Whoever asked may have gone; the child is then killed by its drop.
                let _unwanted = answer.send(command(&program).spawn());
            }
        };
        std::thread::Builder::new().name("sql-workers".into()).spawn(run)?;
        Ok(Self(sender))
    }

    /// A worker that can take a task.
    ///
    /// # Errors
    /// As the system's at starting a process; `TimedOut` when it does not get ready; any other when it ends before.
    pub(super) async fn start(&self) -> io::Result<Process> {
        let (answer, started) = oneshot::channel();
        let gone = || io::Error::other("the thread that starts workers is gone");
        self.0.send(answer).map_err(|_| gone())?;
        Process::ready(started.await.map_err(|_| gone())??).await
    }
}

/// Nothing of the server's environment, folder or open files goes to a worker.
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg0("dragoman").arg(SUBCOMMAND).env_clear().current_dir("/").kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

async fn next(output: &mut BufReader<ChildStdout>) -> io::Result<Reply> {
    let mut head = [0; 4];
    output.read_exact(&mut head).await?;
    let mut body = vec![0; wire::body_length(head)?];
    output.read_exact(&mut body).await?;
    Ok(serde_json::from_slice(&body)?)
}
