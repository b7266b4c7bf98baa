//! The audit log: append only, one hash chain a workspace. Taking the head of the chain locks it until
//! the commit, so that concurrent writers (threads or nodes) keep one chain.

pub mod cuts;

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row as _};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::audit::{Entry, chained};
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::store::tokens::{self, Use};
use crate::store::{Db, places};

/// The hash that the first entry of a chain follows.
const ROOT: &str = "";
/// How long a database elsewhere is waited for. Rows that it has taken and not acknowledged may be there all the same; a
/// connection that has fallen silent is given up by the network alone, and stays taken until then.
const PATIENCE: Duration = Duration::from_secs(10);
/// Rows in one statement, and values of a row.
const AT_ONCE: usize = 64;
const COLUMNS: usize = 7;

/// The name of a chain: a workspace's id, or `-` for entries about no workspace.
pub fn chain_of(org: Option<Id<Org>>) -> String {
    org.map_or_else(|| "-".to_owned(), |org| org.to_string())
}

/// Takes so many numbers of a chain: the last of them, and the hash that the first follows.
const TAKE: &str = "INSERT INTO audit_heads (chain, seq, hash) VALUES ($1, $2, $3)
     ON CONFLICT (chain) DO UPDATE SET seq = audit_heads.seq + $2 RETURNING seq, hash";
const INSERT: &str = "INSERT INTO audit (chain, seq, at, action, outcome, entry, hash) VALUES";
const SET: &str = "UPDATE audit_heads SET hash = $1 WHERE chain = $2";
/// Writes and changes nothing, where there is any chain.
const TOUCH: &str = "UPDATE audit_heads SET seq = seq WHERE chain = (SELECT MIN(chain) FROM audit_heads)";

/// Appends entries, and adds uses of tokens, in one transaction: all are durable when it returns, or none is there.
pub async fn append(db: &Db, entries: Vec<Entry>, uses: Vec<Use>) -> Result<()> {
    let entries: Vec<Entry> = entries.into_iter().map(Entry::bounded).collect();
    match &db.direct {
        Some(direct) => {
            let turn = db.writer.clone().lock_owned().await;
            Ok(direct.write(turn, move |tx| append_directly(tx, &entries, &uses)).await?)
        }
        None => {
            let late = |_| Error::unavailable("The database does not answer.");
            tokio::time::timeout(PATIENCE, append_together(db, &entries, &uses)).await.map_err(late)?
        }
    }
}

/// Whether entries can be appended, without one.
///
/// # Errors
/// They cannot.
pub async fn try_writing(db: &Db) -> Result<()> {
    match &db.direct {
        Some(direct) => {
            let turn = db.writer.clone().lock_owned().await;
            direct.write(turn, |tx| tx.execute(TOUCH, ())).await?;
            Ok(())
        }
        None => {
            let late = |_| Error::unavailable("The database does not answer.");
            tokio::time::timeout(PATIENCE, touch(db)).await.map_err(late)?
        }
    }
}

async fn touch(db: &Db) -> Result<()> {
    let mut tx = db.recording().await?;
    sqlx::query(TOUCH).execute(&mut *tx).await?;
    Ok(tx.commit().await?)
}

/// Sorted by chain: two nodes take the heads in the same order and cannot deadlock.
fn by_chain(entries: &[Entry]) -> BTreeMap<String, Vec<&Entry>> {
    let mut by_chain: BTreeMap<String, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        by_chain.entry(chain_of(entry.org)).or_default().push(entry);
    }
    by_chain
}

/// Where a chain ends while it grows.
struct End {
    seq: i64,
    hash: String,
}

impl End {
    /// Follows with an entry; its text.
    fn follow(&mut self, entry: &Entry) -> String {
        let text = entry.canonical();
        self.seq += 1;
        self.hash = chained(self.seq, &self.hash, &text);
        text
    }
}

/// In SQLite called by hand, where a statement for each row costs nothing.
fn append_directly(tx: &rusqlite::Transaction<'_>, entries: &[Entry], uses: &[Use]) -> rusqlite::Result<()> {
    for (chain, entries) in by_chain(entries) {
        let count = entries.len() as i64;
        let end = |row: &rusqlite::Row<'_>| Ok(End { seq: row.get::<_, i64>(0)? - count, hash: row.get(1)? });
        let mut end = tx.prepare_cached(TAKE)?.query_row((&chain, count, ROOT), end)?;
        let mut insert = tx.prepare_cached(&format!("{INSERT} ($1, $2, $3, $4, $5, $6, $7)"))?;
        for entry in entries {
            let text = end.follow(entry);
            insert.execute((&chain, end.seq, entry.at, &entry.action, &entry.outcome, text, &end.hash))?;
        }
        tx.prepare_cached(SET)?.execute((&end.hash, &chain))?;
    }
    uses.iter().try_for_each(|one| tokens::add_uses_directly(tx, one))
}

