//! `AT TIME ZONE`: between an instant and the local time of a place.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use duckdb::arrow::array::{Array, AsArray, Date32Array, StringArray, TimestampMicrosecondArray};
use duckdb::arrow::buffer::NullBuffer;
use duckdb::arrow::datatypes::{DataType, Date32Type, TimeUnit, TimestampMicrosecondType};
use duckdb::arrow::record_batch::RecordBatch;
use duckdb::vscalar::{ArrowFunctionSignature, VArrowScalar};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

/// The calendar and the rules of daylight saving repeat after 400 years.
const CYCLE: i64 = 146_097 * 86_400_000_000;

/// Instants that the time zone database knows are computed exactly; earlier and later ones in an equivalent cycle.
const KNOWN: std::ops::Range<i64> = -377_000_000_000_000_000..253_000_000_000_000_000;

/// `timezone(name, TIMESTAMP)` is the instant when clocks there show that; `timezone(name, TIMESTAMPTZ)` is what they
/// show at that instant. Times that clocks skip are read with the offset before the jump, times that they show twice
/// are the second ones: as the engine's own extension does it.
pub(super) struct AtTimeZone;

impl VArrowScalar for AtTimeZone {
    type State = ();

    fn invoke((): &(), input: RecordBatch) -> Result<Arc<dyn Array>, Box<dyn Error>> {
        let names = input.column(0).as_string::<i32>();
        let times = match input.column(1).data_type() {
            DataType::Date32 => midnights(input.column(1).as_primitive::<Date32Type>()),
            _ => input.column(1).as_primitive::<TimestampMicrosecondType>().clone(),
        };
        let to_local = matches!(times.data_type(), DataType::Timestamp(_, Some(_)));
        let nulls = NullBuffer::union(names.nulls(), times.nulls());
        let mut zones: HashMap<&str, Offsets> = HashMap::new();
        let mut made: Vec<i64> = Vec::with_capacity(times.len());
        // Nearly always the zone is the same in all rows: what it needs is found out once for a run of them.
        while made.len() < times.len() {
            let first = made.len();
            let (name, end) = run(names, first);
            let Some(name) = name else {
                made.resize(end, 0);
                continue;
            };
            if !zones.contains_key(name) {
                zones.insert(name, Offsets::new(zone(name)?));
            }
            let Some(offsets) = zones.get_mut(name) else { continue };
            for (row, micros) in (first..end).zip(times.values().iter().skip(first)) {
                if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                    made.push(0);
                    continue;
                }
                let shifted = if to_local { offsets.local(*micros) } else { instant(&offsets.zone, *micros) };
                made.push(shifted.ok_or("the time is out of range")?);
            }
        }
        let made = TimestampMicrosecondArray::new(made.into(), nulls);
        Ok(if to_local { Arc::new(made) } else { Arc::new(made.with_timezone("UTC")) })
    }

    fn signatures() -> Vec<ArrowFunctionSignature> {
        let plain = DataType::Timestamp(TimeUnit::Microsecond, None);
        let zoned = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        vec![
            ArrowFunctionSignature::exact(vec![DataType::Utf8, plain.clone()], zoned.clone()),
            ArrowFunctionSignature::exact(vec![DataType::Utf8, DataType::Date32], zoned.clone()),
            ArrowFunctionSignature::exact(vec![DataType::Utf8, zoned], plain),
        ]
    }
}

/// A date is its first moment; dates that are infinite stay so.
fn midnights(dates: &Date32Array) -> TimestampMicrosecondArray {
    let moment = |days: i32| match days {
        i32::MAX => i64::MAX,
        _ if days == -i32::MAX => -i64::MAX,
        days => i64::from(days).saturating_mul(86_400_000_000),
    };
    dates.iter().map(|days| days.map(moment)).collect()
}

/// The instant of a literal that ends with the name of a zone, as the engine reads it: `2024-02-15 09:00:00+00` for
/// `2024-02-15 10:00:00 Europe/Berlin`. Nothing for other texts.
pub(super) fn literal(text: &str) -> Option<String> {
    let (clock, name) = text.trim().rsplit_once(' ')?;
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let clock: DateTime = clock.trim().parse().ok()?;
    let micros = Offset::UTC.to_timestamp(clock).ok()?.as_microsecond();
    let utc = Timestamp::from_microsecond(instant(&zone(name).ok()?, micros)?).ok()?;
    Some(format!("{}+00", utc.strftime("%Y-%m-%d %H:%M:%S%.f")))
}

