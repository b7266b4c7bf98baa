//! What was asked of an ontology and how it was answered, and what the workspace remembers of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Done, position};
use crate::base::clock::rfc3339;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::model::access::{Action, Want};
use crate::model::error::{Error, Result};
use crate::model::ontology::StoredOntology;
use crate::model::run::{Ending, Memory, Remembered, Run, Trace};

/// Questions on one page.
const PAGE: i64 = 50;

const WRITE: Info = Info { action: Action::WriteDatasets, ..Info::MANAGE };

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListQuestions {
    pub ontology_id: Id<StoredOntology>,
    /// Those of everybody instead of one's own: for admins, in the console.
    #[serde(default)]
    pub everybodys: bool,
    /// `next_cursor` of the page before; absent for the first page.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// A question that was asked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Asked {
    pub trace_id: Id<Run>,
    pub question: String,
    pub outcome: Ending,
    pub duration_ms: i64,
    /// RFC 3339.
    pub asked_at: String,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Questions {
    /// Newest first.
    pub questions: Vec<Asked>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

fn asked(run: &Run) -> Asked {
    Asked {
        trace_id: run.id,
        question: run.question.clone(),
        outcome: run.ending,
        duration_ms: run.duration_ms,
        asked_at: rfc3339(run.asked_at),
    }
}

impl Operation for ListQuestions {
    const INFO: Info = Info {
        name: "list_questions",
        title: "List the questions of an ontology",
        description: "Lists what you asked of an ontology, newest first, and how each question ended. What others asked \
                      is for admins, in the console.",
        read_only: true,
        route: Route { method: "GET", path: "/ontologies/{ontology_id}/questions" },
        ..WRITE
    };
    type Reply = Questions;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        let whose = if self.everybodys { " everybody's" } else { "" };
        format!("{}{whose}", self.ontology_id)
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Questions> {
        let scope = format!("{}:questions:{}:{}", job.pass.org(), self.ontology_id, self.everybodys);
        let before = position(on, &scope, self.cursor.as_deref())?;
        let before = before.map(|id| id.parse().map_err(Error::internal)).transpose()?;
        let runs = on.engines.questions.runs(job, self.ontology_id, self.everybodys, before, PAGE + 1).await?;
        let more = runs.len() as i64 > PAGE;
        let shown = runs.get(..PAGE as usize).unwrap_or(&runs);
        let next_cursor = shown.last().filter(|_| more).map(|last| on.cursors.make(&scope, &last.id.to_string()));
        Ok(Questions { questions: shown.iter().map(asked).collect(), next_cursor })
    }
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetTrace {
    pub trace_id: Id<Run>,
}

/// A question and what happened on the way to its answer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Traced {
    #[serde(flatten)]
    pub asked: Asked,
    pub ontology_id: Id<StoredOntology>,
    pub trace: Trace,
}

impl From<Run> for Traced {
    fn from(run: Run) -> Self {
        Self { asked: asked(&run), ontology_id: run.ontology, trace: run.trace }
    }
}

impl Operation for GetTrace {
    const INFO: Info = Info {
        name: "get_trace",
        title: "Get the trace of a question",
        description: "Returns what happened on the way to an answer to a question of yours: phases, readings, plan, SQL, \
                      checks. No rows.",
        read_only: true,
        route: Route { method: "GET", path: "/questions/{trace_id}" },
        ..WRITE
    };
    type Reply = Traced;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        self.trace_id.to_string()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Traced> {
        Ok(on.engines.questions.run(job, self.trace_id).await?.into())
    }
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InspectTrace {
    pub trace_id: Id<Run>,
}

impl Operation for InspectTrace {
    const INFO: Info = Info {
        name: "inspect_trace",
        title: "Inspect the trace of somebody's question",
        description: "Returns the same as get_trace for a question of anybody's. For admins in the console; no AI client \
                      reads what others asked. The record has an action of its own for it.",
        read_only: true,
        recorded_as: Some("admin.question.inspect"),
        route: Route { method: "GET", path: "/questions/{trace_id}/inspect" },
        ..Info::MANAGE
    };
    type Reply = Traced;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        self.trace_id.to_string()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Traced> {
        Ok(on.engines.questions.anybodys_run(job, self.trace_id).await?.into())
    }
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remember {
    pub trace_id: Id<Run>,
    /// `verified`: the answer was right; the same question gets the same plan from now on. `preference`: what was
    /// chosen in its conversation settles the same open points from now on, for everybody.
    pub memory: Memory,
}

impl Operation for Remember {
    const INFO: Info = Info {
        name: "remember_answer",
        title: "Remember an answer",
        description: "Keeps the plan of a question as verified, or the choices of its conversation as preferences of \
                      the workspace. It holds for everybody, so only a person in the console can have it remembered: \
                      AI clients are refused.",
        recorded_as: Some("admin.ontology.remember"),
        route: Route { method: "POST", path: "/questions/{trace_id}/remember" },
        example: r#"{"memory":"verified"}"#,
        ..WRITE
    };
    type Reply = Done;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        format!("{} {}", self.trace_id, self.memory.name())
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Done> {
        on.engines.questions.remember(job, self.trace_id, self.memory).await?;
        Ok(Done::OK)
    }
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListRemembered {
    pub ontology_id: Id<StoredOntology>,
}

/// One thing remembered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Kept {
    pub id: Id<Remembered>,
    pub memory: Memory,
    /// The open point, or the question in its normal form.
    pub key: String,
    /// For people: what was chosen, or the question as it was asked.
    pub said: String,
    /// A person's id; absent for the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// RFC 3339.
    pub made_at: String,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AllKept {
    pub remembered: Vec<Kept>,
}

impl Operation for ListRemembered {
    const INFO: Info = Info {
        name: "list_remembered",
        title: "List what is remembered of an ontology",
        description: "Lists verified questions and preferences of an ontology.",
        read_only: true,
        route: Route { method: "GET", path: "/ontologies/{ontology_id}/remembered" },
        ..WRITE
    };
    type Reply = AllKept;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        self.ontology_id.to_string()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<AllKept> {
        let all = on.engines.questions.remembered(job, self.ontology_id).await?;
        let kept = all.into_iter().map(|it| Kept {
            id: it.id,
            memory: it.memory,
            key: it.key,
            said: it.said,
            made_by: it.made_by,
            made_at: rfc3339(it.made_at),
        });
        Ok(AllKept { remembered: kept.collect() })
    }
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Forget {
    pub remembered_id: Id<Remembered>,
}

impl Operation for Forget {
    const INFO: Info = Info {
        name: "forget",
        title: "Forget",
        description: "Forgets a verified question or a preference.",
        recorded_as: Some("admin.ontology.forget"),
        route: Route { method: "DELETE", path: "/remembered/{remembered_id}" },
        ..WRITE
    };
    type Reply = Done;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        self.remembered_id.to_string()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Done> {
        on.engines.questions.forget(job, self.remembered_id).await?;
        Ok(Done::OK)
    }
}
