//! The built-in planner: from a question to a plan without a language model. It reads a question as [`items`], makes a
//! [`sketch`] of what it says, finds out which things of the ontology its nouns are, and builds a plan. It answers only
//! when every word that means something was understood and one reading is clearly the best; otherwise it asks back or
//! says what it does not know.

mod build;
mod choose;
mod follow;
mod grammar;
mod items;
mod parse;
mod parts;
mod refuse;
mod rephrase;
mod resolve;
mod sketch;
mod spelling;
#[cfg(test)]
mod tests;

use crate::engine::agent::lexicon::Lexicon;
use crate::engine::agent::time::TimePhrase;
use crate::engine::ontology::graph::Graph;
use crate::model::ontology::Ontology;
use crate::model::plan::Plan;
use crate::model::reading::{Cannot, Chosen, Outcome, Phrase, Reading, Turn};

use build::{Builder, Fault};
pub use choose::choose;
pub use grammar::is_ordinary;
use items::{Item, Kind};
use resolve::{Resolver, Trouble};

/// What a question is asked in.
#[derive(Clone, Debug)]
pub struct Context {
    /// In the ontology's time zone.
    pub now: jiff::civil::DateTime,
    /// The questions of the conversation that were answered, oldest first.
    pub previous: Vec<Turn>,
    /// Answers to questions back, and preferences; later ones win.
    pub chosen: Vec<Chosen>,
    /// A time phrase for questions that name no time.
    pub default_window: Option<String>,
}

/// No question that is longer is read, in characters.
pub const MAX_QUESTION: usize = 2_000;

/// No answer has more numbers beside each other.
const MAX_MEASURES: usize = 12;

/// A plan for a question, a question back, or why there is none.
pub fn plan(question: &str, on: &Lexicon, ontology: &Ontology, graph: &Graph, context: &Context) -> Outcome {
    if question.chars().count() > MAX_QUESTION {
        return cannot(format!("The question is longer than {MAX_QUESTION} characters."), Vec::new(), Vec::new());
    }
    let (question, misspelt) = spelling::corrected(question, on);
    let question = rephrase::plainer(&question, context.now, &ontology.calendar).unwrap_or(question);
    let mut items = items::items(&question, on, context.now, &ontology.calendar);
    if let Some(reason) = refuse::refusal(&items) {
        return cannot(reason.to_owned(), Vec::new(), Vec::new());
    }
    parts::find(&mut items, on);
    let before = context.previous.last().map(|turn| &turn.plan);
    let lead = before.and_then(|_| follow::lead(&items));
    if before.is_none()
        && follow::lead(&items).is_some_and(|(lead, _)| lead > 0)
        && !items.first().is_some_and(|item| item.any(&["only", "just", "now"]))
    {
        return cannot(
            "The question goes on from another one, and there is none before it.".into(),
            Vec::new(),
            Vec::new(),
        );
    }
    let mut sketch = parse::sketch(&items[lead.map_or(0, |(lead, _)| lead)..], on, ontology);
    let follows = before.filter(|_| lead.is_some() || follow::is_fragment(&sketch));
    if follows.is_some() {
        follow::settle(&mut sketch);
    }
    if let Some((noun, text)) = sketch.absent.first() {
        let mut near = Vec::new();
        for entry in &sketch.nouns[*noun].entries {
            if let crate::engine::agent::lexicon::Sense::Field(d, f) = entry.sense {
                near.extend(on.near_values(d, f, text));
            }
        }
        near.truncate(5);
        let field = &sketch.nouns[*noun].text;
        return cannot(format!("There is no {field} “{text}” in the data."), vec![text.clone()], near);
    }
    if let Some(unknown) = unknown(&sketch.unknown) {
        let near = on.near(&crate::engine::agent::lexicon::words::fold(&unknown[0]), ontology);
        return cannot(format!("“{}” means nothing here.", unknown[0]), unknown, near);
    }
    if sketch.measures.len() > MAX_MEASURES {
        return cannot(format!("The question asks for more than {MAX_MEASURES} numbers."), Vec::new(), Vec::new());
    }
    let resolver = Resolver {
        ontology,
        graph,
        chosen: &context.chosen,
        sketch: &sketch,
        before: follows.and_then(|plan| previous_anchor(plan, ontology, graph)),
    };
    let (anchor, found) = match resolver.resolve() {
        Ok(resolved) => resolved,
        Err(Trouble::Ask(clarification)) => return Outcome::Clarify(vec![*clarification]),
        Err(Trouble::Nothing(noun)) => {
            let text = &sketch.nouns[noun].text;
            return cannot(
                format!("“{text}” fits nothing here."),
                vec![text.clone()],
                on.near(&sketch.nouns[noun].norm, ontology),
            );
        }
        Err(Trouble::Apart(noun, from)) => {
            let text = &sketch.nouns[noun].text;
            return cannot(format!("Nothing joins “{text}” with the {from}."), Vec::new(), Vec::new());
        }
    };
    if anchor == usize::MAX {
        return cannot("The question names nothing of this ontology.".into(), Vec::new(), on.near("", ontology));
    }
    let mut builder = Builder {
        resolver: &resolver,
        sketch: &sketch,
        found: &found,
        anchor,
        assumptions: Vec::new(),
        plan: Plan::default(),
    };
    let built = match follows {
        Some(before) => {
            follow::merge(&mut builder, before, lead.is_some_and(|(_, more)| more)).map(|plan| builder.plan = plan)
        }
        None => builder.build(),
    };
    match built {
        Ok(()) => {}
        Err(Fault::Ask(clarification)) => return Outcome::Clarify(vec![*clarification]),
        Err(Fault::Cannot(reason)) => return cannot(reason, Vec::new(), Vec::new()),
    }
    if let Some(window) =
        default_window(context, ontology).filter(|_| builder.plan.time.is_none() && !builder.plan.measures.is_empty())
    {
        let said = format!("The question names no time: {} is taken.", window.phrase.clone().unwrap_or_default());
        if builder.default_window(window).is_ok() {
            builder.assumptions.push(said);
        }
    }
    let mut assumptions = std::mem::take(&mut builder.assumptions);
    let plan = std::mem::take(&mut builder.plan);
    assumptions.extend(misspelt.iter().map(|(word, right)| format!("“{word}” read as “{right}”.")));
    let mut phrases = Vec::new();
    for (noun, found) in sketch.nouns.iter().zip(&found) {
        let Some(found) = found else { continue };
        phrases.push(Phrase { text: noun.text.clone(), means: resolver.words(found) });
        if let Some(right) = &noun.corrected {
            assumptions.push(format!("“{}” read as “{right}”.", noun.text));
        }
    }
    phrases.extend(items.iter().filter_map(time_phrase));
    Outcome::Plan(Box::new(Reading { plan, phrases, assumptions, candidates: Vec::new() }))
}

