//! A program and its successor over one data folder: who changes the tables of the metadata, and whose workers run.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use dragoman::base::secret::Secret;
use dragoman::store::{Db, OpenError};

use crate::stdio::Folder;
use crate::support::databases::postgres_url;
use crate::support::program::command;

const LIST: [&str; 5] = ["admin", "token", "list", "--workspace", "acme"];
const SERVE: [&str; 3] = ["serve", "--listen", "127.0.0.1:0"];
/// The process of PostgreSQL that has the tables for a node.
const HOLDER: &str = "SELECT CAST(l.pid AS BIGINT) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
     WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.mode = 'ShareLock'";

/// Whether a command worked, and what it complains of.
async fn said(data: &Path, arguments: &[&str]) -> (bool, String) {
    said_over("", data, arguments).await
}

/// As [`said`], with the metadata in PostgreSQL at `url`.
async fn said_over(url: &str, data: &Path, arguments: &[&str]) -> (bool, String) {
    let output = command(data).env("DATABASE_URL", url).args(arguments).output().await.unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

/// Makes the tables as an older program has them.
async fn age(db: &Db) {
    for statement in ["ALTER TABLE tasks DROP COLUMN seen", "DELETE FROM _sqlx_migrations WHERE version = 31"] {
        sqlx::query(statement).execute(db.pool()).await.unwrap();
    }
}

/// How often the newer program's change was made.
async fn applied(db: &Db) -> i64 {
    let count = "SELECT COUNT(*) FROM _sqlx_migrations WHERE version = 31";
    sqlx::query_scalar(count).fetch_one(db.pool()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_changed_by_who_has_the_folder_and_not_beside_it() {
    let world = Folder::new().await;
    let (mut service, _) = world.serve().await;
    let db = Db::open_sqlite(&Db::file(&world.data())).await.unwrap();
    age(&db).await;
    let (worked, problem) = said(&world.data(), &LIST).await;
    assert!(!worked && problem.contains("this program needs newer tables than the metadata have"), "{problem}");
    assert_eq!(applied(&db).await, 0);

    service.kill().await.unwrap();
    let (worked, problem) = said(&world.data(), &LIST).await;
    assert!(worked, "{problem}");
    assert_eq!(applied(&db).await, 1);

    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                 SELECT 999, description, success, checksum, execution_time FROM _sqlx_migrations WHERE version = 31";
    sqlx::query(newer).execute(db.pool()).await.unwrap();
    db.close().await;
    for arguments in [&LIST[..], &SERVE] {
        let (worked, problem) = said(&world.data(), arguments).await;
        assert!(!worked && problem.contains("was used by a newer program, whose migration 999"), "{problem}");
    }
}

/// Nodes have folders of their own: that nobody has this one says nothing of the others.
#[tokio::test(flavor = "multi_thread")]
async fn tables_that_another_node_uses_are_not_changed() {
    let url = postgres_url().await;
    let secret = Secret::new(url.clone());
    // Of two that start over an empty database one makes the tables, and both have them.
    let (node, other) = tokio::join!(Db::open_postgres(&secret), Db::open_postgres(&secret));
    let (node, other) = (node.unwrap(), other.unwrap());
    age(&node).await;
    other.close().await;

    let name = concat!("dragoman ", env!("CARGO_PKG_VERSION"));
    let used =
        format!("newer tables than the metadata have, and others use these as they are: {name}. Stop the service");
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&LIST[..], &SERVE] {
        let (worked, problem) = said_over(&url, &folder.path().join("data"), arguments).await;
        assert!(!worked && problem.contains(&used), "{problem}");
    }
    assert_eq!(applied(&node).await, 0);

    // A node that has lost its connection takes hold again.
    let holder = async || sqlx::query_scalar::<_, i64>(HOLDER).fetch_optional(node.pool()).await.unwrap();
    let before = holder().await.unwrap();
    let end = sqlx::query_scalar::<_, bool>("SELECT pg_terminate_backend(CAST($1 AS INT))").bind(before);
    assert!(end.fetch_one(node.pool()).await.unwrap());
    let again = async {
        while holder().await.is_none_or(|now| now == before) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), again).await.expect("it takes hold again");
    let refused = Db::open_postgres(&secret).await.unwrap_err();
    assert!(matches!(&refused, OpenError::InUse(by) if by == name), "{refused}");

    node.close().await;
    let newer = Db::open_postgres(&secret).await.unwrap();
    assert_eq!(applied(&newer).await, 1);
    let beside = Db::open_postgres(&secret).await.expect("nothing is to be changed");
    beside.close().await;
    newer.close().await;
}

/// As the update of a package does.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_goes_on_with_its_own_workers_after_its_file_was_replaced() {
    let world = Folder::new().await;
    let program = Path::new(env!("CARGO_BIN_EXE_dragoman"));
    // On the same disk, where a file has two names at no cost.
    let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
    let file = folder.path().join("dragoman");
    std::fs::hard_link(program, &file).unwrap();
    let (mut service, _) = world.serve_by(&file).await;
    let successor = folder.path().join("successor");
    std::fs::write(&successor, "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(&successor, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::rename(&successor, &file).unwrap();
    // More than there are workers that were started before.
    let csv = world.folder.path().join("costs.csv");
    for n in 0..6 {
        std::fs::write(&csv, format!("n\n{n}\n")).unwrap();
        let imported = world.facts(&["import", csv.to_str().unwrap(), "--workspace", "acme"]).await;
        assert_eq!(imported["row_count"], 1, "{imported}");
    }
    service.kill().await.unwrap();
}
