//! Days from one date to another.

use crate::engine::ontology::graph::Steps;
use crate::model::ontology::{Field, in_words};
use crate::model::plan::{FieldRef, Grain};

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

/// The days between two dates that are written already.
pub(super) fn between(work: &Work<'_>, from: (&FieldRef, &str), to: (&FieldRef, &str)) -> Result<String, CompileError> {
    let day = |(reference, sql): (&FieldRef, &str)| {
        let (_, field) = work.field(reference)?;
        Ok::<_, CompileError>(work.dialect.day(&work.grained(sql, field, Grain::Day)?))
    };
    Ok(work.dialect.days(&day(from)?, &day(to)?))
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
    use crate::model::ontology::{
        Aggregation, Cardinality, Confidence, DataType, Entity, Field, Ontology, Relationship,
    };
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
            ai: Default::default(),
            role: None,
            cardinality: Cardinality::ManyToOne,
            optional: false,
            preferred: false,
            confidence: Confidence::Declared,
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
                &[("id", DataType::Integer), ("sent", DataType::DateTimeTz), ("weight", DataType::Float)],
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
