//! Language models behind one trait, and who may be asked.
//!
//! [`Models::open`] is the only way to a [`Model`] that leaves this process. It and every call after it read the
//! workspace's policy, and `egress` judges it: nowhere else is decided what may be sent where.

mod ask;
mod budget;
mod client;
mod egress;
mod wire;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

pub use ask::{Form, LlmError, Message, Model, Reply, Request, Speaker, Usage};

use self::budget::Budget;
use self::client::Client;
use crate::base::clock::Clock;
use crate::base::id::Id;
use crate::config::Config;
use crate::engine::job::Job;
use crate::model::org::{LanguageModels, Org};
use crate::model::preferences::{Provider, UserSettings};
use crate::store::{self, Db};

/// The configured language model, and what workspaces have used of it.
#[derive(Clone)]
pub struct Models {
    client: Option<Arc<Client>>,
    budget: Arc<Budget>,
    db: Db,
}

impl Models {
    pub fn new(config: &Config, db: Db, clock: Clock) -> Self {
        let client = config.llm.clone().map(|llm| Arc::new(Client::new(llm, clock.clone())));
        let most = config.llm.as_ref().map_or(0, |llm| llm.daily_tokens);
        Self { client, budget: Arc::new(Budget::new(most, clock)), db }
    }

    /// The model for one job: for its workspace, as that allows, until the job's end.
    ///
    /// # Errors
    /// [`LlmError::NotConfigured`], [`LlmError::Off`], [`LlmError::EgressDenied`]; nothing was sent then.
    pub async fn open(&self, job: &Job<'_>) -> Result<Asked, LlmError> {
        let client = self.client.clone().ok_or(LlmError::NotConfigured)?;
        let org = job.pass.org();
        let policy = self.policy(org).await?;
        egress::admit(policy.egress, client.url(), client.local_hosts()).await?;
        self.wanted(job).await?;
        Ok(Asked {
            models: self.clone(),
            client,
            org,
            policy,
            cancel: job.cancel.clone(),
            deadline: Instant::now() + job.time_left(),
        })
    }

    /// Whether the person of the job lets language models read what they ask.
    async fn wanted(&self, job: &Job<'_>) -> Result<(), LlmError> {
        let Some(user) = job.pass.user() else { return Ok(()) };
        let stored = store::users::settings(self.db.pool(), user).await;
        let settings = stored.map(|stored| UserSettings::kept(stored.as_deref().unwrap_or("{}"), job.pass.org()));
        match settings {
            Ok(Ok(settings)) if settings.data_agent.default_provider == Some(Provider::BuiltIn) => Err(LlmError::Off),
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(LlmError::Failed("the person's settings cannot be read".into())),
        }
    }

    async fn policy(&self, org: Id<Org>) -> Result<LanguageModels, LlmError> {
        let found = store::workspace_settings::language_models(self.db.pool(), org).await;
        let found = found.map_err(|problem| {
            tracing::error!(%problem, "the policy of a workspace for language models cannot be read");
            LlmError::Failed("the workspace's policy cannot be read".into())
        })?;
        // A workspace that is gone allows nothing.
        Ok(found.unwrap_or_default())
    }
}

/// The model of one job.
pub struct Asked {
    models: Models,
    client: Arc<Client>,
    org: Id<Org>,
    policy: LanguageModels,
    cancel: CancellationToken,
    deadline: Instant,
}

impl Asked {
    async fn ask(&self, request: &Request) -> Result<Reply, LlmError> {
        // An admin may have changed it since; what was made for another policy is not sent.
        if self.models.policy(self.org).await? != self.policy {
            return Err(LlmError::Off);
        }
        let addresses = egress::admit(self.policy.egress, self.client.url(), self.client.local_hosts()).await?;
        let estimate = request.input_estimate();
        let mut request = request.clone();
        request.max_tokens = request.max_tokens.min(self.client.output_tokens());
        let reserved = self.models.budget.reserve(self.org, estimate, u64::from(request.max_tokens))?;
        let left = self.deadline.saturating_duration_since(Instant::now());
        let answer = self.client.complete(&request, &addresses, left).await;
        match &answer {
            Ok(reply) => reserved.settle(reply.usage.map(|usage| usage.input + usage.output)),
            Err(problem) if problem.may_have_cost() => reserved.settle(None),
            Err(_) => reserved.settle(Some(0)),
        }
        answer
    }
}

impl Model for Asked {
    fn may_see_values(&self) -> bool {
        self.policy.send_values
    }

    async fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        let started = Instant::now();
        let answer = tokio::select! {
            biased;
            // The connection closes with the request: providers stop computing then.
            () = self.cancel.cancelled() => Err(LlmError::Cancelled),
            answer = self.ask(request) => answer,
        };
        record(&answer, started.elapsed());
        answer
    }
}

/// Counts, and for operators a line with the kind of what went wrong; neither has texts.
fn record(answer: &Result<Reply, LlmError>, took: Duration) {
    let outcome = answer.as_ref().err().map_or("ok", LlmError::kind);
    metrics::histogram!("dragoman_llm_seconds", "outcome" => outcome).record(took.as_secs_f64());
    match answer {
        Ok(Reply { usage: Some(usage), .. }) => {
            metrics::counter!("dragoman_llm_tokens", "direction" => "input").increment(usage.input);
            metrics::counter!("dragoman_llm_tokens", "direction" => "output").increment(usage.output);
        }
        Ok(Reply { usage: None, .. }) => {}
        Err(problem) => tracing::warn!(kind = outcome, %problem, "a language model gave no answer"),
    }
}
