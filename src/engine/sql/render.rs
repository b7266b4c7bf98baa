//! Values of the engine as JSON, so that no client loses a digit: whole numbers beyond 2^53, decimals, times,
//! intervals and binary values are texts; NaN and infinities too.

use crate::model::source::quoted;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use duckdb::arrow::array::{Array, ArrayRef, AsArray};
use duckdb::arrow::datatypes as arrow;
use duckdb::arrow::datatypes::{DataType, IntervalUnit, TimeUnit};
use duckdb::core::{LogicalTypeHandle, LogicalTypeId};
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};

/// The largest whole number up to which every JSON reader is exact (2^53).
const EXACT: i128 = 1 << 53;

/// Deepest nesting of a column's type; readers of Arrow stop at 64 levels, and a map takes two.
const MAX_DEPTH: usize = 24;

/// Most types inside a column's type.
const MAX_PARTS: usize = 2_000;

/// A column's type, as far as the transport format loses it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// The engine's number of the type.
    id: u32,
    name: String,
    children: Vec<Shape>,
}

impl Shape {
    /// Whether a type has few enough parts, and few enough inside each other, to be described at all: a struct that
    /// holds another twice, and so on, doubles with each step.
    pub fn can_be_of(handle: &LogicalTypeHandle) -> bool {
        fn fits(handle: &LogicalTypeHandle, depth: usize, left: &mut usize) -> bool {
            *left = left.saturating_sub(1);
            *left > 0
                && depth <= MAX_DEPTH
                && (0..handle.num_children()).all(|index| fits(&handle.child(index), depth + 1, left))
        }
        let mut left = MAX_PARTS;
        fits(handle, 1, &mut left)
    }

    /// Reads the engine's description of a type.
    pub fn of(handle: &LogicalTypeHandle, transport: &DataType) -> Self {
        let id = handle.id();
        let children: Vec<Shape> = (0..handle.num_children())
            .map(|index| Shape::of(&handle.child(index), &child_transport(transport, index)))
            .collect();
        let field = |(index, child): (usize, &Shape)| {
            let name = handle.child_name(index);
            let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            let name = if is_plain { name } else { quoted(&name) };
            format!("{name} {}", child.name)
        };
        let fields = || children.iter().enumerate().map(field).collect::<Vec<_>>().join(", ");
        let name = match (handle.get_alias(), id, children.as_slice()) {
            (Some(alias), ..) if !alias.is_empty() => alias,
            (_, LogicalTypeId::Decimal, _) => format!("DECIMAL({},{})", handle.decimal_width(), handle.decimal_scale()),
            (_, LogicalTypeId::List, [item, ..]) => format!("{}[]", item.name),
            (_, LogicalTypeId::Array, [item, ..]) => match transport {
                DataType::FixedSizeList(_, size) => format!("{}[{size}]", item.name),
                _ => format!("{}[]", item.name),
            },
            (_, LogicalTypeId::Struct, _) => format!("STRUCT({})", fields()),
            (_, LogicalTypeId::Union, _) => format!("UNION({})", fields()),
            (_, LogicalTypeId::Map, [key, value, ..]) => format!("MAP({}, {})", key.name, value.name),
            (_, LogicalTypeId::TimestampTZ, _) => "TIMESTAMP WITH TIME ZONE".to_owned(),
            (_, LogicalTypeId::TimeTZ, _) => "TIME WITH TIME ZONE".to_owned(),
            (_, LogicalTypeId::TimestampS, _) => "TIMESTAMP_S".to_owned(),
            (_, LogicalTypeId::TimestampMs, _) => "TIMESTAMP_MS".to_owned(),
            (_, LogicalTypeId::TimestampNs, _) => "TIMESTAMP_NS".to_owned(),
            (_, LogicalTypeId::TimeNs, _) => "TIME_NS".to_owned(),
            (_, LogicalTypeId::SqlNull, _) => "NULL".to_owned(),
            (_, other, _) => format!("{other:?}").to_ascii_uppercase(),
        };
        Self { id: id as u32, name, children }
    }

    /// The same under the name of another type, from which it was converted.
    pub fn named(self, other: Shape) -> Self {
        Self { name: other.name, ..self }
    }

    /// DuckDB's name of the type.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn id(&self) -> LogicalTypeId {
        LogicalTypeId::from(self.id)
    }

    fn child(&self, index: usize) -> Option<&Shape> {
        self.children.get(index)
    }
}

fn child_transport(transport: &DataType, index: usize) -> DataType {
    match transport {
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
            field.data_type().clone()
        }
        DataType::Struct(fields) => fields.get(index).map_or(DataType::Null, |field| field.data_type().clone()),
        DataType::Map(entries, _) => child_transport(entries.data_type(), index),
        DataType::Union(fields, _) => {
            fields.iter().nth(index).map_or(DataType::Null, |(_, field)| field.data_type().clone())
        }
        _ => DataType::Null,
    }
}

