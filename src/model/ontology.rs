//! The semantic model of a workspace's data: an Apache Ossie document with our keys in `custom_extensions`, as typed
//! values. [`crate::engine::ontology`] reads, checks, drafts and writes it; planners and the compiler only read it.

mod problem;
mod reference;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use problem::{Problem, Severity};
pub use reference::OntologyRef;

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::org::Org;

/// An ontology as stored: a document with a state. Its text is kept apart, by version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredOntology {
    pub id: Id<StoredOntology>,
    pub org: Id<Org>,
    /// Of the document; unique in the workspace.
    pub name: String,
    pub description: String,
    pub status: Status,
    /// Why it is `failed`; empty otherwise.
    pub problem: String,
    /// Counts up from 1 with each saved text.
    pub version: i64,
    pub dataset_count: i64,
    pub field_count: i64,
    pub created_at: Millis,
    pub updated_at: Millis,
}

/// Whether an ontology can be asked. Saving makes a `draft`, or a `failed` one; what comes of comparing it with the data
/// is written when the comparison has ended, and not before: one that is cut short leaves everything as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Draft,
    Ready,
    Failed,
}

impl Status {
    pub const ALL: [Status; 3] = [Status::Draft, Status::Ready, Status::Failed];

    /// As it is stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Status::Draft => "draft",
            Status::Ready => "ready",
            Status::Failed => "failed",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == text)
    }
}

/// Whether the data keep what an ontology says, as it was found by asking them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Attestation {
    /// No finding that is an error failed.
    pub passed: bool,
    /// Epoch milliseconds.
    pub checked_at: Millis,
    pub findings: Vec<Finding>,
}

/// One thing that was asked of the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Finding {
    /// Path into the model, such as `datasets[2].primary_key`.
    pub what: String,
    pub passed: bool,
    /// How bad it is when it did not pass.
    pub severity: Severity,
    /// A sentence.
    pub says: String,
    /// What it was judged by, by name: counts as numbers.
    pub figures: serde_json::Map<String, serde_json::Value>,
}

/// A document's content. Names of datasets, relationships and metrics are unique among their kind, and names of fields
/// within their dataset, without regard to case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ontology {
    pub name: String,
    pub description: String,
    pub ai: AiContext,
    pub calendar: Calendar,
    /// ISO 4217 code of amounts without a unit of their own.
    pub currency: Option<String>,
    /// A time phrase such as `last 12 months`, for questions that name no time; without it all of time.
    pub default_time_window: Option<String>,
    /// Named conditions.
    pub segments: Vec<Segment>,
    pub glossary: Vec<Term>,
    pub verified_queries: Vec<VerifiedQuery>,
    pub datasets: Vec<Entity>,
    pub relationships: Vec<Relationship>,
    /// What a person said is no relationship: a draft made anew does not bring it again.
    pub refused: Vec<Link>,
    pub metrics: Vec<Metric>,
}

/// What is meant for language models and lexicons.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AiContext {
    pub instructions: String,
    pub synonyms: Vec<String>,
    pub examples: Vec<String>,
}

/// How time is counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calendar {
    /// IANA name. Days and what is made of them begin at this zone's midnights.
    pub timezone: String,
    /// 1 is Monday, 7 is Sunday (ISO 8601).
    pub week_start: u8,
    /// Month in which the fiscal year begins, 1 to 12. With 1 the fiscal year is the calendar year; otherwise it has
    /// the number of the calendar year in which it ends.
    pub fiscal_year_start: u8,
}

impl Default for Calendar {
    fn default() -> Self {
        Self { timezone: "UTC".into(), week_start: 1, fiscal_year_start: 1 }
    }
}

/// A named condition on one dataset's rows, such as "active customers".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    pub name: String,
    pub synonyms: Vec<String>,
    /// A boolean scalar expression over `dataset.field`.
    pub expression: String,
    /// The datasets whose rows it is about; exactly one is supported.
    pub datasets: Vec<String>,
}

/// A word of the house and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    pub term: String,
    /// Another term, a metric, a field (`dataset.field`) or a phrase.
    pub means: String,
}

/// A question whose plan a person confirmed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VerifiedQuery {
    pub question: String,
    pub plan: Option<serde_json::Value>,
    pub sql: Option<String>,
    pub verified_at: Option<String>,
}

/// A table and what its rows are (Ossie: dataset).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    pub name: String,
    /// The workspace's dataset, by name (of a dotted source the last part).
    pub source: String,
    /// Columns of the source.
    pub primary_key: Vec<String>,
    pub unique_keys: Vec<Vec<String>>,
    pub description: String,
    pub ai: AiContext,
    pub fields: Vec<Field>,
    /// A field's name: the time of a row when a question says only when.
    pub default_time_field: Option<String>,
    /// A field's name: what people call a row by.
    pub label_field: Option<String>,
    /// What one row is, as a singular noun ("claim").
    pub grain: Option<String>,
    /// Which rows of the table belong to the dataset: a boolean scalar expression over `dataset.field`, such as
    /// `orders.is_test = FALSE`. It is part of what the dataset means, and every question over this ontology, its
    /// checks and the values that it recognises are about these rows alone. It is no wall: who may read the table
    /// reads all of it with SQL, by preview and profile, or over another ontology. Rows that somebody must not see
    /// belong into a table of their own that is not published.
    pub row_policy: Option<String>,
    /// Not offered to people; joins may pass through it.
    pub hidden: bool,
}

