//! What reads questions. A planner gets a question, the ontology as the caller sees it and the conversation so far, and
//! gives a plan, a question back, or the reason why there is none. Which planners there are, and in which order they are
//! tried, is said in `engine/mod.rs` and nowhere else: those of languages in [`crate::engine::Engines::languages`], and
//! after them the language model in [`crate::engine::Engines::new`].

use std::any::Any;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use jiff::civil::{Date, DateTime};

use super::stages::Record;
use crate::engine::job::Job;
use crate::engine::ontology::graph::Graph;
use crate::model::ontology::{Calendar, Ontology};
use crate::model::plan::Window;
use crate::model::preferences::DataAgent;
use crate::model::reading::{Chosen, Clarification, Outcome, Turn};

/// The longest value that questions may name, in characters: longer ones are left out.
pub const MOST_CHARS: usize = 200;

/// How the keys of choices begin that stand for a whole question.
pub const OF_A_QUESTION: &str = "question:";

/// Reads questions.
pub trait Planner: Send + Sync {
    /// For traces.
    fn name(&self) -> &'static str;

    /// Whether reading takes nothing but the time of this machine, so that a question may be read several times over.
    fn is_local(&self) -> bool {
        false
    }

    /// What it keeps ready of an ontology and the values of its fields: made once for each version of both, and given
    /// back with every question. May take long.
    fn learn(&self, _ontology: &Ontology, _values: &[FieldValues]) -> Learnt {
        Learnt::default()
    }

    /// Reads a question.
    ///
    /// # Errors
    /// [`Unread`]: others have to read it.
    fn plan<'a>(
        &'a self,
        job: &'a Job<'_>,
        question: &'a str,
        view: &'a View<'_>,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Outcome, Unread>>;

    /// What a reply to questions back chooses; `None` when it does not answer all of them.
    fn choose(&self, _reply: &str, _asked: &[Clarification]) -> Option<Vec<Chosen>> {
        None
    }

    /// Puts what a person has set their own words to mean in the place of these words.
    fn worded(&self, question: &str, _own: &DataAgent, _chosen: &[Chosen], _ontology: &Ontology) -> Worded {
        Worded::Question(question.to_owned(), Vec::new())
    }

    /// Whether a word can be given a meaning of its own: not one that every question is made of.
    fn is_own_word(&self, _term: &str) -> bool {
        true
    }

    /// The time that a text is, if it is one and nothing else.
    fn period(&self, _text: &str) -> Option<Period> {
        None
    }

    /// The stretches of time that a text names, in their order.
    fn windows(&self, _text: &str, _now: DateTime, _calendar: &Calendar) -> Vec<Window> {
        Vec::new()
    }
}

/// The ontology as the caller sees it, with what was made of it before.
pub struct View<'a> {
    pub ontology: &'a Arc<Ontology>,
    pub graph: &'a Arc<Graph>,
    /// The values that questions may name.
    pub values: &'a [FieldValues],
    /// What this planner learnt of them.
    pub learnt: &'a Learnt,
}

impl View<'_> {
    /// Whether a text is among the values of a field, letter by letter; `None` where not all of them are known.
    pub fn is_stored(&self, dataset: &str, field: &str, text: &str) -> Option<bool> {
        let is_this = |it: &&FieldValues| {
            it.dataset.eq_ignore_ascii_case(dataset) && it.field.eq_ignore_ascii_case(field) && it.complete
        };
        let known = self.values.iter().find(is_this)?;
        Some(known.values.iter().any(|value| value == text))
    }
}

/// The values of one field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldValues {
    pub dataset: String,
    pub field: String,
    /// At most 10,000 distinct ones, as they are stored.
    pub values: Vec<String>,
    /// There are no others.
    pub complete: bool,
}

/// What a planner keeps ready of an ontology; only it knows what that is.
#[derive(Clone, Default)]
pub struct Learnt {
    kept: Option<Arc<dyn Any + Send + Sync>>,
    bytes: usize,
}

