//! What is past its time, deleted in batches. Every statement is short and takes at most `limit` rows, so that nobody
//! waits long for it; its condition stands outside the choice of rows too, so that a row that came to life again while
//! the statement waited for it stays.

use sqlx::AnyExecutor;

use crate::base::clock::Millis;

/// A kind of row that goes when it is past its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// In metrics and the log.
    pub name: &'static str,
    /// `$1` is the moment by which it ended, `$2` the most rows.
    sql: &'static str,
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
        sql: "DELETE FROM browser_sessions WHERE expires_at <= $1 AND id_hash IN (
                  SELECT id_hash FROM browser_sessions WHERE expires_at <= $1 LIMIT $2)",
        after: After::AtOnce,
    },
    Kind {
        name: "pending_authorizations",
        sql: "DELETE FROM pending_authorizations WHERE expires_at <= $1 AND handle_hash IN (
                  SELECT handle_hash FROM pending_authorizations WHERE expires_at <= $1 LIMIT $2)",
        after: After::AtOnce,
    },
    Kind {
        name: "device_codes",
        sql: "DELETE FROM device_codes WHERE expires_at <= $1 AND digest IN (
                  SELECT digest FROM device_codes WHERE expires_at <= $1 LIMIT $2)",
        after: After::Day,
    },
    Kind {
        name: "email_links",
        sql: "DELETE FROM email_links WHERE expires_at <= $1 AND digest IN (
                  SELECT digest FROM email_links WHERE expires_at <= $1 LIMIT $2)",
        after: After::Day,
    },
    Kind {
        name: "invitations",
        sql: "DELETE FROM invitations
              WHERE (expires_at <= $1 OR accepted_at <= $1 OR revoked_at <= $1) AND id IN (
                  SELECT id FROM invitations
                  WHERE expires_at <= $1 OR accepted_at <= $1 OR revoked_at <= $1 LIMIT $2)",
        after: After::Month,
    },
    // Replaced tokens of a living family stay, however old: a later use of one is evidence of theft.
    Kind {
        name: "refresh_tokens",
        sql: "DELETE FROM refresh_tokens WHERE digest IN (
                  SELECT r.digest FROM grants g JOIN refresh_tokens r ON r.grant_id = g.id
                  WHERE g.ends_at <= $1 OR g.revoked_at <= $1 LIMIT $2)",
        after: After::Month,
    },
    Kind {
        name: "grants",
        sql: "DELETE FROM grants
              WHERE (ends_at <= $1 OR revoked_at <= $1) AND id IN (
                  SELECT g.id FROM grants g
                  WHERE (g.ends_at <= $1 OR g.revoked_at <= $1)
                    AND NOT EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.grant_id = g.id) LIMIT $2)",
        after: After::Month,
    },
    // Approved, and nobody came for the tokens.
    Kind {
        name: "unused_grants",
        sql: "DELETE FROM grants
              WHERE redeemed_at IS NULL AND created_at <= $1 AND id IN (
                  SELECT g.id FROM grants g
                  WHERE g.redeemed_at IS NULL AND g.created_at <= $1
                    AND NOT EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.grant_id = g.id) LIMIT $2)",
        after: After::Day,
    },
    // Registered themselves and were never used: anybody may register, so these come in any number. A request that
    // waits for its person's answer names its client in its data.
    Kind {
        name: "oauth_clients",
        sql: "DELETE FROM oauth_clients
              WHERE secret_digest IS NULL AND created_at <= $1 AND id IN (
                  SELECT c.id FROM oauth_clients c
                  WHERE c.secret_digest IS NULL AND c.created_at <= $1
                    AND NOT EXISTS (SELECT 1 FROM grants g WHERE g.client_id = c.id)
                    AND NOT EXISTS (SELECT 1 FROM client_blocks b WHERE b.client_id = c.id)
                    AND NOT EXISTS (SELECT 1 FROM consents s WHERE s.client_id = c.id)
                    AND NOT EXISTS (SELECT 1 FROM device_codes d WHERE d.client_id = c.id)
                    AND NOT EXISTS (SELECT 1 FROM pending_authorizations p WHERE p.data LIKE '%' || c.id || '%')
                  LIMIT $2)",
        after: After::Day,
    },
    Kind {
        name: "conversations",
        sql: "DELETE FROM conversations WHERE updated_at <= $1 AND id IN (
                  SELECT id FROM conversations WHERE updated_at <= $1 LIMIT $2)",
        after: After::Month,
    },
    Kind {
        name: "tasks",
        sql: "DELETE FROM tasks WHERE expires_at <= $1 AND (org_id, id) IN (
                  SELECT org_id, id FROM tasks WHERE expires_at <= $1 LIMIT $2)",
        after: After::AtOnce,
    },
    Kind {
        name: "question_runs",
        sql: "DELETE FROM question_runs WHERE asked_at <= $1 AND id IN (
                  SELECT id FROM question_runs WHERE asked_at <= $1 LIMIT $2)",
        after: After::Month,
    },
];

/// Deletes at most `limit` rows of a kind that ended by `before`; returns how many went.
pub async fn batch(on: impl AnyExecutor<'_>, kind: &Kind, before: Millis, limit: i64) -> sqlx::Result<u64> {
    Ok(sqlx::query(kind.sql).bind(before).bind(limit).execute(on).await?.rows_affected())
}
