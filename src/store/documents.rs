//! Documents: the whole texts behind a documents dataset. Versions share the rows of texts that did not change; a text
//! that is replaced keeps its id and gets a row of its own. What a document's id finds is in the version that its dataset
//! names now.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::base::id::Id;
use crate::model::dataset::Dataset;
use crate::model::document::{Document, DocumentRow, Markup, digest};
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::store::tenant::Scoped;
use crate::store::{Backend, places};

const SELECT: &str = "SELECT d.org_id, d.id, d.document_id, d.dataset_id, m.version, d.title, d.source_file, d.body, \
                      d.markup, d.facts, d.created_at";

/// Documents that one statement adds to a version or takes from it: a version may have hundreds of thousands.
pub const AT_ONCE: usize = 500;
/// Documents that one statement adds with their texts, and bytes of these, where they are not one document's.
const ROWS: usize = 100;
const TEXTS: usize = 4 << 20;
/// Values of a document's row.
const COLUMNS: usize = 12;

/// What tells a document from others, without its text.
#[derive(Clone, Debug)]
pub struct Outline {
    pub id: Id<Document>,
    pub row: Id<DocumentRow>,
    pub source_file: String,
    /// [`digest`] of it, in hexadecimal; empty for texts of before there were any.
    pub digest: String,
}

/// Lets documents come before the dataset that they are of, until the transaction ends.
pub async fn come_first(on: &mut Scoped, backend: Backend) -> Result<()> {
    let sql = match backend {
        Backend::Sqlite => "PRAGMA defer_foreign_keys = ON",
        Backend::Postgres => "SET CONSTRAINTS ALL DEFERRED",
    };
    sqlx::query(sql).execute(&mut **on).await?;
    Ok(())
}

/// Adds documents to a version: those that are `fresh`, and as they are some that an earlier one has.
pub async fn add(
    on: &mut Scoped,
    org: Id<Org>,
    dataset: Id<Dataset>,
    version: &str,
    fresh: &[Document],
    shared: &[Id<DocumentRow>],
) -> Result<()> {
    let mut rest = fresh;
    while !rest.is_empty() {
        let (some, later) = rest.split_at(together(rest));
        insert(on, some).await?;
        rest = later;
    }
    let rows: Vec<Id<DocumentRow>> = fresh.iter().map(|fresh| fresh.row).chain(shared.iter().copied()).collect();
    for rows in rows.chunks(AT_ONCE) {
        let marks: Vec<String> = (0..rows.len()).map(|row| format!("($1, $2, $3, ${})", row + 4)).collect();
        let sql =
            format!("INSERT INTO version_documents (org_id, dataset_id, version, row_id) VALUES {}", marks.join(", "));
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).bind(dataset.to_string());
        let mut query = query.bind(version.to_owned());
        for row in rows {
            query = query.bind(row.to_string());
        }
        query.execute(&mut **on).await?;
    }
    Ok(())
}

/// How many of these documents, from the first on, one statement adds.
fn together(documents: &[Document]) -> usize {
    let mut bytes = 0;
    let fits = |document: &&Document| {
        bytes += document.text.len();
        bytes <= TEXTS
    };
    documents.iter().take(ROWS).take_while(fits).count().max(1)
}

/// Adds documents by one statement.
async fn insert(on: &mut Scoped, documents: &[Document]) -> Result<()> {
    let rows: Vec<String> =
        (0..documents.len()).map(|row| format!("({})", places(row * COLUMNS + 1, COLUMNS))).collect();
    let sql = format!(
        "INSERT INTO documents (org_id, id, dataset_id, version, title, source_file, body, created_at, document_id, \
         digest, markup, facts) VALUES {}",
        rows.join(", ")
    );
    // Its text has as many forms as there are numbers of documents: the engines are not to keep them all.
    let mut query = sqlx::query::<sqlx::Any>(sqlx::AssertSqlSafe(sql)).persistent(false);
    for document in documents {
        query = query
            .bind(document.org.to_string())
            .bind(document.row.to_string())
            .bind(document.dataset.to_string())
            .bind(document.version.clone())
            .bind(document.title.clone())
            .bind(document.source_file.clone())
            .bind(document.text.clone())
            .bind(document.created_at)
            .bind(document.id.to_string())
            .bind(digest(&document.text, &document.facts))
            .bind(document.markup.name())
            .bind(serde_json::to_string(&document.facts).map_err(Error::internal)?);
    }
    query.execute(&mut **on).await?;
    Ok(())
}

