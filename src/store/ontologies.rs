//! Ontologies of a workspace, and their texts by version.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::ontology::{Status, StoredOntology};
use crate::model::org::Org;
use crate::store::tenant::Scoped;

const COLUMNS: &str = "org_id, id, name, description, status, problem, version, dataset_count, field_count, \
                       created_at, updated_at";

/// A saved text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub version: i64,
    /// What it changed, in words.
    pub summary: String,
    /// A person's id; `None` for the operator.
    pub saved_by: Option<String>,
    pub saved_at: Millis,
}

/// What the last comparison with the data found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attested {
    /// JSON; `None` before the first.
    pub found: Option<String>,
    /// A digest of the versions of the data that it was about.
    pub data: String,
}

/// All of a workspace, by name.
pub async fn list(on: &mut Scoped, org: Id<Org>) -> Result<Vec<StoredOntology>> {
    let sql = format!("SELECT {COLUMNS} FROM ontologies WHERE org_id = $1 ORDER BY name");
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).fetch_all(&mut **on).await?;
    rows.iter().map(read).collect()
}

/// One of the workspace, if it is there.
pub async fn by_id(on: &mut Scoped, org: Id<Org>, id: Id<StoredOntology>) -> Result<Option<StoredOntology>> {
    let sql = format!("SELECT {COLUMNS} FROM ontologies WHERE org_id = $1 AND id = $2");
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).bind(id.to_string());
    query.fetch_optional(&mut **on).await?.as_ref().map(read).transpose()
}

/// Adds one with its first text; `false` when the workspace has one of this name.
pub async fn insert(on: &mut Scoped, ontology: &StoredOntology) -> Result<bool> {
    let sql = "INSERT INTO ontologies (org_id, id, name, description, status, problem, version, dataset_count, \
               field_count, attestation, attested_data, created_at, updated_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL, '', $10, $11) ON CONFLICT (org_id, name) DO NOTHING";
    let query = sqlx::query(sql)
        .bind(ontology.org.to_string())
        .bind(ontology.id.to_string())
        .bind(ontology.name.clone())
        .bind(ontology.description.clone())
        .bind(ontology.status.name())
        .bind(ontology.problem.clone())
        .bind(ontology.version)
        .bind(ontology.dataset_count)
        .bind(ontology.field_count)
        .bind(ontology.created_at)
        .bind(ontology.updated_at);
    Ok(query.execute(&mut **on).await?.rows_affected() == 1)
}

/// Puts a newer text's facts in the place of `before`'s; `false` when another was saved meanwhile, or the ontology went.
pub async fn replace(on: &mut Scoped, ontology: &StoredOntology, before: i64) -> Result<bool> {
    let sql = "UPDATE ontologies SET name = $1, description = $2, status = $3, problem = $4, version = $5, \
               dataset_count = $6, field_count = $7, attestation = NULL, attested_data = '', updated_at = $8 \
               WHERE org_id = $9 AND id = $10 AND version = $11";
    let query = sqlx::query(sql)
        .bind(ontology.name.clone())
        .bind(ontology.description.clone())
        .bind(ontology.status.name())
        .bind(ontology.problem.clone())
        .bind(ontology.version)
        .bind(ontology.dataset_count)
        .bind(ontology.field_count)
        .bind(ontology.updated_at)
        .bind(ontology.org.to_string())
        .bind(ontology.id.to_string())
        .bind(before);
    Ok(query.execute(&mut **on).await?.rows_affected() == 1)
}

/// Keeps a text.
pub async fn keep(on: &mut Scoped, of: &StoredOntology, text: &str, summary: &str, by: Option<String>) -> Result<()> {
    let sql = "INSERT INTO ontology_versions (org_id, ontology_id, version, text, summary, saved_by, saved_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let query = sqlx::query(sql)
        .bind(of.org.to_string())
        .bind(of.id.to_string())
        .bind(of.version)
        .bind(text.to_owned())
        .bind(summary.to_owned())
        .bind(by)
        .bind(of.updated_at);
    query.execute(&mut **on).await?;
    Ok(())
}

/// Removes the oldest texts: of the newest `keep` those stay that together have at most so many characters, and the
/// newest whatever it has.
pub async fn prune(
    on: &mut Scoped,
    org: Id<Org>,
    id: Id<StoredOntology>,
    newest: i64,
    (keep, characters): (i64, i64),
) -> Result<()> {
    let sql = "DELETE FROM ontology_versions WHERE org_id = $1 AND ontology_id = $2 AND version < $3 \
               AND (version <= $3 - $4 OR version IN (SELECT version FROM \
               (SELECT version, SUM(LENGTH(text)) OVER (ORDER BY version DESC) AS so_far FROM ontology_versions \
               WHERE org_id = $1 AND ontology_id = $2) AS texts WHERE so_far > $5))";
    let query = sqlx::query(sql).bind(org.to_string()).bind(id.to_string()).bind(newest).bind(keep).bind(characters);
    query.execute(&mut **on).await?;
    Ok(())
}