/// The portable type of a field or metric (Ossie 0.2 `datatype`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum DataType {
    String,
    Integer,
    Decimal,
    Float,
    Boolean,
    Date,
    Time,
    DateTime,
    DateTimeTz,
    #[default]
    Opaque,
}

impl DataType {
    pub fn is_number(self) -> bool {
        matches!(self, DataType::Integer | DataType::Decimal | DataType::Float)
    }

    /// Whether days can be counted in it.
    pub fn is_calendar(self) -> bool {
        matches!(self, DataType::Date | DataType::DateTime | DataType::DateTimeTz)
    }
}

/// What a field is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FieldRole {
    /// To group and filter by.
    Dimension,
    /// To compute with.
    Measure,
    /// Identifies a row, here or elsewhere.
    Key,
    /// To show.
    #[default]
    Attribute,
}

/// How values of a field come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Aggregation {
    Sum,
    Avg,
    Median,
    Min,
    Max,
    Count,
    CountDistinct,
    /// Population standard deviation is not offered: this is the sample's.
    Stddev,
}

/// A column, or a scalar expression over the columns of its dataset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Field {
    pub name: String,
    /// Scalar SQL over columns of the source, unqualified or as `dataset.column`.
    pub expression: String,
    pub datatype: DataType,
    /// Whether it can be the time of a row.
    pub is_time: bool,
    pub label: String,
    pub description: String,
    pub ai: AiContext,
    pub native_type: Option<String>,
    pub nullable: Option<bool>,
    pub role: FieldRole,
    pub default_aggregation: Option<Aggregation>,
    /// `minutes`, `miles`, `%`, an ISO 4217 code …
    pub unit: Option<String>,
    /// A field of the same dataset that says the unit of each row, such as its currency.
    pub unit_field: Option<String>,
    /// A number format such as `#,##0.00`.
    pub format: Option<String>,
    /// The values are a small closed set.
    pub is_enum: bool,
    /// Values may be looked up in questions.
    pub index_values: bool,
    /// Known value → what people call it, which may be nothing else.
    pub value_synonyms: BTreeMap<String, Vec<String>>,
    /// Fields of the same dataset from coarse to fine, this one among them.
    pub hierarchy: Option<String>,
    /// Not offered to people; expressions may use it.
    pub hidden: bool,
    /// A kind of personal data; `None` when none is known.
    pub pii: Option<String>,
}

/// Rows on each side of a relationship for one row of the other, from `from` to `to`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cardinality {
    #[default]
    ManyToOne,
    OneToOne,
    /// Neither side's columns are a key: no measure may be carried across.
    ManyToMany,
}

/// Columns of a dataset that may refer to those of another, pair by pair.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub from: String,
    pub from_columns: Vec<String>,
    pub to: String,
    pub to_columns: Vec<String>,
}

/// Where a relationship comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    #[default]
    Declared,
    Inferred,
    Verified,
}

/// Rows of `from` refer to rows of `to`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Relationship {
    pub name: String,
    /// The many side.
    pub from: String,
    /// The one side.
    pub to: String,
    /// Columns (or fields) of either side, pair by pair.
    pub from_columns: Vec<String>,
    pub to_columns: Vec<String>,
    pub ai: AiContext,
    /// What the one side is to the many side, where there are several ways ("origin", "destination").
    pub role: Option<String>,
    /// Derived from the keys of both sides, never taken from the document.
    pub cardinality: Cardinality,
    /// Whether rows of `from` without a partner are expected: they are kept, and grouped under NULL.
    pub optional: bool,
    /// Wins among ways of equal length.
    pub preferred: bool,
    pub confidence: Confidence,
}

/// Whether a metric's parts add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Additivity {
    /// Over every dimension: sums, counts of rows.
    Additive,
    /// Over every dimension but time: balances, stock. Over time the last value counts.
    SemiAdditive,
    /// Over none: averages, ratios, distinct counts.
    #[default]
    NonAdditive,
}

/// A number with an agreed definition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    pub name: String,
    /// Aggregate SQL over `dataset.field`, which may span datasets and use other metrics by name.
    pub expression: String,
    pub description: String,
    pub datatype: DataType,
    pub ai: AiContext,
    pub additivity: Additivity,
    /// `dataset.field`.
    pub default_time_field: Option<String>,
    pub unit: Option<String>,
    pub format: Option<String>,
    /// `better`, `worse` or `neutral`.
    pub higher_is: Option<String>,
    /// Boolean scalar expressions over `dataset.field` that hold for every row that it counts.
    pub filters: Vec<String>,
}

