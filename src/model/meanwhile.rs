//! What others changed after somebody saw a thing and before they change it themselves: it is not written over unseen.

use crate::model::error::{Error, Result};

/// Fields that were changed by others, each with a sentence for people.
#[derive(Debug, Default)]
pub struct Meanwhile(Vec<(String, String)>);

impl Meanwhile {
    /// Compares a field that is to become `wanted`: it may when it is as it was `seen`, or as it is wanted already. What
    /// is not to change is not compared, nor what nobody says they saw. `what` is a noun.
    pub fn compare(&mut self, field: &str, what: &str, seen: Option<&str>, now: &str, wanted: Option<&str>) {
        let (Some(seen), Some(wanted)) = (seen, wanted) else { return };
        if seen == now || wanted.trim() == now {
            return;
        }
        let is = if now.is_empty() { "empty".to_owned() } else { format!("“{now}”") };
        self.0.push((field.to_owned(), format!("Somebody changed {what} meanwhile: it is {is} now.")));
    }

    /// # Errors
    /// `invalid_argument` for the first of the fields, with what all of them are now.
    pub fn refused(self) -> Result<()> {
        let Some((field, _)) = self.0.first() else { return Ok(()) };
        let all: Vec<&str> = self.0.iter().map(|(_, says)| says.as_str()).collect();
        let message = format!("{} Nothing was saved. To put yours in its place, save again.", all.join(" "));
        Err(Error::invalid(field, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(seen: Option<&str>, now: &str, wanted: Option<&str>) -> Result<()> {
        let mut meanwhile = Meanwhile::default();
        meanwhile.compare("title", "the title", seen, now, wanted);
        meanwhile.refused()
    }

    #[test]
    fn what_others_wrote_is_not_written_over_unseen() {
        for (seen, now, wanted) in [
            (Some("Sales"), "Sales", Some("Sold")),
            (Some("Sales"), "Sold", Some(" Sold\n")),
            (Some("Sales"), "Theirs", None),
            (None, "Theirs", Some("Ours")),
        ] {
            compared(seen, now, wanted).unwrap();
        }
        let refused = compared(Some("Sales"), "Theirs", Some("Ours")).unwrap_err();
        assert_eq!(refused.details["field"], "title");
        let says = "Somebody changed the title meanwhile: it is “Theirs” now. Nothing was saved. To put yours in its \
                    place, save again.";
        assert_eq!(refused.message, says);
        let refused = compared(Some("Sales"), "", Some("Ours")).unwrap_err();
        assert!(refused.message.contains("it is empty now"), "{refused}");
    }

    #[test]
    fn all_that_others_wrote_is_told_at_once() {
        let mut meanwhile = Meanwhile::default();
        meanwhile.compare("title", "the title", Some("a"), "b", Some("c"));
        meanwhile.compare("description", "the description", Some("d"), "e", Some("f"));
        let refused = meanwhile.refused().unwrap_err();
        assert!(refused.message.contains("“b”") && refused.message.contains("“e”"), "{refused}");
    }
}
