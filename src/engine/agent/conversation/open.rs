//! What a question leaves open, asked at once: it is read on as if every answer were the one that is assumed, and what is
//! open then too is asked with it, unless another answer would make it needless. And as much of a question as can be read
//! where not all of it can: without the words that mean nothing. Both read again and again, so only planners that take
//! nothing but time of this machine do it, and not for long.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use jiff::civil::DateTime;

use super::answer::{Settled, settled};
use super::memory::{Known, Verified};
use super::{Made, Open, Questions};
use crate::engine::agent::plan::renew::renewed;
use crate::engine::agent::planner::{Context, Worded, assumption};
use crate::engine::agent::prepared::Prepared;
use crate::engine::agent::stages::Record;
use crate::engine::job::Job;
use crate::model::plan::Plan;
use crate::model::reading::{Chosen, Clarification, Outcome, Reading, Turn};

/// Questions that are asked at once.
const MOST_ASKED: usize = 3;

/// Points that are settled one after the other.
const MOST_POINTS: usize = 6;

/// Parts of a question that are tried.
const MOST_PARTS: usize = 8;

/// How long reading again takes at most.
const PATIENCE: Duration = Duration::from_secs(2);

/// A question and what it is asked in.
pub(super) struct Asking<'a> {
    pub prepared: &'a Prepared,
    pub known: &'a Known,
    pub question: &'a str,
    /// In the ontology's time zone.
    pub now: DateTime,
    /// The questions before it, oldest first.
    pub previous: &'a [Turn],
}

/// What reading once more comes to.
#[expect(clippy::large_enum_variant, reason = "one a reading, taken apart at once")]
enum Next {
    Plan(Plan),
    Ask(Vec<Clarification>),
    /// Words that mean nothing, if that is why.
    Nothing(Vec<String>),
}

impl Questions {
    /// What a planner gets with a question.
    pub(super) fn context(&self, of: &Asking<'_>, chosen: &[Chosen], record: Record) -> Context {
        Context {
            now: of.now,
            previous: of.previous.to_vec(),
            chosen: chosen.to_vec(),
            default_window: of.known.own.window(&self.planners, &of.prepared.ontology),
            extent: of.prepared.span(),
            record,
        }
    }

    /// All that is open, and the plan that stands when what is assumed holds. `chosen` is what holds already.
    pub(super) async fn open(
        &self,
        job: &Job<'_>,
        of: &Asking<'_>,
        mut asked: Vec<Clarification>,
        chosen: &[Chosen],
    ) -> Open {
        asked.truncate(MOST_ASKED);
        let until = Instant::now() + PATIENCE;
        let mut settled = asked.iter().filter_map(assumption).fold(chosen.to_vec(), with);
        for _ in 0..MOST_POINTS {
            match self.next(job, of, of.question, &settled, until).await {
                Next::Plan(plan) => return Open { asked, plan: Some(plan) },
                Next::Nothing(_) => break,
                Next::Ask(mut more) => {
                    more.retain(|open| settled.iter().all(|it| it.key != open.key));
                    if more.is_empty() {
                        break;
                    }
                    for open in more {
                        let may = asked.len() < MOST_ASKED;
                        let point = assumption(&open);
                        if may && self.is_needed(job, of, &asked, &open, &settled, until).await {
                            asked.push(open);
                        }
                        settled = point.into_iter().fold(settled, with);
                    }
                }
            }
        }
        Open { asked, plan: None }
    }

    /// Whether a point is open whatever is answered to those before it, as far as the other answers lead to a plan.
    async fn is_needed(
        &self,
        job: &Job<'_>,
        of: &Asking<'_>,
        asked: &[Clarification],
        open: &Clarification,
        settled: &[Chosen],
        until: Instant,
    ) -> bool {
        for before in asked {
            let assumed = assumption(before).map(|it| it.value);
            for option in before.options.iter().filter(|option| Some(&option.value) != assumed.as_ref()) {
                let other = Chosen { key: before.key.clone(), value: option.value.clone() };
                let mut chosen = with(settled.to_vec(), other);
                for _ in 0..MOST_ASKED {
                    match self.next(job, of, of.question, &chosen, until).await {
                        Next::Plan(_) => return false,
                        Next::Ask(more) if more.iter().all(|it| it.key != open.key) => {
                            chosen = more.iter().filter_map(assumption).fold(chosen, with);
                        }
                        Next::Ask(_) | Next::Nothing(_) => break,
                    }
                }
            }
        }
        true
    }

    /// The plan of as much of a question as is understood without some of its words.
    pub(super) async fn part(
        &self,
        job: &Job<'_>,
        of: &Asking<'_>,
        unknown: &[String],
        chosen: &[Chosen],
    ) -> Option<Plan> {
        let until = Instant::now() + PATIENCE;
        let mut parts: VecDeque<String> = without(of.question, unknown).into();
        let mut seen: Vec<String> = Vec::new();
        while let Some(part) = parts.pop_front() {
            if seen.len() == MOST_PARTS {
                break;
            }
            if seen.contains(&part) {
                continue;
            }
            let mut settled = chosen.to_vec();
            for _ in 0..MOST_POINTS {
                match self.next(job, of, &part, &settled, until).await {
                    Next::Plan(plan) => return Some(plan),
                    Next::Ask(open) => settled = open.iter().filter_map(assumption).fold(settled, with),
                    Next::Nothing(unknown) => {
                        parts.extend(without(&part, &unknown));
                        break;
                    }
                }
            }
            seen.push(part);
        }
        None
    }

