//! Whose lines are written, from which level. Our own go as low as the operator asks. Libraries print what passes through
//! them at their lower levels: whole requests and results, header values, statements, frames. No filter lets these in.

use tracing_subscriber::filter::{LevelFilter, Targets};

/// With what the targets of our own lines begin.
const OURS: &str = env!("CARGO_CRATE_NAME");

/// The lowest level of a library.
const LIBRARIES: LevelFilter = LevelFilter::WARN;

/// Parts of libraries that print a request in their warnings and errors too: nothing of them is written.
const MUTE: [&str; 3] = [
    // Each error that it sends, with the caller's words in it, and the text of a panic.
    "rmcp::service",
    // The message that ended a session, and the text of a panic.
    "rmcp::transport::worker",
    // The bytes of a passkey that it cannot read.
    "webauthn_rs_core::internals",
];

/// What an operator asked for, less what no filter lets in.
#[derive(Debug)]
pub struct LogFilter {
    pub(super) targets: Targets,
    /// What was asked for in vain.
    pub(super) cut: Vec<String>,
}

impl LogFilter {
    /// Reads `info,dragoman=debug`: a level for everything, and levels for targets.
    ///
    /// # Errors
    /// It cannot be read. The text does not repeat what was written.
    pub fn read(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
        if parts.iter().any(|part| part.contains(['[', ']', '{', '}', ' '])) {
            return Err("expected a level, or target=level, with commas in between".into());
        }
        let asked = parts.join(",").parse::<Targets>().map_err(|problem| problem.to_string())?;
        let general = asked.default_level().unwrap_or(LevelFilter::OFF);
        // Who asks for INFO in general asks for ours.
        let mut cut: Vec<String> = (general > LevelFilter::INFO).then(|| general.to_string()).into_iter().collect();
        let mut targets = Targets::new().with_default(general.min(LIBRARIES));
        for (target, level) in &asked {
            let lowest = lowest(target);
            if level > lowest {
                cut.push(format!("{target}={level}"));
            }
            targets = targets.with_target(target, level.min(lowest));
        }
        targets = targets.with_targets(MUTE.map(|target| (target, LevelFilter::OFF)));
        targets = targets.with_target(OURS, asked_for(&asked, OURS));
        if !cut.is_empty() {
            // For `tell`, whatever is asked for us.
            targets = targets.with_target(module_path!(), LevelFilter::WARN);
        }
        Ok(Self { targets, cut })
    }
}

/// Tells the operator what was asked for in vain.
pub(super) fn tell(cut: &[String]) {
    if !cut.is_empty() {
        let asked = cut.join(",");
        tracing::warn!(asked, "libraries stay at WARN or above: below it their lines hold requests");
    }
}

/// The lowest level that a target may have.
fn lowest(target: &str) -> LevelFilter {
    let is_ours = target.strip_prefix(OURS).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    if is_ours {
        LevelFilter::TRACE
    } else if MUTE.iter().any(|mute| target.starts_with(mute)) {
        LevelFilter::OFF
    } else {
        LIBRARIES
    }
}

/// The level that a filter gives a target.
fn asked_for(asked: &Targets, target: &str) -> LevelFilter {
    use tracing::Level;
    [Level::TRACE, Level::DEBUG, Level::INFO, Level::WARN, Level::ERROR]
        .into_iter()
        .find(|level| asked.would_enable(target, level))
        .map_or(LevelFilter::OFF, LevelFilter::from_level)
}

#[cfg(test)]
mod tests {
    use tracing::Level;
    use tracing_subscriber::{Layer, Registry};

    use super::*;

    fn read(text: &str) -> LogFilter {
        LogFilter::read(text).unwrap()
    }

    fn level(text: &str, target: &str) -> LevelFilter {
        asked_for(&read(text).targets, target)
    }

