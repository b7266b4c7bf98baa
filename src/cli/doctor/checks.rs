//! What is on this machine: folder, disk, key, metadata, clock, sandbox, and a query and a search from end to end.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Finding, SEALED, State, reach};
use crate::app::{App, Office, standing};
use crate::base::clock::{Clock, rfc3339};
use crate::cli::door::{Dataset, Door};
use crate::config::{Config, Limits};
use crate::engine::compare::Compared;
use crate::engine::files::Disk;
use crate::model::dataset::IfExists;
use crate::ops::search::Search;
use crate::ops::sql::Sql;
use crate::store::FolderLock;
use crate::store::inspect::Standing;

const GIB: u64 = 1 << 30;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The check of what the metadata name.
const DATA: &str = "data";
/// By how much the clock may be behind the newest row of the record, in milliseconds.
const BEHIND: i64 = 60_000;
/// And ahead of how far clean-up has come.
const AHEAD: i64 = 24 * 60 * 60 * 1000;

/// Everything, in the order in which one thing needs the other. `service` is what the one that runs says of itself.
pub(super) async fn all(config: &Config, service: Option<&Value>) -> Vec<Finding> {
    let mut findings = vec![settings(&config.limits)];
    let folder = folder(&config.data_dir);
    let is_sound = folder.state != State::Wrong;
    findings.push(folder);
    findings.push(disk(config));
    findings.push(holder(&config.data_dir, service.is_some()));
    findings.push(master_key(config));
    let metadata = standing(config).await;
    findings.push(described(config, metadata.as_ref()));
    let current = metadata.as_ref().is_ok_and(|standing| standing.as_ref().is_some_and(|it| it.missing.is_empty()));
    findings.extend(opened(config, current && is_sound).await);
    findings.push(clock(metadata.ok().flatten().as_ref()));
    findings.push(sandbox());
    findings.extend(answers(config).await);
    findings.extend(reach::all(config, service).await);
    findings
}

