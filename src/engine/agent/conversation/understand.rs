//! How a question is read: by each planner in turn until one has a plan. Where none has, what the first one says of it
//! stands: it asks back, or declines.

use std::time::Instant;

use super::{Questions, Steps};
use crate::engine::agent::planner::{Context, Unread};
use crate::engine::agent::prepared::Prepared;
use crate::engine::job::Job;
use crate::model::reading::{Cannot, Outcome};

/// Sentences about unknown values that are told with a word that means nothing.
const MOST_TOLD: usize = 3;

impl Questions {
    /// Reads a question.
    pub(super) async fn understand(
        &self,
        job: &Job<'_>,
        prepared: &Prepared,
        question: &str,
        context: &Context,
        steps: &mut Steps,
    ) -> Outcome {
        for left_out in &prepared.left_out {
            if !steps.trace.notes.contains(left_out) {
                steps.trace.notes.push(left_out.clone());
            }
        }
        let mut first: Option<(String, Outcome)> = None;
        for (planner, view) in prepared.views(&self.planners) {
            let begun = Instant::now();
            let read = planner.plan(job, question, &view, context).await;
            if let (Some((name, _)), Ok(_) | Err(Unread::NoHelp(_))) = (&first, &read) {
                steps.done_at(begun, &format!("{name} planner"), "no plan");
            }
            steps.record.add(planner.name(), || match &read {
                Ok(outcome) => serde_json::to_string_pretty(outcome).unwrap_or_default(),
                Err(why) => format!("{why:?}"),
            });
            match read {
                Ok(plan @ Outcome::Plan(_)) => {
                    steps.trace.planner = planner.name().into();
                    return plan;
                }
                // What a later one asks or declines is no better than what an earlier one does.
                Ok(other) if first.is_none() => first = Some((planner.name().into(), other)),
                Ok(_) | Err(Unread::Off) => {}
                Err(Unread::NotAsked(why) | Unread::NoHelp(why)) => steps.trace.notes.push(why),
            }
        }
        let nobody = || {
            let reason = "Nothing on this server reads questions.".into();
            (String::new(), Outcome::Cannot(Cannot { reason, ..Cannot::default() }))
        };
        let (name, outcome) = first.unwrap_or_else(nobody);
        steps.trace.planner = name;
        told_apart(outcome, &prepared.left_out)
    }
}

/// A word that means nothing may be a value that is not known: that is said beside it.
fn told_apart(outcome: Outcome, left_out: &[String]) -> Outcome {
    match outcome {
        Outcome::Cannot(mut cannot) if !cannot.unknown.is_empty() => {
            for sentence in left_out.iter().take(MOST_TOLD) {
                cannot.reason = format!("{} {sentence}", cannot.reason);
            }
            Outcome::Cannot(cannot)
        }
        other => other,
    }
}
