//! What a person has set for themselves.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::base::id::Id;
use crate::engine::Engines;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::identity::Identity;
use crate::model::access::Action;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::preferences::{Threshold, UserSettings, term};
use crate::model::user::User;

/// Most words with a threshold, and the longest condition in characters.
const MOST_THRESHOLDS: usize = 20;
const MOST_CHARS: usize = 100;

/// No arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetUserSettings {}

impl Operation for GetUserSettings {
    const INFO: Info = Info {
        name: "get_user_settings",
        title: "Get your settings",
        description: "Returns what the signed-in person has set for themselves in this workspace: the time that questions without one \
                      are about, who may read them, and what own words mean.",
        action: Action::ReadSchema,
        read_only: true,
        recorded_as: Some("account.settings.show"),
        route: Route { method: "GET", path: "/user-settings" },
        ..Info::MANAGE
    };
    type Reply = UserSettings;

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<UserSettings> {
        on.identity.user_settings(person(job)?, job.pass.org()).await
    }
}

/// A change; what is absent stays, null takes away.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct UpdateUserSettings {
    /// `defaultTimePeriod`: as a question says it, `current_quarter` or `last 30 days`; `all_time` for no limit.
    /// `defaultProvider`: `built_in` to send no question to a language model; only the person lets one read them again.
    /// `…Threshold`: what own words mean, `highValueThreshold` as 10000 or as "revenue over 10000".
    #[schemars(schema_with = "data_agent")]
    pub data_agent: BTreeMap<String, Value>,
}

fn data_agent(_: &mut SchemaGenerator) -> Schema {
    let threshold = json!({ "type": ["number", "string", "null"], "maxLength": MOST_CHARS });
    json_schema!({
        "type": "object",
        "properties": {
            "defaultTimePeriod": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
            "defaultProvider": { "enum": ["built_in", "language_model", null] },
        },
        "patternProperties": { "^[a-z][A-Za-z]*Threshold$": threshold },
        "additionalProperties": false,
    })
}

impl Operation for UpdateUserSettings {
    const INFO: Info = Info {
        name: "update_user_settings",
        title: "Change your settings",
        description: "Changes how questions of the signed-in person are read in this workspace where they leave \
                      something open. Answers say where it was used.",
        action: Action::RunSql,
        recorded_as: Some("account.settings"),
        route: Route { method: "PATCH", path: "/user-settings" },
        example: r#"{"dataAgent":{"defaultTimePeriod":"current_quarter","highValueThreshold":10000}}"#,
        ..Info::MANAGE
    };
    type Reply = UserSettings;

    fn target(&self) -> String {
        self.data_agent.keys().map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<UserSettings> {
        let user = person(job)?;
        // Whoever speaks for a person may take their questions from language models, and not give them.
        let provider = self.data_agent.get("defaultProvider");
        let gives = provider.is_some_and(|it| it.is_null() || it.as_str() == Some("language_model"));
        if job.pass.is_external() && gives {
            let message = "Only you can let language models read your questions: at /account/questions in the console. \
                           A client can set built_in alone.";
            return Err(Error::forbidden("people", message));
        }
        change(&on.identity, user, job.pass.org(), &self.data_agent.into_iter().collect()).await
    }
}

/// Changes a person's settings in a workspace, if what they become means something.
///
/// # Errors
/// `invalid_argument` with the field; `service_unavailable` when others keep changing them.
pub async fn change(
    identity: &Identity,
    user: Id<User>,
    org: Id<Org>,
    change: &Map<String, Value>,
) -> Result<UserSettings> {
    for (key, value) in change {
        named(key, value)?;
    }
    identity.change_user_settings(user, org, change, fits).await
}

/// Who the settings are of.
fn person(job: &Job<'_>) -> Result<Id<User>> {
    let nobody = "A connectivity token belongs to no person, and has no settings. Sign in, or connect with OAuth.";
    job.pass.user().ok_or_else(|| Error::forbidden("person", nobody))
}

/// Whether there is such a key, and the value is one of its.
fn named(key: &str, value: &Value) -> Result<()> {
    let field = format!("dataAgent.{key}");
    let wrong = |message: String| Err(Error::invalid(&field, message));
    match (key, value) {
        ("defaultTimePeriod", Value::Null | Value::String(_)) => Ok(()),
        ("defaultTimePeriod", _) => wrong("Name a time as questions do, such as current_quarter.".into()),
        ("defaultProvider", Value::Null) => Ok(()),
        ("defaultProvider", Value::String(word)) if matches!(word.as_str(), "built_in" | "language_model") => Ok(()),
        ("defaultProvider", _) => {
            wrong("Expected built_in or language_model: nobody but the operator chooses which.".into())
        }
        (key, Value::Null | Value::Number(_) | Value::String(_)) if term(key).is_some() => Ok(()),
        (key, _) if term(key).is_some() => {
            wrong("Expected a number, or a condition such as “revenue over 10000”.".into())
        }
        _ => wrong(format!(
            "There is no setting {key}: there are defaultTimePeriod, defaultProvider, and names in camel case that end \
             in Threshold."
        )),
    }
}

/// Whether settings mean something.
fn fits(settings: &UserSettings) -> Result<()> {
    let (agent, languages) = (&settings.data_agent, Engines::languages());
    if let Some(text) = &agent.default_time_period
        && languages.period(text).is_none()
    {
        let message = format!(
            "“{}” is no time. Say it as in a question: this_year, last 30 days, all_time.",
            text.escape_debug()
        );
        return Err(Error::invalid("dataAgent.defaultTimePeriod", message));
    }
    if agent.thresholds.len() > MOST_THRESHOLDS {
        return Err(Error::invalid("dataAgent", format!("At most {MOST_THRESHOLDS} words can have a threshold.")));
    }
    for (key, threshold) in &agent.thresholds {
        let field = format!("dataAgent.{key}");
        if !term(key).is_some_and(|term| languages.is_own_word(&term)) {
            return Err(Error::invalid(&field, "Questions are made of these words: they have no meaning of your own."));
        }
        let Threshold::Condition(text) = threshold else { continue };
        let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | ',' | '-' | '%' | '$' | '€' | '£');
        if text.is_empty()
            || text.chars().count() > MOST_CHARS
            || !text.chars().all(plain)
            || !text.contains(|c: char| c.is_ascii_digit())
        {
            return Err(Error::invalid(
                &field,
                format!(
                    "Expected a number or a condition with one, such as “revenue over 10000”, of at most {MOST_CHARS} letters, digits and spaces."
                ),
            ));
        }
    }
    Ok(())
}
