//! Signing in at another provider, as a person sees it.
//!
//! 1. `GET /login/{provider}` ([`depart`]) says where the browser will be sent, and when a program waits for the
//!    sign-in, which one. No state exists yet (B15, B16).
//! 2. Its `POST` makes the [`Journey`](crate::identity::upstream::Journey), seals it into a cookie of its own
//!    (`browser/upstream/cookie.rs`), and sends the browser away. Nothing is stored for strangers.
//! 3. `GET /login/{provider}/callback` ([`callback`]) opens the journey, removes its cookie whatever happens, has the ID
//!    token judged, and goes on as the account allows.
//! 4. Whoever turns out to have an account signs in to it and confirms at `/account/providers/confirm`.

pub mod callback;
pub mod depart;
