//! The built-in planner: reads English without a language model. Everything that reads a question by its English words
//! is in here, and outside is seen only what this file exports. What a language model made of a question is held
//! against its words by `llm/ground`, which has a list of them of its own.
//!
//! In this order: [`repair`] puts slips right, [`rewrite`] says in plainer words what is said in many ways,
//! [`dialogue`] writes out what goes on from the question before, [`items`] finds the phrases of the [`mod@lexicon`],
//! the numbers and the [`time`]s, [`parse`] makes a [`sketch`] of what is said, [`resolve`] finds which things of the
//! ontology its nouns are, [`compose`] makes the plan, and [`account`] finds what was said and has left no trace in
//! it. [`read`] leads through all of them. It answers only when every word that means something was understood and one
//! reading is clearly the best; otherwise it asks back or says what it does not know.
//!
//! What `dragoman ontology explain` prints of it, and who made that:
//!
//! | stage | made by |
//! |---|---|
//! | `own words` | [`dialogue`], before all others: a person's own words are put as what they mean |
//! | `question` | [`read`]: the question, and each one that [`repair`] tries in its place |
//! | `spelling` | [`repair`] |
//! | `rewrite` | [`rewrite`], once for each rewriting that changed the question |
//! | `dialogue` | [`dialogue`], where a question was answered before: the question written out, or a plan at once |
//! | `tokens` | [`text`] |
//! | `items` | [`items`], with [`mod@lexicon`] and [`time`] |
//! | `sketch` | [`parse`] |
//! | `resolved` | [`resolve`] |
//! | `plan` | [`compose`]; of a fragment, [`dialogue`] |
//! | `validation` | `agent/plan/validate`, where the plan makes no sense |
//! | `account` | [`account`] |

#![expect(clippy::indexing_slicing, reason = "positions in token lists that the room itself makes")]

mod account;
mod compose;
mod dialogue;
mod items;
mod lexicon;
mod parse;
mod read;
mod repair;
mod resolve;
mod rewrite;
mod sketch;
#[cfg(test)]
mod tests;
mod text;
mod time;
mod vocabulary;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use futures_util::future::BoxFuture;
use jiff::civil::DateTime;

use self::dialogue::{choose, own_words};
use self::lexicon::{Effort, Lexicon, Sense, words};
use self::text::token::{TokenKind, tokens};
use self::time::TimePhrase;
use crate::engine::agent::planner::{Context, FieldValues, Learnt, Period, Planner, Unread, View, Worded};
use crate::engine::job::Job;
use crate::model::ontology::{Calendar, Ontology};
use crate::model::plan::Window;
use crate::model::preferences::DataAgent;
use crate::model::reading::{Cannot, Chosen, Clarification, Outcome};

/// Reads questions in English.
#[derive(Clone, Copy, Debug, Default)]
pub struct English;

/// A word of a question, for who measures what is made of it.
#[derive(Clone, Debug)]
pub struct Word {
    /// Where it stands, in bytes.
    pub start: usize,
    pub end: usize,
    pub text: String,
    /// In the form in which it is compared.
    pub norm: String,
    pub is_sign: bool,
    pub is_number: bool,
    pub is_quoted: bool,
    /// All that it stands for are values and metrics, and it is no word that questions are made of.
    pub is_value_or_metric: bool,
}

impl English {
    /// Reads a question at once, for as long as it takes.
    pub fn read(self, question: &str, view: &View<'_>, context: &Context) -> Outcome {
        let lexicon = lexicon(view);
        read::plan_within(question, &lexicon, view.ontology, view.graph, context, &Effort::default())
    }

    /// The words and signs of a question.
    pub fn words(self, question: &str, view: &View<'_>) -> Vec<Word> {
        let lexicon = lexicon(view);
        let word = |token: text::token::Token| Word {
            is_value_or_metric: is_value_or_metric(&token, &lexicon),
            start: token.start,
            end: token.end,
            is_sign: token.kind == TokenKind::Punct,
            is_number: token.kind == TokenKind::Number,
            is_quoted: token.kind == TokenKind::Quoted,
            text: token.text,
            norm: token.norm,
        };
        tokens(question).into_iter().map(word).collect()
    }