/// One value, which is written as JSON where it lies in memory. A type that has no form here is an error that names it.
pub(crate) struct Cell<'a> {
    pub array: &'a dyn Array,
    pub row: usize,
    pub shape: Option<&'a Shape>,
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Cell { array, row, shape } = *self;
        if array.is_null(row) {
            return to.serialize_unit();
        }
        let id = shape.map(Shape::id);
        let unwritable = |name: &str| Err(S::Error::custom(name));
        if matches!(id, Some(LogicalTypeId::Bignum | LogicalTypeId::TimeTZ | LogicalTypeId::Variant)) {
            return unwritable(shape.map_or("", Shape::name));
        }
        if id == Some(LogicalTypeId::Bit) {
            return match array.data_type() {
                DataType::Binary => to.serialize_str(&bits(array.as_binary::<i32>().value(row))),
                DataType::LargeBinary => to.serialize_str(&bits(array.as_binary::<i64>().value(row))),
                _ => unwritable("BIT"),
            };
        }
        match array.data_type() {
            DataType::Null => to.serialize_unit(),
            DataType::Boolean => to.serialize_bool(array.as_boolean().value(row)),
            DataType::Int8 => to.serialize_i8(array.as_primitive::<arrow::Int8Type>().value(row)),
            DataType::Int16 => to.serialize_i16(array.as_primitive::<arrow::Int16Type>().value(row)),
            DataType::Int32 => to.serialize_i32(array.as_primitive::<arrow::Int32Type>().value(row)),
            DataType::Int64 => whole(to, array.as_primitive::<arrow::Int64Type>().value(row).into()),
            DataType::UInt8 => to.serialize_u8(array.as_primitive::<arrow::UInt8Type>().value(row)),
            DataType::UInt16 => to.serialize_u16(array.as_primitive::<arrow::UInt16Type>().value(row)),
            DataType::UInt32 => to.serialize_u32(array.as_primitive::<arrow::UInt32Type>().value(row)),
            DataType::UInt64 => whole(to, array.as_primitive::<arrow::UInt64Type>().value(row).into()),
            DataType::Float32 => {
                // The shortest text of the single keeps 0.1 from becoming 0.10000000149011612.
                let text = array.as_primitive::<arrow::Float32Type>().value(row).to_string();
                text.parse().map_err(S::Error::custom).and_then(|number| float(to, number))
            }
            DataType::Float64 => float(to, array.as_primitive::<arrow::Float64Type>().value(row)),
            DataType::Decimal32(_, scale) => {
                to.serialize_str(&decimal(array.as_primitive::<arrow::Decimal32Type>().value(row).into(), *scale))
            }
            DataType::Decimal64(_, scale) => {
                to.serialize_str(&decimal(array.as_primitive::<arrow::Decimal64Type>().value(row).into(), *scale))
            }
            DataType::Decimal128(_, scale) => {
                let number = array.as_primitive::<arrow::Decimal128Type>().value(row);
                match id {
                    Some(LogicalTypeId::Hugeint) => whole(to, number),
                    Some(LogicalTypeId::UHugeint) if number < 0 => to.collect_str(&number.cast_unsigned()),
                    Some(LogicalTypeId::UHugeint) => whole(to, number),
                    _ => to.serialize_str(&decimal(number, *scale)),
                }
            }
            DataType::Utf8 => to.serialize_str(array.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => to.serialize_str(array.as_string::<i64>().value(row)),
            DataType::Utf8View => to.serialize_str(array.as_string_view().value(row)),
            DataType::Binary => to.serialize_str(&STANDARD.encode(array.as_binary::<i32>().value(row))),
            DataType::LargeBinary => to.serialize_str(&STANDARD.encode(array.as_binary::<i64>().value(row))),
            DataType::FixedSizeBinary(_) => to.serialize_str(&STANDARD.encode(array.as_fixed_size_binary().value(row))),
            DataType::Date32 => match array.as_primitive::<arrow::Date32Type>().value(row) {
                i32::MAX => to.serialize_str("infinity"),
                days if days == -i32::MAX => to.serialize_str("-infinity"),
                days => to.serialize_str(&date(days.into())),
            },
            DataType::Time64(TimeUnit::Microsecond) => {
                to.serialize_str(&time_of_day(array.as_primitive::<arrow::Time64MicrosecondType>().value(row), 6))
            }
            DataType::Time64(_) => {
                to.serialize_str(&time_of_day(array.as_primitive::<arrow::Time64NanosecondType>().value(row), 9))
            }
            DataType::Timestamp(unit, zone) => to.serialize_str(&timestamp(array, row, *unit, zone.is_some())),
            DataType::Interval(IntervalUnit::MonthDayNano) => {
                let interval = array.as_primitive::<arrow::IntervalMonthDayNanoType>().value(row);
                to.serialize_str(&duration(interval.months, interval.days, interval.nanoseconds))
            }
            _ => nested(to, array, row, shape),
        }
    }
}

