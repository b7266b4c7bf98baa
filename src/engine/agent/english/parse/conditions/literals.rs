//! Fields that are held against the value, number or text right behind them: "policy number 31003000336".

use super::*;

impl Parser<'_> {
    /// A value, number or text right after its field.
    pub(in super::super) fn literal_after(&mut self, noun: NounAt) -> bool {
        let back = self.at;
        // "with a rate of 4.99", "priced at 5"
        let numbered = matches!(self.item(1).map(|item| &item.kind), Some(Kind::Number(_)));
        if numbered && self.number_field(noun) {
            self.eat_any(&["of", "at", "is", "exactly", "just", "for"]);
        }
        let others = self.eat("other than");
        // "shops other than Lund with …" asks for shops.
        if others && self.sketch.nouns[noun].entries.iter().any(Entry::is_whole_thing) {
            self.at = back;
            return false;
        }
        let negated = others || self.eat("not");
        let Some(item) = self.item(0) else { return false };
        let fits = item.entries.iter().any(|entry| self.value_fits(noun, &entry.sense));
        if fits {
            return self.value_list(Some(noun), negated);
        }
        let text = item.text.clone();
        let code = text.chars().any(|c| c.is_ascii_digit()) || text.chars().all(char::is_uppercase) && text.len() > 1;
        let unknown = item.entries.is_empty()
            && !vocabulary::is_ordinary(&item.norm)
            && matches!(item.kind, Kind::Word)
            && (code || text.chars().next().is_some_and(char::is_uppercase));
        match item.kind.clone() {
            Kind::Number(quantity) if quantity.unit.is_none() && self.takes_numbers(noun) => {
                self.numbers_first(noun);
                self.key_first(noun, &text);
                if self.is_no_number(noun, &text) {
                    return false;
                }
                let date = self.item(1).is_some_and(|next| next.is_named() && next.entries.iter().any(Entry::is_thing));
                if date {
                    return false;
                }
                self.at += 1;
                self.sketch.nouns[noun].want = Want::Bound;
                let digits: String = text.chars().filter(|c| !matches!(c, ',' | '_')).collect();
                let op = if negated { Comparator::NotEqual } else { Comparator::Equal };
                self.add(Cond::Compare { field: noun, op, value: Bound::Text(digits) });
                self.own_label(noun);
                true
            }
            Kind::Number(quantity) if quantity.unit.is_some() && self.number_field(noun) => {
                self.exactly(noun, Bound::Number(quantity.value, quantity.unit), negated)
            }
            Kind::Quoted => {
                self.at += 1;
                self.text_value(noun, text, negated)
            }
            Kind::Word if unknown && self.takes_texts(noun) => {
                self.at += 1;
                self.text_value(noun, text, negated)
            }
            _ => false,
        }
    }

    /// A dataset that is named with one of its rows is spoken of itself.
    pub(super) fn own_label(&mut self, noun: NounAt) {
        let is_thing = self.sketch.nouns[noun].entries.iter().any(Entry::is_thing);
        if is_thing {
            self.focus = Some(noun);
        }
    }

    pub(super) fn text_value(&mut self, noun: NounAt, text: String, negated: bool) -> bool {
        self.sketch.nouns[noun].want = Want::Bound;
        let all_known = self.bound_fields(noun).iter().all(|(d, f)| self.on.indexed(*d, *f) == Some(true));
        if all_known {
            self.sketch.absent.push((noun, text));
        } else {
            let op = if negated { Comparator::NotEqual } else { Comparator::Equal };
            self.add(Cond::Compare { field: noun, op, value: Bound::Text(text) });
        }
        self.own_label(noun);
        true
    }

    fn takes_numbers(&self, noun: NounAt) -> bool {
        let only = self.sketch.nouns[noun]
            .entries
            .iter()
            .all(|entry| matches!(entry.sense, Sense::Field(..) | Sense::Entity(_) | Sense::Role(_)));
        only && !self.sketch.nouns[noun].entries.is_empty() || self.sketch.nouns[noun].is_generic()
    }

    fn takes_texts(&self, noun: NounAt) -> bool {
        let text = |d: usize, f: usize| self.field(d, f).is_some_and(|field| field.datatype == DataType::String);
        self.bound_fields(noun).iter().any(|(d, f)| text(*d, *f))
    }
}
