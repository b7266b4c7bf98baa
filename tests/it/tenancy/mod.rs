//! Workspaces as tenants: what their admins do, what the rules keep, and that no workspace shows in another. Names carry
//! the number of the attack that the test makes (see the catalogue in the reference on OAuth): K for tenancy.

mod erasing;
mod inviting;
mod isolation;
mod manage;
mod pages;
mod rules;
mod sharing;
mod streams;

use dragoman::base::secret::Secret;
use dragoman::model::access::{Role, Scope};
use dragoman::model::org::Org;
use dragoman::model::user::User;
use serde_json::Value;

use crate::support::databases;
use crate::support::service::{PASSWORD, Service, json_of};

/// Runs a test on the whole service over SQLite, and then over PostgreSQL.
pub async fn both(settings: &[(&str, &str)], test: impl AsyncFn(Service)) {
    eprintln!("on SQLite");
    test(Service::with(settings).await).await;
    eprintln!("on PostgreSQL");
    let url = databases::postgres_url().await;
    let settings: Vec<(&str, &str)> = settings.iter().copied().chain([("DATABASE_URL", url.as_str())]).collect();
    test(Service::with(&settings).await).await;
}

impl Service {
    /// A person, member of nothing.
    pub async fn person(&self, email: &str) -> User {
        self.identity.create_user(email, "Person", &Secret::new(PASSWORD)).await.unwrap()
    }

    /// A member, and an access token of theirs with every scope that the role may hold.
    pub async fn member(&self, org: &Org, email: &str, role: Role) -> (User, String) {
        let user = self.person(email).await;
        self.identity.set_role(org.id, user.id, role).await.unwrap();
        let token = self.access_token_of(org, user.id, &Scope::ALL).await;
        (user, token)
    }

    /// Calls management; returns status and body.
    pub async fn manage(&self, token: &str, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let request =
            self.http.request(method.parse().unwrap(), self.url(&format!("/api/v1{path}"))).bearer_auth(token);
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        json_of(request.send().await.unwrap()).await
    }
}

/// The code of a refusal.
pub fn code(body: &Value) -> &str {
    body["error"]["code"].as_str().unwrap_or_else(|| panic!("no refusal: {body}"))
}
