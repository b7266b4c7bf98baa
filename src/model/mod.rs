//! Types and rules of the product: no async, no SQL, no HTTP.

pub mod access;
pub mod acr;
pub mod audit;
pub mod caller;
pub mod dataset;
pub mod document;
pub mod error;
pub mod grant;
pub mod org;
pub mod personal;
pub mod profile;
pub mod source;
pub mod table;
pub mod user;
