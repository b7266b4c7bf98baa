//! What a person allowed a client to do, and the rules of the values that travel: redirect addresses, PKCE, scope.

use crate::model::access::{Role, Scope};

/// Scopes that a client gets when it asks for none.
pub const DEFAULT_SCOPES: [Scope; 3] = [Scope::DataRead, Scope::DataWrite, Scope::OntologiesRead];

/// The scopes of a `scope` parameter. `offline_access` is accepted and means nothing (refresh tokens are always given).
///
/// # Errors
/// The first token that is not a scope of ours.
pub fn parse_scopes(text: &str) -> Result<Vec<Scope>, String> {
    let mut scopes = Vec::new();
    for token in text.split(' ').filter(|token| !token.is_empty() && *token != "offline_access") {
        let scope = Scope::parse(token).ok_or_else(|| token.chars().take(80).collect::<String>())?;
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    if scopes.is_empty() {
        scopes.extend(DEFAULT_SCOPES);
    }
    scopes.sort();
    Ok(scopes)
}

/// Scopes as a `scope` value.
pub fn scope_text(scopes: &[Scope]) -> String {
    scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(" ")
}

/// Those of `scopes` that a role may hold.
pub fn within_role(scopes: &[Scope], role: Role) -> Vec<Scope> {
    scopes.iter().copied().filter(|scope| role >= scope.least_role()).collect()
}
