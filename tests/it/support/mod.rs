//! What tests share.

pub mod databases;
pub mod program;
pub mod service;
