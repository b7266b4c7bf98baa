//! The command line as an operator uses it, with the real program on a fresh folder.

use std::path::Path;
use std::process::{Command, Output};

use dragoman::base::clock::Clock;
use dragoman::store::{self, Db};
use serde_json::{Value, json};

fn dragoman(data: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dragoman")).arg("--data").arg(data).args(arguments).output().unwrap()
}

/// The facts of a command that must work.
fn facts(data: &Path, arguments: &[&str]) -> Value {
    let output = dragoman(data, &[arguments, &["--json"]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a command that must fail says.
fn complaint(data: &Path, arguments: &[&str]) -> String {
    let output = dragoman(data, arguments);
    assert!(!output.status.success(), "{arguments:?} works");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn from_an_empty_folder_to_published_data_and_a_whole_record() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    facts(&data, &["admin", "workspace", "create", "acme", "--name", "Acme"]);
    let person = facts(&data, &["admin", "person", "create", "Ann@Example.com"]);
    assert!(person["password"].as_str().unwrap().len() >= 16);
    facts(&data, &["admin", "role", "set", "ann@example.com", "contributor", "--workspace", "acme"]);

    let csv = folder.path().join("Sales 2026.csv");
    std::fs::write(&csv, "region,total\nnorth,1.50\nsouth,2.50\n").unwrap();
    let file = csv.to_str().unwrap();
    let imported = facts(&data, &["import", file, "--workspace", "acme", "--publish"]);
    assert_eq!((&imported["name"], &imported["row_count"]), (&"sales_2026".into(), &2.into()));
    assert_eq!(imported["published"], true);
    let again = dragoman(&data, &["import", file, "--workspace", "acme"]);
    let said = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(said.contains("bytes), published\n"), "it stays so: {said}");
    let named = dragoman(&data, &["import", file, "--workspace", "acme", "--name", "Sales_EU"]);
    let (said, told) = (String::from_utf8_lossy(&named.stdout), String::from_utf8_lossy(&named.stderr));
    assert!(named.status.success() && said.starts_with("sales_eu (table"), "{said} {told}");
    assert!(told.contains("named sales_eu: names of datasets are in lower case"), "{told}");
    let notes = folder.path().join("notes.md");
    std::fs::write(&notes, "# Notes\n\nA text.\n").unwrap();
    let both = dragoman(&data, &["import", file, notes.to_str().unwrap(), "--workspace", "acme"]);
    let said = String::from_utf8_lossy(&both.stdout).into_owned();
    assert!(said.contains("sales_2026") && said.contains("documents") && said.contains("not published"), "{said}");

    // What keeps a column from being numbers is told, and how it becomes some.
    let few = folder.path().join("few.csv");
    std::fs::write(&few, "a\n1\n-\n2\n").unwrap();
    let workbook = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/documents/harbour.xlsx");
    let told = dragoman(&data, &["import", workbook, "--workspace", "acme", "--check"]);
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("2 sheets, each a dataset: harbour_berths, harbour_ships_2024;"), "{told}");
    let refused = complaint(&data, &["import", folder.path().to_str().unwrap(), "--workspace", "acme"]);
    assert!(refused.contains("is a folder: name its files"), "{refused}");
    let told = dragoman(&data, &["import", workbook, "--workspace", "acme"]);
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("harbour_berths (table, ") && told.contains("harbour_ships_2024 (table, 2 rows)"), "{told}");
    let import = ["import", few.to_str().unwrap(), "--workspace", "acme"];
    let said = |more: &[&str]| {
        let output = dragoman(&data, &[&import[..], more].concat());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let found = said(&["--check"]);
    assert!(found.contains("(table, 3 rows), not imported") && found.contains("1 is not: \"-\" (line 3)."), "{found}");
    let made = said(&["--type", "a=BIGINT"]);
    assert!(made.contains("a: 1 of 3 values says nothing and is left empty: \"-\" (line 3)."), "{made}");
    std::fs::write(&few, "a\n1\n").unwrap();
    assert!(said(&[]).contains("(table, 1 row, "), "one is one");

    let record = facts(&data, &["admin", "audit", "list"]);
    let actions: Vec<&str> =
        record.as_array().unwrap().iter().map(|row| row["entry"]["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["admin.role.set", "admin.person.create", "admin.workspace.create"], "newest first");
    assert_eq!(facts(&data, &["admin", "audit", "verify", "--workspace", "acme"])["whole"], true);
}

/// As when the disk is full just then: a secret that is not shown is lost.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_done_is_told_although_it_cannot_be_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    facts(&data, &["admin", "workspace", "create", "acme"]);
    let db = Db::open_sqlite(&Db::file(&data)).await.unwrap();
    let refuse = "CREATE TRIGGER refused BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no room'); END";
    sqlx::query(refuse).execute(db.pool()).await.unwrap();
    db.close().await;
    for (line, secret) in [
        ("admin token create --workspace acme --label x --scopes ext:sql", "dgmcp_"),
        ("admin person create ann@example.com", "Password (not shown again): "),
    ] {
        let output = dragoman(&data, &line.split(' ').collect::<Vec<_>>());
        let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(said.contains(secret), "{said} {errors}");
        assert!(!output.status.success() && errors.contains("is not on the record"), "{errors}");
    }
}

/// `dragoman import a.csv b.csv 2>&1 | head -1`, whose reader has gone by the second line.
#[test]
fn a_command_whose_words_nobody_reads_does_all_that_it_was_asked() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    facts(&data, &["admin", "workspace", "create", "acme"]);
    let files = ["north", "south"].map(|name| {
        let file = folder.path().join(name).with_extension("csv");
        std::fs::write(&file, "region,total\nnorth,1.50\nsouth,2.50\n").unwrap();
        file
    });
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut import = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    import.arg("--data").arg(&data).arg("import").args(&files).args(["--workspace", "acme"]);
    assert!(import.stdout(writer.try_clone().unwrap()).stderr(writer).status().unwrap().success());
    for name in ["north", "south"] {
        facts(&data, &["admin", "dataset", "versions", name, "--workspace", "acme"]);
    }
}

/// A shell has settings of its own, or none: how long the service keeps things is in others.
#[tokio::test]
async fn no_command_deletes_what_settings_keep_for_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let org = facts(&data, &["admin", "workspace", "create", "acme"])["id"].clone();
    let entry = json!({
        "at": Clock::system().now() - 500 * 24 * 60 * 60 * 1000, "org": org, "principal": "local", "client": "",
        "client_version": "", "session": "", "ip": "", "request_id": "", "action": "admin.old", "target": "",
        "outcome": "ok", "duration_ms": 0, "rows": 0, "bytes": 0,
    });
    let db = Db::open_sqlite(&Db::file(&data)).await.unwrap();
    store::audit::append(&db, vec![serde_json::from_value(entry).unwrap()], vec![]).await.unwrap();
    db.close().await;
    let csv = folder.path().join("sales.csv");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
        command.arg("--data").arg(&data).args(arguments).env("DRAGOMAN_VERSIONS", "1");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    for content in ["a\n1\n", "a\n1\n2\n"] {
        std::fs::write(&csv, content).unwrap();
        run(&["import", csv.to_str().unwrap(), "--workspace", "acme"]);
    }
    run(&["ontology", "list", "--workspace", "acme"]);
    run(&["admin", "repair"]);
    let kept = facts(&data, &["admin", "dataset", "versions", "sales", "--workspace", "acme"]);
    assert_eq!(kept["versions"].as_array().unwrap().len(), 2, "{kept}");
    let record = facts(&data, &["admin", "audit", "list", "--workspace", "acme"]);
    assert!(record.as_array().unwrap().iter().any(|row| row["entry"]["action"] == "admin.old"), "{record}");
}

#[test]
fn a_command_that_finds_no_data_says_where_it_looked_and_makes_none() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("a.csv");
    std::fs::write(&csv, "a\n1\n").unwrap();
    let run = |arguments: &[&str], here: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
        command.args(arguments).current_dir(here).env_remove("DRAGOMAN_DATA_DIR").env("DRAGOMAN_TOKEN", "x");
        command.output().unwrap()
    };
    let here = folder.path().join("here");
    std::fs::create_dir(&here).unwrap();
    for arguments in [
        &["import", csv.to_str().unwrap(), "--workspace", "acme"][..],
        &["admin", "person", "create", "ann@example.com"],
        &["admin", "workspace", "list"],
        &["admin", "repair"],
        &["admin", "dataset", "versions", "a", "--workspace", "acme"],
        &["ontology", "draft", "--workspace", "acme"],
        &["stdio"],
    ] {
        let output = run(arguments, &here);
        let said = String::from_utf8_lossy(&output.stderr);
        let looked = here.canonicalize().unwrap().join("data").display().to_string();
        assert!(!output.status.success() && said.contains(&looked), "{arguments:?}: {said}");
        assert!(said.contains("--data DIR") && said.contains("DRAGOMAN_DATA_DIR"), "{arguments:?}: {said}");
        assert_eq!(std::fs::read_dir(&here).unwrap().count(), 0, "{arguments:?} made something");
    }
    // The first step of an installation makes one, and says where.
    let made = run(&["admin", "workspace", "create", "acme"], &here);
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success() && said.contains("made a new data folder: ") && said.contains("here/data"), "{said}");
    let second = run(&["admin", "workspace", "create", "other"], &here);
    assert!(second.status.success() && second.stderr.is_empty(), "{second:?}");
}

