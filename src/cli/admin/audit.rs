//! `dragoman admin audit`: reading the record, checking its chain, and what administration itself leaves in it.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::Subcommand;
use serde_json::json;

use super::client::Client;
use super::key::Key;
use super::repair::whole;
use super::show::{Said, table};
use super::source::Source;
use super::workspace::{Switch, Workspace};
use super::{AdminCommand, Person, RoleCommand, Token, find_org};
use crate::base::clock::rfc3339;
use crate::base::id::Id;
use crate::identity::Identity;
use crate::identity::checkpoint::Checkpoint;
use crate::model::audit::Entry;
use crate::model::org::Org;
use crate::store;

#[derive(Debug, Subcommand)]
pub enum Audit {
    /// Show the newest entries of a workspace, by its id if it was erased; without one, those about no workspace (failed
    /// log-ins, administration)
    List {
        #[arg(long)]
        workspace: Option<String>,
        #[arg(long, default_value_t = 50)]
        limit: u32,
    },
    /// Check that no entry is missing or changed; fails and names the first one that is
    Verify {
        #[arg(long)]
        workspace: Option<String>,
        /// Check all workspaces, and that each goes on from where this checkpoint saw it
        #[arg(long, value_name = "FILE", conflicts_with = "workspace")]
        checkpoint: Option<PathBuf>,
    },
    /// Print the ends of all workspaces' records, signed. Keep it elsewhere: with it, `verify` finds what was cut off
    /// or written anew
    Checkpoint,
}

pub(super) async fn audit(command: Audit, identity: &Identity) -> Result<Said> {
    match command {
        Audit::List { workspace, limit } => {
            let chain = chain(identity, workspace.as_deref()).await?;
            let entries = store::audit::newest(identity.db(), chain, i64::from(limit)).await?;
            let row = |(seq, entry): &(i64, Entry)| {
                vec![
                    seq.to_string(),
                    rfc3339(entry.at),
                    entry.principal.clone(),
                    entry.action.clone(),
                    entry.outcome.clone(),
                    entry.count.to_string(),
                    format!("{} ms", entry.duration_ms),
                    entry.target.chars().take(60).collect::<String>().replace('\n', " "),
                ]
            };
            let text =
                table(&["no", "time", "who", "action", "outcome", "times", "took", "what"], entries.iter().map(row));
            let facts = entries.iter().map(|(seq, entry)| json!({ "seq": seq, "entry": entry })).collect();
            Ok(Said { facts, text })
        }
        Audit::Checkpoint => {
            let checkpoint = serde_json::to_value(identity.audit_checkpoint().await?)?;
            Ok(Said { text: format!("{checkpoint:#}"), facts: checkpoint })
        }
        Audit::Verify { workspace: _, checkpoint: Some(file) } => {
            let named = || format!("{} is no audit checkpoint", file.display());
            let text = std::fs::read_to_string(&file).with_context(named)?;
            let checkpoint: Checkpoint = serde_json::from_str(&text).with_context(named)?;
            whole(&identity.check_audit(Some(&checkpoint)).await?)?;
            let text = format!(
                "No entry is missing or changed, and nothing was cut off that the checkpoint of {} saw.",
                rfc3339(checkpoint.at)
            );
            Ok(Said { facts: json!({ "whole": true, "checkpoint_at": rfc3339(checkpoint.at) }), text })
        }
        Audit::Verify { workspace, checkpoint: None } => {
            let chain = chain(identity, workspace.as_deref()).await?;
            match identity.check_chain(&store::audit::chain_of(chain)).await? {
                None => Ok(Said { facts: json!({ "whole": true }), text: "No entry is missing or changed.".into() }),
                Some(what) => bail!(what),
            }
        }
    }
}

/// The chain of a workspace by its short name, or by its id, which is all that one has that was erased.
async fn chain(identity: &Identity, workspace: Option<&str>) -> Result<Option<Id<Org>>> {
    let Some(name) = workspace else { return Ok(None) };
    if let Ok(id) = name.parse::<Id<Org>>()
        && store::audit::has_known(identity.db(), id).await?
    {
        return Ok(Some(id));
    }
    Ok(Some(find_org(identity, name).await?.id))
}