impl Finding {
    /// Whether it counts when it did not pass.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl Ontology {
    /// A dataset by name, without regard to case.
    pub fn entity(&self, name: &str) -> Option<&Entity> {
        self.datasets.iter().find(|entity| entity.name.eq_ignore_ascii_case(name))
    }

    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.name.eq_ignore_ascii_case(name))
    }

    pub fn relationship(&self, name: &str) -> Option<&Relationship> {
        self.relationships.iter().find(|relationship| relationship.name.eq_ignore_ascii_case(name))
    }

    pub fn segment(&self, name: &str) -> Option<&Segment> {
        self.segments.iter().find(|segment| segment.name.eq_ignore_ascii_case(name))
    }

    /// A field by its dataset's name and its own.
    pub fn field(&self, dataset: &str, field: &str) -> Option<&Field> {
        self.entity(dataset)?.field(field)
    }
}

/// Whether the same columns are named in the same order, without regard to case.
pub fn same_columns(one: &[String], other: &[String]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.eq_ignore_ascii_case(other))
}

impl Link {
    /// Whether both say the same, without regard to case.
    pub fn is(&self, other: &Link) -> bool {
        self.from.eq_ignore_ascii_case(&other.from)
            && self.to.eq_ignore_ascii_case(&other.to)
            && same_columns(&self.from_columns, &other.from_columns)
            && same_columns(&self.to_columns, &other.to_columns)
    }
}

impl Relationship {
    /// What refers to what.
    pub fn link(&self) -> Link {
        let Self { from, to, from_columns, to_columns, .. } = self.clone();
        Link { from, from_columns, to, to_columns }
    }
}

impl Entity {
    /// The name of the workspace's dataset that holds the rows: of a dotted source the last part.
    pub fn table(&self) -> &str {
        self.source.rsplit('.').next().unwrap_or(&self.source)
    }

    /// A field by name, without regard to case.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name.eq_ignore_ascii_case(name))
    }

    /// What one row is, for people: its grain, or the name in words.
    pub fn noun(&self) -> String {
        self.grain.clone().unwrap_or_else(|| in_words(&self.name))
    }
}

impl Field {
    /// What people call it: its label, or the name in words.
    pub fn words(&self) -> String {
        if self.label.is_empty() { in_words(&self.name) } else { self.label.clone() }
    }

    /// Whether its values are days of the calendar, or times of such: by their type, and where that is not known by what
    /// the ontology says.
    pub fn holds_times(&self) -> bool {
        self.datatype.is_calendar() || self.is_time && self.datatype == DataType::Opaque
    }

    /// Whether its numbers are years of the calendar, by its name: `release_year`, `year_built`.
    pub fn is_year(&self) -> bool {
        let words = in_words(&self.name);
        let words: Vec<&str> = words.split(' ').collect();
        let is_called = match words.as_slice() {
            [.., "per" | "last" | "this" | "previous" | "prior", "year"] => false,
            [.., "year"] | ["year", _] => true,
            _ => false,
        };
        is_called && self.datatype.is_number() && self.unit.is_none() && self.format.is_none()
    }
}

/// What Salesforce writes behind the names of objects and fields that its users made, after two underscores: custom ones,
/// relationships, those of a person's account, metadata types.
const MADE: [&str; 4] = ["__c", "__r", "__pc", "__mdt"];

/// A name without the marks of Salesforce: `Program__c`, and `pmdm__Program__c` of a package, are `Program`.
fn unmarked(name: &str) -> &str {
    let without = |mark: &&str| {
        let (plain, end) = name.split_at_checked(name.len().checked_sub(mark.len())?)?;
        (!plain.is_empty() && end.eq_ignore_ascii_case(mark)).then_some(plain)
    };
    let Some(plain) = MADE.iter().find_map(without) else { return name };
    let of_package = plain.split_once("__").filter(|(package, name)| !package.is_empty() && !name.is_empty());
    of_package.map_or(plain, |(_, name)| name)
}

/// A name as words: `company_claim_number` and `CompanyClaimNumber` are "company claim number".
pub fn in_words(name: &str) -> String {
    let mut words = String::new();
    let chars: Vec<char> = unmarked(name).chars().collect();
    for (at, &c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| chars.get(at)).copied();
        let after = chars.get(at + 1);
        let starts = c.is_uppercase() && before.is_some_and(|b| b.is_lowercase() || b.is_ascii_digit())
            || c.is_uppercase() && before.is_some_and(char::is_uppercase) && after.is_some_and(|a| a.is_lowercase());
        if starts {
            words.push(' ');
        }
        words.push(if c.is_alphanumeric() { c } else { ' ' });
    }
    words.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_words() {
        for (name, words) in [
            ("company_claim_number", "company claim number"),
            ("CompanyClaimNumber", "company claim number"),
            ("UnitPrice", "unit price"),
            ("HTTPStatus", "http status"),
            ("l_extendedprice", "l extendedprice"),
            ("dep_delay", "dep delay"),
            ("ProgramCohort__c", "program cohort"),
            ("pmdm__Program_Cohort__C", "program cohort"),
            ("__c", "c"),
            ("a_c", "a c"),
        ] {
            assert_eq!(in_words(name), words);
        }
    }
}
