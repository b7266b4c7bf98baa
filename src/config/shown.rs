//! What is set, for people who help: without secrets, and with what it takes to find them in other texts.

use url::Url;

use super::variables::VARIABLES;
use crate::base::secret::Secret;

/// Variables whose values are secret, or have a secret in them.
const SECRET: [&str; 9] = [
    "DATABASE_URL",
    "DRAGOMAN_MASTER_KEY",
    "DRAGOMAN_SMTP_URL",
    "DRAGOMAN_OIDC_GOOGLE_CLIENT_SECRET",
    "DRAGOMAN_OIDC_CLIENT_SECRET",
    "DRAGOMAN_LLM_API_KEY",
    "DRAGOMAN_EMBEDDING_API_KEY",
    "QDRANT_API_KEY",
    "DRAGOMAN_TOKEN",
];

/// A variable that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub name: &'static str,
    /// `(set)` for a secret; of an address, without its user and password.
    pub value: String,
}

/// All of them, and the secrets among them.
#[derive(Debug)]
pub struct Settings {
    pub shown: Vec<Setting>,
    pub secrets: Vec<Secret>,
}

impl Settings {
    pub(super) fn of(source: impl Fn(&str) -> Option<String>) -> Self {
        let (mut shown, mut secrets) = (Vec::new(), Vec::new());
        for variable in VARIABLES {
            let value = source(variable.name).map(|value| value.trim().to_owned());
            let Some(value) = value.filter(|value| !value.is_empty()) else { continue };
            let name = variable.name;
            let url = Url::parse(&value).ok();
            secrets.extend(url.as_ref().and_then(Url::password).map(Secret::new));
            if SECRET.contains(&name) {
                secrets.push(Secret::new(&*value));
                shown.push(Setting { name, value: "(set)".into() });
                continue;
            }
            let bare = url.filter(|url| url.has_host() && (url.password().is_some() || !url.username().is_empty()));
            let value = bare.map_or(value, |mut url| {
                let _of_an_address_with_a_host = url.set_password(None).and_then(|()| url.set_username(""));
                url.to_string()
            });
            shown.push(Setting { name, value });
        }
        Self { shown, secrets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_shown_without_secrets() {
        let settings = Settings::of(|name| match name {
            "DRAGOMAN_LOG" => Some(" debug ".into()),
            "DRAGOMAN_LLM_URL" => Some("https://me:hunter2@models.example.com/v1".into()),
            "DRAGOMAN_LLM_API_KEY" => Some("sk-hunter3".into()),
            "DATABASE_URL" => Some("postgres://me:hunter4@db/x".into()),
            "DRAGOMAN_LISTEN" => Some(String::new()),
            _ => None,
        });
        let text = format!("{:?}", settings.shown);
        assert!(!text.contains("hunter"), "{text}");
        assert!(text.contains("https://models.example.com/v1") && text.contains("debug"), "{text}");
        let secrets: Vec<&str> = settings.secrets.iter().map(Secret::expose).collect();
        assert_eq!(secrets, ["hunter4", "postgres://me:hunter4@db/x", "hunter2", "sk-hunter3"]);
        assert_eq!(settings.shown.len(), 4);
    }

    #[test]
    fn every_variable_that_says_that_it_is_secret_is_among_them() {
        for variable in VARIABLES {
            let says = ["KEY", "SECRET", "PASSWORD"].iter().any(|word| variable.name.ends_with(word));
            assert!(!says || SECRET.contains(&variable.name), "{}", variable.name);
        }
        assert!(SECRET.iter().all(|name| VARIABLES.iter().any(|variable| variable.name == *name)));
    }
}
