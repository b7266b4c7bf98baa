//! What a person has set for themselves in a workspace.

use serde_json::{Map, Value, json};

use super::Identity;
use super::members::no_such_person;
use crate::base::id::Id;
use crate::base::json::put;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::preferences::UserSettings;
use crate::model::user::User;
use crate::store::users;

/// Tries to change what others change at the same time.
const TRIES: usize = 5;

impl Identity {
    /// A person's settings in a workspace.
    ///
    /// # Errors
    /// `invalid_argument` when there is no such person.
    pub async fn user_settings(&self, user: Id<User>, org: Id<Org>) -> Result<UserSettings> {
        let stored = users::settings(self.0.db.pool(), user).await?.ok_or_else(no_such_person)?;
        UserSettings::kept(&stored, org).map_err(Error::internal)
    }

    /// Merges a change of `dataAgent` into a person's settings in a workspace, as RFC 7396 merges: null takes a key away,
    /// what is absent stays. `judge` refuses what the settings may not become.
    ///
    /// # Errors
    /// `invalid_argument` when there is no such person; what `judge` returns; `service_unavailable` when others keep
    /// changing them.
    pub async fn change_user_settings(
        &self,
        user: Id<User>,
        org: Id<Org>,
        change: &Map<String, Value>,
        judge: impl Fn(&UserSettings) -> Result<()>,
    ) -> Result<UserSettings> {
        for _ in 0..TRIES {
            let before = users::settings(self.0.db.pool(), user).await?.ok_or_else(no_such_person)?;
            let mut kept: Map<String, Value> = serde_json::from_str(&before).map_err(Error::internal)?;
            let now = UserSettings::kept(&before, org).map_err(Error::internal)?;
            let mut settings = serde_json::to_value(now).map_err(Error::internal)?;
            let agent = settings.get_mut("dataAgent").map(Value::take);
            let mut agent = if let Some(Value::Object(agent)) = agent { agent } else { Map::new() };
            for (key, value) in change {
                match value {
                    Value::Null => agent.shift_remove(key),
                    value => agent.insert(key.clone(), value.clone()),
                };
            }
            put(&mut settings, "dataAgent", agent);
            let now: UserSettings = serde_json::from_value(settings.clone())
                .map_err(|problem| Error::invalid("dataAgent", problem.to_string()))?;
            judge(&now)?;
            put(kept.entry("orgs").or_insert_with(|| json!({})), &org.to_string(), settings);
            let kept = Value::Object(kept).to_string();
            if users::set_settings(&mut *self.0.db.writer().await?, user, &before, &kept).await? {
                return Ok(now);
            }
        }
        Err(Error::unavailable("These settings are being changed elsewhere. Try again."))
    }
}
