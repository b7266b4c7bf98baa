//! Words that point back: "their total amount", "which of them", "when was it?". What they stand for is found in the
//! question itself, or it is not known: of the answer before they may mean the rows, the things in them or the numbers.

use crate::engine::agent::english::lexicon::{Entry, Lexicon, Sense, words};
use crate::engine::agent::english::text::token::{Token, TokenKind, tokens};
use crate::model::ontology::{FieldRole, Ontology};
use crate::model::plan::Plan;

use super::super::vocabulary;

/// Whose something is.
const OWNING: &[&str] = &["their", "its", "his", "her"];

/// What stands for a thing alone, besides "it".
const THEM: &[&str] = &["they", "them", "theirs", "he", "she", "him", "hers"];

/// What begins a part of a question that asks.
const ASKING: &[&str] = &["how", "which", "what", "who", "whom", "whose", "when", "where"];

/// What stands between parts of a question.
const JOINING: &[&str] = &["and", "or", "but", "then", ",", ".", ";", ":", "?", "!", "-", "–", "—"];

const BEING: &[&str] = &["is", "are", "was", "were"];

/// Of which some are picked: "how many of them".
const SOME: &[&str] = &["which", "who", "what", "many", "some", "any", "all", "none", "most", "one", "half"];

/// "How much did it rain": it is nothing.
const WEATHER: &[&str] = &["rain", "snow", "hail"];

const PERIODS: &[&str] = &["day", "week", "weekend", "month", "quarter", "year", "morning", "evening", "night"];

/// A word that points to what the question does not name.
pub(in super::super) struct Pointer {
    word: String,
    /// It picks some of what was shown: "which of them".
    picks: bool,
}

impl Pointer {
    /// The first of a question.
    pub(in super::super) fn of(question: &str, on: &Lexicon, ontology: &Ontology) -> Option<Self> {
        let said = Said { all: tokens(question), on, ontology };
        let at = (0..said.all.len()).find(|at| said.points(*at) && !said.is_named(*at))?;
        let picks = said.before(at, 1) == "of" && SOME.contains(&said.before(at, 2));
        Some(Self { word: said.all[at].text.clone(), picks })
    }

    /// Whether a plan that goes on from the one before holds what the word stands for: conditions are carried from one
    /// to the other, and what was picked by its numbers is not. Some rows of a list are those with one more condition.
    pub(in super::super) fn is_carried(&self, before: &Plan, plan: &Plan) -> bool {
        if self.picks {
            let held = before.filters.iter().all(|condition| plan.filters.contains(condition));
            let same = plan.measures.is_empty() && plan.dimensions == before.dimensions && plan.time == before.time;
            return before.is_listing() && before.limit.is_none() && held && same;
        }
        plan == before || before.limit.is_none() && before.having.is_empty()
    }

    /// Why there is no answer.
    pub(in super::super) fn unsaid(&self) -> String {
        format!("What “{}” stands for is not said in this question: name it, with what holds for it.", self.word)
    }
}

/// A question as its words.
struct Said<'a> {
    all: Vec<Token>,
    on: &'a Lexicon,
    ontology: &'a Ontology,
}

