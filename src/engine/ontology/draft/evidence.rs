//! Why the draft says what it says: for each key and each reference what speaks for it, and whether somebody should look
//! at it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::ontology::draft::choose::Left;
use crate::engine::ontology::draft::columns::Seen;
use crate::engine::ontology::draft::keys::Keys;
use crate::engine::ontology::draft::relate::Reference;
use crate::engine::ontology::draft::says::Says;
use crate::engine::ontology::draft::weigh::SURE;
use crate::engine::ontology::draft::{Candidate, DraftTable, Facts, Overlap};
use crate::model::ontology::{Confidence, Link};

/// Keys that could not be measured, as many as are named.
const MOST_OPEN: usize = 3;
/// So many different values are no chance where each is a key of the column's own name.
const MANY_VALUES: i64 = 10;

/// A decision of a draft, and what speaks for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Evidence {
    /// The decision: "orders.cust_id refers to customers.customer_id".
    pub decided: String,
    pub because: Vec<String>,
    /// Whether it needs no second look.
    pub sure: bool,
    /// Of a reference: what may be answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Asked>,
}

/// A reference that people may confirm, refuse, or set right. `answers` of the next draft take its `link`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Asked {
    pub link: Link,
    pub state: State,
    /// What the column may refer to instead, the likeliest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Link>,
}

/// Where a reference stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Drafted,
    /// Its name says so, its values do not: it is not drafted.
    LeftOut,
    Confirmed,
    Refused,
}

/// What speaks for the keys of a table.
pub(super) fn of_key(table: &Seen<'_>, keys: &Keys, facts: &Facts) -> Evidence {
    let name = &table.table.name;
    if keys.primary.is_empty() {
        let open = facts.unknown.iter().filter(|it| it.table == *name);
        let open: Vec<String> = open.map(|it| it.columns.join(", ")).take(MOST_OPEN).collect();
        let because = vec![match open.is_empty() {
            true => "No column, and no few of them together, tell its rows apart.".to_owned(),
            false => format!("Whether its rows are told apart could not be measured: by {}.", open.join("; by ")),
        }];
        return Evidence { decided: format!("{name} has no key"), because, sure: false, reference: None };
    }
    let declared = table.table.primary_key == keys.primary;
    let rows = table.table.rows();
    let guessed = !declared && facts.unknown.contains(&table.candidate(&keys.primary));
    let measured = is_measured(table, &keys.primary, facts);
    let because = match (declared, guessed) {
        (true, _) => declared_by(table.table.told.keys.contains(&keys.primary)).to_owned(),
        (false, true) => {
            format!("It is called so, and an estimate says it; that no two of its {rows} rows agree was not measured.")
        }
        (false, false) if measured => format!("No two of its {rows} rows agree there, and none is empty."),
        (false, false) => format!("It is called so; that no two of its {rows} rows agree was not measured."),
    };
    let others: Vec<String> = keys.unique.iter().map(|columns| columns.join(", ")).collect();
    let others = (!others.is_empty()).then(|| format!("Keys too: {}.", others.join("; ")));
    let decided = format!("{name} is told apart by {}", keys.primary.join(", "));
    let because = std::iter::once(because).chain(others).collect();
    Evidence { decided, because, sure: declared || rows >= 5 && measured && !guessed, reference: None }
}

/// Whether somebody looked that columns tell the rows of a table apart, or that some of them already do.
fn is_measured(table: &Seen<'_>, columns: &[String], facts: &Facts) -> bool {
    let part = |key: &[String]| key.iter().all(|column| columns.contains(column));
    let counted = |name: &String| table.column(name)?.is_unique(table.table.rows());
    facts.keys.iter().any(|(it, is_key)| *is_key && it.table == table.table.name && part(&it.columns))
        || columns.iter().any(|name| counted(name) == Some(true))
        || table.table.unique_keys.iter().any(|key| part(key))
}

