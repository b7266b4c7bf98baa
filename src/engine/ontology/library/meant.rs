//! Which ontology is meant where a caller gives its name, or nothing because there is only one.

use serde_json::{Value, json};

use super::Library;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::model::error::{Error, Result};
use crate::model::ontology::{OntologyRef, Status, StoredOntology};

/// Ontologies that an error lists.
const MOST_TOLD: usize = 20;

impl Library {
    /// The id of an ontology. A name is looked for among those of which the caller sees a part, with and then without
    /// regard to case; nothing means the only one that can be asked. An id is taken as it is: whether it is there is told
    /// by who reads it.
    ///
    /// # Errors
    /// `invalid_argument` where several could be meant, `ontology_not_found` where none is; both with those that there are.
    pub async fn meant(&self, job: &Job<'_>, named: Option<&OntologyRef>) -> Result<Id<StoredOntology>> {
        if let Some(OntologyRef::Id(id)) = named {
            return Ok(*id);
        }
        let mut seen: Vec<StoredOntology> = self.list(job).await?.into_iter().map(|visible| visible.stored).collect();
        if let Some(OntologyRef::Name(name)) = named {
            let exact = seen.iter().find(|it| it.name == name.trim());
            let found = exact.or_else(|| seen.iter().find(|it| it.name.eq_ignore_ascii_case(name.trim())));
            if let Some(found) = found {
                return Ok(found.id);
            }
        }
        seen.retain(|stored| stored.status == Status::Ready);
        match (named, seen.as_slice()) {
            (None, [only]) => Ok(only.id),
            _ => Err(unsettled(named, &seen)),
        }
    }
}

/// Says which ontologies there are.
fn unsettled(named: Option<&OntologyRef>, ready: &[StoredOntology]) -> Error {
    if ready.is_empty() {
        let message =
            "No ontology here can be asked. List the tables with dragoman_list_datasets, and use dragoman_sql.";
        return Error { message: message.into(), ..Error::ontology_not_found() };
    }
    let told = ready.iter().take(MOST_TOLD);
    let names: Vec<String> = told.clone().map(|it| format!("{} ({})", it.name, it.id)).collect();
    let more = ready.len().saturating_sub(MOST_TOLD);
    let more = if more > 0 { format!(" and {more} more, which dragoman_list_ontologies lists") } else { String::new() };
    let listed: Vec<Value> = told.map(|it| json!({ "id": it.id, "name": it.name })).collect();
    let details = json!({ "field": "ontologyId", "ontologies": listed });
    match named {
        None => {
            let message =
                format!("There are {} ontologies. Give the id or the name of one as ontologyId: ", ready.len());
            Error::invalid("ontologyId", format!("{message}{}{more}.", names.join(", "))).with(details)
        }
        Some(_) => {
            let message = format!("There is no such ontology. There are {}{more}.", names.join(", "));
            Error { message, ..Error::ontology_not_found() }.with(details)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::model::error::Code;

    fn ready(count: usize) -> Vec<StoredOntology> {
        let clock = Clock::manual(1_790_000_000_000);
        let one = |at: usize| StoredOntology {
            id: Id::new(&clock),
            org: Id::new(&clock),
            name: format!("model {at}"),
            description: String::new(),
            status: Status::Ready,
            problem: String::new(),
            version: 1,
            dataset_count: 1,
            field_count: 1,
            created_at: 0,
            updated_at: 0,
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn an_error_lists_the_ontologies_that_can_be_asked_and_has_an_end() {
        let several = ready(2);
        let error = unsettled(None, &several);
        assert_eq!((error.code, &error.details["field"]), (Code::InvalidArgument, &json!("ontologyId")));
        assert!(several.iter().all(|it| error.message.contains(&format!("{} ({})", it.name, it.id))), "{error}");
        assert_eq!(error.details["ontologies"][1]["name"], "model 1");
        let unknown = OntologyRef::from("modle 1".to_owned());
        let error = unsettled(Some(&unknown), &ready(1));
        assert!(error.code == Code::OntologyNotFound && error.message.contains("model 0"), "{error}");
        assert!(unsettled(None, &ready(25)).message.contains("and 5 more"));
        let none = unsettled(None, &[]);
        assert!(none.code == Code::OntologyNotFound && none.message.contains("dragoman_sql"), "{none}");
    }
}
