//! What a login may do. The guard judges what a caller writes; this judges what would happen if it failed.

use crate::model::error::{Error, Result};

/// What an admin runs to make the login that this service asks for. Its profile is `readonly = 2`: under `1` no setting
/// may be sent, so that the limits of a query could not be; `readonly` itself cannot be changed under either.
pub(super) const SCRIPT: &str = "\
CREATE SETTINGS PROFILE dragoman SETTINGS readonly = 2, allow_ddl = 0 CONST, allow_introspection_functions = 0 CONST;
CREATE USER dragoman IDENTIFIED BY '<password>' SETTINGS PROFILE 'dragoman';
GRANT SELECT ON <database>.* TO dragoman;";

/// Privileges that read the data of tables, or their names.
const READING: [&str; 6] = ["SELECT", "SHOW", "SHOW DATABASES", "SHOW TABLES", "SHOW COLUMNS", "USAGE"];

fn refused(message: &str) -> Error {
    let message = format!("{message} Make a login for this service alone, and use it here:\n{SCRIPT}");
    Error::invalid("url", message)
}

/// # Errors
/// `invalid_argument` unless the login's setting is 2.
pub(super) fn check_readonly(readonly: Option<i64>) -> Result<()> {
    match readonly {
        Some(2) => Ok(()),
        Some(1) => Err(refused("The login has readonly = 1: the limits of a query cannot be sent.")),
        _ => Err(refused("The login may write: its readonly is not 2.")),
    }
}

/// Judges the lines of `SHOW GRANTS`.
///
/// # Errors
/// `invalid_argument` with the privilege that is too much.
pub(super) fn check_grants(grants: impl Iterator<Item = String>) -> Result<()> {
    for grant in grants {
        let (what, whom) = match grant.strip_prefix("GRANT ").and_then(|grant| grant.split_once(" ON ")) {
            Some(parts) => parts,
            // A revoke takes rights away.
            None if grant.starts_with("REVOKE ") => continue,
            None => return Err(refused(&format!("The login has rights through a role ({grant})."))),
        };
        if whom.ends_with(" WITH GRANT OPTION") {
            return Err(refused(&format!("The login may hand on its rights ({grant}).")));
        }
        if let Some(privilege) = privileges(what).into_iter().find(|name| !READING.contains(&name.as_str())) {
            return Err(refused(&format!("The login has the right {privilege}, beyond reading.")));
        }
        if whom.starts_with("*.*") {
            return Err(refused("The login may read every database, the server's own among them."));
        }
        if whom.starts_with("system.") {
            return Err(refused("The login may read tables of the server itself (system)."));
        }
    }
    Ok(())
}

/// The names of privileges, without the columns behind them: `SELECT(a, b), INSERT`.
fn privileges(text: &str) -> Vec<String> {
    let (mut plain, mut depth) = (String::new(), 0_usize);
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain.split(',').map(|name| name.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_reads_and_does_nothing_else() {
        let check = |grants: &[&str]| check_grants(grants.iter().map(|grant| (*grant).to_owned()));
        for good in [
            &["GRANT SELECT ON w.* TO x"][..],
            &["GRANT SELECT(a, b), SHOW COLUMNS ON w.t TO x", "REVOKE SELECT ON w.secret FROM x"],
            &["GRANT USAGE ON w.* TO x"],
            &[],
        ] {
            assert!(check(good).is_ok(), "{good:?}");
        }
        for bad in [
            "GRANT SELECT, INSERT ON w.* TO x",
            "GRANT SELECT(a), ALTER UPDATE(b) ON w.* TO x",
            "GRANT SELECT ON w.* TO x WITH GRANT OPTION",
            "GRANT SELECT ON *.* TO x",
            "GRANT SELECT ON system.query_log TO x",
            "GRANT URL ON *.* TO x",
            "GRANT SOURCES ON *.* TO x",
            "GRANT reader TO x",
            "GRANT dictGet ON w.* TO x",
        ] {
            let refused = check(&[bad]).unwrap_err();
            assert!(refused.message.contains("GRANT SELECT ON <database>.*"), "{bad}");
        }
        assert!(check_readonly(Some(2)).is_ok());
        for readonly in [None, Some(0), Some(1)] {
            assert!(check_readonly(readonly).is_err());
        }
    }
}
