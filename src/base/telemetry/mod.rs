//! Structured logs and metrics. Logs go to stderr: text for a person, JSON for a collector. `filter.rs` decides whose
//! lines are written, `line.rs` how they look.
//! Never logged: secrets, tokens, codes, cookies, query strings, request bodies, row contents.

mod filter;
mod line;
mod recent;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;
use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::fmt::writer::MakeWriterExt as _;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

pub use self::filter::LogFilter;
pub use self::recent::recent_lines;

/// How often measurements are put into their buckets. Until then each takes 16 bytes.
const UPKEEP: Duration = Duration::from_secs(1);

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// One readable line an event.
    Text,
    /// One JSON object an event.
    Json,
}

/// Starts logging for the process, panics included; a second call changes nothing.
///
/// # Errors
/// As [`LogFilter::read`].
pub fn start_logging(filter: &str, format: LogFormat) -> Result<(), String> {
    let LogFilter { targets, cut } = LogFilter::read(filter)?;
    let lines = tracing_subscriber::fmt::layer().event_format(format).with_writer(std::io::stderr.and(recent::Recent));
    if tracing_subscriber::registry().with(lines).with(targets).try_init().is_ok() {
        std::panic::set_hook(Box::new(log_panic));
        filter::tell(&cut);
    }
    Ok(())
}

/// A panic is logged as everything else is: the standard hook would write its text as it is, over as many lines as it
/// has. Only a text of the source is told: one that was put together may hold what a caller sent.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let at = panic.location().map(ToString::to_string).unwrap_or_default();
    let said = panic.payload().downcast_ref::<&'static str>().copied().unwrap_or("a text with values in it");
    tracing::error!(thread = thread.name().unwrap_or_default(), at, said, "panicked");
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        trace.to_string().lines().for_each(|frame| tracing::error!(frame = frame.trim(), "panicked"));
    }
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

/// Puts measurements into their buckets until `stop`. Whoever asks for the metrics does so too, but maybe nobody asks.
pub async fn keep_metrics(metrics: PrometheusHandle, stop: CancellationToken) {
    while stop.run_until_cancelled(tokio::time::sleep(UPKEEP)).await.is_some() {
        metrics.run_upkeep();
    }
}
