//! `/w/{slug}/check`: what was found in uploaded files, to be corrected before it is kept. Nothing is a dataset until its
//! form says so.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::Value;

use super::import::{Made, Outcome, Problem, is_script, json};
use super::{Console, Room, Slug};
use crate::model::column_change::{ColumnChange, TYPES, is_date, unordered};
use crate::model::dataset::{ColumnInfo, IfExists, Kind};
use crate::model::error::{Code, Error, Result};
use crate::ops::check_import::{CheckImport, Reply};
use crate::ops::import::Import;
use crate::ops::uploads::{DeleteUpload, ListUploads};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::form::{Params, Size};
use crate::surface::html;

pub(super) const PAGE: &str = "/check";

/// Columns that the page has fields for; programs correct more.
const COLUMNS: usize = 250;
/// What begins the names of a column's fields.
const WAS: &str = "was:";
const TYPE: &str = "type:";
const NAME: &str = "name:";
const KEEP: &str = "keep:";

/// A column as it was found, and as it is corrected.
struct Field {
    column: String,
    was: String,
    r#type: String,
    name: String,
    keep: bool,
    samples: Vec<String>,
    is_personal: bool,
    /// Whether its values are days, or could be.
    has_days: bool,
}

impl Field {
    fn found(column: ColumnInfo) -> Self {
        Self {
            was: column.r#type.clone(),
            r#type: column.r#type,
            name: column.name.clone(),
            column: column.name,
            keep: true,
            samples: column.sample_values,
            is_personal: column.likely_personal_data.is_some(),
            has_days: false,
        }
    }

    /// The types that it can be given, with what they are called; the one that was found first where it is none of them.
    /// How days are written is for days.
    fn types(&self) -> Vec<(&str, &str)> {
        let own = (!TYPES.iter().any(|(name, _)| *name == self.was)).then_some((self.was.as_str(), "as it was found"));
        let fits = |(name, _): &(&str, &str)| self.has_days || unordered(name).1.is_none();
        own.into_iter().chain(TYPES.into_iter().filter(fits)).collect()
    }

    /// Whether it gets a type.
    fn is(&self, name: &str) -> bool {
        self.r#type == name
    }

    fn change(&self) -> Option<ColumnChange> {
        let changed = |now: &str, before: &str| (now != before && !now.is_empty()).then(|| now.to_owned());
        let change = ColumnChange {
            column: self.column.clone(),
            name: changed(self.name.trim(), &self.column),
            r#type: changed(&self.r#type, &self.was),
            leave_out: !self.keep,
        };
        (change.name.is_some() || change.r#type.is_some() || change.leave_out).then_some(change)
    }
}

/// A value, or a row, that does not fit.
struct Unfit {
    place: String,
    column: String,
    value: String,
    what: String,
}

/// What is asked of files.
#[derive(Default)]
struct Asked {
    uploads: String,
    name: String,
    if_exists: String,
    description: String,
    fields: Vec<Field>,
}

impl Asked {
    fn of(params: &Params) -> Self {
        let text = |name: &str| params.get(name).unwrap_or_default().to_owned();
        let field = |(key, was): (&str, &str)| {
            let column = key.strip_prefix(WAS)?;
            let of = |prefix: &str| params.get(&format!("{prefix}{column}"));
            Some(Field {
                column: column.to_owned(),
                was: was.to_owned(),
                r#type: of(TYPE).unwrap_or(was).to_owned(),
                name: of(NAME).unwrap_or(column).to_owned(),
                keep: of(KEEP).is_some(),
                samples: vec![],
                is_personal: false,
                has_days: false,
            })
        };
        Self {
            uploads: text("uploads"),
            name: text("name"),
            if_exists: text("if_exists"),
            description: text("description"),
            fields: params.pairs().filter_map(field).collect(),
        }
    }

    fn check(&self) -> Result<CheckImport> {
        let Import { name, if_exists, columns, uploads, files, .. } = self.import()?;
        Ok(CheckImport { name, if_exists, columns, uploads, files })
    }

