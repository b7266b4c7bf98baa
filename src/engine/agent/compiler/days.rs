//! Days from one date to another.

use crate::engine::ontology::graph::Steps;
use crate::engine::render::nouns::capital;
use crate::model::ontology::{DataType, Field, in_words};
use crate::model::plan::{FieldRef, Grain};
use crate::model::source::text_literal;

use super::error::CompileError;
use super::work::Work;

/// The dataset whose rows each have both dates: that of one of them where each of its rows belongs to at most one row
/// of the other, or else the one that refers to both.
pub(super) fn home(work: &mut Work<'_>, from: &FieldRef, to: &FieldRef) -> Result<usize, CompileError> {
    let (first, begin) = work.field(from)?;
    let (second, end) = work.field(to)?;
    for field in [begin, end] {
        if !field.datatype.is_calendar() {
            return Err(CompileError::WrongType {
                field: field.words(),
                value: "A number of days".into(),
                wants: "it is no date".into(),
            });
        }
    }
    if belongs(work, second, first, from)? {
        return Ok(second);
    }
    if belongs(work, first, second, to)? {
        return Ok(first);
    }
    let mut both = Vec::new();
    for dataset in 0..work.ontology.datasets.len() {
        let near = |other: usize| work.graph.upward(dataset).into_iter().any(|known| known == (other, 1));
        if near(first) && near(second) {
            both.push(dataset);
        }
    }
    match both.as_slice() {
        [one] => Ok(*one),
        _ => {
            let (one, other) = (work.entity(first).noun(), work.entity(second).noun());
            Err(CompileError::FanOut {
                measure: format!("The days from {} to {}", begin.words().to_lowercase(), end.words().to_lowercase()),
                relationship: format!("the {one} and the {other}"),
                instead: format!("a {one} may have several of the other, and none says which date counts"),
            })
        }
    }
}

