//! What pages, the authorization endpoint and the console know of the browser in front of them: whose session it is, that
//! a form came from our own page, and where the person goes next. Nothing here knows a page of theirs.

pub mod cookies;
pub mod csrf;
pub mod destination;
pub mod known;
pub mod one_name;
pub mod password;
pub mod return_to;
pub mod session;
pub mod upstream;
pub mod visit;
