//! Times without a year in data that end before today: "in June" is the last June that the data have.

use jiff::civil::Date;

use super::{Item, Kind};
use crate::engine::agent::english::text::token::tokens;
use crate::engine::agent::english::time::{self, CompareWith, TimePhrase};
use crate::engine::agent::explainer::describe;
use crate::engine::agent::planner::Extent;
use crate::model::ontology::Calendar;
use crate::model::plan::Window;

/// Words that speak of now; what they stand for is never moved.
const OF_NOW: &[&str] = &[
    "last", "past", "previous", "prior", "this", "current", "next", "today", "yesterday", "tomorrow", "now", "ago",
    "date", "far", "recent", "trailing", "ytd", "mtd", "qtd", "wtd", "coming", "latest",
];

/// Moves names of times without a year that begin after the data end to the last such time within the data. Returns
/// what was assumed.
pub(in super::super) fn settle(items: &mut [Item], extent: Extent, calendar: &Calendar) -> Vec<String> {
    let mut assumed = Vec::new();
    for item in items.iter_mut() {
        let Kind::Time(TimePhrase::Window(window) | TimePhrase::Compare(CompareWith::Window(window))) = &mut item.kind
        else {
            continue;
        };
        let Some(moved) = moved(&item.text, window, extent, calendar) else { continue };
        assumed.push(format!(
            "“{}” is {}, because the data end on {}.",
            moved.phrase.as_deref().unwrap_or(item.text.as_str()),
            describe(&moved),
            extent.last.strftime("%-d %b %Y")
        ));
        *window = moved;
    }
    assumed
}

/// The same name of a time, as it was last when the data ended.
fn moved(text: &str, window: &Window, extent: Extent, calendar: &Calendar) -> Option<Window> {
    let start = window.start.as_ref()?.get(..10)?.parse::<Date>().ok()?;
    if start <= extent.last {
        return None;
    }
    let said = tokens(text);
    let year = |word: &str| word.len() == 4 && word.chars().all(|c| c.is_ascii_digit());
    let of_now = |word: &str| OF_NOW.contains(&word);
    if said.iter().any(|token| of_now(&token.norm) || year(&token.norm) || token.text.starts_with(['\'', '’'])) {
        return None;
    }
    let then = extent.last.at(23, 59, 59, 0);
    let whole = |text: &str| {
        let said = tokens(text);
        let found = time::find(&said, then, calendar).into_iter().next()?;
        match found.phrase {
            TimePhrase::Window(window) | TimePhrase::Compare(CompareWith::Window(window))
                if found.tokens == (0..said.len()) =>
            {
                Some(window)
            }
            _ => None,
        }
    };
    let moved = whole(text).or_else(|| whole(&format!("in {text}")))?;
    Some(Window { phrase: window.phrase.clone(), ..moved })
}
