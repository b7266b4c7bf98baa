//! The address of a server as a person writes it: `postgres://user@host:5432/database`. Nothing in it may name a file or
//! a socket of this machine, or change how the session works.

use serde_json::json;
use url::Url;

use super::connect::Target;
use crate::base::peers::{self, PrivateHost};
use crate::base::secret::Secret;
use crate::base::tls;
use crate::model::error::{Code, Error, Result};

/// Where and as whom to log in.
pub struct Login {
    host: String,
    port: u16,
    pub user: String,
    pub database: String,
    password: Secret,
    ca: Option<String>,
    /// `None` decides by where the host is.
    encrypted: Option<bool>,
}

fn wrong(message: impl Into<String>) -> Error {
    Error::invalid("address", message)
}

fn plain(text: &str) -> Option<String> {
    let decoded = percent_decoded(text)?;
    (!decoded.is_empty() && decoded.len() <= 63 && !decoded.contains(char::is_control)).then_some(decoded)
}

fn percent_decoded(text: &str) -> Option<String> {
    // A value of a form is decoded in the same way, except for `+`.
    let pair = format!("x={}", text.replace('+', "%2B").replace('&', "%26"));
    url::form_urlencoded::parse(pair.as_bytes()).next().map(|(_, value)| value.into_owned())
}

impl Login {
    /// Reads an address; `ca` is a certificate (PEM) that the server's must come from.
    ///
    /// # Errors
    /// `invalid_argument` that says what cannot be in an address.
    pub fn parse(url: &Url, password: Secret, ca: Option<String>) -> Result<Self> {
        if !["postgres", "postgresql"].contains(&url.scheme()) {
            return Err(wrong("The address begins with postgres://, as in postgres://user@host:5432/database."));
        }
        let named = |c: u8| c.is_ascii_alphanumeric() || b"-._:[]".contains(&c);
        let Some(host) = url.host_str().filter(|host| !host.is_empty() && host.bytes().all(named)) else {
            return Err(wrong("The address has no host name. Sockets of this machine cannot be used."));
        };
        if url.password().is_some() || url.fragment().is_some() {
            return Err(wrong("Write the password in its own field, not into the address."));
        }
        let user = plain(url.username()).ok_or_else(|| Error::invalid("user", "The user is missing or too long."))?;
        let database = url.path().strip_prefix('/').and_then(plain);
        let database = database.ok_or_else(|| wrong("The address ends with the database's name: …:5432/database."))?;
        let mut encrypted = None;
        for (name, value) in url.query_pairs() {
            encrypted = match (&*name, &*value) {
                ("sslmode", "verify-full") => Some(true),
                ("sslmode", "disable") => Some(false),
                ("sslmode", _) => {
                    let message = "sslmode is verify-full, or for hosts that the operator has listed disable.";
                    return Err(wrong(message));
                }
                _ => {
                    let message = format!("The address cannot have the parameter {name:?}: only sslmode is known.");
                    return Err(wrong(message));
                }
            };
        }
        if let Some(pem) = &ca {
            tls::verified(Some(pem)).map_err(|problem| Error::invalid("ca", format!("The certificate: {problem}.")))?;
        }
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        Ok(Self { host, port: url.port().unwrap_or(5432), user, database, password, ca, encrypted })
    }

    /// Looks the host up, and decides how to speak to it: over TLS that verifies, unless it is in a part of the own
    /// network that the operator listed.
    ///
    /// # Errors
    /// `invalid_argument` for a host that may not be connected to, in the same words as for one that is not there:
    /// nobody learns here which names the own network has.
    pub async fn target(&self, private: &[PrivateHost]) -> Result<Target> {
        let reached = peers::reach(&self.host, self.port, private).await.map_err(|refused| {
            tracing::debug!(host = self.host, %refused, "a source's address is refused");
            wrong(format!(
                "{} is no address that can be used: it is not there, or not public. Servers in the operator's own \
                 network can be used after the operator has listed them (DRAGOMAN_SOURCE_PRIVATE_HOSTS).",
                self.host
            ))
        })?;
        let encrypted = self.encrypted.unwrap_or(!reached.is_private || self.ca.is_some());
        if !encrypted && !reached.is_private {
            return Err(wrong("Only hosts that the operator has listed may be used without TLS (sslmode=disable)."));
        }
        let tls = match encrypted {
            true => Some(tls::verified(self.ca.as_deref()).map_err(|problem| {
                Error::new(Code::SourceUnavailable, format!("No secure connection (TLS): {problem}."))
                    .with(json!({ "step": "tls" }))
            })?),
            false => None,
        };
        Ok(Target {
            host: self.host.clone(),
            addresses: reached.addresses,
            user: self.user.clone(),
            password: self.password.clone(),
            database: self.database.clone(),
            tls,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Login> {
        Login::parse(&Url::parse(text).unwrap(), Secret::new("x"), None)
    }

    #[test]
    fn an_address_names_a_host_a_user_and_a_database() {
        let login = parse("postgres://shop%5Freader@DB.example.com/my%20shop").unwrap();
        assert_eq!((login.host.as_str(), login.port), ("db.example.com", 5432));
        assert_eq!((login.user.as_str(), login.database.as_str()), ("shop_reader", "my shop"));
        let login = parse("postgresql://u@[::1]:6000/d?sslmode=disable").unwrap();
        assert_eq!((login.host.as_str(), login.port, login.encrypted), ("::1", 6000, Some(false)));
    }

    #[test]
    fn files_sockets_options_and_passwords_are_no_part_of_an_address() {
        for bad in [
            "mysql://u@h/d",
            "postgres:///d?host=/var/run/postgresql",
            "postgres://u@%2Fvar%2Frun%2Fpostgresql/d",
            "postgres://u:secret@h/d",
            "postgres://h/d",
            "postgres://u@h",
            "postgres://u@h/",
            "postgres://u@h/d?sslmode=prefer",
            "postgres://u@h/d?sslkey=/etc/ssl/key",
            "postgres://u@h/d?sslrootcert=/etc/passwd",
            "postgres://u@h/d?passfile=/root/.pgpass",
            "postgres://u@h/d?options=-c%20search_path%3Dx",
            "postgres://u@h/d?host=/tmp",
            "postgres://u@h/d?hostaddr=10.0.0.1",
            "postgres://u@h/d?service=x",
            "postgres://u@h/d#x",
            "postgres://u%00@h/d",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        let url = Url::parse("postgres://u@h/d").unwrap();
        assert!(Login::parse(&url, Secret::new("x"), Some("no certificate".into())).is_err());
    }

    #[tokio::test]
    async fn without_tls_only_listed_hosts_are_spoken_to() {
        let listed = ["127.0.0.0/8".parse().unwrap()];
        let target = async |text: &str, private: &[PrivateHost]| parse(text).unwrap().target(private).await;
        assert!(target("postgres://u@127.0.0.1/d", &[]).await.is_err());
        assert!(target("postgres://u@127.0.0.1/d", &listed).await.unwrap().tls.is_none());
        assert!(target("postgres://u@127.0.0.1/d?sslmode=verify-full", &listed).await.unwrap().tls.is_some());
        assert!(target("postgres://u@1.1.1.1/d", &[]).await.unwrap().tls.is_some());
        assert!(target("postgres://u@1.1.1.1/d?sslmode=disable", &listed).await.is_err());
    }
}
