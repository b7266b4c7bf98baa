//! Lists and what counts them: the styles of lists, which stand before the text, and that of the headings.

use std::collections::HashMap;

use crate::engine::extract::numbers::{Counts, Form, Level};
use crate::engine::extract::xml::Tag;

/// What the headings' style is kept under: a name that no list names.
const OUTLINE: &str = "\0";
/// Levels that a mark can name.
const LEVELS: usize = 9;

#[derive(Default)]
pub(super) struct Lists {
    styles: HashMap<String, HashMap<usize, Level>>,
    /// The style whose levels come.
    defined: String,
    counts: HashMap<String, Counts>,
    /// The styles of the lists that are open, one in the other.
    open: Vec<String>,
    /// An item whose first paragraph is still to come, and the number that it says itself.
    item: Option<Option<usize>>,
}

impl Lists {
    /// Takes what an element says of a style.
    pub(super) fn define(&mut self, tag: &Tag) {
        match tag.name.as_str() {
            "list-style" => tag.get("name").unwrap_or_default().clone_into(&mut self.defined),
            "outline-style" => OUTLINE.clone_into(&mut self.defined),
            "list-level-style-number" | "outline-level-style" => {
                let form = match tag.get("num-format").unwrap_or_default() {
                    "" => Form::None,
                    sign => Form::of(sign),
                };
                let Some(at) = tag.number("level").filter(|level| (1..=LEVELS).contains(level)) else { return };
                let shown = tag.number("display-levels").unwrap_or(1).clamp(1, at);
                let numbers: Vec<String> = (at + 1 - shown..=at).map(|at| format!("%{at}")).collect();
                let beside = |name: &str| tag.get(name).unwrap_or_default();
                let mark = format!("{}{}{}", beside("num-prefix"), numbers.join("."), beside("num-suffix"));
                let level = Level { form, mark, start: tag.number("start-value").unwrap_or(1), ..Level::default() };
                self.styles.entry(self.defined.clone()).or_default().insert(at, level);
            }
            _ => {}
        }
    }

    /// A list begins, of its own style or that of the list around it.
    pub(super) fn begin(&mut self, tag: &Tag) {
        let style = tag.get("style-name").or(self.open.last().map(String::as_str)).unwrap_or_default().to_owned();
        let goes_on = tag.get("continue-numbering") == Some("true") || tag.get("continue-list").is_some();
        // A list within one of its style counts on with it.
        if !goes_on && !self.open.contains(&style) {
            self.counts.remove(&style);
        }
        self.open.push(style);
    }

    pub(super) fn end(&mut self) {
        self.open.pop();
        self.item = None;
    }

    pub(super) fn item(&mut self, tag: &Tag) {
        self.item = Some(tag.number("start-value"));
    }

    /// The mark of a paragraph that begins: of the item whose first it is. `None` for others, and outside of lists.
    pub(super) fn mark(&mut self) -> Option<String> {
        let start = self.item.take()?;
        let style = self.open.last()?.clone();
        let mark = self.count(&style, self.open.len() - 1, start);
        Some(if mark.is_empty() { "-".to_owned() } else { mark })
    }

    /// The mark of a heading outside of lists, which is empty for one without.
    pub(super) fn heading(&mut self, level: usize, start: Option<usize>) -> String {
        self.count(OUTLINE, level.saturating_sub(1), start)
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    fn count(&mut self, style: &str, depth: usize, start: Option<usize>) -> String {
        let levels = self.styles.get(style);
        self.counts.entry(style.to_owned()).or_default().next(depth, start, |at| levels?.get(&(at + 1)))
    }
}
