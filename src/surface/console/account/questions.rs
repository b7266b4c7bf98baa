//! `/account/questions`: how the person's questions are read where they leave something open, in each workspace.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value};

use crate::base::id::Id;
use crate::model::error::{Code, Error, Result};
use crate::model::org::Org;
use crate::model::preferences::{DataAgent, Provider, Threshold, key};
use crate::ops::user_settings;
use crate::surface::browser::visit::{Door, Visit};
use crate::surface::console::frame::{Frame, Place};
use crate::surface::console::was::{self, changed};
use crate::surface::form::{Params, Size};
use crate::surface::html;
use crate::surface::web::{AuditEvent, Web};

const PURPOSE: &str = "account.settings";
/// A form has the settings twice: as its page showed them, and as they are to be.
const SIZE: Size = Size { bytes: 2 * Size::SHORT.bytes, ..Size::SHORT };

#[derive(Template)]
#[template(path = "account_questions.html", config = "src/surface/askama.toml")]
struct QuestionsPage {
    frame: Frame,
    csrf: String,
    saved: bool,
    forms: Vec<Form>,
}

/// The form of a workspace as it is shown and sent.
struct Form {
    org: Id<Org>,
    /// The workspace's.
    name: String,
    problem: String,
    /// What it was made from.
    was: String,
    period: String,
    /// A line for each: the words, a colon, what they stand for.
    words: String,
    built_in: bool,
}

impl Form {
    fn of(org: Org, agent: &DataAgent) -> Result<Self> {
        let line = |(term, threshold): (String, &Threshold)| match threshold {
            Threshold::Number(number) => format!("{term}: {number}\n"),
            Threshold::Condition(condition) => format!("{term}: {condition}\n"),
        };
        Ok(Self {
            org: org.id,
            name: org.name,
            problem: String::new(),
            was: was::shown(agent)?,
            period: period(agent),
            words: agent.terms().map(line).collect(),
            built_in: is_built_in(agent),
        })
    }

    fn read(org: Org, params: &Params) -> Self {
        let text = |name: &str| params.get(name).unwrap_or("").to_owned();
        Self {
            org: org.id,
            name: org.name,
            problem: String::new(),
            was: text("was"),
            period: text("period"),
            words: text("words"),
            built_in: params.get("built_in").is_some(),
        }
    }

    /// What the form changes of what its page showed.
    fn change(&self, was: &DataAgent) -> Result<Map<String, Value>> {
        let mut now = BTreeMap::new();
        for line in self.words.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let wrong = || Error::invalid("words", format!("“{line}”: expected words, a colon, and a condition."));
            let (term, condition) = line.split_once(':').ok_or_else(wrong)?;
            let condition = condition.trim();
            let number = condition.parse::<f64>().ok().filter(|number| number.is_finite());
            let threshold = number.map_or_else(|| Threshold::Condition(condition.to_owned()), Threshold::Number);
            now.insert(key(term).ok_or_else(wrong)?, threshold);
        }
        let gone = was.thresholds.keys().filter(|key| !now.contains_key(*key)).map(|key| (key.clone(), Value::Null));
        let mut change: Map<String, Value> = gone.collect();
        for (key, threshold) in now.into_iter().filter(|(key, threshold)| was.thresholds.get(key) != Some(threshold)) {
            change.insert(key, serde_json::to_value(threshold).map_err(Error::internal)?);
        }
        if let Some(period) = changed(self.period.trim().to_owned(), &period(was)) {
            change.insert("defaultTimePeriod".into(), if period.is_empty() { Value::Null } else { period.into() });
        }
        if let Some(built_in) = changed(self.built_in, &is_built_in(was)) {
            change.insert("defaultProvider".into(), if built_in { "built_in".into() } else { Value::Null });
        }
        Ok(change)
    }
}

/// The time of questions without one, as the form shows it.
fn period(agent: &DataAgent) -> String {
    agent.default_time_period.as_deref().unwrap_or_default().replace('_', " ")
}

fn is_built_in(agent: &DataAgent) -> bool {
    agent.default_provider == Some(Provider::BuiltIn)
}

/// `GET /account/questions`.
pub async fn show(State(web): State<Web>, door: Door, RawQuery(query): RawQuery, request: Request) -> html::Result {
    let visit = Visit::of(&web, &door.session, door.context, &request).await?;
    let saved = Params::parse(&query.unwrap_or_default()).is_ok_and(|params| params.get("saved").is_some());
    let shown = page(&web, &visit, StatusCode::OK, saved, None).await;
    shown.map_err(|error| html::failure(&error))
}

/// `POST /account/questions`.
pub async fn save(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let form = Visit::form_within(&web, &door.session, door.context, PURPOSE, request, SIZE);
    let (visit, params) = form.await?;
    let org = workspace(&web, &visit, &params).await.map_err(|error| html::failure(&error))?;
    let mut form = Form::read(org, &params);
    let user = visit.person.user.id;
    let mut target = String::new();
    let saved = async {
        let change = form.change(&was::of(&params)?)?;
        target = change.keys().map(String::as_str).collect::<Vec<_>>().join(" ");
        user_settings::change(&web.identity, user, form.org, &change).await
    };
    let saved = saved.await;
    let outcome = saved.as_ref().map_or_else(|error| error.code.info().name, |_| "ok");
    let event = AuditEvent::new(&visit.context, PURPOSE, outcome).by(visit.person.principal());
    let recorded = web.record(event.org(Some(form.org)).target(target)).await;
    match recorded.and(saved.map(|_| ())) {
        Ok(()) => Ok(html::see_other("/account/questions?saved")),
        Err(error) if error.code == Code::InvalidArgument => {
            form.problem = error.message;
            let shown = page(&web, &visit, StatusCode::UNPROCESSABLE_ENTITY, false, Some(form)).await;
            shown.map_err(|error| html::failure(&error))
        }
        Err(error) => Err(html::failure(&error)),
    }
}

/// The workspace of a form, if the person is in it.
async fn workspace(web: &Web, visit: &Visit, params: &Params) -> Result<Org> {
    let all = web.identity.memberships(visit.person.user.id).await?;
    let named = params.get("workspace").unwrap_or("");
    let found = all.into_iter().map(|it| it.org).find(|org| org.id.to_string() == named);
    found.ok_or_else(|| Error::invalid("workspace", "You are not a member of this workspace."))
}

/// The page with a form for each workspace; `sent` is in the place of its own.
async fn page(web: &Web, visit: &Visit, status: StatusCode, saved: bool, sent: Option<Form>) -> Result<Response> {
    let user = visit.person.user.id;
    let mut forms = Vec::new();
    for membership in web.identity.memberships(user).await? {
        let settings = web.identity.user_settings(user, membership.org.id).await?;
        forms.push(Form::of(membership.org, &settings.data_agent)?);
    }
    if let Some(sent) = sent
        && let Some(own) = forms.iter_mut().find(|form| form.org == sent.org)
    {
        *own = sent;
    }
    let frame = Frame::new(web, visit, Place::Account("/questions")).await?;
    Ok(html::page(status, &QuestionsPage { frame, csrf: visit.csrf(web, PURPOSE), saved, forms }))
}
