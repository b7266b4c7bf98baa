//! The questions for the data.

use super::judge::{Judge, MAX_VALUES, failed};
use super::names::Names;
use super::{Group, Part, Plan};
use crate::engine::ontology::graph::Graph;
use crate::model::dataset::Dataset;
use crate::model::ontology::{Cardinality, DataType, Entity, Field, Ontology, Relationship, Severity};
use crate::model::source::Dialect;
use crate::model::source::quoted;

/// Everything that the data can be asked about an ontology over these tables.
pub fn plan(ontology: &Ontology, tables: &[Dataset]) -> Plan {
    let names = Names { ontology, tables, graph: Graph::new(ontology) };
    let mut plan = Plan::default();
    for (at, entity) in ontology.datasets.iter().enumerate() {
        let path = format!("datasets[{at}]");
        match names.table(entity) {
            Ok((table, dialect)) => plan.dataset(&names, &path, entity, &table, dialect),
            Err(says) => plan.findings.push(failed(format!("{path}.source"), Severity::Error, says)),
        }
    }
    for (at, relationship) in ontology.relationships.iter().enumerate() {
        let path = format!("relationships[{at}]");
        let sides = (ontology.entity(&relationship.from), ontology.entity(&relationship.to));
        let (Some(from), Some(to)) = sides else {
            plan.findings.push(failed(path, Severity::Error, "One of its datasets does not exist.".into()));
            continue;
        };
        match group(&names, path.clone(), relationship, from, to) {
            Ok(group) => plan.groups.push(group),
            // That a table cannot be read is said of its dataset.
            Err(says) => plan.findings.push(failed(path, Severity::Error, says)),
        }
    }
    let is_open = ontology.datasets.iter().all(|entity| entity.row_policy.is_none());
    for (at, metric) in ontology.metrics.iter().enumerate() {
        let what = format!("metrics[{at}].expression");
        match names.metric(metric, &mut Vec::new()) {
            Ok(sql) => plan.groups.push(Group {
                from: String::new(),
                dialect: names.dialect(),
                local: Vec::new(),
                parts: vec![Part {
                    what,
                    name: metric.name.clone(),
                    select: vec![sql],
                    judge: Judge::Metric { declared: metric.datatype, shows: is_open },
                }],
            }),
            Err(says) => plan.findings.push(failed(what, Severity::Error, format!("`{}`: {says}", metric.name))),
        }
    }
    plan
}

impl Plan {
    fn dataset(&mut self, names: &Names<'_>, path: &str, entity: &Entity, table: &str, dialect: Dialect) {
        let from = format!(" FROM {table} AS {}", quoted(&entity.name));
        let local = local(&[(table, dialect)]);
        let mut parts = Vec::new();
        if !entity.primary_key.is_empty() {
            let primary = Judge::Key { is_primary: true };
            parts.push(key(format!("{path}.primary_key"), entity, &entity.primary_key, primary, dialect));
        }
        for (at, columns) in entity.unique_keys.iter().enumerate() {
            let unique = Judge::Key { is_primary: false };
            parts.push(key(format!("{path}.unique_keys[{at}]"), entity, columns, unique, dialect));
        }
        let mut types = Vec::new();
        for (at, field) in entity.fields.iter().enumerate() {
            let what = format!("{path}.fields[{at}]");
            let name = format!("{}.{}", entity.name, field.name);
            let sql = match names.field(entity, &field.name, dialect) {
                Ok(sql) => sql,
                Err(says) => {
                    self.findings.push(failed(format!("{what}.expression"), Severity::Error, says));
                    continue;
                }
            };
            parts.extend(values(entity, field, &what, &name, &sql));
            types.push(Part {
                what: format!("{what}.datatype"),
                name: name.clone(),
                select: vec![match field.datatype {
                    DataType::Boolean => dialect.shown(&sql, DataType::Boolean),
                    _ => sql.clone(),
                }],
                judge: Judge::Type { declared: field.datatype },
            });
            if field.is_enum {
                // Those without words are listed to be known, as a database or a dictionary lists them: a draft writes
                // them whatever the rows hold.
                let worded = field.value_synonyms.iter().filter(|(_, words)| !words.is_empty());
                let worded = worded.map(|(value, _)| value.clone()).collect();
                let part =
                    Part { what, name, select: vec![format!("DISTINCT {sql}")], judge: Judge::Values { worded } };
                let limit = format!("{from} WHERE {sql} IS NOT NULL LIMIT {}", MAX_VALUES + 1);
                self.groups.push(Group { from: limit, dialect, local: local.clone(), parts: vec![part] });
            }
        }
        self.groups.push(Group { from: from.clone(), dialect, local: local.clone(), parts });
        self.groups.push(Group { from: format!("{from} LIMIT 1"), dialect, local, parts: types });
        self.groups.retain(|group| !group.parts.is_empty());
    }
}

/// Those of the tables that the service itself holds.
fn local(tables: &[(&str, Dialect)]) -> Vec<String> {
    let own = tables.iter().filter(|(_, dialect)| *dialect == Dialect::DuckDb);
    own.map(|(table, _)| (*table).to_owned()).collect()
}

