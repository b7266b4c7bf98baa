//! What there must or must not be.

use super::*;

impl Parser<'_> {
    /// "without a phone", "missing email", "with a tail number", "with no manager".
    pub(super) fn missing(&mut self) -> bool {
        let negated = if self.eat_any(&[
            "without any",
            "without",
            "with no",
            "missing",
            "lacking",
            "that have no",
            "who have no",
            "have no",
            "has no",
            "had no",
            "with missing",
            "with unknown",
            "with an unknown",
            "that are missing",
            "do not have",
            "dont have",
            "does not have",
            "that lack",
        ]) {
            false
        } else if self.eat_any(&[
            "with a known",
            "with known",
            "that have a",
            "that have an",
            "who have a",
            "who have an",
            "with a",
            "with an",
            "with the",
            "have a",
            "have an",
            "has a",
            "has an",
            "with recorded",
        ]) {
            true
        } else {
            return false;
        };
        self.articles();
        let field = self.item(0).is_some_and(|item| {
            item.entries.first().is_some_and(|entry| field_of(entry).is_some() && !entry.partial)
                && !item.entries.iter().any(|entry| thing(entry).is_some() && !entry.partial)
        });
        if !field {
            return false;
        }
        let Some(noun) = self.noun(Want::Bound) else { return false };
        let more =
            self.item(0).is_some_and(|item| item.has_value() || matches!(item.kind, Kind::Number(_) | Kind::Quoted))
                || self.operator().is_some()
                || matches!(self.word(0), "is" | "of" | "between" | "like" | "starting" | "containing");
        if more {
            return false;
        }
        self.add(Cond::Null { field: noun, negated });
        true
    }

    pub(super) fn exists(&mut self) -> bool {
        let Some(owner) = self.focus.or(self.sketch.subject) else { return false };
        while self.eat_any(&["and", "but", "both", ","]) {}
        let relative = self.eat_any(&["who also", "who", "that also", "that", "which", "whose"]);
        if matches!(self.word(1), "never" | "not") {
            self.eat_any(&["were", "was", "are", "is", "have", "has", "had"]);
        }
        self.eat_any(&["have been", "has been", "also", "ever", "actually"]);
        let never = self.eat_any(&[
            "not",
            "have never had any",
            "have never had",
            "have never",
            "has never",
            "had never",
            "never had any",
            "never had a",
            "never had",
            "never",
            "did not",
            "didnt",
            "do not have any",
            "dont have any",
            "do not have",
            "dont have",
            "does not have",
            "have not",
            "havent",
            "has not",
            "hasnt",
            "without any",
            "without a",
            "without an",
            "without",
            "with no",
            "have no",
            "has no",
            "had no",
            "not having",
            "no",
            "do not",
            "dont",
            "does not",
            "were not",
            "was not",
            "are not",
            "is not",
        ]);
        let has = !never
            && self.eat_any(&[
                "have had",
                "has had",
                "have",
                "has",
                "had",
                "with",
                "having",
                "that have",
                "there is",
                "there are",
            ]);
        self.eat_any(&["have", "make", "made", "any", "been", "placed", "place"]);
        self.eat_any(&["at least one", "one or more", "some", "any", "a", "an", "at least 1", "their"]);
        if !(relative || never || has || self.verb_here()) {
            return false;
        }
        let modified = self.open_conds();
        let verb = self.verb_here();
        let thing_here = self.item(0).is_some_and(|item| item.entries.iter().any(|entry| thing(entry).is_some()));
        let before_thing = self.at;
        if !thing_here {
            // "with a pending order": conditions before the thing are about it.
            self.modifiers();
        }
        let is_thing = self.item(0).is_some_and(|item| item.entries.iter().any(|entry| thing(entry).is_some()));
        if !is_thing || !(has || never || verb) {
            return false;
        }
        // "sold fewer than 20 tracks" is a bound on what is not known.
        let bound = self.item(1).is_some_and(|item| {
            matches!(item.kind, Kind::Number(_)) || item.any(&["fewer", "more", "less", "over", "under"])
        }) || self.word(1) == "at" && matches!(self.word(2), "least" | "most");
        if verb && bound {
            return false;
        }
        // "have 3 orders" is a bound; "customers with orders" is none.
        let own: Vec<usize> = [Some(owner), self.sketch.subject]
            .into_iter()
            .flatten()
            .flat_map(|noun| self.sketch.nouns[noun].entries.iter().filter_map(thing).collect::<Vec<_>>())
            .collect();
        let same = self.item(0).is_some_and(|item| item.entries.iter().filter_map(thing).all(|d| own.contains(&d)));
        if same {
            return false;
        }
        let inner: Vec<Cond> = {
            let conds = match self.frames.last_mut() {
                Some(frame) => &mut frame.conds,
                None => &mut self.sketch.conds,
            };
            if before_thing < self.at { conds.split_off(modified.min(conds.len())) } else { Vec::new() }
        };
        let Some(noun) = self.noun(Want::Thing) else { return false };
        self.sketch.nouns[noun].entries.retain(|entry| thing(entry).is_none_or(|d| !own.contains(&d)));
        let things = self.sketch.nouns[noun].entries.iter().filter_map(thing).count();
        if things == 0 || self.sketch.nouns[noun].of.is_some() {
            return false;
        }
        for cond in &inner {
            if let Cond::Values { nouns, .. } = cond {
                for value in nouns {
                    self.sketch.nouns[*value].inside = Some(noun);
                }
            }
        }
        self.frames.push(Frame { thing: noun, conds: inner, negated: never });
        self.eat_any(&[
            "associated to them",
            "associated with them",
            "associated",
            "anything",
            "linked to them",
            "related to them",
            "attached",
            "yet",
            "at all",
            "ever",
        ]);
        true
    }

    /// Whether the next word is a form of a verb that stands for a dataset: "ordered" for orders.
    pub(super) fn verb_here(&self) -> bool {
        let Some(item) = self.item(0) else { return false };
        let last = item.norm.rsplit(' ').next().unwrap_or_default();
        let form = last.ends_with("ed")
            || matches!(last, "bought" | "sold" | "paid" | "flew" | "flown" | "lent" | "spent" | "made");
        let noun_itself = words::singular(last) == last && words::forms(last).len() == 1;
        let entity = item.entries.iter().any(|entry| thing(entry).is_some());
        let past = form && !noun_itself;
        let infinitive = matches!(self.previous(), "never" | "not" | "didnt" | "did");
        entity && (past || infinitive)
    }
}