/// Takes [`AT_ONCE`] documents from a version, and removes those of them that no other version has. `false` where it has none.
pub async fn let_go(on: &mut Scoped, org: Id<Org>, dataset: Id<Dataset>, version: &str) -> Result<bool> {
    const OF_VERSION: &str = "version_documents WHERE org_id = $1 AND dataset_id = $2 AND version = $3";
    let sql = format!("SELECT row_id FROM {OF_VERSION} LIMIT {AT_ONCE}");
    let query = sqlx::query_scalar::<_, String>(sqlx::AssertSqlSafe(sql)).bind(org.to_string());
    let rows = query.bind(dataset.to_string()).bind(version.to_owned()).fetch_all(&mut **on).await?;
    if rows.is_empty() {
        return Ok(false);
    }
    let sql = format!("DELETE FROM {OF_VERSION} AND row_id IN ({})", places(4, rows.len()));
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).bind(dataset.to_string());
    let query = query.bind(version.to_owned());
    rows.iter().fold(query, |query, row| query.bind(row.clone())).execute(&mut **on).await?;
    let sql = format!(
        "DELETE FROM documents WHERE org_id = $1 AND id IN ({}) AND NOT EXISTS \
         (SELECT 1 FROM version_documents d WHERE d.org_id = documents.org_id AND d.row_id = documents.id)",
        places(2, rows.len())
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string());
    rows.iter().fold(query, |query, row| query.bind(row.clone())).execute(&mut **on).await?;
    Ok(true)
}

/// One document of a dataset's version, if it is there.
pub async fn by_id(
    on: &mut Scoped,
    org: Id<Org>,
    dataset: Id<Dataset>,
    version: &str,
    id: Id<Document>,
) -> Result<Option<Document>> {
    // Left to itself, SQLite goes through all documents of the version: it takes tables of a CROSS JOIN in their order.
    let sql = format!(
        "{SELECT} FROM documents d CROSS JOIN version_documents m WHERE d.org_id = $1 AND d.document_id = $2 \
         AND m.org_id = $1 AND m.dataset_id = $3 AND m.version = $4 AND m.row_id = d.id"
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).bind(id.to_string());
    let row = query.bind(dataset.to_string()).bind(version.to_owned()).fetch_optional(&mut **on).await?;
    row.as_ref().map(read).transpose()
}

/// The dataset that has a document in its current version, if there is one in the workspace.
pub async fn dataset_of(on: &mut Scoped, org: Id<Org>, id: Id<Document>) -> Result<Option<Id<Dataset>>> {
    // As in [`by_id`].
    let sql = "SELECT d.dataset_id FROM documents d CROSS JOIN datasets s CROSS JOIN version_documents m \
               WHERE d.org_id = $1 AND d.document_id = $2 AND s.org_id = $1 AND s.id = d.dataset_id \
               AND m.org_id = $1 AND m.dataset_id = d.dataset_id AND m.version = s.version AND m.row_id = d.id";
    let row = sqlx::query(sql).bind(org.to_string()).bind(id.to_string()).fetch_optional(&mut **on).await?;
    row.map(|row| row.try_get::<String, _>("dataset_id")?.parse().map_err(Error::internal)).transpose()
}

