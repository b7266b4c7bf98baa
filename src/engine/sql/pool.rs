//! Worker processes: started ahead of need, used once, killed afterwards.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::wire::{self, Order, Outcome, Reply, Task};
use crate::engine::job::{OnProgress, Progress};
use crate::model::error::{Code, Error, Result};

/// The hidden sub-command of the program.
pub const SUBCOMMAND: &str = "sql-worker";

/// Workers that wait for a task.
const IDLE: usize = 2;

/// How long a worker may take to start; far above what it needs.
const START: Duration = Duration::from_secs(20);

/// How long an interrupted task may take to answer before its process is killed.
const GRACE: Duration = Duration::from_secs(1);

/// How much of a dead worker's last words is read, in bytes.
const LAST_WORDS: u64 = 4_096;

type Started = io::Result<Child>;

/// Starts workers and keeps a few ready.
#[derive(Clone)]
pub struct Pool(Arc<Inner>);

struct Inner {
    program: PathBuf,
    spawner: OnceLock<mpsc::Sender<oneshot::Sender<Started>>>,
    idle: Mutex<Vec<Worker>>,
    confinement_told: AtomicBool,
}

/// A process that said that it is ready.
struct Worker {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Pool {
    /// `program` is this program; workers start with the first call of [`Pool::warm`] or [`Pool::run`].
    pub fn new(program: PathBuf) -> Self {
        Self(Arc::new(Inner {
            program,
            spawner: OnceLock::new(),
            idle: Mutex::default(),
            confinement_told: AtomicBool::new(false),
        }))
    }

    /// Starts workers in the background until enough are ready. Needs a runtime.
    pub fn warm(&self) {
        if self.idle().len() < IDLE {
            let pool = self.clone();
            tokio::spawn(async move {
                match pool.start().await {
                    Ok(worker) => pool.keep(worker),
                    Err(cause) => tracing::warn!(%cause, "an SQL worker did not start"),
                }
            });
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Worker>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, worker: Worker) {
        let enough = {
            let mut idle = self.idle();
            if idle.len() < IDLE {
                idle.push(worker);
            }
            idle.len() >= IDLE
        };
        if !enough {
            self.warm();
        }
    }

    async fn take(&self) -> io::Result<Worker> {
        loop {
            let Some(mut worker) = self.idle().pop() else { return self.start().await };
            if matches!(worker.child.try_wait(), Ok(None)) {
                return Ok(worker);
            }
        }
    }

    /// A worker that has the task. One that died while it waited is replaced: it cannot have begun.
    async fn begin(&self, frame: &[u8]) -> io::Result<Worker> {
        loop {
            let was_waiting = !self.idle().is_empty();
            let mut worker = self.take().await?;
            let begun = match worker.input.write_all(frame).await {
                Ok(()) => next(&mut worker.output).await,
                Err(problem) => Err(problem),
            };
            match begun {
                Ok(Reply::Begun) => return Ok(worker),
                Ok(other) => return Err(io::Error::other(format!("a worker answered a task with {other:?}"))),
                Err(problem) if was_waiting => tracing::warn!(%problem, "an SQL worker died while it waited"),
                Err(problem) => return Err(problem),
            }
        }
    }

    async fn start(&self) -> io::Result<Worker> {
        let (answer, started) = oneshot::channel();
        let gone = |_| io::Error::other("the thread that starts workers is gone");
        self.spawner().send(answer).map_err(|_| io::Error::other("the thread that starts workers is gone"))?;
        let mut child = started.await.map_err(gone)??;
        let streams = child.stdin.take().zip(child.stdout.take());
        let (input, mut output) = streams.ok_or_else(|| io::Error::other("a worker without streams"))?;
        match tokio::time::timeout(START, next(&mut output)).await {
            Ok(Ok(Reply::Ready)) => Ok(Worker { child, input, output }),
            Ok(Ok(other)) => Err(io::Error::other(format!("a worker began with {other:?}"))),
            Ok(Err(problem)) => Err(problem),
            Err(_) => Err(io::Error::other("a worker did not get ready in time")),
        }
    }

    /// Workers die with the thread that started them (`PR_SET_PDEATHSIG`), so that one thread starts them all and
    /// lives as long as the pool; threads of the runtime come and go.
    fn spawner(&self) -> &mpsc::Sender<oneshot::Sender<Started>> {
        self.0.spawner.get_or_init(|| {
            let (sender, requests) = mpsc::channel::<oneshot::Sender<Started>>();
            let (runtime, program) = (tokio::runtime::Handle::current(), self.0.program.clone());
            let run = move || {
                let _inside = runtime.enter();
                while let Ok(answer) = requests.recv() {
                    // Whoever asked may have gone; the child is then killed by its drop.
                    let _unwanted = answer.send(command(&program).spawn());
                }
            };
            if let Err(cause) = std::thread::Builder::new().name("sql-workers".into()).spawn(run) {
                tracing::error!(%cause, "cannot start the thread that starts SQL workers");
            }
            sender
        })
    }

    /// Runs one task in a worker of its own.
    ///
    /// # Errors
    /// What the worker found; `query_timeout` when `time` is over (the task is interrupted, and killed a second later)
    /// or the caller cancelled; `limit_exceeded` when memory ran out; `internal_error` when the worker died otherwise.
    pub async fn run(
        &self,
        task: &Task,
        time: Duration,
        cancel: &CancellationToken,
        on_progress: Option<OnProgress>,
    ) -> Result<Outcome> {
        let frame = wire::encode(task).map_err(Error::internal)?;
        let mut worker = self.begin(&frame).await.map_err(Error::internal)?;
        self.warm();
        let Worker { child, input, output } = &mut worker;
        let answer = answer(output, on_progress);
        tokio::pin!(answer);
        let heard = tokio::select! {
            heard = &mut answer => heard,
            () = cancel.cancelled() => return Err(Error::new(Code::QueryTimeout, "The call was cancelled.")),
            () = tokio::time::sleep(time) => {
                let stop = wire::encode(&Order::Stop).map_err(Error::internal)?;
                // A worker that died meanwhile is noticed by the read below.
                let _unheard = input.write_all(&stop).await;
                match tokio::time::timeout(GRACE, &mut answer).await {
                    Ok(heard) => heard,
                    Err(_) => return Err(too_slow(time)),
                }
            }
        };
        let (outcome, confined) = match heard {
            Ok(heard) => heard,
            Err(problem) => return Err(died(child, &problem).await),
        };
        if !confined && !self.0.confinement_told.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "this kernel has no Landlock: SQL workers are confined by the engine's locks and limits only"
            );
        }
        outcome.map_err(Error::from)
    }