    fn import(&self) -> Result<Import> {
        let ids = self.uploads.split(',').map(|id| id.parse().map_err(|_| missing()));
        Ok(Import {
            name: Some(self.name.clone()).filter(|name| !name.is_empty()),
            description: self.description.clone(),
            if_exists: IfExists::parse(
                Some(self.if_exists.as_str()).filter(|text| !text.is_empty()).or(Some("refuse")),
            )?,
            columns: self.fields.iter().filter_map(Field::change).collect(),
            uploads: ids.collect::<Result<_>>()?,
            ..Import::default()
        })
    }
}

fn missing() -> Error {
    Error::new(Code::NotFound, "There is no such upload: it was imported, removed, or is over. Send the file again.")
}

#[derive(Template)]
#[template(path = "check.html", config = "src/surface/askama.toml")]
struct CheckPage {
    frame: Frame,
    here: String,
    csrf: String,
    /// The names of the files.
    files: String,
    asked: Asked,
    found: Option<Reply>,
    problem: String,
    unfit: Vec<Unfit>,
    /// Nothing that the page asks for would let the files be imported.
    is_lost: bool,
    /// Columns that the page has no fields for.
    more: usize,
}

/// `GET`: what was found, as it was found.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let query = request.uri().query().unwrap_or("").to_owned();
    let room = Room::enter(&console, door, path, PAGE, request).await?;
    let asked = Asked::of(&Params::parse(&query).unwrap_or_default());
    let page = async {
        let files = files(&room, &asked).await?;
        let found = room.ask(asked.check()?).await;
        page(&room, files, asked, found).await
    };
    page.await.map_err(|error| room.refusal(&error))
}

/// `POST`: looks again with what is corrected, imports, or throws the files away. The script gets JSON.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let headers = request.headers().clone();
    let sent = Room::submit_long::<Import>(&console, door, path, PAGE, request, Size::LONG);
    let (room, params) = sent.await?;
    let asked = Asked::of(&params);
    let done = match params.get("do") {
        Some("remove") => removed(&room, &asked).await,
        Some("import") => imported(&room, asked, &headers).await,
        _ if is_script(&headers) => looked(&room, &asked).await,
        _ => looked_again(&room, asked).await,
    };
    let done = done.or_else(|error| if is_script(&headers) { wrong(String::new(), error) } else { Err(error) });
    done.map_err(|error| room.refusal(&error))
}

