//! Everything that a database holds, as text: every table of ours and of others, every column, every row.

use dragoman::store::Db;
use sqlx::{AnyPool, AssertSqlSafe};

/// One line a row, `table: values`; the names of tables that have none stand alone. Bytes are written in hex.
pub async fn dump(pool: &AnyPool) -> String {
    let mut text = String::new();
    for table in tables(pool).await {
        text += &format!("== {table}\n");
        for row in rows(pool, &table).await {
            text += &format!("{table}: {row}\n");
        }
    }
    text
}

/// The rows of some tables, to compare with those of another moment.
pub async fn rows_of(db: &Db, tables: &[&str]) -> Vec<String> {
    let mut all = Vec::new();
    for table in tables {
        let mut rows = rows(db.pool(), table).await;
        rows.sort();
        all.extend(rows);
    }
    all
}

async fn tables(pool: &AnyPool) -> Vec<String> {
    let sqlite = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
    let postgres = "SELECT table_schema || '.' || table_name FROM information_schema.tables
                    WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'
                    ORDER BY 1";
    let sql = if is_postgres(pool) { postgres } else { sqlite };
    sqlx::query_scalar(sql).fetch_all(pool).await.unwrap()
}

async fn rows(pool: &AnyPool, table: &str) -> Vec<String> {
    let columns = if is_postgres(pool) {
        "CAST(t.* AS TEXT)".to_owned()
    } else {
        let sql = format!("SELECT name FROM pragma_table_info('{table}')");
        let names: Vec<String> = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(pool).await.unwrap();
        names.iter().map(|name| format!("quote(t.{name})")).collect::<Vec<_>>().join(" || ',' || ")
    };
    // The names come from the database's own catalogue.
    let sql = format!("SELECT {columns} FROM {table} t");
    sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(pool).await.unwrap()
}

/// Whether the pool speaks to PostgreSQL.
pub fn is_postgres(pool: &AnyPool) -> bool {
    pool.connect_options().database_url.scheme().starts_with("postgres")
}
