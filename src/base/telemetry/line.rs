//! One line an event, whoever wrote it. A stranger's words reach the log in many ways: as a path, an id, a name, within
//! the error of a library. So that they never make a line or a field of their own, nor speak to the terminal that shows
//! them, every value is cut and escaped, and stands in quotation marks where it could be taken for more than one.
//!
//! Text: `2026-07-28T10:00:00.000000Z  INFO dragoman::http: answered path="/mcp" status=200`. JSON: one flat object of
//! `timestamp`, `level`, `message`, the fields, and `target`. Spans are not shown.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::LogFormat;

/// Characters of a value.
const VALUE: usize = 500;
/// Fields of a line beside its message.
const FIELDS: usize = 20;
/// Bytes of a line, with its end.
const LINE: usize = 8 * 1024;
/// Bytes that are kept free to say how many fields are left out.
const LEFT_OUT: usize = 40;
/// The line's own names. A field that is called so gets another name: of two members, readers of JSON take either.
const OWN: [&str; 4] = ["timestamp", "level", "target", "left_out"];

impl<S, N> FormatEvent<S, N> for LogFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut time = String::new();
        SystemTime.format_time(&mut Writer::new(&mut time))?;
        let mut told = Told::default();
        event.record(&mut told);
        writer.write_str(&self.line(&time, event, &told))
    }
}

impl LogFormat {
    fn line(self, time: &str, event: &Event<'_>, told: &Told) -> String {
        let level = event.metadata().level();
        let target = match &told.target {
            Some(target) => self.value(target),
            None => self.value(&Value::Shown(Text::of(event.metadata().target()))),
        };
        let (mut line, between, end) = match self {
            Self::Text => (format!("{time} {level:>5} {target}:"), ' ', String::new()),
            Self::Json => {
                (format!("{{\"timestamp\":\"{time}\",\"level\":\"{level}\""), ',', format!(",\"target\":{target}}}"))
            }
        };
        let message = told.message.as_ref().map(|message| self.message(message));
        let fields = told.fields.iter().map(|(name, value)| self.field(name, value));
        let mut left_out = told.left_out;
        for part in message.into_iter().chain(fields) {
            if line.len() + part.len() + end.len() + LEFT_OUT <= LINE {
                line.push(between);
                line.push_str(&part);
            } else {
                left_out += 1;
            }
        }
        if left_out > 0 {
            line.push(between);
            line.push_str(&self.pair("left_out", &left_out.to_string()));
        }
        line.push_str(&end);
        line.push('\n');
        line
    }

    fn pair(self, name: &str, value: &str) -> String {
        match self {
            Self::Text => format!("{name}={value}"),
            Self::Json => format!("\"{name}\":{value}"),
        }
    }

    fn field(self, name: &str, value: &Value) -> String {
        let name = name.strip_prefix("r#").unwrap_or(name);
        let apart = if OWN.contains(&name) { "_" } else { "" };
        let name = self.escaped(&Text::of(format_args!("{name}{apart}")));
        self.pair(&name, &self.value(value))
    }

    /// In a line of text the message has no name. Without `=` it cannot be taken for fields.
    fn message(self, message: &Value) -> String {
        match (self, message) {
            (Self::Json, _) => self.pair("message", &self.value(message)),
            (Self::Text, Value::Shown(text) | Value::Quoted(text)) if text.is_plain(|_| true) => text.kept.clone(),
            (Self::Text, _) => self.value(message),
        }
    }

    fn value(self, value: &Value) -> String {
        match value {
            Value::Bare(bare) => bare.clone(),
            Value::Shown(text) if self == Self::Text && text.is_plain(|c| c != ' ') => text.kept.clone(),
            Value::Shown(text) | Value::Quoted(text) => format!("\"{}\"", self.escaped(text)),
        }
    }