/// Whether each row of a dataset has at most one of another.
fn belongs(work: &mut Work<'_>, dataset: usize, other: usize, field: &FieldRef) -> Result<bool, CompileError> {
    match work.way(dataset, other, &field.via, Steps::ToOne) {
        Ok(_) => Ok(true),
        Err(CompileError::Unreachable { .. } | CompileError::FanOut { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether both have a time of day, so that the days between them have parts.
pub(super) fn have_parts(work: &Work<'_>, from: &FieldRef, to: &FieldRef) -> bool {
    [from, to].into_iter().all(|at| {
        let known = work.ontology.field(&at.dataset, &at.field);
        known.is_some_and(|field| has_clock(field.datatype))
    })
}

fn has_clock(datatype: DataType) -> bool {
    matches!(datatype, DataType::DateTime | DataType::DateTimeTz)
}

/// The days between two dates that are written already: to the second where both have a time of day, and otherwise, or
/// where whole days are meant, those of the calendar.
pub(super) fn between(
    work: &mut Work<'_>,
    from: (&FieldRef, &str),
    to: (&FieldRef, &str),
) -> Result<String, CompileError> {
    let ((_, begin), (_, end)) = (work.field(from.0)?, work.field(to.0)?);
    if have_parts(work, from.0, to.0) && !work.whole_days {
        // Clocks of UTC are never changed.
        let at = |sql: &str, field: &Field| match field.datatype {
            DataType::DateTimeTz if begin.datatype == end.datatype => Ok(work.dialect.local(sql, &text_literal("UTC"))),
            _ => work.local(sql, field),
        };
        let seconds = work.dialect.seconds(&at(from.1, begin)?, &at(to.1, end)?);
        return Ok(work.dialect.divided(&seconds, "86400.0"));
    }
    if has_clock(begin.datatype) || has_clock(end.datatype) {
        let said = capital(&words(work, from.0, to.0));
        work.note(format!("{said} are those of the calendar: times of the day do not count."));
    }
    let day =
        |sql: &str, field: &Field| Ok::<_, CompileError>(work.dialect.day(&work.grained(sql, field, Grain::Day)?));
    Ok(work.dialect.days(&day(from.1, begin)?, &day(to.1, end)?))
}

/// What people call the days: "days from departure to return".
pub(super) fn words(work: &Work<'_>, from: &FieldRef, to: &FieldRef) -> String {
    let said = |at: &FieldRef| {
        let known = work.ontology.field(&at.dataset, &at.field);
        known.map_or_else(|| in_words(&at.field), Field::words).to_lowercase()
    };
    format!("days from {} to {}", said(from), said(to))
}

#[cfg(test)]
mod tests {
    use super::super::{Compiled, compile};
    use super::*;
    use crate::engine::ontology::graph::Graph;
    use crate::model::ontology::{Aggregation, Entity, Ontology, Relationship};
    use crate::model::plan::{Measure, Plan, Value};
    use crate::model::source::Dialect;

    fn dataset(name: &str, fields: &[(&str, DataType)]) -> Entity {
        let field = |(name, datatype): &(&str, DataType)| Field {
            name: (*name).into(),
            expression: (*name).into(),
            datatype: *datatype,
            ..Field::default()
        };
        Entity {
            name: name.into(),
            source: name.into(),
            primary_key: vec!["id".into()],
            fields: fields.iter().map(field).collect(),
            ..Entity::default()
        }
    }

    fn relationship(from: &str, column: &str, to: &str) -> Relationship {
        Relationship {
            name: format!("{from}_{to}"),
            from: from.into(),
            to: to.into(),
            from_columns: vec![column.into()],
            to_columns: vec!["id".into()],
            ..Relationship::default()
        }
    }

    /// Parcels belong to crates; a visit knows a shop and a guest, which know nothing of each other.
    fn ontology() -> Ontology {
        let mut ontology = Ontology { name: "o".into(), ..Ontology::default() };
        ontology.calendar.timezone = "Europe/Oslo".into();
        ontology.datasets = vec![
            dataset("crates", &[("id", DataType::Integer), ("placed", DataType::Date)]),
            dataset(
                "parcels",
                &[
                    ("id", DataType::Integer),
                    ("sent", DataType::DateTimeTz),
                    ("came", DataType::DateTimeTz),
                    ("signed", DataType::DateTime),
                    ("weight", DataType::Float),
                ],
            ),
            dataset("shops", &[("id", DataType::Integer), ("opened", DataType::Date)]),
            dataset("guests", &[("id", DataType::Integer), ("born", DataType::Date)]),
            dataset("visits", &[("id", DataType::Integer)]),
        ];
        ontology.relationships = vec![
            relationship("parcels", "crate_id", "crates"),
            relationship("visits", "shop_id", "shops"),
            relationship("visits", "guest_id", "guests"),
        ];
        ontology
    }

    fn days(from: (&str, &str), to: (&str, &str), dialect: Dialect) -> Result<Compiled, CompileError> {
        let value = Value::Days {
            function: Aggregation::Avg,
            from: FieldRef::new(from.0, from.1),
            to: FieldRef::new(to.0, to.1),
        };
        let plan = Plan { measures: vec![Measure::of(value)], ..Plan::default() };
        let ontology = ontology();
        compile(&plan, &ontology, &Graph::new(&ontology), dialect, 100)
    }

    #[test]
    fn days_are_those_of_the_rows_that_have_both_dates() {
        for dialect in [Dialect::DuckDb, Dialect::PostgreSql] {
            // Whichever is said first, the rows are parcels, and days are those of the ontology's zone.
            let made = days(("crates", "placed"), ("parcels", "sent"), dialect).unwrap();
            let sql = made.sql.split_whitespace().collect::<Vec<_>>().join(" ");
            let sent = r#"CAST(CAST(("parcels"."sent" AT TIME ZONE 'Europe/Oslo') AS DATE) AS DATE)"#;
            let expected = format!(r#"AVG(({sent} - CAST("crates"."placed" AS DATE)))"#);
            assert!(sql.contains(&expected), "{sql}");
            assert!(sql.contains(r#"FROM "parcels" AS "parcels""#), "{sql}");
            let back = days(("parcels", "sent"), ("crates", "placed"), dialect).unwrap();
            assert!(back.sql.contains(r#"FROM "parcels" AS "parcels""#), "{}", back.sql);
        }
        let made = days(("guests", "born"), ("shops", "opened"), Dialect::DuckDb).unwrap();
        assert!(made.sql.contains(r#"FROM "visits" AS "visits""#), "{}", made.sql);
        assert_eq!(made.columns[0].unit.as_deref(), Some("days"));
    }

    #[test]
    fn times_of_the_day_count_where_both_have_one() {
        for (to, zone, until) in [
            ("came", "UTC", r#"("parcels"."came" AT TIME ZONE 'UTC')"#),
            ("signed", "Europe/Oslo", r#""parcels"."signed""#),
        ] {
            let made = days(("parcels", "sent"), ("parcels", to), Dialect::DuckDb).unwrap();
            let from = format!(r#"("parcels"."sent" AT TIME ZONE '{zone}')"#);
            let expected = format!("AVG((EXTRACT(epoch FROM {until}) - EXTRACT(epoch FROM {from})) / 86400.0)");
            assert!(made.sql.contains(&expected), "{}", made.sql);
            assert!(made.notes.is_empty(), "{:?}", made.notes);
        }
        let made = days(("crates", "placed"), ("parcels", "sent"), Dialect::DuckDb).unwrap();
        let says: Vec<&str> = made.notes.iter().map(|note| note.says.as_str()).collect();
        assert_eq!(says, ["Days from placed to sent are those of the calendar: times of the day do not count."]);
    }

    #[test]
    fn days_need_two_dates_of_one_row() {
        assert!(matches!(
            days(("crates", "placed"), ("parcels", "weight"), Dialect::DuckDb),
            Err(CompileError::WrongType { .. })
        ));
        assert!(matches!(
            days(("crates", "placed"), ("shops", "opened"), Dialect::DuckDb),
            Err(CompileError::FanOut { .. })
        ));
    }
}