/// What speaks for a reference.
pub(super) fn of_reference(
    reference: &Reference,
    tables: &[DraftTable],
    others: impl Fn(&Candidate) -> Vec<Link>,
) -> Evidence {
    let candidate = &reference.candidate;
    let from = tables.iter().find(|table| table.name == candidate.from);
    let told = from.is_some_and(|table| table.told.references.contains(&candidate.from_columns));
    let names = match (reference.confidence, reference.says) {
        (Confidence::Verified, _) => "A person said so.",
        (Confidence::Declared, _) => declared_by(told),
        (Confidence::Inferred, Some(says)) => said(says),
        (Confidence::Inferred, None) => "Every column of the key is there under its name.",
    };
    let values = reference.overlap.map_or_else(|| "Its values were not compared.".to_owned(), values);
    let state = match reference.confidence {
        Confidence::Verified => State::Confirmed,
        Confidence::Declared | Confidence::Inferred => State::Drafted,
    };
    // A database holds what it declares; what somebody wrote of old data is worth a look.
    let gone = told && reference.overlap.and_then(Overlap::part).is_some_and(|part| part < 0.9);
    let all = reference.overlap.is_some_and(|it| it.values >= MANY_VALUES && it.found == it.values);
    let enough = if all && reference.says == Some(Says::SameName) { SURE - 0.5 } else { SURE };
    let sure = match reference.confidence {
        Confidence::Verified => true,
        Confidence::Declared => !gone,
        Confidence::Inferred => reference.weight >= enough,
    };
    let others = if sure { Vec::new() } else { others(candidate) };
    Evidence {
        decided: decided(candidate, "refers to"),
        because: vec![names.into(), values],
        sure,
        reference: Some(Asked { link: candidate.link(), state, others }),
    }
}

/// What speaks against a reference that its name promises.
pub(super) fn of_left(left: &Left, others: impl Fn(&Candidate) -> Vec<Link>) -> Evidence {
    let candidate = &left.candidate;
    Evidence {
        decided: decided(candidate, "does not refer to"),
        because: vec!["It is called like a key there.".into(), values(left.overlap)],
        sure: false,
        reference: Some(Asked { link: candidate.link(), state: State::LeftOut, others: others(candidate) }),
    }
}

/// What people said that a table does not refer to.
pub(super) fn of_refused(table: &DraftTable) -> impl Iterator<Item = Evidence> + '_ {
    table.refused.iter().map(|said| {
        let candidate = Candidate::of(&table.name, said);
        Evidence {
            decided: decided(&candidate, "does not refer to"),
            because: vec!["A person said so.".into()],
            sure: true,
            reference: Some(Asked { link: candidate.link(), state: State::Refused, others: Vec::new() }),
        }
    })
}

fn decided(candidate: &Candidate, verb: &str) -> String {
    let columns = |table: &str, columns: &[String]| format!("{table}.{}", columns.join(", "));
    let from = columns(&candidate.from, &candidate.from_columns);
    format!("{from} {verb} {}", columns(&candidate.to, &candidate.to_columns))
}

fn values(Overlap { values, found }: Overlap) -> String {
    format!("{found} of its {values} different values are there.")
}

fn declared_by(dictionary: bool) -> &'static str {
    if dictionary { "The dictionary declares it." } else { "Its database declares it." }
}

fn said(says: Says) -> &'static str {
    match says {
        Says::Table => "It is called like the table.",
        Says::TableWithRole => "It is called like the table, with a role before it.",
        Says::SameName => "It is called like the key there.",
        Says::SameNameWithRole => "It is called like the key there, with a role beside it.",
        Says::ShortForm => "Its name is short for the table's.",
        Says::PartOfTable => "Its name is a part of the table's.",
        Says::People => "It is about people, and these are the people here.",
        Says::OwnRole => "It says which other row of its own table is meant.",
        Says::SomeId => "It is called like a key of something.",
        Says::Role => "It says which one is meant, and not of what.",
        Says::Nothing | Says::Another | Says::Amount => "No name says so.",
    }
}
