//! Days of the week: "on Saturdays", "on a Sunday", "at weekends", "on Saturdays compared to Mondays".

use super::super::sketch::{Cond, Group, NounAt};
use super::Parser;
use crate::model::plan::Grain;

impl Parser<'_> {
    /// Days of the week as a condition; those that are held against each other are shown one by one.
    pub(super) fn weekdays(&mut self, field: Option<NounAt>) -> bool {
        let start = self.at;
        let negated = self.eat_any(&["not", "except", "excluding"]);
        self.eat_any(&["on", "at", "during", "over"]);
        let Some(mut days) = self.day_of_week() else {
            self.at = start;
            return false;
        };
        let (mut compared, mut single) = (false, days.len() == 1);
        loop {
            let back = self.at;
            let against = self.eat_any(&["compared to", "compared with", "vs", "versus", "against", "than"]);
            let joined = against || self.eat_any(&[", and", ", or", "and", "or", ",", "&"]);
            self.eat_any(&["on", "at"]);
            let Some(more) = self.day_of_week().filter(|_| joined) else {
                self.at = back;
                break;
            };
            compared |= against;
            single &= more.len() == 1;
            days.extend(more);
        }
        days.sort_unstable();
        days.dedup();
        if compared && !single {
            let said =
                "Weekends and working days cannot be held against each other in one answer: ask for one at a time.";
            self.sketch.refused = Some(said.into());
        }
        if compared {
            self.sketch.groups.push(Group { noun: field, grain: Some(Grain::DayOfWeek), each: false, per: false });
        }
        self.add(Cond::Days { field, days, negated });
        true
    }

    /// Days that come again every week: in the plural, or one with "a".
    fn day_of_week(&mut self) -> Option<Vec<u8>> {
        let single = matches!(self.word(0), "a" | "any" | "every");
        let at = usize::from(single || self.word(0) == "the");
        let free = self.item(at).is_some_and(|item| !item.has_value() && !item.is_named());
        let days = match (self.word(at), single) {
            ("mondays", false) | ("monday", true) => vec![1],
            ("tuesdays", false) | ("tuesday", true) => vec![2],
            ("wednesdays", false) | ("wednesday", true) => vec![3],
            ("thursdays", false) | ("thursday", true) => vec![4],
            ("fridays", false) | ("friday", true) => vec![5],
            ("saturdays", false) | ("saturday", true) => vec![6],
            ("sundays", false) | ("sunday", true) => vec![7],
            ("weekends", false) | ("weekend", _) => vec![6, 7],
            ("weekdays" | "workdays", false) if self.previous_of(self.at) != "by" => vec![1, 2, 3, 4, 5],
            _ => return None,
        };
        if !free {
            return None;
        }
        self.at += at + 1;
        Some(days)
    }
}
