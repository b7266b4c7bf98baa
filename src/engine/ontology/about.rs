//! What is said of a table beyond its columns: by the database that it lives in, and by the ontologies that a caller may
//! see.

use std::collections::BTreeMap;
use std::time::Duration;

use super::draft::declared::{Declared, declared};
use super::library::Visible;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::engine::sql::remote::sources::Sources;
use crate::model::dataset::Dataset;
use crate::model::error::Result;
use crate::model::ontology::{Entity, Status, StoredOntology};

/// How long a server may take to say what it declares; a schema is there without it.
const PATIENCE: Duration = Duration::from_secs(4);

/// What is said of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    pub primary_key: Vec<String>,
    pub references: Vec<Reference>,
    /// Units by column.
    pub units: BTreeMap<String, String>,
    pub ontologies: Vec<Mention>,
}

/// Rows of the table refer to rows of another one that the caller sees too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub columns: Vec<String>,
    pub table: String,
    pub to_columns: Vec<String>,
    /// The ontology that says so; nothing where the database declares it.
    pub ontology: Option<String>,
}

/// An ontology that speaks of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    pub id: Id<StoredOntology>,
    pub name: String,
    /// What it calls the table.
    pub called: String,
}

/// What the servers of these tables declare of them, and which could not be asked. `datasets` are all that the pass
/// covers: references to others are left out.
///
/// # Errors
/// `query_timeout` when the job is over.
pub async fn declared_of(
    sources: &Sources,
    job: &Job<'_>,
    tables: &[&Dataset],
) -> Result<(BTreeMap<Id<Dataset>, Declared>, Vec<String>)> {
    let asked: Vec<_> = tables.iter().filter_map(|table| Some(table.remote.as_ref()?.source)).collect();
    if asked.is_empty() {
        return Ok((BTreeMap::new(), vec![]));
    }
    let covered = job.pass.datasets().iter();
    let there = |dataset: &&Dataset| dataset.remote.as_ref().is_some_and(|remote| asked.contains(&remote.source));
    let there: Vec<Dataset> = covered.filter(there).cloned().collect();
    match tokio::time::timeout(PATIENCE, declared(sources, job, &there)).await {
        Ok(declared) => declared,
        Err(_) => {
            let note = "The server of the source did not say in time what it declares of keys and references.";
            Ok((BTreeMap::new(), vec![note.to_owned()]))
        }
    }
}

/// What is said of one table. `declared` comes first; of the ontologies those count that can be asked.
pub fn said(table: &Dataset, datasets: &[Dataset], declared: Option<&Declared>, visible: &[Visible]) -> Said {
    let mut said = Said::default();
    if let Some(declared) = declared {
        // A server declares keys over columns that are hidden here too.
        let sees = |of: &Dataset, names: &[String]| {
            of.hidden.is_empty() || names.iter().all(|name| of.columns.iter().any(|column| column.name == *name))
        };
        if sees(table, &declared.primary_key) {
            said.primary_key.clone_from(&declared.primary_key);
        }
        let other = |name: &str| datasets.iter().find(|other| other.name == name);
        let seen = declared
            .foreign_keys
            .iter()
            .filter(|key| sees(table, &key.columns) && other(&key.to).is_none_or(|other| sees(other, &key.to_columns)));
        let references = seen.map(|key| Reference {
            columns: key.columns.clone(),
            table: key.to.clone(),
            to_columns: key.to_columns.clone(),
            ontology: None,
        });
        said.references.extend(references);
    }
    for Visible { stored, ontology, .. } in visible.iter().filter(|one| one.stored.status == Status::Ready) {
        let shown = |entity: &&Entity| !entity.hidden;
        for entity in ontology.datasets.iter().filter(shown).filter(|entity| entity.table() == table.name) {
            said.ontologies.push(Mention { id: stored.id, name: stored.name.clone(), called: entity.name.clone() });
            if said.primary_key.is_empty()
                && let Some(key) = columns_of(entity, table, &entity.primary_key)
            {
                said.primary_key = key;
            }
            for field in entity.fields.iter().filter(|field| !field.hidden) {
                if let (Some(unit), Some(column)) = (&field.unit, column_of(table, &field.expression)) {
                    said.units.entry(column).or_insert_with(|| unit.clone());
                }
            }
            for one in ontology.relationships.iter().filter(|one| one.from == entity.name) {
                let to = ontology.entity(&one.to).filter(shown);
                let Some((to, other)) =
                    to.and_then(|to| Some((to, datasets.iter().find(|other| other.name == to.table())?)))
                else {
                    continue;
                };
                let pairs = (columns_of(entity, table, &one.from_columns), columns_of(to, other, &one.to_columns));
                let (Some(columns), Some(to_columns)) = pairs else { continue };
                let same = |known: &Reference| {
                    (&known.columns, &known.table, &known.to_columns) == (&columns, &other.name, &to_columns)
                };
                if !said.references.iter().any(same) {
                    let (table, ontology) = (other.name.clone(), Some(stored.name.clone()));
                    said.references.push(Reference { columns, table, to_columns, ontology });
                }
            }
        }
    }
    said
}

