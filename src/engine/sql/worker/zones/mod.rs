//! Times with a zone, without the engine's extension for them.
//!
//! DuckDB leaves nearly everything over `TIMESTAMP WITH TIME ZONE` to its extension `icu`: `AT TIME ZONE`, `+` and `-`
//! with intervals, `date_trunc`, `date_part` and its short forms, `date_diff`, `age`, `time_bucket`, `last_day`, the
//! casts to `DATE` and `TIME`. To build it takes CMake at every build, and 15 MB of the program are then its tables of
//! calendars and collations. Here the same is had from three parts, with the extension's results for the time zone UTC:
//!
//! 1. [`convert`]: `AT TIME ZONE` itself, over the time zone database that `jiff` brings;
//! 2. [`SIGNATURES`]: the extension's other functions are declared, so that the engine resolves names and types as it
//!    would with it. None of them computes;
//! 3. [`mod@resolve`]: before a statement runs, the engine's own plan says where one of those, or a cast that it lacks,
//!    was chosen. There the argument becomes a plain timestamp in UTC, which the engine can do everything with, and the
//!    result becomes a time with a zone again.
//!
//! What remains missing: zones in a text that is not a literal (`'… Europe/Berlin'`), `strptime` with the name of a
//! zone (`%Z`), `time_bucket` with a zone (shift with `AT TIME ZONE` first), `date_part` with a list of parts over times
//! with a zone, window frames of intervals over them, calendars other than the Gregorian, and collations of languages.

mod convert;
mod resolve;

use std::error::Error;
use std::sync::Arc;

use duckdb::Connection;
use duckdb::arrow::array::Array;
use duckdb::arrow::datatypes::{DataType, Field, IntervalUnit, TimeUnit};
use duckdb::arrow::record_batch::RecordBatch;
use duckdb::vscalar::{ArrowFunctionSignature, VArrowScalar};

pub(super) use resolve::{are_read, resolve};

/// Types in [`SIGNATURES`]: a time with a zone, an interval, text, a whole number, a float, a date, and a list of
/// times with a zone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Zoned,
    Interval,
    Text,
    Whole,
    Float,
    Date,
    ZonedList,
}

impl Type {
    fn transport(self) -> DataType {
        match self {
            Self::Zoned => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Self::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
            Self::Text => DataType::Utf8,
            Self::Whole => DataType::Int64,
            Self::Float => DataType::Float64,
            Self::Date => DataType::Date32,
            Self::ZonedList => DataType::List(Arc::new(Field::new("item", Self::Zoned.transport(), true))),
        }
    }
}

use Type::{Date, Float, Interval, Text, Whole, Zoned, ZonedList};

/// Parameters and result of a function.
type Signature = (&'static [Type], Type);

/// What the extension would define: names that share signatures.
const SIGNATURES: [(&[&str], &[Signature]); 15] = [
    (&["+"], &[(&[Zoned, Interval], Zoned), (&[Interval, Zoned], Zoned)]),
    (&["-"], &[(&[Zoned, Interval], Zoned), (&[Zoned, Zoned], Interval)]),
    (&["age"], &[(&[Zoned, Zoned], Interval), (&[Zoned], Interval)]),
    (&["date_trunc", "datetrunc"], &[(&[Text, Zoned], Zoned)]),
    (&["date_part", "datepart"], &[(&[Text, Zoned], Whole)]),
    (&["date_diff", "datediff", "date_sub", "datesub"], &[(&[Text, Zoned, Zoned], Whole)]),
    (
        &["time_bucket"],
        &[(&[Interval, Zoned], Zoned), (&[Interval, Zoned, Interval], Zoned), (&[Interval, Zoned, Zoned], Zoned)],
    ),
    (&["range", "generate_series"], &[(&[Zoned, Zoned, Interval], ZonedList)]),
    (&["last_day"], &[(&[Zoned], Date)]),
    (&["monthname", "dayname"], &[(&[Zoned], Text)]),
    (&["epoch", "julian"], &[(&[Zoned], Float)]),
    (&["era", "year", "isoyear", "decade", "century", "millennium", "quarter", "month", "yearweek"], &[PART]),
    (&["week", "weekofyear", "day", "dayofmonth", "dayofweek", "weekday", "isodow", "dayofyear"], &[PART]),
    (&["hour", "minute", "second", "millisecond", "microsecond"], &[PART]),
    (&["timezone", "timezone_hour", "timezone_minute"], &[PART]),
];

const PART: Signature = (&[Zoned], Whole);

/// What a declared function says when it runs nevertheless.
pub(super) const UNRESOLVED: &str = "not over a time with a zone";

/// Adds the functions to a new instance.
pub(super) fn register(connection: &Connection) -> duckdb::Result<()> {
    connection.register_scalar_function::<convert::AtTimeZone>("timezone")?;
    for ((names, _), declare) in SIGNATURES.iter().zip(DECLARE) {
        for name in *names {
            declare(connection, name)?;
        }
    }
    Ok(())
}

/// One row of [`SIGNATURES`]; the interface wants a type for each.
struct Declared<const ROW: usize>;

const DECLARE: [fn(&Connection, &str) -> duckdb::Result<()>; SIGNATURES.len()] = [
    declare::<0>, declare::<1>, declare::<2>, declare::<3>, declare::<4>, declare::<5>, declare::<6>, declare::<7>,
    declare::<8>, declare::<9>, declare::<10>, declare::<11>, declare::<12>, declare::<13>, declare::<14>,
];

fn declare<const ROW: usize>(connection: &Connection, name: &str) -> duckdb::Result<()> {
    connection.register_scalar_function::<Declared<ROW>>(name)
}

impl<const ROW: usize> VArrowScalar for Declared<ROW> {
    type State = ();

    fn invoke((): &(), _: RecordBatch) -> Result<Arc<dyn Array>, Box<dyn Error>> {
        Err(UNRESOLVED.into())
    }

    fn signatures() -> Vec<ArrowFunctionSignature> {
        let made = SIGNATURES[const { ROW }].1.iter().map(|(parameters, result)| {
            let parameters = parameters.iter().map(|parameter| parameter.transport()).collect();
            ArrowFunctionSignature::exact(parameters, result.transport())
        });
        made.collect()
    }
}