#[test]
fn every_stage_of_an_answer_is_told_to_who_asks_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    facts(&data, &["admin", "workspace", "create", "acme"]);
    let (csv, document) = (folder.path().join("sales.csv"), folder.path().join("sales.yaml"));
    std::fs::write(&csv, "sale_id,region,amount\n1,north,1.50\n2,south,2.50\n3,south,4.00\n").unwrap();
    facts(&data, &["import", csv.to_str().unwrap(), "--workspace", "acme"]);
    let drafted = dragoman(&data, &["ontology", "draft", "--workspace", "acme"]);
    std::fs::write(&document, &drafted.stdout).unwrap();
    facts(&data, &["ontology", "save", document.to_str().unwrap(), "--workspace", "acme"]);

    let explain = |question: &str| facts(&data, &["ontology", "explain", question, "--workspace", "acme"]);
    let stages = |explained: &Value| -> Vec<String> {
        let stages = explained["stages"].as_array().unwrap().iter();
        stages.map(|stage| stage["name"].as_str().unwrap().to_owned()).collect()
    };
    let made = |explained: &Value, name: &str| {
        let stages = explained["stages"].as_array().unwrap();
        let stage = stages.iter().find(|stage| stage["name"] == name);
        stage.map(|stage| stage["made"].as_str().unwrap().to_owned()).unwrap_or_default()
    };
    let answered = explain("How many sales are there by region?");
    assert_eq!(answered["outcome"], "answer", "{answered}");
    let names = stages(&answered);
    let places: Vec<Option<usize>> =
        "question items sketch resolved plan account sql run verification narrative chart lineage"
            .split(' ')
            .map(|name| names.iter().position(|stage| stage == name))
            .collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{names:?}");
    assert!(made(&answered, "sql").contains("SELECT") && made(&answered, "items").contains("region"), "{answered}");
    let of = |name: &str| serde_json::from_str::<Value>(&made(&answered, name)).unwrap();
    assert_eq!(of("run")["rows"].as_array().unwrap().len(), 2, "{answered}");
    assert_eq!((&of("chart")[0]["type"], &of("lineage")["rowCount"]), (&"bar".into(), &2.into()), "{answered}");

    // Why there is nothing.
    let nothing = explain("How many sales in region south with sale id over 100 are there?");
    assert_eq!(nothing["outcome"], "answer", "{nothing}");
    assert!(made(&nothing, "relax").contains("there are 2 rows"), "{nothing}");

    // Where it ends without an answer is where it went wrong.
    let declined = explain("How many zorped sales are there?");
    assert_ne!(declined["outcome"], "answer", "{declined}");
    let names = stages(&declined);
    assert!(names.iter().any(|name| name == "items") && !names.iter().any(|name| name == "sql"), "{names:?}");
    let printed = dragoman(&data, &["ontology", "explain", "number of sales", "--workspace", "acme"]);
    assert!(String::from_utf8_lossy(&printed.stdout).contains("== sketch\n"));
}

