//! The numbers: rates, budgets and lifetimes. Each is a setting; the defaults are the product's published ones.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use crate::base::throttle::ThrottleRates;

/// All limits of the service.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    pub rates: Rates,
    pub budgets: Budgets,
    pub lifetimes: Lifetimes,
}

/// How often. All are per minute unless the name says otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// Of a connectivity token.
    pub token: CallRates,
    /// Of a grant: of a client with a person in front of it.
    pub client: CallRates,
    /// Calls per workspace.
    pub workspace: u32,
    /// Requests of any kind of all external callers together; `None` for no such limit.
    pub instance: Option<NonZeroU32>,
    /// Calls of management per credential.
    pub manage: u32,
    /// Requests of any kind per person or connectivity token.
    pub requests: u32,
    /// MCP sessions opened per person or connectivity token.
    pub sessions: u32,
    /// Calls at the same time per token, and uploads, and as many large requests, per person.
    pub in_flight: usize,
    /// Open MCP streams per token.
    pub streams: usize,
    /// Calls at the same time for the whole instance.
    pub instance_in_flight: usize,
    /// Uploads at the same time for the whole instance, and as many large requests.
    pub instance_uploads: usize,
    /// Open MCP streams for the whole instance.
    pub instance_streams: usize,
    /// Open connections of the whole instance.
    pub instance_connections: usize,
    /// Requests without a credential that is or was good, per address.
    pub refused: u32,
    /// Failed log-ins, and bad tokens, per address before further ones are refused.
    pub failures: u32,
    /// How long a blocked address stays blocked.
    pub block: Duration,
    /// Failed log-ins of one account in 15 minutes, from anywhere, before strangers' log-ins to it are slowed down.
    pub account_failures: u32,
    /// `authorize` per address.
    pub authorize: u32,
    /// Registrations of clients that are not known yet, per address.
    pub register: u32,
    /// Requests for tokens, revocations and introspections: those that fail per address, good ones per grant or client.
    pub exchange: u32,
}

/// How often one credential may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRates {
    /// Calls of tools, queries and questions among them.
    pub calls: u32,
    /// Queries: SQL, and those in the words of an ontology.
    pub sql: u32,
    /// Questions in plain words.
    pub ask: u32,
    /// Resource reads.
    pub resources: u32,
}

impl Rates {
    /// Those that count by address.
    pub fn by_address(&self) -> ThrottleRates {
        ThrottleRates {
            failures: self.failures,
            block: self.block,
            account_failures: self.account_failures,
            authorize: self.authorize,
            register: self.register,
            exchange: self.exchange,
            refused: self.refused,
        }
    }
}

/// How much one call may use.
#[derive(Clone, Debug, PartialEq)]
pub struct Budgets {
    pub sql_time: Duration,
    pub sql_rows: usize,
    pub sql_memory_mb: u64,
    pub sql_threads: u32,
    pub sql_chars: usize,
    /// Workers that may run SQL at the same time on this node.
    pub sql_workers: usize,
    /// Megabytes of answers that are given again to the same statement.
    pub sql_known_mb: usize,
    /// The longest that a question may take, with everything that it runs.
    pub ask_time: Duration,
    /// For one statement of a question.
    pub ask_sql_time: Duration,
    /// Rows of a question's answer.
    pub ask_rows: usize,
    /// Largest reply in bytes.
    pub reply_bytes: usize,
    /// Largest uploaded file in bytes.
    pub upload_bytes: u64,
    /// What is kept of datasets.
    pub keep: Keep,
}

/// How many versions of a dataset are kept, and how much of all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// The current one included, which is always kept.
    pub versions: usize,
    /// Bytes that those before it take together.
    pub bytes: u64,
    /// Bytes that all versions of a workspace take together; `None` for no such limit.
    pub workspace: Option<NonZeroU64>,
    /// Bytes of the disk that new data leave free; a share of it when absent.
    pub free: Option<u64>,
}

impl Keep {
    /// With every version, and no more room than before.
    #[must_use]
    pub fn every_version(self) -> Self {
        Self { versions: usize::MAX, bytes: u64::MAX, ..self }
    }
}

/// How long things live.
#[derive(Clone, Debug, PartialEq)]
pub struct Lifetimes {
    pub access: Duration,
    pub code: Duration,
    pub refresh: Duration,
    pub refresh_absolute: Duration,
    /// Within it, a repeated refresh with the same token gets the same successor.
    pub refresh_retry: Duration,
    pub consent: Duration,
    /// A browser session without use.
    pub browser_session: Duration,
    /// After a log-in, how long sensitive actions need no new one.
    pub step_up: Duration,
    /// A device that waits for approval (RFC 8628).
    pub device: Duration,
    /// A link to set a new password.
    pub link: Duration,
    pub invite: Duration,
    /// A signing key, before the next one takes over.
    pub key: Duration,
    /// An MCP session without use.
    pub mcp_session: Duration,
    /// Connectivity tokens of a workspace that are in force.
    pub tokens: i64,
    /// MCP sessions per principal.
    pub mcp_sessions: usize,
    /// MCP sessions for the whole instance.
    pub mcp_sessions_instance: usize,
    /// How long the audit log is kept; `None` for good.
    pub audit: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        const MINUTE: u64 = 60;
        const DAY: u64 = 24 * 60 * MINUTE;
        let secs = Duration::from_secs;
        Self {
            rates: Rates {
                token: CallRates { calls: 30, sql: 10, ask: 5, resources: 30 },
                client: CallRates { calls: 120, sql: 60, ask: 30, resources: 120 },
                workspace: 1_200,
                instance: None,
                manage: 120,
                requests: 300,
                sessions: 60,
                in_flight: 3,
                streams: 20,
                instance_in_flight: 64,
                instance_uploads: 32,
                instance_streams: 1_000,
                instance_connections: 4_096,
                refused: 300,
                failures: 5,
                block: secs(5 * MINUTE),
                account_failures: 10,
                authorize: 10,
                register: 20,
                exchange: 60,
            },
            budgets: Budgets {
                sql_time: secs(10),
                sql_rows: 500,
                sql_memory_mb: 256,
                sql_threads: 2,
                sql_chars: 4096,
                sql_workers: 4,
                sql_known_mb: 16,
                ask_time: secs(5 * MINUTE),
                ask_sql_time: secs(30),
                ask_rows: 10_000,
                reply_bytes: 130_000,
                upload_bytes: 512 << 20,
                keep: Keep { versions: 5, bytes: 1 << 30, workspace: None, free: None },
            },
            lifetimes: Lifetimes {
                access: secs(10 * MINUTE),
                code: secs(60),
                refresh: secs(30 * DAY),
                refresh_absolute: secs(180 * DAY),
                refresh_retry: secs(30),
                consent: secs(10 * MINUTE),
                browser_session: secs(12 * 60 * MINUTE),
                step_up: secs(15 * MINUTE),
                device: secs(15 * MINUTE),
                link: secs(30 * MINUTE),
                invite: secs(7 * DAY),
                key: secs(90 * DAY),
                mcp_session: secs(60 * MINUTE),
                tokens: 10,
                mcp_sessions: 20,
                mcp_sessions_instance: 2_000,
                audit: Some(secs(400 * DAY)),
            },
        }
    }
}
