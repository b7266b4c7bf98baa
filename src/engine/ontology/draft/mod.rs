//! An ontology made from tables, so that people can ask at once and correct later: what a row of each table is, its
//! keys and times, how tables refer to each other, which numbers are added up and which are averaged.
//!
//! What cannot be known from names and profiles is measured. The caller asks for [`key_candidates`] and
//! [`relationship_candidates`], runs their SQL, and gives the results back as [`Facts`]; then [`draft`] decides. What
//! was not measured is decided by names alone and said in the notes.

mod amounts;
mod answers;
mod called;
mod choose;
mod columns;
mod currencies;
pub mod declared;
pub mod dictionary;
mod entities;
mod evidence;
mod fields;
mod flags;
mod keys;
mod kinds;
mod labels;
mod made;
mod marks;
pub mod measure;
mod measured;
mod metrics;
mod names;
mod parts;
mod personal;
mod quantities;
mod reading;
mod reasons;
mod relate;
mod roles;
mod sales;
mod says;
mod several;
mod short;
mod subtypes;
#[cfg(test)]
mod tests;
mod totals;
mod twins;
mod units;
mod vocabulary;
mod weigh;
mod words;
mod written;

use crate::model::source::quoted;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::dataset::ColumnInfo;
use crate::model::ontology::{DataType, Link, Ontology, Term};
use crate::model::profile::{ColumnProfile, Profile};

pub use answers::Answers;
pub use evidence::{Asked, Evidence, State};
pub use keys::key_candidates;
pub use parts::{PartsCandidate, Period, parts_candidates, periods};
pub use reasons::{ColumnReasons, Reason, TableReasons};
pub use relate::relationship_candidates;
pub use written::{TimeCandidate, Written, time_candidates};

/// What is known of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DraftTable {
    pub name: String,
    pub description: String,
    pub columns: Vec<ColumnInfo>,
    /// Without it, keys and closed sets are told by names only.
    pub profile: Option<Profile>,
    pub row_count: i64,
    /// As its database declares them; empty where nothing is declared.
    pub primary_key: Vec<String>,
    pub unique_keys: Vec<Vec<String>>,
    pub foreign_keys: Vec<ForeignKey>,
    /// References that a person confirmed, and what a person said is none.
    pub confirmed: Vec<ForeignKey>,
    pub refused: Vec<ForeignKey>,
    /// Of columns that are enumerations.
    pub values: BTreeMap<String, Vec<String>>,
    /// Of columns that hold times, written as numbers or texts.
    pub times: BTreeMap<String, Written>,
    /// The columns for year, month and day, where they make a date in every row that has all three.
    pub date_parts: Option<[String; 3]>,
    /// The columns for the year and its month or quarter, where they make one in every row that has both.
    pub period: Option<Period>,
    /// Names the engine that holds it: tables of two engines cannot be joined. `None` is the service's own.
    pub place: Option<String>,
    pub told: Told,
}

/// What a dictionary declares of a table, of which the keys and references are among the table's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub keys: BTreeSet<Vec<String>>,
    pub references: BTreeSet<Vec<String>>,
    /// Of columns that have no others.
    pub values: BTreeMap<String, Vec<String>>,
    /// Columns that hold personal data.
    pub personal: BTreeSet<String>,
}

/// A reference to another table, as somebody said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    pub columns: Vec<String>,
    pub to: String,
    pub to_columns: Vec<String>,
}

/// Columns that may be a key of a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyCandidate {
    pub table: String,
    pub columns: Vec<String>,
}

/// Columns of a table that may hold keys of another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    pub from: String,
    pub from_columns: Vec<String>,
    pub to: String,
    pub to_columns: Vec<String>,
}

/// How many of the different values of a candidate there are, and how many of them are keys of the other table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    pub values: i64,
    pub found: i64,
}

/// Rows of a huge table that are looked at for what it refers to.
pub(crate) const SAMPLE: i64 = 1_000_000;

/// Which rows of a table are looked at for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    All,
    /// Those whose values hash to one of several parts, where all would take too much memory at once: equal values are
    /// in one part.
    Part {
        at: i64,
        of: i64,
    },
    /// Those whose only column is between two whole numbers, of which each is one bit.
    Between {
        from: i64,
        to: i64,
    },
    /// About [`SAMPLE`] of so many rows: enough to refute a key, and never to confirm one.
    SampleOf(i64),
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Whether columns are a key: no two rows agree in all of them, and none is NULL.
    pub keys: BTreeMap<KeyCandidate, bool>,
    /// Of which it could not be measured.
    pub unknown: BTreeSet<KeyCandidate>,
    pub overlaps: BTreeMap<Candidate, Overlap>,
}

/// An ontology, and what people should look at in it: notes, and evidence that is not sure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    pub ontology: Ontology,
    pub notes: Vec<String>,
    /// Why its keys and relationships are what they are.
    pub evidence: Vec<Evidence>,
    /// Why its fields are what they are.
    pub columns: Vec<TableReasons>,
}

