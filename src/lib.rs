//! # Dragoman: the architecture
//!
//! A dragoman was the interpreter who guided foreigners through a court whose language they did not speak, and answered
//! for them at its doors. This one stands between people's AI clients and an organisation's data: it checks who asks,
//! lets them see what they may, answers from the data, and keeps a record.
//!
//! ## The layers
//!
//! Data enter at [`surface`], go down to [`engine`] and [`store`], and come back the same way. A layer uses those above
//! it in this table only; a test reads the sources and fails on an import that looks the other way.
//!
//! | layer | holds |
//! |---|---|
//! | [`base`] | clock, ids, secrets, outbound fetches, mails, cursors, telemetry: could be copied into another product |
//! | [`config`] | settings as plain data; the only reader of the environment |
//! | [`model`] | types and rules: caller, access, errors, datasets; no async, no SQL, no HTTP |
//! | [`store`] | metadata in SQLite or PostgreSQL; plain functions, the tenant's id first |
//! | [`identity`] | who is calling: passwords, grants, tokens, keys, members; no HTTP |
//! | [`engine`] | what computes: SQL in worker processes and in remote engines, retrieval, ingest, ontologies and questions over them |
//! | [`gateway`] | the one door: limit, authorize, run, meter, audit |
//! | [`ops`] | the product: one file for each thing that a caller may ask, and the only list of them |
//! | [`surface`] | protocols, no rules: MCP, REST, OAuth, pages; never the engines |
//! | [`app`], [`cli`] | composition, start and stop; the commands |
//!
//! ## One call, file by file
//!
//! `POST /mcp` with `tools/call dragoman_sql`:
//!
//! 1. `surface/routes.rs` has the path and its layers, of which `surface/arrive.rs` gives the request an id and the
//!    client's address;
//! 2. `surface/guard.rs` verifies the credential (`identity/token.rs`) before a body is read, and makes the
//!    [`model::caller::Caller`];
//! 3. `surface/mcp/mod.rs` puts client quirks right, checks whose session it is, and challenges for missing scopes;
//! 4. `surface/mcp/handler.rs` and `tools.rs` find the operation and read its arguments;
//! 5. [`gateway::Gateway::write`] limits, authorizes (`model/access.rs` makes the [`model::access::Pass`]), and starts
//!    the deadline;
//! 6. `ops/sql.rs` asks `engine/sql/mod.rs`, which finds where the tables live (`remote/route.rs`). Here: it waits for
//!    its turn (`engine/turns.rs`) and for a worker process (`pool.rs`, `process.rs`), which has the text judged by
//!    DuckDB's own parser (`guard`), runs it over views of the permitted tables (`worker/instance.rs`), and is killed
//!    when late. In a remote engine: judged by that engine's own parser, and run there (`remote/sources.rs`,
//!    `remote/server.rs`);
//! 7. the gateway has the surface write the reply, measures what it wrote, writes the audit row, and only then lets the
//!    answer go.
//!
//! `ask_question` parts from this at 6: `ops/ask_question.rs` asks `engine/agent/conversation/ask.rs`, which takes the
//! ontology as far as the pass reaches (`engine/ontology/library.rs`), has the planners read the question, one after
//! the other until one has a plan (`understand.rs` beside it; the first is led by `engine/agent/english/read.rs`), and
//! makes the answer of the plan (`answer.rs` beside it): compiled to SQL, run by `engine/sql` as above, checked, told
//! and drawn. `dragoman ontology explain` prints what each of these stages made of a question.
//!
//! An import parts at 6 too: `ops/import.rs` asks `engine/ingest`, which finds out what each file is, and builds a whole
//! new version aside: tables in a worker process (`engine/sql/import.rs`), documents read in one (`engine/extract` by way
//! of `engine/sql/documents.rs`), cut and indexed here (`engine/search`). `engine/datasets.rs` publishes it, in one moment
//! for all who read.
//!
//! The same steps from 5 on serve REST, the command line, and whatever surface comes next.
//!
//! ## What the compiler keeps
//!
//! [`engine::Engines`] is a private field of the gateway; engine functions demand a [`engine::job::Job`], a job holds a
//! pass, and only [`model::access::authorize`] makes one. A caller is made by the guard, and for a page of the console by
//! the visit of a signed-in person (`surface/browser/visit.rs`); commands at the machine and scheduled syncs
//! (`gateway/syncs.rs`) call as the workspace's operator.

#![warn(unreachable_pub)]
#![cfg_attr(not(test), warn(clippy::unnecessary_wraps))]
#![warn(clippy::indexing_slicing)]
#![warn(clippy::unused_self)]

pub mod app;
pub mod base;
pub mod cli;
pub mod config;
pub mod engine;
pub mod gateway;
pub mod identity;
pub mod model;
pub mod ops;
pub mod store;
pub mod surface;
