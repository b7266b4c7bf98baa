//! What is on this machine: folder, disk, key, metadata, clock, sandbox, and a query and a search from end to end.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde_json::{Value, json};

use super::{Finding, SEALED, State, reach};
use crate::app::{App, Office};
use crate::base::clock::Clock;
use crate::cli::door::{Dataset, Door};
use crate::config::Config;
use crate::model::dataset::IfExists;
use crate::ops::search::Search;
use crate::ops::sql::Sql;
use crate::store::inspect::{self, Standing};
use crate::store::{Db, FolderLock};

const GIB: u64 = 1 << 30;
/// The least room of a service that writes, and the least that an import of the largest upload needs with ease.
const LEAST_ROOM: u64 = GIB / 2;
/// By how much the clock may be behind the newest row of the record, in milliseconds.
const BEHIND: i64 = 60_000;

/// Everything, in the order in which one thing needs the other. `service` is what the one that runs says of itself.
pub(super) async fn all(config: &Config, service: Option<&Value>) -> Vec<Finding> {
    let mut findings = vec![Finding::good("settings", "all of them can be used")];
    let folder = folder(&config.data_dir);
    let is_sound = folder.state != State::Wrong;
    findings.push(folder);
    findings.push(disk(config));
    findings.push(holder(&config.data_dir, service.is_some()));
    findings.push(master_key(config));
    let metadata = standing(config).await;
    findings.push(described(config, metadata.as_ref()));
    let current = metadata.as_ref().is_ok_and(|standing| standing.as_ref().is_some_and(|it| it.missing.is_empty()));
    findings.push(keys(config, current && is_sound).await);
    findings.push(clock(metadata.ok().flatten().and_then(|standing| standing.newest_record)));
    findings.push(sandbox());
    findings.extend(answers(config).await);
    findings.extend(reach::all(config, service).await);
    findings
}

fn folder(folder: &Path) -> Finding {
    const WHAT: &str = "data folder";
    const NEW: &str = "The first start makes it. Where there is one already, name it with --data or DRAGOMAN_DATA_DIR.";
    let name = folder.display();
    let about = match std::fs::metadata(folder) {
        Ok(about) => about,
        Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => {
            return Finding::note(WHAT, format!("{name} is not there yet"), NEW);
        }
        Err(problem) => {
            return Finding::wrong(WHAT, format!("{name}: {problem}"), "Let the user that runs the service reach it.");
        }
    };
    let own = rustix::process::geteuid().as_raw();
    if about.uid() != own {
        let says = format!("{name} belongs to user {}, and this is user {own}", about.uid());
        return Finding::wrong(
            WHAT,
            says,
            "Run this as the user that runs the service, or give the folder to it (chown -R).",
        );
    }
    if about.mode() & 0o077 != 0 {
        let says = format!("others of this machine can look into {name}");
        return Finding::wrong(WHAT, says, format!("chmod 700 {name}"));
    }
    match tempfile::tempfile_in(folder) {
        Ok(_) => Finding::good(WHAT, format!("{name} is private and can be written")),
        Err(problem) => Finding::wrong(
            WHAT,
            format!("{name} cannot be written: {problem}"),
            "Mount it for writing, or free some room.",
        ),
    }
}

fn disk(config: &Config) -> Finding {
    const WHAT: &str = "disk";
    // Of a folder that is to be made, the one that it is made in.
    let there = config.data_dir.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."));
    let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
    let room = match nix::sys::statvfs::statvfs(there) {
        Ok(about) => about.blocks_available() * about.fragment_size(),
        Err(problem) => return Finding::skipped(WHAT, format!("its room cannot be told: {problem}")),
    };
    let wanted = config.limits.budgets.upload_bytes.saturating_mul(3);
    let says = format!("{:.1} GiB are free", room as f64 / GIB as f64);
    let mend = "Free some, or move the folder to a larger disk and name it with DRAGOMAN_DATA_DIR.";
    if room < LEAST_ROOM {
        return Finding::wrong(WHAT, says, mend);
    }
    if room < wanted {
        let says =
            format!("{says}; the import of a file of the largest size needs up to {:.1}", wanted as f64 / GIB as f64);
        return Finding::note(WHAT, says, mend);
    }
    Finding::good(WHAT, says)
}

