//! The end of entries' time. What is deleted is walked over first, and a chain then begins at its cut: the number and
//! hash of the last entry that went, under a code that somebody who has only the database cannot make.

use sqlx::any::AnyRow;
use sqlx::{AnyExecutor, Row as _};

use super::{Head, ROOT, is_next};
use crate::base::clock::Millis;
use crate::model::error::Result;
use crate::store::Db;

/// Where a chain begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The last entry that was deleted.
    pub head: Head,
    pub mac: String,
}

/// What a batch of [`expire`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expired {
    /// So many entries went.
    Gone(u64),
    /// This entry is missing or was changed: it and everything after it stays, as evidence.
    Broken(i64),
}

/// Of every chain that has one.
pub async fn all(db: &Db) -> Result<Vec<Cut>> {
    let sql = "SELECT chain, seq, hash, mac FROM audit_cuts";
    let rows = sqlx::query(sql).fetch_all(db.pool()).await?;
    Ok(rows.iter().map(cut).collect::<sqlx::Result<_>>()?)
}

/// The number and hash that the first entry of a chain follows.
pub async fn start(on: impl AnyExecutor<'_>, chain: &str) -> Result<(i64, String)> {
    let sql = "SELECT chain, seq, hash, mac FROM audit_cuts WHERE chain = $1";
    let row = sqlx::query(sql).bind(chain).fetch_optional(on).await?;
    Ok(match row.as_ref().map(cut).transpose()? {
        Some(cut) => (cut.head.seq, cut.head.hash),
        None => (0, ROOT.to_owned()),
    })
}

fn cut(row: &AnyRow) -> sqlx::Result<Cut> {
    let head = Head { chain: row.try_get("chain")?, seq: row.try_get("seq")?, hash: row.try_get("hash")? };
    Ok(Cut { head, mac: row.try_get("mac")? })
}

/// Chains with an entry from before `before`.
pub async fn expiring(db: &Db, before: Millis) -> Result<Vec<String>> {
    let sql = "SELECT chain FROM audit_heads h
               WHERE EXISTS (SELECT 1 FROM audit a WHERE a.chain = h.chain AND a.at < $1) ORDER BY chain";
    Ok(sqlx::query_scalar(sql).bind(before).fetch_all(db.pool()).await?)
}

/// Deletes the first entries of a chain that are from before `before`, at most `limit`, up to the first that is not.
///
/// # Errors
/// The database fails; then nothing went.
pub async fn expire(
    db: &Db,
    chain: &str,
    before: Millis,
    limit: i64,
    mac: impl Fn(&Head) -> String,
) -> Result<Expired> {
    let mut tx = db.begin().await?;
    let (first, mut hash) = start(&mut *tx, chain).await?;
    let mut seq = first;
    let sql = "SELECT seq, at, entry, hash FROM audit WHERE chain = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    for row in sqlx::query(sql).bind(chain).bind(seq).bind(limit).fetch_all(&mut *tx).await? {
        if row.try_get::<i64, _>("at")? >= before {
            break;
        }
        let Some(next) = is_next(&row, seq, &hash)? else { return Ok(Expired::Broken(seq + 1)) };
        (seq, hash) = (seq + 1, next);
    }
    if seq == first {
        return Ok(Expired::Gone(0));
    }
    let head = Head { chain: chain.to_owned(), seq, hash };
    let sql = "INSERT INTO audit_cuts (chain, seq, hash, mac) VALUES ($1, $2, $3, $4)
               ON CONFLICT (chain) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, mac = excluded.mac";
    let code = mac(&head);
    sqlx::query(sql).bind(chain).bind(seq).bind(head.hash).bind(code).execute(&mut *tx).await?;
    let sql = "DELETE FROM audit WHERE chain = $1 AND seq <= $2";
    let gone = sqlx::query(sql).bind(chain).bind(seq).execute(&mut *tx).await?.rows_affected();
    tx.commit().await?;
    Ok(Expired::Gone(gone))
}
