//! `dragoman admin repair`: what the service does by itself in time, now.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::super::door::House;
use super::show::Said;
use crate::app::Office;
use crate::base::json::put;
use crate::config::Config;
use crate::engine::compare::Compared;
use crate::gateway::Renewed;
use crate::identity::Identity;
use crate::identity::checkpoint::Broken;

/// Who looked after the indexes of documents.
#[derive(Clone, Copy, Debug)]
pub enum Indexes {
    /// This process.
    Here(Renewed),
    /// The running service, which always does.
    Elsewhere,
}

impl Indexes {
    /// Makes those anew that are no good, where no service is running that does.
    ///
    /// # Errors
    /// The data folder is in use, and nobody answers there.
    pub(in crate::cli) async fn mend(config: Config) -> Result<Self> {
        let house = House::open(config).await?;
        let mended = match &house {
            House::Own(app) => app.gateway.renew_once().await.map(Self::Here),
            House::Running { .. } => Ok(Self::Elsewhere),
        };
        house.close().await;
        Ok(mended?)
    }

    fn text(self) -> String {
        match self {
            Self::Elsewhere => {
                "The running service makes indexes of documents anew by itself where they need it.".into()
            }
            Self::Here(Renewed { encoded: 0, rebuilt: 0, failed: 0, unknown: 0, removed: 0 }) => {
                "Every index of documents is sound.".into()
            }
            Self::Here(Renewed { encoded, rebuilt, failed, unknown, removed }) => format!(
                "Indexes of documents: {rebuilt} made anew of their texts, {encoded} got new vectors, {removed} of no version \
                 removed, {failed} could not be mended, {unknown} could not be checked{}",
                if failed + unknown == 0 { "." } else { ": see above." }
            ),
        }
    }

    /// Whether all are known to be sound now, as far as this process looked.
    ///
    /// # Errors
    /// How many are not.
    pub(in crate::cli) fn are_sound(self) -> Result<()> {
        match self {
            Self::Here(Renewed { failed, unknown, .. }) if failed + unknown > 0 => {
                bail!("{failed} indexes of documents could not be mended, and {unknown} not be checked")
            }
            Self::Here(_) | Self::Elsewhere => Ok(()),
        }
    }
}

/// What the data folder has of what the metadata name.
#[derive(Clone, Debug)]
pub struct Data {
    found: Compared,
    /// Other nodes may have the rest.
    is_shared: bool,
}

impl Data {
    /// Compares them.
    ///
    /// # Errors
    /// The data folder or the metadata cannot be read.
    pub(in crate::cli) async fn compare(office: &Office) -> Result<Self> {
        Ok(Self { found: office.compare().await?, is_shared: office.config.database_url.is_some() })
    }

    fn text(&self) -> String {
        let Compared { versions, tables, indexes } = &self.found;
        if tables.is_empty() && indexes.is_empty() {
            return format!("The data folder has all {versions} versions of datasets.");
        }
        let elsewhere = if self.is_shared { ": they are on another node, or were lost" } else { "" };
        let lines = tables.iter().chain(indexes).map(|line| format!("\n  {line}"));
        format!(
            "Of {versions} versions of datasets {} tables and {} indexes of documents are not in the data folder as they \
             were made{elsewhere}:{}",
            tables.len(),
            indexes.len(),
            lines.collect::<String>()
        )
    }

    /// Whether every table is here that can be on no other node.
    ///
    /// # Errors
    /// How many are not.
    pub(in crate::cli) fn is_here(&self) -> Result<()> {
        match self.found.tables.len() {
            0 => Ok(()),
            _ if self.is_shared => Ok(()),
            lost => bail!(
                "{lost} tables are not in the data folder as they were made: restore the folder workspaces in it, of the \
                 backup that these metadata are of"
            ),
        }
    }
}

pub(super) async fn repair(identity: &Identity, indexes: Option<Indexes>, data: Option<Data>) -> Result<Said> {
    let swept = identity.sweep().await?;
    whole(&identity.check_audit(None).await?)?;
    let text = match &swept {
        None => "Another process is cleaning up just now.".to_owned(),
        Some(swept) if swept.is_empty() => "Nothing is past its time.".to_owned(),
        Some(swept) => {
            let kinds = swept.iter().map(|(kind, count)| format!("{count} {kind}"));
            format!("Deleted what was past its time: {}.", kinds.collect::<Vec<_>>().join(", "))
        }
    };
    let swept: Option<Value> = swept.map(|swept| swept.into_iter().map(|(kind, count)| (kind, json!(count))).collect());
    let mut text = format!("{text}\nNo entry of the audit log is missing or changed.");
    let mut facts = json!({ "deleted": swept, "audit": { "whole": true } });
    if let Some(indexes) = indexes {
        text = format!("{text}\n{}", indexes.text());
    }
    if let Some(Indexes::Here(Renewed { encoded, rebuilt, failed, unknown, removed })) = indexes {
        let counts = json!({
            "encoded": encoded, "rebuilt": rebuilt, "removed": removed, "failed": failed, "unknown": unknown,
        });
        put(&mut facts, "indexes", counts);
    }
    if let Some(data) = data {
        text = format!("{text}\n{}", data.text());
        let Compared { versions, tables, indexes } = &data.found;
        put(&mut facts, "data", json!({ "versions": versions, "tables": tables, "indexes": indexes }));
    }
    Ok(Said { facts, text })
}

/// Fails with every chain that is broken.
pub(super) fn whole(broken: &[Broken]) -> Result<()> {
    if broken.is_empty() {
        return Ok(());
    }
    let line = |broken: &Broken| match broken.chain.as_str() {
        "-" => format!("entries about no workspace: {}", broken.what),
        org => format!("workspace {org}: {}", broken.what),
    };
    bail!("the audit log is not whole:\n  {}", broken.iter().map(line).collect::<Vec<_>>().join("\n  "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_broken_chain_is_named() {
        whole(&[]).unwrap();
        let broken = |chain: &str, what: &str| Broken { chain: chain.into(), what: what.into() };
        let refused = whole(&[broken("-", "entry 1 is missing"), broken("x", "entry 2 is missing")]).unwrap_err();
        let expected = "the audit log is not whole:\n  entries about no workspace: entry 1 is missing\n  \
                        workspace x: entry 2 is missing";
        assert_eq!(refused.to_string(), expected);
    }
}
