//! What the engines write differently: each in a method of its dialect, for statements that are made of plans, for the
//! comparison of an ontology with its data, and for the ontology's own expressions (`expression/write.rs`). Whatever
//! else is written for them means the same in each.
//!
//! ClickHouse means it under the settings that its statements end with ([`Dialect::ending`]). Its moments are all
//! instants: what clocks show is held as the instant at which clocks of UTC show it.

use jiff::Zoned;
use jiff::tz::TimeZone;

use crate::model::ontology::{Aggregation, DataType};
use crate::model::plan::Pattern;
use crate::model::source::{Dialect, quoted};

use Dialect::{ClickHouse, DuckDb, PostgreSql};

/// What has no words in an engine, as a sentence that says what to do instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritten(pub String);

impl From<Unwritten> for String {
    fn from(Unwritten(says): Unwritten) -> Self {
        says
    }
}

/// What cannot be said in ClickHouse, and what to do instead.
const NOT_IN_CLICKHOUSE: [(&str, &str); 4] = [
    ("AGE", "write DATE_DIFF('day', from, to)"),
    ("CHR", "write the character itself as a text"),
    ("REGEXP_REPLACE with flags other than g", "write the flags into the pattern: (?i)"),
    ("a time of day without a day", "compare hours: EXTRACT(hour FROM …)"),
];

/// One of what cannot be said in ClickHouse, by how its name begins.
pub(super) fn not_in_clickhouse(begins: &str) -> Unwritten {
    let known = NOT_IN_CLICKHOUSE.iter().find(|(what, _)| what.starts_with(begins));
    let (what, instead) = known.copied().unwrap_or((begins, "ask it in SQL with dragoman_sql"));
    Unwritten(format!("tables in ClickHouse have nothing for {what}: {instead}"))
}

/// How it is asked whether any row of a sub-query belongs to the row outside.
pub struct Belonging {
    /// Before the brackets of the sub-query.
    pub before: String,
    /// Its columns.
    pub select: String,
    /// The first of its conditions.
    pub condition: Option<String>,
    /// Behind its brackets.
    pub after: &'static str,
}

/// Texts, numbers and conditions.
impl Dialect {
    /// The name of a column of the result: ClickHouse's judge reads plain ones only.
    pub fn alias(self, heading: &str) -> String {
        match self {
            DuckDb | PostgreSql => heading.to_owned(),
            ClickHouse => heading.replace(|c: char| !c.is_alphanumeric() && !" _-$%#/()&+:".contains(c), "_"),
        }
    }

    /// A quotient that is exact, and NULL where the divisor is 0.
    pub fn quotient(self, over: &str, under: &str) -> String {
        format!("({})", self.divided(over, &format!("NULLIF({under}, 0)")))
    }

    /// The same without brackets, of a divisor that is never 0.
    pub fn divided(self, over: &str, under: &str) -> String {
        match self {
            DuckDb => format!("{over} / {under}"),
            // PostgreSQL would cut quotients of whole numbers, and ClickHouse those of decimal ones.
            PostgreSql | ClickHouse => format!("1.0 * {over} / {under}"),
        }
    }

    /// An aggregate of one expression.
    pub fn aggregate(self, function: Aggregation, of: &str) -> String {
        match function {
            Aggregation::Sum => format!("SUM({of})"),
            Aggregation::Avg => format!("AVG({of})"),
            Aggregation::Median => self.quantile("0.5", of, "").unwrap_or_else(|| format!("MEDIAN({of})")),
            Aggregation::Min => format!("MIN({of})"),
            Aggregation::Max => format!("MAX({of})"),
            Aggregation::Count => format!("COUNT({of})"),
            Aggregation::CountDistinct => format!("COUNT(DISTINCT {of})"),
            Aggregation::Stddev => self.spread("stddev_samp", of, "").unwrap_or_else(|| format!("STDDEV_SAMP({of})")),
        }
    }

