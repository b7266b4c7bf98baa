//! What admins set for their workspace: its name, the switch for external clients, who may join, what language models
//! may be sent.

use super::Identity;
use super::members::checked_name;
use super::roles::role_under_lock;
use crate::base::id::Id;
use crate::model::error::{Error, Result};
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
}

impl Change {
    pub fn is_empty(&self) -> bool {
        let Self { name, connectivity_enabled, email_domains, llm_egress, llm_send_values } = self;
        name.is_none()
            && connectivity_enabled.is_none()
            && email_domains.is_none()
            && llm_egress.is_none()
            && llm_send_values.is_none()
    }
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
    /// `invalid_argument` for a bad name or domain; `forbidden` for one who is no admin any more.
    pub async fn change_settings(&self, org: Id<Org>, by: Option<Id<User>>, change: Change) -> Result<Settings> {
        let mut tx = self.0.db.begin().await?;
        role_under_lock(&mut tx, org, by).await?;
        let found = workspace_settings::get(&mut *tx, org).await?;
        let (mut now, mut domains) = found.ok_or_else(|| Error::not_found("workspace"))?;
        if let Some(name) = &change.name {
            now.name = checked_name(name)?;
        }
        now.connectivity_enabled = change.connectivity_enabled.unwrap_or(now.connectivity_enabled);
        if let Some(wanted) = &change.email_domains {
            domains = checked_domains(wanted)?;
        }
        workspace_settings::set(&mut tx, org, &now.name, now.connectivity_enabled, &domains).await?;
        let before = workspace_settings::language_models(&mut *tx, org).await?.unwrap_or_default();
        let language_models = LanguageModels {
            egress: change.llm_egress.unwrap_or(before.egress),
            send_values: change.llm_send_values.unwrap_or(before.send_values),
        };
        workspace_settings::set_language_models(&mut tx, org, language_models).await?;
        tx.commit().await?;
        Ok(Settings { org: now, email_domains: domains, language_models })
    }
}

fn checked_domains(texts: &[String]) -> Result<Vec<String>> {
    let bad =
        || Error::invalid("email_domains", format!("Expected at most {MAX_DOMAINS} domains such as example.com."));
    let mut domains = texts.iter().map(|text| normal_domain(text)).collect::<Option<Vec<_>>>().ok_or_else(bad)?;
    domains.sort();
    domains.dedup();
    if domains.len() > MAX_DOMAINS { Err(bad()) } else { Ok(domains) }
}