/// The text of a version.
pub async fn text(on: &mut Scoped, org: Id<Org>, id: Id<StoredOntology>, version: i64) -> Result<Option<String>> {
    let sql = "SELECT text FROM ontology_versions WHERE org_id = $1 AND ontology_id = $2 AND version = $3";
    let query = sqlx::query(sql).bind(org.to_string()).bind(id.to_string()).bind(version);
    Ok(query.fetch_optional(&mut **on).await?.map(|row| row.try_get("text")).transpose()?)
}

/// The kept versions, newest first.
pub async fn history(on: &mut Scoped, org: Id<Org>, id: Id<StoredOntology>) -> Result<Vec<Version>> {
    let sql = "SELECT version, summary, saved_by, saved_at FROM ontology_versions \
               WHERE org_id = $1 AND ontology_id = $2 ORDER BY version DESC";
    let rows = sqlx::query(sql).bind(org.to_string()).bind(id.to_string()).fetch_all(&mut **on).await?;
    let version = |row: &AnyRow| {
        Ok(Version {
            version: row.try_get("version")?,
            summary: row.try_get("summary")?,
            saved_by: row.try_get("saved_by")?,
            saved_at: row.try_get("saved_at")?,
        })
    };
    rows.iter().map(version).collect()
}

/// What was last found.
pub async fn attested(on: &mut Scoped, org: Id<Org>, id: Id<StoredOntology>) -> Result<Option<Attested>> {
    let sql = "SELECT attestation, attested_data FROM ontologies WHERE org_id = $1 AND id = $2";
    let row = sqlx::query(sql).bind(org.to_string()).bind(id.to_string()).fetch_optional(&mut **on).await?;
    row.map(|row| Ok(Attested { found: row.try_get("attestation")?, data: row.try_get("attested_data")? })).transpose()
}

/// A digest of the versions of the data that it was last compared with, without what was found: that may be long.
pub async fn attested_data(on: &mut Scoped, org: Id<Org>, id: Id<StoredOntology>) -> Result<Option<String>> {
    let query = sqlx::query("SELECT attested_data FROM ontologies WHERE org_id = $1 AND id = $2");
    let row = query.bind(org.to_string()).bind(id.to_string()).fetch_optional(&mut **on).await?;
    Ok(row.map(|row| row.try_get("attested_data")).transpose()?)
}

/// Writes what comparing a version with the data came to. `before` is what [`Attested::data`] was when the comparison
/// began; `false` when another text was saved or other data attested meanwhile, or the ontology went.
pub async fn judged(on: &mut Scoped, of: &StoredOntology, attested: &Attested, before: &str) -> Result<bool> {
    let sql = "UPDATE ontologies SET status = $1, problem = $2, attestation = $3, attested_data = $4 \
               WHERE org_id = $5 AND id = $6 AND version = $7 AND attested_data = $8";
    let query = sqlx::query(sql)
        .bind(of.status.name())
        .bind(of.problem.clone())
        .bind(attested.found.clone())
        .bind(attested.data.clone())
        .bind(of.org.to_string())
        .bind(of.id.to_string())
        .bind(of.version)
        .bind(before.to_owned());
    Ok(query.execute(&mut **on).await?.rows_affected() == 1)
}

/// How many a workspace has.
pub async fn count(on: &mut Scoped, org: Id<Org>) -> Result<i64> {
    let query = sqlx::query("SELECT COUNT(*) AS ontologies FROM ontologies WHERE org_id = $1");
    Ok(query.bind(org.to_string()).fetch_one(&mut **on).await?.try_get("ontologies")?)
}

/// Forgets what was found of the data, and says why it cannot be asked. It is compared again when it is asked.
pub async fn unattest(on: &mut Scoped, org: Id<Org>, id: Id<StoredOntology>, problem: &str) -> Result<()> {
    // No digest of data, and not the empty text of one that was never compared.
    let sql = "UPDATE ontologies SET status = 'failed', problem = $1, attestation = NULL, attested_data = 'erased' \
               WHERE org_id = $2 AND id = $3";
    let query = sqlx::query(sql).bind(problem.to_owned()).bind(org.to_string()).bind(id.to_string());
    query.execute(&mut **on).await?;
    Ok(())
}

/// Removes one with everything of it; `false` when there is none.
pub async fn delete(on: &mut Scoped, org: Id<Org>, id: Id<StoredOntology>) -> Result<bool> {
    let query = sqlx::query("DELETE FROM ontologies WHERE org_id = $1 AND id = $2");
    Ok(query.bind(org.to_string()).bind(id.to_string()).execute(&mut **on).await?.rows_affected() == 1)
}

fn read(row: &AnyRow) -> Result<StoredOntology> {
    // Before comparisons wrote nothing until they had ended, one that was cut short left `checking`.
    let status = match row.try_get::<String, _>("status")?.as_str() {
        "checking" => Status::Draft,
        status => Status::parse(status).ok_or_else(|| Error::internal(format!("ontologies.status is {status}")))?,
    };
    Ok(StoredOntology {
        org: row.try_get::<String, _>("org_id")?.parse().map_err(Error::internal)?,
        id: row.try_get::<String, _>("id")?.parse().map_err(Error::internal)?,
        name: row.try_get("name")?,
        description: row.try_get("description")?,
        status,
        problem: row.try_get("problem")?,
        version: row.try_get("version")?,
        dataset_count: row.try_get("dataset_count")?,
        field_count: row.try_get("field_count")?,
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
    })
}
