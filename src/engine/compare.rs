//! Whether the data folder has what the metadata name: a copy that lacks the one or the other is found before somebody asks
//! for what is not there.

use std::collections::HashSet;
use std::io::ErrorKind;

use crate::engine::files::Files;
use crate::model::error::{Error, Result};
use crate::store::Db;
use crate::store::dataset_versions::{OnDisk, on_disk};

/// What was found of the versions that the metadata name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// How many were looked for.
    pub versions: usize,
    /// Files of tables that are not there, or not as long as they were made, each with what is wrong.
    pub tables: Vec<String>,
    /// Indexes of documents that are not there. Those of current versions are made anew of their texts.
    pub indexes: Vec<String>,
}

impl Compared {
    /// One that is not as it should be.
    pub fn first(&self) -> Option<&str> {
        self.tables.iter().chain(&self.indexes).next().map(String::as_str)
    }
}

/// Looks for the data of every version of every workspace, less what is on a Qdrant server.
///
/// # Errors
/// The metadata cannot be read.
pub async fn compare(db: &Db, files: &Files) -> Result<Compared> {
    let named = on_disk(&mut db.read_everyone().await?).await?;
    let mut compared = Compared { versions: named.len(), ..Compared::default() };
    let files = files.clone();
    let look = move || {
        let faults = named.into_iter().filter_map(|version| Some((fault(&files, &version)?, version)));
        faults.collect::<Vec<(String, OnDisk)>>()
    };
    let faults = tokio::task::spawn_blocking(look).await.map_err(Error::internal)?;
    if faults.is_empty() {
        return Ok(compared);
    }
    // One that has ended since it was read is nobody's loss.
    let named: HashSet<OnDisk> = on_disk(&mut db.read_everyone().await?).await?.into_iter().collect();
    for (fault, version) in faults.into_iter().filter(|(_, version)| named.contains(version)) {
        match version.bytes {
            Some(_) => compared.tables.push(fault),
            None => compared.indexes.push(fault),
        }
    }
    Ok(compared)
}

/// What is wrong with the data of a version, if anything is.
fn fault(files: &Files, OnDisk { org, dataset, version, bytes }: &OnDisk) -> Option<String> {
    let place = match bytes {
        Some(_) => files.table(*org, *dataset, version),
        None => files.vectors(*org, *dataset, version),
    };
    let wrong = match (std::fs::metadata(&place), bytes) {
        (Err(problem), _) if problem.kind() == ErrorKind::NotFound => "it is not there".to_owned(),
        (Err(problem), _) => problem.to_string(),
        (Ok(about), Some(made)) if i64::try_from(about.len()) != Ok(*made) => {
            format!("it has {} bytes, and was made with {made}", about.len())
        }
        (Ok(_), _) => return None,
    };
    Some(format!("{}: {wrong}", place.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::base::id::Id;
    use crate::model::cluster_index::{Chain, ClusterIndex, Standing};
    use crate::model::dataset::{Dataset, Kind};
    use crate::model::org::Org;
    use crate::model::version::{How, Version};
    use crate::store;

    fn version(of: &Dataset, version: &str, bytes: i64) -> Version {
        Version {
            org: of.org,
            dataset: of.id,
            version: version.into(),
            how: How::Import,
            row_count: 1,
            bytes,
            columns: vec![],
            source: String::new(),
            files: String::new(),
            made_at: 0,
            made_by: None,
            current_since: 0,
            current_by: None,
        }
    }

    fn on_a_server(of: &Dataset, version: &str, clock: &Clock) -> ClusterIndex {
        let build = Id::new(clock);
        ClusterIndex {
            org: of.org,
            build,
            dataset: of.id,
            version: version.into(),
            encoder: String::new(),
            terms: String::new(),
            cutter: String::new(),
            points: 1,
            chain: Chain::whole(build),
            standing: Standing::Placed,
            touched_at: 0,
        }
    }

    #[tokio::test]
    async fn what_is_not_there_or_not_whole_is_found_of_kept_versions_too() {
        let folder = tempfile::tempdir().unwrap();
        let (db, clock) = (Db::open_sqlite(&Db::file(folder.path())).await.unwrap(), Clock::manual(0));
        let files = Files::new(folder.path()).unwrap();
        assert_eq!(compare(&db, &files).await.unwrap(), Compared::default());

        let id = Id::new(&clock);
        let org = Org { id, slug: "acme".into(), name: "Acme".into(), connectivity_enabled: true, created_at: 0 };
        store::orgs::insert(&mut db.writer().await.unwrap(), &org).await.unwrap();
        let sales = Dataset { version: Some("v2".into()), ..Dataset::new(Id::new(&clock), id, "sales", Kind::Table) };
        let notes =
            Dataset { version: Some("v2".into()), ..Dataset::new(Id::new(&clock), id, "notes", Kind::Documents) };
        let mut tx = db.tenant(id).await.unwrap();
        for dataset in [&sales, &notes] {
            store::datasets::put(&mut tx, dataset).await.unwrap();
            for name in ["v1", "v2"] {
                store::dataset_versions::put(&mut tx, &version(dataset, name, 4)).await.unwrap();
            }
        }
        store::cluster_indexes::insert(&mut tx, &on_a_server(&notes, "v1", &clock)).await.unwrap();
        tx.commit().await.unwrap();
        let [earlier, current] = ["v1", "v2"].map(|name| files.table(id, sales.id, name));
        let index = files.vectors(id, notes.id, "v2");
        std::fs::create_dir_all(current.parent().unwrap()).unwrap();
        std::fs::create_dir_all(&index).unwrap();
        for file in [&earlier, &current] {
            std::fs::write(file, "rows").unwrap();
        }
        let whole = Compared { versions: 3, ..Compared::default() };
        assert_eq!(compare(&db, &files).await.unwrap(), whole, "what is on a server is not looked for here");

        std::fs::remove_file(&earlier).unwrap();
        std::fs::write(&current, "row").unwrap();
        std::fs::remove_dir(&index).unwrap();
        let found = compare(&db, &files).await.unwrap();
        let missing = |place: &std::path::Path| format!("{}: it is not there", place.display());
        let cut = format!("{}: it has 3 bytes, and was made with 4", current.display());
        assert_eq!(found.first(), Some(missing(&earlier).as_str()));
        let expected = Compared { versions: 3, tables: vec![missing(&earlier), cut], indexes: vec![missing(&index)] };
        assert_eq!(found, expected);
    }
}
