//! A program and its successor over one data folder: who changes the tables of the metadata, and whose workers run.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use dragoman::store::Db;

use crate::stdio::Folder;
use crate::support::program::command;

/// Whether a command worked, and what it complains of.
async fn said(data: &Path, arguments: &[&str]) -> (bool, String) {
    let output = command(data).args(arguments).output().await.unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_changed_by_who_has_the_folder_and_not_beside_it() {
    const LIST: [&str; 5] = ["admin", "token", "list", "--workspace", "acme"];
    let world = Folder::new().await;
    let (mut service, _) = world.serve().await;
    // As an older program has them.
    let db = Db::open_sqlite(&Db::file(&world.data())).await.unwrap();
    for statement in ["ALTER TABLE tasks DROP COLUMN seen", "DELETE FROM _sqlx_migrations WHERE version = 31"] {
        sqlx::query(statement).execute(db.pool()).await.unwrap();
    }
    let applied = async || {
        let count = "SELECT COUNT(*) FROM _sqlx_migrations WHERE version = 31";
        sqlx::query_scalar::<_, i64>(count).fetch_one(db.pool()).await.unwrap()
    };
    let (worked, problem) = said(&world.data(), &LIST).await;
    assert!(!worked && problem.contains("this program needs newer tables than the metadata have"), "{problem}");
    assert_eq!(applied().await, 0);

    service.kill().await.unwrap();
    let (worked, problem) = said(&world.data(), &LIST).await;
    assert!(worked, "{problem}");
    assert_eq!(applied().await, 1);

    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                 SELECT 999, description, success, checksum, execution_time FROM _sqlx_migrations WHERE version = 31";
    sqlx::query(newer).execute(db.pool()).await.unwrap();
    db.close().await;
    for arguments in [&LIST[..], &["serve", "--listen", "127.0.0.1:0"]] {
        let (worked, problem) = said(&world.data(), arguments).await;
        assert!(!worked && problem.contains("was used by a newer program, whose migration 999"), "{problem}");
    }
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
