//! What the person who asks has set for themselves: their own words, and the time that they mean when they name none.
//! Whoever else asks the same gets the ontology's answer.

use jiff::civil::{DateTime, datetime};

use super::ask::Questions;
use super::lexicon::words::fold;
use super::planner::rules::is_ordinary;
use super::time::{self, TimePhrase};
use super::token::{Token, TokenKind, tokens};
use crate::engine::job::Job;
use crate::model::error::{Error, Result};
use crate::model::ontology::{Calendar, Ontology, in_words};
use crate::model::plan::Plan;
use crate::model::preferences::{DataAgent, Threshold, UserSettings};
use crate::model::reading::{Choice, Chosen, Clarification};
use crate::store;

/// Most metrics that are offered where a threshold is a number alone.
const MOST_OPTIONS: usize = 5;

/// A question after the person's own words were put into those of the ontology.
pub(super) enum Worded {
    /// With what was changed, as sentences.
    Question(String, Vec<String>),
    /// A threshold is a number, and of what is open.
    Ask(Clarification),
}

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
    pub(super) fn window(&self, ontology: &Ontology) -> Option<String> {
        let Some(own) = &self.default_time_period else { return ontology.default_time_window.clone() };
        period(own).filter(|(_, limited)| *limited).map(|(phrase, _)| phrase)
    }

    /// Whether a plan's time may be the one that the person has set, or none because they have set none where the
    /// ontology has its own: whoever else asks the question may get another answer.
    pub(super) fn timed(&self, plan: &Plan, question: &str, ontology: &Ontology, now: DateTime) -> bool {
        let Some((own, limited)) = self.default_time_period.as_deref().and_then(period) else { return false };
        let window = plan.time.as_ref().map(|time| &time.window).filter(|it| it.start.is_some() || it.end.is_some());
        let windows = |text: &str| {
            let found = time::find(&tokens(text), now, &ontology.calendar).into_iter().map(|it| it.phrase);
            found.filter_map(|it| if let TimePhrase::Window(window) = it { Some(window) } else { None })
        };
        match window {
            None => !limited && !plan.measures.is_empty() && ontology.default_time_window.is_some(),
            Some(window) => {
                limited
                    && (windows(question).next().is_none()
                        || windows(&own).any(|own| (&own.start, &own.end) == (&window.start, &window.end)))
            }
        }
    }
}

/// The phrase that a default time is, "current quarter" of `current_quarter`, and whether it limits anything; `None`
/// when it is no time.
pub fn period(text: &str) -> Option<(String, bool)> {
    let phrase = text.trim().replace('_', " ");
    let all = tokens(&phrase);
    let found = time::find(&all, datetime(2024, 6, 15, 12, 0, 0, 0), &Calendar::default()).into_iter().next()?;
    match found.phrase {
        TimePhrase::Window(window) if found.tokens == (0..all.len()) => {
            Some((phrase, window.start.is_some() || window.end.is_some()))
        }
        _ => None,
    }
}

/// Whether words can be given a meaning of their own: not those that every question is made of.
pub fn is_own_word(term: &str) -> bool {
    tokens(term).iter().any(|token| !is_ordinary(&fold(&token.norm)))
}

/// Puts the conditions that stand for a person's own words in their place: "high-value customers by country" is
/// "customers with revenue over 10000 by country". Words that the ontology knows keep its meaning.
pub(super) fn worded(question: &str, own: &DataAgent, chosen: &[Chosen], ontology: &Ontology) -> Worded {
    let (mut question, mut notes) = (question.to_owned(), Vec::new());
    for (term, threshold) in own.terms().filter(|(term, _)| !knows(ontology, term)) {
        let all = tokens(&question);
        let Some((from, to)) = place(&all, &term) else { continue };
        let condition = match threshold {
            Threshold::Condition(condition) => condition.clone(),
            Threshold::Number(number) => {
                let key = format!("term:{term}");
                match chosen.iter().find(|one| one.key == key) {
                    Some(one) => format!("{} over {number}", one.value),
                    None => match measured(&key, &term, *number, ontology) {
                        Some(open) => return Worded::Ask(open),
                        None => continue,
                    },
                }
            }
        };
        let is_noun = |token: &&Token| token.kind == TokenKind::Word && !is_ordinary(&fold(&token.norm));
        let end = to + all[to..].iter().take_while(is_noun).count();
        if end == to {
            continue;
        }
        let (before, noun, after) = (&question[..all[from].start], &question[all[to].start..all[end - 1].end], end - 1);
        let rewritten = format!("{before}{noun} with {condition}{}", &question[all[after].end..]);
        notes.push(format!("“{term}” is read as “{condition}”, as you have set it."));
        question = rewritten;
    }
    Worded::Question(question, notes)
}

/// Where a term's words stand, hyphens or not: from the first to after the last.
fn place(all: &[Token], term: &str) -> Option<(usize, usize)> {
    let words = term.split(' ').count();
    (0..all.len()).flat_map(|from| (1..=words).map(move |more| (from, from + more))).find(|(from, to)| {
        all.get(*from..*to).is_some_and(|some| {
            let said: Vec<String> = some.iter().map(|token| token.norm.replace('-', " ")).collect();
            some.iter().all(|token| token.kind == TokenKind::Word) && said.join(" ") == term
        })
    })
}

