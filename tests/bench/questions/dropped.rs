//! Looks for words that reading a question drops: every question of a set with one more word, and parts of two questions
//! put together. A plan that stays the same without a word that means something has lost it.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dragoman::engine::agent::english::{English, Word};
use dragoman::model::ontology::in_words;
use dragoman::model::plan::Plan;
use dragoman::model::reading::Outcome;

use super::bank::Reader;

/// What was found.
#[derive(Default)]
pub struct Found {
    pub asked: usize,
    pub answered: usize,
    /// Questions with the words that they lost.
    pub lost: Vec<String>,
    /// Questions that stopped the planner.
    pub panics: Vec<String>,
}

/// Words that may be said in any question, and mean something in none of them twice.
const WORDS: &[&str] = &[
    "not", "never", "without", "approved", "online", "average", "median", "cumulative", "7", "more than 5", "in 2004",
    "before March 2004", "on Mondays", "zorped", "foreign", "twice", "half", "weekend", "recently", "missing",
    "compared with 2003", "yesterday", "except", "second", "empty",
];

/// Words that turn the sense.
const TURNING: &[&str] = &["not", "never", "without", "except", "excluding"];

/// Every so many-th place for a word is tried.
const STEP: u64 = 11;

/// Numbers that look like chance and are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most.max(1) as u64).unwrap_or_default()
    }
}

impl Reader {
    /// The plan without the words that it was made from, and what was told beside it.
    fn plan(&self, question: &str) -> Option<(Plan, Vec<String>)> {
        match self.read(question) {
            Outcome::Plan(reading) => {
                let text = serde_json::to_value(&reading.plan).ok().map(without_words)?;
                let plan = serde_json::from_value(text).ok()?;
                // What says how a word was read names the word.
                let told = reading.assumptions.into_iter().filter(|line| !line.starts_with('“')).collect();
                Some((plan, told))
            }
            Outcome::Clarify(_) | Outcome::Cannot(_) => None,
        }
    }

    /// All questions with one more word.
    pub fn inserted(&self) -> Found {
        let mut found = Found::default();
        let mut words: Vec<String> = WORDS.iter().map(|word| (*word).to_owned()).collect();
        words.extend(self.ontology.metrics.iter().map(|metric| in_words(&metric.name)));
        words.extend(self.ontology.segments.iter().map(|segment| format!("not {}", in_words(&segment.name))));
        let mut chance = Chance(0x9E37_79B9_7F4A_7C15);
        for question in &self.questions {
            let Some(plan) = self.plan(question) else { continue };
            let all = English.words(question, &self.view());
            for word in words.iter().filter(|word| !says(question, word)) {
                for token in all.iter().filter(|token| !token.is_sign) {
                    if chance.below(usize::try_from(STEP).unwrap_or(1)) != 0 {
                        continue;
                    }
                    let (before, after) = question.split_at(token.start);
                    let other = format!("{before}{word} {after}");
                    found.asked += 1;
                    let Some(now) = self.plan(&other) else { continue };
                    found.answered += 1;
                    if now == plan {
                        found.lost.push(format!("{word}: {other}"));
                    }
                }
            }
        }
        found
    }

    /// So many questions, each of the beginning of one and the end of another.
    pub fn recombined(&self, count: usize) -> Found {
        let mut found = Found::default();
        let mut chance = Chance(0x2545_F491_4F6C_DD1D);
        for _ in 0..count {
            let mut part = |from_start: bool| {
                let question = &self.questions[chance.below(self.questions.len())];
                let said: Vec<&str> = question.trim_end_matches(['?', '.', '!']).split(' ').collect();
                let cut = chance.below(said.len() + 1);
                if from_start { said[..cut].join(" ") } else { said[cut..].join(" ") }
            };
            let question = format!("{} {}", part(true), part(false)).trim().to_owned();
            found.asked += 1;
            let Ok(plan) = catch_unwind(AssertUnwindSafe(|| self.plan(&question))) else {
                found.panics.push(question);
                continue;
            };
            let Some(plan) = plan else { continue };
            found.answered += 1;
            for token in English.words(&question, &self.view()).iter().filter(|token| is_meant(token)) {
                let (before, after) = (&question[..token.start], &question[token.end..]);
                // What is said twice leaves its trace when it is said once.
                if !says(&format!("{before} {after}"), &token.text)
                    && self.plan(&format!("{before} {after}")).as_ref() == Some(&plan)
                {
                    found.lost.push(format!("{}: {question}", token.text));
                }
            }
        }
        found
    }
}

/// A number, a quoted text, a word that turns the sense, or one that is a value or metric and nothing else.
fn is_meant(token: &Word) -> bool {
    if token.is_number {
        // The year of a time without one may be the one that is meant.
        return token.text.parse::<u16>().is_err() || !token.text.starts_with(['1', '2']) || token.text.len() != 4;
    }
    let is_word = !token.is_sign && (TURNING.contains(&token.norm.as_str()) || token.is_value_or_metric);
    token.is_quoted || is_word
}

/// Whether a question says one of the words already.
fn says(question: &str, word: &str) -> bool {
    let one = |text: &str| English.stems(text).into_iter().collect::<BTreeSet<_>>();
    !one(question).is_disjoint(&one(word))
}

/// A plan as JSON without the phrases and headings in it.
fn without_words(mut value: serde_json::Value) -> serde_json::Value {
    match &mut value {
        serde_json::Value::Object(map) => {
            map.remove("phrase");
            map.remove("label");
            for inner in map.values_mut() {
                *inner = without_words(inner.take());
            }
        }
        serde_json::Value::Array(list) => {
            for inner in list {
                *inner = without_words(inner.take());
            }
        }
        _ => {}
    }
    value
}
