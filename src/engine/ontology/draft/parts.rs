//! Dates in three columns: year, month and day; and in two: a month or quarter of a year, by its first day. Their names
//! say where there may be one; all rows together, read by the engine, say whether there is.

use crate::engine::ontology::draft::fields::{has_time, made_date, words};
use crate::engine::ontology::draft::vocabulary::Vocabulary;
use crate::engine::ontology::draft::{DraftTable, identifier};
use crate::engine::ontology::read::datatype_of;
use crate::model::ontology::{DataType, Field};
use crate::model::source::quoted;

/// What columns of a year and of its part are called, and how many months the part has.
const PERIODS: &[(&str, &str, i64)] = &[
    ("year", "month", 1),
    ("year", "quarter", 3),
    ("year", "qtr", 3),
    ("fiscal year", "quarter", 3),
    ("fiscal year", "fiscal quarter", 3),
];
/// What the first day of a month or quarter is called, the first of them that no column is called.
const FIRST_DAY: &[&str] = &["date", "period", "first_day"];

/// Columns that may hold the parts of a date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartsCandidate {
    pub table: String,
    /// For year, month and day.
    pub columns: [String; 3],
}

/// The tables that have a number for the year, one for the month and one for the day.
pub fn parts_candidates(tables: &[DraftTable]) -> Vec<PartsCandidate> {
    let vocabulary = Vocabulary::new(tables);
    let candidate = |table: &DraftTable| {
        let words = words(table, &vocabulary);
        let find = |name: &str| number_called(table, &words, name);
        Some(PartsCandidate { table: table.name.clone(), columns: [find("year")?, find("month")?, find("day")?] })
    };
    // Only the service's own engine reads what may be no date without failing.
    tables.iter().filter(|table| table.place.is_none()).filter_map(candidate).collect()
}

/// Columns that may hold a year, and a month or quarter of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Period {
    pub table: String,
    year: String,
    part: String,
    /// How many the part has: 1 or 3.
    months: i64,
    /// Whether the year is a fiscal one, of which nobody says when it begins.
    fiscal: bool,
}

/// The tables that have a number for the year and one for the month, or for the quarter.
pub fn periods(tables: &[DraftTable]) -> Vec<Period> {
    let vocabulary = Vocabulary::new(tables);
    let period = |table: &DraftTable| {
        let words = words(table, &vocabulary);
        let find = |name: &str| number_called(table, &words, name);
        PERIODS.iter().find_map(|(year, part, months)| {
            let fiscal = year.starts_with("fiscal");
            Some(Period { table: table.name.clone(), year: find(year)?, part: find(part)?, months: *months, fiscal })
        })
    };
    tables.iter().filter_map(period).collect()
}

