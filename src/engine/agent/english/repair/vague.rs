//! Questions that leave out what is asked for: "top 10", "show it by month", "what about last year?" with nothing before
//! them. What they may mean is offered in whole questions, and only such as have an answer.

use crate::engine::agent::english::lexicon::words;
use crate::engine::agent::planner::OF_A_QUESTION;
use crate::model::ontology::{Entity, FieldRole, Ontology, in_words};
use crate::model::reading::{Choice, Clarification, Outcome};

use super::unclear;
use crate::engine::agent::english::vocabulary;

/// Under which key the question that is meant is kept.
pub(in super::super) fn key(question: &str) -> String {
    format!("{OF_A_QUESTION}{}", words::split(question).join(" "))
}

/// What became of the question that was chosen, with a word on it.
pub(in super::super) fn as_chosen(mut outcome: Outcome, text: &str) -> Outcome {
    if let Outcome::Plan(reading) = &mut outcome {
        reading.assumptions.push(format!("Read as “{text}”, as it was chosen."));
    }
    outcome
}

/// The question back, where at least two whole questions may be meant. `tried` says whether a question has an answer.
pub(in super::super) fn asked_back(
    question: &str,
    ontology: &Ontology,
    tried: &dyn Fn(&str) -> bool,
) -> Option<Clarification> {
    let said = words::split(question);
    let list: Vec<&str> = said.iter().map(String::as_str).collect();
    let may = unclear::parts_of_months(question)
        .or_else(|| on_its_own(question, &list, ontology))
        .or_else(|| ranked(&list, ontology))
        .or_else(|| counted(&list, ontology))
        .or_else(|| lasting(&list, ontology))
        .or_else(|| unclear::times(question))?;
    let mut options: Vec<Choice> = Vec::new();
    for text in may.into_iter().take(12) {
        if options.len() < 4 && options.iter().all(|known| known.value != text) && tried(&text) {
            options.push(Choice { label: text.clone(), value: text });
        }
    }
    let assumption = options.get(1).and(options.first())?.label.clone();
    Some(Clarification {
        key: key(question),
        question: "The question leaves open what is asked for. Which of these is meant?".into(),
        options,
        assumption,
    })
}

fn metrics(ontology: &Ontology) -> impl Iterator<Item = String> + '_ {
    ontology.metrics.iter().map(|metric| in_words(&metric.name))
}

/// Datasets whose rows have a name of their own.
fn things(ontology: &Ontology) -> impl Iterator<Item = &Entity> {
    ontology.datasets.iter().filter(|entity| {
        let label = entity.label_field.as_ref().and_then(|label| entity.field(label));
        !entity.hidden && label.is_some_and(|label| label.role != FieldRole::Key && !label.datatype.is_number())
    })
}

pub(in super::super) fn many(noun: &str) -> String {
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if noun.ends_with(['s', 'x']) || noun.ends_with("ch") || noun.ends_with("sh") => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// "and in 2024?", "show it by month": of what is not said.
fn on_its_own(question: &str, list: &[&str], ontology: &Ontology) -> Option<Vec<String>> {
    let rest = match list {
        ["what" | "how", "about", rest @ ..]
        | ["what", "is" | "was", "it" | "that", rest @ ..]
        | ["and" | "or" | "but" | "now" | "same", rest @ ..] => rest,
        [
            "show" | "give" | "list" | "display" | "plot" | "draw" | "make",
            "me",
            "it" | "this" | "that" | "them",
            rest @ ..,
        ]
        | [
            "show" | "give" | "list" | "display" | "plot" | "draw" | "make",
            "it" | "this" | "that" | "them",
            rest @ ..,
        ] => rest,
        _ => return None,
    };
    // Names are written as they were.
    let written: Vec<&str> = question.split_whitespace().collect();
    let same = written.len() == list.len();
    let rest = if same { written[list.len() - rest.len()..].join(" ") } else { rest.join(" ") };
    let rest = rest.trim_end_matches(['?', '.', '!']);
    let of_others = rest.split(' ').any(|word| matches!(word, "those" | "them" | "these"));
    (!rest.is_empty() && !of_others).then(|| metrics(ontology).map(|metric| format!("{metric} {rest}")).collect())
}

/// "top 10", "who is the best?": neither of what nor by what.
fn ranked(list: &[&str], ontology: &Ontology) -> Option<Vec<String>> {
    let word = list.iter().find(|word| matches!(**word, "top" | "best" | "worst" | "bottom" | "leading"))?;
    let number = list.iter().find(|word| word.chars().all(|c| c.is_ascii_digit()));
    let empty = |word: &&str| {
        word.chars().all(|c| c.is_ascii_digit())
            || matches!(
                *word,
                "ones" | "one" | "performer" | "performers" | "top" | "best" | "worst" | "bottom" | "leading"
            )
            || vocabulary::is_filler(word)
            || vocabulary::is_show(word)
    };
    if !list.iter().all(empty) {
        return None;
    }
    let rows = number.copied().unwrap_or("5");
    let end = if matches!(*word, "worst" | "bottom") { "bottom" } else { "top" };
    let mut may = Vec::new();
    for metric in metrics(ontology).take(3) {
        may.extend(things(ontology).take(6).map(|thing| format!("{end} {rows} {} by {metric}", many(&thing.noun()))));
    }
    Some(may)
}

/// "how many are there in each shop?": what is counted is not said.
fn counted(list: &[&str], ontology: &Ontology) -> Option<Vec<String>> {
    let (["how", "many", "are" | "were", "there", rest @ ..]
    | ["how", "many", "do" | "did", "we" | "they" | "you", "have", rest @ ..]
    | ["how", "many", "of", "them" | "those" | "these", rest @ ..]) = list
    else {
        return None;
    };
    let rest = rest.join(" ");
    let things = ontology.datasets.iter().filter(|entity| !entity.hidden);
    Some(things.map(|thing| format!("number of {} {rest}", many(&thing.noun())).trim().to_owned()).collect())
}

/// "How long did it take?": which of the times that things take.
fn lasting(list: &[&str], ontology: &Ontology) -> Option<Vec<String>> {
    let ["how", "long", "does" | "do" | "did" | "is" | "was", "it" | "that" | "this" | "they", ..] = list else {
        return None;
    };
    let fields = ontology.datasets.iter().filter(|entity| !entity.hidden).flat_map(|entity| &entity.fields);
    let times = fields.filter(|field| {
        !field.hidden
            && field.datatype.is_number()
            && field.unit.as_deref().and_then(vocabulary::unit).is_some_and(|(kind, _)| kind == "time")
    });
    Some(times.map(|field| format!("average {}", field.words())).collect())
}
