//! Indexes on a Qdrant server, and where a workspace's indexes are written.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::cluster_index::{Build, Chain, ClusterIndex, Home, Standing};
use crate::model::dataset::Dataset;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::store::leases;
use crate::store::tenant::Scoped;

/// Versions in one statement.
const MOST_AT_ONCE: usize = 200;

const COLUMNS: &str = "org_id, build, dataset_id, version, encoder, terms, cutter, points, chain, standing, touched_at";

/// Adds one that is about to be written.
pub async fn insert(on: &mut Scoped, index: &ClusterIndex) -> Result<()> {
    let sql = "INSERT INTO cluster_indexes (org_id, build, dataset_id, version, encoder, terms, cutter, points, chain, \
               standing, touched_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    sqlx::query(sql)
        .bind(index.org.to_string())
        .bind(index.build.to_string())
        .bind(index.dataset.to_string())
        .bind(index.version.clone())
        .bind(index.encoder.clone())
        .bind(index.terms.clone())
        .bind(index.cutter.clone())
        .bind(i64::try_from(index.points).map_err(Error::internal)?)
        .bind(serde_json::to_string(&index.chain).map_err(Error::internal)?)
        .bind(index.standing.name())
        .bind(index.touched_at)
        .execute(&mut **on)
        .await?;
    Ok(())
}

/// The one of a build, if it is there.
pub async fn by_build(on: &mut Scoped, org: Id<Org>, build: Id<Build>) -> Result<Option<ClusterIndex>> {
    let sql = format!("SELECT {COLUMNS} FROM cluster_indexes WHERE org_id = $1 AND build = $2");
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).bind(build.to_string());
    query.fetch_optional(&mut **on).await?.as_ref().map(read).transpose()
}

/// The one that answers for a version, if there is one.
pub async fn of_version(
    on: &mut Scoped,
    org: Id<Org>,
    dataset: Id<Dataset>,
    version: &str,
) -> Result<Option<ClusterIndex>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM cluster_indexes WHERE org_id = $1 AND dataset_id = $2 AND version = $3 AND standing = 'placed'"
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).bind(dataset.to_string());
    query.bind(version.to_owned()).fetch_optional(&mut **on).await?.as_ref().map(read).transpose()
}

/// Those that answer for these versions of a workspace's datasets.
pub async fn of_versions(on: &mut Scoped, org: Id<Org>, versions: &[(Id<Dataset>, &str)]) -> Result<Vec<ClusterIndex>> {
    let mut found = Vec::new();
    for versions in versions.chunks(MOST_AT_ONCE) {
        let is_one = |at: usize| format!("(dataset_id = ${} AND version = ${})", 2 * at + 2, 2 * at + 3);
        let any: Vec<String> = (0..versions.len()).map(is_one).collect();
        let sql = format!(
            "SELECT {COLUMNS} FROM cluster_indexes WHERE org_id = $1 AND standing = 'placed' AND ({})",
            any.join(" OR ")
        );
        let mut query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string());
        for (dataset, version) in versions {
            query = query.bind(dataset.to_string()).bind((*version).to_owned());
        }
        for row in query.fetch_all(&mut **on).await? {
            found.push(read(&row)?);
        }
    }
    Ok(found)
}

/// Those of a workspace that answer.
pub async fn placed(on: &mut Scoped, org: Id<Org>) -> Result<Vec<ClusterIndex>> {
    let sql = format!("SELECT {COLUMNS} FROM cluster_indexes WHERE org_id = $1 AND standing = 'placed'");
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string());
    query.fetch_all(&mut **on).await?.iter().map(read).collect()
}

/// All of a dataset. Until the transaction ends, nobody else who asks this goes on.
pub async fn of_dataset(on: &mut Scoped, org: Id<Org>, dataset: Id<Dataset>) -> Result<Vec<ClusterIndex>> {
    leases::lock(on, &format!("indexes {org}")).await?;
    let sql = format!("SELECT {COLUMNS} FROM cluster_indexes WHERE org_id = $1 AND dataset_id = $2 ORDER BY build");
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).bind(dataset.to_string());
    query.fetch_all(&mut **on).await?.iter().map(read).collect()
}

/// Those of every workspace that are gone since before a moment.
pub async fn gone(on: &mut Scoped, before: Millis) -> Result<Vec<ClusterIndex>> {
    let sql = format!("SELECT {COLUMNS} FROM cluster_indexes WHERE standing = 'gone' AND touched_at <= $1");
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(before);
    query.fetch_all(&mut **on).await?.iter().map(read).collect()
}