#[test]
fn a_draft_says_why_each_column_is_what_it_is_to_who_asks_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    facts(&data, &["admin", "workspace", "create", "acme"]);
    let row =
        |id: usize| format!("{id},{},{id}.50,2026-01-{id:02},p{id}@example.com\n", ["open", "paid", "lost"][id % 3]);
    let csv = folder.path().join("sales.csv");
    let rows: String = (1..=12).map(row).collect();
    std::fs::write(&csv, format!("sale_id,status,amount_eur,sold_on,email\n{rows}")).unwrap();
    facts(&data, &["import", csv.to_str().unwrap(), "--workspace", "acme"]);
    let draft = ["ontology", "draft", "--workspace", "acme"];
    let explained = dragoman(&data, &[&draft[..], &["--explain"]].concat());
    let said = String::from_utf8(explained.stderr).unwrap();
    let (measure, sum) = ("Measure: It is called like an amount.", "Added up: It is called like a part of a whole.");
    let amount = format!("  amount_eur  {measure} {sum} In EUR: Its name says so.");
    for line in [
        "sales",
        "  sale_id     Key: It is in the key.",
        "  status      Dimension: It is a text. Closed set: It has 3 different values in 12 rows.",
        amount.as_str(),
    ] {
        assert!(said.lines().any(|it| it == line), "{line}: {said}");
    }
    let of = |column: &str| said.lines().find(|line| line.starts_with(&format!("  {column} "))).unwrap_or_default();
    assert!(of("sold_on").contains("  Dimension: It is a time, by its type. When rows happen: "), "{said}");
    assert!(of("email").contains(" Personal: Its name and its values are those of e-mail addresses."), "{said}");
    // It is said beside the document, and only to who asks.
    let plain = dragoman(&data, &draft);
    assert_eq!(plain.stdout, explained.stdout);
    assert!(!String::from_utf8_lossy(&plain.stderr).contains("Measure: "), "{plain:?}");
}

