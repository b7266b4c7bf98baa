//! The SQL that a person ran lately, in the console and through their AI clients.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::rfc3339;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::gateway::record::Wanted;
use crate::model::access::Action;
use crate::model::error::{Error, Result};

/// Queries in a reply, and entries of the record that are looked at for them.
const MOST: usize = 30;
const LOOKED: usize = 200;
/// As the record names the operations.
const OPERATIONS: [&str; 2] = ["run_sql ", "dragoman_sql "];

/// Arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnQueries {}

/// A statement that was run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ran {
    /// As the record keeps it: of a long one the beginning.
    pub sql: String,
    /// The program it came from; `console` for this service's own pages.
    pub client: String,
    /// `ok`, or an error's code.
    pub outcome: String,
    pub rows: i64,
    pub duration_ms: i64,
    /// RFC 3339.
    pub at: String,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    /// Newest first, each statement once.
    pub queries: Vec<Ran>,
}

impl Operation for OwnQueries {
    const INFO: Info = Info {
        name: "own_queries",
        title: "List your own queries",
        description: "Lists the SQL that you ran lately, here and through your AI clients, newest first. What others ran is \
                      in the audit log, for admins.",
        action: Action::RunSql,
        read_only: true,
        route: Route { method: "GET", path: "/sql/history" },
        ..Info::MANAGE
    };
    type Reply = Reply;

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let Some(user) = job.pass.user() else {
            return Err(Error::forbidden("not_a_person", "Only a person has queries of their own."));
        };
        if job.pass.is_external() {
            let message = "What a person ran is shown to them in the console, and not to their AI clients.";
            return Err(Error::forbidden("console_only", message));
        }
        let wanted = Wanted { principal: format!("user:{user}"), text: "_sql ".into(), ..Wanted::default() };
        let found = on.record.find(job.pass.org(), &wanted, None, LOOKED).await?;
        let mut seen = HashSet::new();
        let mut queries = Vec::new();
        for (_, entry) in found.entries {
            let sql = OPERATIONS.iter().find_map(|name| entry.target.strip_prefix(name));
            let Some(sql) = sql.map(str::trim).filter(|sql| !sql.is_empty() && seen.insert((*sql).to_owned())) else {
                continue;
            };
            queries.push(Ran {
                sql: sql.to_owned(),
                client: entry.client,
                outcome: entry.outcome,
                rows: entry.rows,
                duration_ms: entry.duration_ms,
                at: rfc3339(entry.at),
            });
            if queries.len() == MOST {
                break;
            }
        }
        Ok(Reply { queries })
    }
}