/// Says that somebody is writing it still; `false` when it is written no more.
pub async fn touch(on: &mut Scoped, org: Id<Org>, build: Id<Build>, now: Millis) -> Result<bool> {
    let sql = "UPDATE cluster_indexes SET touched_at = $1 WHERE org_id = $2 AND build = $3 AND standing = 'written'";
    let query = sqlx::query(sql).bind(now).bind(org.to_string()).bind(build.to_string());
    Ok(query.execute(&mut **on).await?.rows_affected() == 1)
}

/// Says that nobody writes it any more; nothing of one that was given its place.
pub async fn end(on: &mut Scoped, org: Id<Org>, build: Id<Build>, now: Millis) -> Result<()> {
    let sql = "UPDATE cluster_indexes SET standing = 'gone', touched_at = $1 \
               WHERE org_id = $2 AND build = $3 AND standing = 'written'";
    sqlx::query(sql).bind(now).bind(org.to_string()).bind(build.to_string()).execute(&mut **on).await?;
    Ok(())
}

/// Lets it answer for its version, with so many points, in the place of any other; `false` when it is written no more.
pub async fn place(on: &mut Scoped, index: &ClusterIndex, now: Millis) -> Result<bool> {
    // Of two at the same time the later one sees what the other has placed, and takes its place.
    leases::lock(on, &format!("indexes {}", index.org)).await?;
    let sql = "UPDATE cluster_indexes SET standing = 'gone', touched_at = $1 \
               WHERE org_id = $2 AND dataset_id = $3 AND version = $4 AND standing = 'placed'";
    let query = sqlx::query(sql).bind(now).bind(index.org.to_string()).bind(index.dataset.to_string());
    query.bind(index.version.clone()).execute(&mut **on).await?;
    let sql = "UPDATE cluster_indexes SET standing = 'placed', touched_at = $1, points = $2 \
               WHERE org_id = $3 AND build = $4 AND standing = 'written'";
    let query = sqlx::query(sql).bind(now).bind(i64::try_from(index.points).map_err(Error::internal)?);
    let done = query.bind(index.org.to_string()).bind(index.build.to_string()).execute(&mut **on).await?;
    Ok(done.rows_affected() == 1)
}

/// Says of a dataset's indexes, or of one version's, that their points are to be removed, since a moment: 0 where nobody
/// can be asking them. Gives those that it was not said of before: of the others nothing is changed, so that nothing puts
/// off their removal. Until the transaction ends, nobody goes on with one of them or gives one its place: what another
/// process does at this time is either among them or comes after.
pub async fn retire(
    on: &mut Scoped,
    org: Id<Org>,
    dataset: Id<Dataset>,
    version: Option<&str>,
    since: Millis,
) -> Result<Vec<ClusterIndex>> {
    leases::lock(on, &format!("indexes {org}")).await?;
    let of_version = if version.is_some() { "AND version = $4" } else { "" };
    let sql = format!(
        "UPDATE cluster_indexes SET standing = 'gone', touched_at = $1 \
         WHERE org_id = $2 AND dataset_id = $3 AND standing IN ('written', 'placed') {of_version} RETURNING {COLUMNS}"
    );
    let mut query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(since).bind(org.to_string()).bind(dataset.to_string());
    if let Some(version) = version {
        query = query.bind(version.to_owned());
    }
    query.fetch_all(&mut **on).await?.iter().map(read).collect()
}

/// As [`retire`], of everything that a workspace has; gives all, also those of which it was said before.
pub async fn retire_workspace(on: &mut Scoped, org: Id<Org>, since: Millis) -> Result<Vec<ClusterIndex>> {
    leases::lock(on, &format!("indexes {org}")).await?;
    let sql = "UPDATE cluster_indexes SET standing = 'gone', touched_at = $1 \
               WHERE org_id = $2 AND standing IN ('written', 'placed')";
    sqlx::query(sql).bind(since).bind(org.to_string()).execute(&mut **on).await?;
    of_workspace(on, org).await
}

/// All of a workspace, whatever was said of them.
pub async fn of_workspace(on: &mut Scoped, org: Id<Org>) -> Result<Vec<ClusterIndex>> {
    let sql = format!("SELECT {COLUMNS} FROM cluster_indexes WHERE org_id = $1");
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string());
    query.fetch_all(&mut **on).await?.iter().map(read).collect()
}

