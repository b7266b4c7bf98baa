//! What a draft asks of the person who wants it: which columns refer to what. The answers make the draft anew.

use crate::base::id::Id;
use crate::model::dataset::Dataset;
use crate::model::error::{Error, Result};
use crate::model::ontology::Link;
use crate::ops::draft_ontology::{Answer, Asked, DraftOntology, Evidence, State};
use crate::surface::form::Params;

/// Open questions that one page asks, and answered ones that it shows. With a box for each table they are no more than a
/// form may hold.
const MOST_OPEN: usize = 100;
const MOST_ANSWERED: usize = 50;

/// The questions, and what the draft was made with.
#[derive(Default)]
pub struct Inquiry {
    /// `draft` for a new ontology, `anew` for one that stands.
    pub of: &'static str,
    /// Names and values of hidden fields.
    pub carried: Vec<(&'static str, String)>,
    /// The answered ones first.
    pub questions: Vec<Asking>,
    /// Open questions that are not shown.
    pub open: usize,
    /// Answers that go with the form and are not shown.
    pub kept: usize,
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
        let all = evidence.iter().filter_map(|it| Some((it, it.reference.as_ref()?)));
        let (answered, mut open): (Vec<_>, Vec<_>) = all.partition(|(_, asked)| is_answered(asked));
        open.retain(|(it, _)| !it.sure);
        let shown = answered.iter().take(MOST_ANSWERED).chain(open.iter().take(MOST_OPEN));
        let questions: Vec<Asking> = shown.map(|(it, asked)| asking(it, asked)).collect();
        let carried = CARRIED.into_iter().flat_map(|name| params.all(name).map(move |value| (name, value.to_owned())));
        let mut carried: Vec<(&'static str, String)> = carried.collect();
        let answer = |asked: &Asked| Answer { link: asked.link.clone(), holds: asked.state == State::Confirmed };
        let kept: Vec<Answer> = answered.iter().skip(MOST_ANSWERED).map(|(_, asked)| answer(asked)).collect();
        if !kept.is_empty() {
            carried.push(("answer", serde_json::to_string(&kept).unwrap_or_default()));
        }
        let open = open.len().saturating_sub(MOST_OPEN);
        (!questions.is_empty()).then_some(Self { of, carried, questions, open, kept: kept.len() })
    }
}

/// Whether a person said what a reference is.
fn is_answered(asked: &Asked) -> bool {
    matches!(asked.state, State::Confirmed | State::Refused)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_answered_is_kept_and_what_is_not_shown_is_counted() {
        let evidence = |state: State, at: usize| {
            let link = Link {
                from: format!("table_{at}"),
                from_columns: vec!["of".into()],
                to: "shops".into(),
                to_columns: vec!["id".into()],
            };
            let sure = matches!(state, State::Confirmed | State::Refused);
            let reference = Some(Asked { link, state, others: vec![] });
            Evidence { decided: String::new(), because: vec![], sure, reference }
        };
        let open = (0..107).map(|at| evidence(State::Drafted, at));
        let refused = (200..270).map(|at| evidence(State::Refused, at));
        let confirmed = (300..310).map(|at| evidence(State::Confirmed, at));
        let all: Vec<Evidence> = open.chain(refused).chain(confirmed).collect();
        let params = Params::parse("name=shop").unwrap();
        let inquiry = Inquiry::new("draft", &params, &all).unwrap();
        assert_eq!((inquiry.questions.len(), inquiry.open, inquiry.kept), (150, 7, 30));
        assert_eq!(
            (inquiry.questions[0].from.as_str(), inquiry.questions[50].from.as_str()),
            ("table_200.of", "table_0.of")
        );
        // The next draft gets every answer: those that are chosen on the page, and those that are not shown.
        let chosen = inquiry.questions.iter().flat_map(|it| &it.choices).filter(|choice| choice.chosen);
        let chosen = chosen.map(|choice| choice.value.as_str()).filter(|value| !value.is_empty());
        let carried = inquiry.carried.iter().filter(|(name, _)| *name == "answer").map(|(_, value)| value.as_str());
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(carried.map(|value| ("answer", value)));
        let unseen = answers(&Params::parse(&form.finish()).unwrap()).unwrap();
        assert_eq!((chosen.count(), unseen.len()), (50, 30));
        assert_eq!(unseen.iter().filter(|answer| answer.holds).count(), 10);
    }
}