/// Those that can be used, and that hardly anybody means.
fn settings(limits: &Limits) -> Finding {
    const WHAT: &str = "settings";
    let lifetimes = &limits.lifetimes;
    let strange = [
        (lifetimes.access > DAY, "DRAGOMAN_ACCESS_TTL is more than a day: so long a leaked access token can be used"),
        (
            lifetimes.step_up > DAY,
            "DRAGOMAN_STEP_UP_TTL is more than a day: who finds a browser open is asked for no sign-in",
        ),
        (
            lifetimes.audit.is_some_and(|kept| kept < 30 * DAY),
            "DRAGOMAN_AUDIT_DAYS is less than 30: the record ends early",
        ),
        (limits.budgets.keep.versions == 1, "DRAGOMAN_VERSIONS is 1: nothing that an import replaces can be restored"),
    ];
    let strange: Vec<&str> = strange.into_iter().filter(|(is_so, _)| *is_so).map(|(_, says)| says).collect();
    match strange.is_empty() {
        true => Finding::good(WHAT, "all of them can be used"),
        false => Finding::note(
            WHAT,
            strange.join("; "),
            "See that it is meant so: docs/settings.md has what they are without.",
        ),
    }
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
    let disk = match Disk::under(there) {
        Ok(disk) => disk,
        Err(problem) => return Finding::skipped(WHAT, format!("its room cannot be told: {problem}")),
    };
    let gib = |bytes: u64| format!("{:.1}", bytes as f64 / GIB as f64);
    let kept_free = disk.kept_free(config.limits.budgets.keep.free);
    // What an import of the largest upload needs with ease.
    let wanted = config.limits.budgets.upload_bytes.saturating_mul(3).saturating_add(kept_free);
    let says = format!("{} GiB are free", gib(disk.room));
    let mend = "Free some, or move the folder to a larger disk and name it with DRAGOMAN_DATA_DIR.";
    if disk.room < kept_free {
        let says = format!("{says}; new data are refused below {}", gib(kept_free));
        return Finding::wrong(WHAT, says, mend);
    }
    if disk.room < wanted {
        let says = format!("{says}; the import of a file of the largest size needs up to {}", gib(wanted));
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

/// Whether what is sealed in the metadata can be opened with this key, and whether the data that they name are there. Only
/// where nothing is to be migrated: a look changes nothing.
async fn opened(config: &Config, current: bool) -> [Finding; 2] {
    const WHAT: &str = SEALED;
    let unknown = Finding::skipped(DATA, "the metadata that name them cannot be opened");
    if !current {
        let says = "folder and database have to be sound, and the database that of this program";
        return [Finding::skipped(WHAT, says), unknown];
    }
    match Office::open(config.clone(), Clock::system()).await {
        Ok(office) => {
            let found = office.compare().await;
            office.close().await;
            let data = match found {
                Ok(found) => data(&found, config.database_url.is_some()),
                Err(problem) => {
                    Finding::wrong(DATA, format!("{problem:#}"), "Let the service read its folder and database.")
                }
            };
            [Finding::good(WHAT, "they can be opened with the master key"), data]
        }
        Err(problem) => {
            let mend = "Restore the master key with which this database was used: another one opens nothing.";
            [Finding::wrong(WHAT, format!("{problem:#}"), mend), unknown]
        }
    }
}

/// Nothing of people's is told: places have ids for names. Tables that are not here may be on another node where metadata
/// are shared.
fn data(found: &Compared, is_shared: bool) -> Finding {
    let Compared { versions, tables, indexes } = found;
    let Some(first) = found.first() else {
        return Finding::good(DATA, format!("all {versions} versions that the metadata name are in the folder"));
    };
    let says = format!(
        "of {versions} versions that the metadata name {} tables and {} indexes of documents are not in the folder as they \
         were made; the first is {first}",
        tables.len(),
        indexes.len()
    );
    let restore = "Restore the folder workspaces in the data folder, of the backup that these metadata are of, or delete \
                   these datasets and import them anew. `dragoman admin repair` lists all.";
    match (tables.is_empty(), is_shared) {
        (true, _) => Finding::note(
            DATA,
            says,
            "The service makes those of current versions anew of their texts. Earlier versions without one cannot be restored.",
        ),
        (false, true) => {
            Finding::note(DATA, says, format!("Another node may have them. If none of them has: {restore}"))
        }
        (false, false) => Finding::wrong(DATA, says, restore),
    }
}

fn clock(standing: Option<&Standing>) -> Finding {
    const WHAT: &str = "clock";
    let now = Clock::system().now();
    let newest = standing.and_then(|standing| standing.newest_record);
    let upto = standing.and_then(|standing| standing.clean_up).map(|mark| mark.upto);
    match (newest, upto) {
        (Some(at), _) if at > now + BEHIND => Finding::wrong(
            WHAT,
            format!("it is {} s behind the newest row of the record", (at - now) / 1000),
            "Set it, and keep it by NTP: tokens and the record live by it.",
        ),
        (_, Some(upto)) if now > upto + AHEAD => Finding::note(
            WHAT,
            format!("it is {}, and clean-up has come to {}", rfc3339(now), rfc3339(upto)),
            "Where the service did not run for so long, clean-up catches up by itself, a day in an hour. Otherwise the \
             clock is wrong: set it now, and keep it by NTP.",
        ),
        _ => Finding::good(WHAT, rfc3339(now)),
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
        // Those are of the data folder and its disk.
        (own.limits.budgets.keep.workspace, own.limits.budgets.keep.free) = (None, None);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sweep::Mark;

    #[test]
    fn a_clock_that_is_far_from_what_the_metadata_know_is_pointed_out() {
        let now = Clock::system().now();
        let found = |record: i64, upto: i64| {
            let (newest_record, clean_up) = (Some(record), Some(Mark { upto, seen: now }));
            clock(Some(&Standing { newest: 1, missing: vec![], unknown: vec![], newest_record, clean_up }))
        };
        assert_eq!(clock(None).state, State::Good);
        assert_eq!(found(now, now - AHEAD / 2).state, State::Good);
        assert_eq!(found(now + 2 * BEHIND, now).state, State::Wrong);
        let ahead = found(now, now - 3 * AHEAD);
        assert!(ahead.state == State::Note && ahead.mend.contains("a day in an hour"), "{ahead:?}");
    }
}