/// Who has the folder.
fn holder(folder: &Path, runs: bool) -> Finding {
    const WHAT: &str = "service";
    if runs {
        return Finding::good(WHAT, "it runs and answers at the socket in the data folder");
    }
    if !FolderLock::is_taken(folder) {
        return Finding::note(WHAT, "it does not run", "Start it with: dragoman serve");
    }
    Finding::wrong(
        WHAT,
        "a process has the data folder and does not answer at its socket",
        "When it is a long import or a service that is just starting, wait. Otherwise end it, and start the service again.",
    )
}

fn master_key(config: &Config) -> Finding {
    const WHAT: &str = "master key";
    let file = config.data_dir.join("master.key");
    let name = file.display();
    if config.master_key.is_some() {
        return match file.exists() {
            true => Finding::note(
                WHAT,
                format!("DRAGOMAN_MASTER_KEY is used, and {name} is not"),
                "Remove the file if nothing was sealed with it.",
            ),
            false => Finding::good(WHAT, "DRAGOMAN_MASTER_KEY is set"),
        };
    }
    let several = config.database_url.is_some();
    match std::fs::metadata(&file) {
        Ok(about) if about.mode() & 0o077 != 0 => {
            Finding::wrong(WHAT, format!("others of this machine can read {name}"), format!("chmod 600 {name}"))
        }
        Ok(_) if several => Finding::note(
            WHAT,
            format!("{name} is this node's own"),
            "Where several nodes share the database, set DRAGOMAN_MASTER_KEY to the same on all. Keep a copy of it elsewhere.",
        ),
        Ok(_) => Finding::good(WHAT, format!("{name} is private; a backup of the folder has to have it")),
        Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => {
            Finding::note(WHAT, format!("{name} is not there yet"), "The first start makes it.")
        }
        Err(problem) => {
            Finding::wrong(WHAT, format!("{name}: {problem}"), "Let the user that runs the service read it.")
        }
    }
}

/// How the metadata stand; `None` where there are none yet.
async fn standing(config: &Config) -> sqlx::Result<Option<Standing>> {
    match &config.database_url {
        Some(url) => inspect::postgres(url).await.map(Some),
        None => {
            let file = Db::file(&config.data_dir);
            if file.exists() { inspect::sqlite(&file).await.map(Some) } else { Ok(None) }
        }
    }
}

fn described(config: &Config, found: Result<&Option<Standing>, &sqlx::Error>) -> Finding {
    const WHAT: &str = "database";
    let place = if config.database_url.is_some() { "PostgreSQL at DATABASE_URL" } else { "SQLite in the data folder" };
    match found {
        Err(problem) => Finding::wrong(
            WHAT,
            // The text of a connection's failure may have its address in it.
            format!("{place} cannot be read ({})", kind(problem)),
            "Is it running, and are host, database, user and password right? `psql` with the same address tells more.",
        ),
        Ok(None) => Finding::note(WHAT, format!("{place} is not there yet"), "The first start makes it."),
        Ok(Some(standing)) if !standing.unknown.is_empty() => Finding::wrong(
            WHAT,
            format!("{place} was used by a newer program: migrations {:?} are not known to this one", standing.unknown),
            "Run the newer version of dragoman, or restore the backup from before.",
        ),
        Ok(Some(standing)) if !standing.missing.is_empty() => Finding::note(
            WHAT,
            format!("{place} has migration {}, and this program has {} more", standing.newest, standing.missing.len()),
            "The next start of the service applies them. Back up first.",
        ),
        Ok(Some(standing)) => Finding::good(WHAT, format!("{place} answers, with migration {}", standing.newest)),
    }
}

fn kind(problem: &sqlx::Error) -> &'static str {
    match problem {
        sqlx::Error::Configuration(_) => "the address cannot be read",
        sqlx::Error::Io(_) => "nobody answers",
        sqlx::Error::Tls(_) => "TLS fails",
        sqlx::Error::Database(_) => "it refuses",
        sqlx::Error::PoolTimedOut => "it takes too long",
        _ => "it fails",
    }
}

/// Whether what is sealed in the metadata can be opened with this key. Only where nothing is to be migrated: a look
/// changes nothing.
async fn keys(config: &Config, current: bool) -> Finding {
    const WHAT: &str = SEALED;
    if !current {
        return Finding::skipped(WHAT, "folder and database have to be sound, and the database that of this program");
    }
    match Office::open(config.clone(), Clock::system()).await {
        Ok(office) => {
            office.close().await;
            Finding::good(WHAT, "they can be opened with the master key")
        }
        Err(problem) => Finding::wrong(
            WHAT,
            format!("{problem:#}"),
            "Restore the master key with which this database was used: another one opens nothing.",
        ),
    }
}

