//! Named conditions: flags that are 0 or 1 or say yes or no, and times that are filled when something was done.

use crate::engine::ontology::draft::fields;
use crate::engine::ontology::draft::measured::reference;
use crate::engine::ontology::draft::reasons::{Judged, Reason};
use crate::engine::ontology::draft::sales::many;
use crate::engine::ontology::draft::vocabulary::Vocabulary;
use crate::engine::ontology::draft::{DraftTable, kinds};
use crate::model::ontology::{DataType, Entity, Field, Ontology, Segment};

/// What a flag says of its row, and what its absence says where there is a word for that.
const STATES: &[(&str, Option<&str>)] = &[
    ("active", Some("inactive")),
    ("approved", None),
    ("archived", None),
    ("cancelled", None),
    ("canceled", None),
    ("closed", Some("open")),
    ("completed", Some("incomplete")),
    ("delayed", None),
    ("deleted", None),
    ("delivered", Some("undelivered")),
    ("diverted", None),
    ("enabled", Some("disabled")),
    ("expired", None),
    ("paid", Some("unpaid")),
    ("refunded", None),
    ("returned", Some("unreturned")),
    ("shipped", Some("unshipped")),
    ("verified", Some("unverified")),
];

/// Words of the time at which something was done, and what a row is then.
const DONE: &[(&str, &str)] = &[
    ("return", "returned"),
    ("returned", "returned"),
    ("close", "closed"),
    ("closed", "closed"),
    ("cancel", "cancelled"),
    ("cancelled", "cancelled"),
    ("canceled", "canceled"),
    ("complete", "completed"),
    ("completed", "completed"),
    ("deliver", "delivered"),
    ("delivered", "delivered"),
    ("ship", "shipped"),
    ("shipped", "shipped"),
    ("paid", "paid"),
    ("approved", "approved"),
];

/// What texts say for yes and for no.
const YES_NO: &[[&str; 2]] = &[["y", "n"], ["yes", "no"], ["s", "n"], ["j", "n"], ["o", "n"]];

/// The named conditions of a draft.
///
/// A flag has its conditions instead of itself: "active" must not be a column with 0 and 1.
pub(super) fn name_states(
    tables: &[DraftTable],
    ontology: &mut Ontology,
    vocabulary: &Vocabulary,
    judged: &mut [Judged],
) {
    let mut made: Vec<Segment> = Vec::new();
    let mut flags: Vec<(usize, usize)> = Vec::new();
    for (at, entity) in ontology.datasets.iter().enumerate().filter(|(_, entity)| !entity.hidden) {
        let Some(table) = tables.iter().find(|table| table.name == entity.source) else { continue };
        let words = fields::words(table, vocabulary);
        let shown = entity.fields.iter().enumerate().zip(&words).filter(|((_, field), _)| !field.hidden);
        for ((place, field), words) in shown {
            for (state, condition) in states(table, entity, field, words).into_iter().flatten() {
                let segment = segment(entity, &state, condition);
                if made.iter().all(|other| other.name != segment.name) {
                    made.push(segment);
                    flags.extend((!field.is_time).then_some((at, place)));
                }
            }
        }
    }
    for (at, place) in flags {
        let field = ontology.datasets.get_mut(at).and_then(|entity| entity.fields.get_mut(place));
        let shown = field.filter(|field| !field.hidden);
        if let Some((field, judged)) = shown.zip(judged.get_mut(at)) {
            field.hidden = true;
            judged.say(place, Reason::new("Hidden", "Named conditions stand for it."));
        }
    }
    ontology.segments = made;
}

