//! The program: a worker when started as one, the command line otherwise.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;
use dragoman::cli::Cli;

fn main() -> ExitCode {
    // Before anything else: a worker runs hostile SQL and starts no runtime, no log, no settings.
    if std::env::args_os().nth(1).is_some_and(|first| first == dragoman::engine::sql::SUBCOMMAND) {
        return dragoman::engine::sql::worker::main();
    }
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(problem) => {
            eprintln!("dragoman: no runtime: {problem}");
            return ExitCode::FAILURE;
        }
    };
    let done = runtime.block_on(cli.run());
    // Everything is written; what threads still compute is for nobody.
    runtime.shutdown_timeout(Duration::from_secs(10));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("dragoman: {problem:#}");
            ExitCode::FAILURE
        }
    }
}
