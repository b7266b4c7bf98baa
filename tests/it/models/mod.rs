//! Language models over the wire, in both protocols, with the policy and the budget of a workspace.

mod faults;
mod plans;
mod policy;
pub mod provider;

use std::time::Duration;

use dragoman::base::id::Id;
use dragoman::config::{Budgets, Config, Limits};
use dragoman::engine::job::Job;
use dragoman::engine::llm::{Asked, Form, LlmError, Message, Model as _, Models, Reply, Request, Speaker};
use dragoman::identity::workspace_settings::Change;
use dragoman::model::access::{Action, Catalogue, Pass, Want, authorize};
use dragoman::model::caller::Caller;
use dragoman::model::org::{Egress, Org};
use dragoman::model::user::User;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use self::provider::Provider;
use crate::support::service::{Service, operator};

pub const KEY: &str = "sk-0f4Q9xL7k2mZ0aVbN8cR5tY1uI3";
pub const PROTOCOLS: [&str; 2] = ["openai", "anthropic"];
pub const LONG: Duration = Duration::from_secs(60);

/// A workspace that lets a model be asked, on an installation that has one.
pub struct World {
    pub service: Service,
    pub org: Org,
    pub models: Models,
    pass: Pass,
    budgets: Budgets,
}

impl World {
    pub async fn new(provider: &Provider, protocol: &str) -> Self {
        Self::with(&provider.url, protocol, &[]).await
    }

    pub async fn with(url: &str, protocol: &str, more: &[(&str, &str)]) -> Self {
        Self::on(Service::start().await, url, protocol, more).await
    }

    pub async fn on(service: Service, url: &str, protocol: &str, more: &[(&str, &str)]) -> Self {
        let own = [
            ("DRAGOMAN_LLM_PROVIDER", protocol),
            ("DRAGOMAN_LLM_URL", url),
            ("DRAGOMAN_LLM_API_KEY", KEY),
            ("DRAGOMAN_LLM_MODEL", "model-1"),
        ];
        let config = Config::read(|name| {
            let found = more.iter().chain(&own).find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        });
        let models = Models::new(&config.unwrap(), service.db.clone(), service.clock.clone());
        let org = service.workspace("acme").await;
        let pass =
            authorize(&operator(&org), &Catalogue::new(org.clone(), vec![]), Action::RunSql, &Want::Nothing).unwrap();
        let world = Self { service, org, models, pass, budgets: Limits::default().budgets };
        world.set(Egress::Allowed, false).await;
        world
    }

    pub async fn set(&self, egress: Egress, send_values: bool) {
        let change = Change { llm_egress: Some(egress), llm_send_values: Some(send_values), ..Change::default() };
        self.service.identity.change_settings(self.org.id, None, change).await.unwrap();
    }

    /// From now on a person asks.
    pub fn as_person(&mut self, user: Id<User>) {
        let caller = Caller { user: Some(user), ..operator(&self.org) };
        self.pass =
            authorize(&caller, &Catalogue::new(self.org.clone(), vec![]), Action::RunSql, &Want::Nothing).unwrap();
    }

    pub async fn open(&self) -> Result<Asked, LlmError> {
        self.open_for(LONG, &CancellationToken::new()).await
    }

    pub async fn open_for(&self, time: Duration, cancel: &CancellationToken) -> Result<Asked, LlmError> {
        self.models.open(&Job::new(&self.pass, &self.budgets, time, cancel.clone(), None)).await
    }

    /// Asks once.
    pub async fn ask(&self) -> Result<Reply, LlmError> {
        self.open().await?.complete(&request()).await
    }
}

pub fn request() -> Request {
    Request {
        system: "Answer.".into(),
        messages: vec![Message { from: Speaker::User, text: "What is the secret of the house?".into() }],
        form: Some(Form { name: "answer", schema: json!({ "type": "object", "properties": { "a": {} } }) }),
        max_tokens: 100,
    }
}