    /// The value below which a part of all is, in between where it falls between two; `filter` is a FILTER. `None` where
    /// the engine has what expressions write.
    pub fn quantile(self, part: &str, of: &str, filter: &str) -> Option<String> {
        match self {
            DuckDb => None,
            PostgreSql => Some(format!("PERCENTILE_CONT({part}) WITHIN GROUP (ORDER BY {of}){filter}")),
            ClickHouse => Some(format!("quantileExactInclusive({part})(1.0 * ({of})){filter}")),
        }
    }

    /// A spread of a sample, which one value alone does not have. `None` where the engine has what expressions write.
    pub fn spread(self, function: &str, of: &str, filter: &str) -> Option<String> {
        match self {
            DuckDb | PostgreSql => None,
            // Those of its functions that do not lose the differences of large numbers.
            ClickHouse => {
                let stable = if function.starts_with("std") { "stddevSampStable" } else { "varSampStable" };
                Some(format!("if(COUNT({of}){filter} > 1, {stable}({of}){filter}, NULL)"))
            }
        }
    }

    /// Whether two values are the same, NULL being the same as NULL. PostgreSQL can only look up equality.
    pub fn same(self, left: &str, right: &str) -> String {
        match self {
            PostgreSql => format!(
                "COALESCE(CAST({left} AS TEXT), '') = COALESCE(CAST({right} AS TEXT), '') AND {left} IS NOT DISTINCT FROM {right}"
            ),
            DuckDb => format!("{left} IS NOT DISTINCT FROM {right}"),
            ClickHouse => format!("isNotDistinctFrom({left}, {right})"),
        }
    }

    /// Whether two values differ, NULL being the same as NULL. To ClickHouse's judge a FROM is one that reads tables.
    pub fn differs(self, left: &str, right: &str) -> String {
        match self {
            DuckDb | PostgreSql => format!("{left} IS DISTINCT FROM {right}"),
            ClickHouse => format!("isDistinctFrom({left}, {right})"),
        }
    }

    /// Whether a value is one of some. ClickHouse would compare decimal numbers in a list otherwise than with `=`.
    pub fn among(self, sql: &str, values: &[String]) -> String {
        let is_exact = |value: &String| value.starts_with('\'') || !value.contains(['.', 'e', '(']);
        if self == ClickHouse && !values.iter().all(is_exact) {
            let each: Vec<String> = values.iter().map(|value| format!("{sql} = {value}")).collect();
            return format!("({})", each.join(" OR "));
        }
        format!("{sql} IN ({})", values.join(", "))
    }

    /// Whether a text is in another, without regard to case.
    pub fn like(self, sql: &str, pattern: Pattern, part: &str) -> String {
        let escape = if self == ClickHouse { '\\' } else { '!' };
        let mut escaped = String::new();
        for c in part.chars().filter(|c| *c != '\u{0}') {
            if c == escape || c == '%' || c == '_' {
                escaped.push(escape);
            }
            escaped.push(c);
        }
        let pattern = self.text(&match pattern {
            Pattern::Contains => format!("%{escaped}%"),
            Pattern::StartsWith => format!("{escaped}%"),
            Pattern::EndsWith => format!("%{escaped}"),
        });
        match self {
            DuckDb | PostgreSql => format!("{sql} ILIKE {pattern} ESCAPE '!'"),
            // Also of an enumeration or a UUID, which are texts in ontologies.
            ClickHouse => format!("toString({sql}) ILIKE {pattern}"),
        }
    }
}

/// Rows.
impl Dialect {
    /// Whether a sub-query has a row whose columns are equal to those of the row outside (theirs first). Not every
    /// ClickHouse lets a sub-query name what is outside.
    pub fn belonging(self, on: &[(String, String)]) -> Belonging {
        let (theirs, ours): (Vec<&str>, Vec<&str>) = on.iter().map(|(left, right)| (&**left, &**right)).unzip();
        match self {
            DuckDb | PostgreSql => {
                let equal: Vec<String> = on.iter().map(|(left, right)| format!("{left} = {right}")).collect();
                let (before, select) = ("EXISTS ".to_owned(), "1".to_owned());
                Belonging { before, select, condition: Some(equal.join(" AND ")), after: "" }
            }
            ClickHouse => Belonging {
                before: format!("COALESCE(({}) IN ", ours.join(", ")),
                select: theirs.join(", "),
                condition: None,
                after: ", FALSE)",
            },
        }
    }