    /// Reads a question as far as to its statement.
    async fn next(&self, job: &Job<'_>, of: &Asking<'_>, question: &str, chosen: &[Chosen], until: Instant) -> Next {
        if Instant::now() >= until || job.check().is_err() {
            return Next::Nothing(Vec::new());
        }
        match self.read_again(job, of, question, chosen).await {
            Some(Outcome::Plan(reading)) => {
                let mut plan = reading.plan;
                match settled(of.prepared, &mut plan, chosen, job.budget.ask_rows) {
                    Settled::Compiled(_) => Next::Plan(plan),
                    Settled::Not(Made::Clarify(open)) => Next::Ask(open.asked),
                    Settled::Not(_) => Next::Nothing(Vec::new()),
                }
            }
            Some(Outcome::Clarify(asked)) => Next::Ask(asked),
            Some(Outcome::Cannot(cannot)) => Next::Nothing(cannot.unknown),
            None => Next::Nothing(Vec::new()),
        }
    }

    async fn read_again(&self, job: &Job<'_>, of: &Asking<'_>, question: &str, chosen: &[Chosen]) -> Option<Outcome> {
        let ontology = &of.prepared.ontology;
        let question = match self.planners.worded(question, &of.known.own, chosen, ontology) {
            Worded::Ask(open) => return Some(Outcome::Clarify(vec![open])),
            Worded::Question(question, notes) => {
                let is_whole = question == of.question && notes.is_empty() && of.previous.is_empty();
                if let Some(verified) = of.known.verified.as_ref().filter(|_| is_whole) {
                    return Some(as_verified(verified, of.prepared, of.now));
                }
                question
            }
        };
        let context = self.context(of, chosen, Record::default());
        for (planner, view) in of.prepared.views(&self.planners).filter(|(planner, _)| planner.is_local()) {
            if let Ok(outcome) = planner.plan(job, &question, &view, &context).await {
                return Some(outcome);
            }
        }
        None
    }
}

/// A question as somebody confirmed that it is read.
pub(super) fn as_verified(verified: &Verified, prepared: &Prepared, now: DateTime) -> Outcome {
    Outcome::Plan(Box::new(Reading {
        plan: renewed(&verified.plan, now, &prepared.ontology.calendar),
        assumptions: vec![verified.says.clone()],
        ..Reading::default()
    }))
}

/// With another choice, in place of the one of its key.
fn with(mut chosen: Vec<Chosen>, one: Chosen) -> Vec<Chosen> {
    chosen.retain(|it| it.key != one.key);
    chosen.push(one);
    chosen
}

/// A question without some of its words: without them alone, with one or two words before each that lead to them, or
/// without all that follows. What is left of it otherwise is tried in this order.
fn without(question: &str, unknown: &[String]) -> Vec<String> {
    let plain = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let strange: Vec<String> = unknown.iter().flat_map(|text| text.split_whitespace().map(plain)).collect();
    let words: Vec<&str> = question.split_whitespace().collect();
    let is_strange: Vec<bool> = words.iter().map(|word| strange.contains(&plain(word))).collect();
    if !is_strange.contains(&true) {
        return Vec::new();
    }
    let leads = |at: usize, most: usize| is_strange.iter().skip(at + 1).take(most).any(|strange| *strange);
    let kept = |most: usize| -> Vec<&str> {
        let all = words.iter().zip(&is_strange).enumerate();
        all.filter(|(at, (_, strange))| !**strange && !leads(*at, most)).map(|(_, (word, _))| *word).collect()
    };
    let first = is_strange.iter().position(|strange| *strange).unwrap_or_default();
    let before = |most: usize| -> Vec<&str> { words.iter().take(first.saturating_sub(most)).copied().collect() };
    let mut parts: Vec<String> = Vec::new();
    for part in [kept(0), kept(1), kept(2), before(0), before(1), before(2)] {
        let part = part.join(" ");
        if !part.is_empty() && !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_left_without_what_means_nothing() {
        let of = |question: &str, unknown: &[&str]| {
            without(question, &unknown.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(of("revenue by flurb?", &["flurb"]), ["revenue by", "revenue"]);
        assert_eq!(
            of("revenue of the Flurbs by month", &["flurbs"]),
            [
                "revenue of the by month",
                "revenue of by month",
                "revenue by month",
                "revenue of the",
                "revenue of",
                "revenue"
            ]
        );
        assert_eq!(of("revenue by shop", &["flurb"]), [""; 0], "nothing of it is there");
        assert_eq!(of("flurb", &["flurb"]), [""; 0], "nothing is left");
    }

    #[test]
    fn a_choice_takes_the_place_of_the_one_before() {
        let one = |key: &str, value: &str| Chosen { key: key.into(), value: value.into() };
        let chosen = with(vec![one("a", "1"), one("b", "2")], one("a", "3"));
        assert_eq!(chosen, [one("b", "2"), one("a", "3")]);
    }
}