/// A value that holds others.
fn nested<S: Serializer>(to: S, array: &dyn Array, row: usize, shape: Option<&Shape>) -> Result<S::Ok, S::Error> {
    let child = |index: usize| shape.and_then(|shape| shape.child(index));
    match array.data_type() {
        DataType::List(_) => items(to, &array.as_list::<i32>().value(row), child(0)),
        DataType::LargeList(_) => items(to, &array.as_list::<i64>().value(row), child(0)),
        DataType::FixedSizeList(..) => items(to, &array.as_fixed_size_list().value(row), child(0)),
        DataType::Struct(_) => {
            let fields = array.as_struct();
            let names = fields.column_names();
            // The engine has no name twice, but where none is given: of those fields only the last is told.
            let is_unnamed = names.first().is_some_and(|name| name.is_empty());
            let is_told = |index: usize, name: &str| !is_unnamed || !names.iter().skip(index + 1).any(|it| *it == name);
            let told =
                names.iter().zip(fields.columns()).enumerate().filter(|(index, (name, _))| is_told(*index, name));
            to.collect_map(told.map(|(index, (name, array))| (name, Cell { array, row, shape: child(index) })))
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            let part = |row: usize, index: usize| Cell { array: entries.column(index), row, shape: child(index) };
            let pairs = (0..entries.len()).map(|row| Entry { key: part(row, 0), value: part(row, 1) });
            match child(0).is_some_and(|key| key.id() == LogicalTypeId::Varchar) {
                true => to.collect_map(pairs.map(|entry| (entry.key, entry.value))),
                false => to.collect_seq(pairs),
            }
        }
        DataType::Dictionary(..) => {
            let one = array.slice(row, 1);
            let one = one.as_any_dictionary();
            let row = one.normalized_keys().first().copied().unwrap_or_default();
            Cell { array: one.values(), row, shape: None }.serialize(to)
        }
        DataType::Union(..) => {
            let union = array.as_union();
            let member = usize::try_from(union.type_id(row)).unwrap_or_default();
            Cell { array: &union.value(row), row: 0, shape: child(member) }.serialize(to)
        }
        other => Err(S::Error::custom(other)),
    }
}

fn items<S: Serializer>(to: S, list: &ArrayRef, shape: Option<&Shape>) -> Result<S::Ok, S::Error> {
    to.collect_seq((0..list.len()).map(|row| Cell { array: list, row, shape }))
}

/// An entry of a map whose keys are no texts; with texts the map is an object.
#[derive(Serialize)]
struct Entry<'a> {
    key: Cell<'a>,
    value: Cell<'a>,
}

/// A bit string: the first byte says how many bits of the second are padding.
fn bits(bytes: &[u8]) -> String {
    let padding = bytes.first().copied().unwrap_or_default().into();
    let text: String = bytes.iter().skip(1).map(|byte| format!("{byte:08b}")).collect();
    text.chars().skip(padding).collect()
}

fn whole<S: Serializer>(to: S, number: i128) -> Result<S::Ok, S::Error> {
    match i64::try_from(number) {
        Ok(exact) if number.abs() <= EXACT => to.serialize_i64(exact),
        _ => to.collect_str(&number),
    }
}

fn float<S: Serializer>(to: S, number: f64) -> Result<S::Ok, S::Error> {
    match number {
        number if number.is_finite() => to.serialize_f64(number),
        number if number.is_nan() => to.serialize_str("NaN"),
        number if number > 0.0 => to.serialize_str("Infinity"),
        _ => to.serialize_str("-Infinity"),
    }
}

fn decimal(number: i128, scale: i8) -> String {
    let scale = usize::try_from(scale).unwrap_or(0);
    let digits = format!("{:0>width$}", number.unsigned_abs(), width = scale + 1);
    let (before, after) = digits.split_at(digits.len() - scale);
    let sign = if number < 0 { "-" } else { "" };
    if scale == 0 { format!("{sign}{before}") } else { format!("{sign}{before}.{after}") }
}

