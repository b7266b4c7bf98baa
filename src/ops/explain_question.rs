//! `explain_question`: a question is asked, and what every stage on the way to its answer made is told. For the operator
//! at the machine alone, and so not in the list of what callers may ask.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ask_question::AskQuestion;
use crate::engine::agent::conversation::Ask;
use crate::engine::agent::stages::Record;
use crate::engine::job::Job;
use crate::gateway::operation::{Cost, Info, Operation, Parts};
use crate::model::access::{Action, Want};
use crate::model::error::{Code, Result};
use crate::model::run::{Ending, Stage};

/// Arguments: those of the question.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ExplainQuestion(pub AskQuestion);

/// The reply.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Explained {
    pub outcome: Ending,
    pub narrative: String,
    /// In the order in which they ran.
    pub stages: Vec<Stage>,
}

impl Operation for ExplainQuestion {
    const INFO: Info = Info {
        name: "explain_question",
        title: "Explain how a question is answered",
        description: "Asks a question and returns what every stage made of it.",
        action: Action::RunSql,
        cost: Cost::Ask,
        time: |budgets| budgets.ask_time,
        ..Info::MANAGE
    };
    type Reply = Explained;
    const WANT: Want = Want::All;
    const LATE: Code = Code::AgentTimeout;

    fn target(&self) -> String {
        self.0.target()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Explained> {
        let record = Record::kept();
        let AskQuestion { ontology_id, question, conversation_id, .. } = self.0;
        let ontology = on.engines.questions.meant(job, ontology_id.as_ref(), conversation_id).await?;
        let ask = Ask { ontology, question, conversation: conversation_id, record: record.clone() };
        let answered = on.engines.questions.ask(job, ask).await?;
        Ok(Explained { outcome: answered.ending, narrative: answered.body.narrative, stages: record.stages() })
    }
}
