//! The forms that keep documents from a place outside: a web site, a folder of the operator's, a bucket.
//! Their fields are called as the operation calls them: what is wrong with one is said there.

use crate::model::error::{Error, Result};
use crate::model::sync::{Bucket, Site};
use crate::ops::document_syncs::SetSync;
use crate::surface::form::Params;

/// Minutes from run to run, as the forms offer them.
pub(super) const TIMES: [(&str, &str); 4] =
    [("", "when somebody asks"), ("60", "every hour"), ("1440", "every day"), ("10080", "every week")];

/// A form that was refused.
pub(super) struct Sent<'a> {
    pub(super) params: &'a Params,
    /// What was wrong, and the name of what it was wrong with, where it has one.
    pub(super) problem: &'a str,
    pub(super) field: &'a str,
}

/// The name of what was wrong; empty where nothing was, or the error has no name for it.
pub(super) fn wrong_field<T>(changed: &Result<T>) -> String {
    let named = changed.as_ref().err().and_then(|error| error.details.get("field")?.as_str());
    named.unwrap_or_default().to_owned()
}

/// A form.
pub(super) struct Form {
    /// What it does, as it is sent.
    pub(super) does: &'static str,
    pub(super) title: &'static str,
    /// It was refused.
    pub(super) is_open: bool,
    pub(super) fields: Vec<Field>,
}

/// A field of one.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) help: &'static str,
    /// As HTML calls it.
    pub(super) kind: &'static str,
    pub(super) required: bool,
    /// Values and their words, where it is one of several.
    pub(super) choices: Vec<(String, String)>,
    pub(super) value: String,
    /// What was wrong with it.
    pub(super) wrong: String,
}

fn field(name: &'static str, label: &'static str, help: &'static str) -> Field {
    let (value, wrong) = (String::new(), String::new());
    Field { name, label, help, kind: "text", required: false, choices: vec![], value, wrong }
}

fn needed(field: Field) -> Field {
    Field { required: true, ..field }
}

/// The forms, with what was typed in the one that was refused; `folders` are those that the operator gave. Documents that are
/// new have to be named.
pub(super) fn forms(folders: &[String], are_new: bool, sent: Option<&Sent<'_>>) -> Vec<Form> {
    let form = |does, title, fields| form(does, title, are_new, fields, sent);
    let site = vec![
        needed(field(
            "site.sitemap",
            "Address of its sitemap",
            "Such as https://www.example.com/sitemap.xml. Most sites name it in their robots.txt.",
        )),
        field(
            "site.paths",
            "Only pages below",
            "Paths with blanks between them, such as /docs /help. All pages when empty.",
        ),
    ];
    let named = folders.iter().map(|name| (name.clone(), name.clone())).collect();
    let folder = vec![Field {
        choices: named,
        ..field("folder", "Folder", "One of those that the operator gave to this workspace.")
    }];
    let bucket = vec![
        needed(field("bucket.name", "Name of the bucket", "Without the address, such as acme-docs.")),
        field(
            "bucket.region",
            "Region",
            "Where the bucket is, such as eu-central-1. Servers other than Amazon's may do without.",
        ),
        field("bucket.prefix", "Only keys that begin with", "Such as handbook/. All objects when empty."),
        field("bucket.endpoint", "Address of the server", "Such as https://minio.example.com. Amazon's when empty."),
        field(
            "bucket.access_key_id",
            "Access key",
            "One that may list and read the bucket, and nothing more. Empty for a bucket that is open to everybody.",
        ),
        Field {
            kind: "password",
            ..field("secret_access_key", "Secret of the access key", "It is kept sealed, and shown to nobody.")
        },
    ];
    let mut forms = vec![form("keep-site", "From a web site", site)];
    if !folders.is_empty() {
        forms.push(form("keep-folder", "From a folder", folder));
    }
    forms.push(form("keep-bucket", "From a bucket of S3", bucket));
    forms
}

fn form(does: &'static str, title: &'static str, is_new: bool, fields: Vec<Field>, sent: Option<&Sent<'_>>) -> Form {
    let name = needed(field(
        "name",
        "Name of the documents",
        "Small letters, digits and _, such as handbook. They are a dataset when the first run has ended.",
    ));
    let sent = sent.filter(|sent| sent.params.get("do") == Some(does));
    let times = TIMES.iter().map(|(minutes, words)| ((*minutes).to_owned(), (*words).to_owned())).collect();
    let every = Field { choices: times, ..field("every_minutes", "It is brought up", "Its first run begins at once.") };
    let filled = |field: Field| {
        let Some(sent) = sent else { return field };
        let typed = sent.params.get(field.name).filter(|_| field.kind != "password").unwrap_or_default().to_owned();
        let wrong = if sent.field == field.name { sent.problem.to_owned() } else { String::new() };
        Field { value: typed, wrong, ..field }
    };
    Form {
        does,
        title,
        is_open: sent.is_some(),
        fields: is_new.then_some(name).into_iter().chain(fields).chain([every]).map(filled).collect(),
    }
}

/// What a form asks for, for the documents `name`; `None` for a form that is none of these.
///
/// # Errors
/// `invalid_argument` for a time that is none.
pub(super) fn asked(name: String, params: &Params) -> Result<Option<SetSync>> {
    let text = |field: &str| params.get(field).map(str::to_owned);
    let every_minutes = every(params, "every_minutes")?;
    let set = SetSync { name, every_minutes, begins: true, ..SetSync::default() };
    Ok(match params.get("do") {
        Some("keep-site") => {
            let paths = params.get("site.paths").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
            let site = Site { sitemap: text("site.sitemap").unwrap_or_default(), paths };
            Some(SetSync { site: Some(site), ..set })
        }
        Some("keep-folder") => Some(SetSync { folder: text("folder").or_else(|| Some(String::new())), ..set }),
        Some("keep-bucket") => {
            let bucket = Bucket {
                name: text("bucket.name").unwrap_or_default(),
                region: text("bucket.region"),
                prefix: text("bucket.prefix"),
                endpoint: text("bucket.endpoint"),
                access_key_id: text("bucket.access_key_id"),
            };
            Some(SetSync { bucket: Some(bucket), secret_access_key: text("secret_access_key"), ..set })
        }
        _ => None,
    })
}

/// Minutes from run to run, as a form says them; `None`: when somebody asks.
///
/// # Errors
/// `invalid_argument` for what is no number.
pub(super) fn every(params: &Params, field: &str) -> Result<Option<i64>> {
    let minutes = params.get(field).map(str::parse).transpose();
    minutes.map_err(|_| Error::invalid(field, "Choose one of the times that are offered."))
}
