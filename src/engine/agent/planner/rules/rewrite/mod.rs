//! Rewritings: what is said in ways that the grammar does not read, said in ways that it does, before the question is
//! read. They run in the order of the two lists here, and each sees what the ones before it made. None changes what is
//! asked for.

mod clauses;
mod days;
mod lasting;
mod listed;
mod plain;
mod rephrase;
mod spread;
mod turned;
mod words;

use jiff::civil::DateTime;

use crate::engine::agent::lexicon::Lexicon;
use crate::model::ontology::Ontology;

pub(super) use words::Words;

/// What rewritings know of.
pub(super) struct Rewriter<'a> {
    pub(super) on: &'a Lexicon,
    pub(super) ontology: &'a Ontology,
    pub(super) now: DateTime,
}

/// The question in other words; `None` where there is nothing to say otherwise.
type Rewriting = fn(&str, &Rewriter<'_>) -> Option<String>;

/// Of the form of the whole question: its words stand where a question without them would have others.
const WHOLE: &[Rewriting] = &[
    |text, by| rephrase::plainer(text, by.now, &by.ontology.calendar),
    |text, _| turned::turned(text).or_else(|| turned::portion(text)),
    |text, _| days::each_with_its_month(text),
    |text, by| clauses::phrased(text, by.on, by.ontology),
    |text, by| Some(plain::plainly(text, by.on)),
];

/// Of what is named in it. A question that goes on from another one is written out before them.
const PARTS: &[Rewriting] = &[
    |text, by| listed::plainly(text, by.on, by.ontology),
    |text, by| lasting::plainly(text, by.on, by.ontology),
    |text, by| Some(spread::written_out(text, by.on, by.ontology)),
];

impl Rewriter<'_> {
    pub(super) fn whole(&self, question: String) -> String {
        self.all(WHOLE, question)
    }

    pub(super) fn parts(&self, question: String) -> String {
        self.all(PARTS, question)
    }

    fn all(&self, rewritings: &[Rewriting], question: String) -> String {
        rewritings.iter().fold(question, |text, rewriting| rewriting(&text, self).unwrap_or(text))
    }
}