#[test]
fn mistakes_are_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    facts(&data, &["admin", "workspace", "create", "acme"]);
    let ragged = folder.path().join("bad.csv");
    std::fs::write(&ragged, "a,b\n1,2\n3,4,5,6\n").unwrap();
    let bad = ragged.to_str().unwrap();
    let program = folder.path().join("data.exe");
    std::fs::write(&program, b"MZ\x90\0\x03\0\0\0").unwrap();
    let program = program.to_str().unwrap();
    for (arguments, words) in [
        (vec!["import", bad, "--workspace", "nowhere"], vec!["no workspace", "nowhere"]),
        (vec!["import", bad, "--workspace", "acme"], vec!["3"]),
        (vec!["import", "missing.csv", "--workspace", "acme"], vec!["missing.csv"]),
        (vec!["import", program, "--workspace", "acme"], vec!["data.exe", "Parquet", "PDF"]),
        (
            vec!["admin", "role", "set", "nobody@example.com", "admin", "--workspace", "acme"],
            vec!["nobody@example.com"],
        ),
        (vec!["serve", "--demo", "--listen", "0.0.0.0:0"], vec!["DRAGOMAN_PUBLIC_URL"]),
    ] {
        let said = complaint(&data, &arguments);
        assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
        assert!(!said.contains("panicked"), "{said}");
    }
    assert!(!data.join("workspaces").join("staging").exists());
}