/// What the record keeps of a command: the action, and whom or what it was about. Reading leaves nothing.
pub(super) fn trace(command: &AdminCommand) -> Option<(&'static str, String)> {
    Some(match command {
        AdminCommand::Workspace(Workspace::Create { slug, name: _, admin, open }) => {
            let admin = admin.as_ref().map(|email| format!(" admin {email}")).unwrap_or_default();
            ("admin.workspace.create", format!("{slug}{admin}{}", if *open { " open" } else { "" }))
        }
        AdminCommand::Workspace(Workspace::Connectivity { slug, state }) => {
            let state = if matches!(state, Switch::On) { "on" } else { "off" };
            ("admin.workspace.connectivity", format!("{slug} {state}"))
        }
        AdminCommand::Workspace(Workspace::Suspend { slug }) => ("admin.workspace.suspend", slug.clone()),
        AdminCommand::Workspace(Workspace::Resume { slug }) => ("admin.workspace.resume", slug.clone()),
        AdminCommand::Workspace(Workspace::Erase { slug, yes: _ }) => ("admin.workspace.erase", slug.clone()),
        AdminCommand::Person(Person::Suspend { email }) => ("admin.person.suspend", email.clone()),
        AdminCommand::Person(Person::Resume { email }) => ("admin.person.resume", email.clone()),
        AdminCommand::Person(Person::Create { email, .. }) => ("admin.person.create", email.clone()),
        AdminCommand::Person(Person::Password { email, .. }) => ("admin.person.password", email.clone()),
        AdminCommand::Person(Person::ResetFactors { email }) => ("admin.person.reset_factors", email.clone()),
        AdminCommand::Person(Person::Disconnect { email }) => ("admin.person.disconnect", email.clone()),
        AdminCommand::Person(Person::Erase { email }) => ("admin.person.erase", email.clone()),
        AdminCommand::Role(RoleCommand::Set { email, role, workspace }) => {
            ("admin.role.set", format!("{workspace} {email} {role}"))
        }
        AdminCommand::Role(RoleCommand::Remove { email, workspace }) => {
            ("admin.role.remove", format!("{workspace} {email}"))
        }
        AdminCommand::Token(Token::Create { workspace, label, .. }) => {
            ("admin.token.create", format!("{workspace} {label}"))
        }
        AdminCommand::Token(Token::Rotate { id, workspace, .. }) => ("admin.token.rotate", format!("{workspace} {id}")),
        AdminCommand::Token(Token::Revoke { id, workspace }) => ("admin.token.revoke", format!("{workspace} {id}")),
        AdminCommand::Client(Client::Create { name, .. }) => ("admin.client.create", name.clone()),
        AdminCommand::Client(Client::Remove { id }) => ("admin.client.remove", id.clone()),
        AdminCommand::Client(Client::Secret { id }) => ("admin.client.secret", id.clone()),
        AdminCommand::Client(Client::Block { id, workspace }) => {
            ("admin.client.block", placed(workspace.as_deref(), id))
        }
        AdminCommand::Client(Client::Unblock { id, workspace }) => {
            ("admin.client.unblock", placed(workspace.as_deref(), id))
        }
        AdminCommand::Source(Source::Add { name, workspace, .. }) => {
            ("admin.source.create", format!("{workspace} {name}"))
        }
        AdminCommand::Source(Source::Test { name, workspace }) => ("admin.source.test", format!("{workspace} {name}")),
        AdminCommand::Source(Source::Remove { name, workspace }) => {
            ("admin.source.remove", format!("{workspace} {name}"))
        }
        AdminCommand::Repair { .. } => ("admin.repair", String::new()),
        AdminCommand::Key(Key::Rotate) => ("admin.key.rotate", String::new()),
        AdminCommand::Key(Key::Withdraw { kid }) => ("admin.key.withdraw", kid.clone()),
        AdminCommand::Workspace(Workspace::List)
        | AdminCommand::Person(Person::List)
        | AdminCommand::Role(RoleCommand::List { .. })
        | AdminCommand::Token(Token::List { .. })
        | AdminCommand::Client(Client::List)
        | AdminCommand::Source(Source::List { .. })
        | AdminCommand::Key(Key::List)
        | AdminCommand::Audit(_) => return None,
    })
}

/// A client and the workspace that a command named, if it named one.
fn placed(workspace: Option<&str>, id: &str) -> String {
    workspace.map_or_else(|| id.to_owned(), |workspace| format!("{workspace} {id}"))
}
