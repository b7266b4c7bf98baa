//! One statement that counts the values of several columns in ranges of equal width.

use jiff::Timestamp;

use crate::model::profile::ColumnProfile;
use crate::model::source::quoted;

/// Ranges of a column.
pub const BINS: usize = 20;

/// What a range is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    Number,
    /// Seconds since 1970, of days.
    Day,
    /// Seconds since 1970.
    Moment,
}

/// A column from its least value to its greatest.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    pub column: String,
    least: f64,
    greatest: f64,
    scale: Scale,
}

impl Span {
    fn width(&self) -> f64 {
        (self.greatest - self.least) / BINS as f64
    }

    /// Where the ranges begin, and where the last one ends.
    pub fn edges(&self) -> Vec<String> {
        (0..=BINS).map(|at| self.told(self.least + self.width() * at as f64)).collect()
    }

    fn told(&self, value: f64) -> String {
        let moment = || Timestamp::from_second(value.round() as i64).map(|at| at.to_string());
        match self.scale {
            Scale::Number if self.width() >= 1.0 => format!("{value:.0}"),
            Scale::Number => format!("{value:.*}", decimals(self.width())),
            Scale::Day => moment().map(|at| at.chars().take(10).collect()).unwrap_or_default(),
            Scale::Moment => {
                moment().map(|at| at.chars().take(16).collect::<String>().replace('T', " ")).unwrap_or_default()
            }
        }
    }
}

/// Digits after the point that tell ranges of this width apart.
fn decimals(width: f64) -> usize {
    // A width is computed, and may be a little less than the power of ten that it is.
    (1.0 - width.log10() - 1e-9).ceil().clamp(0.0, 12.0) as usize
}

/// The columns that have a least and a greatest value, and more than one.
pub fn spans(columns: &[ColumnProfile]) -> Vec<Span> {
    columns.iter().filter(|column| column.likely_personal_data.is_none()).filter_map(span).collect()
}

fn span(column: &ColumnProfile) -> Option<Span> {
    let kind = column.r#type.to_ascii_uppercase();
    let scale = match kind.as_str() {
        "DATE" => Scale::Day,
        kind if kind.starts_with("TIMESTAMP") => Scale::Moment,
        _ => Scale::Number,
    };
    // Only columns of numbers have a mean; other texts may look like numbers.
    if scale == Scale::Number && column.mean.is_none() {
        return None;
    }
    let read = |text: &Option<String>| match scale {
        Scale::Number => text.as_ref()?.parse::<f64>().ok().filter(|number| number.is_finite()),
        Scale::Day | Scale::Moment => seconds(text.as_ref()?),
    };
    let (least, greatest) = (read(&column.min)?, read(&column.max)?);
    let span = Span { column: column.name.clone(), least, greatest, scale };
    // So near to each other that a range would be nothing beside its edges, they are one value.
    (span.width() > greatest.abs().max(least.abs()) * f64::EPSILON * 16.0).then_some(span)
}

/// As DuckDB writes days and moments: `2013-07-01`, `2013-07-01 10:00:00`, `2013-07-01 10:00:00+00`.
fn seconds(text: &str) -> Option<f64> {
    let text = text.strip_suffix("+00").unwrap_or(text);
    let at: jiff::civil::DateTime =
        text.parse().or_else(|_| text.parse::<jiff::civil::Date>().map(jiff::civil::DateTime::from)).ok()?;
    Some(at.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second() as f64)
}

/// Rows of the number of a span, of a range in it, and of how many values are there.
pub fn statement(table: &str, spans: &[Span]) -> String {
    let counted = spans.iter().enumerate().map(|(at, span)| {
        let column = quoted(&span.column);
        let (value, finite) = match span.scale {
            Scale::Number => (format!("CAST({column} AS DOUBLE)"), format!("isfinite(CAST({column} AS DOUBLE))")),
            Scale::Day | Scale::Moment => (format!("epoch({column})"), format!("isfinite({column})")),
        };
        let last = BINS - 1;
        format!(
            "SELECT {at} AS plot, greatest(0, least({last}, CAST(floor(({value} - {:?}) / {:?}) AS INTEGER))) AS bin, \
             count(*) AS n FROM {} WHERE {column} IS NOT NULL AND {finite} GROUP BY 1, 2",
            span.least,
            span.width(),
            quoted(table)
        )
    });
    counted.collect::<Vec<_>>().join("\nUNION ALL\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, kind: &str, range: (&str, &str), mean: Option<f64>) -> ColumnProfile {
        ColumnProfile {
            name: name.into(),
            r#type: kind.into(),
            nulls: 0,
            distinct: 9,
            min: Some(range.0.into()),
            max: Some(range.1.into()),
            mean,
            median: None,
            not_finite: None,
            top_values: vec![],
            approximate: vec![],
            not_computed: vec![],
            likely_personal_data: None,
        }
    }

    #[test]
    fn numbers_and_times_have_spans_and_texts_have_none() {
        let columns = [
            column("n", "BIGINT", ("0", "40"), Some(3.0)),
            column("one", "BIGINT", ("7", "7"), Some(7.0)),
            column("text", "VARCHAR", ("1", "9"), None),
            column("day", "DATE", ("1970-01-01", "1970-01-21"), None),
            column("at", "TIMESTAMP WITH TIME ZONE", ("1970-01-01 00:00:00+00", "1970-01-01 00:20:00.5+00"), None),
        ];
        let spans = spans(&columns);
        assert_eq!(spans.iter().map(|span| span.column.as_str()).collect::<Vec<_>>(), ["n", "day", "at"]);
        let edges: Vec<Vec<String>> = spans.iter().map(Span::edges).collect();
        assert_eq!((edges[0][0].as_str(), edges[0][1].as_str(), edges[0][20].as_str()), ("0", "2", "40"));
        assert_eq!((edges[1][1].as_str(), edges[2][20].as_str()), ("1970-01-02", "1970-01-01 00:20"));
    }

    #[test]
    fn ranges_that_are_narrow_are_told_apart() {
        let [span] = spans(&[column("x", "DOUBLE", ("0.1", "0.3"), Some(0.2))]).try_into().unwrap();
        let edges = span.edges();
        assert_eq!((edges[0].as_str(), edges[1].as_str(), edges[20].as_str()), ("0.100", "0.110", "0.300"));
    }

    #[test]
    fn a_statement_counts_every_span() {
        let columns =
            [column("a\"b", "DOUBLE", ("0", "10"), Some(1.0)), column("d", "DATE", ("1970-01-01", "1970-01-21"), None)];
        let expected = "SELECT 0 AS plot, greatest(0, least(19, CAST(floor((CAST(\"a\"\"b\" AS DOUBLE) - 0.0) / 0.5) AS \
                        INTEGER))) AS bin, count(*) AS n FROM \"t\" WHERE \"a\"\"b\" IS NOT NULL AND \
                        isfinite(CAST(\"a\"\"b\" AS DOUBLE)) GROUP BY 1, 2\nUNION ALL\nSELECT 1 AS plot, greatest(0, \
                        least(19, CAST(floor((epoch(\"d\") - 0.0) / 86400.0) AS INTEGER))) AS bin, count(*) AS n FROM \
                        \"t\" WHERE \"d\" IS NOT NULL AND isfinite(\"d\") GROUP BY 1, 2";
        assert_eq!(statement("t", &spans(&columns)), expected);
    }
}
