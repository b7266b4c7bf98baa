//! What follows from the rest of a document where it says nothing itself.

use crate::engine::ontology::graph::{self, column};
use crate::model::ontology::{Additivity, Cardinality, DataType, Entity, Field, FieldRole, Ontology, Relationship};

/// The portable type of an engine's type name, such as DuckDB's `DECIMAL(18,3)`, PostgreSQL's `int4` or Snowflake's
/// `TIMESTAMP_NTZ`; [`DataType::Opaque`] when the name is not known.
pub fn datatype_of(native: &str) -> DataType {
    let name = native.trim().to_ascii_uppercase();
    let name = unwrapped(&name);
    if name.ends_with(']') {
        return DataType::Opaque;
    }
    let (head, parameters) = name.split_once('(').unwrap_or((name, ""));
    let zoned = name.contains("WITH TIME ZONE") || name.contains("WITH LOCAL TIME ZONE");
    match head.trim() {
        "VARCHAR" | "CHAR" | "BPCHAR" | "TEXT" | "STRING" | "NVARCHAR" | "NCHAR" | "CHARACTER"
        | "CHARACTER VARYING" | "FIXEDSTRING" | "UUID" | "ENUM" | "ENUM8" | "ENUM16" | "CITEXT" | "NAME"
        | "KEYWORD" => DataType::String,
        "TINYINT" | "SMALLINT" | "INTEGER" | "INT" | "BIGINT" | "HUGEINT" | "UTINYINT" | "USMALLINT" | "UINTEGER"
        | "UBIGINT" | "UHUGEINT" | "INT1" | "INT2" | "INT4" | "INT8" | "INT16" | "INT32" | "INT64" | "INT128"
        | "INT256" | "UINT8" | "UINT16" | "UINT32" | "UINT64" | "UINT128" | "UINT256" | "LONG" | "SHORT" | "SERIAL"
        | "BIGSERIAL" | "BIGNUM" | "BYTEINT" => DataType::Integer,
        // Without a scale these hold integers where a precision is given, by the SQL standard.
        "DECIMAL" | "NUMERIC" | "NUMBER" | "DECIMAL32" | "DECIMAL64" | "DECIMAL128" | "DECIMAL256" | "MONEY" => {
            let scale = parameters.trim_end_matches(')').split_once(',').map(|(_, scale)| scale.trim());
            if scale == Some("0") { DataType::Integer } else { DataType::Decimal }
        }
        "DOUBLE" | "DOUBLE PRECISION" | "FLOAT" | "FLOAT4" | "FLOAT8" | "FLOAT32" | "FLOAT64" | "REAL" => {
            DataType::Float
        }
        "BOOLEAN" | "BOOL" | "LOGICAL" => DataType::Boolean,
        "DATE" | "DATE32" => DataType::Date,
        "TIMESTAMPTZ" | "TIMESTAMP WITH TIME ZONE" | "TIMESTAMP_TZ" | "TIMESTAMP_LTZ" | "DATETIMEOFFSET" => {
            DataType::DateTimeTz
        }
        // ClickHouse's, shown by clocks of a place.
        "DATETIME" | "DATETIME64" if parameters.contains('\'') && !parameters.contains("UTC") => DataType::DateTimeTz,
        "TIMESTAMP" if zoned => DataType::DateTimeTz,
        "DATETIME"
        | "DATETIME2"
        | "DATETIME64"
        | "TIMESTAMP"
        | "TIMESTAMP WITHOUT TIME ZONE"
        | "TIMESTAMP_S"
        | "TIMESTAMP_MS"
        | "TIMESTAMP_NS"
        | "TIMESTAMP_NTZ" => DataType::DateTime,
        "TIME" | "TIME WITHOUT TIME ZONE" | "TIMETZ" | "TIME WITH TIME ZONE" => DataType::Time,
        _ => DataType::Opaque,
    }
}

/// ClickHouse wraps types: `LowCardinality(Nullable(String))` holds texts.
fn unwrapped(name: &str) -> &str {
    let inner = ["NULLABLE(", "LOWCARDINALITY("].iter().find_map(|head| name.strip_prefix(head)?.strip_suffix(')'));
    inner.map_or(name, unwrapped)
}

/// The default of `dimension.is_time` by the specification.
pub fn is_time(datatype: DataType) -> bool {
    datatype.is_calendar() || datatype == DataType::Time
}

/// What the keys of both sides say; `None` when only the `from` side is unique, which makes it the one side.
pub fn cardinality(relationship: &Relationship, from: &Entity, to: &Entity) -> Option<Cardinality> {
    let back = Relationship {
        from_columns: relationship.to_columns.clone(),
        to_columns: relationship.from_columns.clone(),
        ..relationship.clone()
    };
    match graph::cardinality(relationship, from, to) {
        Cardinality::ManyToMany if graph::cardinality(&back, to, from) == Cardinality::ManyToOne => None,
        cardinality => Some(cardinality),
    }
}

/// What a field is for, when the document does not say. In this order: a column of a key or of a relationship is a
/// key; times, truth values, texts and closed sets are dimensions; so are numbers that only name something (a year, a
/// code); numbers that are called an id are keys; other numbers are measures; what has no known type is an attribute.
pub fn role(ontology: &Ontology, entity: &Entity, field: &Field) -> FieldRole {
    let own = column(entity, &field.name);
    let same = |name: &String| column(entity, name).eq_ignore_ascii_case(own);
    let joins = ontology.relationships.iter().any(|relationship| {
        relationship.from.eq_ignore_ascii_case(&entity.name) && relationship.from_columns.iter().any(same)
            || relationship.to.eq_ignore_ascii_case(&entity.name) && relationship.to_columns.iter().any(same)
    });
    if joins || entity.primary_key.iter().any(same) {
        return FieldRole::Key;
    }
    if field.is_time || field.is_enum || is_time(field.datatype) {
        return FieldRole::Dimension;
    }
    let words = crate::model::ontology::in_words(&field.name);
    match field.datatype {
        DataType::String | DataType::Boolean => FieldRole::Dimension,
        DataType::Opaque => FieldRole::Attribute,
        _ => match words.rsplit(' ').next().unwrap_or_default() {
            "id" | "key" | "sk" | "fk" | "pk" | "uuid" => FieldRole::Key,
            "code" | "number" | "no" | "num" | "zip" | "postcode" | "phone" | "year" | "quarter" | "month" | "week"
            | "day" | "hour" | "minute" | "weekday" => FieldRole::Dimension,
            _ => FieldRole::Measure,
        },
    }
}

/// Whether a metric's parts add up, when the document does not say: one sum or one count of rows does. Everything else
/// is taken not to, which is never wrong, only slower.
pub fn additivity(expression: &str) -> Additivity {
    let text = expression.trim().to_ascii_uppercase();
    let argument = ["SUM", "COUNT"].iter().find_map(|name| text.strip_prefix(name)?.trim_start().strip_prefix('('));
    match argument.and_then(|argument| argument.strip_suffix(')')) {
        Some(argument) if !argument.contains([')', '(']) && !argument.trim_start().starts_with("DISTINCT") => {
            Additivity::Additive
        }
        _ => Additivity::NonAdditive,
    }
}