/// In PostgreSQL, where every statement is a round trip.
async fn append_together(db: &Db, entries: &[Entry], uses: &[Use]) -> Result<()> {
    let mut tx = db.recording().await?;
    for (chain, entries) in by_chain(entries) {
        append_to(&mut tx, &chain, &entries).await?;
    }
    for one in uses {
        tokens::add_uses(&mut tx, one).await?;
    }
    tx.commit().await?;
    Ok(())
}

async fn append_to(tx: &mut AnyConnection, chain: &str, entries: &[&Entry]) -> Result<()> {
    let count = i64::try_from(entries.len()).map_err(Error::internal)?;
    let head = sqlx::query(TAKE).bind(chain.to_owned()).bind(count).bind(ROOT).fetch_one(&mut *tx).await?;
    let mut end = End { seq: head.try_get::<i64, _>("seq")? - count, hash: head.try_get("hash")? };
    for entries in entries.chunks(AT_ONCE) {
        let rows: Vec<String> =
            (0..entries.len()).map(|row| format!("({})", places(row * COLUMNS + 1, COLUMNS))).collect();
        let mut query = sqlx::query(AssertSqlSafe(format!("{INSERT} {}", rows.join(", "))));
        for entry in entries {
            let text = end.follow(entry);
            query = query.bind(chain.to_owned()).bind(end.seq).bind(entry.at).bind(entry.action.clone());
            query = query.bind(entry.outcome.clone()).bind(text).bind(end.hash.clone());
        }
        query.execute(&mut *tx).await?;
    }
    sqlx::query(SET).bind(end.hash).bind(chain.to_owned()).execute(&mut *tx).await?;
    Ok(())
}

/// The newest entries of a workspace (or of the chain of none), newest first, with their numbers.
pub async fn newest(db: &Db, org: Option<Id<Org>>, limit: i64) -> Result<Vec<(i64, Entry)>> {
    let sql = "SELECT seq, entry FROM audit WHERE chain = $1 ORDER BY seq DESC LIMIT $2";
    let rows = sqlx::query(sql).bind(chain_of(org)).bind(limit).fetch_all(db.pool()).await?;
    read(&rows)
}

/// Which rows of a workspace are read.
#[derive(Clone, Copy, Debug)]
pub struct Range<'a> {
    /// Rows with a smaller number.
    pub before: i64,
    pub since: Millis,
    pub until: Millis,
    /// How the action begins.
    pub action: &'a str,
    /// Exactly; empty for all.
    pub outcome: &'a str,
}

/// Entries of a workspace in a range, newest first, with their numbers.
pub async fn range(db: &Db, org: Id<Org>, range: &Range<'_>, limit: i64) -> Result<Vec<(i64, Entry)>> {
    let sql = sql_of(range);
    let query = sqlx::query(AssertSqlSafe(sql)).bind(chain_of(Some(org))).bind(range.before).bind(range.since);
    let mut query = query.bind(range.until).bind(range.action.to_owned()).bind(limit);
    if !range.outcome.is_empty() {
        query = query.bind(range.outcome.to_owned());
    }
    read(&query.fetch_all(db.pool()).await?)
}

/// The statement of a range. What is said twice of failures lets the engines use the index that holds nothing else.
fn sql_of(range: &Range<'_>) -> String {
    let outcome = match range.outcome {
        "" => "",
        "ok" => "AND outcome = $7",
        _ => "AND outcome = $7 AND outcome <> 'ok'",
    };
    format!(
        "SELECT seq, entry FROM audit
         WHERE chain = $1 AND seq < $2 AND at >= $3 AND at < $4 AND substr(action, 1, length($5)) = $5 {outcome}
         ORDER BY seq DESC LIMIT $6"
    )
}

fn read(rows: &[AnyRow]) -> Result<Vec<(i64, Entry)>> {
    let entry = |row: &AnyRow| {
        let entry: String = row.try_get("entry")?;
        Ok((row.try_get("seq")?, serde_json::from_str(&entry).map_err(Error::internal)?))
    };
    rows.iter().map(entry).collect()
}

/// The end of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// See [`chain_of`].
    pub chain: String,
    /// The number of the last entry.
    pub seq: i64,
    pub hash: String,
}

/// The ends of all chains at one moment, by name.
pub async fn heads(db: &Db) -> Result<Vec<Head>> {
    let sql = "SELECT chain, seq, hash FROM audit_heads ORDER BY chain";
    let rows = sqlx::query(sql).fetch_all(db.pool()).await?;
    let head =
        |row: &AnyRow| Ok(Head { chain: row.try_get("chain")?, seq: row.try_get("seq")?, hash: row.try_get("hash")? });
    rows.iter().map(head).collect()
}

