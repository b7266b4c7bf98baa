//! Types and rules of the product: no async, no SQL, no HTTP.

pub mod access;
pub mod acr;
pub mod audit;
pub mod caller;
pub mod chart;
pub mod column_change;
pub mod dataset;
pub mod document;
pub mod error;
pub mod grant;
pub mod guide;
pub mod lineage;
pub mod name;
pub mod ontology;
pub mod org;
pub mod personal;
pub mod plan;
pub mod preferences;
pub mod profile;
pub mod query;
pub mod reading;
pub mod run;
pub mod source;
pub mod table;
pub mod task;
pub mod user;
