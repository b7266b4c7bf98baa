//! Calls that go on after their client was given a handle, with which it asks later what became of them (MCP, Tasks
//! extension, SEP-2663).

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::access::Pass;
use crate::model::dataset::Dataset;
use crate::model::org::Org;

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Working,
    /// A person has to answer before it goes on.
    InputRequired,
    /// There is a result, be it one that tells of a failure.
    Completed,
    /// It broke off, and there is no result.
    Failed,
    Cancelled,
}

impl Status {
    pub const ALL: [Status; 5] =
        [Status::Working, Status::InputRequired, Status::Completed, Status::Failed, Status::Cancelled];

    /// The protocol's own word.
    pub fn name(self) -> &'static str {
        match self {
            Status::Working => "working",
            Status::InputRequired => "input_required",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
        }
    }
}

impl FromStr for Status {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let status = Status::ALL.into_iter().find(|status| status.name() == text);
        status.ok_or_else(|| format!("unknown status of a task {text:?}"))
    }
}

/// A dataset as whoever called saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    pub dataset: Id<Dataset>,
    /// Columns that were hidden from external clients.
    pub hidden: Vec<String>,
}

impl Seen {
    /// All that a call could read.
    pub fn by(pass: &Pass) -> Vec<Self> {
        let datasets = pass.datasets().iter();
        datasets.map(|dataset| Self { dataset: dataset.id, hidden: dataset.hidden.clone() }).collect()
    }

    /// Whether all of it may still be read.
    pub fn is_open(&self, pass: &Pass) -> bool {
        let was_hidden = |column: &String| self.hidden.contains(column);
        pass.dataset(self.dataset).is_ok_and(|now| now.hidden.iter().all(was_hidden))
    }
}

/// A task as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub org: Id<Org>,
    /// 256 random bits: nobody finds one by guessing.
    pub id: String,
    /// Whose it is: the grant or the connectivity token that began it.
    pub credential: String,
    pub tool: String,
    pub status: Status,
    /// What it is doing, or why it ended; for people.
    pub message: String,
    /// Sealed for its owner: what it asks, what it came to, or why it failed. A task that failed without saying why was
    /// left by its node.
    pub outcome: Option<String>,
    /// What the outcome was made of; empty where nothing is known of that.
    pub seen: Vec<Seen>,
    /// The process that works on it, and until when it is sure to be there.
    pub node: String,
    pub leased_until: Millis,
    pub created_at: Millis,
    pub updated_at: Millis,
    /// From then on it never was.
    pub expires_at: Millis,
}

impl Task {
    /// Whether somebody is sure to work on it at `now`.
    pub fn is_held(&self, now: Millis) -> bool {
        self.status == Status::Working && self.leased_until > now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_as_it_is_written() {
        for status in Status::ALL {
            assert_eq!(status.name().parse(), Ok(status));
        }
        assert!("done".parse::<Status>().is_err());
    }
}
