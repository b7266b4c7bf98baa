//! How answers of `dragoman admin` look: facts for programs, tables for people.

use serde_json::{Value, json};

use crate::base::clock::{Millis, rfc3339};
use crate::base::json::put;
use crate::base::secret::Secret;
use crate::identity::connectivity::TokenInfo;
use crate::model::access::Role;
use crate::model::org::Org;
use crate::model::user::User;

/// What a command has to say: facts for a program, and the same for a person.
pub(super) struct Said {
    pub facts: Value,
    pub text: String,
}

pub(super) fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// How a person or a workspace stands with the operator.
pub(super) fn standing(suspended: bool) -> &'static str {
    if suspended { "suspended" } else { "active" }
}

pub(super) fn with_state(mut facts: Value, state: &str) -> Value {
    put(&mut facts, "state", state);
    facts
}

pub(super) fn state(token: &TokenInfo, now: Millis) -> &'static str {
    match (token.revoked_at, token.expires_at) {
        (Some(_), _) => "revoked",
        (None, Some(at)) if at <= now => "expired",
        _ => "active",
    }
}

pub(super) fn org_facts(org: &Org) -> Value {
    json!({ "id": org.id, "slug": org.slug, "name": org.name, "connectivity_enabled": org.connectivity_enabled,
            "created_at": rfc3339(org.created_at) })
}

pub(super) fn person_facts(user: &User) -> Value {
    json!({ "id": user.id, "email": user.email, "name": user.name, "created_at": rfc3339(user.created_at) })
}

pub(super) fn member_facts(user: &User, role: Role) -> Value {
    let mut facts = person_facts(user);
    put(&mut facts, "role", role.name());
    facts
}

pub(super) fn token_facts(token: &TokenInfo) -> Value {
    json!({ "id": token.id, "label": token.label, "scopes": scope_names(token), "last_four": token.last_four,
            "created_at": rfc3339(token.created_at), "expires_at": token.expires_at.map(rfc3339),
            "revoked_at": token.revoked_at.map(rfc3339), "last_used_at": token.last_used_at.map(rfc3339),
            "use_count": token.use_count, "replaced_by": token.replaced_by })
}

pub(super) fn scope_names(token: &TokenInfo) -> Vec<&'static str> {
    token.scopes.iter().map(|scope| scope.name()).collect()
}

/// Adds a made-up password, which is shown this once.
pub(super) fn with_password(text: String, mut facts: Value, made_up: Option<Secret>) -> Said {
    match made_up {
        None => Said { facts, text },
        Some(password) => {
            put(&mut facts, "password", password.expose());
            Said { text: format!("{text}\nPassword (not shown again): {}", password.expose()), facts }
        }
    }
}

/// Columns as wide as their widest cell, two spaces apart.
pub(super) fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut lines: Vec<Vec<String>> = vec![head.iter().map(|cell| (*cell).to_owned()).collect()];
    lines.extend(rows);
    let widths: Vec<usize> = (0..head.len())
        .map(|column| {
            lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for line in lines {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text += cells.join("  ").trim_end();
        text.push('\n');
    }
    text
}