async fn removed(room: &Room<'_>, asked: &Asked) -> Result<Response> {
    for id in asked.uploads.split(',') {
        let upload_id = id.parse().map_err(|_| missing())?;
        match room.ask(DeleteUpload { upload_id }).await {
            Err(error) if error.code != Code::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(html::see_other(&format!("/w/{}", room.membership.org.slug)))
}

async fn imported(room: &Room<'_>, asked: Asked, headers: &HeaderMap) -> Result<Response> {
    let files = files(room, &asked).await?;
    match room.ask(asked.import()?).await {
        Ok(reply) => {
            let datasets = Made::of(&room.membership.org.slug, &reply);
            if is_script(headers) {
                return json(StatusCode::OK, &Outcome { datasets, ..Outcome::default() });
            }
            let all = || format!("/w/{}", room.membership.org.slug);
            Ok(html::see_other(&if let [one] = datasets.as_slice() { one.href.clone() } else { all() }))
        }
        Err(error) if is_script(headers) => wrong(files, error),
        Err(error) => page(room, files, asked, Err(error)).await,
    }
}

async fn looked_again(room: &Room<'_>, asked: Asked) -> Result<Response> {
    let files = files(room, &asked).await?;
    let found = room.ask(asked.check()?).await;
    page(room, files, asked, found).await
}

async fn looked(room: &Room<'_>, asked: &Asked) -> Result<Response> {
    let files = files(room, asked).await?;
    match room.ask(asked.check()?).await {
        Ok(found) => {
            let sheets = found.says_sheets();
            let hints = found.hints.into_iter().map(|hint| hint.says);
            let made = Made {
                name: found.name,
                href: String::new(),
                r#type: found.r#type.name(),
                rows: found.row_count,
                columns: found.columns.len(),
                published: false,
                hints: sheets.into_iter().chain(hints).chain(found.skipped).collect(),
            };
            let exists = (!found.taken.is_empty()).then(|| found.taken.join(", "));
            json(StatusCode::OK, &Outcome { found: Some(made), exists, same: found.same_files, ..Outcome::default() })
        }
        Err(error) => wrong(files, error),
    }
}

/// What the script is told of files that cannot be imported.
fn wrong(file: String, error: Error) -> Result<Response> {
    if error.code == Code::InternalError {
        return Err(error);
    }
    let exists = error.details.get("exists").and_then(Value::as_str).map(str::to_owned);
    let problems = vec![Problem { file, message: error.message, exists }];
    json(StatusCode::UNPROCESSABLE_ENTITY, &Outcome { problems, ..Outcome::default() })
}

/// The names of the files, for people.
async fn files(room: &Room<'_>, asked: &Asked) -> Result<String> {
    let uploads = room.ask(ListUploads {}).await?.uploads;
    let named = |id: &str| uploads.iter().find(|upload| upload.upload_id.to_string() == id);
    let names: Option<Vec<&str>> = asked.uploads.split(',').map(|id| Some(named(id)?.name.as_str())).collect();
    names.map(|names| names.join(", ")).ok_or_else(missing)
}

async fn page(room: &Room<'_>, files: String, mut asked: Asked, found: Result<Reply>) -> Result<Response> {
    let (mut problem, mut unfit, mut more, mut is_lost) = (String::new(), vec![], 0, false);
    let found = match found {
        Ok(found) => Some(found),
        Err(error) if error.code == Code::InvalidArgument || error.code == Code::LimitExceeded => {
            unfit = self::unfit(&error);
            let is_of_file = error.details.get("field").is_some_and(|field| field == "file");
            is_lost = is_of_file && asked.fields.is_empty() && asked.if_exists != "append";
            problem = error.message;
            None
        }
        Err(error) => return Err(error),
    };
    if let Some(found) = &found {
        if asked.name.is_empty() {
            asked.name.clone_from(&found.name);
        }
        // The columns of several sheets are imported as they are.
        if asked.fields.is_empty() && found.sheets.is_empty() {
            more = found.columns.len().saturating_sub(COLUMNS);
            asked.fields = found.columns.iter().take(COLUMNS).cloned().map(Field::found).collect();
        }
        for field in &mut asked.fields {
            let name = if field.name.trim().is_empty() { field.column.as_str() } else { field.name.trim() };
            if let Some(column) = found.columns.iter().find(|column| column.name == *name).filter(|_| field.keep) {
                field.samples.clone_from(&column.sample_values);
                field.is_personal = column.likely_personal_data.is_some();
            }
        }
    }
    for field in &mut asked.fields {
        let hinted = found.iter().flat_map(|found| &found.hints).filter(|hint| hint.column == field.column);
        let mut types = [&field.was, &field.r#type].into_iter().chain(hinted.map(|hint| &hint.r#type));
        field.has_days = types.any(|kind| is_date(unordered(kind).0));
    }
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let frame = room.frame_below("").await?;
    let (here, csrf) = (room.here(), room.csrf());
    let page = CheckPage { frame, here, csrf, files, asked, found, problem, unfit, is_lost, more };
    Ok(html::page(status, &page))
}

/// The values that an error names.
fn unfit(error: &Error) -> Vec<Unfit> {
    let text = |value: Option<&Value>| match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let one = |problem: &Value| Unfit {
        place: match (problem.get("line"), problem.get("row")) {
            (Some(line), _) => format!("line {line}"),
            (None, Some(row)) => format!("record {row}"),
            (None, None) => String::new(),
        },
        column: text(problem.get("column")),
        value: text(problem.get("value")),
        what: text(problem.get("what")),
    };
    error.details.get("problems").and_then(Value::as_array).map(|all| all.iter().map(one).collect()).unwrap_or_default()
}
