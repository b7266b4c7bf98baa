//! What is past its time, deleted in batches. Every statement is short and takes at most `limit` rows, so that nobody
//! waits long for it; its condition stands outside the choice of rows too, so that a row that came to life again while
//! the statement waited for it stays.

use sqlx::{AnyConnection, AnyExecutor, AssertSqlSafe, Row as _};

use super::{Backend, freshness};
use crate::base::clock::Millis;

/// A kind of row that goes when it is past its time. In its texts `$1` is the moment by which a row ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// In metrics and the log.
    pub name: &'static str,
    /// Deletes rows of these keys.
    delete: &'static str,
    /// Finds the keys.
    choose: &'static str,
    /// Whether it is a change of a workspace when such a row goes (`migrations/postgres/1009_freshness.sql`); its table has
    /// the workspace in `org_id`.
    is_change: bool,
    pub after: After,
}

/// How long after its end a row goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    AtOnce,
    Day,
    Month,
}

/// The kinds in their order: what points at a row goes before the row.
pub const KINDS: [Kind; 12] = [
    Kind {
        name: "browser_sessions",
        delete: "DELETE FROM browser_sessions WHERE expires_at <= $1 AND id_hash IN",
        choose: "SELECT id_hash FROM browser_sessions WHERE expires_at <= $1",
        is_change: false,
        after: After::AtOnce,
    },
    Kind {
        name: "pending_authorizations",
        delete: "DELETE FROM pending_authorizations WHERE expires_at <= $1 AND handle_hash IN",
        choose: "SELECT handle_hash FROM pending_authorizations WHERE expires_at <= $1",
        is_change: false,
        after: After::AtOnce,
    },
    Kind {
        name: "device_codes",
        delete: "DELETE FROM device_codes WHERE expires_at <= $1 AND digest IN",
        choose: "SELECT digest FROM device_codes WHERE expires_at <= $1",
        is_change: false,
        after: After::Day,
    },
    Kind {
        name: "email_links",
        delete: "DELETE FROM email_links WHERE expires_at <= $1 AND digest IN",
        choose: "SELECT digest FROM email_links WHERE expires_at <= $1",
        is_change: false,
        after: After::Day,
    },
    Kind {
        name: "invitations",
        delete: "DELETE FROM invitations WHERE (expires_at <= $1 OR accepted_at <= $1 OR revoked_at <= $1) AND id IN",
        choose: "SELECT id FROM invitations WHERE (expires_at <= $1 OR accepted_at <= $1 OR revoked_at <= $1)",
        is_change: false,
        after: After::Month,
    },
    // Replaced tokens of a living family stay, however old: a later use of one is evidence of theft.
    Kind {
        name: "refresh_tokens",
        delete: "DELETE FROM refresh_tokens WHERE digest IN",
        choose: "SELECT r.digest FROM grants g JOIN refresh_tokens r ON r.grant_id = g.id
                 WHERE (g.ends_at <= $1 OR g.revoked_at <= $1)",
        is_change: false,
        after: After::Month,
    },
    Kind {
        name: "grants",
        delete: "DELETE FROM grants WHERE (ends_at <= $1 OR revoked_at <= $1) AND id IN",
        choose: "SELECT g.id FROM grants g
                 WHERE (g.ends_at <= $1 OR g.revoked_at <= $1)
                   AND NOT EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.grant_id = g.id)",
        is_change: true,
        after: After::Month,
    },
    // Approved, and nobody came for the tokens.
    Kind {
        name: "unused_grants",
        delete: "DELETE FROM grants WHERE redeemed_at IS NULL AND created_at <= $1 AND id IN",
        choose: "SELECT g.id FROM grants g
                 WHERE g.redeemed_at IS NULL AND g.created_at <= $1
                   AND NOT EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.grant_id = g.id)",
        is_change: true,
        after: After::Day,
    },
    // Registered themselves and were never used: anybody may register, so these come in any number. A request that
    // waits for its person's answer has the digest of a session, and names its client in its data; what is kept from a
    // form to a page has the name of a kind in its place, is long, and names none.
    Kind {
        name: "oauth_clients",
        delete: "DELETE FROM oauth_clients WHERE secret_digest IS NULL AND created_at <= $1 AND id IN",
        choose: "SELECT c.id FROM oauth_clients c
                 WHERE c.secret_digest IS NULL AND c.created_at <= $1
                   AND NOT EXISTS (SELECT 1 FROM grants g WHERE g.client_id = c.id)
                   AND NOT EXISTS (SELECT 1 FROM client_blocks b WHERE b.client_id = c.id)
                   AND NOT EXISTS (SELECT 1 FROM consents s WHERE s.client_id = c.id)
                   AND NOT EXISTS (SELECT 1 FROM device_codes d WHERE d.client_id = c.id)
                   AND NOT EXISTS (SELECT 1 FROM pending_authorizations p
                                   WHERE length(p.session_hash) = 64 AND p.data LIKE '%' || c.id || '%')",
        is_change: false,
        after: After::Day,
    },
    Kind {
        name: "conversations",
        delete: "DELETE FROM conversations WHERE updated_at <= $1 AND id IN",
        choose: "SELECT id FROM conversations WHERE updated_at <= $1",
        is_change: false,
        after: After::Month,
    },
    Kind {
        name: "tasks",
        delete: "DELETE FROM tasks WHERE expires_at <= $1 AND (org_id, id) IN",
        choose: "SELECT org_id, id FROM tasks WHERE expires_at <= $1",
        is_change: false,
        after: After::AtOnce,
    },
    Kind {
        name: "question_runs",
        delete: "DELETE FROM question_runs WHERE asked_at <= $1 AND id IN",
        choose: "SELECT id FROM question_runs WHERE asked_at <= $1",
        is_change: false,
        after: After::Month,
    },
];

