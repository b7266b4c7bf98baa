//! What a draft asks of the person who wants it: which columns refer to what. The answers make the draft anew.

use crate::base::id::Id;
use crate::model::dataset::Dataset;
use crate::model::error::{Error, Result};
use crate::model::ontology::Link;
use crate::ops::draft_ontology::{Answer, Asked, DraftOntology, Evidence, State};
use crate::surface::form::Params;

/// Questions that one page asks.
const MOST: usize = 100;

/// The questions, and what the draft was made with.
#[derive(Default)]
pub struct Inquiry {
    /// `draft` for a new ontology, `anew` for one that stands.
    pub of: &'static str,
    /// Names and values of hidden fields.
    pub carried: Vec<(&'static str, String)>,
    pub questions: Vec<Asking>,
}

/// Whether a column refers to another.
pub struct Asking {
    pub from: String,
    pub to: String,
    pub because: String,
    pub choices: Vec<Choice>,
}

/// What may be answered.
pub struct Choice {
    /// Answers as JSON; empty for none.
    pub value: String,
    pub says: String,
    pub chosen: bool,
}

/// The form's fields that go with the answers.
const CARRIED: [&str; 5] = ["name", "dataset_id", "timezone", "dictionary", "improve"];

impl Inquiry {
    /// The questions that a draft leaves open, and those that were answered; `None` when there are none.
    pub fn new(of: &'static str, params: &Params, evidence: &[Evidence]) -> Option<Self> {
        let open = evidence.iter().filter_map(|it| {
            let asked = it.reference.as_ref()?;
            let answered = matches!(asked.state, State::Confirmed | State::Refused);
            (!it.sure || answered).then(|| asking(it, asked))
        });
        let questions: Vec<Asking> = open.take(MOST).collect();
        let carried = CARRIED.into_iter().flat_map(|name| params.all(name).map(move |value| (name, value.to_owned())));
        (!questions.is_empty()).then(|| Self { of, carried: carried.collect(), questions })
    }
}

/// The draft that a form asks for.
pub(super) fn asked_for(params: &Params) -> Result<DraftOntology> {
    let ids: Result<Vec<Id<Dataset>>, _> = params.all("dataset_id").map(str::parse).collect();
    Ok(DraftOntology {
        name: params.get("name").unwrap_or("").trim().to_owned(),
        dataset_ids: ids.map_err(|_| Error::dataset_not_found())?,
        timezone: params.get("timezone").map(str::to_owned),
        dictionary: params.get("dictionary").unwrap_or("").to_owned(),
        improve: params.get("improve").is_some(),
        answers: answers(params)?,
        ..DraftOntology::default()
    })
}

/// The answers of a form.
///
/// # Errors
/// `invalid_argument` for what the page did not offer.
fn answers(params: &Params) -> Result<Vec<Answer>> {
    let mut all = Vec::new();
    for chosen in params.all("answer") {
        let answers: Vec<Answer> =
            serde_json::from_str(chosen).map_err(|_| Error::invalid("answer", "This answer is none of the page's."))?;
        all.extend(answers);
    }
    Ok(all)
}

fn asking(evidence: &Evidence, asked: &Asked) -> Asking {
    let Asked { link, state, others } = asked;
    let holds = |holds: bool| Answer { link: link.clone(), holds };
    let choice = |answers: &[Answer], says: String, chosen: bool| {
        let value = serde_json::to_string(answers).unwrap_or_default();
        Choice { value, says, chosen }
    };
    let leave = match state {
        State::Drafted => "Not sure: draft it",
        State::LeftOut => "Not sure: leave it out",
        State::Confirmed | State::Refused => "Take the answer back",
    };
    let open = matches!(state, State::Drafted | State::LeftOut);
    let mut choices = vec![
        Choice { value: String::new(), says: leave.into(), chosen: open },
        choice(&[holds(true)], "Yes".into(), *state == State::Confirmed),
        choice(&[holds(false)], "No".into(), *state == State::Refused),
    ];
    choices.extend(others.iter().map(|other| {
        let says = format!("No, to {}", end(&other.to, &other.to_columns));
        choice(&[holds(false), Answer { link: other.clone(), holds: true }], says, false)
    }));
    let Link { from, from_columns, to, to_columns } = link;
    let because = evidence.because.join(" ");
    Asking { from: end(from, from_columns), to: end(to, to_columns), because, choices }
}

fn end(table: &str, columns: &[String]) -> String {
    format!("{table}.{}", columns.join(", "))
}
