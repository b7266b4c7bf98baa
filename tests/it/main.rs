//! All tests that need more than one module: one binary, so that everything is linked once.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on says so by panicking")]

mod abuse;
mod accounts;
mod architecture;
mod ask;
mod attacks;
#[expect(dead_code, reason = "the command that measures uses the rest")]
#[path = "../bench/questions/bank.rs"]
mod bank;
mod browser_store;
mod catalogue;
mod chatgpt;
mod client_documents;
mod clients;
mod commands;
mod conformance;
mod consent;
mod console;
mod console_ontologies;
mod data;
mod datasets;
mod denials;
mod device;
mod factors;
mod identity;
mod listen;
mod logging;
mod messages;
mod models;
mod names;
mod news;
mod nginx;
mod oauth;
mod ontologies;
mod outside;
mod questions;
mod quirks;
mod redirector;
mod registration;
mod replies;
mod rest;
mod search;
mod secrecy;
mod sessions;
mod site;
mod sources;
mod sql;
mod stopping;
mod story;
mod strict;
mod support;
mod tenancy;
mod tools;
mod upkeep;
mod upstream;
mod wall;