/// What a column says of rows: the state and the condition for it, and the same of its absence.
fn states(table: &DraftTable, entity: &Entity, field: &Field, words: &[String]) -> [Option<(String, String)>; 2] {
    let at = reference(entity, &field.name);
    let words: &[String] = match words {
        [first, rest @ ..] if matches!(first.as_str(), "is" | "was" | "has") && !rest.is_empty() => rest,
        words => words,
    };
    let figures = table.figures(&field.name);
    let both = figures.is_none_or(|figures| figures.distinct == 2);
    let yes = match field.datatype {
        DataType::Boolean if both => Some((at.clone(), format!("NOT {at}"))),
        DataType::Integer if field.is_enum && both => Some((format!("{at} = 1"), format!("{at} = 0"))),
        DataType::String if field.is_enum && both => {
            yes_and_no(table, field).map(|[yes, no]| (format!("{at} = '{yes}'"), format!("{at} = '{no}'")))
        }
        _ => None,
    };
    if let (Some((yes, no)), [word]) = (yes, words)
        && let Some((state, absent)) = STATES.iter().find(|(state, _)| state == word)
    {
        let absent = absent.map_or_else(|| format!("not {state}"), str::to_owned);
        return [Some(((*state).to_owned(), yes)), Some((absent, no))];
    }
    // Where all rows have it, it tells nothing of what is not done yet.
    let some = figures.is_some_and(|figures| figures.nulls > 0 && figures.distinct > 0);
    let [verb, rest @ ..] = words else { return [None, None] };
    let timed = matches!(rest, [last] if matches!(last.as_str(), "date" | "time" | "at" | "on"));
    let known = DONE.iter().find(|(known, _)| known == verb).map(|(_, state)| *state);
    match known.or_else(|| is_state(table, entity, field, verb).then_some(verb.as_str())) {
        Some(state) if some && timed && field.datatype.is_calendar() && !kinds::is_audit(words) => {
            let absent = STATES.iter().find(|(known, _)| *known == state).and_then(|(_, absent)| *absent);
            let absent = absent.map_or_else(|| format!("not {state}"), str::to_owned);
            [Some((state.to_owned(), format!("{at} IS NOT NULL"))), Some((absent, format!("{at} IS NULL")))]
        }
        _ => [None, None],
    }
}

/// Whether the word of a time says what was done then: not when the rows happened, as all of them did, and not where a
/// value or another column is called so.
fn is_state(table: &DraftTable, entity: &Entity, field: &Field, word: &str) -> bool {
    let when = entity.default_time_field.as_ref() == Some(&field.name);
    let is_value = |other: &Field| {
        let column = table.column(&other.name).into_iter().flat_map(|column| &column.sample_values);
        let most = table.figures(&other.name).into_iter().flat_map(|figures| &figures.top_values);
        let mut known = column.chain(most.map(|top| &top.value)).chain(other.value_synonyms.keys());
        other.is_enum && known.any(|value| value.eq_ignore_ascii_case(word))
    };
    let done = kinds::is_done(word) && !kinds::is_planned(word) && !word.starts_with("create");
    done && !when && !entity.fields.iter().any(|other| other.label == word || is_value(other))
}

/// The values of a text that has two, where they are a yes and a no.
fn yes_and_no<'a>(table: &'a DraftTable, field: &Field) -> Option<[&'a str; 2]> {
    let samples = table.column(&field.name).map(|column| &column.sample_values).filter(|samples| samples.len() == 2)?;
    let value = |said: &str| samples.iter().find(|value| value.eq_ignore_ascii_case(said)).map(String::as_str);
    YES_NO.iter().find_map(|[yes, no]| Some([value(yes)?, value(no)?]))
}

fn segment(entity: &Entity, state: &str, expression: String) -> Segment {
    let nouns = many(&entity.noun());
    let positive = STATES.iter().find(|(_, absent)| *absent == Some(state)).map(|(positive, _)| *positive);
    let mut synonyms = Vec::new();
    if let Some(positive) = positive {
        synonyms.extend(
            ["not", "not yet", "not been", "never"]
                .map(|not| format!("{not} {positive}"))
                .into_iter()
                .chain([format!("{nouns} that are not {positive}"), format!("{nouns} that were not {positive}")]),
        );
    } else {
        synonyms.push(state.to_owned());
    }
    Segment { name: format!("{state} {nouns}"), synonyms, expression, datasets: vec![entity.name.clone()] }
}