/// The columns of a table behind columns or fields of its entity; nothing where one is none, or computed.
fn columns_of(entity: &Entity, table: &Dataset, names: &[String]) -> Option<Vec<String>> {
    let column = |name: &String| {
        let own = table.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
        own.map(|column| column.name.clone())
            .or_else(|| entity.field(name).and_then(|field| column_of(table, &field.expression)))
    };
    let columns = names.iter().map(column).collect::<Option<Vec<_>>>()?;
    (!columns.is_empty()).then_some(columns)
}

/// The column that an expression is, alone or behind the name of its dataset.
fn column_of(table: &Dataset, expression: &str) -> Option<String> {
    let name = expression.trim();
    let name = name.rsplit_once('.').map_or(name, |(_, last)| last).trim_matches(['"', '`']);
    let column = table.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))?;
    // Behind a dot, in a calculation, stands a column too: `orders.a + orders.b`.
    let is_one = expression
        .split('.')
        .all(|part| !part.trim().trim_matches(['"', '`']).contains([' ', '(', ')', '+', '-', '*', '/', ',']));
    is_one.then(|| column.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::model::dataset::{ColumnInfo, Kind};
    use crate::model::ontology::{Field, Ontology, Relationship};

    fn table(name: &str, columns: &[&str]) -> Dataset {
        let clock = Clock::manual(0);
        let columns = columns.iter().map(|name| ColumnInfo { name: (*name).to_owned(), ..ColumnInfo::default() });
        Dataset {
            externally_queryable: true,
            version: Some("v1".into()),
            columns: columns.collect(),
            ..Dataset::new(Id::new(&clock), Id::new(&clock), name, Kind::Table)
        }
    }

    fn shop() -> Ontology {
        let field = |name: &str, expression: &str, unit: Option<&str>| Field {
            name: name.into(),
            expression: expression.into(),
            unit: unit.map(str::to_owned),
            ..Field::default()
        };
        let entity = |name: &str, source: &str, fields: Vec<Field>| Entity {
            name: name.into(),
            source: source.into(),
            primary_key: vec!["id".into()],
            fields,
            ..Entity::default()
        };
        let orders = vec![
            field("id", "id", None),
            field("customer", "customer_id", None),
            field("value", "euros", Some("EUR")),
            field("double", "euros + id", Some("EUR")),
        ];
        let bought_by = Relationship {
            name: "bought_by".into(),
            from: "order".into(),
            to: "buyer".into(),
            from_columns: vec!["customer".into()],
            to_columns: vec!["id".into()],
            ..Relationship::default()
        };
        Ontology {
            name: "shop".into(),
            datasets: vec![
                entity("order", "orders", orders),
                entity("buyer", "shop.customers", vec![field("id", "id", None)]),
            ],
            relationships: vec![bought_by],
            ..Ontology::default()
        }
    }

    #[test]
    fn an_expression_is_a_column_only_when_it_is_nothing_else() {
        let orders = table("orders", &["id", "order date"]);
        for (expression, column) in [
            ("id", Some("id")),
            (" orders.ID ", Some("id")),
            ("orders.\"id\"", Some("id")),
            ("a.x + orders.id", None),
            ("sum(id)", None),
            ("x", None),
        ] {
            assert_eq!(column_of(&orders, expression).as_deref(), column, "{expression}");
        }
    }

    #[test]
    fn keys_references_and_units_are_those_of_columns() {
        let ontology = shop();
        let (orders, customers) = (table("orders", &["id", "customer_id", "euros"]), table("customers", &["id"]));
        let clock = Clock::manual(0);
        let stored = StoredOntology {
            id: Id::new(&clock),
            org: orders.org,
            name: "shop".into(),
            description: String::new(),
            status: Status::Ready,
            problem: String::new(),
            version: 1,
            dataset_count: 2,
            field_count: 5,
            created_at: 0,
            updated_at: 0,
        };
        let visible = [Visible { stored, ontology: ontology.into(), whole: true, compared: true }];
        let both = [orders.clone(), customers];
        let said = said(&orders, &both, None, &visible);
        assert_eq!(said.primary_key, ["id"]);
        assert_eq!(said.units, BTreeMap::from([("euros".to_owned(), "EUR".to_owned())]));
        assert_eq!(said.ontologies.iter().map(|one| one.called.as_str()).collect::<Vec<_>>(), ["order"]);
        let reference = Reference {
            columns: vec!["customer_id".into()],
            table: "customers".into(),
            to_columns: vec!["id".into()],
            ontology: Some("shop".into()),
        };
        assert_eq!(said.references, [reference]);
        // What the caller does not see is not referred to.
        assert!(super::said(&orders, &both[..1], None, &visible).references.is_empty());
    }
}
