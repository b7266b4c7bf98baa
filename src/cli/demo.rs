//! `dragoman serve --demo`: a workspace with the demo's data, and a person who can log in to it.

use std::sync::Arc;

use anyhow::{Context as _, bail};

use super::door::operator;
use crate::app::App;
use crate::base::secret::{Secret, hmac_hex};
use crate::gateway::Progress;
use crate::identity::Identity;
use crate::model::access::Role;
use crate::ops::demo;

const EMAIL: &str = "demo@example.com";

/// Who can log in to the demo.
pub(super) struct Person {
    pub email: &'static str,
    pub password: Secret,
}

/// Makes the workspace, the person and the data where they are missing, and returns the person.
pub(super) async fn prepare(app: &App) -> anyhow::Result<Person> {
    let password = password(app);
    let identity = &app.office.identity;
    let org = match identity.org_by_slug("demo").await? {
        Some(org) if identity.erasing().await?.contains(&org.id.to_string()) => bail!(Identity::being_erased(&org)),
        Some(org) => org,
        None => identity.create_org("demo", "Demo: New York flights 2013").await?,
    };
    let user = match identity.user_by_email(EMAIL).await? {
        Some(user) => user,
        None => identity.create_user(EMAIL, "Demo Person", &password).await?,
    };
    if identity.role(org.id, user.id).await?.is_none() {
        identity.set_role(org.id, user.id, Role::Admin).await?;
        identity.set_connectivity(org.id, true).await?;
    }
    let tell = Arc::new(|Progress { fraction, message }: Progress| {
        remark!("  Loading the demo (once): {message} ({:.0} %)", fraction.unwrap_or_default() * 100.0);
    });
    let taken = demo::take(&app.gateway, &operator(app, org.id), "admin.call", true, tell).await;
    taken.context("loading the demo")?;
    Ok(Person { email: EMAIL, password })
}

/// The same at every start, and known only to who can read the data folder.
fn password(app: &App) -> Secret {
    let digest = hmac_hex(&app.office.secret_for("demo password"), EMAIL.as_bytes());
    Secret::new(digest.chars().take(16).collect::<String>())
}
