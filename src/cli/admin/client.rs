//! `dragoman admin client`: OAuth clients of the operator's making, and which clients may not be used.

use anyhow::{Result, bail};
use clap::Subcommand;
use serde_json::{Value, json};

use super::find_org;
use super::show::{Said, table};
use crate::base::clock::rfc3339;
use crate::base::id::Id;
use crate::base::json::put;
use crate::base::secret::Secret;
use crate::identity::Identity;
use crate::identity::clients::OAuthClient;
use crate::identity::confidential::NewConfidentialClient;
use crate::model::org::Org;

#[derive(Debug, Subcommand)]
pub enum Client {
    /// Register a confidential client; its secret is printed once and never again
    Create {
        /// What people see when it asks for their approval
        #[arg(long)]
        name: String,
        /// Where it receives people back; repeat it for several
        #[arg(long = "redirect-uri", value_name = "URI")]
        redirect_uris: Vec<String>,
        /// Let it introspect every access token: for a resource server or a gateway
        #[arg(long)]
        introspect: bool,
    },
    /// List registered and blocked clients
    List,
    /// Remove a registered client and end every grant that it was given
    Remove { id: String },
    /// Replace the secret of a confidential client; the old one ends at once
    Secret { id: String },
    /// Forbid the use of a client at once, everywhere or in one workspace
    Block {
        /// As `client list` shows it; the address of a document for a client that is known by one
        id: String,
        #[arg(long)]
        workspace: Option<String>,
    },
    /// Allow the use of a client again; what it was granted before works again
    Unblock {
        id: String,
        /// The workspace that it was blocked in; without one, the whole installation
        #[arg(long)]
        workspace: Option<String>,
    },
}

pub(super) async fn client(command: Client, identity: &Identity) -> Result<Said> {
    match command {
        Client::Create { name, redirect_uris, introspect } => {
            let new = NewConfidentialClient { name, redirect_uris, may_introspect: introspect };
            let (client, secret) = identity.create_confidential_client(new).await?;
            Ok(with_secret(format!("Registered {}.\nClient id: {}", client.name, client.id), facts(&client), &secret))
        }
        Client::List => list(identity).await,
        Client::Remove { id } => {
            identity.remove_client(&id).await?;
            Ok(Said { text: format!("The client {id} is removed."), facts: json!({ "id": id, "removed": true }) })
        }
        Client::Secret { id } => {
            let secret = identity.replace_client_secret(&id).await?;
            Ok(with_secret(format!("The client {id} has another secret."), json!({ "id": id }), &secret))
        }
        Client::Block { id, workspace } => {
            let (org, place) = place(identity, workspace.as_deref()).await?;
            let text = match identity.block_client(org, &id).await? {
                true => format!("The client {id} is blocked {place}."),
                false => format!("The client {id} was blocked {place} already."),
            };
            Ok(Said { facts: json!({ "id": id, "workspace": workspace, "blocked": true }), text })
        }
        Client::Unblock { id, workspace } => {
            let (org, place) = place(identity, workspace.as_deref()).await?;
            if !identity.unblock_client(org, &id).await? {
                bail!("The client {id} is not blocked {place}. See: dragoman admin client list");
            }
            let text = format!("The client {id} is no longer blocked {place}.");
            Ok(Said { facts: json!({ "id": id, "workspace": workspace, "blocked": false }), text })
        }
    }
}

async fn place(identity: &Identity, workspace: Option<&str>) -> Result<(Option<Id<Org>>, String)> {
    Ok(match workspace {
        Some(slug) => (Some(find_org(identity, slug).await?.id), format!("in the workspace {slug}")),
        None => (None, "everywhere".to_owned()),
    })
}

/// What is shown of a client, besides where it is blocked.
fn facts(client: &OAuthClient) -> Value {
    json!({ "id": client.id, "name": client.name, "confidential": client.is_confidential(),
            "introspect": client.may_introspect, "redirect_uris": client.redirect_uris,
            "created_at": rfc3339(client.created_at) })
}

fn with_secret(text: String, mut facts: Value, secret: &Secret) -> Said {
    put(&mut facts, "secret", secret.expose());
    Said { text: format!("{text}\nSecret (not shown again): {}", secret.expose()), facts }
}

/// Registered clients, and after them those that are blocked without being registered.
async fn list(identity: &Identity) -> Result<Said> {
    let mut blocks: Vec<(String, String)> = Vec::new();
    let everywhere = identity.blocked_clients(None).await?;
    blocks.extend(everywhere.into_iter().map(|block| (block.client_id, "everywhere".to_owned())));
    for org in identity.list_orgs().await? {
        let here = identity.blocked_clients(Some(org.id)).await?;
        blocks.extend(here.into_iter().map(|block| (block.client_id, org.slug.clone())));
    }
    let places = |id: &str| -> Vec<&str> {
        blocks.iter().filter(|(blocked, _)| blocked == id).map(|(_, place)| place.as_str()).collect()
    };
    let registered = identity.clients().await?;
    let mut others: Vec<&str> = blocks.iter().map(|(id, _)| id.as_str()).collect();
    others.retain(|id| !registered.iter().any(|client| client.id == *id));
    others.sort_unstable();
    others.dedup();

    let (mut rows, mut all) = (Vec::new(), Vec::new());
    for client in &registered {
        let blocked = places(&client.id);
        let kind = match (client.is_confidential(), client.may_introspect) {
            (true, true) => "confidential, may introspect",
            (true, false) => "confidential",
            _ => "public",
        };
        let (blocked_in, created) = (blocked.join(","), rfc3339(client.created_at));
        rows.push(vec![client.id.clone(), client.name.clone(), kind.to_owned(), created, blocked_in]);
        let mut known = facts(client);
        put(&mut known, "blocked", blocked);
        all.push(known);
    }
    for id in others {
        let blocked = places(id);
        rows.push(vec![id.to_owned(), "-".into(), "not registered".into(), "-".into(), blocked.join(",")]);
        all.push(json!({ "id": id, "blocked": blocked }));
    }
    let text = table(&["id", "name", "kind", "registered", "blocked"], rows.into_iter());
    Ok(Said { facts: all.into(), text })
}
