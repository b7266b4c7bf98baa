//! Cookies that are not the session's: never readable by scripts, never for another host, path or (behind TLS) scheme.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};

use crate::config::Config;

/// The full name; `__Host-` makes browsers refuse it from another host, path or without TLS.
pub fn name(config: &Config, base: &str) -> String {
    if config.is_https() { format!("__Host-{base}") } else { base.to_owned() }
}

/// Names and values of the cookies that the browser sent, in its order.
pub fn pairs(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='))
}

/// The value of the first cookie with this full name.
pub fn read<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    pairs(headers).find(|(found, _)| *found == name).map(|(_, value)| value)
}

/// A `Set-Cookie`; without an age it goes when the browser does.
pub fn line(config: &Config, base: &str, value: &str, age: Option<Duration>) -> Option<HeaderValue> {
    let secure = if config.is_https() { "; Secure" } else { "" };
    let age = age.map_or_else(String::new, |age| format!("; Max-Age={}", age.as_secs()));
    let line = format!("{}={value}; Path=/; HttpOnly; SameSite=Lax{age}{secure}", name(config, base));
    HeaderValue::try_from(line).ok()
}
