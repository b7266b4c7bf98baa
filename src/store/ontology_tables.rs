//! Which tables the kept texts of ontologies use, so that nobody has to read the texts to know.

use sqlx::Row as _;

use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::ontology::StoredOntology;
use crate::model::org::Org;
use crate::store::tenant::Scoped;

/// In the place of a name: the text could not be read, and may use any table.
pub const ANY: &str = "*";

/// In the place of a name: the text uses no table.
pub const NONE: &str = "";

/// A kept text that has or may have a table, or of which that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    pub ontology: Id<StoredOntology>,
    pub version: i64,
    /// It is the newest of the ontology.
    pub is_newest: bool,
}

/// Says which tables a kept text uses; nothing when it is gone.
pub async fn set(on: &mut Scoped, org: Id<Org>, id: Id<StoredOntology>, version: i64, names: &[String]) -> Result<()> {
    let sql = "INSERT INTO ontology_tables (org_id, ontology_id, version, name) \
               SELECT org_id, ontology_id, version, $4 FROM ontology_versions \
               WHERE org_id = $1 AND ontology_id = $2 AND version = $3 ON CONFLICT DO NOTHING";
    for name in names {
        let query = sqlx::query(sql).bind(org.to_string()).bind(id.to_string()).bind(version);
        query.bind(name.to_ascii_lowercase()).execute(&mut **on).await?;
    }
    Ok(())
}

/// Kept texts of a workspace of which it is not known which tables they use.
pub async fn unknown(on: &mut Scoped, org: Id<Org>) -> Result<Vec<Used>> {
    let sql = "SELECT v.ontology_id, v.version, o.version AS newest FROM ontology_versions v \
               JOIN ontologies o ON o.org_id = v.org_id AND o.id = v.ontology_id \
               WHERE v.org_id = $1 AND NOT EXISTS (SELECT 1 FROM ontology_tables t WHERE t.org_id = v.org_id \
               AND t.ontology_id = v.ontology_id AND t.version = v.version) ORDER BY v.ontology_id, v.version";
    sqlx::query(sql).bind(org.to_string()).fetch_all(&mut **on).await?.iter().map(used).collect()
}

/// The ontologies that have or had a table, each with its newest text that has it.
pub async fn using(on: &mut Scoped, org: Id<Org>, table: &str) -> Result<Vec<Used>> {
    let sql = "SELECT t.ontology_id, MAX(t.version) AS version, o.version AS newest FROM ontology_tables t \
               JOIN ontologies o ON o.org_id = t.org_id AND o.id = t.ontology_id \
               WHERE t.org_id = $1 AND t.name IN ($2, '*') GROUP BY t.ontology_id, o.version ORDER BY t.ontology_id";
    let query = sqlx::query(sql).bind(org.to_string()).bind(table.to_ascii_lowercase());
    query.fetch_all(&mut **on).await?.iter().map(used).collect()
}

/// What the newest texts of a workspace use: a name, or what stands for one, each with its ontology.
pub async fn newest(on: &mut Scoped, org: Id<Org>) -> Result<Vec<(Id<StoredOntology>, String)>> {
    let sql = "SELECT t.ontology_id, t.name FROM ontology_tables t \
               JOIN ontologies o ON o.org_id = t.org_id AND o.id = t.ontology_id AND o.version = t.version \
               WHERE t.org_id = $1 ORDER BY t.ontology_id, t.name";
    let rows = sqlx::query(sql).bind(org.to_string()).fetch_all(&mut **on).await?;
    let one = |row: &sqlx::any::AnyRow| {
        let id = row.try_get::<String, _>("ontology_id")?.parse().map_err(Error::internal)?;
        Ok((id, row.try_get("name")?))
    };
    rows.iter().map(one).collect()
}

fn used(row: &sqlx::any::AnyRow) -> Result<Used> {
    let (version, newest): (i64, i64) = (row.try_get("version")?, row.try_get("newest")?);
    let ontology = row.try_get::<String, _>("ontology_id")?.parse().map_err(Error::internal)?;
    Ok(Used { ontology, version, is_newest: version == newest })
}
