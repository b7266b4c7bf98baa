//! Why a plan has no SQL.

use crate::engine::ontology::dialect::Unwritten;
use crate::model::plan::{FieldRef, Measure, NodeMut, Plan, Value};
use crate::model::reading::{Choice, Clarification};

/// The longest statement, in bytes.
pub const MAX_BYTES: usize = 60 * 1024;

/// Why a plan has no SQL, as a sentence that says what to do instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CompileError {
    /// Several equally good ways lead from one dataset to another; [`CompileError::clarification`] asks which.
    #[error("{from} and {to} are connected in several ways: {}; say which is meant", labels.join(", "))]
    Ambiguous {
        from: String,
        to: String,
        /// Names of relationships, way by way.
        options: Vec<Vec<String>>,
        /// What people call each way.
        labels: Vec<String>,
    },
    #[error("no relationship leads from {from} to {to}: add one to the ontology, or ask about one of them alone")]
    Unreachable { from: String, to: String },
    #[error("{measure} would be counted more than once over {relationship}: {instead}")]
    FanOut { measure: String, relationship: String, instead: String },
    #[error("there is no {kind} {name}{}", nearest.as_ref().map(|n| format!("; did you mean {n}?")).unwrap_or_default())]
    UnknownName { kind: &'static str, name: String, nearest: Option<String> },
    #[error("{value} cannot be compared with {field}: {wants}")]
    WrongType { field: String, value: String, wants: String },
    #[error("the statement would have {bytes} bytes, more than {}: ask for fewer numbers at once", MAX_BYTES)]
    TooLarge { bytes: usize },
    /// A sentence.
    #[error("{0}")]
    Unsupported(String),
}

impl CompileError {
    /// The question back, where one can settle it. The value of a choice is the names of relationships for
    /// [`with_way`], separated by commas.
    pub fn clarification(&self) -> Option<Clarification> {
        let CompileError::Ambiguous { from, to, options, labels } = self else { return None };
        let common = |name: &String| options.iter().all(|way| way.contains(name));
        let choices: Vec<Choice> = options
            .iter()
            .zip(labels)
            .map(|(way, label)| {
                let own: Vec<&str> = way.iter().filter(|name| !common(name)).map(String::as_str).collect();
                Choice { label: label.clone(), value: own.join(",") }
            })
            .take(5)
            .collect();
        let assumption = choices.first()?.label.clone();
        Some(Clarification {
            key: format!("way:{from}:{to}"),
            question: format!("Which {to} of {from} do you mean?"),
            options: choices,
            assumption,
        })
    }
}

impl From<Unwritten> for CompileError {
    fn from(Unwritten(says): Unwritten) -> Self {
        CompileError::Unsupported(says)
    }
}

/// The plan with the way to a dataset settled, wherever the plan names none.
pub fn with_way(plan: &Plan, dataset: &str, via: &[String]) -> Plan {
    let mut plan = plan.clone();
    let mut set = |field: &mut FieldRef| {
        if field.via.is_empty() && field.dataset.eq_ignore_ascii_case(dataset) {
            field.via = via.to_vec();
        }
    };
    plan.dimensions.iter_mut().for_each(|dimension| set(&mut dimension.field));
    plan.walk_mut(&mut |node| match node {
        NodeMut::Condition(condition) => condition.fields_mut().into_iter().for_each(&mut set),
        NodeMut::Measure(Measure { value: Value::Over { by, .. }, .. }) => {
            by.iter_mut().for_each(|dimension| set(&mut dimension.field));
        }
        NodeMut::Measure(_) => {}
    });
    if let Some(field) = plan.time.as_mut().and_then(|time| time.field.as_mut()) {
        set(field);
    }
    plan
}