fn all_filled(columns: &[String]) -> String {
    columns.iter().map(|column| format!("{column} IS NOT NULL")).collect::<Vec<_>>().join(" AND ")
}

fn key(what: String, entity: &Entity, key: &[String], judge: Judge, dialect: Dialect) -> Part {
    let columns: Vec<String> = key.iter().map(|name| Names::column(entity, name)).collect();
    let filled = format!("COUNT(CASE WHEN {} THEN 1 END)", all_filled(&columns));
    let select = vec!["COUNT(*)".into(), filled, dialect.distinct(&columns, &all_filled(&columns))];
    Part { what, name: format!("{}.{}", entity.name, key.join(", ")), select, judge }
}

/// What must or should be filled, and what must be computable.
fn values(entity: &Entity, field: &Field, what: &str, name: &str, sql: &str) -> Vec<Part> {
    let is = |wanted: &Option<String>| wanted.as_ref().is_some_and(|wanted| wanted.eq_ignore_ascii_case(&field.name));
    let part = |what: String, select: Vec<String>, judge: Judge| Part { what, name: name.to_owned(), select, judge };
    let counts = || vec!["COUNT(*)".to_owned(), format!("COUNT({sql})")];
    let mut parts = Vec::new();
    if field.nullable == Some(false) {
        let judge = Judge::Filled { severity: Severity::Error, otherwise: "it is declared as never empty" };
        parts.push(part(format!("{what}.nullable"), counts(), judge));
    }
    let path = what.split_once(".fields").map_or(what, |(dataset, _)| dataset);
    if is(&entity.default_time_field) {
        let judge =
            Judge::Filled { severity: Severity::Warning, otherwise: "these rows are missing where a time is asked" };
        parts.push(part(format!("{path}.default_time_field"), counts(), judge));
    }
    if is(&entity.label_field) {
        let judge = Judge::Filled { severity: Severity::Warning, otherwise: "these rows have no name for people" };
        parts.push(part(format!("{path}.label_field"), counts(), judge));
    }
    if sql.starts_with('(') {
        // As a text it must really be computed for every row.
        let select = vec![format!("MAX(CAST({sql} AS VARCHAR))")];
        parts.push(part(format!("{what}.expression"), select, Judge::Computes));
    }
    parts
}

fn group(
    names: &Names<'_>,
    what: String,
    relationship: &Relationship,
    from: &Entity,
    to: &Entity,
) -> Result<Group, String> {
    let ((left, dialect), (right, other)) = (names.table(from)?, names.table(to)?);
    if dialect != other {
        return Err(format!("`{}` and `{}` are in different engines, which cannot be joined.", from.name, to.name));
    }
    let local = local(&[(&left, dialect), (&right, other)]);
    let name = relationship.name.clone();
    if relationship.cardinality == Cardinality::ManyToMany {
        let columns: Vec<String> = relationship.to_columns.iter().map(|name| Names::column(to, name)).collect();
        let filled = format!("COUNT(CASE WHEN {} THEN 1 END)", all_filled(&columns));
        let select = vec![filled, dialect.distinct(&columns, &all_filled(&columns))];
        let judge = Judge::Unkeyed { to: to.name.clone(), columns: relationship.to_columns.join(", ") };
        let from = format!(" FROM {right} AS {}", quoted(&to.name));
        return Ok(Group { from, dialect, local, parts: vec![Part { what, name, select, judge }] });
    }
    // The partners are named `l` and `r`: both sides may be the same dataset.
    let side = |entity: &Entity, alias: &str, columns: &[String]| -> Vec<String> {
        let column =
            |name: &String| format!("{alias}.{}", quoted(crate::engine::ontology::graph::column(entity, name)));
        columns.iter().map(column).collect()
    };
    let own = side(from, "l", &relationship.from_columns);
    let partners = side(to, "p", &relationship.to_columns);
    let picked: Vec<String> = partners.iter().enumerate().map(|(at, column)| format!("{column} AS k{at}")).collect();
    let on: Vec<String> = own.iter().enumerate().map(|(at, column)| format!("{column} = r.k{at}")).collect();
    let filled = all_filled(&own);
    let select = vec![
        "COUNT(*)".into(),
        format!("COUNT(CASE WHEN {filled} THEN 1 END)"),
        // An engine that fills up missing partners with zeros is understood too.
        format!("COUNT(CASE WHEN {filled} AND COALESCE(r.met, 0) = 0 THEN 1 END)"),
    ];
    let from = format!(
        " FROM {left} AS l LEFT JOIN (SELECT DISTINCT {}, 1 AS met FROM {right} AS p) AS r ON {}",
        picked.join(", "),
        on.join(" AND ")
    );
    let judge = Judge::Partners { is_optional: relationship.optional, to: to.name.clone() };
    Ok(Group { from, dialect, local, parts: vec![Part { what, name, select, judge }] })
}
