//! `dragoman admin repair`: what the service does by itself in time, now.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::show::Said;
use crate::identity::Identity;
use crate::identity::checkpoint::Broken;

pub(super) async fn repair(identity: &Identity) -> Result<Said> {
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
    let text = format!("{text}\nNo entry of the audit log is missing or changed.");
    Ok(Said { facts: json!({ "deleted": swept, "audit": { "whole": true } }), text })
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
