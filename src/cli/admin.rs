//! `dragoman admin`: workspaces, people, roles, connectivity tokens, OAuth clients and keys, on the machine of the service.
//! Passwords come from standard input or are made up; never from an argument, which other users of the machine can read.

mod audit;
mod client;
mod dataset;
mod erase;
mod index;
mod key;
mod repair;
mod show;
mod source;
mod workspace;

use std::io::Read as _;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::app::Office;
use crate::base::clock::{Millis, millis, rfc3339};
use crate::base::counted::counted;
use crate::base::json::put;
use crate::base::nearest::nearest;
use crate::base::secret::{Secret, random_token};
use crate::engine::sql::remote::sources::Sources;
use crate::identity::Identity;
use crate::identity::connectivity::TokenInfo;
use crate::model::access::{ExtScope, Role};
use crate::model::org::Org;
use crate::model::user::User;
pub use dataset::Dataset;
pub use index::Index;
pub use repair::{Data, Indexes};
use show::{
    Said, member_facts, person_facts, scope_names, standing, state, table, token_facts, with_password, with_state,
};

/// What `dragoman admin` can do.
#[derive(Debug, Subcommand)]
pub enum AdminCommand {
    /// Workspaces: the tenants of this installation
    #[command(subcommand)]
    Workspace(workspace::Workspace),
    /// People who can log in
    #[command(subcommand)]
    Person(Person),
    /// Who belongs to a workspace, and as what
    #[command(subcommand)]
    Role(RoleCommand),
    /// Connectivity tokens for scripts and programs without a browser
    #[command(subcommand)]
    Token(Token),
    /// OAuth clients: confidential ones, and which may not be used
    #[command(subcommand)]
    Client(client::Client),
    /// PostgreSQL and ClickHouse servers whose tables are datasets of a workspace
    #[command(subcommand)]
    Source(source::Source),
    /// Keys that sign access tokens
    #[command(subcommand)]
    Key(key::Key),
    /// The record of who did what
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Delete sign-ins, links, tasks and the like that are past their time, make damaged indexes of documents anew, and
    /// check that the audit log is whole and that the data folder has all tables
    Repair {
        /// What became of the indexes.
        #[arg(skip)]
        indexes: Option<Indexes>,
        /// What the data folder has.
        #[arg(skip)]
        data: Option<Data>,
    },
}

impl AdminCommand {
    /// Whether it is the one that may come before everything else.
    pub fn begins_an_installation(&self) -> bool {
        matches!(self, Self::Workspace(workspace::Workspace::Create { .. }))
    }
}

#[derive(Debug, Subcommand)]
pub enum Person {
    /// Create a person; prints a made-up password unless one is given on standard input
    Create {
        email: String,
        /// For other people; the address when absent
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        password: PasswordSource,
    },
    /// List people
    List,
    /// Lock a person out of everything, at once
    Suspend { email: String },
    /// Let a suspended person in again
    Resume { email: String },
    /// Replace a person's password; prints a made-up one unless one is given on standard input
    Password {
        email: String,
        #[command(flatten)]
        password: PasswordSource,
    },
    /// Remove a person's second factors, passkeys and recovery codes, and sign them out everywhere: for who lost them all
    ResetFactors { email: String },
    /// End everything that a person connected (applications, devices, sign-ins at other providers), forget what they
    /// approved, and sign them out everywhere: for an account that was in other hands
    Disconnect { email: String },
    /// Erase a person for good: address, name, all that they sign in with, roles, and what they connected. What they made
    /// in a workspace stays the workspace's
    Erase { email: String },
}

#[derive(Debug, Args)]
pub struct PasswordSource {
    /// Read the password from the first line of standard input
    #[arg(long)]
    password_stdin: bool,
}

