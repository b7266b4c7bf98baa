//! What tests share.

pub mod databases;