#[test]
fn an_operator_erases_a_workspace_while_no_service_runs() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let made = facts(&data, &["admin", "workspace", "create", "acme", "--admin", "ann@example.com"]);
    let (id, csv) = (made["id"].as_str().unwrap(), folder.path().join("sales.csv"));
    std::fs::write(&csv, "a\n1\n2\n").unwrap();
    facts(&data, &["import", csv.to_str().unwrap(), "--workspace", "acme"]);
    let erase = ["admin", "workspace", "erase", "acme"];
    let refused = complaint(&data, &erase);
    assert!(refused.contains("1 dataset in all versions") && refused.contains("1 member in it"), "{refused}");
    let output = dragoman(&data, &[&erase[..], &["--yes"]].concat());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.ends_with("To erase it:\n  dragoman admin person erase ann@example.com\n"), "{said}");
    assert_eq!(std::fs::read_dir(data.join("workspaces")).unwrap().count(), 0);
    assert!(complaint(&data, &[&erase[..], &["--yes"]].concat()).contains("no workspace"));
    assert_eq!(facts(&data, &["admin", "audit", "verify", "--workspace", id])["whole"], true);
    facts(&data, &["admin", "person", "erase", "ann@example.com"]);
    let repaired = facts(&data, &["admin", "repair"]);
    assert_eq!((&repaired["audit"]["whole"], &repaired["data"]["versions"]), (&json!(true), &json!(0)), "{repaired}");
    facts(&data, &["admin", "workspace", "create", "acme"]);
}

#[test]
fn an_operator_erases_a_dataset_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    facts(&data, &["admin", "workspace", "create", "acme"]);
    let csv = folder.path().join("sales.csv");
    std::fs::write(&csv, "a\n1\n2\n").unwrap();
    let imported = facts(&data, &["import", csv.to_str().unwrap(), "--workspace", "acme"]);
    let delete = ["admin", "dataset", "delete", "sales", "--workspace"];
    assert!(complaint(&data, &[&delete[..], &["nowhere"]].concat()).contains("no workspace"));
    assert!(complaint(&data, &["admin", "dataset", "delete", "x", "--workspace", "acme"]).contains("no dataset \"x\""));
    let deleted = facts(&data, &[&delete[..], &["acme"]].concat());
    assert_eq!((&deleted["dataset_id"], &deleted["row_count"]), (&imported["dataset_id"], &2.into()));
    assert!(complaint(&data, &[&delete[..], &["acme"]].concat()).contains("no dataset"));
    let record = facts(&data, &["admin", "audit", "list", "--workspace", "acme"]);
    let deletions = record.as_array().unwrap().iter().filter(|row| row["entry"]["action"] == "admin.dataset.delete");
    assert_eq!(deletions.count(), 1, "{record}");
}

#[test]
fn a_token_is_rotated_and_both_are_in_force_for_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    facts(&data, &["admin", "workspace", "create", "acme"]);
    let create = ["admin", "token", "create", "--workspace", "acme", "--label", "nightly", "--scopes", "ext:sql"];
    let made = facts(&data, &create);
    let id = made["id"].as_str().unwrap();
    let rotated = facts(&data, &["admin", "token", "rotate", id, "--workspace", "acme", "--overlap", "5"]);
    assert!(rotated["token"].as_str().unwrap().starts_with("dgmcp_") && rotated["id"] != made["id"], "{rotated}");
    let listed = facts(&data, &["admin", "token", "list", "--workspace", "acme"]);
    let old = listed.as_array().unwrap().iter().find(|token| token["id"] == id).unwrap();
    assert_eq!((&old["replaced_by"], old["expires_at"].is_string()), (&rotated["id"], true), "{listed}");
    let again = complaint(&data, &["admin", "token", "rotate", id, "--workspace", "acme"]);
    assert!(again.contains("rotated already"), "{again}");
    let long =
        ["admin", "token", "rotate", rotated["id"].as_str().unwrap(), "--workspace", "acme", "--overlap", "99999"];
    assert!(complaint(&data, &long).contains("10080 minutes"));
    assert_eq!(facts(&data, &["admin", "audit", "list"])[0]["entry"]["action"], "admin.token.rotate");
}

#[test]
fn a_filter_of_the_log_that_cannot_be_read_is_named_with_the_other_settings_and_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    command.arg("--data").arg(folder.path()).args(["admin", "workspace", "create", "acme"]);
    let output = command.env("DRAGOMAN_LOG", "dragoman=hunter2").env("DRAGOMAN_SQL_ROWS", "0").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("DRAGOMAN_LOG: "), "{said}");
    assert!(said.contains("DRAGOMAN_SQL_ROWS") && !said.contains("hunter2"), "{said}");
}
