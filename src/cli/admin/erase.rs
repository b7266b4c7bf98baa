//! `dragoman admin workspace erase`: a customer has left.

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use super::super::door::House;
use super::show::Said;
use crate::base::counted::counted;
use crate::config::Config;
use crate::gateway::Erased;
use crate::identity::Identity;
use crate::model::org::Org;
use crate::store;

/// Erases a workspace, in this process or in the running service that has the data folder.
///
/// # Errors
/// It is not confirmed, and then nothing was changed; it came to no end.
pub(super) async fn erase(identity: &Identity, org: &Org, is_confirmed: bool) -> Result<Said> {
    let slug = &org.slug;
    if !is_confirmed {
        let members = identity.members(org.id).await?.len();
        let datasets = store::datasets::outlines(&mut identity.db().read_tenant(org.id).await?, org.id).await?.len();
        bail!(
            "Nothing was changed. The workspace {slug} ({}) would be erased for good, with {} in all versions, its \
             ontologies, sources, tokens and settings, and the places of {} in it; only a backup brings it back. To erase \
             it:\n  dragoman admin workspace erase {slug} --yes",
            org.name,
            counted(datasets, "dataset"),
            counted(members, "member"),
        );
    }
    let house = House::open(identity.config().clone()).await?;
    let erased = house.erase(org).await;
    house.close().await;
    let erased = erased.with_context(|| {
        format!("the workspace {slug} is not erased as a whole; to end it, run the same command again")
    })?;
    let facts = json!({
        "id": org.id, "slug": org.slug, "erased": true, "people_without_workspace": erased.people,
        "indexes_left": erased.indexes_left,
    });
    Ok(Said { facts, text: told(org, &erased, identity.config()) })
}

/// What is gone, what is left, and what the operator may want to do about it.
fn told(org: &Org, erased: &Erased, config: &Config) -> String {
    let Org { id, slug, .. } = org;
    let mut text = format!(
        "The workspace {slug} is erased, and its name is free. Its record stays until its rows are past their time, and \
         backups have it as long as you keep them. To read the record:\n  dragoman admin audit list --workspace {id}"
    );
    text += &match erased.people.len() {
        0 => String::new(),
        1 => "\nOne person belongs to no workspace now, and keeps the account. To erase it:".to_owned(),
        people => format!("\n{people} people belong to no workspace now, and keep their accounts. To erase them:"),
    };
    text.extend(erased.people.iter().map(|email| format!("\n  dragoman admin person erase {email}")));
    if erased.indexes_left > 0 {
        text += &format!(
            "\nIndexes of its documents that the Qdrant server still has: {}. A running service removes them once the server \
             answers, and without one `dragoman admin repair` does.",
            erased.indexes_left
        );
    }
    let names_it = config.sync_folders.iter().any(|folder| folder.workspace == *slug)
        || config.sync_private_sites.iter().any(|site| site.workspace == *slug);
    if names_it {
        text += &format!(
            "\nDRAGOMAN_SYNC_FOLDERS or DRAGOMAN_SYNC_PRIVATE_SITES names {slug}: take it out, or another workspace of this \
             name may keep documents from there."
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::base::id::Id;

    #[test]
    fn what_is_left_to_do_is_told_and_nothing_else() {
        let id = Id::new(&Clock::manual(1));
        let org = Org { id, slug: "acme".into(), name: "Acme".into(), connectivity_enabled: false, created_at: 0 };
        let with = |folders: &str| {
            let folders = folders.to_owned();
            Config::read(|name| (name == "DRAGOMAN_SYNC_FOLDERS" && !folders.is_empty()).then(|| folders.clone()))
                .unwrap()
        };
        let mut erased = Erased { people: vec![], indexes_left: 0 };
        let said = told(&org, &erased, &with(""));
        assert!(said.ends_with(&format!("\n  dragoman admin audit list --workspace {id}")), "{said}");
        assert_eq!(told(&org, &erased, &with("other/handbook=/srv")), said);

        erased = Erased { people: vec!["ann@example.com".into(), "bob@example.com".into()], indexes_left: 3 };
        let said = told(&org, &erased, &with("acme/handbook=/srv"));
        for line in
            ["2 people belong to no workspace now", "person erase bob@example.com", "still has: 3.", "names acme:"]
        {
            assert!(said.contains(line), "{line}: {said}");
        }
    }
}