    /// A SELECT of all groups that are in any of some parts of a statement. ClickHouse's judge lets no UNION see parts.
    pub fn all_groups(self, columns: &[String], parts: &[&str]) -> String {
        let of = |part: &str, column: &str| format!("{}.{}", quoted(part), quoted(column));
        if self != ClickHouse {
            let columns = columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
            let selects: Vec<String> =
                parts.iter().map(|part| format!("SELECT {columns} FROM {}", quoted(part))).collect();
            return selects.join("\nUNION\n");
        }
        let known = |column: &str, parts: &[&str]| match parts {
            [part] => of(part, column),
            parts => {
                format!("COALESCE({})", parts.iter().map(|part| of(part, column)).collect::<Vec<_>>().join(", "))
            }
        };
        let mut from = String::new();
        for (at, part) in parts.iter().enumerate() {
            let (before, _) = parts.split_at(at);
            let on = columns.iter().map(|name| self.same(&known(name, before), &of(part, name)));
            from += &match at {
                0 => quoted(part),
                _ => format!("\nFULL JOIN {} ON {}", quoted(part), on.collect::<Vec<_>>().join(" AND ")),
            };
        }
        let select: Vec<String> =
            columns.iter().map(|name| format!("{} AS {}", known(name, parts), quoted(name))).collect();
        format!("SELECT {}\nFROM {from}", select.join(", "))
    }

    /// Some values as rows of one column, to stand in FROM. `None` where the engine's judge lets no rows be made.
    pub fn listed(self, values: &[String], name: &str, column: &str) -> Option<String> {
        let rows = values.iter().map(|value| format!("({value})")).collect::<Vec<_>>().join(", ");
        match self {
            DuckDb | PostgreSql => Some(format!("(VALUES {rows}) AS {}({})", quoted(name), quoted(column))),
            ClickHouse => None,
        }
    }

    /// How many different rows of some columns there are, none of them NULL: `filled` says that.
    pub fn distinct(self, columns: &[String], filled: &str) -> String {
        let all = columns.join(", ");
        match (self, columns) {
            (_, [_]) | (ClickHouse, _) => format!("COUNT(DISTINCT {all})"),
            // They are counted as one row value.
            _ => format!("COUNT(DISTINCT CASE WHEN {filled} THEN ({all}) END)"),
        }
    }

    /// The value of the row before.
    pub fn before(self, sql: &str, along: &str) -> String {
        match self {
            DuckDb | PostgreSql => format!("LAG({sql}) OVER ({along})"),
            // What is never NULL would be 0 before the first row.
            ClickHouse => format!("LAG(toNullable({sql})) OVER ({along})"),
        }
    }

    /// A column of the result, as readers of the other engines' results know its type.
    pub fn shown(self, sql: &str, datatype: DataType) -> String {
        match (self, datatype) {
            (ClickHouse, DataType::DateTime) => format!("formatDateTime({sql}, '%Y-%m-%dT%H:%i:%S')"),
            (ClickHouse, DataType::Boolean) => format!("toBool({sql})"),
            (ClickHouse, DataType::String) => format!("toString({sql})"),
            _ => sql.to_owned(),
        }
    }
}

/// Times.
impl Dialect {
    /// A day as it is written.
    pub fn day_literal(self, day: &str) -> String {
        match self {
            DuckDb | PostgreSql => format!("DATE '{day}'"),
            ClickHouse => format!("toDate32('{day}')"),
        }
    }

    /// What clocks show, as `2024-01-31 10:00:00`.
    pub fn civil_literal(self, at: &str) -> String {
        match self {
            DuckDb | PostgreSql => format!("TIMESTAMP '{at}'"),
            // The narrow type where it holds the time: an index is of use, and lists can be searched.
            ClickHouse if ("1970-01-02".."2106").contains(&at) => format!("toDateTime('{at}', 'UTC')"),
            ClickHouse => format!("toDateTime64('{at}', 6, 'UTC')"),
        }
    }

