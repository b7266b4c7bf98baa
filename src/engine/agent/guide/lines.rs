//! One line for each thing of an ontology, as long as there is room for.

use std::collections::HashMap;

use jiff::civil::Date;

use crate::engine::agent::near::known;
use crate::engine::agent::planner::FieldValues;
pub(super) use crate::engine::agent::query::name;
use crate::engine::ontology::expression::{Reference, Scalar};
use crate::engine::ontology::visible::is_open;
use crate::model::ontology::{
    Aggregation, DataType, Entity, Field, FieldRole, Metric, Ontology, Relationship, Segment, in_words,
};
use crate::model::personal::is_personal;
use crate::model::source::{Dialect, text_literal};

/// The longest stored value that is shown, in characters: a part of one is no value.
const LONGEST_VALUE: usize = 60;

/// An ontology as a caller sees it, with what is known of its data.
pub(super) struct Sight<'a> {
    pub ontology: &'a Ontology,
    pub values: &'a [FieldValues],
    /// By dataset in lower case: the first and the last day of its default time.
    pub extents: HashMap<String, (Date, Date)>,
    /// Of the engine that its tables are in.
    pub dialect: Dialect,
}

impl Sight<'_> {
    /// The datasets that people are offered.
    pub(super) fn datasets(&self) -> impl Iterator<Item = &Entity> {
        self.ontology.datasets.iter().filter(|entity| !entity.hidden)
    }

    /// What is known of the values of a field. Of one that holds personal data nothing is told.
    pub(super) fn told_values(&self, entity: &Entity, field: &Field) -> Option<&FieldValues> {
        known(self.values, entity, field).filter(|_| !is_personal(field))
    }
}

/// How much is said of each thing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detail {
    /// Characters of a description.
    pub about: usize,
    pub synonyms: usize,
    /// Stored values of a field.
    pub values: usize,
    /// Whether fields have lines of their own; otherwise they are named in one.
    pub fields: bool,
}

pub(super) const FULL: Detail = Detail { about: 240, synonyms: 8, values: 12, fields: true };
pub(super) const BRIEF: Detail = Detail { about: 100, synonyms: 3, values: 5, fields: true };
pub(super) const NAMES: Detail = Detail { about: 60, synonyms: 0, values: 0, fields: false };

/// A stored value as expressions have it.
pub(super) fn literal(value: &str, datatype: DataType) -> String {
    let bare = datatype.is_number() && value.parse::<f64>().is_ok() || datatype == DataType::Boolean;
    if bare { value.to_owned() } else { text_literal(value) }
}

pub(super) fn metric(metric: &Metric, on: &Ontology, detail: &Detail) -> String {
    let mut line = name(&metric.name);
    let filters_open = metric.filters.iter().all(|filter| shows(filter, on));
    if detail.fields && is_open(metric, on) && filters_open {
        line += &format!(" = {}", one_line(&metric.expression, 2 * detail.about));
        if !metric.filters.is_empty() {
            line += &format!(" where {}", metric.filters.join(" and "));
        }
    }
    if let Some(unit) = metric.unit.as_ref().filter(|_| detail.fields) {
        line += &format!(" [{unit}]");
    }
    about(&mut line, &metric.description, detail);
    let time = metric.default_time_field.as_ref().filter(|time| detail.fields && is_seen(time, on));
    if let Some(time) = time {
        line += &format!("; time {time}");
    }
    also(&mut line, &metric.ai.synonyms, detail);
    line
}

pub(super) fn segment(segment: &Segment, on: &Ontology, detail: &Detail) -> String {
    let mut line = format!("{:?} of {}", segment.name, segment.datasets.join(", "));
    if detail.fields && shows(&segment.expression, on) {
        line += &format!(": {}", one_line(&segment.expression, detail.about));
    }
    also(&mut line, &segment.synonyms, detail);
    line
}

pub(super) fn dataset(entity: &Entity, sight: &Sight<'_>, detail: &Detail) -> String {
    let mut line = name(&entity.name);
    let seen = |field: &&String| entity.field(field).is_some_and(|field| !field.hidden);
    if detail.fields {
        if let Some(grain) = entity.grain.as_ref().filter(|grain| !grain.eq_ignore_ascii_case(&in_words(&entity.name)))
        {
            line += &format!("; one row is one {grain}");
        }
        if let Some(label) = entity.label_field.as_ref().filter(seen) {
            line += &format!("; called by {label}");
        }
    }
    if let Some(time) = entity.default_time_field.as_ref().filter(seen) {
        line += &format!("; time {time}");
        if let Some((first, last)) = sight.extents.get(&entity.name.to_lowercase()) {
            line += &format!(", {first} to {last}");
        }
    }
    about(&mut line, &entity.description, detail);
    also(&mut line, &entity.ai.synonyms, detail);
    line
}

