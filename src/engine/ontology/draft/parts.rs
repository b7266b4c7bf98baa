//! Dates in three columns: year, month and day. Their names say where there may be one; all rows together, read by the
//! engine, say whether there is.

use crate::engine::ontology::draft::DraftTable;
use crate::engine::ontology::draft::fields::words;
use crate::engine::ontology::draft::vocabulary::Vocabulary;
use crate::engine::ontology::read::datatype_of;
use crate::model::ontology::DataType;
use crate::model::source::quoted;

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
        let find = |name: &str| {
            let (column, _) = table.columns.iter().zip(&words).find(|(_, words)| **words == [name])?;
            (datatype_of(&column.r#type) == DataType::Integer).then(|| column.name.clone())
        };
        Some(PartsCandidate { table: table.name.clone(), columns: [find("year")?, find("month")?, find("day")?] })
    };
    // Only the service's own engine reads what may be no date without failing.
    tables.iter().filter(|table| table.place.is_none()).filter_map(candidate).collect()
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
