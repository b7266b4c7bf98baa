//! The time that the person who asks has set for questions that name none. Whoever else asks the same gets the
//! ontology's answer.

use jiff::civil::DateTime;

use super::Questions;
use crate::engine::agent::planner::{Period, Planners};
use crate::engine::job::Job;
use crate::model::error::{Error, Result};
use crate::model::ontology::Ontology;
use crate::model::plan::Plan;
use crate::model::preferences::{DataAgent, UserSettings};
use crate::store;

impl Questions {
    /// What the person who asks has set; nothing for a token of a workspace.
    pub(super) async fn settings(&self, job: &Job<'_>) -> Result<DataAgent> {
        let Some(user) = job.pass.user() else { return Ok(DataAgent::default()) };
        let Some(stored) = store::users::settings(self.db.pool(), user).await? else { return Ok(DataAgent::default()) };
        Ok(UserSettings::kept(&stored, job.pass.org()).map_err(Error::internal)?.data_agent)
    }
}

impl DataAgent {
    /// The phrase of time of questions that have none; `ontology` is what it says itself.
    pub(super) fn window(&self, planners: &Planners, ontology: &Ontology) -> Option<String> {
        let Some(own) = &self.default_time_period else { return ontology.default_time_window.clone() };
        planners.period(own).filter(|it| it.is_limited).map(|it| it.phrase)
    }

    /// Whether a plan's time may be the one that the person has set, or none because they have set none where the
    /// ontology has its own: whoever else asks the question may get another answer.
    pub(super) fn timed(
        &self,
        planners: &Planners,
        plan: &Plan,
        question: &str,
        ontology: &Ontology,
        now: DateTime,
    ) -> bool {
        let own = self.default_time_period.as_deref().and_then(|own| planners.period(own));
        let Some(Period { phrase, is_limited }) = own else { return false };
        let window = plan.time.as_ref().map(|time| &time.window).filter(|it| it.start.is_some() || it.end.is_some());
        let windows = |text: &str| planners.windows(text, now, &ontology.calendar);
        match window {
            None => !is_limited && !plan.measures.is_empty() && ontology.default_time_window.is_some(),
            Some(window) => {
                let is_own =
                    || windows(&phrase).iter().any(|own| (&own.start, &own.end) == (&window.start, &window.end));
                is_limited && (windows(question).is_empty() || is_own())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::civil::datetime;

    use super::*;
    use crate::engine::agent::english::English;
    use crate::engine::agent::planner::{Context, Learnt, View};
    use crate::engine::ontology::graph::Graph;
    use crate::engine::ontology::read;
    use crate::model::reading::Outcome;

    fn planners() -> Planners {
        Planners::new(vec![Arc::new(English)])
    }

    fn ontology() -> Ontology {
        read::read(include_str!("../english/tests/bakery.yaml")).unwrap().ontology
    }

    fn own(settings: &str) -> DataAgent {
        serde_json::from_str(settings).unwrap()
    }

    #[test]
    fn a_person_s_time_comes_before_the_ontology_s() {
        let mut ontology = ontology();
        ontology.default_time_window = Some("last 12 months".into());
        assert_eq!(own("{}").window(&planners(), &ontology).as_deref(), Some("last 12 months"));
        assert_eq!(
            own(r#"{"defaultTimePeriod":"this_year"}"#).window(&planners(), &ontology).as_deref(),
            Some("this year")
        );
        assert_eq!(own(r#"{"defaultTimePeriod":"all_time"}"#).window(&planners(), &ontology), None);
    }

    #[test]
    fn an_answer_is_a_person_s_own_where_their_time_stood_in_for_the_ontology_s() {
        let now = datetime(2025, 6, 15, 12, 0, 0, 0);
        let mut ontology = ontology();
        let graph = Arc::new(Graph::new(&ontology));
        let mut timed = |settings: &str, default: Option<&str>, question: &str| {
            ontology.default_time_window = default.map(str::to_owned);
            let own = own(settings);
            let default_window = own.window(&planners(), &ontology);
            let context = Context { now, default_window, ..Context::default() };
            let on = Arc::new(ontology.clone());
            let view = View { ontology: &on, graph: &graph, values: &[], learnt: &Learnt::default() };
            let Outcome::Plan(reading) = English.read(question, &view, &context) else { panic!("{question}") };
            own.timed(&planners(), &reading.plan, question, &ontology, now)
        };
        let (all, year) = (r#"{"defaultTimePeriod":"all_time"}"#, r#"{"defaultTimePeriod":"THIS  year"}"#);
        assert!(timed(all, Some("last 12 months"), "revenue"), "the ontology's time is suppressed");
        assert!(!timed(all, None, "revenue"), "nothing was suppressed");
        assert!(!timed(all, Some("last 12 months"), "revenue in 2024"), "the question names a time");
        assert!(timed(year, Some("last 12 months"), "revenue"), "whatever way it is written");
        assert!(timed(year, None, "revenue"));
        assert!(!timed(year, None, "revenue in 2024"), "the question names a time");
        assert!(!timed("{}", Some("last 12 months"), "revenue"), "nothing is set");
    }
}