pub(super) fn field(entity: &Entity, field: &Field, sight: &Sight<'_>, detail: &Detail) -> String {
    let mut line = format!("{} {}", name(&field.name), datatype(field.datatype));
    let words = in_words(&field.name);
    if !field.label.is_empty() && !field.label.eq_ignore_ascii_case(&words) && field.description.is_empty() {
        line += &format!(" ({})", one_line(&field.label, detail.about));
    }
    if let Some(unit) = &field.unit {
        line += &format!(" [{unit}]");
    }
    if field.role == FieldRole::Key {
        line += " key";
    }
    let summed = field.default_aggregation.filter(|_| field.role == FieldRole::Measure);
    if let Some(function) = summed {
        line += &format!(" {}", aggregation(function));
    }
    if is_personal(field) {
        line += " personal";
    }
    about(&mut line, &field.description, detail);
    if let Some(values) = values(entity, field, sight, detail.values) {
        line += &format!("; {values}");
    }
    also(&mut line, &field.ai.synonyms, detail);
    line
}

/// The stored values that are shown of a field: all of a few, or the first of many.
fn values(entity: &Entity, field: &Field, sight: &Sight<'_>, most: usize) -> Option<String> {
    if most == 0 || is_personal(field) {
        return None;
    }
    let shown = |value: &String| {
        let called = field.value_synonyms.get(value).and_then(|called| called.first());
        let called = called.map(|called| format!(" ({})", one_line(called, LONGEST_VALUE))).unwrap_or_default();
        format!("{}{called}", literal(value, field.datatype))
    };
    let short = |value: &&String| value.chars().count() <= LONGEST_VALUE && !value.contains(char::is_control);
    let Some(known) = sight.told_values(entity, field) else {
        let named: Vec<String> = field.value_synonyms.keys().filter(short).take(most).map(shown).collect();
        return (!named.is_empty()).then(|| format!("e.g. {}", named.join(", ")));
    };
    let fitting: Vec<&String> = known.values.iter().filter(short).collect();
    if known.complete && known.values.len() <= most && fitting.len() == known.values.len() {
        let all: Vec<String> = fitting.into_iter().map(shown).collect();
        return (!all.is_empty()).then(|| format!("one of {}", all.join(", ")));
    }
    let first = if field.is_enum { most } else { most.min(3) };
    let some: Vec<String> = fitting.into_iter().take(first).map(shown).collect();
    let of_all = if known.complete { format!(" of {}", known.values.len()) } else { String::new() };
    (!some.is_empty()).then(|| format!("e.g. {}{of_all}", some.join(", ")))
}

pub(super) fn relationship(one: &Relationship, on: &Ontology, detail: &Detail) -> String {
    let mut line = format!("{} to {}", name(&one.from), name(&one.to));
    let entity = on.entity(&one.to);
    let seen = |field: &&String| is_seen(&format!("{}.{field}", one.to), on);
    let label = entity.and_then(|entity| entity.label_field.iter().chain(&entity.primary_key).find(seen));
    let field = format!("{}.{}", name(&one.to), label.map_or("…".into(), |label| name(label)));
    let leads = |other: &&Relationship| other.to.eq_ignore_ascii_case(&one.to);
    match way(one, on) {
        Some(way) => line += &format!(", by {way}: write {way}.{field}"),
        None if on.relationships.iter().filter(leads).count() > 1 => {
            line += &format!(": write {field}, or {}.{field} where several ways lead there", way_name(one, on));
        }
        None => line += &format!(": write {field}"),
    }
    also(&mut line, &one.ai.synonyms, detail);
    line
}

/// What stands before a dataset's name to say by which relationship it is meant. None where there is no need.
pub(super) fn way(one: &Relationship, on: &Ontology) -> Option<String> {
    let same =
        |other: &&Relationship| other.from.eq_ignore_ascii_case(&one.from) && other.to.eq_ignore_ascii_case(&one.to);
    let is_open = one.role.is_some() || on.relationships.iter().filter(same).count() > 1;
    is_open.then(|| way_name(one, on))
}

/// A relationship by its role, where that is one word and no other's, or else by its name.
pub(super) fn way_name(one: &Relationship, on: &Ontology) -> String {
    let is_own = |role: &&String| {
        let same = |other: &&Relationship| other.role.as_ref().is_some_and(|other| other.eq_ignore_ascii_case(role));
        name(role) == **role && on.relationships.iter().filter(same).count() == 1
    };
    one.role.as_ref().filter(is_own).cloned().unwrap_or_else(|| name(&one.name))
}

