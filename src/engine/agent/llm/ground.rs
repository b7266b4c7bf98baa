//! Whether a plan is the question's. A model that copies an example, drops a condition or adds one makes a plan that is
//! valid and wrong. So it has to say which words became what, and both directions are checked: each word that carries
//! meaning stands for something in the plan, and each thing in the plan stands for words. What was said is shown with the
//! answer; where words and names have nothing in common, as an assumption.

mod plan_things;
mod words;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;

use self::plan_things::{Part, parts};
use super::meant::{Meant, occurs};
use crate::engine::agent::plan::values::{Met, each_value};
use crate::model::ontology::Ontology;
use crate::model::plan::{Literal, Plan};
use crate::model::reading::{Phrase, Turn};

/// Words with a meaning of their own that one thing of the ontology may take.
const MAX_WORDS: usize = 5;

/// Some words and what they were taken for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Said {
    /// As they stand in the question, together with the small words around them.
    words: String,
    means: Taken,
}

/// What words can become.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Taken {
    /// The plan's time, or its comparison's.
    Time,
    #[serde(untagged)]
    Thing(Meant),
}

/// The phrases of a reading, and what of it is an assumption.
pub(super) struct Grounds {
    pub phrases: Vec<Phrase>,
    pub assumptions: Vec<String>,
}

/// Checks a valid plan against the question.
///
/// # Errors
/// Everything that is in one of them alone.
pub(super) fn ground(
    plan: &Plan,
    said: &[Said],
    question: &str,
    ontology: &Ontology,
    before: Option<&Turn>,
) -> Result<Grounds, Vec<String>> {
    let mut problems = Vec::new();
    let used = parts(plan);
    let mut grounds = Grounds { phrases: Vec::new(), assumptions: Vec::new() };
    let (mut meant, mut covered) = (BTreeSet::new(), BTreeSet::new());
    for (at, Said { words, means }) in said.iter().enumerate() {
        let at = format!("phrases[{at}]");
        if !occurs(words, question) {
            problems.push(format!("{at}.words: they do not stand in the question"));
            continue;
        }
        let text = words.split_whitespace().collect::<Vec<_>>().join(" ");
        if words::stems(words).len() > MAX_WORDS {
            problems.push(format!("{at}.words: these are too many for one thing"));
        }
        let means = match means {
            Taken::Time if plan.time.is_some() || plan.comparison.is_some() => "the time".to_owned(),
            Taken::Time => {
                problems.push(format!("{at}.means: the plan has no time"));
                continue;
            }
            Taken::Thing(thing) => {
                let Some(part) = Part::of(thing, ontology) else {
                    problems.push(format!("{at}.means: there is no such thing in the ontology"));
                    continue;
                };
                if !part.is_in(&used, ontology) {
                    problems.push(format!("{at}.means: the plan does not use it"));
                    continue;
                }
                for word in foreign(&part, words, plan, ontology) {
                    problems.push(format!("{at}.words: “{word}” is a name of something else: a phrase of its own"));
                }
                let means = part.in_words(ontology);
                if part.stems(ontology).is_disjoint(&words::stems(words)) && !values_say(plan, words) {
                    grounds.assumptions.push(format!("“{text}” is taken as {means}."));
                }
                meant.insert(part);
                means
            }
        };
        covered.extend(words::tokens(words));
        grounds.phrases.push(Phrase { text, means });
    }
    let earlier = before.map(|turn| parts(&turn.plan)).unwrap_or_default();
    for part in used.iter().filter(|part| !earlier.contains(part)) {
        if !meant.iter().any(|other: &Part| other == part || other.stands_for(part, ontology)) {
            problems.push(format!("phrases: no words of the question are given for {}", part.in_words(ontology)));
        }
    }
    problems.extend(words::unread(plan, question, &covered, before));
    if problems.is_empty() { Ok(grounds) } else { Err(problems) }
}

/// Whether a value of the plan has a word of these.
fn values_say(plan: &Plan, words: &str) -> bool {
    let values = of_values(plan);
    words::stems(words).iter().any(|stem| values.contains(stem))
}

/// Words that are a name of another thing of the ontology, and not of this one.
fn foreign(part: &Part, words: &str, plan: &Plan, ontology: &Ontology) -> Vec<String> {
    let own = part.stems(ontology);
    let values = of_values(plan);
    let every = plan_things::every_stem(ontology);
    let words = words::stems(words).into_iter();
    words.filter(|word| every.contains(word) && !own.contains(word) && !values.contains(word)).collect()
}

/// The words of the values that a plan compares with.
fn of_values(plan: &Plan) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut plan = plan.clone();
    each_value(&mut plan, &mut |met| {
        let text = match met {
            Met::Literal(_, Literal::Text(text)) | Met::Part(_, text) => text.clone(),
            Met::Literal(_, Literal::Number(number)) => number.to_string(),
            Met::Literal(_, Literal::Bool(_)) => return,
        };
        found.extend(words::stems(&text));
    });
    found
}
