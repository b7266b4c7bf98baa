//! The console: what a person sees and does once signed in. Every page is rendered on the server and works without
//! scripts (but for passkeys, which browsers offer to scripts alone), with the keyboard and with a screen reader.
//!
//! `account/` is about the person: `identity` is asked directly. `workspace/` is about one of their workspaces: everything
//! passes the gateway, as it does for programs. `surface/routes.rs` says what a new page takes.
//!
//! A form that changes what stands says what its page showed (`was.rs`), so that an old page takes nothing back.

pub mod account;
pub mod frame;
pub mod home;
mod was;
pub mod workspace;