    /// The words of a name, each in its one form.
    pub fn stems(self, name: &str) -> Vec<String> {
        words::split(name).iter().map(|word| words::singular(word)).collect()
    }
}

impl Planner for English {
    fn name(&self) -> &'static str {
        "built-in"
    }

    fn is_local(&self) -> bool {
        true
    }

    fn learn(&self, ontology: &Ontology, values: &[FieldValues]) -> Learnt {
        let lexicon = Lexicon::build(ontology, values);
        let bytes = lexicon.bytes();
        Learnt::new(lexicon, bytes)
    }

    fn plan<'a>(
        &'a self,
        job: &'a Job<'_>,
        question: &'a str,
        view: &'a View<'_>,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Outcome, Unread>> {
        Box::pin(async move { Ok(read_aside(job, question, view, context).await) })
    }

    fn choose(&self, reply: &str, asked: &[Clarification]) -> Option<Vec<Chosen>> {
        choose::choose(reply, asked)
    }

    fn worded(&self, question: &str, own: &DataAgent, chosen: &[Chosen], ontology: &Ontology) -> Worded {
        own_words::worded(question, own, chosen, ontology)
    }

    fn is_own_word(&self, term: &str) -> bool {
        own_words::is_own_word(term)
    }

    fn period(&self, text: &str) -> Option<Period> {
        own_words::period(text)
    }

    fn windows(&self, text: &str, now: DateTime, calendar: &Calendar) -> Vec<Window> {
        let found = time::find(&tokens(text), now, calendar).into_iter().map(|it| it.phrase);
        found.filter_map(|it| if let TimePhrase::Window(window) = it { Some(window) } else { None }).collect()
    }
}

/// Reads where nobody else waits for the thread, and no longer than somebody waits for the answer.
async fn read_aside(job: &Job<'_>, question: &str, view: &View<'_>, context: &Context) -> Outcome {
    let gone = Arc::new(AtomicBool::new(false));
    let _waiting = Waiting(gone.clone());
    let (cancel, until) = (job.cancel.clone(), Instant::now() + job.time_left());
    let (ontology, graph, lexicon) = (view.ontology.clone(), view.graph.clone(), lexicon(view));
    let (question, context) = (question.to_owned(), context.clone());
    let read = move || {
        let stop = || gone.load(Ordering::Relaxed) || cancel.is_cancelled() || Instant::now() >= until;
        read::plan_within(&question, &lexicon, &ontology, &graph, &context, &Effort::new(&stop))
    };
    match tokio::task::spawn_blocking(read).await {
        Ok(outcome) => outcome,
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The service is being stopped.
            Err(_) => Outcome::Cannot(Cannot { reason: "The service is being stopped.".into(), ..Cannot::default() }),
        },
    }
}

/// Somebody waits for as long as it is there.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What was learnt of the ontology.
fn lexicon(view: &View<'_>) -> Arc<Lexicon> {
    view.learnt.get().unwrap_or_else(|| Arc::new(Lexicon::build(view.ontology, view.values)))
}

fn is_value_or_metric(token: &text::token::Token, lexicon: &Lexicon) -> bool {
    let folded = words::split(&token.text);
    let list: Vec<&str> = folded.iter().map(String::as_str).collect();
    let found = lexicon.matches(&list, &vec![false; list.len()]);
    let whole = found.last().filter(|found| found.words == list.len());
    let is_only =
        |entry: &lexicon::Entry| matches!(entry.sense, Sense::Value { .. } | Sense::Metric(_)) && !entry.partial;
    !vocabulary::is_ordinary(&token.norm) && whole.is_some_and(|found| found.entries.iter().all(is_only))
}