    pub fn instant_literal(self, at: &Zoned) -> String {
        match self {
            DuckDb | PostgreSql => format!("TIMESTAMPTZ '{}'", at.strftime("%Y-%m-%dT%H:%M:%S%:z")),
            ClickHouse => {
                self.civil_literal(&at.with_time_zone(TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S").to_string())
            }
        }
    }

    /// A time of day.
    pub fn clock_literal(self, at: &str) -> Result<String, Unwritten> {
        match self {
            DuckDb | PostgreSql => Ok(format!("TIME '{at}'")),
            ClickHouse => Err(not_in_clickhouse("a time of day")),
        }
    }

    /// An instant as what clocks of a zone show then; `zone` is SQL.
    pub fn local(self, instant: &str, zone: &str) -> String {
        match self {
            DuckDb | PostgreSql => format!("({instant} AT TIME ZONE {zone})"),
            ClickHouse => {
                format!("addSeconds(toTimeZone({instant}, 'UTC'), timezoneOffset(toTimeZone({instant}, {zone})))")
            }
        }
    }

    /// A civil time as the instant that it is in a zone; `zone` is SQL.
    pub fn instant(self, local: &str, zone: &str) -> String {
        match self {
            DuckDb | PostgreSql => format!("(CAST({local} AS TIMESTAMP) AT TIME ZONE {zone})"),
            ClickHouse => format!("toDateTime64(toString({local}), 6, {zone})"),
        }
    }

    /// The day of a time.
    pub fn day(self, sql: &str) -> String {
        match self {
            DuckDb | PostgreSql => format!("CAST({sql} AS DATE)"),
            ClickHouse => format!("toDate32({sql})"),
        }
    }

    /// The days from one day to another.
    pub fn days(self, from: &str, to: &str) -> String {
        match self {
            DuckDb | PostgreSql => format!("({to} - {from})"),
            ClickHouse => format!("date_diff('day', {from}, {to})"),
        }
    }

    /// The seconds from one time to another, both with the time of day.
    pub fn seconds(self, from: &str, to: &str) -> String {
        match self {
            DuckDb | PostgreSql => format!("(EXTRACT(epoch FROM {to}) - EXTRACT(epoch FROM {from}))"),
            ClickHouse => format!("date_diff('second', {from}, {to})"),
        }
    }

    /// The first day of the unit of a time; units begin later than the engine's by some days or months.
    pub fn first_day(self, unit: &str, local: &str, shift: i64, of: &str) -> String {
        let at = match self {
            DuckDb | PostgreSql => format!("CAST({local} AS TIMESTAMP)"),
            ClickHouse => self.day(local),
        };
        if shift == 0 {
            return self.day(&format!("date_trunc('{unit}', {at})"));
        }
        let interval = format!("INTERVAL '{shift} {of}'");
        self.day(&format!("date_trunc('{unit}', {at} - {interval}) + {interval}"))
    }

    /// A part of a time as a number; the name of the part in small letters.
    pub fn part(self, part: &str, of: &str) -> String {
        let function = match (self, part) {
            (ClickHouse, "year") => "toYear",
            (ClickHouse, "quarter") => "toQuarter",
            (ClickHouse, "month") => "toMonth",
            (ClickHouse, "week") => "toISOWeek",
            (ClickHouse, "isoyear") => "toISOYear",
            (ClickHouse, "doy") => "toDayOfYear",
            (ClickHouse, "day") => "toDayOfMonth",
            (ClickHouse, "isodow") => "toDayOfWeek",
            (ClickHouse, "dow") => return format!("(toDayOfWeek({of}) % 7)"),
            (ClickHouse, "hour") => "toHour",
            (ClickHouse, "minute") => "toMinute",
            (ClickHouse, "second") => "toSecond",
            (ClickHouse, "epoch") => "toUnixTimestamp",
            _ => return format!("EXTRACT({part} FROM {of})"),
        };
        format!("{function}({of})")
    }
}