#[derive(Debug, Subcommand)]
pub enum RoleCommand {
    /// Make a person a member of a workspace, or change their role
    Set {
        email: String,
        /// viewer, contributor or admin
        role: Role,
        #[arg(long)]
        workspace: String,
    },
    /// End a membership and every grant under it
    Remove {
        email: String,
        #[arg(long)]
        workspace: String,
    },
    /// List the members of a workspace
    List {
        #[arg(long)]
        workspace: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum Token {
    /// Create a token; its secret is printed once and never again
    Create {
        #[arg(long)]
        workspace: String,
        /// What it is for
        #[arg(long)]
        label: String,
        /// ext:datasets, ext:schema, ext:search, ext:sql; separated by commas
        #[arg(long = "scopes", value_delimiter = ',', required = true, value_parser = scope)]
        scopes: Vec<ExtScope>,
        /// Days until it ends; never when absent
        #[arg(long)]
        expires_in_days: Option<u32>,
    },
    /// List a workspace's tokens
    List {
        #[arg(long)]
        workspace: String,
    },
    /// Make a new token in the place of one, which works a while longer; the new secret is printed once and never again
    Rotate {
        /// The eight characters that `token list` shows
        id: String,
        #[arg(long)]
        workspace: String,
        /// Minutes that the old token works beside the new one; 0 ends it at once
        #[arg(long, default_value_t = 60, value_name = "MINUTES")]
        overlap: u32,
    },
    /// Revoke a token at once
    Revoke {
        /// The eight characters that `token list` shows
        id: String,
        #[arg(long)]
        workspace: String,
    },
}

/// Runs a command, records what it changed or failed to, and prints its answer on standard output, as JSON when told: also
/// where it could not be recorded, since a secret that is not shown now is lost.
///
/// # Errors
/// What was wrong, in a sentence.
pub async fn run(command: AdminCommand, office: &Office, json: bool) -> Result<()> {
    let trace = audit::trace(&command);
    let answered = answer(command, &office.identity, &office.sources(), first_line_of_stdin).await;
    let recorded = match trace {
        Some((action, target)) => office.record_administration(action, &target, answered.is_ok()).await,
        None => Ok(()),
    };
    let Said { facts, text } = answered?;
    match json {
        true => say!("{facts:#}"),
        false => say!("{}", text.trim_end()),
    }
    anyhow::ensure!(recorded.is_ok(), "this is done, and is not on the record: the metadata could not be written");
    Ok(())
}

async fn answer(
    command: AdminCommand,
    identity: &Identity,
    sources: &Sources,
    input: impl FnOnce() -> Result<Secret>,
) -> Result<Said> {
    match command {
        AdminCommand::Workspace(command) => workspace::workspace(command, identity).await,
        AdminCommand::Person(command) => person(command, identity, input).await,
        AdminCommand::Role(command) => role(command, identity).await,
        AdminCommand::Token(command) => token(command, identity).await,
        AdminCommand::Client(command) => client::client(command, identity).await,
        AdminCommand::Source(command) => source::source(command, identity, sources, input).await,
        AdminCommand::Key(command) => key::key(command, identity).await,
        AdminCommand::Audit(command) => audit::audit(command, identity).await,
        AdminCommand::Repair { indexes, data } => repair::repair(identity, indexes, data).await,
    }
}

async fn person(command: Person, identity: &Identity, input: impl FnOnce() -> Result<Secret>) -> Result<Said> {
    match command {
        Person::Create { email, name, password } => {
            let (password, made_up) = password.take(input)?;
            let user = identity.create_user(&email, name.as_deref().unwrap_or(&email), &password).await?;
            Ok(with_password(format!("Created {}.", user.email), person_facts(&user), made_up))
        }
        Person::List => {
            let users = identity.list_users().await?;
            let suspended = identity.suspended().await?;
            let is = |user: &User| suspended.contains(&user.id.to_string());
            let row = |user: &User| {
                vec![user.email.clone(), user.name.clone(), standing(is(user)).into(), rfc3339(user.created_at)]
            };
            let text = table(&["email", "name", "state", "created"], users.iter().map(row));
            let facts = |user: &User| with_state(person_facts(user), standing(is(user)));
            Ok(Said { facts: users.iter().map(facts).collect(), text })
        }
        Person::Suspend { email } => suspend_person(identity, &email, true).await,
        Person::Resume { email } => suspend_person(identity, &email, false).await,
        Person::Password { email, password } => {
            let user = find_person(identity, &email).await?;
            let (password, made_up) = password.take(input)?;
            identity.set_password(user.id, &password).await?;
            Ok(with_password(format!("The password of {} is changed.", user.email), person_facts(&user), made_up))
        }
        Person::ResetFactors { email } => {
            let user = find_person(identity, &email).await?;
            identity.reset_factors(user.id).await?;
            let text = format!(
                "{} signs in with the password alone now, and is signed out of every browser. Applications that they \
                 connected stay connected.",
                user.email
            );
            Ok(Said { facts: person_facts(&user), text })
        }
        Person::Disconnect { email } => {
            let user = find_person(identity, &email).await?;
            let ended = identity.disconnect_person(user.id).await?;
            let mut facts = person_facts(&user);
            put(&mut facts, "grants", ended.grants);
            put(&mut facts, "sign_ins", ended.sign_ins);
            let text = format!(
                "{} is signed out of every browser. Ended: {}, and {} at other providers. They connect and link anew \
                 what is theirs.",
                user.email,
                counted(ended.grants, "grant"),
                counted(ended.sign_ins, "sign-in")
            );
            Ok(Said { facts, text })
        }
        Person::Erase { email } => {
            let user = find_person(identity, &email).await?;
            identity.erase_person(user.id).await?;
            let text = format!(
                "{} is erased. The record names them until its rows are past their time, and backups do as long as you \
                 keep them.",
                user.email
            );
            Ok(Said { facts: json!({ "id": user.id, "erased": true }), text })
        }
    }
}

async fn suspend_person(identity: &Identity, email: &str, suspended: bool) -> Result<Said> {
    let user = find_person(identity, email).await?;
    identity.suspend_person(user.id, suspended).await?;
    let text = format!("{} is {}.", user.email, standing(suspended));
    Ok(Said { facts: with_state(person_facts(&user), standing(suspended)), text })
}

async fn role(command: RoleCommand, identity: &Identity) -> Result<Said> {
    match command {
        RoleCommand::Set { email, role, workspace } => {
            let (org, user) = (find_org(identity, &workspace).await?, find_person(identity, &email).await?);
            identity.set_role(org.id, user.id, role).await?;
            let text = format!("{} is {role} of the workspace {workspace}.", user.email);
            Ok(Said { facts: member_facts(&user, role), text })
        }
        RoleCommand::Remove { email, workspace } => {
            let (org, user) = (find_org(identity, &workspace).await?, find_person(identity, &email).await?);
            identity.remove_member(org.id, user.id).await?;
            let text = format!("{} is no longer a member of the workspace {workspace}.", user.email);
            Ok(Said { facts: person_facts(&user), text })
        }
        RoleCommand::List { workspace } => {
            let org = find_org(identity, &workspace).await?;
            let members = identity.members(org.id).await?;
            let row = |(user, role): &(User, Role)| vec![user.email.clone(), role.to_string(), user.name.clone()];
            let text = table(&["email", "role", "name"], members.iter().map(row));
            Ok(Said { facts: members.iter().map(|(user, role)| member_facts(user, *role)).collect(), text })
        }
    }
}

async fn token(command: Token, identity: &Identity) -> Result<Said> {
    match command {
        Token::Create { workspace, label, scopes, expires_in_days } => {
            let org = find_org(identity, &workspace).await?;
            let day = millis(Duration::from_secs(24 * 60 * 60));
            let expires_at = expires_in_days.map(|days| identity.clock().now() + Millis::from(days) * day);
            let (token, secret) = identity.create_token(org.id, &label, &scopes, expires_at).await?;
            let mut facts = token_facts(&token);
            put(&mut facts, "token", secret.expose());
            let mut text = format!("{}\nKeep it now: it is not shown again.", secret.expose());
            if !org.connectivity_enabled {
                text += &format!(
                    "\nIt works once the workspace is open to clients:\n  dragoman admin workspace connectivity {workspace} on"
                );
            }
            Ok(Said { facts, text })
        }
        Token::List { workspace } => {
            let org = find_org(identity, &workspace).await?;
            let tokens = identity.tokens(org.id).await?;
            let now = identity.clock().now();
            let row = |token: &TokenInfo| {
                let at = |at: Option<Millis>| at.map_or_else(|| "-".to_owned(), rfc3339);
                vec![
                    token.id.clone(),
                    token.label.clone(),
                    scope_names(token).join(","),
                    format!("…{}", token.last_four),
                    state(token, now).into(),
                    at(token.expires_at),
                    at(token.last_used_at),
                    token.use_count.to_string(),
                ]
            };
            let head = ["id", "label", "scopes", "ends in", "state", "expires", "last used", "uses"];
            Ok(Said { facts: tokens.iter().map(token_facts).collect(), text: table(&head, tokens.iter().map(row)) })
        }
        Token::Rotate { id, workspace, overlap } => {
            let org = find_org(identity, &workspace).await?;
            let minutes = Duration::from_secs(u64::from(overlap) * 60);
            let (token, secret) = identity.rotate_token(org.id, None, &id, minutes).await?;
            let mut facts = token_facts(&token);
            put(&mut facts, "token", secret.expose());
            let text = format!(
                "{}\nKeep it now: it is not shown again. The token {id} works for {overlap} minutes more.",
                secret.expose()
            );
            Ok(Said { facts, text })
        }
        Token::Revoke { id, workspace } => {
            let org = find_org(identity, &workspace).await?;
            if !identity.revoke_token(org.id, &id).await? {
                bail!(
                    "The workspace {workspace} has no token {id:?} in force. List them with: dragoman admin token list"
                );
            }
            Ok(Said { facts: json!({ "id": id, "revoked": true }), text: format!("The token {id} is revoked.") })
        }
    }
}

impl PasswordSource {
    /// The password, and a second time when it was made up here and has to be shown.
    fn take(&self, input: impl FnOnce() -> Result<Secret>) -> Result<(Secret, Option<Secret>)> {
        if self.password_stdin {
            return Ok((input()?, None));
        }
        let password = random_token("");
        Ok((password.clone(), Some(password)))
    }
}

fn first_line_of_stdin() -> Result<Secret> {
    let mut text = String::new();
    // Longer than any password; the rest is left alone.
    std::io::stdin().take(4096).read_to_string(&mut text).context("the password on standard input cannot be read")?;
    first_line(&text)
}

/// The first line, without its end.
fn first_line(text: &str) -> Result<Secret> {
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(Secret::new(line)),
        _ => bail!("--password-stdin: there is no password on standard input"),
    }
}

async fn find_org(identity: &Identity, slug: &str) -> Result<Org> {
    if let Some(org) = identity.org_by_slug(slug).await? {
        return Ok(org);
    }
    let orgs = identity.list_orgs().await?;
    let near = nearest(slug, orgs.iter().map(|org| org.slug.as_str()));
    let near = near.map_or_else(String::new, |near| format!(" Did you mean {near}?"));
    bail!("There is no workspace {slug:?}.{near} See: dragoman admin workspace list")
}

async fn find_person(identity: &Identity, email: &str) -> Result<User> {
    let user = identity.user_by_email(email).await?;
    user.with_context(|| format!("There is no person {email:?}. See: dragoman admin person list"))
}

fn scope(text: &str) -> Result<ExtScope, String> {
    ExtScope::parse(text).ok_or_else(|| {
        let names: Vec<_> = ExtScope::ALL.into_iter().map(ExtScope::name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests;