/// Whether the ontology itself has these words.
fn knows(ontology: &Ontology, term: &str) -> bool {
    let has = |name: &str| in_words(name).to_lowercase().replace('-', " ").contains(term);
    let segment = |it: &crate::model::ontology::Segment| has(&it.name) || it.synonyms.iter().any(|word| has(word));
    ontology.segments.iter().any(segment) || ontology.glossary.iter().any(|it| has(&it.term))
}

/// Asks which metric a threshold is of; `None` where there are none to choose from.
fn measured(key: &str, term: &str, number: f64, ontology: &Ontology) -> Option<Clarification> {
    let options: Vec<Choice> = ontology
        .metrics
        .iter()
        .take(MOST_OPTIONS)
        .map(|metric| in_words(&metric.name))
        .map(|name| Choice { label: name.clone(), value: name })
        .collect();
    let assumption = options.first()?.label.clone();
    let question = format!("“{term}” is over {number} for you. Of what?");
    (options.len() > 1).then_some(Clarification { key: key.to_owned(), question, options, assumption })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::agent::lexicon::Lexicon;
    use crate::engine::agent::planner::rules::{Context, plan};
    use crate::engine::ontology::graph::Graph;
    use crate::engine::ontology::read;
    use crate::model::reading::Outcome;

    fn ontology() -> Ontology {
        read::read(include_str!("planner/rules/tests/bakery.yaml")).unwrap().ontology
    }

    fn own(settings: &str) -> DataAgent {
        serde_json::from_str(settings).unwrap()
    }

    #[test]
    fn a_time_is_known_by_its_phrase() {
        assert_eq!(period("current_quarter"), Some(("current quarter".into(), true)));
        assert_eq!(period("last 30 days"), Some(("last 30 days".into(), true)));
        assert_eq!(period("all_time"), Some(("all time".into(), false)));
        for other in ["monthly", "revenue last month", "", "soon"] {
            assert_eq!(period(other), None, "{other}");
        }
    }

    #[test]
    fn own_words_become_the_conditions_that_they_stand_for() {
        let own = own(r#"{"bigSpenderThreshold":"revenue over 50"}"#);
        let put = |question: &str| match worded(question, &own, &[], &ontology()) {
            Worded::Question(question, notes) => (question, notes.len()),
            Worded::Ask(open) => panic!("{open:?}"),
        };
        assert_eq!(put("Big-spender customers by town?"), ("customers with revenue over 50 by town?".into(), 1));
        assert_eq!(put("the big spender customers"), ("the customers with revenue over 50".into(), 1));
        assert_eq!(put("who is a big spender?"), ("who is a big spender?".into(), 0));
        assert_eq!(put("the “big spender” customers").1, 0);
    }

    #[test]
    fn a_number_alone_is_asked_of_what_and_the_reply_is_taken() {
        let own = own(r#"{"bigSpenderThreshold":50}"#);
        let Worded::Ask(open) = worded("big-spender customers", &own, &[], &ontology()) else { panic!() };
        assert_eq!((open.key.as_str(), open.options.len() > 1), ("term:big spender", true));
        let chosen = [Chosen { key: open.key, value: "revenue".into() }];
        let Worded::Question(question, _) = worded("big-spender customers", &own, &chosen, &ontology()) else {
            panic!()
        };
        assert_eq!(question, "customers with revenue over 50");
    }

    #[test]
    fn words_of_the_ontology_keep_its_meaning() {
        let mut ontology = ontology();
        let segment = ontology.segments.first_mut().unwrap();
        segment.synonyms.push("big spender".into());
        let own = own(r#"{"bigSpenderThreshold":"revenue over 50"}"#);
        let Worded::Question(question, notes) = worded("big-spender customers", &own, &[], &ontology) else { panic!() };
        assert_eq!((question.as_str(), notes.len()), ("big-spender customers", 0));
    }

    #[test]
    fn words_of_every_question_have_no_threshold() {
        assert!(is_own_word("high value"));
        assert!(!is_own_word("the"));
        assert!(!is_own_word("show me"));
    }

    #[test]
    fn a_person_s_time_comes_before_the_ontology_s() {
        let mut ontology = ontology();
        ontology.default_time_window = Some("last 12 months".into());
        assert_eq!(own("{}").window(&ontology).as_deref(), Some("last 12 months"));
        assert_eq!(own(r#"{"defaultTimePeriod":"this_year"}"#).window(&ontology).as_deref(), Some("this year"));
        assert_eq!(own(r#"{"defaultTimePeriod":"all_time"}"#).window(&ontology), None);
    }

    #[test]
    fn an_answer_is_a_person_s_own_where_their_time_stood_in_for_the_ontology_s() {
        let now = datetime(2025, 6, 15, 12, 0, 0, 0);
        let mut ontology = ontology();
        let (lexicon, graph) = (Lexicon::build(&ontology, &Vec::new()), Graph::new(&ontology));
        let mut timed = |settings: &str, default: Option<&str>, question: &str| {
            ontology.default_time_window = default.map(str::to_owned);
            let own = own(settings);
            let default_window = own.window(&ontology);
            let context = Context { now, previous: vec![], chosen: vec![], default_window, extent: None };
            let Outcome::Plan(reading) = plan(question, &lexicon, &ontology, &graph, &context) else {
                panic!("{question}")
            };
            own.timed(&reading.plan, question, &ontology, now)
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
