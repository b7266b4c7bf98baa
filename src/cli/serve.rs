//! `dragoman serve [--demo]`.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::time::Instant;

use anyhow::Context as _;
use clap::Args;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::net::TcpListener;

use super::{demo, stop_signal};
use crate::app::App;
use crate::base::clock::Clock;
use crate::config::Config;

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Load a demo workspace once: the flights that left New York City in 2013, and documents about them
    #[arg(long)]
    demo: bool,
    /// Address of the service (instead of DRAGOMAN_LISTEN)
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
}

impl Serve {
    pub(super) async fn run(self, config: Config) -> anyhow::Result<()> {
        let started = Instant::now();
        // Before anybody can think that it is up: as the first process of a container, or started in the background of a
        // script, a process without handlers of its own ignores signals.
        let signalled = stop_signal()?;
        let mut stop = Box::pin(async move {
            signalled.await;
            if let Ok(again) = stop_signal() {
                tokio::spawn(end_at(again));
            }
        });
        raise_open_files();
        anyhow::ensure!(
            !self.demo || config.listen.ip().is_loopback(),
            "--demo has a person whose password is printed: it runs on a loopback address only"
        );
        // The address first: a port that is taken should not cost the load of a demo.
        let listener = TcpListener::bind(config.listen)
            .await
            .with_context(|| format!("cannot listen on {}; choose another address with --listen", config.listen))?;
        let open = async {
            let app = App::open(config, Clock::system()).await?;
            let demo = if self.demo { Some(demo::prepare(&app).await?) } else { None };
            anyhow::Ok((app, demo))
        };
        let (app, demo) = tokio::select! {
            opened = open => opened?,
            () = &mut stop => {
                tracing::info!("stopping before it was up");
                return Ok(());
            }
        };
        // Whoever started it may not read what it says; it serves all the same.
        let _ = greet(&app, demo.as_ref(), started);
        app.serve(listener, stop).await
    }
}

/// Whoever asks twice does not wait for what is under way: the next start finds what a crash would have left.
async fn end_at(signalled: impl Future<Output = ()>) {
    signalled.await;
    tracing::warn!("ended by a second signal, before all was written");
    std::process::exit(1);
}

/// Says where it is, and what to do next.
fn greet(app: &App, demo: Option<&demo::Person>, started: Instant) -> io::Result<()> {
    let (config, mut out) = (&app.office.config, io::stdout().lock());
    writeln!(out, "Dragoman is up on {} ({} ms)", config.issuer(), started.elapsed().as_millis())?;
    writeln!(out, "  Give this address to your AI client:  {}", config.resource())?;
    match demo {
        Some(person) => {
            writeln!(out, "  Log in as:                            {}", person.email)?;
            writeln!(out, "  with the password:                    {}", person.password.expose())?;
            writeln!(out, "  Then ask it: \"Which carrier had the longest average departure delay in 2013?\"")?;
            writeln!(out, "  Stop with Ctrl-C; everything stays in {}.", config.data_dir.display())?;
        }
        None => {
            writeln!(out, "  First time here? `dragoman admin workspace create W --admin EMAIL --open`,")?;
            writeln!(out, "  then `dragoman import FILE --workspace W --publish`. Or try `dragoman serve --demo`.")?;
        }
    }
    out.flush()
}

/// As many open files as the system lets this process have: connections, streams and workers each take some, and the soft
/// limit that a process begins with is 1,024 for the sake of programs that call `select` (getrlimit(2)).
fn raise_open_files() {
    let raised = getrlimit(Resource::RLIMIT_NOFILE).and_then(|(soft, hard)| match soft < hard {
        true => setrlimit(Resource::RLIMIT_NOFILE, hard, hard),
        false => Ok(()),
    });
    if let Err(problem) = raised {
        tracing::warn!(%problem, "the limit of open files stays as it is");
    }
}
