//! What tests share.

pub mod chance;
pub mod databases;
pub mod dump;
pub mod operations;
pub mod program;
pub mod qdrant;
pub mod s3;
pub mod service;