/// As [`end`], long ago, of all of every workspace that were last written to before a moment.
pub async fn abandon(on: &mut Scoped, before: Millis) -> Result<()> {
    let sql =
        "UPDATE cluster_indexes SET standing = 'gone', touched_at = 0 WHERE standing = 'written' AND touched_at <= $1";
    sqlx::query(sql).bind(before).execute(&mut **on).await?;
    Ok(())
}

/// Says of those of every workspace that came to answer before a moment, for versions that no dataset has, that they
/// are gone since another: whoever gave them their place died before the metadata named the version, or before it
/// removed them.
pub async fn retire_unnamed(on: &mut Scoped, before: Millis, since: Millis) -> Result<()> {
    let sql = "UPDATE cluster_indexes SET standing = 'gone', touched_at = $1 \
               WHERE standing = 'placed' AND touched_at <= $2 AND NOT EXISTS \
               (SELECT 1 FROM dataset_versions v WHERE v.org_id = cluster_indexes.org_id \
               AND v.dataset_id = cluster_indexes.dataset_id AND v.version = cluster_indexes.version) AND NOT EXISTS \
               (SELECT 1 FROM datasets d WHERE d.org_id = cluster_indexes.org_id \
               AND d.id = cluster_indexes.dataset_id AND d.version = cluster_indexes.version)";
    sqlx::query(sql).bind(since).bind(before).execute(&mut **on).await?;
    Ok(())
}

/// Says of one that is gone that what is left of its points is in the chains of others.
pub async fn leave(on: &mut Scoped, org: Id<Org>, build: Id<Build>) -> Result<()> {
    let sql = "UPDATE cluster_indexes SET standing = 'held' WHERE org_id = $1 AND build = $2 AND standing = 'gone'";
    sqlx::query(sql).bind(org.to_string()).bind(build.to_string()).execute(&mut **on).await?;
    Ok(())
}

/// Removes one whose points are removed.
pub async fn remove(on: &mut Scoped, org: Id<Org>, build: Id<Build>) -> Result<()> {
    let query = sqlx::query("DELETE FROM cluster_indexes WHERE org_id = $1 AND build = $2");
    query.bind(org.to_string()).bind(build.to_string()).execute(&mut **on).await?;
    Ok(())
}

/// Where a workspace's indexes are written, if somebody has said it.
pub async fn home(on: &mut Scoped, org: Id<Org>) -> Result<Option<Home>> {
    let query = sqlx::query("SELECT home FROM index_homes WHERE org_id = $1").bind(org.to_string());
    let Some(row) = query.fetch_optional(&mut **on).await? else { return Ok(None) };
    let name: String = row.try_get("home")?;
    let known = Home::ALL.into_iter().find(|known| known.name() == name);
    Ok(Some(known.ok_or_else(|| Error::internal(format!("index_homes.home is {name}")))?))
}

/// Says where they are written from now on.
pub async fn set_home(on: &mut Scoped, org: Id<Org>, home: Home) -> Result<()> {
    let sql = "INSERT INTO index_homes (org_id, home) VALUES ($1, $2) \
               ON CONFLICT (org_id) DO UPDATE SET home = excluded.home";
    sqlx::query(sql).bind(org.to_string()).bind(home.name()).execute(&mut **on).await?;
    Ok(())
}

fn read(row: &AnyRow) -> Result<ClusterIndex> {
    let standing: String = row.try_get("standing")?;
    let known = Standing::ALL.into_iter().find(|known| known.name() == standing);
    let build: Id<Build> = row.try_get::<String, _>("build")?.parse().map_err(Error::internal)?;
    let chain: String = row.try_get("chain")?;
    Ok(ClusterIndex {
        org: row.try_get::<String, _>("org_id")?.parse().map_err(Error::internal)?,
        build,
        dataset: row.try_get::<String, _>("dataset_id")?.parse().map_err(Error::internal)?,
        version: row.try_get("version")?,
        encoder: row.try_get("encoder")?,
        terms: row.try_get("terms")?,
        cutter: row.try_get("cutter")?,
        points: u64::try_from(row.try_get::<i64, _>("points")?).map_err(Error::internal)?,
        chain: match chain.is_empty() {
            // Of before there were chains.
            true => Chain::whole(build),
            false => serde_json::from_str(&chain).map_err(Error::internal)?,
        },
        standing: known.ok_or_else(|| Error::internal(format!("cluster_indexes.standing is {standing}")))?,
        touched_at: row.try_get("touched_at")?,
    })
}