/// The names of all chains, with those that lost their head or all of their entries.
pub async fn chains(db: &Db) -> Result<Vec<String>> {
    let sql =
        "SELECT chain FROM audit_heads UNION SELECT chain FROM audit UNION SELECT chain FROM audit_cuts ORDER BY 1";
    let rows = sqlx::query(sql).fetch_all(db.pool()).await?;
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<sqlx::Result<_>>()?)
}

/// Whether the record has, or had, rows of a workspace: these metadata know it, or did until it was erased.
pub async fn has_known(db: &Db, org: Id<Org>) -> Result<bool> {
    let sql = "SELECT COUNT(*) FROM audit_heads WHERE chain = $1";
    Ok(sqlx::query_scalar::<_, i64>(sql).bind(org.to_string()).fetch_one(db.pool()).await? > 0)
}

/// The workspaces that these metadata knew until they were erased.
pub async fn erased(db: &Db) -> Result<HashSet<Id<Org>>> {
    let sql = "SELECT chain FROM audit_heads WHERE chain NOT IN (SELECT id FROM orgs)";
    let chains: Vec<String> = sqlx::query_scalar(sql).fetch_all(db.pool()).await?;
    Ok(chains.iter().filter_map(|chain| chain.parse().ok()).collect())
}

/// The hash of one entry, if it is there.
pub async fn hash_of(db: &Db, chain: &str, seq: i64) -> Result<Option<String>> {
    let sql = "SELECT hash FROM audit WHERE chain = $1 AND seq = $2";
    Ok(sqlx::query_scalar(sql).bind(chain).bind(seq).fetch_optional(db.pool()).await?)
}

/// Walks a chain from its start. `Ok(None)`: whole; `Ok(Some(seq))`: the first entry that is missing or changed.
pub async fn verify(db: &Db, org: Option<Id<Org>>) -> Result<Option<i64>> {
    verify_chain(db, &chain_of(org)).await
}

/// As [`verify`], by the chain's name: a workspace's id, or `-`.
pub async fn verify_chain(db: &Db, chain: &str) -> Result<Option<i64>> {
    let (mut seq, mut hash) = cuts::start(db.pool(), chain).await?;
    // Entries that are appended meanwhile are walked too; where nothing follows twice, nothing is missing by accident.
    let mut waited_at = None;
    'walk: loop {
        let sql = "SELECT seq, entry, hash FROM audit WHERE chain = $1 AND seq > $2 ORDER BY seq LIMIT 1000";
        for row in sqlx::query(sql).bind(chain).bind(seq).fetch_all(db.pool()).await? {
            let Some(next) = is_next(&row, seq, &hash)? else {
                // Entries whose time is over may have gone meanwhile.
                let start = cuts::start(db.pool(), chain).await?;
                if start.0 <= seq {
                    return Ok(Some(seq + 1));
                }
                (seq, hash) = start;
                continue 'walk;
            };
            (seq, hash) = (seq + 1, next);
        }
        let sql = "SELECT seq, hash FROM audit_heads WHERE chain = $1";
        let head = sqlx::query(sql).bind(chain).fetch_optional(db.pool()).await?;
        let Some(head) = head else { return Ok((seq > 0).then_some(seq + 1)) };
        let end: i64 = head.try_get("seq")?;
        if end == seq && head.try_get::<String, _>("hash")? == hash {
            return Ok(None);
        }
        if end <= seq || waited_at == Some(seq) {
            return Ok(Some(end.min(seq) + 1));
        }
        waited_at = Some(seq);
    }
}

/// The hash of a row, if it is the whole entry that follows `seq` with `hash`.
fn is_next(row: &AnyRow, seq: i64, hash: &str) -> Result<Option<String>> {
    let stored: String = row.try_get("entry")?;
    let expected = serde_json::from_str::<Entry>(&stored).ok().map(|entry| entry.hash(seq + 1, hash));
    let found: String = row.try_get("hash")?;
    let follows = row.try_get::<i64, _>("seq")? == seq + 1 && expected.as_deref() == Some(found.as_str());
    Ok(follows.then_some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_rare_outcome_is_found_without_reading_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open_sqlite(&folder.path().join("metadata.sqlite")).await.unwrap();
        let way = async |outcome: &str| -> String {
            let range = Range { before: i64::MAX, since: 0, until: i64::MAX, action: "", outcome };
            let sql = format!("EXPLAIN QUERY PLAN {}", sql_of(&range));
            let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(db.pool()).await.unwrap();
            rows.iter().map(|row| row.get::<String, _>("detail")).collect::<Vec<_>>().join("; ")
        };
        let rare = way("scope_denied").await;
        assert!(
            rare.contains("audit_by_failure (chain=? AND outcome=? AND seq<?)") && !rare.contains("B-TREE"),
            "{rare}"
        );
        for all in ["", "ok"] {
            let way = way(all).await;
            assert!(way.contains("(chain=? AND seq<?)"), "{all}: {way}");
        }
    }
}
