//! What of the operator's own network workspaces may keep documents from. Each is given to one workspace: nobody else's
//! members come to know that it is there.

use std::path::PathBuf;
use std::str::FromStr;

use url::Url;

use crate::base::outbound::Trusted;

/// A web site, or a server that speaks S3's protocol, that is not public, and the workspace that may keep documents from it: `acme=https://wiki.internal`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateSite {
    /// The workspace's slug.
    pub workspace: String,
    pub site: Trusted,
}

impl FromStr for PrivateSite {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (workspace, site) = text.split_once('=').ok_or(())?;
        let url = Url::parse(site.trim()).map_err(drop)?;
        let is_bare =
            url.username().is_empty() && url.password().is_none() && url.path() == "/" && url.query().is_none();
        let site = Trusted::of(&url).filter(|_| is_bare && url.fragment().is_none()).ok_or(())?;
        Ok(Self { workspace: slug(workspace)?, site })
    }
}

/// A folder, and the workspace that may keep documents from it under a name: `acme/handbook=/srv/handbook`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncFolder {
    /// The workspace's slug.
    pub workspace: String,
    /// What its members call it: 1 to 63 of a–z, 0–9, `_` and `-`.
    pub name: String,
    /// From the root.
    pub path: PathBuf,
}

impl FromStr for SyncFolder {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (of, path) = text.split_once('=').ok_or(())?;
        let (workspace, name) = of.split_once('/').ok_or(())?;
        let (name, path) = (name.trim(), PathBuf::from(path.trim()));
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-';
        let is_name = (1..=63).contains(&name.len()) && name.bytes().all(is_plain);
        if is_name && path.is_absolute() {
            Ok(Self { workspace: slug(workspace)?, name: name.to_owned(), path })
        } else {
            Err(())
        }
    }
}

/// A workspace's slug, as far as it can be told from what is none.
fn slug(text: &str) -> Result<String, ()> {
    let text = text.trim();
    let is_plain =
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if is_plain { Ok(text.to_owned()) } else { Err(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_a_workspace_a_name_and_a_path() {
        let folder: SyncFolder = "acme/hand-book=/srv/hand book".parse().unwrap();
        let expected = SyncFolder { workspace: "acme".into(), name: "hand-book".into(), path: "/srv/hand book".into() };
        assert_eq!(folder, expected);
        for bad in [
            "/srv/x", "handbook=/srv/x", "acme/=/srv/x", "/x=/srv/x", "acme/x=srv", "acme/x/y=/srv", "*/x=/srv",
            "acme/X=/srv",
        ] {
            assert!(bad.parse::<SyncFolder>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_private_site_is_a_workspace_and_an_origin() {
        let site: PrivateSite = "acme=https://wiki.internal:8443".parse().unwrap();
        assert_eq!(site.workspace, "acme");
        assert!("acme = http://127.0.0.1:80/".parse::<PrivateSite>().is_ok());
        for bad in [
            "https://wiki.internal",
            "=https://wiki.internal",
            "acme=http://wiki.internal",
            "acme=https://wiki.internal/team",
            "acme=https://ann:secret@wiki.internal",
            "Acme Ltd=https://wiki.internal",
            "*=https://wiki.internal",
        ] {
            assert!(bad.parse::<PrivateSite>().is_err(), "{bad}");
        }
    }
}