impl Said<'_> {
    /// Empty at the end, and for quoted texts.
    fn word(&self, at: usize) -> &str {
        self.all.get(at).filter(|token| token.kind != TokenKind::Quoted).map_or("", |token| token.norm.as_str())
    }

    fn before(&self, at: usize, back: usize) -> &str {
        at.checked_sub(back).map_or("", |at| self.word(at))
    }

    /// Whether a word stands for something that is said elsewhere.
    fn points(&self, at: usize) -> bool {
        let (word, before, next) = (self.word(at), self.before(at, 1), self.word(at + 1));
        // "Show it by month": the answer, as it is.
        let shown = vocabulary::is_show(before)
            || matches!(before, "make" | "sort" | "order" | "rank" | "split" | "break" | "group" | "draw" | "me");
        let period = PERIODS.contains(&words::singular(next).as_str());
        match word {
            "it" | "it's" => !shown && !WEATHER.iter().any(|weather| next.starts_with(*weather)),
            "these" | "those" => next != "who" && !period,
            "this" | "that" => {
                let ends = next.is_empty() || JOINING.contains(&next);
                let behind = matches!(before, "" | "of" | "in" | "for" | "from" | "at" | "by" | "to" | "on" | "with");
                BEING.contains(&before) && ends || behind && !period && self.names(at + 1, false)
            }
            word => THEM.contains(&word) || OWNING.contains(&word),
        }
    }

    /// Whether the question says itself what a word points to: before it, or as each one of something.
    fn is_named(&self, at: usize) -> bool {
        let word = self.word(at);
        let until = self.until(at);
        let alone = matches!(word, "it" | "it's" | "its");
        let may_be_who = OWNING.contains(&word) || until < at;
        let somebody = |at: usize| {
            may_be_who && matches!(self.word(at), "who" | "whose" | "people" | "anyone" | "anybody" | "everyone")
        };
        let each = |at: usize| matches!(self.word(at), "each" | "every") && self.names(at + 1, false);
        (0..until).any(|at| self.names(at, alone) || somebody(at)) || (0..self.all.len()).any(each)
    }

    /// Before which place that must be said: outside of the part that asks for something of it, or in which something
    /// is done to it. Of "how many orders do they have" they are no orders.
    fn until(&self, at: usize) -> usize {
        let (word, before) = (self.word(at), self.before(at, 1));
        let owns = OWNING.contains(&word);
        let last = |of: &[&str]| (0..at).rev().find(|at| of.contains(&self.word(*at)));
        if before == "of" && !owns {
            return last(JOINING).unwrap_or(0);
        }
        let asked = BEING.contains(&before)
            || matches!(before, "do" | "does" | "did" | "can" | "could" | "would")
            || !owns && matches!(before, "has" | "have" | "had");
        if asked && JOINING.contains(&self.before(at, 2)) {
            return at - 2;
        }
        let done = matches!(word, "them" | "him" | "it" | "these" | "those")
            && (vocabulary::is_relation(before) || before.ends_with("ed"));
        if asked || done { last(ASKING).unwrap_or(at) } else { at }
    }

    /// Whether the name of something begins here: of a thing, or also of a number.
    fn names(&self, at: usize, also_number: bool) -> bool {
        let Some(token) = self.all.get(at) else { return false };
        match token.kind {
            TokenKind::Quoted => return true,
            TokenKind::Number | TokenKind::Punct => return false,
            TokenKind::Word => {}
        }
        let list: Vec<String> = self.all[at..].iter().take(4).flat_map(|token| words::split(&token.text)).collect();
        let Some(first) = list.first() else { return false };
        let is_ordinary = vocabulary::is_ordinary(first);
        let misspelt: Vec<bool> = (0..list.len()).map(|at| at == 0 && !is_ordinary).collect();
        let said: Vec<&str> = list.iter().map(String::as_str).collect();
        let measures = |dataset: usize, field: usize| {
            let own = self.ontology.datasets.get(dataset).and_then(|entity| entity.fields.get(field));
            own.is_some_and(|field| field.role == FieldRole::Measure)
        };
        let stands = |entry: &Entry| match entry.sense {
            Sense::Entity(_) | Sense::Role(_) => true,
            Sense::Field(dataset, field) => !entry.partial && (also_number || !measures(dataset, field)),
            Sense::Metric(_) => !entry.partial && also_number,
            Sense::Segment(_) | Sense::Value { .. } => !entry.partial && !is_ordinary,
        };
        self.on.matches(&said, &misspelt).iter().flat_map(|found| &found.entries).any(stands)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ontology::read;

    fn pointer(question: &str) -> Option<(String, bool)> {
        let ontology = read::read(include_str!("../tests/bakery.yaml")).unwrap().ontology;
        let lexicon = Lexicon::build(&ontology, &[]);
        Pointer::of(question, &lexicon, &ontology).map(|pointer| (pointer.word, pointer.picks))
    }

    #[test]
    fn a_word_points_back_where_the_question_names_nothing_that_it_stands_for() {
        for (question, word) in [
            ("their revenue", "their"),
            ("how many sales do they have", "they"),
            ("list their sales", "their"),
            ("what shop was it?", "it"),
            ("when was it?", "it"),
            ("which town is that?", "that"),
            ("revenue of that shop", "that"),
            ("revenue of those", "those"),
            ("which customers bought them", "them"),
            ("total revenue of them", "them"),
        ] {
            assert_eq!(pointer(question), Some((word.into(), false)), "{question}");
        }
        assert_eq!(pointer("which of them have sales?"), Some(("them".into(), true)));
    }

    #[test]
    fn what_stands_in_the_question_is_no_other() {
        for question in [
            "customers with their email",
            "shops in Lund and how many sales do they have",
            "which shops were opened before they were leased",
            "the largest sale, and when was it?",
            "towns with at least 2 shops and how many they have",
            "days from the start of its lease to the sale for each shop",
            "shops that customers like",
            "number of sales by town, only those above 10",
            "revenue by month and how it changed",
            "who bought the most and what is their email",
            "how much did it rain in May",
            "revenue this month",
            "show it by month",
            "revenue of those who bought rye",
        ] {
            assert_eq!(pointer(question), None, "{question}");
        }
    }
}
