//! Documents that are kept from something else, on the page of all of them, on that of the documents, and on that of a table
//! whose rows they are: how the last run ended, what people may ask for, and the forms that begin it.

use super::Room;
use super::places::{self, Form, Sent, TIMES, every};
use crate::base::id::Id;
use crate::model::dataset::{ColumnInfo, Dataset, Kind};
use crate::model::error::{Error, Result};
use crate::ops::document_syncs::{DeleteSync, ListSyncs, Listed, SetSync, Shown};
use crate::ops::get_schema::{GetSchema, Schema};
use crate::ops::rag::admin_sync::AdminSync;
use crate::surface::form::Params;

/// Bytes of a name that is made of the table's.
const NAME: usize = 56;
/// Values of at least so many characters are texts, and no codes.
const LONG: usize = 25;

/// The section of a page.
pub(super) struct Kept {
    pub(super) followed: Vec<Followed>,
    pub(super) offer: Option<Offer>,
    /// What documents that follow nothing may be kept from.
    pub(super) forms: Vec<Form>,
}

/// Documents that follow something else.
pub(super) struct Followed {
    pub(super) sync: Shown,
    /// Its own dataset, where it is there and the page is of all.
    pub(super) own: Option<Id<Dataset>>,
    /// The dataset at the other end, where it is there and is one.
    pub(super) other: Option<Id<Dataset>>,
}

/// What the form that begins it offers, and what is chosen in it.
pub(super) struct Offer {
    pub(super) name: String,
    pub(super) keys: Vec<Choice>,
    pub(super) titles: Vec<Choice>,
    pub(super) texts: Vec<Choice>,
    pub(super) changed: Vec<Choice>,
    pub(super) times: Vec<(Choice, &'static str)>,
    pub(super) markdown: bool,
}

pub(super) struct Choice {
    pub(super) name: String,
    pub(super) chosen: bool,
}

impl Kept {
    /// The section of a dataset's page.
    pub(super) async fn of(room: &Room<'_>, schema: &Schema, sent: Option<&Sent<'_>>) -> Result<Self> {
        let is_table = schema.r#type == Kind::Table;
        let mut followed = Vec::new();
        let Listed { syncs, folders, ids } = room.ask(ListSyncs {}).await?;
        for sync in syncs {
            let table = sync.origin.table().map(|mapping| &mapping.table);
            let (own, other) = if is_table { (table, Some(&sync.name)) } else { (Some(&sync.name), table) };
            if own != Some(&schema.table_name) {
                continue;
            }
            let other = other.and_then(|other| ids.get(other).copied());
            followed.push(Followed { sync, own: None, other });
        }
        let offer = if is_table { Offer::of(schema, sent.map(|sent| sent.params)) } else { None };
        let is_free = !is_table && followed.is_empty();
        let forms = if is_free { places::forms(&folders, false, sent) } else { vec![] };
        Ok(Self { followed, offer, forms })
    }

