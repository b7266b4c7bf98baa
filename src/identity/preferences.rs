//! What a person has set for themselves.

use serde_json::{Map, Value};

use super::Identity;
use super::members::no_such_person;
use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::preferences::UserSettings;
use crate::model::user::User;
use crate::store::users;

/// Tries to change what others change at the same time.
const TRIES: usize = 5;

impl Identity {
    /// A person's settings.
    ///
    /// # Errors
    /// `invalid_argument` when there is no such person.
    pub async fn user_settings(&self, user: Id<User>) -> Result<UserSettings> {
        let stored = users::settings(self.0.db.pool(), user).await?.ok_or_else(no_such_person)?;
        serde_json::from_str(&stored).map_err(Error::internal)
    }

    /// Merges a change of `dataAgent` into a person's settings, as RFC 7396 merges: null takes a key away, what is
    /// absent stays. `judge` refuses what the settings may not become.
    ///
    /// # Errors
    /// `invalid_argument` when there is no such person; what `judge` returns; `service_unavailable` when others keep
    /// changing them.
    pub async fn change_user_settings(
        &self,
        user: Id<User>,
        change: &Map<String, Value>,
        judge: impl Fn(&UserSettings) -> Result<()>,
    ) -> Result<UserSettings> {
        for _ in 0..TRIES {
            let before = users::settings(self.0.db.pool(), user).await?.ok_or_else(no_such_person)?;
            let mut settings: Value = serde_json::from_str(&before).map_err(Error::internal)?;
            let agent = settings["dataAgent"].take();
            let mut agent = if let Value::Object(agent) = agent { agent } else { Map::new() };
            for (key, value) in change {
                match value {
                    Value::Null => agent.shift_remove(key),
                    value => agent.insert(key.clone(), value.clone()),
                };
            }
            settings["dataAgent"] = Value::Object(agent);
            let now: UserSettings = serde_json::from_value(settings.clone())
                .map_err(|problem| Error::invalid("dataAgent", problem.to_string()))?;
            judge(&now)?;
            if users::set_settings(self.0.db.pool(), user, &before, &settings.to_string()).await? {
                return Ok(now);
            }
        }
        Err(Error::unavailable("These settings are being changed elsewhere. Try again."))
    }
}
