//! What `read.rs` reads with: takes a variable as a value of its type, and collects every problem on the way.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::variables::VARIABLES;

/// Everything that is wrong with the settings.
#[derive(Debug)]
pub struct Problems(pub Vec<String>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} setting(s) cannot be used:", self.0.len())?;
        self.0.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}
impl std::error::Error for Problems {}

/// See the module.
pub(super) struct Reader<F> {
    source: F,
    pub problems: Vec<String>,
}

impl<F: Fn(&str) -> Option<String>> Reader<F> {
    pub(super) fn new(source: F) -> Self {
        Self { source, problems: Vec::new() }
    }

    /// The value as written, or the table's default; `None` when both are empty.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let default = VARIABLES.iter().find(|variable| variable.name == name).map_or("", |v| v.default);
        (self.source)(name)
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
            .or_else(|| (!default.is_empty()).then(|| default.to_owned()))
    }

    pub(super) fn parse<T: FromStr>(&mut self, name: &str, expected: &str) -> Option<T> {
        let text = self.text(name)?;
        let parsed = text.parse().ok();
        if parsed.is_none() {
            self.problems.push(format!("{name}: expected {expected}"));
        }
        parsed
    }

    /// A whole number of at least one.
    pub(super) fn number<T: TryFrom<u64>>(&mut self, name: &str, fallback: T) -> T {
        let number = self.parse::<u64>(name, "a whole number of at least 1").filter(|n| *n > 0);
        match number.and_then(|n| T::try_from(n).ok()) {
            Some(number) => number,
            None => {
                let said = format!("{name}: expected a whole number of at least 1");
                if !self.problems.contains(&said) {
                    self.problems.push(said);
                }
                fallback
            }
        }
    }

    /// `on` or `off`.
    pub(super) fn switch(&mut self, name: &str) -> bool {
        match self.text(name).as_deref() {
            Some("on") => true,
            Some("off") => false,
            _ => {
                self.problems.push(format!("{name}: expected on or off"));
                false
            }
        }
    }

    pub(super) fn seconds(&mut self, name: &str) -> Duration {
        Duration::from_secs(self.number(name, 1u64))
    }

    pub(super) fn list<T: FromStr>(&mut self, name: &str, expected: &str) -> Vec<T> {
        let text = self.text(name).unwrap_or_default();
        let mut items = Vec::new();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            match item.parse() {
                Ok(item) => items.push(item),
                Err(_) => self.problems.push(format!("{name}: expected {expected}")),
            }
        }
        items
    }
}
