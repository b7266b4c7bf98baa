//! `dragoman_query`: a semantic query over an ontology, answered as a question is. Who reads English better than any rules
//! writes it; the definitions, the joins and the checks are the ontology's.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapDeserializer;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::ask_question::{AskQuestion, Reply, reply};
use crate::base::secret::sha256_hex;
use crate::engine::job::Job;
use crate::gateway::operation::{Blocks, Cost, Info, Operation, Parts, Route, Toolset};
use crate::model::access::{Action, Want};
use crate::model::error::{Code, Result};
use crate::model::ontology::OntologyRef;
use crate::model::query::Query;

/// Arguments: those of a [`Query`], and these.
#[derive(Debug)]
pub struct RunQuery {
    pub ontology_id: Option<OntologyRef>,
    /// Whether the charts come as images too.
    pub image: bool,
    pub query: Query,
}

impl Operation for RunQuery {
    const INFO: Info = Info {
        name: "dragoman_query",
        title: "Query an ontology",
        description: "Computes numbers, or lists rows, over an ontology by the business's own definitions and joins, and \
                      checks them: write names from dragoman_get_ontology. Errors name the argument, the place and the \
                      nearest names: mend it and call again. Tell the person how it was read and the caveats.",
        action: Action::RunSql,
        cost: Cost::Sql,
        toolsets: &[Toolset::Ask],
        view: Some("ui://dragoman/chart.html"),
        route: Route { method: "POST", path: "/query" },
        time: |budgets| budgets.ask_time,
        example: r#"{"measures":["flight_count","average_departure_delay"],"dimensions":["airline.name"],"filters":["flight.origin = 'JFK'"],"time":"2013-07","order":["flight_count desc"],"limit":5}"#,
        ..Info::READ
    };
    type Reply = Reply;
    const WANT: Want = Want::All;
    const LATE: Code = Code::AgentTimeout;

    /// As of a question, a digest and no word of it: it may hold stored values.
    fn target(&self) -> String {
        let query = serde_json::to_vec(&self.query).unwrap_or_default();
        let digest: String = sha256_hex(&query).chars().take(16).collect();
        format!("{} sha256:{digest}", OntologyRef::recorded(self.ontology_id.as_ref()))
    }

    fn rows(reply: &Reply) -> usize {
        AskQuestion::rows(reply)
    }

    fn blocks(reply: &Reply) -> Option<Blocks> {
        AskQuestion::blocks(reply)
    }

    fn images(reply: &Reply) -> &[String] {
        AskQuestion::images(reply)
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let questions = &on.engines.questions;
        let ontology = questions.meant(job, self.ontology_id.as_ref(), None).await?;
        let answered = questions.query(job, ontology, &self.query).await?;
        Ok(reply(answered, self.image, on.config.limits.budgets.reply_bytes))
    }
}

/// Said of a query without a word in it.
const NOTHING: &str = "nothing is asked: give measures, dimensions, or list";

const ONTOLOGY: &str = "ontologyId";
const IMAGE: &str = "image";

/// What others call the same, as models write it from memory.
const CALLED: [(&str, &str); 20] = [
    ("ontology_id", ONTOLOGY),
    ("ontology", ONTOLOGY),
    ("metrics", "measures"),
    ("metric", "measures"),
    ("measure", "measures"),
    ("dimension", "dimensions"),
    ("group_by", "dimensions"),
    ("groupBy", "dimensions"),
    ("filter", "filters"),
    ("where", "filters"),
    ("segment", "segments"),
    ("fields", "list"),
    ("columns", "list"),
    ("time_range", "time"),
    ("timeRange", "time"),
    ("compareTo", "compare_to"),
    ("order_by", "order"),
    ("orderBy", "order"),
    ("sort", "order"),
    ("withTies", "with_ties"),
];

/// All arguments stand side by side, and each is read as soon as it is met, so that an error is told with its name.
/// What models write for a list of one text is taken for it: the text alone, or the list as a text; null is nothing; and
/// what other semantic layers call an argument is it ([`CALLED`]).
impl<'de> Deserialize<'de> for RunQuery {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Arguments)
    }
}

struct Arguments;

impl<'de> Visitor<'de> for Arguments {
    type Value = RunQuery;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the arguments of a query")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RunQuery, A::Error> {
        let (mut ontology_id, mut image, mut query) = (None, false, Map::new());
        while let Some(name) = map.next_key::<String>()? {
            let own = CALLED.iter().find(|(called, _)| *called == name).map(|(_, own)| (*own).to_owned());
            let name = own.unwrap_or(name);
            match name.as_str() {
                ONTOLOGY => ontology_id = map.next_value()?,
                IMAGE => image = map.next_value::<Option<bool>>()?.unwrap_or_default(),
                _ if query.contains_key(&name) => {
                    map.next_value::<IgnoredAny>()?;
                    return Err(A::Error::custom(format!("duplicate field `{name}`")));
                }
                _ => {
                    let value: Value = map.next_value()?;
                    let value = settled(&name, value).map_err(A::Error::custom)?;
                    query.extend(value.map(|value| (name, value)));
                }
            }
        }
        let query = Query::deserialize(Value::Object(query)).map_err(A::Error::custom)?;
        if query == Query::default() {
            return Err(A::Error::custom(NOTHING));
        }
        Ok(RunQuery { ontology_id, image, query })
    }
}

