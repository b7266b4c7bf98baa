//! Protocols: what comes over HTTP, translated to the layers below and back. No rules of the product.

pub mod context;
pub mod form;
pub mod guard;
pub mod html;
pub mod login;
pub mod oauth;
pub mod web;