/// The column of whole numbers with these words for its name.
fn number_called(table: &DraftTable, words: &[Vec<String>], name: &str) -> Option<String> {
    let (column, _) = table.columns.iter().zip(words).find(|(_, words)| words.join(" ") == name)?;
    (datatype_of(&column.r#type) == DataType::Integer).then(|| column.name.clone())
}

impl Period {
    /// The question in words.
    pub(super) fn said(&self) -> String {
        format!("whether {} and {} of {} make a date", self.year, self.part, self.table)
    }

    /// How many rows have a year or a part of it that there is not; 0 when none has.
    pub fn sql(&self) -> String {
        let [year, part] = [&self.year, &self.part].map(|name| quoted(name));
        format!(
            "SELECT count(*) AS against FROM {} WHERE NOT ({year} BETWEEN 1 AND 9999 AND {part} BETWEEN 1 AND {})",
            quoted(&self.table),
            12 / self.months
        )
    }

    /// The first day of it, where no other field is a time of the row.
    pub(super) fn field(&self, fields: &[Field], words: &[Vec<String>], zoned: bool) -> Option<Field> {
        let is_free = |name: &&&str| !fields.iter().any(|field| field.name.eq_ignore_ascii_case(name));
        let name = FIRST_DAY.iter().find(is_free).filter(|_| !has_time(fields, words, zoned))?;
        let (year, part) = (identifier(&self.year), identifier(&self.part));
        let (unit, month) = match self.months {
            1 => ("month", part),
            months => ("quarter", format!("{part} * {months} - {}", months - 1)),
        };
        let empty = |field: &Field| [&self.year, &self.part].contains(&&field.name) && field.nullable == Some(true);
        Some(Field {
            expression: format!("MAKE_DATE(CAST({year} AS INTEGER), CAST({month} AS INTEGER), 1)"),
            description: format!("The first day of the {unit}, made of {} and {}.", self.year, self.part),
            nullable: Some(fields.iter().any(empty)),
            ..made_date((*name).to_owned(), &name.replace('_', " "))
        })
    }

    /// What to know of the date that is made of it.
    pub(super) fn note(&self) -> Option<String> {
        let Self { table, year, .. } = self;
        self.fiscal.then(|| {
            format!("The dates of {table} take {year} for a calendar year: correct them where it begins otherwise.")
        })
    }
}

impl PartsCandidate {
    /// The question in words.
    pub(super) fn said(&self) -> String {
        format!("whether {} of {} make a date", self.columns.join(", "), self.table)
    }

    /// How many rows have all three parts and no date; 0 when all are dates.
    pub fn sql(&self) -> String {
        let [year, month, day] = self.columns.each_ref().map(|name| quoted(name));
        let text =
            format!("CAST({year} AS VARCHAR) || '-' || CAST({month} AS VARCHAR) || '-' || CAST({day} AS VARCHAR)");
        format!(
            "SELECT count(*) AS against FROM {} WHERE {year} IS NOT NULL AND {month} IS NOT NULL AND {day} IS NOT NULL \
             AND try_strptime({text}, '%Y-%m-%d') IS NULL",
            quoted(&self.table)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::dataset::ColumnInfo;

    fn births(columns: &[(&str, &str)]) -> DraftTable {
        let column = |(name, r#type): &(&str, &str)| ColumnInfo {
            name: (*name).to_owned(),
            r#type: (*r#type).to_owned(),
            ..ColumnInfo::default()
        };
        DraftTable { name: "births".into(), columns: columns.iter().map(column).collect(), ..DraftTable::default() }
    }

    #[test]
    fn months_and_quarters_are_asked_for_by_their_names() {
        let of = |columns: &[(&str, &str)]| periods(&[births(columns)]).first().map(Period::sql);
        let asked = |year: &str, part: &str, most: u8| {
            Some(format!(
                "SELECT count(*) AS against FROM \"births\" WHERE NOT (\"{year}\" BETWEEN 1 AND 9999 AND \"{part}\" \
                 BETWEEN 1 AND {most})"
            ))
        };
        assert_eq!(of(&[("month", "INTEGER"), ("Year", "BIGINT"), ("quarter", "BIGINT")]), asked("Year", "month", 12));
        assert_eq!(of(&[("fiscal_year", "INTEGER"), ("quarter", "BIGINT")]), asked("fiscal_year", "quarter", 4));
        for none in [&[("year", "BIGINT"), ("month", "VARCHAR")][..], &[("fiscal_year", "BIGINT"), ("month", "BIGINT")]]
        {
            assert_eq!(of(none), None, "{none:?}");
        }
    }

    #[test]
    fn parts_of_dates_are_asked_for_by_their_names() {
        let whole = [("state", "VARCHAR"), ("year", "BIGINT"), ("month", "BIGINT"), ("day", "BIGINT")];
        let table = births(&whole);
        let open = parts_candidates(std::slice::from_ref(&table));
        assert_eq!(
            open,
            [PartsCandidate { table: "births".into(), columns: ["year", "month", "day"].map(Into::into) }]
        );
        assert_eq!(
            open[0].sql(),
            "SELECT count(*) AS against FROM \"births\" WHERE \"year\" IS NOT NULL AND \"month\" IS NOT NULL AND \
             \"day\" IS NOT NULL AND try_strptime(CAST(\"year\" AS VARCHAR) || '-' || CAST(\"month\" AS VARCHAR) || \
             '-' || CAST(\"day\" AS VARCHAR), '%Y-%m-%d') IS NULL"
        );
        for none in [
            births(&whole[..3]),
            births(&[("year", "BIGINT"), ("month", "VARCHAR"), ("day", "BIGINT")]),
            DraftTable { place: Some("registry".into()), ..table },
        ] {
            assert!(parts_candidates(std::slice::from_ref(&none)).is_empty(), "{none:?}");
        }
    }
}