/// A zone by its name in the IANA database, in any case, or as `UTC+2`. Short names stand for what the engine's
/// extension takes them for; most of those that more than one country uses are refused.
pub(super) fn zone(name: &str) -> Result<TimeZone, String> {
    let upper = name.trim().to_ascii_uppercase();
    let full = match upper.as_str() {
        "Z" => "UTC",
        "PST" => "America/Los_Angeles",
        "CST" => "America/Chicago",
        "IST" => "Asia/Kolkata",
        "JST" => "Asia/Tokyo",
        other => other,
    };
    if let Some(seconds) = fixed(full) {
        return Ok(TimeZone::fixed(seconds));
    }
    TimeZone::get(full).map_err(|_| format!("there is no time zone {name:?}; write one like Europe/Berlin or UTC"))
}

/// `UTC+2`, `GMT-03:30`: hours east of Greenwich.
fn fixed(name: &str) -> Option<Offset> {
    let rest = name.strip_prefix("UTC").or_else(|| name.strip_prefix("GMT"))?;
    let (sign, digits) = match rest.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours <= 18 && minutes < 60).then(|| Offset::from_seconds(sign * (hours * 3_600 + minutes * 60)).ok())?
}

fn is_infinite(micros: i64) -> bool {
    micros == i64::MAX || micros == -i64::MAX
}

/// The same time in a cycle that the database covers.
fn known(micros: i64) -> i64 {
    match micros {
        _ if micros >= KNOWN.end => micros - ((micros - KNOWN.end) / CYCLE + 1) * CYCLE,
        _ if micros < KNOWN.start => micros + ((KNOWN.start - micros) / CYCLE + 1) * CYCLE,
        _ => micros,
    }
}

/// The name in a row, and the end of the run of rows that have the same.
fn run(names: &StringArray, first: usize) -> (Option<&str>, usize) {
    let Some(name) = names.is_valid(first).then(|| names.value(first)) else {
        return (None, (first..names.len()).find(|row| names.is_valid(*row)).unwrap_or(names.len()));
    };
    if names.null_count() == 0 && first == 0 && is_constant(names, name) {
        return (Some(name), names.len());
    }
    let same = |row: &usize| names.is_valid(*row) && names.value(*row) == name;
    (Some(name), (first + 1..names.len()).find(|row| !same(row)).unwrap_or(names.len()))
}

/// Whether every text is this one: all are as long, and moved by one they are what they are. Texts are not compared one
/// by one, for there are as many as rows.
fn is_constant(names: &StringArray, name: &str) -> bool {
    let offsets = names.value_offsets();
    let (Some(begin), Some(end)) = (offsets.first(), offsets.last()) else { return false };
    let (Ok(begin), Ok(end)) = (usize::try_from(*begin), usize::try_from(*end)) else { return false };
    let Some(bytes) = names.value_data().get(begin..end) else { return false };
    let length = name.len();
    let as_long = offsets.array_windows().all(|[start, end]| usize::try_from(end - start) == Ok(length));
    as_long && bytes.get(length..) == bytes.get(..bytes.len().saturating_sub(length))
}

/// A zone, and the spans between two changes of its clocks that were met: times of one table lie in few of them.
struct Offsets {
    zone: TimeZone,
    /// From an instant up to another, and what local time is ahead, all in microseconds; in order, apart.
    spans: Vec<(i64, i64, i64)>,
    /// The span of the time before.
    last: (i64, i64, i64),
}

impl Offsets {
    fn new(zone: TimeZone) -> Self {
        Self { zone, spans: Vec::new(), last: (0, 0, 0) }
    }

    /// What clocks show at an instant.
    fn local(&mut self, micros: i64) -> Option<i64> {
        if micros < self.last.0 || micros >= self.last.1 {
            if is_infinite(micros) {
                return Some(micros);
            }
            self.last = self.span(micros)?;
        }
        micros.checked_add(self.last.2)
    }

