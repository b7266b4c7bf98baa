//! Which columns likely hold personal data: by the words of their names, and by the shape of a sample of their values.
//! A likelihood to act on with care, no proof of either: a column that is not named here can still be personal.
//!
//! It takes no column from external clients by itself: profiles mask such values, drafts of ontologies mark such
//! fields, and language models are not told their values. What those clients do not see at all are the columns that
//! people have hidden ([`crate::model::dataset::Dataset::seen`]).

mod names;
mod shapes;

use serde::{Deserialize, Serialize};

use crate::model::ontology::Field;

/// What a column seems to say of people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Email,
    Phone,
    PersonName,
    PostalAddress,
    DateOfBirth,
    /// Social security numbers, passports, tax numbers of persons and the like.
    NationalId,
    BankAccount,
    PaymentCard,
    IpAddress,
    /// Passwords and other secrets that let somebody in, also as hashes.
    Credential,
}

/// Why a column is taken for personal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The words of the column's name.
    Name,
    /// The shape of its values, with a checksum where the kind has one.
    Values,
}

/// A column that likely holds personal data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Finding {
    pub kind: Kind,
    /// Why: the column's name, the shape of its values, or both.
    pub because: Vec<Basis>,
    /// Share of the sampled values that have the kind's shape, 0 to 1; absent where the kind has no shape of its own
    /// (names, addresses, dates of birth) and where there are no values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

/// What the judgement must know of a column's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Text,
    Whole,
    Time,
    /// Lists, structs, maps and JSON: their text may hold anything.
    Nested,
    /// Of no kind that could be personal: truth values, fractions, binary values, UUIDs.
    Other,
}

impl Content {
    /// By an engine's name of a type: `VARCHAR`, `character varying(20)`, `LowCardinality(Nullable(String))`.
    pub fn of_type(r#type: &str) -> Self {
        let mut name = r#type.trim().to_ascii_lowercase();
        for around in ["lowcardinality(", "nullable("] {
            if let Some(inner) = name.strip_prefix(around).and_then(|rest| rest.strip_suffix(')')) {
                name = inner.to_owned();
            }
        }
        let head = name.split(['(', ' ']).next().unwrap_or_default();
        match head {
            _ if name.ends_with(']') => Self::Nested,
            "struct" | "map" | "union" | "json" | "jsonb" | "array" | "tuple" | "nested" => Self::Nested,
            "varchar" | "enum" | "enum8" | "enum16" | "text" | "character" | "char" | "bpchar" | "citext" | "name"
            | "string" | "fixedstring" | "inet" | "cidr" | "ipv4" | "ipv6" => Self::Text,
            "timestamp" | "timestamptz" | "date" | "date32" | "datetime" | "datetime64" => Self::Time,
            _ if head.starts_with("timestamp_") => Self::Time,
            "decimal" | "numeric" | "float" | "float32" | "float64" | "double" | "real" | "bignum" => Self::Whole,
            _ if head.trim_start_matches(['u', 't', 'b', 's', 'h']).starts_with("int") && head != "interval" => {
                Self::Whole
            }
            "smallint" | "tinyint" | "bigint" | "hugeint" | "uhugeint" | "usmallint" | "utinyint" | "ubigint" => {
                Self::Whole
            }
            _ => Self::Other,
        }
    }
}

/// Judges one column of a table, by its name, its engine's name of its type, and a sample of its values without NULL.
pub fn judge_column(name: &str, r#type: &str, values: &[String]) -> Option<Finding> {
    let content = Content::of_type(r#type);
    let fields = if content == Content::Nested { fields(r#type) } else { Vec::new() };
    judge(name, &fields, content, values)
}

/// The names in a nested type: `STRUCT(email VARCHAR, "home street" VARCHAR)[]`.
pub fn fields(r#type: &str) -> Vec<String> {
    let parts = r#type.split(['(', ',']).map(str::trim);
    let name = |part: &str| match part.strip_prefix('"') {
        Some(rest) => rest.split('"').next().map(str::to_owned),
        None => part.split_once(' ').map(|(name, _)| name.to_owned()),
    };
    parts.filter_map(name).collect()
}

/// Share of values from which a shape alone tells a kind. Higher where chance makes the shape: one number in ten
/// passes a card's checksum, and version numbers look like addresses of the internet.
fn enough(kind: Kind) -> f64 {
    match kind {
        Kind::Email => 0.05,
        Kind::BankAccount => 0.2,
        Kind::IpAddress => 0.9,
        _ => 0.5,
    }
}

/// Share of values that must have the shape where the name already says so.
const WITH_NAME: f64 = 0.05;

/// Judges one column. `fields` are the names inside a nested type; `values` a sample without NULL.
pub fn judge(name: &str, fields: &[String], content: Content, values: &[String]) -> Option<Finding> {
    if content == Content::Other {
        return None;
    }
    let named = fields.iter().map(String::as_str).chain([name]).find_map(|name| names::kind(name, content));
    let share = |kind: Kind, hinted: bool| {
        let fits = values.iter().filter(|value| shapes::fits(kind, value.trim(), content, hinted)).count();
        (!values.is_empty()).then(|| fits as f64 / values.len() as f64)
    };
    if let Some(kind) = named {
        if !shapes::has_shape(kind) || content == Content::Nested && kind != Kind::Email {
            return Some(Finding { kind, because: vec![Basis::Name], share: None });
        }
        let share = share(kind, true);
        match share {
            // A column named "email" that holds yes and no.
            Some(share) if share < WITH_NAME => {}
            Some(_) => return Some(Finding { kind, because: vec![Basis::Name, Basis::Values], share }),
            None => return Some(Finding { kind, because: vec![Basis::Name], share }),
        }
    }
    if names::is_technical(name) {
        return None;
    }
    shapes::ALONE.into_iter().find_map(|kind| {
        let share = share(kind, false).filter(|share| *share >= enough(kind))?;
        Some(Finding { kind, because: vec![Basis::Values], share: Some(share) })
    })
}

/// Whether a field of an ontology holds personal data: because the ontology says so, or by its name or that of its
/// column. Numbers and closed sets are personal only where the ontology says so.
pub fn is_personal(field: &Field) -> bool {
    // What stands between quotation marks is no name.
    let column = field.expression.split('\'').step_by(2).collect::<Vec<_>>().join(" ");
    let names = [&field.name, &column];
    let content = if field.datatype.is_calendar() { Content::Time } else { Content::Text };
    field.pii.is_some()
        || !(field.is_enum || field.datatype.is_number())
            && names.iter().any(|name| judge(name, &[], content, &[]).is_some())
}

/// What may be shown of a value: enough to see its form, too little to know whose it is.
pub fn mask(kind: Kind, value: &str) -> String {
    let first: String = value.chars().take(1).collect();
    match kind {
        Kind::Email if value.contains('@') => format!("{first}…@…"),
        Kind::DateOfBirth => {
            let year: String = value.chars().take_while(char::is_ascii_digit).collect();
            if year.len() == 4 { format!("{year}-…") } else { "…".to_owned() }
        }
        Kind::IpAddress => {
            let head: String = value.chars().take_while(|c| *c != '.' && *c != ':').collect();
            let separator = if value.contains(':') { ':' } else { '.' };
            format!("{head}{separator}…")
        }
        Kind::NationalId | Kind::BankAccount | Kind::PaymentCard | Kind::Credential => "…".to_owned(),
        _ => format!("{first}…"),
    }
}

#[cfg(test)]
mod tests;