    #[test]
    fn no_filter_lets_in_what_holds_requests() {
        let foreign = ["rmcp", "rmcp::service::server", "rmcp::transport::worker", "h2::codec", "hyper", "sqlx::query"];
        let all = ["log", "webauthn_rs_core::internals", "webauthn_rs_core::core", "d", "a::dragoman"];
        for text in [
            "trace",
            "debug,rmcp=trace",
            "info,rmcp::service::server=info,rmcp::service=trace,rmcp::transport::worker::x=trace",
            "off,sqlx::query=debug,h2::codec=trace,hyper=5,log=trace,webauthn_rs_core=trace",
            "trace,r=trace,h=trace,d=trace,a::dragoman=trace,webauthn_rs_core::internals=trace",
            "rmcp",
        ] {
            for target in foreign.iter().chain(&all) {
                assert!(level(text, target) <= LevelFilter::WARN, "{text}: {target}");
            }
            for target in MUTE {
                assert_eq!(level(text, target), LevelFilter::OFF, "{text}: {target}");
                assert_eq!(level(text, &format!("{target}::deeper")), LevelFilter::OFF, "{text}: {target}");
            }
        }
        assert_eq!(level("trace", "rmcp::transport::streamable_http_server::tower"), LevelFilter::WARN);
        assert_eq!(level("info", "hyper"), LevelFilter::WARN);
        assert_eq!(level("info,qdrant_edge=error", "qdrant_edge::wal"), LevelFilter::ERROR);
        assert_eq!(level("error", "hyper"), LevelFilter::ERROR);
    }

    #[test]
    fn our_own_lines_go_as_low_as_is_asked() {
        for (text, target, expected) in [
            ("info", "dragoman::http", LevelFilter::INFO),
            ("trace", "dragoman::http", LevelFilter::TRACE),
            ("warn,dragoman::http=info", "dragoman::http", LevelFilter::INFO),
            ("warn,dragoman::http=info", "dragoman::store", LevelFilter::WARN),
            ("info,dragoman=debug", "dragoman", LevelFilter::DEBUG),
            ("info, dragoman=debug,", "dragoman", LevelFilter::DEBUG),
            ("error,drag=debug", "dragoman::http", LevelFilter::DEBUG),
            ("rmcp=warn", "dragoman::http", LevelFilter::OFF),
            ("off", "dragoman::http", LevelFilter::OFF),
            ("", "dragoman::http", LevelFilter::ERROR),
        ] {
            assert_eq!(level(text, target), expected, "{text}");
        }
    }

    #[test]
    fn lines_that_nobody_gets_cost_nothing() {
        for (text, most) in [("info,rmcp=trace,h2=debug", LevelFilter::INFO), ("off", LevelFilter::OFF)] {
            let hint = <Targets as Layer<Registry>>::max_level_hint(&read(text).targets);
            assert_eq!(hint, Some(most), "{text}");
        }
    }

    #[test]
    fn what_is_asked_for_in_vain_is_told_whatever_is_asked_for_us() {
        for (text, cut) in [
            ("info,qdrant_edge=error", vec![]),
            ("info,rmcp=warn,dragoman=trace", vec![]),
            ("debug", vec!["debug"]),
            ("trace,dragoman=info,rmcp=info,h2=debug", vec!["trace", "rmcp=info", "h2=debug"]),
            ("rmcp=debug", vec!["rmcp=debug"]),
            ("off,rmcp::service=warn", vec!["rmcp::service=warn"]),
        ] {
            let filter = read(text);
            assert_eq!(filter.cut, cut, "{text}");
            assert!(cut.is_empty() || filter.targets.would_enable(module_path!(), &Level::WARN), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_said_without_repeating_it() {
        for text in [
            "dragoman=hunter2", "dragoman=info=hunter2", "[hunter2]=info", "info dragoman=hunter2",
            "dragoman = hunter2",
        ] {
            let problem = LogFilter::read(text).unwrap_err();
            assert!(!problem.is_empty() && !problem.contains("hunter2"), "{problem}");
        }
    }
}
