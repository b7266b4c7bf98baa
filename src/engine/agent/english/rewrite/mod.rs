//! Rewritings: what is said in ways that the grammar does not read, said in ways that it does, before the question is
//! read. They run in the order of the two lists here, and each sees what the ones before it made. None changes what is
//! asked for.

mod bands;
mod clauses;
mod days;
mod differences;
mod extremes;
mod framing;
mod growth;
mod kept;
mod kinds;
mod lasting;
mod light;
mod listed;
mod money;
mod plain;
mod possessive;
mod rephrase;
mod spread;
mod turned;
mod words;

use jiff::civil::DateTime;

use crate::engine::agent::english::lexicon::Lexicon;
use crate::engine::agent::stages::Record;
use crate::model::ontology::Ontology;

pub(super) use kept::lost;

use super::repair::other_orders;
pub(super) use words::Words;

/// What rewritings know of.
pub(super) struct Rewriter<'a> {
    pub(super) on: &'a Lexicon,
    pub(super) ontology: &'a Ontology,
    pub(super) now: DateTime,
    pub(super) record: &'a Record,
}

/// The question in other words; `None` where there is nothing to say otherwise.
type Rewriting = fn(&str, &Rewriter<'_>) -> Option<String>;

/// Of what is said around a question, and of turns of speech: each names every word that it takes.
const AROUND: &[Rewriting] = &[
    |text, by| framing::bare(text, by.on),
    |text, _| other_orders::inverted(text),
    |text, by| light::plainly(text, by.on),
    |text, by| money::named(text, by.on, by.ontology),
    |text, _| bands::plainly(text),
    |text, by| growth::plainly(text, by.now, &by.ontology.calendar),
    |text, by| differences::plainly(text, by.on, by.ontology),
];

/// Of the form of the whole question: its words stand where a question without them would have others.
const WHOLE: &[Rewriting] = &[
    |text, by| rephrase::plainer(text, by.now, &by.ontology.calendar),
    |text, _| turned::turned(text).or_else(|| turned::portion(text)),
    |text, _| days::each_with_its_month(text),
    |text, _| days::both_months(text),
    |text, _| extremes::plainly(text),
    |text, by| clauses::phrased(text, by.on, by.ontology),
    |text, by| Some(plain::plainly(text, by.on)),
];

/// Of what is named in it. A question that goes on from another one is written out before them.
const PARTS: &[Rewriting] = &[
    |text, by| kinds::counted(text, by.on, by.ontology),
    |text, by| possessive::turned(text, by.on),
    |text, by| listed::plainly(text, by.on, by.ontology),
    |text, by| lasting::plainly(text, by.on, by.ontology),
    |text, by| Some(spread::written_out(text, by.on, by.ontology)),
];

impl Rewriter<'_> {
    pub(super) fn around(&self, question: String) -> String {
        self.all(AROUND, question)
    }

    pub(super) fn whole(&self, question: String) -> String {
        self.all(WHOLE, question)
    }

    pub(super) fn parts(&self, question: String) -> String {
        self.all(PARTS, question)
    }

    fn all(&self, rewritings: &[Rewriting], question: String) -> String {
        rewritings.iter().fold(question, |text, rewriting| match rewriting(&text, self) {
            Some(other) if other != text => {
                self.record.add("rewrite", || other.clone());
                other
            }
            _ => text,
        })
    }
}