/// The documents of a dataset's version, by source file.
pub async fn list(on: &mut Scoped, org: Id<Org>, dataset: Id<Dataset>, version: &str) -> Result<Vec<Document>> {
    let sql = format!(
        "{SELECT} FROM version_documents m JOIN documents d ON d.org_id = m.org_id AND d.id = m.row_id \
         WHERE m.org_id = $1 AND m.dataset_id = $2 AND m.version = $3 ORDER BY d.source_file, d.document_id"
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string());
    let query = query.bind(dataset.to_string()).bind(version.to_owned());
    query.fetch_all(&mut **on).await?.iter().map(read).collect()
}

/// The documents of a dataset's version without their texts, by source file.
pub async fn outlines(on: &mut Scoped, org: Id<Org>, dataset: Id<Dataset>, version: &str) -> Result<Vec<Outline>> {
    let sql = "SELECT d.document_id, d.id, d.source_file, d.digest FROM version_documents m \
               JOIN documents d ON d.org_id = m.org_id AND d.id = m.row_id \
               WHERE m.org_id = $1 AND m.dataset_id = $2 AND m.version = $3 ORDER BY d.source_file, d.document_id";
    let query = sqlx::query(sql).bind(org.to_string()).bind(dataset.to_string()).bind(version.to_owned());
    let outline = |row: &AnyRow| {
        Ok(Outline {
            id: row.try_get::<String, _>("document_id")?.parse().map_err(Error::internal)?,
            row: row.try_get::<String, _>("id")?.parse().map_err(Error::internal)?,
            source_file: row.try_get("source_file")?,
            digest: row.try_get("digest")?,
        })
    };
    query.fetch_all(&mut **on).await?.iter().map(outline).collect()
}

/// A document as a list has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title {
    pub id: Id<Document>,
    pub title: String,
    pub source_file: String,
}

/// At most `most` documents of a dataset's version after the first `skipped`, by source file.
pub async fn titles(
    on: &mut Scoped,
    org: Id<Org>,
    dataset: Id<Dataset>,
    version: &str,
    skipped: usize,
    most: usize,
) -> Result<Vec<Title>> {
    let sql = "SELECT d.document_id, d.title, d.source_file FROM version_documents m \
               JOIN documents d ON d.org_id = m.org_id AND d.id = m.row_id \
               WHERE m.org_id = $1 AND m.dataset_id = $2 AND m.version = $3 \
               ORDER BY d.source_file, d.document_id LIMIT $4 OFFSET $5";
    let query = sqlx::query(sql).bind(org.to_string()).bind(dataset.to_string()).bind(version.to_owned());
    let number = |number: usize| i64::try_from(number).map_err(Error::internal);
    let query = query.bind(number(most)?).bind(number(skipped)?);
    let title = |row: &AnyRow| {
        Ok(Title {
            id: row.try_get::<String, _>("document_id")?.parse().map_err(Error::internal)?,
            title: row.try_get("title")?,
            source_file: row.try_get("source_file")?,
        })
    };
    query.fetch_all(&mut **on).await?.iter().map(title).collect()
}

/// How many documents each version of each dataset of the workspace has.
pub async fn counts(on: &mut Scoped, org: Id<Org>) -> Result<Vec<(Id<Dataset>, String, i64)>> {
    let sql = "SELECT dataset_id, version, COUNT(*) AS documents FROM version_documents WHERE org_id = $1 \
               GROUP BY dataset_id, version";
    let rows = sqlx::query(sql).bind(org.to_string()).fetch_all(&mut **on).await?;
    let count = |row: &AnyRow| {
        let dataset = row.try_get::<String, _>("dataset_id")?.parse().map_err(Error::internal)?;
        Ok((dataset, row.try_get("version")?, row.try_get("documents")?))
    };
    rows.iter().map(count).collect()
}

