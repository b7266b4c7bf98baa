//! What a login may do. One that can do more than read is not accepted: the transaction and the judge keep it from
//! writing, and this is the wall behind them that does not depend on our own code.

use serde_json::json;

use super::Trouble;
use super::session::{Caps, Session};
use crate::model::error::{Code, Error};
use crate::model::source::quoted;

/// Privileges that are told one by one.
const TOLD: usize = 20;

/// Oldest major version whose settings and catalogue are those that are used here.
const OLDEST: u32 = 12;

/// Every role that the login is or can become (`SET ROLE`), and what one of them may do beyond reading. Of the system's
/// own schemas nothing counts: everybody may "update" `pg_settings` there.
const POWERS: &str = r"
WITH me AS (
    SELECT r.oid, r.rolname, r.rolsuper, r.rolreplication, r.rolbypassrls, r.rolcreaterole, r.rolcreatedb
    FROM pg_catalog.pg_roles r
    WHERE pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER') OR r.rolname = session_user
), spaces AS (
    SELECT n.oid, n.nspname FROM pg_catalog.pg_namespace n
    WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
)
SELECT 'is a superuser', 0 FROM me WHERE rolsuper
UNION SELECT 'can replicate (REPLICATION)', 1 FROM me WHERE rolreplication
UNION SELECT 'passes row-level security by (BYPASSRLS)', 1 FROM me WHERE rolbypassrls
UNION SELECT 'can make roles (CREATEROLE)', 1 FROM me WHERE rolcreaterole
UNION SELECT 'can make databases (CREATEDB)', 1 FROM me WHERE rolcreatedb
UNION SELECT 'is a member of ' || rolname, 2 FROM me
    WHERE rolname ~ '^pg_' AND rolname NOT IN ('pg_read_all_data', 'pg_read_all_settings', 'pg_read_all_stats',
        'pg_stat_scan_tables', 'pg_monitor', 'pg_database_owner')
UNION SELECT 'can create schemas in the database', 3 FROM me
    WHERE pg_catalog.has_database_privilege(me.oid, pg_catalog.current_database(), 'CREATE')
UNION SELECT 'can create in the schema ' || s.nspname, 3 FROM me, spaces s
    WHERE pg_catalog.has_schema_privilege(me.oid, s.oid, 'CREATE')
UNION SELECT 'can write to the table ' || s.nspname || '.' || c.relname, 4
    FROM me, spaces s JOIN pg_catalog.pg_class c ON c.relnamespace = s.oid
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND (pg_catalog.has_table_privilege(me.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
         OR pg_catalog.has_any_column_privilege(me.oid, c.oid, 'INSERT, UPDATE'))
UNION SELECT 'can change the sequence ' || s.nspname || '.' || c.relname, 5
    FROM me, spaces s JOIN pg_catalog.pg_class c ON c.relnamespace = s.oid
    WHERE c.relkind = 'S' AND pg_catalog.has_sequence_privilege(me.oid, c.oid, 'USAGE, UPDATE')
ORDER BY 2, 1";

/// Refuses a login that can do more than read, and a server that is too old.
pub(super) fn check(session: &mut Session, user: &str, database: &str) -> Result<(), Trouble> {
    let major: String = session.version.chars().take_while(char::is_ascii_digit).collect();
    if major.parse::<u32>().is_ok_and(|major| major < OLDEST) {
        let message = format!("The server is PostgreSQL {}; {OLDEST} or later is needed.", session.version);
        let error = Error::new(Code::SourceUnavailable, message).with(json!({ "step": "version" }));
        return Err(Trouble::Told(error));
    }
    // The cap cuts a list that is longer than anyone reads.
    let powers = session.fetch(&format!("SELECT * FROM ({POWERS}) AS power LIMIT 1000"), CAPS)?;
    let powers: Vec<String> = powers.rows.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect();
    if powers.is_empty() {
        return Ok(());
    }
    let more = powers.len().saturating_sub(TOLD);
    let mut told = powers.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    if powers.len() > 3 {
        told = format!("{told}, and {} more", powers.len() - 3);
    }
    let script = grant_script(user, database);
    let message = format!(
        "The login {user} can do more than read: it {told}. A source needs a login that can only read, so that nothing \
         can be changed through it. Make one with these statements, as the database's owner:\n{script}"
    );
    let powers: Vec<String> = powers.into_iter().take(TOLD).collect();
    let details = json!({ "rule": "login_can_write", "can": powers, "more": more, "script": script });
    Err(Trouble::Told(Error::new(Code::Forbidden, message).with(details)))
}

const CAPS: Caps = Caps { rows: 1_000, bytes: 1 << 20 };

/// The statements that make a login that can only read.
pub(super) fn grant_script(user: &str, database: &str) -> String {
    let login = if user.ends_with("_reader") { user.to_owned() } else { format!("{user}_reader") };
    let (login, database) = (quoted(&login), quoted(database));
    format!(
        "CREATE ROLE {login} LOGIN PASSWORD 'choose one'\n    NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;\n\
         GRANT CONNECT ON DATABASE {database} TO {login};\n\
         GRANT USAGE ON SCHEMA public TO {login};\n\
         GRANT SELECT ON ALL TABLES IN SCHEMA public TO {login};\n\
         -- Only before PostgreSQL 15, which lets nobody create there of its own accord:\n\
         REVOKE CREATE ON SCHEMA public FROM PUBLIC;"
    )
}
