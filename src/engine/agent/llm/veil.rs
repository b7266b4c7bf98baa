//! Keeps stored values from a language model and still lets it use them: they are sent as placeholders, and what comes
//! back gets them again.

use crate::engine::agent::plan::values::{Met, each_value};
use crate::model::ontology::Ontology;
use crate::model::personal::is_personal;
use crate::model::plan::{FieldRef, Literal, NodeMut, Plan, Value};

/// The values behind placeholders, in order.
pub(super) struct Veil<'a> {
    may_see: bool,
    ontology: &'a Ontology,
    hidden: Vec<Literal>,
}

impl<'a> Veil<'a> {
    pub(super) fn new(may_see: bool, ontology: &'a Ontology) -> Self {
        Self { may_see, ontology, hidden: Vec::new() }
    }

    /// Whether values are sent as they are, but for those of fields with personal data.
    pub(super) fn may_see(&self) -> bool {
        self.may_see
    }

    /// The text to send: itself where it may be seen or `known` says it already, a placeholder otherwise.
    pub(super) fn cover(&mut self, text: &str, known: &str) -> String {
        if self.may_see || known.to_lowercase().contains(&text.to_lowercase()) {
            return text.to_owned();
        }
        self.placeholder(Literal::Text(text.to_owned()))
    }

    /// What was chosen for words of a question: names of the ontology as they are, a stored value as it may be.
    pub(super) fn cover_choice(&mut self, value: &str, known: &str) -> String {
        if is_name(value, self.ontology) {
            return value.to_owned();
        }
        let of_person = value.split_once(" = ").and_then(|(field, _)| field.split_once('.'));
        let of_person = of_person.is_some_and(|(dataset, field)| self.is_personal(&FieldRef::new(dataset, field)));
        match of_person && !known.to_lowercase().contains(&value.to_lowercase()) {
            true => self.placeholder(Literal::Text(value.to_owned())),
            false => self.cover(value, known),
        }
    }

    /// A plan to send. Headings may hold values too, and are not needed.
    pub(super) fn cover_plan(&mut self, mut plan: Plan, known: &str) -> Plan {
        let known = known.to_lowercase();
        let mut covered = false;
        each_value(&mut plan, &mut |met| {
            let (field, value) = match &met {
                Met::Literal(field, value) => (*field, (**value).clone()),
                Met::Part(field, text) => (*field, Literal::Text((**text).clone())),
            };
            let said = match &value {
                Literal::Bool(_) => true,
                Literal::Number(number) => says_number(&known, number.get()),
                Literal::Text(text) => known.contains(&text.to_lowercase()),
            };
            if said || self.may_see && !self.is_personal(field) {
                return;
            }
            covered = true;
            let placeholder = self.placeholder(value);
            match met {
                Met::Literal(_, value) => *value = Literal::Text(placeholder),
                Met::Part(_, text) => *text = placeholder,
            }
        });
        if covered || !self.may_see {
            plan.dimensions.iter_mut().for_each(|dimension| dimension.label = None);
            plan.walk_mut(&mut |node| {
                let NodeMut::Measure(measure) = node else { return };
                measure.label = None;
                if let Value::Over { by, .. } = &mut measure.value {
                    by.iter_mut().for_each(|dimension| dimension.label = None);
                }
            });
        }
        plan
    }

    /// Puts the values behind placeholders in.
    pub(super) fn uncover(&self, plan: &mut Plan) {
        let behind = |text: &str| {
            let found = self.hidden.iter().enumerate().find(|(at, _)| placeholder(*at) == text);
            found.map(|(_, hidden)| hidden)
        };
        each_value(plan, &mut |met| match met {
            Met::Literal(_, value) => {
                if let Literal::Text(text) = value
                    && let Some(hidden) = behind(text)
                {
                    *value = hidden.clone();
                }
            }
            Met::Part(_, text) => {
                if let Some(Literal::Text(hidden)) = behind(text) {
                    text.clone_from(hidden);
                }
            }
        });
    }

    fn placeholder(&mut self, value: Literal) -> String {
        let at = self.hidden.iter().position(|hidden| *hidden == value).unwrap_or_else(|| {
            self.hidden.push(value);
            self.hidden.len() - 1
        });
        placeholder(at)
    }

    fn is_personal(&self, field: &FieldRef) -> bool {
        self.ontology.field(&field.dataset, &field.field).is_some_and(is_personal)
    }
}

fn placeholder(at: usize) -> String {
    format!("@value{}", at + 1)
}

/// Whether a text has a number, with or without signs between its thousands, that is not part of a longer one.
fn says_number(text: &str, number: f64) -> bool {
    let numbers = text.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '_')));
    let plain = |word: &str| word.trim_matches(['.', ',', '_']).replace([',', '_'], "").parse::<f64>();
    numbers.map(plain).any(|said| said == Ok(number.abs()))
}

/// Whether what was chosen is a thing of the ontology, which are sent anyway: one that only looks like it may be a
/// stored value.
fn is_name(value: &str, ontology: &Ontology) -> bool {
    let relationship = |name: &str| ontology.relationship(name).is_some();
    if value.split(',').all(relationship) {
        return true;
    }
    let mut parts = value.split(" via ");
    let Some(thing) = parts.next().filter(|_| parts.all(relationship)) else { return false };
    let kinds = ["metric", "segment", "dataset", "field"];
    let kind = kinds.iter().find_map(|kind| Some((*kind, thing.strip_prefix(kind)?.strip_prefix([' ', ':'])?)));
    let field =
        |name: &str| name.split_once('.').is_some_and(|(dataset, field)| ontology.field(dataset, field).is_some());
    match kind {
        Some(("metric", name)) => ontology.metric(name).is_some(),
        Some(("segment", name)) => ontology.segment(name).is_some(),
        Some(("dataset", name)) => ontology.entity(name).is_some(),
        Some((_, name)) => field(name),
        None => ontology.entity(thing).is_some() || field(thing),
    }
}