impl Learnt {
    /// `bytes` is about how much memory it takes.
    pub fn new<T: Any + Send + Sync>(kept: T, bytes: usize) -> Self {
        Self { kept: Some(Arc::new(kept)), bytes }
    }

    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.kept.clone()?.downcast().ok()
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// What a question is asked in.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// In the ontology's time zone.
    pub now: DateTime,
    /// The questions of the conversation that were answered, oldest first.
    pub previous: Vec<Turn>,
    /// Answers to questions back, and preferences; later ones win.
    pub chosen: Vec<Chosen>,
    /// A time phrase for questions that name no time.
    pub default_window: Option<String>,
    /// From when to when there are data, where that is known: "in June" is then the last June within it. A name of a
    /// time without a year that is not after it is the latest that has begun, as without it.
    pub extent: Option<Extent>,
    /// Where what each stage makes is noted, if anywhere.
    pub record: Record,
}

/// From the first to the last day that the data have something of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub first: Date,
    pub last: Date,
}

/// Why a planner has not read a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is not there, or not wanted.
    Off,
    /// It could not be asked; why, as a sentence.
    NotAsked(String),
    /// It was asked, and nothing came of it; why, as a sentence.
    NoHelp(String),
}

/// A question after the person's own words were put into those of the ontology.
pub enum Worded {
    /// With what was changed, as sentences.
    Question(String, Vec<String>),
    /// What a word means is open.
    Ask(Clarification),
}

/// A time in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Period {
    /// "current quarter" of `current_quarter`.
    pub phrase: String,
    /// Whether it limits anything: "all time" does not.
    pub is_limited: bool,
}

/// The planners of the process, in the order in which they are tried.
#[derive(Clone)]
pub struct Planners(Vec<Arc<dyn Planner>>);

impl Planners {
    pub fn new(planners: Vec<Arc<dyn Planner>>) -> Self {
        Self(planners)
    }

    /// With another one after them.
    #[must_use]
    pub fn and(mut self, planner: impl Planner + 'static) -> Self {
        self.0.push(Arc::new(planner));
        self
    }

    pub fn iter(&self) -> impl Iterator<Item = &dyn Planner> {
        self.0.iter().map(|planner| &**planner)
    }

    /// What each of them learns, in their order.
    pub fn learn(&self, ontology: &Ontology, values: &[FieldValues]) -> Vec<Learnt> {
        self.iter().map(|planner| planner.learn(ontology, values)).collect()
    }

    /// As [`Planner::choose`], by the first that understands the reply.
    pub fn choose(&self, reply: &str, asked: &[Clarification]) -> Option<Vec<Chosen>> {
        self.iter().find_map(|planner| planner.choose(reply, asked))
    }

    /// As [`Planner::worded`], by one after the other.
    pub fn worded(&self, question: &str, own: &DataAgent, chosen: &[Chosen], ontology: &Ontology) -> Worded {
        let mut worded = (question.to_owned(), Vec::new());
        for planner in self.iter() {
            match planner.worded(&worded.0, own, chosen, ontology) {
                Worded::Question(question, notes) => {
                    worded.0 = question;
                    worded.1.extend(notes);
                }
                open @ Worded::Ask(_) => return open,
            }
        }
        Worded::Question(worded.0, worded.1)
    }

    /// As [`Planner::is_own_word`], for all of them.
    pub fn is_own_word(&self, term: &str) -> bool {
        self.iter().all(|planner| planner.is_own_word(term))
    }

    /// As [`Planner::period`], by the first that knows the time.
    pub fn period(&self, text: &str) -> Option<Period> {
        self.iter().find_map(|planner| planner.period(text))
    }

    /// As [`Planner::windows`], by the first that finds any.
    pub fn windows(&self, text: &str, now: DateTime, calendar: &Calendar) -> Vec<Window> {
        let mut found = self.iter().map(|planner| planner.windows(text, now, calendar));
        found.find(|windows| !windows.is_empty()).unwrap_or_default()
    }
}

/// Whether a choice stands for a whole question. It holds for its conversation alone: elsewhere the same words mean
/// something else.
pub fn is_of_a_question(key: &str) -> bool {
    key.starts_with(OF_A_QUESTION)
}

/// The choice that holds when nobody answers.
pub fn assumption(open: &Clarification) -> Option<Chosen> {
    let option = open.options.iter().find(|option| option.label == open.assumption).or(open.options.first())?;
    Some(Chosen { key: open.key.clone(), value: option.value.clone() })
}

/// A question without what does not change its meaning: case, spaces, punctuation at the end.
pub fn normal_form(question: &str) -> String {
    let words: Vec<String> = question.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").trim_end_matches(['?', '.', '!', ' ']).to_owned()
}
