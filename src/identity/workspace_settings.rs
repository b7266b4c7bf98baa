//! What admins set for their workspace: its name, the switch for external clients, who may join, what language models
//! may be sent.

use serde::{Deserialize, Serialize};

use super::Identity;
use super::members::checked_name;
use super::roles::role_under_lock;
use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::meanwhile::Meanwhile;
use crate::model::name::shown;
use crate::model::org::{Egress, LanguageModels, Org, normal_domain};
use crate::model::user::User;
use crate::store::workspace_settings;

/// Most domains of a workspace.
const MAX_DOMAINS: usize = 20;

/// A workspace's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub org: Org,
    /// Domains that the addresses of those who join must have; none means any.
    pub email_domains: Vec<String>,
    pub language_models: LanguageModels,
}

/// What is to change; `None` stays.
#[derive(Clone, Debug, Default)]
pub struct Change {
    pub name: Option<String>,
    pub connectivity_enabled: Option<bool>,
    pub email_domains: Option<Vec<String>>,
    pub llm_egress: Option<Egress>,
    pub llm_send_values: Option<bool>,
    /// What they were for who changes them; `None` compares nothing.
    pub seen: Option<Seen>,
}

/// Settings as a page shows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Without what cannot be seen ([`shown`]).
    pub name: String,
    pub connectivity_enabled: bool,
    pub email_domains: Vec<String>,
    pub llm_egress: Egress,
    pub llm_send_values: bool,
}

impl Identity {
    /// # Errors
    /// `not_found` when there is no such workspace.
    pub async fn settings(&self, org: Id<Org>) -> Result<Settings> {
        let found = workspace_settings::get(self.0.db.pool(), org).await?;
        let (found, email_domains) = found.ok_or_else(|| Error::not_found("workspace"))?;
        let language_models = workspace_settings::language_models(self.0.db.pool(), org).await?.unwrap_or_default();
        Ok(Settings { org: found, email_domains, language_models })
    }

    /// Changes settings; returns them as they are then. Who is a member stays one, whatever domains are set.
    ///
    /// # Errors
    /// `invalid_argument` for a bad name or domain, and for what others have changed since it was seen; `forbidden` for
    /// one who is no admin any more.
    pub async fn change_settings(&self, org: Id<Org>, by: Option<Id<User>>, change: Change) -> Result<Settings> {
        let mut tx = self.0.db.begin().await?;
        role_under_lock(&mut tx, org, by).await?;
        let found = workspace_settings::get(&mut *tx, org).await?;
        let (mut now, mut domains) = found.ok_or_else(|| Error::not_found("workspace"))?;
        let before = workspace_settings::language_models(&mut *tx, org).await?.unwrap_or_default();
        as_seen(&change, &now, &domains, before.egress)?;
        if let Some(name) = &change.name {
            now.name = checked_name(name)?;
        }
        now.connectivity_enabled = change.connectivity_enabled.unwrap_or(now.connectivity_enabled);
        if let Some(wanted) = &change.email_domains {
            domains = checked_domains(wanted)?;
        }
        workspace_settings::set(&mut tx, org, &now.name, now.connectivity_enabled, &domains).await?;
        let language_models = LanguageModels {
            egress: change.llm_egress.unwrap_or(before.egress),
            send_values: change.llm_send_values.unwrap_or(before.send_values),
        };
        workspace_settings::set_language_models(&mut tx, org, language_models).await?;
        tx.commit().await?;
        Ok(Settings { org: now, email_domains: domains, language_models })
    }
}

/// Refuses to write over what others set since somebody saw the settings. A switch says the same whoever moves it.
fn as_seen(change: &Change, now: &Org, domains: &[String], egress: Egress) -> Result<()> {
    let Some(seen) = &change.seen else { return Ok(()) };
    let mut meanwhile = Meanwhile::default();
    meanwhile.compare("name", "the name", Some(&seen.name), &shown(&now.name), change.name.as_deref());
    let (before, wanted) = (seen.email_domains.join(", "), change.email_domains.as_ref().map(|all| all.join(", ")));
    meanwhile.compare("email_domains", "the domains", Some(&before), &domains.join(", "), wanted.as_deref());
    let (before, wanted) = (seen.llm_egress.name(), change.llm_egress.map(Egress::name));
    meanwhile.compare("llm_egress", "the choice of language models", Some(before), egress.name(), wanted);
    meanwhile.refused()
}

fn checked_domains(texts: &[String]) -> Result<Vec<String>> {
    let bad = |message: String| Error::invalid("email_domains", message);
    let read = |text: &String| {
        normal_domain(text).ok_or_else(|| bad(format!("“{}” is no domain such as example.com.", shown(text))))
    };
    let mut domains = texts.iter().map(read).collect::<Result<Vec<_>>>()?;
    domains.sort();
    domains.dedup();
    if domains.len() > MAX_DOMAINS { Err(bad(format!("Expected at most {MAX_DOMAINS} domains."))) } else { Ok(domains) }
}