/// `2013-01-31` from days since 1970-01-01 in the proleptic Gregorian calendar (Hinnant's algorithm).
fn date(days: i64) -> String {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let sign = if year < 0 { "-" } else { "" };
    format!("{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs())
}

/// `04:05:06.789` from ticks since midnight; `digits` of a second make a tick.
fn time_of_day(ticks: i64, digits: u32) -> String {
    let per_second = 10_i64.pow(digits);
    let (seconds, fraction) = (ticks.div_euclid(per_second), ticks.rem_euclid(per_second));
    let mut text = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if fraction != 0 {
        let digits = format!("{fraction:0width$}", width = digits as usize);
        text = format!("{text}.{}", digits.trim_end_matches('0'));
    }
    text
}

/// RFC 3339; without an offset for local timestamps, `Z` for those with a zone, which the engine keeps in UTC.
fn timestamp(array: &dyn Array, row: usize, unit: TimeUnit, zoned: bool) -> String {
    let (ticks, digits) = match unit {
        TimeUnit::Second => (array.as_primitive::<arrow::TimestampSecondType>().value(row), 0),
        TimeUnit::Millisecond => (array.as_primitive::<arrow::TimestampMillisecondType>().value(row), 3),
        TimeUnit::Microsecond => (array.as_primitive::<arrow::TimestampMicrosecondType>().value(row), 6),
        TimeUnit::Nanosecond => (array.as_primitive::<arrow::TimestampNanosecondType>().value(row), 9),
    };
    if ticks == i64::MAX {
        return "infinity".to_owned();
    }
    if ticks == -i64::MAX {
        return "-infinity".to_owned();
    }
    let per_day = 86_400 * 10_i64.pow(digits);
    let zone = if zoned { "Z" } else { "" };
    format!("{}T{}{zone}", date(ticks.div_euclid(per_day)), time_of_day(ticks.rem_euclid(per_day), digits))
}

const INVERSE_OF_125: i64 = 2_066_035_336_255_469_781;

/// `1 year 2 months 3 days 04:05:06`, as the engine writes intervals.
fn duration(months: i32, days: i32, nanos: i64) -> String {
    let mut parts = Vec::new();
    for (count, unit) in [(months / 12, "year"), (months % 12, "month"), (days, "day")] {
        match count {
            0 => {}
            1 | -1 => parts.push(format!("{count} {unit}")),
            _ => parts.push(format!("{count} {unit}s")),
        }
    }
    if nanos != 0 || parts.is_empty() {
        // The engine counts microseconds; the transport multiplies them by 1000 and lets them overflow, beyond 292
        // years. That is undone by the inverse of 125 modulo 2^64 and a shift by three bits.
        let micros = nanos.wrapping_mul(INVERSE_OF_125) >> 3;
        let sign = if micros < 0 { "-" } else { "" };
        let size = i64::try_from(micros.unsigned_abs()).unwrap_or(i64::MAX);
        parts.push(format!("{sign}{}", time_of_day(size, 6)));
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::Serializer as ToValue;

    use super::*;

    #[test]
    fn whole_numbers_are_numbers_as_long_as_every_reader_is_exact() {
        let whole = |number| whole(ToValue, number).unwrap();
        assert_eq!(whole(9_007_199_254_740_992), json!(9_007_199_254_740_992_i64));
        assert_eq!(whole(9_007_199_254_740_993), json!("9007199254740993"));
        assert_eq!(whole(-9_007_199_254_740_993), json!("-9007199254740993"));
    }

    #[test]
    fn decimals_keep_their_zeros() {
        for (number, scale, text) in [(1, 2, "0.01"), (-150, 2, "-1.50"), (0, 2, "0.00"), (7, 0, "7"), (-5, 1, "-0.5")]
        {
            assert_eq!(decimal(number, scale), text);
        }
    }

    #[test]
    fn dates_are_right_around_leap_days_and_the_epoch() {
        for (days, text) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (15_706, "2013-01-01"),
            (-719_528, "0000-01-01"),
            (-719_529, "-0001-12-31"),
            (-141_427, "1582-10-15"),
        ] {
            assert_eq!(date(days), text);
        }
    }

    #[test]
    fn times_and_intervals_read_as_people_write_them() {
        assert_eq!(time_of_day(14_706_789_000, 6), "04:05:06.789");
        assert_eq!(time_of_day(0, 9), "00:00:00");
        assert_eq!(duration(14, 3, 14_706_000_000_000), "1 year 2 months 3 days 04:05:06");
        assert_eq!(duration(0, 0, 0), "00:00:00");
        assert_eq!(duration(0, 0, -1_500_000_000), "-00:00:01.5");
        let overflown = |micros: i64| duration(0, 0, micros.wrapping_mul(1_000));
        assert_eq!(overflown(9_000_000 * 3_600_000_000), "9000000:00:00");
        assert_eq!(overflown(-9_000_000 * 3_600_000_000), "-9000000:00:00");
    }

    #[test]
    fn no_float_is_lost() {
        let float = |number| float(ToValue, number).unwrap();
        assert_eq!(
            [float(0.5), float(f64::NAN), float(f64::NEG_INFINITY)],
            [json!(0.5), json!("NaN"), json!("-Infinity")]
        );
    }
}