/// What a person says of the ontology that is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub name: String,
    /// IANA name of the time zone in which days begin; UTC when nobody says.
    pub timezone: Option<String>,
    pub glossary: Vec<Term>,
    /// What people wrote of the tables.
    pub dictionary: dictionary::Dictionary,
    /// What people answered of references.
    pub answers: Answers,
}

/// Drafts an ontology of tables. The same tables and facts make the same draft.
pub fn draft(wanted: &Wanted, tables: &[DraftTable], facts: &Facts) -> Draft {
    let vocabulary = vocabulary::Vocabulary::new(tables);
    let mut notes = Vec::new();
    let seen = columns::seen(tables, &vocabulary);
    let mut found: Vec<keys::Keys> = seen.iter().map(|table| keys::keys(table, &seen, &vocabulary, facts)).collect();
    let choose::Chosen { references, left } = choose::references(tables, &seen, &found, facts);
    choose::referred(&mut found, &seen, &references, facts, &mut notes);
    let mut evidence: Vec<Evidence> =
        seen.iter().zip(&found).map(|(table, keys)| evidence::of_key(table, keys, facts)).collect();
    let others = |candidate: &Candidate| relate::others(candidate, &seen, &found, facts);
    evidence.extend(references.iter().map(|it| evidence::of_reference(it, tables, others)));
    evidence.extend(left.iter().map(|it| evidence::of_left(it, others)));
    evidence.extend(tables.iter().flat_map(evidence::of_refused));
    let relationships = made::relationships(&references, tables, &vocabulary, &found);
    let zoned = wanted.timezone.is_some();
    let made = entities::entities(tables, &vocabulary, &found, &relationships, zoned, &mut notes);
    let (datasets, mut judged): (Vec<_>, Vec<_>) = made.into_iter().unzip();
    let mut ontology = Ontology {
        name: wanted.name.clone(),
        description: format!("Drafted from {}.", counted(tables.len(), "table")),
        glossary: wanted.glossary.iter().chain(wanted.dictionary.terms()).cloned().collect(),
        datasets,
        relationships,
        refused: wanted.answers.refused.clone(),
        ..Ontology::default()
    };
    entities::name_lists(&mut ontology, &vocabulary, &mut judged);
    roles::name_codes(&mut ontology);
    entities::settle_times(&mut ontology, &mut judged);
    if let Some(timezone) = &wanted.timezone {
        ontology.calendar.timezone.clone_from(timezone);
    } else if zoned_times(&ontology) {
        notes.push("There are times with a zone: say in which time zone days begin. UTC was taken.".into());
    }
    currencies::name_currencies(tables, &mut ontology, &mut judged, &mut notes);
    notes.extend(tables.iter().zip(&ontology.datasets).filter_map(|(table, entity)| totals::of_totals(table, entity)));
    sales::name_amounts(&mut ontology, &vocabulary);
    ontology.metrics = metrics::metrics(tables, &ontology, &vocabulary, &mut notes);
    flags::name_states(tables, &mut ontology, &vocabulary, &mut judged);
    subtypes::metrics(&mut ontology, tables);
    metrics::fit(&mut ontology.metrics, &mut notes);
    wanted.dictionary.name(&mut ontology);
    let columns = tables.iter().zip(judged).map(|(table, judged)| judged.of(table)).collect();
    Draft { ontology, notes, evidence, columns }
}

impl KeyCandidate {
    /// The question in words.
    fn said(&self) -> String {
        format!("whether {} tells the rows of {} apart", self.columns.join(", "), self.table)
    }

    /// How many rows speak against the key: 0 when it is one, as far as those rows go that are looked at.
    pub fn sql(&self, rows: Rows) -> String {
        let table = quoted(&self.table);
        let columns = self.columns.iter().map(|name| quoted(name)).collect::<Vec<_>>();
        let nulls = columns.iter().map(|name| format!("{name} IS NULL")).collect::<Vec<_>>().join(" OR ");
        let columns = columns.join(", ");
        let twice = |from: String| {
            format!(
                "SELECT count(*) FROM (SELECT 1 AS one FROM {from} GROUP BY {columns} HAVING count(*) > 1 LIMIT 1) AS twice"
            )
        };
        let twice = match rows {
            Rows::All => twice(table.clone()),
            Rows::Part { at, of } => twice(format!("{table} WHERE hash({columns}) % {of} = {at}")),
            Rows::SampleOf(rows) => twice(sampled(&table, &columns, rows)),
            Rows::Between { from, to } => format!(
                "SELECT count(*) - coalesce(bit_count(bitstring_agg(CAST({columns} AS BIGINT), {from}, {to})), 0) \
                 FROM {table} WHERE {columns} BETWEEN {from} AND {to}"
            ),
        };
        format!("SELECT (SELECT count(*) FROM {table} WHERE {nulls}) + ({twice}) AS against")
    }
}

/// About [`SAMPLE`] rows of a table that has so many: blocks of it, chosen by chance that a seed fixes. The others are not
/// read, as they are where each row is chosen by itself.
fn sampled(table: &str, columns: &str, rows: i64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "only the ratio matters")]
    let percent = 100.0 * SAMPLE as f64 / rows.max(1) as f64;
    format!("(SELECT {columns} FROM {table} TABLESAMPLE system({percent:.6} PERCENT) REPEATABLE (7)) AS sampled")
}