/// Whether an expression names nothing that people are not offered.
fn shows(expression: &str, on: &Ontology) -> bool {
    let is_seen = |it: &Reference| {
        it.dataset
            .as_deref()
            .and_then(|dataset| on.entity(dataset))
            .is_some_and(|entity| !entity.hidden && entity.field(&it.name).is_some_and(|field| !field.hidden))
    };
    Scalar::parse(expression).is_ok_and(|scalar| scalar.refs().iter().all(is_seen))
}

/// Whether a `dataset.field` is one that people are offered.
pub(super) fn is_seen(field: &str, on: &Ontology) -> bool {
    let entity = |dataset: &str| on.entity(dataset).filter(|entity| !entity.hidden);
    let found = field.split_once('.').and_then(|(dataset, field)| entity(dataset)?.field(field));
    found.is_some_and(|field| !field.hidden)
}

fn about(line: &mut String, text: &str, detail: &Detail) {
    if !text.trim().is_empty() {
        *line += &format!(": {}", one_line(text, detail.about));
    }
}

fn also(line: &mut String, synonyms: &[String], detail: &Detail) {
    let names: Vec<String> = synonyms.iter().take(detail.synonyms).map(|name| one_line(name, LONGEST_VALUE)).collect();
    if !names.is_empty() {
        *line += &format!("; also {}", names.join(", "));
    }
}

/// A text on one line, of at most so many characters.
pub(super) fn one_line(text: &str, chars: usize) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.retain(|c| !c.is_control());
    if let Some((end, _)) = line.char_indices().nth(chars) {
        line.truncate(end);
        line.push('…');
    }
    line
}

fn datatype(of: DataType) -> &'static str {
    match of {
        DataType::String => "text",
        DataType::Integer => "integer",
        DataType::Decimal | DataType::Float => "number",
        DataType::Boolean => "boolean",
        DataType::Date => "date",
        DataType::Time => "time of day",
        DataType::DateTime => "datetime",
        DataType::DateTimeTz => "instant",
        DataType::Opaque => "other",
    }
}

fn aggregation(function: Aggregation) -> &'static str {
    match function {
        Aggregation::Sum => "sum",
        Aggregation::Avg => "avg",
        Aggregation::Median => "median",
        Aggregation::Min => "min",
        Aggregation::Max => "max",
        Aggregation::Count => "count",
        Aggregation::CountDistinct => "count distinct",
        Aggregation::Stddev => "stddev",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_written_as_expressions_have_them() {
        assert_eq!(
            ["dep_delay", "UnitPrice", "unit price", "2nd", "a\"b"].map(name),
            ["dep_delay", "UnitPrice", "\"unit price\"", "\"2nd\"", "\"a\"\"b\""]
        );
        for (value, datatype, written) in [
            ("JFK", DataType::String, "'JFK'"),
            ("O'Hare", DataType::String, "'O''Hare'"),
            ("3", DataType::Integer, "3"),
            ("3", DataType::String, "'3'"),
            ("n/a", DataType::Integer, "'n/a'"),
            ("true", DataType::Boolean, "true"),
        ] {
            assert_eq!(literal(value, datatype), written);
        }
    }

    #[test]
    fn what_is_not_offered_to_people_is_in_no_line() {
        let field = |name: &str, hidden: bool| Field { name: name.into(), hidden, ..Field::default() };
        let sale = Entity {
            name: "sale".into(),
            fields: vec![field("pieces", false), field("cost", true)],
            ..Entity::default()
        };
        let on = Ontology { datasets: vec![sale], ..Ontology::default() };
        let line = |expression: &str, filter: &str| {
            let filters = Some(filter.to_owned()).filter(|filter| !filter.is_empty()).into_iter().collect();
            let metric = Metric { name: "m".into(), expression: expression.into(), filters, ..Metric::default() };
            super::metric(&metric, &on, &FULL)
        };
        assert_eq!(line("SUM(sale.pieces)", ""), "m = SUM(sale.pieces)");
        assert_eq!(line("SUM(sale.pieces)", "sale.pieces > 1"), "m = SUM(sale.pieces) where sale.pieces > 1");
        assert_eq!(line("SUM(sale.cost)", ""), "m");
        assert_eq!(line("SUM(sale.pieces)", "sale.cost > 1"), "m");
        let segment = |expression: &str| {
            let datasets = vec!["sale".into()];
            Segment { name: "s".into(), synonyms: vec![], expression: expression.into(), datasets }
        };
        assert_eq!(super::segment(&segment("sale.pieces > 1"), &on, &FULL), "\"s\" of sale: sale.pieces > 1");
        assert_eq!(super::segment(&segment("sale.cost > 1"), &on, &FULL), "\"s\" of sale");
        assert!(is_seen("sale.pieces", &on) && !is_seen("sale.cost", &on) && !is_seen("x.y", &on));
    }
}
