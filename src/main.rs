use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|first| first == dragoman::engine::sql::SUBCOMMAND) {
        return dragoman::engine::sql::worker::main();
    }
    ExitCode::SUCCESS
}
