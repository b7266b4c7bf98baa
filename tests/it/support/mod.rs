//! What tests share.

pub mod databases;
pub mod service;
