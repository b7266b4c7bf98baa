//! A committed list of an engine's functions: `+` may be called in an expression, `-` may not, with the reason. A name
//! that is not in it is refused.

use std::collections::HashMap;

use super::{Refusal, Verdict, habits};
use crate::base::nearest::nearest_of_many;

/// One line a name: verdict, name, reason and marks, separated by tabs.
pub(crate) struct List {
    verdicts: HashMap<&'static str, Result<(), &'static str>>,
    /// What to do instead when no name is near.
    otherwise: &'static str,
    /// Whether functions of other dialects are told in this one.
    has_habits: bool,
}

impl List {
    pub(crate) fn read(text: &'static str, otherwise: &'static str) -> Self {
        let verdicts = text.lines().filter_map(|line| {
            let mut fields = line.split('\t');
            let (verdict, name) = (fields.next()?, fields.next()?);
            let reason = fields.next().unwrap_or("not for queries");
            Some((name, if verdict == "+" { Ok(()) } else { Err(reason) }))
        });
        Self { verdicts: verdicts.collect(), otherwise, has_habits: false }
    }

    /// Tells what to write in DuckDB instead of other dialects' functions.
    pub(crate) fn with_habits(self) -> Self {
        Self { has_habits: true, ..self }
    }

    /// Every name in the list, allowed or not.
    #[cfg(test)]
    pub(crate) fn names(&self) -> std::collections::BTreeSet<&'static str> {
        self.verdicts.keys().copied().collect()
    }

    /// Whether a function may be called.
    pub(crate) fn judge(&self, name: &str) -> Verdict {
        match self.verdicts.get(name) {
            Some(Ok(())) => Ok(()),
            Some(Err(reason)) => Err(Refusal::new(
                "function",
                name,
                format!("The function {name} may not be used: it is {}.", article(reason)),
                "Query the tables themselves; use the schema tool for columns.",
            )),
            None => {
                let known = self.verdicts.iter().filter(|(_, verdict)| verdict.is_ok()).map(|(name, _)| *name);
                let hint = match (habits::function(name).filter(|_| self.has_habits), nearest_of_many(name, known)) {
                    (Some(instead), _) => instead.to_owned(),
                    (None, Some(near)) => format!("Did you mean {near}?"),
                    (None, None) => self.otherwise.to_owned(),
                };
                Err(Refusal::new("function", name, format!("There is no function {name}."), hint).mistaken())
            }
        }
    }
}

fn article(reason: &str) -> String {
    match reason.split(' ').next() {
        Some("runs" | "dispatches" | "shows" | "ends" | "waits" | "describes") => format!("one that {reason}"),
        _ => reason.to_owned(),
    }
}