/// How far clean-up has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// What ended later stays.
    pub upto: Millis,
    /// What the clock of the node that set it said then.
    pub seen: Millis,
}

/// `None` before the first turn.
pub async fn mark(on: impl AnyExecutor<'_>) -> sqlx::Result<Option<Mark>> {
    let row = sqlx::query("SELECT upto, seen FROM clean_up").fetch_optional(on).await?;
    row.map(|row| Ok(Mark { upto: row.try_get("upto")?, seen: row.try_get("seen")? })).transpose()
}

pub async fn set_mark(on: &mut AnyConnection, mark: Mark) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO clean_up (id, upto, seen) VALUES (1, $1, $2)
         ON CONFLICT (id) DO UPDATE SET upto = excluded.upto, seen = excluded.seen",
    )
    .bind(mark.upto)
    .bind(mark.seen)
    .execute(on)
    .await?;
    Ok(())
}

/// Deletes at most `limit` rows of a kind that ended by `before`; returns how many went. On PostgreSQL nobody is waited
/// for in a circle: rows that somebody else has stay for the next time, and workspaces are held in their order.
pub async fn batch(
    on: &mut AnyConnection,
    backend: Backend,
    kind: &Kind,
    before: Millis,
    limit: i64,
) -> sqlx::Result<u64> {
    let Kind { delete, choose, .. } = kind;
    if backend == Backend::Sqlite {
        let sql = format!("{delete} ({choose} LIMIT $2)");
        return Ok(sqlx::query(AssertSqlSafe(sql)).bind(before).bind(limit).execute(on).await?.rows_affected());
    }
    // Chosen once: where the planner asks again for each row, those that are locked and gone by then would not count.
    let sql = format!(
        "{delete} (WITH chosen AS MATERIALIZED ({choose} LIMIT $2 FOR UPDATE SKIP LOCKED) SELECT * FROM chosen)"
    );
    if !kind.is_change {
        return Ok(sqlx::query(AssertSqlSafe(sql)).bind(before).bind(limit).execute(on).await?.rows_affected());
    }
    let query = sqlx::query_scalar::<_, String>(AssertSqlSafe(format!("{sql} RETURNING org_id")));
    let orgs = query.bind(before).bind(limit).fetch_all(&mut *on).await?;
    let gone = orgs.len() as u64;
    freshness::hold(on, orgs).await?;
    Ok(gone)
}