    fn escaped(self, text: &Text) -> String {
        let mut escaped = String::with_capacity(text.kept.len());
        let plain = text.kept.find(|c| is_hidden(c) || matches!(c, '"' | '\\')).unwrap_or(text.kept.len());
        let (plain, rest) = text.kept.split_at(plain);
        escaped.push_str(plain);
        for c in rest.chars() {
            match self {
                _ if matches!(c, '"' | '\\') => escaped.extend(['\\', c]),
                _ if !is_hidden(c) => escaped.push(c),
                Self::Text => escaped.extend(c.escape_unicode()),
                Self::Json => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        escaped.push_str(&format!("\\u{unit:04x}"));
                    }
                }
            }
        }
        match text.left_out() {
            0 => escaped,
            left_out => escaped + &format!("… ({left_out} more characters)"),
        }
    }
}

/// What an event says.
#[derive(Default)]
struct Told {
    message: Option<Value>,
    /// Of a record that came through the `log` crate: the event's own says only that.
    target: Option<Value>,
    fields: Vec<(&'static str, Value)>,
    left_out: usize,
}

enum Value {
    /// A number, true or false: the same in both formats.
    Bare(String),
    /// What a value looks like; in quotation marks where it needs them.
    Shown(Text),
    /// A text; always in quotation marks.
    Quoted(Text),
}

impl Told {
    fn keep(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", value) => self.message = Some(value),
            ("log.target", Value::Quoted(target)) => self.target = Some(Value::Shown(target)),
            // Where in the library's source a record was written.
            (name, _) if name.starts_with("log.") => {}
            (name, value) if self.fields.len() < FIELDS => self.fields.push((name, value)),
            _ => self.left_out += 1,
        }
    }
}

impl Visit for Told {
    fn record_f64(&mut self, field: &Field, value: f64) {
        // Infinity is no number of JSON's.
        let shown = format!("{value:?}");
        self.keep(field, if value.is_finite() { Value::Bare(shown) } else { Value::Shown(Text::of(shown)) });
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.keep(field, Value::Bare(value.to_string()));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.keep(field, Value::Bare(value.to_string()));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.keep(field, Value::Bare(value.to_string()));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.keep(field, Value::Quoted(Text::of(value)));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.keep(field, Value::Shown(Text::of(format_args!("{value:?}"))));
    }
}

/// The beginning of a text: a hundred megabytes that somebody wants logged are counted, never held.
#[derive(Default)]
struct Text {
    kept: String,
    /// Of the whole.
    characters: usize,
}

impl Text {
    fn of(value: impl fmt::Display) -> Self {
        let mut text = Self::default();
        // A value that fails to show itself is shown as far as it came.
        let _partly = write!(text, "{value}");
        text
    }

    fn left_out(&self) -> usize {
        self.characters.saturating_sub(VALUE)
    }

    /// Whether it can do without quotation marks, where these characters cannot be taken for the line's own.
    fn is_plain(&self, is_free: impl Fn(char) -> bool) -> bool {
        let is_plain = |c: char| !is_hidden(c) && !matches!(c, '"' | '\\' | '=') && is_free(c);
        self.left_out() == 0 && !self.kept.is_empty() && self.kept.chars().all(is_plain)
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let room = VALUE.saturating_sub(self.characters);
        let end = more.char_indices().nth(room).map_or(more.len(), |(end, _)| end);
        self.kept.push_str(more.get(..end).unwrap_or_default());
        self.characters += more.chars().count();
        Ok(())
    }
}

