//! What is asked for in addition: "…, and who placed it?", "… in Canada? Who?".

use super::super::vocabulary;
use super::Check;
use crate::engine::agent::english::text::token::{TokenKind, tokens};
use crate::model::ontology::DataType;
use crate::model::plan::FieldRef;

impl Check<'_> {
    /// "…, and who placed it?", "… in Canada? Who?": what is asked for in addition.
    pub(super) fn more(&self) -> Option<String> {
        let all = tokens(self.account.question);
        let sign = |at: usize| {
            all.get(at)
                .is_some_and(|token| matches!(token.norm.as_str(), "?" | "," | ";" | ":" | "-" | "–" | "—" | "&" | "("))
        };
        for at in 1..all.len() {
            let before = if all[at - 1].norm == "and" { at.checked_sub(2) } else { Some(at - 1) };
            let parted = all[at - 1].norm == "and" || before.is_some_and(sign);
            if !parted || all[at].kind != TokenKind::Word {
                continue;
            }
            let next = all.get(at + 1).map_or("", |token| token.norm.as_str());
            let after: Vec<&str> = all[at..].iter().take(6).map(|token| token.norm.as_str()).collect();
            let is_there = match all[at].norm.as_str() {
                // "…, and who placed it?" asks for somebody else than what the question is about.
                "who" | "whom" | "whose" if all[at - 1].norm == "and" && at + 1 < all.len() => {
                    self.has_name()
                        && self
                            .fields()
                            .any(|field| self.account.resolver.position(&field.dataset) != Some(self.account.anchor))
                }
                "who" | "whom" | "whose" => self.has_name(),
                "where" => self.has_text(),
                "which" => !self.account.plan.dimensions.is_empty(),
                "when" => self.fields().any(|field| self.datatype(field).is_some_and(DataType::is_calendar)),
                // "and how many grams is it?", where the grams are shown.
                "how" if matches!(next, "many" | "often") => self.has_number() || self.has_unit(after.get(2)),
                word if word.starts_with("what") && after.iter().any(|word| matches!(*word, "number" | "count")) => {
                    self.has_number()
                }
                _ => true,
            };
            // A relative clause says more of what stands before it: "customers, who …".
            let relative = matches!(all[at].norm.as_str(), "which" | "where" | "when" | "who" | "whose")
                && all[at - 1].norm == ","
                && at + 1 < all.len()
                && is_there;
            if !is_there && !relative {
                return Some(all[at..].iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" "));
            }
        }
        None
    }

    /// Whether a column is in a unit.
    fn has_unit(&self, said: Option<&&str>) -> bool {
        let Some(said) = said.and_then(|unit| vocabulary::unit(unit)) else { return false };
        let unit =
            |field: &FieldRef| self.account.resolver.ontology.field(&field.dataset, &field.field)?.unit.as_deref();
        self.fields().filter_map(unit).any(|own| vocabulary::unit(own).is_some_and(|(kind, _)| kind == said.0))
    }
}
