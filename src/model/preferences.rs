//! What a person set for themselves in a workspace: how their questions are read where they leave something open.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::model::org::Org;

/// How the key of a threshold ends: `highValueThreshold` says what "high value" is.
const THRESHOLD: &str = "Threshold";

/// The settings of a person as they are kept: those of each workspace by its id, so that what is set with rights in one
/// changes nothing in another.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Kept {
    orgs: BTreeMap<String, UserSettings>,
    /// Of before, for workspaces that have none of their own yet.
    data_agent: DataAgent,
}

/// The settings of a person in a workspace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserSettings {
    /// For questions in plain words.
    #[serde(default)]
    pub data_agent: DataAgent,
}

impl UserSettings {
    /// Those for a workspace, out of all that are kept of a person.
    ///
    /// # Errors
    /// It is no JSON of that kind.
    pub fn kept(text: &str, org: Id<Org>) -> serde_json::Result<Self> {
        let mut kept: Kept = serde_json::from_str(text)?;
        Ok(kept.orgs.remove(&org.to_string()).unwrap_or(Self { data_agent: kept.data_agent }))
    }

    /// All that is kept of a person, less what they set in a workspace.
    ///
    /// # Errors
    /// It is no JSON of that kind.
    pub fn without(text: &str, org: Id<Org>) -> serde_json::Result<String> {
        let mut kept: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text)?;
        if let Some(serde_json::Value::Object(orgs)) = kept.get_mut("orgs") {
            orgs.shift_remove(&org.to_string());
        }
        serde_json::to_string(&kept)
    }
}

/// How questions are read where they leave something open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataAgent {
    /// What a question without a time is about, as it is said in a question: `current_quarter`, `last 30 days`;
    /// `all_time` for no limit, whatever the ontology says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_time_period: Option<String>,
    /// Who reads the questions that the built-in planner cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_provider: Option<Provider>,
    /// What own words mean: `highValueThreshold` as 10000 or as "revenue over 10000", for "high-value customers".
    #[serde(flatten)]
    pub thresholds: BTreeMap<String, Threshold>,
}

/// Who reads questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// Nobody else: the question goes to no language model.
    BuiltIn,
    /// The language model of this server, where the workspace allows it.
    LanguageModel,
}

/// Where something begins to be what a word says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Threshold {
    /// More than this; of what is asked once in a conversation.
    Number(f64),
    /// A condition as questions say it: "revenue over 10000".
    Condition(String),
}

impl DataAgent {
    /// The words that have a threshold, with it: "high value".
    pub fn terms(&self) -> impl Iterator<Item = (String, &Threshold)> {
        self.thresholds.iter().filter_map(|(key, threshold)| Some((term(key)?, threshold)))
    }
}

/// The words of a threshold's key: "high value" of `highValueThreshold`; `None` for any other key.
pub fn term(key: &str) -> Option<String> {
    let name = key.strip_suffix(THRESHOLD).filter(|name| !name.is_empty())?;
    let mut words = String::new();
    for (at, letter) in name.char_indices() {
        match letter {
            'A'..='Z' if at > 0 => words.extend([' ', letter.to_ascii_lowercase()]),
            'a'..='z' => words.push(letter),
            _ => return None,
        }
    }
    Some(words)
}

/// The key of the threshold of some words: `highValueThreshold` of "High value"; `None` where they are not words.
pub fn key(term: &str) -> Option<String> {
    let mut key = String::new();
    for word in term.split([' ', '-']).filter(|word| !word.is_empty()) {
        if !word.chars().all(|c| c.is_ascii_alphabetic()) {
            return None;
        }
        let (first, rest) = word.split_at(1);
        let first = if key.is_empty() { first.to_ascii_lowercase() } else { first.to_ascii_uppercase() };
        key.extend([first, rest.to_ascii_lowercase()]);
    }
    (!key.is_empty()).then(|| key + THRESHOLD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_says_which_words_have_a_threshold() {
        assert_eq!(term("highValueThreshold").as_deref(), Some("high value"));
        assert_eq!(term("largeThreshold").as_deref(), Some("large"));
        for other in ["Threshold", "highValue", "high_valueThreshold", "highValueThresholds", "größeThreshold"] {
            assert_eq!(term(other), None, "{other}");
        }
        assert_eq!(key("High value").as_deref(), Some("highValueThreshold"));
        assert_eq!(key(" high-VALUE ").as_deref(), Some("highValueThreshold"));
        assert_eq!((key("größe"), key(" "), key("top 5")), (None, None, None));
    }

    #[test]
    fn each_workspace_has_its_own_settings_and_those_of_before_until_then() {
        let clock = crate::base::clock::Clock::manual(1_790_000_000_000);
        let (ours, theirs) = (Id::<Org>::new(&clock), Id::<Org>::new(&clock));
        let text =
            format!(r#"{{"dataAgent":{{"oldThreshold":7}},"orgs":{{"{ours}":{{"dataAgent":{{"newThreshold":8}}}}}}}}"#);
        let terms = |org| {
            let settings = UserSettings::kept(&text, org).unwrap();
            settings.data_agent.terms().map(|(term, _)| term).collect::<Vec<_>>()
        };
        assert_eq!((terms(ours), terms(theirs)), (vec!["new".to_owned()], vec!["old".to_owned()]));
        assert_eq!(UserSettings::kept("{}", ours).unwrap(), UserSettings::default());
    }

    #[test]
    fn without_a_workspace_the_settings_of_others_stay_as_they_are() {
        let clock = crate::base::clock::Clock::manual(1_790_000_000_000);
        let (ours, theirs) = (Id::<Org>::new(&clock), Id::<Org>::new(&clock));
        let text = |of: &str| format!(r#"{{"dataAgent":{{"oldThreshold":7}},"orgs":{{{of}}}}}"#);
        let [own, other] = [ours, theirs].map(|org| format!(r#""{org}":{{"dataAgent":{{"newThreshold":8}}}}"#));
        assert_eq!(UserSettings::without(&text(&format!("{own},{other}")), ours).unwrap(), text(&other));
        assert_eq!(UserSettings::without("{}", ours).unwrap(), "{}");
    }

    #[test]
    fn settings_keep_their_keys_as_they_are_written() {
        let text = r#"{"dataAgent":{"defaultTimePeriod":"current_quarter","highValueThreshold":10000.0}}"#;
        let read: UserSettings = serde_json::from_str(text).unwrap();
        assert_eq!(read.data_agent.terms().collect::<Vec<_>>(), [("high value".into(), &Threshold::Number(10_000.0))]);
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }
}