impl Candidate {
    /// The question in words.
    fn said(&self) -> String {
        let Self { from, from_columns, to, to_columns } = self;
        format!("whether {from}.{} refers to {to}.{}", from_columns.join(", "), to_columns.join(", "))
    }

    /// What somebody said of a table.
    fn of(from: &str, said: &ForeignKey) -> Self {
        let ForeignKey { columns, to, to_columns } = said.clone();
        Self { from: from.to_owned(), from_columns: columns, to, to_columns }
    }

    fn is(&self, from: &str, said: &ForeignKey) -> bool {
        *self == Self::of(from, said)
    }

    fn link(&self) -> Link {
        let Self { from, from_columns, to, to_columns } = self.clone();
        Link { from, from_columns, to, to_columns }
    }

    /// How many different values there are, and how many of them are keys of the other table; of about [`SAMPLE`] rows
    /// where the table is huge, which says how many it has. Of a huge other table only those keys are held that were asked
    /// for.
    pub fn sql(&self, huge: Option<i64>, huge_to: bool) -> String {
        let names = |columns: &[String], prefix: &str| {
            let named = columns.iter().enumerate().map(|(at, name)| format!("{} AS {prefix}{at}", quoted(name)));
            named.collect::<Vec<_>>().join(", ")
        };
        let listed = |columns: &[String]| columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        let given = self.from_columns.iter().map(|name| format!("{} IS NOT NULL", quoted(name))).collect::<Vec<_>>();
        let from = match huge {
            Some(rows) => sampled(&quoted(&self.from), &listed(&self.from_columns), rows),
            None => quoted(&self.from),
        };
        // 0 and -1 stand for none where there is no such key.
        let values = match self.from_columns.len() {
            1 => "coalesce(sum(CASE WHEN b0 IS NULL AND CAST(a0 AS VARCHAR) IN ('0', '-1', '') THEN 0 ELSE 1 END), 0)",
            _ => "count(*)",
        };
        let numbered =
            |prefix: &str| (0..self.from_columns.len()).map(|at| format!("{prefix}{at}")).collect::<Vec<_>>();
        let (mine, theirs) = (numbered("a"), numbered("b"));
        let joined = mine.iter().zip(&theirs).map(|(a, b)| format!("{a} = {b}")).collect::<Vec<_>>().join(" AND ");
        let asked =
            format!("SELECT DISTINCT {} FROM {from} WHERE {}", names(&self.from_columns, "a"), given.join(" AND "));
        let keys = format!("SELECT DISTINCT {} FROM {}", names(&self.to_columns, "b"), quoted(&self.to));
        if huge_to {
            let among = format!("({}) IN (SELECT {} FROM a)", listed(&self.to_columns), mine.join(", "));
            return format!(
                "WITH a AS ({asked}), b AS ({keys} WHERE {among}) SELECT {values} AS values_there, count(b0) AS found \
                 FROM a LEFT JOIN b ON {joined}"
            );
        }
        format!(
            "SELECT {values} AS values_there, count(b0) AS found FROM ({asked}) AS a LEFT JOIN ({keys}) AS b ON {joined}"
        )
    }
}

impl DraftTable {
    fn column(&self, name: &str) -> Option<&ColumnInfo> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    fn figures(&self, column: &str) -> Option<&ColumnProfile> {
        self.profile.as_ref()?.columns.iter().find(|figures| figures.name == column)
    }

    /// Whether a person said that this is no reference.
    fn refuses(&self, candidate: &Candidate) -> bool {
        self.refused.iter().any(|said| candidate.is(&self.name, said))
    }

    fn rows(&self) -> i64 {
        self.profile.as_ref().map_or(self.row_count, |profile| profile.row_count)
    }
}

/// An identifier, quoted only where it must be.
fn identifier(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    // A word of SQL as a name is quoted too.
    const RESERVED: &[&str] = &[
        "all", "and", "any", "as", "asc", "between", "by", "case", "cast", "check", "column", "cross", "current_date",
        "date", "day", "default", "desc", "distinct", "else", "end", "exists", "extract", "false", "for", "foreign",
        "from", "full", "group", "having", "hour", "in", "inner", "interval", "is", "join", "left", "like", "limit",
        "minute", "month", "natural", "not", "null", "offset", "on", "or", "order", "outer", "over", "primary",
        "references", "right", "second", "select", "set", "table", "then", "time", "timestamp", "to", "true", "union",
        "unique", "user", "using", "values", "when", "where", "window", "with", "year",
    ];
    let reserved = RESERVED.contains(&name.to_ascii_lowercase().as_str());
    if plain && !reserved { name.to_owned() } else { quoted(name) }
}

/// Whether a row's time depends on where one is.
fn zoned_times(ontology: &Ontology) -> bool {
    let times = ontology.datasets.iter().filter_map(|entity| entity.field(entity.default_time_field.as_ref()?));
    times.into_iter().any(|field| field.datatype == DataType::DateTimeTz)
}

/// "1 table", "3 tables".
fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {}", names::plural(noun)) }
}