fn clock(newest_record: Option<i64>) -> Finding {
    const WHAT: &str = "clock";
    let now = Clock::system().now();
    match newest_record {
        Some(at) if at > now + BEHIND => Finding::wrong(
            WHAT,
            format!("it is {} s behind the newest row of the record", (at - now) / 1000),
            "Set it, and keep it by NTP: tokens and the record live by it.",
        ),
        _ => Finding::good(WHAT, crate::base::clock::rfc3339(now)),
    }
}

fn sandbox() -> Finding {
    const WHAT: &str = "worker sandbox";
    let modules = std::fs::read_to_string("/sys/kernel/security/lsm");
    let landlock = modules.as_ref().map(|names| names.split(',').any(|name| name.trim() == "landlock"));
    let seccomp = Path::new("/proc/sys/kernel/seccomp/actions_avail").exists();
    match (landlock, seccomp) {
        (_, false) => Finding::wrong(WHAT, "this kernel has no seccomp", "Use a kernel with CONFIG_SECCOMP_FILTER."),
        (Ok(false), _) => Finding::note(
            WHAT,
            "this kernel does not enforce Landlock: queries are kept from files by DuckDB's settings and seccomp alone",
            "Use a kernel of 6.2 or later with landlock among its modules (lsm=…).",
        ),
        (Ok(true), _) => Finding::good(WHAT, "seccomp and Landlock"),
        (Err(_), _) => Finding::good(WHAT, "seccomp; whether Landlock is enforced cannot be seen from here"),
    }
}

/// A query and a search over data of its own, in a folder that is gone afterwards.
async fn answers(config: &Config) -> Vec<Finding> {
    const QUERY: &str = "query";
    const MODEL: &str = "search model";
    let mend = "The log of `DRAGOMAN_LOG=debug dragoman doctor` says more. A container needs no rights for it, but room in \
                its temporary folder.";
    let tried = async {
        let folder = tempfile::tempdir()?;
        let mut own = config.clone();
        own.data_dir = folder.path().join("data");
        (own.database_url, own.master_key, own.admin_listen) = (None, None, None);
        own.qdrant = None;
        let app = App::open(own, Clock::system()).await?;
        let org = app.office.identity.create_org("doctor", "doctor").await?;
        let door = Door::of(&app, &org);
        let csv = folder.path().join("numbers.csv");
        std::fs::write(&csv, "n\n40\n2\n")?;
        let text = folder.path().join("notes.md");
        std::fs::write(&text, "# Notes\n\nThe ferry leaves at noon.\n")?;
        let query = query(&door, csv).await;
        let search = search(&door, text).await;
        app.close().await;
        anyhow::Ok((query, search))
    };
    match tried.await {
        Err(problem) => vec![
            Finding::wrong(QUERY, format!("{problem:#}"), mend),
            Finding::skipped(MODEL, "nothing could be imported"),
        ],
        Ok((query, search)) => {
            [(QUERY, "a table was imported and asked", query), (MODEL, "a text was imported and found", search)]
                .into_iter()
                .map(|(what, says, tried)| match tried {
                    Ok(()) => Finding::good(what, says),
                    Err(problem) => Finding::wrong(what, format!("{problem:#}"), mend),
                })
                .collect()
        }
    }
}

async fn query(door: &Door<'_>, file: std::path::PathBuf) -> anyhow::Result<()> {
    door.import(dataset(file), false).await?;
    let answer = door.call::<Sql>(json!({ "sql": "SELECT sum(n)::BIGINT AS n FROM numbers" })).await?;
    anyhow::ensure!(answer.pointer("/rows/0/0") == Some(&json!(42)), "40 and 2 are {answer}");
    Ok(())
}

async fn search(door: &Door<'_>, file: std::path::PathBuf) -> anyhow::Result<()> {
    door.import(dataset(file), false).await?;
    let answer = door.call::<Search>(json!({ "query": "When does the boat go?" })).await?;
    anyhow::ensure!(answer.get("degraded").is_none_or(|it| *it != json!(true)), "vectors could not be searched");
    let found = answer.pointer("/matches/0/text").and_then(serde_json::Value::as_str).unwrap_or_default();
    anyhow::ensure!(found.contains("noon"), "the text was not found");
    Ok(())
}

fn dataset(file: std::path::PathBuf) -> Dataset {
    Dataset {
        name: None,
        description: String::new(),
        publish: false,
        if_exists: IfExists::Replace,
        files: vec![file],
        columns: vec![],
    }
}
