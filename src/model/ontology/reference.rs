//! Which ontology somebody means.

use serde::Deserialize;

use super::StoredOntology;
use crate::base::id::Id;

/// Which ontology somebody means, by its id or by its name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum OntologyRef {
    Id(Id<StoredOntology>),
    Name(String),
}

impl From<String> for OntologyRef {
    fn from(text: String) -> Self {
        text.parse().map_or(OntologyRef::Name(text), OntologyRef::Id)
    }
}

impl From<Id<StoredOntology>> for OntologyRef {
    fn from(id: Id<StoredOntology>) -> Self {
        OntologyRef::Id(id)
    }
}

impl OntologyRef {
    /// What a record that is never erased keeps of it: an id, and no text of the caller's.
    pub fn recorded(of: Option<&Self>) -> String {
        match of {
            Some(OntologyRef::Id(id)) => id.to_string(),
            Some(OntologyRef::Name(_)) => "by name".into(),
            None => "the only one".into(),
        }
    }
}

impl schemars::JsonSchema for OntologyRef {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OntologyRef".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}
