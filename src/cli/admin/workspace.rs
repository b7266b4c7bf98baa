//! `dragoman admin workspace`.

use anyhow::Result;
use clap::{Subcommand, ValueEnum};

use super::erase::erase;
use super::find_org;
use super::show::{Said, on_off, org_facts, standing, table, with_password, with_state};
use crate::base::clock::rfc3339;
use crate::base::json::put;
use crate::base::secret::random_token;
use crate::identity::Identity;
use crate::model::access::Role;
use crate::model::org::Org;
use crate::model::user::checked_email;

#[derive(Debug, Subcommand)]
pub enum Workspace {
    /// Create a workspace, and at once who manages it
    Create {
        /// In addresses: a-z, 0-9 and '-'
        slug: String,
        /// For people; the slug when absent
        #[arg(long)]
        name: Option<String>,
        /// The address of a person who becomes its admin; somebody new gets a password, which is printed
        #[arg(long, value_name = "EMAIL")]
        admin: Option<String>,
        /// Let AI clients and tokens in
        #[arg(long)]
        open: bool,
    },
    /// List workspaces
    List,
    /// Open or close a workspace to AI clients and tokens
    Connectivity { slug: String, state: Switch },
    /// Lock a workspace with everybody and everything in it, at once
    Suspend { slug: String },
    /// Open a suspended workspace again
    Resume { slug: String },
    /// Erase a workspace for good: its data, ontologies, sources, tokens, members' places and settings, everywhere. Its
    /// record stays for its time, and people keep their accounts. What was cut off half way is ended by the same command
    Erase {
        slug: String,
        /// Without it, nothing is changed
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

pub(super) async fn workspace(command: Workspace, identity: &Identity) -> Result<Said> {
    match command {
        Workspace::Create { slug, name, admin, open } => {
            create(identity, &slug, name.as_deref(), admin.as_deref(), open).await
        }
        Workspace::List => {
            let orgs = identity.list_orgs().await?;
            let (suspended, erasing) = (identity.suspended().await?, identity.erasing().await?);
            let state = |org: &Org| match org.id.to_string() {
                id if erasing.contains(&id) => "being erased",
                id => standing(suspended.contains(&id)),
            };
            let facts = |org: &Org| with_state(org_facts(org), state(org));
            let row = |org: &Org| {
                vec![
                    org.slug.clone(),
                    org.name.clone(),
                    on_off(org.connectivity_enabled).into(),
                    state(org).into(),
                    rfc3339(org.created_at),
                ]
            };
            let text = table(&["slug", "name", "ai clients", "state", "created"], orgs.iter().map(row));
            Ok(Said { facts: orgs.iter().map(facts).collect(), text })
        }
        Workspace::Suspend { slug } => suspend_workspace(identity, &slug, true).await,
        Workspace::Resume { slug } => suspend_workspace(identity, &slug, false).await,
        Workspace::Erase { slug, yes } => erase(identity, &find_org(identity, &slug).await?, yes).await,
        Workspace::Connectivity { slug, state } => {
            let org = find_org(identity, &slug).await?;
            let on = matches!(state, Switch::On);
            identity.set_connectivity(org.id, on).await?;
            let text = format!("AI clients and tokens of the workspace {slug} are {}.", on_off(on));
            Ok(Said { facts: org_facts(&Org { connectivity_enabled: on, ..org }), text })
        }
    }
}

async fn create(identity: &Identity, slug: &str, name: Option<&str>, admin: Option<&str>, open: bool) -> Result<Said> {
    // An address that is none is refused before anything is there.
    let admin = admin.map(checked_email).transpose()?;
    let org = identity.create_org(slug, name.unwrap_or(slug)).await?;
    let mut text = format!("Created the workspace {slug}.");
    let mut facts = org_facts(&Org { connectivity_enabled: open, ..org.clone() });
    let mut made_up = None;
    if let Some(email) = admin {
        let user = match identity.user_by_email(&email).await? {
            Some(user) => user,
            None => {
                let password = random_token("");
                let user = identity.create_user(&email, &email, &password).await?;
                made_up = Some(password);
                user
            }
        };
        identity.set_role(org.id, user.id, Role::Admin).await?;
        text += &format!(" {email} is its admin.");
        put(&mut facts, "admin", email);
    }
    if open {
        identity.set_connectivity(org.id, true).await?;
        text += " AI clients and tokens may come in.";
    } else {
        text +=
            &format!(" It is closed to AI clients; open it with\n  dragoman admin workspace connectivity {slug} on");
    }
    Ok(with_password(text, facts, made_up))
}

async fn suspend_workspace(identity: &Identity, slug: &str, suspended: bool) -> Result<Said> {
    let org = find_org(identity, slug).await?;
    identity.suspend_org(org.id, suspended).await?;
    let text = format!("The workspace {slug} is {}.", standing(suspended));
    Ok(Said { facts: with_state(org_facts(&org), standing(suspended)), text })
}