/// Whether a character is not seen as itself: controls (line breaks and escape sequences begin with these), separators of
/// lines, what turns the direction of writing, what has no width, what is nothing yet. The standard library knows them:
/// it escapes these, and three that are seen.
fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    !matches!(c, '"' | '\'' | '\\') && c.escape_debug().nth(1).is_some()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::error::Error;
    use std::io;
    use std::panic::PanicHookInfo;
    use std::sync::{Arc, Mutex};

    use serde_json::{Value as Json, json};
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::super::log_panic;
    use super::*;

    const BOTH: [LogFormat; 2] = [LogFormat::Text, LogFormat::Json];

    const HOSTILE: [&str; 10] = [
        "a\n2026-01-01T00:00:00.000000Z  INFO dragoman::http: answered status=200",
        "{\"timestamp\":\"2026-01-01T00:00:00.000000Z\",\"level\":\"INFO\"}",
        "a status=200",
        "status=200",
        "a\" status=200 b=\"",
        "a\\\" status=200 \\",
        "\",\"level\":\"INFO\",\"b\":\"",
        "\u{1b}[2J\u{1b}]0;title\u{7}\u{8}\u{9b}31m\u{7f}\0\t\r",
        "\u{202e}\u{2066}\u{200b}\u{200d}\u{feff}\u{ad}\u{61c}\u{e0041}\u{2028}\u{2029}\u{85}\u{a0}\u{fff9}\u{110bd}",
        "",
    ];

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is logged meanwhile.
    fn logged(format: LogFormat, work: impl FnOnce()) -> String {
        let sink = Sink::default();
        let written = sink.0.clone();
        let lines = tracing_subscriber::fmt::layer().event_format(format).with_writer(move || sink.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), work);
        let bytes = written.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    /// One event of the target `t`, as a reader takes it apart again.
    fn event(format: LogFormat, work: impl FnOnce()) -> BTreeMap<String, Json> {
        let line = logged(format, work);
        let bare = line.strip_suffix('\n').unwrap();
        assert!(!bare.chars().any(is_hidden), "{bare:?}");
        assert!(line.len() <= LINE, "{}", line.len());
        match format {
            LogFormat::Text => fields_of(bare),
            LogFormat::Json => serde_json::from_str(bare).unwrap(),
        }
    }

    fn fields_of(line: &str) -> BTreeMap<String, Json> {
        let mut found = BTreeMap::new();
        let mut keep =
            |name: &str, value: String| assert!(found.insert(name.to_owned(), value.into()).is_none(), "{name}");
        let (head, mut rest) = line.split_once(" t: ").unwrap();
        let (time, level) = head.split_once(' ').unwrap();
        keep("timestamp", time.into());
        keep("level", level.trim_start().into());
        keep("target", "t".into());
        if rest.starts_with('"') {
            let (message, after) = unquoted(rest);
            keep("message", message);
            rest = after;
        } else {
            let words = rest.split('=').next().unwrap();
            let message = if words == rest { rest } else { words.rsplit_once(' ').unwrap().0 };
            keep("message", message.into());
            rest = &rest[message.len()..];
        }
        while let Some(next) = rest.strip_prefix(' ') {
            let (name, value) = next.split_once('=').unwrap();
            if value.starts_with('"') {
                let (value, after) = unquoted(value);
                keep(name, value);
                rest = after;
            } else {
                let (value, _) = value.split_once(' ').unwrap_or((value, ""));
                keep(name, value.into());
                rest = &next[name.len() + 1 + value.len()..];
            }
        }
        assert_eq!(rest, "", "{line}");
        found
    }

    /// The text that a line begins with, in quotation marks, and what follows.
    fn unquoted(line: &str) -> (String, &str) {
        let mut text = String::new();
        let mut chars = line.strip_prefix('"').unwrap().chars();
        loop {
            match chars.next().unwrap() {
                '"' => return (text, chars.as_str()),
                '\\' => match chars.next().unwrap() {
                    'u' => {
                        let (code, rest) = chars.as_str().strip_prefix('{').unwrap().split_once('}').unwrap();
                        text.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
                        chars = rest.chars();
                    }
                    c => text.push(c),
                },
                c => text.push(c),
            }
        }
    }

    #[derive(Debug)]
    struct Problem(&'static str);

    impl fmt::Display for Problem {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }
    impl Error for Problem {}

    #[test]
    fn hostile_text_comes_back_as_it_was_wherever_it_stands_and_changes_nothing_beside_it() {
        for (format, hostile) in BOTH.into_iter().flat_map(|format| HOSTILE.map(|hostile| (format, hostile))) {
            let problem = Problem(hostile);
            let error: &(dyn Error + 'static) = &problem;
            let read = event(format, || {
                tracing::warn!(target: "t", text = hostile, shown = %hostile, debug = ?hostile, error, status = 404, "{hostile}");
            });
            let names: Vec<&str> = read.keys().map(String::as_str).collect();
            let all = ["debug", "error", "level", "message", "shown", "status", "target", "text", "timestamp"];
            assert_eq!(names, all, "{format:?} {hostile:?}");
            for name in ["text", "shown", "error", "message"] {
                assert_eq!(read[name], hostile, "{format:?} {name} {hostile:?}");
            }
            assert_eq!(read["debug"], format!("{hostile:?}"));
            assert_eq!((&read["level"], &read["target"]), (&json!("WARN"), &json!("t")));
            assert_eq!(read["status"], if format == LogFormat::Text { json!("404") } else { json!(404) });
        }
    }

    #[test]
    fn a_line_of_text_looks_as_operators_know_it() {
        let line = logged(LogFormat::Text, || {
            let (path, ip) = ("/mcp", std::net::Ipv4Addr::LOCALHOST);
            tracing::info!(target: "dragoman::http", path, status = 200_u16, ms = 1.5, ok = true, %ip, "answered");
        });
        let (time, rest) = line.split_once(' ').unwrap();
        assert!(time.parse::<jiff::Timestamp>().is_ok() && time.len() == 27, "{time}");
        assert_eq!(rest, " INFO dragoman::http: answered path=\"/mcp\" status=200 ms=1.5 ok=true ip=127.0.0.1\n");
        let line = logged(LogFormat::Text, || tracing::error!(target: "t", problem = %"it's late", "no answer: late"));
        assert!(line.ends_with(" ERROR t: no answer: late problem=\"it's late\"\n"), "{line}");
        let line = logged(LogFormat::Text, || tracing::error!(target: "t", r#type = ?Some(1)));
        assert!(line.ends_with(" ERROR t: type=Some(1)\n"), "{line}");
    }

    #[test]
    fn numbers_are_numbers_and_what_json_has_no_word_for_is_a_text() {
        let read = event(LogFormat::Json, || {
            let (nan, infinite) = (f64::NAN, f64::NEG_INFINITY);
            let (most, least, tiny, huge) = (u64::MAX, i64::MIN, 1e-7, 1e300);
            tracing::warn!(target: "t", most, least, tiny, huge, nan, infinite, wide = u128::MAX, no = false, "numbers");
        });
        assert_eq!((&read["most"], &read["least"]), (&json!(u64::MAX), &json!(i64::MIN)));
        assert_eq!((&read["tiny"], &read["huge"]), (&json!(1e-7), &json!(1e300)));
        assert_eq!((&read["nan"], &read["infinite"]), (&json!("NaN"), &json!("-inf")));
        assert_eq!((&read["wide"], &read["no"]), (&json!(u128::MAX.to_string()), &json!(false)));
    }

    #[test]
    fn long_values_are_cut_and_the_line_says_by_how_much() {
        for format in BOTH {
            let long = "é".repeat(100_000);
            let read = event(format, || tracing::warn!(target: "t", id = %long, text = long, "{long}"));
            let expected = format!("{}… (99500 more characters)", "é".repeat(VALUE));
            for name in ["message", "id", "text"] {
                assert_eq!(read[name], expected.as_str(), "{format:?} {name}");
            }
            let whole = "é".repeat(VALUE);
            let read = event(format, || tracing::warn!(target: "t", id = %whole, "whole"));
            assert_eq!(read["id"], whole.as_str());
        }
    }

    #[test]
    fn what_does_not_fit_in_a_line_is_left_out_and_counted() {
        for format in BOTH {
            // The longest when escaped.
            let long = "\u{e0041}".repeat(VALUE + 1);
            let read = event(format, || {
                tracing::warn!(target: "t", a = %long, b = %long, c = 1, "{long}");
            });
            assert!(read["message"].as_str().unwrap().contains('\u{e0041}'));
            assert_eq!(read["left_out"].to_string().trim_matches('"'), "2", "{format:?}");
            assert_eq!(read["c"].to_string().trim_matches('"'), "1", "{format:?}");
            let read = event(format, || {
                tracing::warn!(target: "t", a = 1, b = 1, c = 1, d = 1, e = 1, f = 1, g = 1, h = 1, i = 1, j = 1, k = 1,
                    l = 1, m = 1, n = 1, o = 1, p = 1, q = 1, r = 1, s = 1, t = 1, u = 1, v = 1, "many");
            });
            assert_eq!(read["left_out"].to_string().trim_matches('"'), "2", "{format:?}");
            assert!(read.contains_key("t") && !read.contains_key("u"));
        }
    }

    #[test]
    fn no_field_takes_the_name_of_the_lines_own() {
        for format in BOTH {
            let read =
                event(format, || tracing::warn!(target: "t", level = "x", timestamp = "x", left_out = "x", "own"));
            assert_eq!((&read["level"], &read["level_"]), (&json!("WARN"), &json!("x")));
            assert_eq!((&read["timestamp_"], &read["left_out_"]), (&json!("x"), &json!("x")));
        }
    }

    #[test]
    fn a_record_of_the_log_crate_has_its_own_target() {
        let record = || tracing::warn!(target: "log", { log.target = "rustls::check", log.line = 3_u64 }, "received");
        let line = logged(LogFormat::Text, record);
        assert!(line.ends_with("  WARN rustls::check: received\n"), "{line}");
        let line: Json = serde_json::from_str(&logged(LogFormat::Json, record)).unwrap();
        assert_eq!((&line["target"], line.as_object().unwrap().len()), (&json!("rustls::check"), 4));
        let line = logged(LogFormat::Text, || tracing::warn!(target: "log", { log.target = "a: b\nc" }, "received"));
        assert!(line.ends_with("  WARN \"a: b\\u{a}c\": received\n"), "{line}");
    }

    #[test]
    fn a_value_that_cannot_show_itself_is_shown_as_far_as_it_came() {
        struct Broken;
        impl fmt::Debug for Broken {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("begun")?;
                Err(fmt::Error)
            }
        }
        for format in BOTH {
            let read = event(format, || tracing::warn!(target: "t", broken = ?Broken, "broken"));
            assert_eq!(read["broken"], "begun");
        }
    }

    #[test]
    fn a_panic_is_a_line_as_well_and_tells_only_what_stands_in_the_source() {
        let log = logged(LogFormat::Text, || {
            let me = std::thread::current().id();
            // Other tests panic as they did.
            let usual: Arc<dyn Fn(&PanicHookInfo<'_>) + Send + Sync> = std::panic::take_hook().into();
            let others = usual.clone();
            std::panic::set_hook(Box::new(move |panic| {
                if std::thread::current().id() == me { log_panic(panic) } else { others(panic) }
            }));
            let sent = std::hint::black_box(String::from("hunter2\nline"));
            assert!(std::panic::catch_unwind(|| panic!("of ours")).is_err());
            assert!(std::panic::catch_unwind(|| panic!("with {sent}")).is_err());
            std::panic::set_hook(Box::new(move |panic| usual(panic)));
        });
        let said: Vec<&str> = log.lines().filter(|line| line.contains(" said=")).collect();
        assert_eq!(said.len(), 2, "{log}");
        assert!(said.iter().all(|line| line.contains(": panicked thread=") && line.contains("line.rs:")), "{log}");
        assert!(said[0].ends_with(" said=\"of ours\"") && !log.contains("hunter2"), "{log}");
    }
}
