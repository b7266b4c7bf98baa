//! What a language model may answer, and what becomes of it.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Context;
use super::ground::{Grounds, Said, ground};
use super::meant::{Meant, choice, occurs};
use super::veil::Veil;
use crate::engine::agent::plan::validate::validate;
use crate::model::ontology::{Ontology, in_words};
use crate::model::plan::Plan;
use crate::model::reading::{Cannot, Choice, Chosen, Clarification, Outcome, Reading};

/// Most words that are named as unknown, and most things that are offered instead.
const MAX_NAMED: usize = 5;

/// A plan with its phrases, or one of the other two.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Answer {
    /// The question as a plan.
    plan: Option<Plan>,
    /// Which words of the question became what in the plan: all that carry meaning, and everything that it uses.
    phrases: Vec<Said>,
    /// Words that could be several things of the ontology; 1 to 3.
    clarify: Option<Vec<Unclear>>,
    /// The ontology has nothing for some words.
    cannot: Option<Unanswerable>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Unclear {
    /// As they stand in the question.
    words: String,
    /// What they could be, the likeliest first; 2 to 5.
    options: Vec<Meant>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Unanswerable {
    /// Words as they stand in the question.
    unknown: Vec<String>,
}

/// Makes an outcome of an answer.
///
/// # Errors
/// Everything that is wrong with it, for the model to repair.
pub(super) fn read(
    text: &str,
    question: &str,
    ontology: &Ontology,
    context: &Context<'_>,
    veil: &Veil<'_>,
) -> Result<Outcome, Vec<String>> {
    let answer: Answer = serde_json::from_str(text).map_err(|problem| vec![malformed(&problem)])?;
    match answer {
        Answer { plan: Some(mut plan), phrases, clarify: None, cannot: None } => {
            veil.uncover(&mut plan);
            // Its problems name fields and no values: they may be sent back.
            let problems = validate(&plan, ontology);
            if !problems.is_empty() {
                return Err(problems);
            }
            let before = context.history.last();
            let Grounds { phrases, assumptions } = ground(&plan, &phrases, question, ontology, before)?;
            Ok(Outcome::Plan(Box::new(Reading {
                plan,
                phrases,
                assumptions,
                follows: before.is_some(),
                ..Reading::default()
            })))
        }
        Answer { plan: None, clarify: Some(unclear), cannot: None, .. } => {
            clarify(unclear, question, ontology, context.chosen)
        }
        Answer { plan: None, clarify: None, cannot: Some(Unanswerable { unknown }), .. } => {
            Ok(Outcome::Cannot(cannot(unknown, question, ontology)))
        }
        Answer { .. } => Err(vec!["the answer: it has exactly one of plan, clarify and cannot".into()]),
    }
}

/// The parser's words, which may quote the answer, short and on one line.
fn malformed(problem: &serde_json::Error) -> String {
    let said: String = problem.to_string().chars().filter(|c| !c.is_control()).take(300).collect();
    format!("the answer is not of the form that was asked for: {said}")
}

fn clarify(
    unclear: Vec<Unclear>,
    question: &str,
    ontology: &Ontology,
    chosen: &[Chosen],
) -> Result<Outcome, Vec<String>> {
    let mut problems = Vec::new();
    if !(1..=3).contains(&unclear.len()) {
        problems.push("clarify: 1 to 3 entries".into());
    }
    let mut asked: Vec<Clarification> = Vec::new();
    for (at, Unclear { words, options }) in unclear.iter().enumerate() {
        let at = format!("clarify[{at}]");
        let words = words.trim();
        let key = words.to_lowercase();
        if !occurs(words, question) {
            problems.push(format!("{at}.words: they do not stand in the question"));
        }
        if chosen.iter().any(|choice| choice.key == key) || asked.iter().any(|asked| asked.key == key) {
            problems.push(format!("{at}.words: this is settled already"));
        }
        let mut choices: Vec<Choice> = Vec::new();
        for (number, meant) in options.iter().enumerate() {
            match choice(meant, ontology) {
                Some(choice) if choices.iter().any(|other| other.value == choice.value) => {}
                Some(choice) => choices.push(choice),
                None => problems.push(format!("{at}.options[{number}]: there is no such thing in the ontology")),
            }
        }
        if problems.is_empty() && !(2..=5).contains(&choices.len()) {
            problems.push(format!("{at}.options: 2 to 5 different ones"));
        }
        let Some(first) = choices.first() else { continue };
        let question = format!("What is meant by “{words}”?");
        asked.push(Clarification { key, question, assumption: first.label.clone(), options: choices });
    }
    if problems.is_empty() { Ok(Outcome::Clarify(asked)) } else { Err(problems) }
}

/// The model's reasons are its own words: only which words it did not find is believed.
fn cannot(unknown: Vec<String>, question: &str, ontology: &Ontology) -> Cannot {
    let mut named: Vec<String> = Vec::new();
    for words in unknown.iter().map(|words| words.trim()).filter(|words| occurs(words, question)) {
        if named.len() < MAX_NAMED && !named.iter().any(|known| known == words) {
            named.push(words.to_owned());
        }
    }
    let quoted: Vec<String> = named.iter().map(|words| format!("“{words}”")).collect();
    let reason = match quoted.is_empty() {
        true => "The question cannot be read as one about these data.".to_owned(),
        false => format!("Nothing in these data stands for {}.", quoted.join(" or ")),
    };
    let metrics = ontology.metrics.iter().map(|metric| in_words(&metric.name));
    let datasets = ontology.datasets.iter().filter(|entity| !entity.hidden).map(|entity| in_words(&entity.name));
    Cannot { reason, unknown: named, instead: metrics.chain(datasets).take(MAX_NAMED).collect() }
}
