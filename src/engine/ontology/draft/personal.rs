//! Columns that likely hold personal data: their values are never indexed or listed, and the reasons say why.

use crate::engine::ontology::draft::DraftTable;
use crate::engine::ontology::draft::names::noun;
use crate::engine::ontology::draft::reasons::{CLOSED, Reason};
use crate::model::dataset::ColumnInfo;
use crate::model::ontology::{DataType, Field};
use crate::model::personal::{self, Basis, Content, Finding, Kind};
use crate::model::profile::{ColumnProfile, Figure};

/// What a column says of people, and why that is thought.
pub(super) struct Personal {
    pub kind: String,
    pub because: String,
}

/// Judges a column by what a dictionary says, by its name and values, and by the table that it is in: in a table of
/// patients, "name" is the name of a patient.
pub(super) fn judge(
    table: &DraftTable,
    column: &ColumnInfo,
    (words, nouns): (&[String], &[String]),
    datatype: DataType,
) -> Option<Personal> {
    let figures = table.figures(&column.name);
    let found = match figures.and_then(|figures| figures.likely_personal_data.clone()) {
        None if figures.is_none_or(|figures| !is_judged(figures)) => {
            let content = match datatype {
                DataType::String => Content::Text,
                DataType::Integer => Content::Whole,
                datatype if datatype.is_calendar() => Content::Time,
                _ => Content::Other,
            };
            personal::judge(&column.name, &[], content, &column.sample_values)
        }
        found => found,
    };
    if let Some(found) = found {
        return Some(Personal { because: why(&found), kind: word(found.kind) });
    }
    if table.told.personal.contains(&column.name) {
        return Some(Personal { kind: "personal".to_owned(), because: "The dictionary says so.".to_owned() });
    }
    let named = matches!(words, [only] if matches!(only.as_str(), "name" | "nombre" | "nom"));
    let whose = named && datatype == DataType::String && are_names(&column.sample_values);
    let found = whose.then(|| personal::judge(&format!("{} name", noun(nouns)), &[], Content::Text, &[])).flatten()?;
    let because = format!("The names in {} are those of people.", table.name);
    Some(Personal { kind: word(found.kind), because })
}

/// Whether the profile had the time to look whether the values are personal.
pub(super) fn is_judged(figures: &ColumnProfile) -> bool {
    !figures.not_computed.contains(&Figure::LikelyPersonalData)
}

/// Numbered things are no people: "Customer#0012".
fn are_names(samples: &[String]) -> bool {
    let numbered = samples.iter().filter(|value| value.contains(|c: char| c.is_ascii_digit())).count();
    numbered * 2 <= samples.len()
}

/// First and last names are those of people, whatever they are called.
pub(super) fn hide_names(fields: &mut [Field], reasons: &mut [Vec<Reason>], words: &[Vec<String>]) {
    let Some((first, last)) = name_parts(fields, words).map(|(_, first, last)| (first, last)) else { return };
    for at in [first, last] {
        let Some((field, reasons)) = fields.get_mut(at).zip(reasons.get_mut(at)) else { continue };
        if field.pii.is_none() {
            field.pii = Some(word(Kind::PersonName));
            (field.is_enum, field.index_values) = (false, false);
            reasons.retain(|reason| reason.decided != CLOSED);
            reasons.push(Reason::new("Personal", "Beside it is the other part of people's names."));
        }
    }
}

/// Where first and last names stand, and what is in front of both words.
pub(super) fn name_parts(fields: &[Field], words: &[Vec<String>]) -> Option<(String, usize, usize)> {
    const FIRST: &[&str] = &[
        "first name", "name first", "given name", "fname", "forename", "fore name", "nombre", "prenom", "vorname",
        "nome", "voornaam", "imie",
    ];
    const LAST: &[&str] = &[
        "last name", "name last", "family name", "surname", "lname", "sur name", "apellido", "apellido1", "apellido 1",
        "apellidos", "nom", "nachname", "cognome", "sobrenome", "achternaam", "nazwisko", "name",
    ];
    // "customer first name" too, as long as the last name has the same in front.
    let called = |words: &[String], names: &[&str]| {
        let text = words.join(" ");
        names
            .iter()
            .find_map(|name| text.strip_suffix(name).filter(|front| front.is_empty() || front.ends_with(' ')))
            .map(str::to_owned)
    };
    let texts = || fields.iter().zip(words).enumerate().filter(|(_, (field, _))| field.datatype == DataType::String);
    let (front, first) = texts().find_map(|(at, (_, words))| Some((called(words, FIRST)?, at)))?;
    let last = texts().find(|(_, (_, words))| called(words, LAST).as_ref() == Some(&front)).map(|(at, _)| at)?;
    Some((front, first, last))
}

fn why(found: &Finding) -> String {
    let what = match found.kind {
        Kind::Email => "e-mail addresses",
        Kind::Phone => "phone numbers",
        Kind::PersonName => "names of people",
        Kind::PostalAddress => "postal addresses",
        Kind::DateOfBirth => "dates of birth",
        Kind::NationalId => "numbers that states give to people",
        Kind::BankAccount => "bank accounts",
        Kind::PaymentCard => "numbers of payment cards",
        Kind::IpAddress => "addresses of the internet",
        Kind::Credential => "passwords and other secrets",
    };
    match (found.because.contains(&Basis::Name), found.because.contains(&Basis::Values)) {
        (true, true) => format!("Its name and its values are those of {what}."),
        (false, true) => format!("Its values look like {what}."),
        _ => format!("Its name is that of {what}."),
    }
}

fn word(kind: Kind) -> String {
    let kind = serde_json::to_value(kind).ok();
    kind.as_ref().and_then(|kind| kind.as_str()).unwrap_or("personal").to_owned()
}
