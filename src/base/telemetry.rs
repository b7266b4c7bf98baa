//! Structured logs and metrics. Logs go to stderr: text for a person, JSON for a collector.
//! Never logged: secrets, tokens, codes, cookies, query strings, request bodies, row contents.

use std::io::IsTerminal as _;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// One readable line an event.
    Text,
    /// One JSON object an event.
    Json,
}

/// Starts logging for the process; a second call changes nothing.
///
/// `filter` is in the `tracing` syntax (`info,dragoman=debug`).
///
/// # Errors
/// The filter cannot be parsed.
pub fn start_logging(filter: &str, format: LogFormat) -> Result<(), String> {
    let filter = EnvFilter::try_new(filter).map_err(|problem| problem.to_string())?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let _already_started = match format {
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
        LogFormat::Text => builder.with_ansi(std::io::stderr().is_terminal()).try_init(),
    };
    Ok(())
}

/// Starts the metrics recorder of the process, or returns the running one.
pub fn start_metrics() -> PrometheusHandle {
    static RUNNING: std::sync::OnceLock<PrometheusHandle> = std::sync::OnceLock::new();
    RUNNING
        .get_or_init(|| {
            let recorder = PrometheusBuilder::new()
                .set_buckets_for_metric(
                    Matcher::Suffix("_seconds".into()),
                    &[0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0],
                )
                .unwrap_or_else(|_| PrometheusBuilder::new())
                .build_recorder();
            let handle = recorder.handle();
            let _another_recorder_runs = metrics::set_global_recorder(recorder);
            handle
        })
        .clone()
}
