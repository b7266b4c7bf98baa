//! A year before what it is the year of: "2023 revenue by shop".

use crate::engine::agent::english::lexicon::Sense;
use crate::engine::agent::english::time::TimePhrase;
use crate::model::ontology::Ontology;
use crate::model::plan::Window;

use super::super::vocabulary;
use super::{Item, Kind};

/// Puts a year that stands before a number or before things with a time of their own behind them: "revenue 2023".
/// Things of which some are picked may be as many: "2000 customers with the highest revenue".
pub(in super::super) fn settle(items: &mut [Item], ontology: &Ontology, this_year: i16) {
    let picked = items.iter().any(|item| vocabulary::superlative(&item.norm).is_some());
    for at in 0..items.len().saturating_sub(1) {
        // "revenue 2023 Lund"
        let metric = at.checked_sub(1).and_then(|before| items.get(before)).is_some_and(|before| {
            before.entries.iter().any(|entry| matches!(entry.sense, Sense::Metric(_)) && !entry.partial)
        });
        let value = items.get(at + 1).is_some_and(|next| next.has_value() && !next.is_named());
        if let Some(year) = items.get(at).and_then(year).filter(|year| metric && value && *year <= this_year) {
            items[at].kind = window(year);
            continue;
        }
        let begins = at.checked_sub(1).and_then(|before| items.get(before)).is_none_or(|before| {
            before.has_value()
                || before.any(&[
                    "show", "list", "give", "me", "the", "our", "all", "of", "is", "are", "was", "were", "many",
                    "much", "how many", "how much", "for", "compare", "total", "average",
                ])
        });
        let Some(year) = items.get(at).and_then(year).filter(|year| begins && *year <= this_year) else { continue };
        let of = |item: &Item| {
            item.entries.iter().filter(|entry| !entry.partial).any(|entry| match entry.sense {
                Sense::Metric(_) => true,
                Sense::Segment(_) => !picked,
                Sense::Entity(d) => {
                    !picked && ontology.datasets.get(d).is_some_and(|entity| entity.default_time_field.is_some())
                }
                _ => false,
            })
        };
        if items.get(at + 1).is_some_and(of) {
            items[at].kind = window(year);
            items.swap(at, at + 1);
        }
    }
}

fn window(year: i16) -> Kind {
    Kind::Time(TimePhrase::Window(Window {
        start: Some(format!("{year}-01-01")),
        end: Some(format!("{}-01-01", year + 1)),
        phrase: Some(year.to_string()),
        relative: None,
    }))
}

/// The year that a number can be.
fn year(item: &Item) -> Option<i16> {
    let Kind::Number(quantity) = &item.kind else { return None };
    let plain = quantity.unit.is_none() && item.entries.is_empty() && item.text.len() == 4;
    item.text.parse().ok().filter(|year| plain && *year >= 1950)
}
