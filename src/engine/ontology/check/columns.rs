//! Sources, keys, fields and the sides of relationships.

use super::{Check, source};
use crate::engine::ontology::graph;
use crate::engine::ontology::read::datatype_of;
use crate::model::dataset::Kind;
use crate::model::ontology::{Aggregation, DataType, Entity, Field, Relationship};

/// Types whose values can be compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Text,
    Number,
    Truth,
    Calendar,
    Clock,
}

fn group(datatype: DataType) -> Option<Group> {
    match datatype {
        DataType::String => Some(Group::Text),
        DataType::Integer | DataType::Decimal | DataType::Float => Some(Group::Number),
        DataType::Boolean => Some(Group::Truth),
        DataType::Date | DataType::DateTime | DataType::DateTimeTz => Some(Group::Calendar),
        DataType::Time => Some(Group::Clock),
        DataType::Opaque => None,
    }
}

/// Whether two types can never be the same; unknown ones may.
fn clash(one: DataType, other: DataType) -> bool {
    matches!((group(one), group(other)), (Some(one), Some(other)) if one != other)
}

impl Check<'_> {
    pub(super) fn datasets(&mut self) {
        if self.ontology.datasets.iter().all(|entity| entity.hidden) {
            let message = "No dataset can be asked about: there is none, or all are hidden.".to_owned();
            self.error("datasets".into(), message, "Show at least one.");
        }
        for (at, entity) in self.ontology.datasets.iter().enumerate() {
            if self.is_full() {
                return;
            }
            let path = format!("datasets[{at}]");
            self.source(&path, entity);
            let keys = std::iter::once(("primary_key".to_owned(), &entity.primary_key));
            let more = entity.unique_keys.iter().enumerate().map(|(at, key)| (format!("unique_keys[{at}]"), key));
            for (part, key) in keys.chain(more) {
                for (at, name) in key.iter().enumerate() {
                    self.named_column(&format!("{path}.{part}[{at}]"), entity, name);
                }
            }
            for (at, field) in entity.fields.iter().enumerate() {
                let path = format!("{path}.fields[{at}]");
                self.field_types(&path, entity, field);
                if let Some(name) = &field.unit_field {
                    self.own_field(&format!("{path}.unit_field"), entity, name);
                }
            }
            self.default_time(&path, entity);
            if let Some(name) = &entity.label_field {
                self.own_field(&format!("{path}.label_field"), entity, name);
            }
        }
    }

    fn source(&mut self, path: &str, entity: &Entity) {
        let (path, name) = (format!("{path}.source"), source(entity));
        let found = self.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name));
        match found {
            Some(table) if table.kind == Kind::Documents => {
                let message = format!("`{name}` holds documents, not a table.");
                self.error(path, message, "Ask documents with search; name a table here.");
            }
            Some(table) if !table.is_ready() => {
                let message = format!("The table `{name}` has no data yet.");
                self.error(path, message, "Wait for its import, or import it again.");
            }
            Some(_) => {}
            None => {
                let tables = self.tables.iter().filter(|table| table.kind == Kind::Table);
                let hint = self.suggest(name, tables.map(|table| table.name.as_str()));
                self.error(path, format!("The workspace has no table `{name}`."), hint);
            }
        }
    }

    /// A name in a key or a relationship: a column of the table, or a field. Nothing is known of a table that is not
    /// there.
    fn named_column(&mut self, path: &str, entity: &Entity, name: &str) {
        let Some(table) = self.table(entity).filter(|_| !self.is_full()) else { return };
        if entity.field(name).is_some() || self.column(entity, name).is_some() {
            return;
        }
        let hint = self.suggest(name, table.columns.iter().map(|column| column.name.as_str()));
        let message =
            format!("`{name}` is neither a column of the table `{}` nor a field of `{}`.", table.name, entity.name);
        self.error(path.to_owned(), message, hint);
    }

    /// A name that must be one of the dataset's fields.
    pub(super) fn own_field<'e>(&mut self, path: &str, entity: &'e Entity, name: &str) -> Option<&'e Field> {
        let field = entity.field(name);
        if field.is_none() {
            let hint = self.suggest(name, entity.fields.iter().map(|field| field.name.as_str()));
            self.error(path.to_owned(), format!("`{}` has no field `{name}`.", entity.name), hint);
        }
        field
    }

    fn default_time(&mut self, path: &str, entity: &Entity) {
        let Some(name) = &entity.default_time_field else { return };
        let path = format!("{path}.default_time_field");
        if let Some(field) = self.own_field(&path, entity, name) {
            self.must_be_time(path, entity, field);
        }
    }

    /// Days can be counted in it.
    pub(super) fn must_be_time(&mut self, path: String, entity: &Entity, field: &Field) {
        let datatype = self.field_type(entity, field);
        if !datatype.is_calendar() && datatype != DataType::Opaque {
            let message = format!("`{}.{}` is no time: its type is {datatype:?}.", entity.name, field.name);
            self.error(path, message, "Name a field whose type is Date, DateTime or DateTimeTz.");
        }
    }

    /// What the document says of a bare column against what the table says.
    fn field_types(&mut self, path: &str, entity: &Entity, field: &Field) {
        let column = graph::plain_column(entity, &field.name).and_then(|column| self.column(entity, column));
        let actual = column.map_or(DataType::Opaque, |column| datatype_of(&column.r#type));
        if let Some(column) = column.filter(|_| clash(actual, field.datatype)) {
            let message = format!(
                "`{}.{}` is declared as {:?}, but the column is {}.",
                entity.name, field.name, field.datatype, column.r#type
            );
            let hint = format!("Declare {actual:?}, or convert the column in the expression with CAST.");
            self.error(format!("{path}.datatype"), message, hint);
        }
        let known = self.field_type(entity, field);
        let needs_number = matches!(
            field.default_aggregation,
            Some(Aggregation::Sum | Aggregation::Avg | Aggregation::Median | Aggregation::Stddev)
        );
        if needs_number && known != DataType::Opaque && !known.is_number() {
            let message = format!("`{}.{}` is {known:?} and cannot be added up.", entity.name, field.name);
            self.error(
                format!("{path}.default_aggregation"),
                message,
                "Write count, count_distinct, min or max, or remove it.",
            );
        }
        if field.is_enum && !field.value_synonyms.is_empty() && field.datatype.is_calendar() {
            let message = format!("`{}.{}` is a time; its values are no closed set.", entity.name, field.name);
            self.warn(format!("{path}.enum"), message, "Remove `enum` and `value_synonyms`.");
        }
    }

    pub(super) fn relationships(&mut self) {
        for (at, relationship) in self.ontology.relationships.iter().enumerate() {
            if self.is_full() {
                return;
            }
            let path = format!("relationships[{at}]");
            let from = self.side(&path, "from", &relationship.from, &relationship.from_columns);
            let to = self.side(&path, "to", &relationship.to, &relationship.to_columns);
            if let (Some(from), Some(to)) = (from, to) {
                self.pairs(&path, relationship, from, to);
            }
            self.ways(at, relationship);
        }
    }

    fn side<'e>(&mut self, path: &str, side: &str, name: &str, columns: &[String]) -> Option<&'e Entity>
    where
        Self: 'e,
    {
        let ontology = self.ontology;
        let Some(entity) = ontology.entity(name) else {
            let hint = self.suggest(name, ontology.datasets.iter().map(|entity| entity.name.as_str()));
            self.error(format!("{path}.{side}"), format!("There is no dataset `{name}`."), hint);
            return None;
        };
        for (at, column) in columns.iter().enumerate() {
            self.named_column(&format!("{path}.{side}_columns[{at}]"), entity, column);
        }
        Some(entity)
    }

    fn pairs(&mut self, path: &str, relationship: &Relationship, from: &Entity, to: &Entity) {
        let pairs = relationship.from_columns.iter().zip(&relationship.to_columns);
        for (at, (left, right)) in pairs.enumerate() {
            let (one, other) = (self.column_type(from, left), self.column_type(to, right));
            if clash(one, other) {
                let message = format!(
                    "`{}.{left}` is {one:?} and `{}.{right}` is {other:?}: they never are equal.",
                    from.name, to.name
                );
                let hint = "Relate columns of one type, or convert one when it is imported.";
                self.error(format!("{path}.to_columns[{at}]"), message, hint);
            }
        }
    }

    /// Where several relationships connect the same two datasets, questions must be able to tell them apart.
    fn ways(&mut self, at: usize, relationship: &Relationship) {
        if relationship.role.is_some() || relationship.preferred {
            return;
        }
        let same = |other: &&Relationship| {
            other.from.eq_ignore_ascii_case(&relationship.from) && other.to.eq_ignore_ascii_case(&relationship.to)
        };
        let others: Vec<&Relationship> = self.ontology.relationships.iter().filter(same).collect();
        if others.len() > 1 && !others.iter().any(|other| other.preferred) {
            let message = format!(
                "{} relationships lead from `{}` to `{}`, and `{}` has no role: questions will be asked back.",
                others.len(),
                relationship.from,
                relationship.to,
                relationship.name
            );
            self.warn(format!("relationships[{at}]"), message, "Give each a `role`, or make one `preferred`.");
        }
    }
}
