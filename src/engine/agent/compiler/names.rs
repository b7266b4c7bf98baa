//! Names in statements.

use std::collections::BTreeSet;

/// Names of one kind that are taken; SQL does not regard case.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(BTreeSet<String>);

impl Names {
    pub(super) fn take(&mut self, name: &str) {
        self.0.insert(name.to_lowercase());
    }

    /// A name like the one wanted that is not taken, in small letters, digits and underscores.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let mut base: String = String::new();
        for c in wanted.to_lowercase().chars() {
            let c = if c.is_alphanumeric() { c } else { '_' };
            if !(c == '_' && (base.is_empty() || base.ends_with('_'))) && base.chars().count() < 40 {
                base.push(c);
            }
        }
        let base = base.trim_end_matches('_');
        let base = if base.is_empty() { "value" } else { base };
        self.unique(base, |base, number| format!("{base}_{number}"))
    }

    /// A heading for people that is not taken.
    pub(super) fn heading(&mut self, wanted: &str) -> String {
        let wanted = wanted.trim().replace('\u{0}', "");
        let wanted = if wanted.is_empty() { "Value" } else { &wanted };
        self.unique(wanted, |wanted, number| format!("{wanted} ({number})"))
    }

    fn unique(&mut self, base: &str, numbered: impl Fn(&str, usize) -> String) -> String {
        let mut name = base.to_owned();
        let mut number = 2;
        while !self.0.insert(name.to_lowercase()) {
            name = numbered(base, number);
            number += 1;
        }
        name
    }
}
