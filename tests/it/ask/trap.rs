//! Small made-up workspaces with questions whose answers were worked out by hand, as YAML files in `traps/`.

use std::collections::BTreeMap;

use dragoman::engine::ontology::graph::{Graph, cardinality};
use dragoman::model::ontology::{Cardinality, DataType, Entity, Field, Metric, Ontology, Relationship, Segment};
use dragoman::model::plan::Plan;
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trap {
    /// What goes wrong without care.
    pub says: String,
    #[serde(default)]
    timezone: Option<String>,
    #[serde(default)]
    week_start: Option<u8>,
    #[serde(default)]
    fiscal_year_start: Option<u8>,
    pub tables: Map<String, Value>,
    /// `name: a.x > b.y`, and then `role=…`, `optional`, `preferred`.
    #[serde(default)]
    relationships: Vec<String>,
    #[serde(default)]
    metrics: BTreeMap<String, TrapMetric>,
    #[serde(default)]
    segments: BTreeMap<String, String>,
    pub questions: Vec<Question>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrapTable {
    #[serde(default)]
    key: Vec<String>,
    #[serde(default)]
    time: Option<String>,
    #[serde(default)]
    policy: Option<String>,
    /// Names and datatypes.
    columns: Map<String, Value>,
    /// Names, and datatypes with expressions: `Integer = a + b`.
    #[serde(default)]
    fields: Map<String, Value>,
    /// Fields, and those that say their units.
    #[serde(default)]
    units: BTreeMap<String, String>,
    /// As SQL: `(1, 'a'), (2, 'b')`.
    rows: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrapMetric {
    expression: String,
    #[serde(default)]
    additivity: dragoman::model::ontology::Additivity,
    #[serde(default)]
    time: Option<String>,
    #[serde(default)]
    filters: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub asks: String,
    pub plan: Value,
    /// Why the rows are right.
    #[serde(default, rename = "why")]
    _why: String,
    #[serde(default)]
    pub rows: Vec<Vec<Value>>,
    /// In the refusal, when there is no statement.
    #[serde(default)]
    pub refused: Option<String>,
    /// In the caveats.
    #[serde(default)]
    pub caveat: Option<String>,
    /// In none of the caveats.
    #[serde(default)]
    pub no_caveat: Option<String>,
    /// In the notes.
    #[serde(default)]
    pub note: Option<String>,
    /// In the findings, when the result must not pass.
    #[serde(default)]
    pub distrusted: Option<String>,
}

/// All traps, by the names of their files.
pub fn all() -> Vec<(&'static str, Trap)> {
    let files = [
        ("sums", include_str!("traps/sums.yaml")),
        ("ways", include_str!("traps/ways.yaml")),
        ("broken_keys", include_str!("traps/broken_keys.yaml")),
        ("times", include_str!("traps/times.yaml")),
        ("balances", include_str!("traps/balances.yaml")),
        ("shares", include_str!("traps/shares.yaml")),
        ("absence", include_str!("traps/absence.yaml")),
        ("bridges", include_str!("traps/bridges.yaml")),
        ("metrics", include_str!("traps/metrics.yaml")),
        ("grain", include_str!("traps/grain.yaml")),
        ("owners", include_str!("traps/owners.yaml")),
        ("courses", include_str!("traps/courses.yaml")),
    ];
    files.into_iter().map(|(name, text)| (name, read(name, text))).collect()
}

fn read(name: &str, text: &str) -> Trap {
    serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

impl Question {
    pub fn plan(&self) -> Plan {
        serde_json::from_value(self.plan.clone()).unwrap_or_else(|error| panic!("{}: {error}", self.asks))
    }
}

fn datatype(text: &str) -> DataType {
    serde_json::from_value(Value::String(text.into())).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn sql_type(datatype: DataType) -> &'static str {
    match datatype {
        DataType::Integer => "INTEGER",
        DataType::Decimal => "DECIMAL(18, 2)",
        DataType::Float => "DOUBLE PRECISION",
        DataType::Boolean => "BOOLEAN",
        DataType::Date => "DATE",
        DataType::Time => "TIME",
        DataType::DateTime => "TIMESTAMP",
        DataType::DateTimeTz => "TIMESTAMPTZ",
        DataType::String | DataType::Opaque => "VARCHAR",
    }
}

impl Trap {
    fn table(&self, name: &str) -> TrapTable {
        serde_json::from_value(self.tables[name].clone()).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The tables as queries.
    pub fn queries(&self) -> Vec<(String, String)> {
        let query = |name: &String| {
            let table = self.table(name);
            let columns: Vec<String> = table.columns.keys().map(|column| format!("\"{column}\"")).collect();
            let casts: Vec<String> = table
                .columns
                .iter()
                .map(|(column, of)| {
                    format!("CAST(\"{column}\" AS {}) AS \"{column}\"", sql_type(datatype(of.as_str().unwrap())))
                })
                .collect();
            let rows = table.rows.trim();
            let query = format!("SELECT {} FROM (VALUES {rows}) AS t({})", casts.join(", "), columns.join(", "));
            (name.clone(), query)
        };
        self.tables.keys().map(query).collect()
    }

    pub fn ontology(&self) -> Ontology {
        let mut ontology = Ontology { name: "trap".into(), ..Ontology::default() };
        let calendar = &mut ontology.calendar;
        calendar.timezone = self.timezone.clone().unwrap_or_else(|| "UTC".into());
        calendar.week_start = self.week_start.unwrap_or(1);
        calendar.fiscal_year_start = self.fiscal_year_start.unwrap_or(1);
        for name in self.tables.keys() {
            let table = self.table(name);
            let mut fields: Vec<Field> = table
                .columns
                .iter()
                .map(|(column, of)| Field {
                    name: column.clone(),
                    expression: column.clone(),
                    datatype: datatype(of.as_str().unwrap()),
                    unit_field: table.units.get(column).cloned(),
                    ..Field::default()
                })
                .collect();
            fields.extend(table.fields.iter().map(|(field, of)| {
                let (of, expression) = of.as_str().unwrap().split_once(" = ").unwrap();
                Field { name: field.clone(), expression: expression.into(), datatype: datatype(of), ..Field::default() }
            }));
            ontology.datasets.push(Entity {
                name: name.clone(),
                source: name.clone(),
                primary_key: table.key,
                default_time_field: table.time,
                row_policy: table.policy,
                fields,
                ..Entity::default()
            });
        }
        for text in &self.relationships {
            let relationship = relationship(text, &ontology);
            ontology.relationships.push(relationship);
        }
        for (name, metric) in &self.metrics {
            ontology.metrics.push(Metric {
                name: name.clone(),
                expression: metric.expression.clone(),
                additivity: metric.additivity.clone(),
                default_time_field: metric.time.clone(),
                filters: metric.filters.clone(),
                datatype: DataType::Decimal,
                ..Metric::default()
            });
        }
        for (name, expression) in &self.segments {
            let (name, expression) = (name.clone(), expression.clone());
            ontology.segments.push(Segment { name, synonyms: vec![], expression, datasets: vec![] });
        }
        ontology
    }

    pub fn graph(&self) -> (Ontology, Graph) {
        let ontology = self.ontology();
        let graph = Graph::new(&ontology);
        (ontology, graph)
    }
}

fn relationship(text: &str, ontology: &Ontology) -> Relationship {
    let (name, rest) = text.split_once(": ").unwrap();
    let mut words = rest.split_whitespace();
    let mut end = || words.next().unwrap().split_once('.').unwrap();
    let (from, from_column) = end();
    words.next().unwrap();
    let (to, to_column) = words.next().unwrap().split_once('.').unwrap();
    let flags: Vec<&str> = words.collect();
    let mut relationship = Relationship {
        name: name.into(),
        from: from.into(),
        to: to.into(),
        from_columns: from_column.split('+').map(Into::into).collect(),
        to_columns: to_column.split('+').map(Into::into).collect(),
        role: flags.iter().find_map(|flag| flag.strip_prefix("role=")).map(Into::into),
        cardinality: Cardinality::ManyToMany,
        optional: flags.contains(&"optional"),
        preferred: flags.contains(&"preferred"),
        ..Relationship::default()
    };
    let (from, to) = (ontology.entity(from).unwrap(), ontology.entity(to).unwrap());
    relationship.cardinality = cardinality(&relationship, from, to);
    relationship
}
