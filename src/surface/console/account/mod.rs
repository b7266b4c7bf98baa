//! `/account`: the person's own things.

mod passkeys;
mod two_step;

use axum::Router;

use crate::surface::web::Web;

pub fn routes() -> Router<Web> {
    Router::new().merge(two_step::routes()).merge(passkeys::routes())
}
