//! A question from its words to its answer: which conversation it belongs to, how it is read, what is asked back, and
//! what is kept of it. [`super::answer`] makes the answer of a plan.

use serde_json::json;

use super::memory::{Known, still_fits};
use super::open::{Asking, as_verified};
use super::opened::Opened;
use super::{Answered, Ask, Body, Made, Open, Questions, Refused, Steps, civil};
use crate::engine::agent::planner::{Planners, Worded, assumption};
use crate::engine::agent::prepared::Prepared;
use crate::engine::job::Job;
use crate::engine::ontology::visible::has_any;
use crate::model::error::{Code, Error, Result};
use crate::model::reading::{Chosen, Outcome, Turn};
use crate::model::run::{Conversation, Ending, MOST_ROUNDS, Pending, Trace, Understood};

/// Longest question in characters.
const MOST_CHARS: usize = 2_000;

/// Turns of a conversation that the next question may refer to.
const MOST_TURNS: usize = 10;

/// Datasets that are named where there is no answer.
const MOST_NAMED: usize = 12;

impl Questions {
    /// Answers, asks back, or says why it cannot.
    ///
    /// # Errors
    /// `ontology_not_found`, `ontology_not_ready`; `not_found` for a conversation of others; `invalid_argument` for an
    /// empty or too long question; `agent_timeout` when the whole time of the question is over, `query_timeout` when that
    /// of one statement is, and the refusals of the SQL engine for load.
    pub async fn ask(&self, job: &Job<'_>, ask: Ask) -> Result<Answered> {
        self.asked(job, ask).await.map_err(|error| if is_late(job, &error) { late(job) } else { error })
    }

    async fn asked(&self, job: &Job<'_>, ask: Ask) -> Result<Answered> {
        let mut steps = Steps::new(ask.record);
        let text = ask.question.trim();
        if text.is_empty() || text.chars().count() > MOST_CHARS {
            return Err(Error::invalid("question", format!("A question has 1 to {MOST_CHARS} characters.")));
        }
        let mut conversation = self.conversation(job, ask.ontology, ask.conversation).await?;
        let Opened { visible, prepared, over } = self.opened(job, ask.ontology, &mut steps).await?;
        job.says(0.1, "Understanding the question");

        let may_know = visible.whole || !job.pass.is_external();
        if !may_know {
            // Of when the caller saw more.
            let unseen = self.library.unseen(job, &visible).await?;
            let names_none = |it: &Chosen| !has_any(&it.key, &unseen) && !has_any(&it.value, &unseen);
            conversation.state.chosen.retain(names_none);
        }
        let pending = conversation.state.pending.take();
        let (question, round) = taken_up(text, pending, &self.planners, &mut conversation);
        // The ontology, or what the caller sees of it, may have changed since.
        conversation.state.turns.retain(|turn| still_fits(&turn.plan, &prepared));
        let known = self.known(job, ask.ontology, &question, (&prepared, may_know)).await?;
        let made = self.made(job, &prepared, &known, &question, round, &mut conversation, &mut steps).await;
        // A planner that was given up is no planner that found nothing.
        let made = made.and_then(|made| job.check().map(|()| made));
        steps.trace.chosen = conversation.state.chosen.clone();
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                steps.trace.notes.push(error.message.clone());
                let run = self.ended(job, &conversation, &question, Ending::Failed, steps);
                self.keep(&mut conversation, run, &over).await?;
                return Err(error);
            }
        };
        let understood = self.understood(&prepared, ask.ontology, &question, &made).await?;
        let (ending, told) = told(made, understood, &question, round, &mut steps.trace);
        conversation.state.pending = told.pending;
        if let Some(turn) = told.turn {
            conversation.state.turns.push(turn);
            let surplus = conversation.state.turns.len().saturating_sub(MOST_TURNS);
            conversation.state.turns.drain(..surplus);
        }
        conversation.updated_at = self.clock.now();
        let run = self.ended(job, &conversation, &question, ending, steps);
        let id = run.id;
        self.keep(&mut conversation, run, &over).await?;
        Ok(Answered { conversation: conversation.id, run: id, ending, body: told.body })
    }

    /// Plans and runs; what stays open after the last round is settled by its assumption.
    #[expect(clippy::too_many_arguments, reason = "the parts of one question, each used once")]
    async fn made(
        &self,
        job: &Job<'_>,
        prepared: &Prepared,
        known: &Known,
        question: &str,
        round: u32,
        conversation: &mut Conversation,
        steps: &mut Steps,
    ) -> Result<Made> {
        let now = civil(&prepared.ontology, self.clock.now())?;
        let previous = conversation.state.turns.clone();
        let asking = Asking { prepared, known, question, now, previous: &previous };
        let state = &mut conversation.state;
        let mut assumed: Vec<String> = Vec::new();
        // Settling one point may open another; each pass settles at least one.
        for _ in 0..=2 * MOST_ROUNDS {
            job.check()?;
            let mut chosen = state.chosen.clone();
            chosen.extend(
                known.preferences.iter().filter(|it| state.chosen.iter().all(|one| one.key != it.key)).cloned(),
            );
            let outcome = self.read(job, &asking, &chosen, steps).await;
            job.check()?;
            let made = match outcome {
                Outcome::Plan(mut reading) => {
                    reading.assumptions.extend(assumed.iter().cloned());
                    steps.done("plan", format!("{} phrases understood", reading.phrases.len()));
                    self.answer(job, prepared, question, *reading, &chosen, steps).await?
                }
                Outcome::Clarify(asked) => Made::Clarify(Open { asked, plan: None }),
                Outcome::Cannot(cannot) => {
                    let plan = self.part(job, &asking, &cannot.unknown, &chosen).await;
                    Made::Cannot(Refused { cannot, plan })
                }
            };
            let Made::Clarify(open) = made else { return Ok(made) };
            if round < MOST_ROUNDS {
                return Ok(Made::Clarify(self.open(job, &asking, open.asked, &chosen).await));
            }
            for open in &open.asked {
                assumed.push(format!("{} {}", open.question, open.assumption));
                state.chosen.extend(assumption(open));
            }
        }
        Ok(Made::Cannot(Refused::because("Too much of this question stays open. Ask for less at once.")))
    }

    /// Reads a question: in the words of the ontology, as it is remembered, or by the planners.
    async fn read(&self, job: &Job<'_>, of: &Asking<'_>, chosen: &[Chosen], steps: &mut Steps) -> Outcome {
        let Asking { prepared, known, now, .. } = *of;
        let (question, notes) = match self.planners.worded(of.question, &known.own, chosen, &prepared.ontology) {
            Worded::Ask(open) => return Outcome::Clarify(vec![open]),
            Worded::Question(question, notes) => (question, notes),
        };
        steps.record.add("own words", || question.clone());
        let context = self.context(of, chosen, steps.record.clone());
        // What a person means by words of their own nobody else has verified.
        let verified = known.verified.as_ref().filter(|_| notes.is_empty());
        let mut outcome = match verified {
            // Nothing stands before it that could give it another meaning.
            Some(verified) if of.previous.is_empty() => as_verified(verified, prepared, now),
            Some(verified) => match self.understand(job, prepared, &question, &context, steps).await {
                Outcome::Plan(reading) if !reading.follows => as_verified(verified, prepared, now),
                outcome => outcome,
            },
            None => self.understand(job, prepared, &question, &context, steps).await,
        };
        if verified.is_some() {
            steps.record.add("remembered", || "this question is kept with the plan that it is read as".into());
        }
        if let Outcome::Plan(reading) = &mut outcome {
            let timed = || known.own.timed(&self.planners, &reading.plan, &question, &prepared.ontology, now);
            steps.trace.own = !notes.is_empty() || timed();
            reading.assumptions.extend(notes);
        }
        outcome
    }
}

