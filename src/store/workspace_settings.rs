//! What admins set for their workspace.

use sqlx::any::AnyExecutor;
use sqlx::{AnyConnection, Row as _};

use super::orgs;
use crate::base::id::Id;
use crate::model::org::{Egress, LanguageModels, Org};

/// What a workspace lets be sent to language models. A word that is not known allows nothing.
pub async fn language_models(on: impl AnyExecutor<'_>, org: Id<Org>) -> sqlx::Result<Option<LanguageModels>> {
    let row = sqlx::query("SELECT llm_egress, llm_send_values FROM orgs WHERE id = $1")
        .bind(org.to_string())
        .fetch_optional(on)
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(LanguageModels {
        egress: Egress::parse(&row.try_get::<String, _>("llm_egress")?).unwrap_or_default(),
        send_values: row.try_get::<i64, _>("llm_send_values")? != 0,
    }))
}

/// Replaces it; `false` when there is no such workspace.
pub async fn set_language_models(on: &mut AnyConnection, org: Id<Org>, now: LanguageModels) -> sqlx::Result<bool> {
    let done = sqlx::query("UPDATE orgs SET llm_egress = $2, llm_send_values = $3 WHERE id = $1")
        .bind(org.to_string())
        .bind(now.egress.name())
        .bind(i64::from(now.send_values))
        .execute(on)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// A workspace and the e-mail domains that who joins must have; none means any.
pub async fn get(on: impl AnyExecutor<'_>, org: Id<Org>) -> sqlx::Result<Option<(Org, Vec<String>)>> {
    let row =
        sqlx::query("SELECT id, slug, name, connectivity_enabled, created_at, email_domains FROM orgs WHERE id = $1")
            .bind(org.to_string())
            .fetch_optional(on)
            .await?;
    let Some(row) = row else { return Ok(None) };
    let domains = serde_json::from_str(&row.try_get::<String, _>("email_domains")?);
    Ok(Some((orgs::read(&row)?, domains.map_err(|problem| sqlx::Error::Decode(problem.into()))?)))
}

/// Replaces all settings; `false` when there is no such workspace.
pub async fn set(
    on: &mut AnyConnection,
    org: Id<Org>,
    name: &str,
    connectivity: bool,
    domains: &[String],
) -> sqlx::Result<bool> {
    let domains = serde_json::to_string(domains).map_err(|problem| sqlx::Error::Encode(problem.into()))?;
    let done = sqlx::query("UPDATE orgs SET name = $2, connectivity_enabled = $3, email_domains = $4 WHERE id = $1")
        .bind(org.to_string())
        .bind(name)
        .bind(i64::from(connectivity))
        .bind(domains)
        .execute(on)
        .await?;
    Ok(done.rows_affected() == 1)
}