/// One argument of a query in its own form; `None` for nothing.
fn settled(name: &str, value: Value) -> Result<Option<Value>, serde_json::Error> {
    let fits = |value: &Value| {
        let alone: MapDeserializer<'_, _, serde_json::Error> = MapDeserializer::new([(name, value)].into_iter());
        Query::deserialize(alone).map(|_| ())
    };
    if value.is_null() {
        // Unless there is no such argument.
        return fits(&json!([])).map(|()| None).or_else(|problem| match problem.to_string() {
            text if text.starts_with("unknown field") => Err(problem),
            _ => Ok(None),
        });
    }
    let problem = match fits(&value) {
        Ok(()) => return Ok(Some(value)),
        Err(problem) => problem,
    };
    let others = match &value {
        Value::String(text) => [serde_json::from_str(text).ok(), Some(json!([text]))],
        _ => [None, None],
    };
    let found = others.into_iter().flatten().find(|other| fits(other).is_ok());
    found.map(Some).ok_or(problem)
}

/// The schema of a query with these two beside its arguments.
impl JsonSchema for RunQuery {
    fn schema_name() -> Cow<'static, str> {
        "RunQuery".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Query::json_schema(generator);
        let own = [
            (ONTOLOGY, json!({ "type": "string", "description": "Id or name. Leave it out where there is one only." })),
            (
                IMAGE,
                json!({ "type": "boolean", "default": false, "description": "Whether charts come as images too." }),
            ),
        ];
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            // Nothing and an empty list are the same, and said by leaving it out.
            properties.values_mut().filter_map(Value::as_object_mut).for_each(|member| {
                member.remove("default");
            });
            properties.extend(own.map(|(name, member)| (name.to_owned(), member)));
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: Value) -> Result<RunQuery, String> {
        RunQuery::deserialize(arguments).map_err(|problem| problem.to_string())
    }

    #[test]
    fn all_arguments_stand_side_by_side() {
        let read = read(json!({
            "ontologyId": "bakery", "measures": ["revenue"], "limit": 3, "with_ties": true, "image": true
        }))
        .unwrap();
        assert_eq!(read.ontology_id, Some(OntologyRef::Name("bakery".into())));
        let query = Query { measures: vec!["revenue".into()], limit: Some(3), with_ties: true, ..Query::default() };
        assert_eq!((read.query, read.image), (query, true));
    }

    #[test]
    fn a_query_asks_for_something() {
        for nothing in [json!({}), json!({ "ontologyId": "bakery" }), json!({ "measures": null, "image": true })] {
            assert_eq!(read(nothing).unwrap_err(), NOTHING);
        }
    }

    #[test]
    fn one_text_is_a_list_of_one_and_null_is_nothing() {
        let query = |arguments: Value| read(arguments).unwrap().query;
        let expected = Query { measures: vec!["revenue".into()], ..Query::default() };
        assert_eq!(query(json!({ "measures": "revenue" })), expected);
        assert_eq!(query(json!({ "measures": r#"["revenue"]"#, "filters": null, "limit": null })), expected);
        assert_eq!(query(json!({ "limit": "5" })), Query { limit: Some(5), ..Query::default() });
        let time = Query { time: Some("2013".into()), ..Query::default() };
        assert_eq!(query(json!({ "time": "2013", "ontologyId": null })), time, "a text stays one where it fits");
    }

    #[test]
    fn what_others_call_an_argument_is_it_and_every_one_is_there() {
        let query =
            read(json!({ "metrics": ["revenue"], "group_by": "shop.town", "orderBy": "revenue desc" })).unwrap().query;
        let [measures, dimensions, order] = ["revenue", "shop.town", "revenue desc"].map(|text| vec![text.to_owned()]);
        assert_eq!(query, Query { measures, dimensions, order, ..Query::default() });
        let schema = serde_json::to_value(schemars::schema_for!(RunQuery)).unwrap();
        for (called, own) in CALLED {
            assert!(schema["properties"][own].is_object() && schema["properties"][called].is_null(), "{called}: {own}");
        }
    }

    #[test]
    fn what_is_no_argument_is_refused_by_its_name() {
        for (arguments, part) in [
            (json!({ "numbers": ["revenue"] }), "unknown field `numbers`"),
            (json!({ "numbers": null }), "unknown field `numbers`"),
            (json!({ "measures": ["revenue"], "metrics": ["orders"] }), "duplicate field `measures`"),
            (json!({ "limit": "many" }), "invalid type"),
            (json!({ "measures": [1] }), "invalid type"),
            (json!({ "image": "yes" }), "invalid type"),
        ] {
            let problem = read(arguments.clone()).unwrap_err();
            assert!(problem.starts_with(part), "{arguments}: {problem}");
        }
    }
}
