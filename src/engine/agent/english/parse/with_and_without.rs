//! "with and without rain": those with it beside those without.

use super::Parser;

impl Parser<'_> {
    /// What is neither yes nor no by its field cannot be told apart in one question.
    pub(super) fn with_and_without(&mut self) -> bool {
        let joined = ["with and without", "with or without", "with vs without", "with versus without"];
        if !self.eat_any(&joined) && !self.eat_any(&["without and with", "without or with", "with compared to without"])
        {
            return false;
        }
        let what = self.item(0).map(|item| item.text.clone()).unwrap_or_default();
        self.sketch.refused = Some(format!(
            "Those with and those without “{what}” cannot be told apart here: ask for the one, and then for the other."
        ));
        true
    }
}
