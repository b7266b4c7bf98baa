//! What pages, the authorization endpoint and the console know of the browser in front of them: whose session it is, that
//! a form came from our own page, where the person goes next, and what they are given back there. Nothing here knows a page
//! of theirs.

pub mod again;
pub mod cookies;
pub mod csrf;
pub mod destination;
mod kept;
pub mod known;
pub mod once;
pub mod one_name;
pub mod password;
mod refill;
pub mod return_to;
pub mod session;
pub mod upstream;
pub mod visit;