    /// The process ids of the workers that wait.
    pub fn waiting(&self) -> Vec<u32> {
        self.idle().iter().filter_map(|worker| worker.child.id()).collect()
    }
}

/// Nothing of the server's environment, folder or open files goes to a worker.
fn command(program: &std::path::Path) -> Command {
    let mut command = Command::new(program);
    command.arg(SUBCOMMAND).env_clear().current_dir("/").kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

async fn answer(
    output: &mut ChildStdout,
    on_progress: Option<OnProgress>,
) -> io::Result<(Result<Outcome, wire::Failure>, bool)> {
    loop {
        match next(output).await? {
            Reply::Done { outcome, confined } => return Ok((outcome, confined)),
            Reply::Progress(fraction) => {
                if let Some(on_progress) = &on_progress {
                    on_progress(Progress { fraction: Some(fraction), message: "Reading the file".to_owned() });
                }
            }
            Reply::Ready | Reply::Begun => {}
        }
    }
}

async fn next(output: &mut ChildStdout) -> io::Result<Reply> {
    let mut head = [0; 4];
    output.read_exact(&mut head).await?;
    let mut body = vec![0; wire::body_length(head)?];
    output.read_exact(&mut body).await?;
    Ok(serde_json::from_slice(&body)?)
}

fn too_slow(time: Duration) -> Error {
    let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let message = "The query took longer than allowed and was stopped. Read fewer rows, join less, or aggregate first.";
    Error::new(Code::QueryTimeout, message).with(json!({ "limit": "time", "limit_ms": millis }))
}

/// What a worker's death means: the processor limit, memory, or a crash.
async fn died(child: &mut Child, problem: &io::Error) -> Error {
    let mut words = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        // Its end comes with the process's; a worker that hangs is not waited for.
        let _partial = tokio::time::timeout(GRACE, stderr.take(LAST_WORDS).read_to_end(&mut words)).await;
    }
    let status = match tokio::time::timeout(GRACE, child.wait()).await {
        Ok(Ok(status)) => status,
        _ => return Error::internal(format!("an SQL worker neither answers nor ends: {problem}")),
    };
    let words = String::from_utf8_lossy(&words);
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    let out_of_memory = words.contains("memory allocation") || words.contains("bad_alloc");
    match signal {
        Some(signal) if signal == nix::sys::signal::Signal::SIGXCPU as i32 => too_slow(Duration::ZERO),
        Some(signal) if signal == nix::sys::signal::Signal::SIGXFSZ as i32 => {
            Error::new(Code::LimitExceeded, "The table would be larger than allowed.").with(json!({ "limit": "bytes" }))
        }
        // The kernel kills for memory with SIGKILL; we kill only where we no longer listen.
        Some(signal) if signal == nix::sys::signal::Signal::SIGKILL as i32 || out_of_memory => {
            tracing::warn!(%status, "an SQL worker was killed, most likely for memory");
            Error::new(
                Code::LimitExceeded,
                "The query was stopped, most likely for its memory. Filter or aggregate first.",
            )
            .with(json!({ "limit": "memory" }))
        }
        _ => Error::internal(format!("an SQL worker died ({status}): {problem}; it said: {words}")),
    }
}
