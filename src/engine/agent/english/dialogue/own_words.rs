//! Words that a person has given a meaning of their own, and the time that they mean when they name none.

use jiff::civil::datetime;

use crate::engine::agent::english::lexicon::words::fold;
use crate::engine::agent::english::text::token::{Token, TokenKind, tokens};
use crate::engine::agent::english::time::{self, TimePhrase};
use crate::engine::agent::english::vocabulary::is_ordinary;
use crate::engine::agent::planner::{Period, Worded};
use crate::model::ontology::{Calendar, Ontology, in_words};
use crate::model::preferences::{DataAgent, Threshold};
use crate::model::reading::{Choice, Chosen, Clarification};

/// Most metrics that are offered where a threshold is a number alone.
const MOST_OPTIONS: usize = 5;

/// The time that a text is; `None` when it is none, or more.
pub(in super::super) fn period(text: &str) -> Option<Period> {
    let phrase = text.trim().replace('_', " ");
    let all = tokens(&phrase);
    let found = time::find(&all, datetime(2024, 6, 15, 12, 0, 0, 0), &Calendar::default()).into_iter().next()?;
    match found.phrase {
        TimePhrase::Window(window) if found.tokens == (0..all.len()) => {
            Some(Period { phrase, is_limited: window.start.is_some() || window.end.is_some() })
        }
        _ => None,
    }
}

/// Whether words can be given a meaning of their own: not those that every question is made of.
pub(in super::super) fn is_own_word(term: &str) -> bool {
    tokens(term).iter().any(|token| !is_ordinary(&fold(&token.norm)))
}

/// Puts the conditions that stand for a person's own words in their place: "high-value customers by country" is
/// "customers with revenue over 10000 by country". Words that the ontology knows keep its meaning.
pub(in super::super) fn worded(question: &str, own: &DataAgent, chosen: &[Chosen], ontology: &Ontology) -> Worded {
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
    let has = |name: &str| in_words(name).contains(term);
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
    use crate::engine::ontology::read;

    fn ontology() -> Ontology {
        read::read(include_str!("../tests/bakery.yaml")).unwrap().ontology
    }

    fn own(settings: &str) -> DataAgent {
        serde_json::from_str(settings).unwrap()
    }

    #[test]
    fn a_time_is_known_by_its_phrase() {
        let is = |phrase: &str, is_limited| Some(Period { phrase: phrase.into(), is_limited });
        assert_eq!(period("current_quarter"), is("current quarter", true));
        assert_eq!(period("last 30 days"), is("last 30 days", true));
        assert_eq!(period("all_time"), is("all time", false));
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
}