/// The words that were not understood; those of the grammar only when there are no others.
fn unknown(words: &[String]) -> Option<Vec<String>> {
    let folded = |word: &String| crate::engine::agent::lexicon::words::fold(word);
    let strange: Vec<String> = words.iter().filter(|word| !grammar::is_ordinary(&folded(word))).cloned().collect();
    let words = if strange.is_empty() { words.to_vec() } else { strange };
    (!words.is_empty()).then_some(words)
}

fn cannot(reason: String, unknown: Vec<String>, instead: Vec<String>) -> Outcome {
    Outcome::Cannot(Cannot { reason, unknown, instead })
}

/// The dataset that a plan is about.
fn previous_anchor(plan: &Plan, ontology: &Ontology, graph: &Graph) -> Option<usize> {
    let sketch = sketch::Sketch::default();
    let resolver = Resolver { ontology, graph, chosen: &[], sketch: &sketch, before: None };
    follow::anchor(plan, ontology, |metric| resolver.metric_datasets(metric, 0).into_iter().next())
}

fn default_window(context: &Context, ontology: &Ontology) -> Option<crate::model::plan::Window> {
    let phrase = context.default_window.as_ref()?;
    let tokens = crate::engine::agent::token::tokens(phrase);
    crate::engine::agent::time::find(&tokens, context.now, &ontology.calendar).into_iter().find_map(|found| match found
        .phrase
    {
        TimePhrase::Window(window) => Some(window),
        _ => None,
    })
}

fn time_phrase(item: &Item) -> Option<Phrase> {
    let Kind::Time(TimePhrase::Window(window)) = &item.kind else { return None };
    let bound = |at: &Option<String>| at.clone().unwrap_or_else(|| "…".into());
    Some(Phrase {
        text: item.text.clone(),
        means: format!("from {} up to, not with, {}", bound(&window.start), bound(&window.end)),
    })
}
