//! A thing that a caller may ask, on every surface: its name, its right, its cost, its types, and how it runs.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::config::{Budgets, Config};
use crate::engine::Engines;
use crate::engine::job::Job;
use crate::model::access::{Action, Want};
use crate::model::error::{Code, Result};

/// Which bucket a call draws from, besides the token's and the workspace's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Metadata and small reads.
    Read,
    /// A resource of MCP.
    Resource,
    /// A query of the caller's own making, in SQL or in the words of an ontology.
    Sql,
    /// A question in plain words.
    Ask,
    /// Management. Draws from no bucket that clients can empty: a flood must not keep an admin from ending it.
    Manage,
}

/// Where an operation can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// An MCP tool, and the same on REST.
    Tool,
    /// On REST, and where it fits behind an MCP resource; not a tool.
    Resource,
    /// The management API and the command line.
    Manage,
}

/// A set of tools that clients can ask for by the address: `/mcp?toolsets=data,ask` offers these two alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toolset {
    /// Datasets: what there is, and SQL over tables.
    Data,
    /// Retrieval: passages of documents.
    Rag,
    /// Ontologies, and questions over them.
    Ask,
    /// Long texts, worked through by a language model. No tool is in it so far; an address may name it.
    Rlm,
    /// `search` and `fetch`, which ChatGPT asks of every server in one form.
    Chatgpt,
}

impl Toolset {
    pub const ALL: [Toolset; 5] = [Toolset::Data, Toolset::Rag, Toolset::Ask, Toolset::Rlm, Toolset::Chatgpt];

    /// Whether one of these sets is listed where nobody chose any. A list of tools is read, whole, before every
    /// conversation: those of [`Toolset::Rag`] alone are for agents that search on their own, whose addresses name it,
    /// and those of [`Toolset::Chatgpt`] for its clients.
    pub fn is_usual(sets: &[Toolset]) -> bool {
        sets.iter().any(|set| !matches!(set, Toolset::Rag | Toolset::Chatgpt))
    }

    /// As it is written in an address.
    pub fn name(self) -> &'static str {
        match self {
            Toolset::Data => "data",
            Toolset::Rag => "rag",
            Toolset::Ask => "ask",
            Toolset::Rlm => "rlm",
            Toolset::Chatgpt => "chatgpt",
        }
    }
}

/// How an operation is reached on REST. `{dataset_id}` in a path is taken from the URL. `GET` and `DELETE` have no body:
/// their other arguments are the query.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub method: &'static str,
    /// Below `/api/v1/ext`, or below `/api/v1` for management.
    pub path: &'static str,
}

/// Bytes of a reply to a program that retrieves on its own: no model reads it whole.
const RETRIEVED_BYTES: usize = 5_000_000;
/// Bytes of a reply of management, which is for people and programs: an ontology's text is one, with what was found of it and
/// its picture.
const MANAGED_BYTES: usize = 24 << 20;

/// What is known of an operation before it is asked.
#[derive(Debug)]
pub struct Info {
    /// The MCP tool's name: `^[a-zA-Z0-9_-]{1,40}$`.
    pub name: &'static str,
    pub title: &'static str,
    /// For a language model: what it does, what to call before and after.
    pub description: &'static str,
    pub action: Action,
    pub cost: Cost,
    pub read_only: bool,
    /// Needs a person who proved themselves lately (RFC 9470).
    pub sensitive: bool,
    /// The record's word for a call, whatever way it came; the surface's own when absent.
    pub recorded_as: Option<&'static str>,
    pub surface: Surface,
    /// Those that a tool is in, any of which offers it; of what is no tool, none.
    pub toolsets: &'static [Toolset],
    /// The view that shows the reply of a tool, where a client has room for one (MCP Apps).
    pub view: Option<&'static str>,
    pub route: Route,
    /// The longest that a call may take.
    pub time: fn(&Budgets) -> Duration,
    /// Arguments of an example call, for documents.
    pub example: &'static str,
}

impl Info {
    /// What most operations of management have in common.
    pub const MANAGE: Info = Info {
        name: "",
        title: "",
        description: "",
        action: Action::Administer,
        cost: Cost::Manage,
        read_only: false,
        sensitive: false,
        recorded_as: None,
        surface: Surface::Manage,
        toolsets: &[],
        view: None,
        route: Route { method: "GET", path: "" },
        time: |_| Duration::from_secs(10),
        example: "{}",
    };

    /// What most reads have in common. They are tools; what is none says so.
    pub const READ: Info = Info { cost: Cost::Read, read_only: true, surface: Surface::Tool, ..Info::MANAGE };

    /// The most bytes of a reply, where what a model reads has at most `usual`.
    pub fn reply_bytes(&self, usual: usize, to_program: bool) -> usize {
        match (self.surface, self.toolsets) {
            (Surface::Manage, _) => usual.max(MANAGED_BYTES),
            (Surface::Tool, [Toolset::Rag]) if to_program => usual.max(RETRIEVED_BYTES),
            (Surface::Tool | Surface::Resource, _) => usual,
        }
    }
}

/// What an operation may use: the engines, the settings, who is who, and the audit log.
pub struct Parts {
    pub engines: Engines,
    pub config: std::sync::Arc<Config>,
    pub cursors: crate::base::cursor::Cursors,
    pub identity: crate::identity::Identity,
    pub record: crate::gateway::record::Record,
}

/// A reply where content is made of blocks.
#[derive(Debug, Default)]
pub struct Blocks {
    /// In order. Together they say everything that the reply says.
    pub texts: Vec<String>,
    /// SVG, for the view that shows the reply, not for models.
    pub pictures: Vec<String>,
}

/// One question back.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Question {
    pub question: String,
    /// Answers that settle it.
    pub suggestions: Vec<String>,
    /// What holds when nobody answers.
    pub assumption: String,
}

/// What a reply asks back, for the person.
#[derive(Clone, Debug)]
pub struct Asks {
    pub questions: Vec<Question>,
    /// What the answers belong to.
    pub conversation: String,
}

/// See the module.
pub trait Operation: DeserializeOwned + JsonSchema + Send + 'static {
    const INFO: Info;
    type Reply: Serialize + JsonSchema + Send;

    /// The datasets that a call covers.
    const WANT: Want = Want::Nothing;

    /// Whether the reply's form is somebody else's, who checks every key: as a tool's result it is one text without
    /// anything added, and the request's id stands beside it, in `_meta`.
    const EXACT: bool = false;

    /// Whether its replies are often as large as replies may be.
    const LARGE: bool = false;

    /// What a call is that took longer than its time.
    const LATE: Code = Code::QueryTimeout;

    /// The datasets that this call covers: others than [`Operation::WANT`] where the arguments name one.
    fn want(&self) -> Want {
        Self::WANT
    }

    /// What the audit log keeps of the arguments.
    fn target(&self) -> String {
        String::new()
    }

    /// Rows in a reply, for the audit log.
    fn rows(_reply: &Self::Reply) -> usize {
        0
    }

    /// The reply in blocks. Without them it is one text, the JSON.
    fn blocks(_reply: &Self::Reply) -> Option<Blocks> {
        None
    }

    /// Pictures (SVG) that the caller asked for.
    fn images(_reply: &Self::Reply) -> &[String] {
        &[]
    }

    /// What the reply asks back.
    fn asks(_reply: &Self::Reply) -> Option<Asks> {
        None
    }

    fn run(self, on: &Parts, job: &Job<'_>) -> impl Future<Output = Result<Self::Reply>> + Send;
}
