//! "the three shops", "both shops": how many there are of something, said beside it. Where the data say the same, it says
//! nothing.

use crate::engine::agent::english::lexicon::{Lexicon, Sense, words};
use crate::model::ontology::Ontology;

use super::super::vocabulary;
use super::{Item, Kind};

/// Takes out the numbers that say how many there are. "of the two shops" is of each of them, where a number is asked for.
pub(in super::super) fn settle(items: &mut Vec<Item>, on: &Lexicon, ontology: &Ontology) {
    let ranked = items.iter().any(|item| vocabulary::superlative(&item.norm).is_some());
    let mut at = 0;
    while at + 1 < items.len() {
        let both = items[at].is("both");
        let said = match &items[at].kind {
            Kind::Number(quantity) if quantity.unit.is_none() => Some(quantity.value),
            Kind::Word if both => Some(2.0),
            _ => None,
        };
        let before = at.checked_sub(1).map_or("", |at| items[at].norm.as_str());
        let article = matches!(before, "the" | "our" | "all" | "these" | "those");
        let named = &items[at + 1];
        let last = named.norm.rsplit(' ').next().unwrap_or_default();
        let many = words::singular(last) != last;
        let all = said
            .filter(|_| (both || article) && many && !ranked && !named.has_value())
            .is_some_and(|said| counts(named, on, ontology).contains(&said));
        let from = if article { at.saturating_sub(1) } else { at };
        // "customers who bought in both shops" bought in each of them.
        let done = from.checked_sub(2).is_some_and(|at| vocabulary::is_relation(&items[at].norm));
        let asked = items[..from].iter().any(|item| item.any(&["how many", "how much", "number", "total", "average"]));
        if !all || done && !asked {
            at += 1;
            continue;
        }
        items.remove(at);
        let placed = from.checked_sub(1).is_some_and(|at| items[at].any(&["of", "for", "in", "at", "from"]));
        let number = items[..from].iter().any(|item| {
            item.any(&["how many", "how much", "number", "total", "average", "sum", "many", "much"])
                || item.entries.iter().any(|entry| matches!(entry.sense, Sense::Metric(_)) && !entry.partial)
        });
        let each = placed && number && !items[..from].iter().any(|item| item.any(&["each", "every"]));
        if each && article {
            items[from].norm = "each".into();
            items[from].text = "each".into();
        } else if each {
            let mut word = items[from - 1].clone();
            word.norm = "each".into();
            word.text = "each".into();
            word.entries.clear();
            word.kind = Kind::Word;
            items.insert(from, word);
        }
        at += 1;
    }
}

/// How many there are of what a name may mean, where all of them are known.
fn counts(item: &Item, on: &Lexicon, ontology: &Ontology) -> Vec<f64> {
    let mut found = Vec::new();
    for entry in item.entries.iter().filter(|entry| !entry.partial) {
        let field = match entry.sense {
            Sense::Field(d, f) => Some((d, f)),
            Sense::Entity(d) => ontology.datasets.get(d).and_then(|entity| {
                let key = match entity.primary_key.as_slice() {
                    [key] => Some(key),
                    _ => None,
                };
                let of = |name: &String| entity.fields.iter().position(|field| field.name.eq_ignore_ascii_case(name));
                let label = entity.label_field.as_ref();
                key.and_then(of)
                    .filter(|f| on.indexed(d, *f) == Some(true))
                    .or_else(|| label.and_then(of))
                    .map(|f| (d, f))
            }),
            _ => None,
        };
        found.extend(field.and_then(|(d, f)| on.how_many(d, f)));
    }
    found
}