fn read(row: &AnyRow) -> Result<Document> {
    let source_file: String = row.try_get("source_file")?;
    Ok(Document {
        org: row.try_get::<String, _>("org_id")?.parse().map_err(Error::internal)?,
        id: row.try_get::<String, _>("document_id")?.parse().map_err(Error::internal)?,
        row: row.try_get::<String, _>("id")?.parse().map_err(Error::internal)?,
        dataset: row.try_get::<String, _>("dataset_id")?.parse().map_err(Error::internal)?,
        version: row.try_get("version")?,
        title: row.try_get("title")?,
        text: row.try_get("body")?,
        markup: Markup::stored(&row.try_get::<String, _>("markup")?, &source_file),
        facts: serde_json::from_str(&row.try_get::<String, _>("facts")?).map_err(Error::internal)?,
        source_file,
        created_at: row.try_get("created_at")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::model::document::Facts;
    use crate::store::{Db, orgs};

    #[tokio::test]
    async fn a_version_shares_as_many_documents_as_it_may_have_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open_sqlite(&folder.path().join("metadata.sqlite")).await.unwrap();
        let clock = Clock::manual(1);
        let org = Org {
            id: Id::new(&clock),
            slug: "acme".into(),
            name: "Acme".into(),
            connectivity_enabled: true,
            created_at: 0,
        };
        orgs::insert(&mut db.writer().await.unwrap(), &org).await.unwrap();
        let dataset: Id<Dataset> = Id::new(&clock);
        let mut tx = db.tenant(org.id).await.unwrap();
        let sql = "INSERT INTO datasets (org_id, id, name, description, kind, externally_queryable, version, row_count, \
                   bytes, columns_json, source, created_at, updated_at) \
                   VALUES ($1, $2, 'notes', '', 'documents', 0, 'v2', 0, 0, '[]', '', 0, 0)";
        let query = sqlx::query(sql).bind(org.id.to_string()).bind(dataset.to_string());
        query.execute(&mut *tx).await.unwrap();
        let mut documents = Vec::new();
        for at in 0..AT_ONCE * 4 + 2 {
            documents.push(Document {
                id: Id::new(&clock),
                row: Id::new(&clock),
                org: org.id,
                dataset,
                version: "v1".into(),
                title: String::new(),
                source_file: format!("{at:05}.txt"),
                text: at.to_string(),
                markup: Markup::Plain,
                facts: Facts::new(),
                created_at: 0,
            });
        }
        let rows: Vec<Id<DocumentRow>> = documents.iter().map(|document| document.row).collect();
        add(&mut tx, org.id, dataset, "v1", &documents, &[]).await.unwrap();
        add(&mut tx, org.id, dataset, "v2", &[], &rows[1..]).await.unwrap();
        add(&mut tx, org.id, dataset, "v3", &[], &[]).await.unwrap();
        let of = async |on: &mut Scoped, version: &str| -> Vec<Id<DocumentRow>> {
            let found = outlines(on, org.id, dataset, version).await.unwrap();
            found.into_iter().map(|outline| outline.row).collect()
        };
        assert_eq!(of(&mut tx, "v1").await, rows);
        assert_eq!(of(&mut tx, "v2").await, rows[1..]);
        assert!(of(&mut tx, "v3").await.is_empty());
        let page = titles(&mut tx, org.id, dataset, "v2", 2, 2).await.unwrap();
        assert_eq!(page.iter().map(|one| one.id).collect::<Vec<_>>(), [documents[3].id, documents[4].id]);
        assert!(titles(&mut tx, org.id, dataset, "v2", AT_ONCE * 4 + 1, 2).await.unwrap().is_empty());

        let mut turns = 0;
        while let_go(&mut tx, org.id, dataset, "v1").await.unwrap() {
            turns += 1;
        }
        assert_eq!(turns, 5, "2,002 documents");
        assert!(of(&mut tx, "v1").await.is_empty());
        assert_eq!(of(&mut tx, "v2").await, rows[1..], "what another version has stays");
        let all = sqlx::query_scalar::<_, i64>("SELECT COUNT(*) FROM documents").fetch_one(&mut *tx).await.unwrap();
        assert_eq!(all, 2_001, "and what none has is gone");

        assert_eq!(together(&documents), ROWS);
        documents[1].text = "x".repeat(TEXTS);
        assert_eq!(together(&documents), 1, "the second is as much as a statement has");
        assert_eq!(together(&documents[1..]), 1, "and goes alone");
    }
}