/// Whether it is the question that took too long, and not a statement of it.
pub(super) fn is_late(job: &Job<'_>, error: &Error) -> bool {
    error.code == Code::QueryTimeout && job.time_left().is_zero() && !job.cancel.is_cancelled()
}

pub(super) fn late(job: &Job<'_>) -> Error {
    let seconds = job.budget.ask_time.as_secs();
    let message = format!(
        "The question took longer than {seconds} s. Ask for less at once: a shorter time, fewer numbers, or one thing \
         after the other."
    );
    Error::new(Code::AgentTimeout, message).with(json!({ "limit": "time", "seconds": seconds }))
}

/// Which question is asked: the pending one when the text answers what was asked back, and its round.
fn taken_up(
    text: &str,
    pending: Option<Pending>,
    planners: &Planners,
    conversation: &mut Conversation,
) -> (String, u32) {
    let Some(pending) = pending else { return (text.to_owned(), 0) };
    match planners.choose(text, &pending.asked) {
        Some(chosen) => {
            let state = &mut conversation.state;
            state.chosen.retain(|one| chosen.iter().all(|new: &Chosen| new.key != one.key));
            state.chosen.extend(chosen);
            (pending.question, pending.round)
        }
        None => (text.to_owned(), 0),
    }
}

struct Told {
    body: Body,
    pending: Option<Pending>,
    turn: Option<Turn>,
}

/// What was made, as it leaves, with what the conversation keeps of it.
fn told(made: Made, understood: Option<Understood>, question: &str, round: u32, trace: &mut Trace) -> (Ending, Told) {
    match made {
        Made::Answer(answer) => {
            let turn = Turn { question: question.to_owned(), plan: answer.reading.plan.clone() };
            trace.follows = answer.reading.follows;
            trace.reading = Some(answer.reading);
            (Ending::Answer, Told { body: answer.body, pending: None, turn: Some(turn) })
        }
        Made::Clarify(Open { asked, .. }) => {
            trace.asked_back.clone_from(&asked);
            let lines: Vec<String> = asked.iter().map(|it| it.question.clone()).collect();
            let pending = Pending { question: question.to_owned(), asked: asked.clone(), round: round + 1 };
            let body = Body { narrative: lines.join("\n"), asked, understood, ..Body::default() };
            (Ending::Clarification, Told { body, pending: Some(pending), turn: None })
        }
        Made::Cannot(Refused { cannot, .. }) => {
            let mut narrative = format!("I cannot answer this. {}", cannot.reason);
            if !cannot.instead.is_empty() {
                narrative.push_str(&format!("\n\nWhat comes nearest: {}.", cannot.instead.join(", ")));
            }
            if let Some(understood) = &understood {
                narrative.push_str(&there_is(understood));
            }
            trace.cannot = Some(cannot);
            let body = Body { narrative, understood, ..Body::default() };
            (Ending::CannotAnswer, Told { body, pending: None, turn: None })
        }
    }
}

/// What was read of the question, and what there is to ask about.
fn there_is(understood: &Understood) -> String {
    let read = understood.read_as.as_ref().map(|read| format!("\n\nWithout that, it would be read as: {read}."));
    let names: Vec<&str> = understood.datasets.iter().take(MOST_NAMED).map(|it| it.name.as_str()).collect();
    let more = match understood.datasets.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let there = (!names.is_empty()).then(|| format!("\n\nThe datasets here: {}{more}.", names.join(", ")));
    format!("{}{}", read.unwrap_or_default(), there.unwrap_or_default())
}
