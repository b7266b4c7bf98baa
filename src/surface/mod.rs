//! The protocols. Every path and every layer is in `routes.rs`, on one page.
//!
//! Imports run downwards only:
//!
//! 1. `routes.rs`, which knows everybody;
//! 2. `mcp`, `rest`, `oauth`, `login`, `console` and `docs`, none of which knows another;
//! 3. `guard.rs` and `browser`: who calls, by a credential or by the session of a browser; `export.rs`, the one answer
//!    that two of them give;
//! 4. single files for what all of them write and read: answers, errors, forms, bodies, schemas.

pub mod arrive;
pub mod body;
pub mod browser;
pub mod console;
pub mod context;
pub mod cors;
pub mod crowd;
pub mod docs;
pub mod drain;
pub mod error;
pub mod export;
pub mod finish;
pub mod form;
pub mod guard;
pub mod health;
pub mod html;
pub mod listen;
pub mod login;
pub mod made;
pub mod mcp;
pub mod oauth;
pub mod operator;
pub mod receive;
pub mod resource;
pub mod rest;
pub mod routes;
pub mod schema;
pub mod stall;
pub mod tus;
pub mod web;