    /// All of a workspace, and the forms that begin new ones.
    pub(super) async fn all(room: &Room<'_>, sent: Option<&Sent<'_>>) -> Result<Self> {
        let Listed { syncs, folders, ids } = room.ask(ListSyncs {}).await?;
        let own = |sync: Shown| Followed { own: ids.get(&sync.name).copied(), sync, other: None };
        let followed = syncs.into_iter().map(own).collect();
        Ok(Self { followed, offer: None, forms: places::forms(&folders, true, sent) })
    }
}

impl Offer {
    /// Nothing for a table without texts. What clients do not see is not offered: they would see it in the documents.
    fn of(schema: &Schema, sent: Option<&Params>) -> Option<Self> {
        let seen: Vec<&ColumnInfo> =
            schema.columns.iter().filter(|described| !described.hidden).map(|described| &described.column).collect();
        let texts: Vec<&ColumnInfo> = seen.iter().copied().filter(|column| is_text(column)).collect();
        let sent = sent.filter(|sent| sent.get("do") == Some("keep"));
        let choices = |of: &[&ColumnInfo], field: &str, proposed: Option<&str>| -> Vec<Choice> {
            let is_chosen = |name: &str| match sent {
                Some(sent) => sent.all(field).any(|chosen| chosen == name),
                None => proposed == Some(name),
            };
            of.iter().map(|column| Choice { name: column.name.clone(), chosen: is_chosen(&column.name) }).collect()
        };
        let named = |of: &[&'_ ColumnInfo], names: &[&str]| -> Option<String> {
            let is = |column: &&&ColumnInfo| names.iter().any(|name| column.name.eq_ignore_ascii_case(name));
            of.iter().find(is).map(|column| column.name.clone())
        };
        let declared = schema.primary_key.first().filter(|_| schema.primary_key.len() == 1).cloned();
        let key = declared.or_else(|| named(&seen, &["id", "key"])).or_else(|| Some(seen.first()?.name.clone()));
        let longest = texts.iter().max_by_key(|column| length(column))?;
        let text = Some(longest.name.as_str()).filter(|_| length(longest) >= LONG);
        let title = named(&texts, &["title", "subject", "name"]).filter(|title| text != Some(title));
        let every = sent.and_then(|sent| sent.get("every")).unwrap_or_default();
        let rising: Vec<&ColumnInfo> = seen.iter().copied().filter(|column| rises(column)).collect();
        let own = || format!("{}_texts", schema.table_name.chars().take(NAME).collect::<String>());
        Some(Self {
            name: sent.map_or_else(own, |sent| sent.get("name").unwrap_or_default().to_owned()),
            keys: choices(&seen, "key", key.as_deref()),
            titles: choices(&texts, "title", title.as_deref()),
            texts: choices(&texts, "text", text),
            changed: choices(&rising, "changed", None),
            times: TIMES
                .map(|(minutes, words)| (Choice { name: minutes.to_owned(), chosen: minutes == every }, words))
                .into(),
            markdown: sent.is_some_and(|sent| sent.get("markdown").is_some()),
        })
    }
}

/// Does what a form of this section says, about the dataset of the page; where there is none, the form names the documents.
///
/// # Errors
/// Those of the operations; `invalid_argument` for a form that is none of it.
pub(super) async fn change(room: &Room<'_>, dataset_id: Option<Id<Dataset>>, params: &Params) -> Result<()> {
    let name = params.get("name").unwrap_or_default().to_owned();
    let column = |field: &str| params.get(field).map(str::to_owned);
    match params.get("do") {
        Some("sync") => room.ask(AdminSync { source_names: vec![name] }).await.map(drop),
        Some("unfollow") => room.ask(DeleteSync { name }).await.map(drop),
        Some("keep") => {
            let (table, key) =
                (Some(called(room, dataset_id, name.clone()).await?), Some(column("key").unwrap_or_default()));
            let text = params.all("text").map(str::to_owned).collect();
            let every_minutes = every(params, "every")?;
            let (title, changed, markdown) = (column("title"), column("changed"), params.get("markdown").is_some());
            // What filters ask for is said by programs alone.
            let rest = SetSync { begins: true, ..SetSync::default() };
            let set = SetSync { name, table, key, title, text, changed, markdown, every_minutes, ..rest };
            room.ask(set).await.map(drop)
        }
        _ => {
            let name = called(room, dataset_id, name).await?;
            let none = || Error::invalid("do", "This form is not one of this page.");
            room.ask(places::asked(name, params)?.ok_or_else(none)?).await.map(drop)
        }
    }
}

/// What the dataset of the page is called; where the page is of none, what the form says.
async fn called(room: &Room<'_>, dataset_id: Option<Id<Dataset>>, named: String) -> Result<String> {
    match dataset_id {
        Some(dataset_id) => Ok(room.ask(GetSchema::of(dataset_id)).await?.one()?.table_name),
        None => Ok(named),
    }
}

/// Characters of its longest value that is known.
fn length(column: &ColumnInfo) -> usize {
    column.sample_values.iter().map(|value| value.chars().count()).max().unwrap_or(0)
}

/// By the name of a type, whichever engine's.
fn is_text(column: &ColumnInfo) -> bool {
    let name = column.r#type.to_ascii_uppercase();
    !name.contains('[') && ["CHAR", "TEXT", "STRING"].iter().any(|word| name.contains(word))
}

/// Whether values can tell what came later: times and whole numbers.
fn rises(column: &ColumnInfo) -> bool {
    let name = column.r#type.to_ascii_uppercase();
    let is_time = ["TIMESTAMP", "DATE"].iter().any(|word| name.starts_with(word));
    // INTERVAL is no number.
    !name.contains('[') && (is_time || (name.contains("INT") && !name.starts_with("INTERVAL")))
}