    fn span(&mut self, micros: i64) -> Option<(i64, i64, i64)> {
        let after = self.spans.partition_point(|(from, ..)| *from <= micros);
        if let Some(span) = after.checked_sub(1).and_then(|at| self.spans.get(at)).filter(|span| micros < span.1) {
            return Some(*span);
        }
        let at = Timestamp::from_microsecond(known(micros)).ok()?;
        let shift = i64::from(self.zone.to_offset(at).seconds()) * 1_000_000;
        if !KNOWN.contains(&micros) {
            // Computed in another cycle: only this instant is known.
            return Some((micros, micros + 1, shift));
        }
        // `preceding` is strictly before, and a change at the very instant has happened. Clocks change at full seconds.
        let next = Timestamp::from_second(micros.div_euclid(1_000_000) + 1).ok()?;
        let from = self.zone.preceding(next).next().map_or(KNOWN.start, |change| change.timestamp().as_microsecond());
        let to = self.zone.following(at).next().map_or(KNOWN.end, |change| change.timestamp().as_microsecond());
        let span = (from.max(KNOWN.start), to.min(KNOWN.end), shift);
        self.spans.insert(after, span);
        Some(span)
    }
}

fn instant(zone: &TimeZone, micros: i64) -> Option<i64> {
    if is_infinite(micros) {
        return Some(micros);
    }
    let clock: DateTime = Offset::UTC.to_datetime(Timestamp::from_microsecond(known(micros)).ok()?);
    let offset = match zone.to_ambiguous_timestamp(clock).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset,
        AmbiguousOffset::Gap { before, .. } => before,
        AmbiguousOffset::Fold { after, .. } => after,
    };
    micros.checked_sub(i64::from(offset.seconds()) * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_microsecond()
    }

    /// Local time and instant, worked out from the published rules of each place.
    #[test]
    fn clocks_and_instants_agree_with_the_rules_of_each_place() {
        for (name, clock, utc) in [
            // Winter is UTC+1, summer UTC+2; midnights on both sides of the day.
            ("Europe/Berlin", "2024-01-15T00:00:00Z", "2024-01-14T23:00:00Z"),
            ("Europe/Berlin", "2024-07-15T00:00:00Z", "2024-07-14T22:00:00Z"),
            // The last second before and the first after the change of 31 March, 01:00 UTC.
            ("Europe/Berlin", "2024-03-31T01:59:59Z", "2024-03-31T00:59:59Z"),
            ("Europe/Berlin", "2024-03-31T03:00:00Z", "2024-03-31T01:00:00Z"),
            // Winter is UTC-5, summer UTC-4; the change of 10 March is at 02:00, 07:00 UTC.
            ("America/New_York", "2024-03-10T01:59:59Z", "2024-03-10T06:59:59Z"),
            ("America/New_York", "2024-03-10T03:00:00Z", "2024-03-10T07:00:00Z"),
            ("America/New_York", "2024-12-31T19:00:00Z", "2025-01-01T00:00:00Z"),
            // UTC+5:30 all year.
            ("Asia/Kolkata", "2024-06-01T00:00:00Z", "2024-05-31T18:30:00Z"),
            // UTC+10:30, and UTC+11 in the summer of the south: half an hour.
            ("Australia/Lord_Howe", "2024-06-15T12:00:00Z", "2024-06-15T01:30:00Z"),
            ("Australia/Lord_Howe", "2024-12-15T12:00:00Z", "2024-12-15T01:00:00Z"),
            ("utc", "2024-12-15T12:00:00Z", "2024-12-15T12:00:00Z"),
            ("UTC+2", "2024-12-15T12:00:00Z", "2024-12-15T10:00:00Z"),
            ("GMT-03:30", "2024-12-15T12:00:00Z", "2024-12-15T15:30:00Z"),
        ] {
            let zone = zone(name).unwrap();
            assert_eq!(instant(&zone, micros(clock)), Some(micros(utc)), "{name} {clock}");
            assert_eq!(Offsets::new(zone).local(micros(utc)), Some(micros(clock)), "{name} {utc}");
        }
    }

    #[test]
    fn a_skipped_time_moves_on_and_a_repeated_one_is_the_second() {
        for (name, clock, utc) in [
            ("Europe/Berlin", "2024-03-31T02:30:00Z", "2024-03-31T01:30:00Z"),
            ("Europe/Berlin", "2024-10-27T02:30:00Z", "2024-10-27T01:30:00Z"),
            ("America/New_York", "2024-11-03T01:30:00Z", "2024-11-03T06:30:00Z"),
            ("Australia/Lord_Howe", "2024-10-06T02:15:00Z", "2024-10-05T15:45:00Z"),
            ("Australia/Lord_Howe", "2024-04-07T01:45:00Z", "2024-04-06T15:15:00Z"),
        ] {
            assert_eq!(instant(&zone(name).unwrap(), micros(clock)), Some(micros(utc)), "{name} {clock}");
        }
    }

    #[test]
    fn far_years_have_the_rules_of_their_cycle_and_infinity_stays() {
        let berlin = zone("europe/berlin").unwrap();
        // Ten cycles after 8000-07-01: July of the year 12000, and summer.
        let july = micros("8000-07-01T00:00:00Z") + 10 * CYCLE;
        let mut offsets = Offsets::new(berlin.clone());
        assert_eq!(offsets.local(july), Some(july + 7_200_000_000));
        assert_eq!((offsets.local(i64::MAX), instant(&berlin, -i64::MAX)), (Some(i64::MAX), Some(-i64::MAX)));
        assert_eq!(offsets.local(i64::MAX - 1), None);
    }

    /// Times in any order, on both sides of each change and at it: what was found out for some holds for no others.
    #[test]
    fn spans_between_changes_are_found_once_and_end_where_clocks_change() {
        for name in ["America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata", "UTC+2"] {
            let zone = zone(name).unwrap();
            let mut offsets = Offsets::new(zone.clone());
            let first = micros("1890-01-01T00:00:00Z");
            let mut times: Vec<i64> = (0..4_000).map(|at| first + at * 1_237 * 3_600_000_000).collect();
            for change in zone.following(Timestamp::from_microsecond(first).unwrap()).take(300) {
                let at = change.timestamp().as_microsecond();
                times.extend([at, at - 1, at + 1]);
            }
            let count = times.len();
            // 7,919 is prime: every time is met, none after its neighbour.
            for at in 0..count {
                let time = times[at * 7_919 % count];
                let ahead = zone.to_offset(Timestamp::from_microsecond(time).unwrap()).seconds();
                assert_eq!(offsets.local(time), Some(time + i64::from(ahead) * 1_000_000), "{name} {time}");
            }
            assert!(offsets.spans.is_sorted() && offsets.spans.windows(2).all(|pair| pair[0].1 <= pair[1].0));
            assert!(offsets.spans.len() < count / 2, "{} spans for {count} times", offsets.spans.len());
        }
    }

    #[test]
    fn runs_of_rows_with_one_zone_end_at_the_next() {
        let names = StringArray::from(vec![Some("UTC"), Some("UTC"), None, None, Some("UTC"), Some("PST")]);
        let mut runs = Vec::new();
        let mut first = 0;
        while first < names.len() {
            let (name, end) = run(&names, first);
            runs.push((name, end));
            first = end;
        }
        assert_eq!(runs, [(Some("UTC"), 2), (None, 4), (Some("UTC"), 5), (Some("PST"), 6)]);
        for (names, end) in [
            (vec!["UTC", "UTC", "UTC"], 3),
            (vec!["UTC"], 1),
            (vec!["UTC", "UTC", "PST"], 2),
            (vec!["UTC", "CST", "UTC"], 1),
            // As many bytes, and the same when moved by one name.
            (vec!["aa", "a", "aaa"], 1),
            (vec!["", "", ""], 3),
        ] {
            assert_eq!(run(&StringArray::from(names.clone()), 0), (Some(names[0]), end), "{names:?}");
            let longer: Vec<&str> = ["first", "second"].into_iter().chain(names.iter().copied()).collect();
            let part = StringArray::from(longer).slice(2, names.len());
            assert_eq!(run(&part, 0), (Some(names[0]), end), "{names:?} as a part");
        }
    }

    #[test]
    fn a_literal_may_name_its_zone() {
        assert_eq!(literal("2024-02-15 10:00:00 Europe/Berlin").unwrap(), "2024-02-15 09:00:00+00");
        assert_eq!(literal("2024-07-15T00:00:00.5 america/new_york").unwrap(), "2024-07-15 04:00:00.5+00");
        assert_eq!(literal("2024-07-15 UTC").unwrap(), "2024-07-15 00:00:00+00");
        for other in ["2024-02-15 10:00:00", "2024-02-15 10:00:00+02", "now", "2024-02-15 10:00:00 Nowhere"] {
            assert_eq!(literal(other), None, "{other}");
        }
    }

    #[test]
    fn an_unknown_zone_is_named() {
        for name in ["Nowhere/City", "+02:00", "UTC+99", ""] {
            assert!(zone(name).unwrap_err().contains(&format!("{name:?}")), "{name}");
        }
    }
}
