//! `/account`: the person's own things.

mod apps;

use axum::Router;
use axum::routing::get;

use crate::surface::web::Web;

pub fn routes() -> Router<Web> {
    Router::new().route("/account/apps", get(apps::show).post(apps::disconnect))
}
