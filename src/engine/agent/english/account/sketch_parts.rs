//! The parts of a sketch against the plan. Every part is named, so that a new one does not compile before it is said
//! here by what a plan holds it.

use super::super::resolve::Target;
use super::super::sketch::{Bound, Cond, Display, Group, NounAt, Quantity, Rank, Sketch};
use super::Check;
use crate::model::ontology::Aggregation;
use crate::model::plan::{Comparator, Condition, Grain, Shown, Window};

impl Check<'_> {
    /// What of the sketch the plan does not hold, in words.
    pub(super) fn parts(&self) -> Option<String> {
        // Nouns are held against the plan by what they were found to be. What is absent, unknown or refused has no
        // plan; how things stand beside each other says nothing that other parts do not.
        let Sketch {
            ask: _,
            nouns: _,
            measures,
            totalled: _,
            groups,
            columns,
            subject: _,
            mentions: _,
            conds,
            compare,
            rank,
            display,
            change_beside,
            order,
            distinct: _,
            definition: _,
            absent: _,
            unknown: _,
            refused: _,
            unit: _,
            comparing,
            joint: _,
            beside: _,
            each: _,
            parts,
            included: _,
            only_columns: _,
            ever: _,
            apart: _,
        } = self.account.sketch;
        let held = self.held;
        let compared = held.is_compared
            || held.is_difference
            || held.windows.len() > 1
            || held.texts.len() > 1
            || self.account.plan.measures.len() > 1
            || !held.columns.is_empty()
            || held.shown.iter().any(|shown| matches!(shown, Shown::Change | Shown::ChangePercent));
        measures
            .iter()
            .find_map(|quantity| self.quantity(quantity))
            .or_else(|| groups.iter().find_map(|group| self.group(group)))
            .or_else(|| columns.iter().find_map(|column| self.column(*column)))
            .or_else(|| conds.iter().find_map(|cond| self.cond(cond)))
            .or_else(|| rank.as_ref().and_then(|rank| self.rank(rank)))
            .or_else(|| display.and_then(|display| self.display(display)))
            .or_else(|| change_beside.and_then(|_| self.display(Display::Change)))
            .or_else(|| parts.iter().find_map(|part| self.noun(*part)))
            .or_else(|| lost(!order.is_some() || held.is_ordered, "sorted by"))
            .or_else(|| lost(!(*comparing || compare.is_some()) || compared, "compared"))
    }

    fn text(&self, noun: NounAt) -> String {
        self.account.sketch.nouns.get(noun).map(|noun| noun.text.clone()).unwrap_or_default()
    }

    fn quantity(&self, quantity: &Quantity) -> Option<String> {
        let held = self.held;
        match quantity {
            Quantity::Count(noun) | Quantity::Plain(noun) => self.noun(*noun),
            Quantity::Distinct(noun) => {
                self.noun(*noun).or_else(|| lost(held.functions.contains(&Aggregation::CountDistinct), "different"))
            }
            Quantity::Aggregate(function, noun) => self.noun(*noun).or_else(|| {
                let named = !held.metrics.is_empty() && *function != Aggregation::Median;
                lost(named || held.functions.contains(function), self.text(*noun))
            }),
            Quantity::Ratio(first, second) => {
                self.quantity(first).or_else(|| self.quantity(second)).or_else(|| lost(held.is_part, "divided by"))
            }
            Quantity::Sum(parts) => {
                parts.iter().find_map(|part| self.quantity(part)).or_else(|| lost(held.is_sum, "sum"))
            }
            Quantity::Difference(first, second) => self
                .quantity(first)
                .or_else(|| self.quantity(second))
                .or_else(|| lost(held.is_difference, "difference")),
            Quantity::Over(function, inner, groups) => self
                .quantity(inner)
                .or_else(|| groups.iter().find_map(|group| self.group(group)))
                .or_else(|| lost(held.is_over && held.functions.contains(function), "per")),
            Quantity::Days { function: _, from, to } => {
                self.noun(*from).or_else(|| self.noun(*to)).or_else(|| lost(held.is_in_days, "number of days"))
            }
            Quantity::Across { counted, thing, inner, object } => self
                .noun(*counted)
                .or_else(|| self.noun(*thing))
                .or_else(|| object.and_then(|object| self.noun(object)))
                .or_else(|| inner.iter().find_map(|cond| self.cond(cond))),
            Quantity::Part { whole, conds, doubtful, said } => self
                .quantity(whole)
                .or_else(|| conds.iter().chain(doubtful).find_map(|cond| self.cond(cond)))
                .or_else(|| lost(held.is_part, said.as_str())),
        }
    }

    fn group(&self, group: &Group) -> Option<String> {
        let Group { noun, grain, each: _, per: _ } = group;
        noun.and_then(|noun| self.noun(noun)).or_else(|| grain.and_then(|grain| self.grain(grain, "by")))
    }

    /// A unit of the calendar that the answer has a row, or a number, for each of.
    pub(super) fn grain(&self, grain: Grain, text: &str) -> Option<String> {
        lost(self.held.grains.iter().any(|known| kind(*known) == kind(grain)), text)
    }

    fn column(&self, column: NounAt) -> Option<String> {
        self.noun(column)
    }

    fn cond(&self, cond: &Cond) -> Option<String> {
        let held = self.held;
        match cond {
            Cond::Values { nouns, negated } => {
                nouns.iter().find_map(|noun| self.noun(*noun)).or_else(|| self.negated(*negated))
            }
            Cond::Compare { field, op, value } => {
                self.noun(*field).or_else(|| self.bound(*op, value, &self.text(*field)))
            }
            Cond::Like { field, pattern: _, text, negated } => self
                .noun(*field)
                .or_else(|| lost(held.texts.contains(&text.as_str()), text.as_str()))
                .or_else(|| self.negated(*negated)),
            Cond::Null { field, negated } => self
                .noun(*field)
                .or_else(|| lost(held.is_null || !held.existing.is_empty(), self.text(*field)))
                .or_else(|| self.negated(!negated)),
            Cond::Flag { noun, negated } => self.noun(*noun).or_else(|| self.negated(*negated)),
            Cond::Window { field, windows, negated, either: _ } => field
                .and_then(|field| self.noun(field))
                .or_else(|| windows.iter().find_map(|window| self.window(window)))
                .or_else(|| self.negated(*negated)),
            Cond::Days { field, days, negated } => field
                .and_then(|field| self.noun(field))
                .or_else(|| lost(days.iter().all(|day| held.days.contains(day)), "on these days"))
                .or_else(|| self.negated(*negated)),
            Cond::Hours { field, from, to, negated } => field
                .and_then(|field| self.noun(field))
                .or_else(|| lost(held.hours.contains(&(*from, *to)), "at these hours"))
                .or_else(|| self.negated(*negated)),
            Cond::Fields { left, op, right } => self.noun(*left).or_else(|| self.noun(*right)).or_else(|| {
                let compared = held.bounds.iter().any(|(known, _)| known == op) || held.is_difference;
                lost(compared, self.text(*left))
            }),
            // Its conditions are those of the metric itself.
            Cond::Booked(conditions) => {
                let is_held = |condition: &Condition| self.account.plan.filters.contains(condition);
                let inside = !held.existing.is_empty() || held.bounds.len() + held.texts.len() > 0;
                lost(conditions.iter().all(is_held) || inside, "with")
            }
            Cond::Exists { thing, inner, negated } | Cond::Others { thing, inner, negated } => self
                .noun(*thing)
                .or_else(|| inner.iter().find_map(|cond| self.cond(cond)))
                .or_else(|| self.negated(*negated)),
            Cond::Measured { quantity, op, value } => {
                self.quantity(quantity).or_else(|| self.bound(*op, value, "than"))
            }
        }
    }

    fn negated(&self, negated: bool) -> Option<String> {
        lost(!negated || self.held.negations > 0, "not")
    }

    fn bound(&self, op: Comparator, value: &Bound, text: &str) -> Option<String> {
        let held = self.held;
        match value {
            Bound::Number(number, _) => {
                let is = |(known, bound): &(Comparator, Option<f64>)| {
                    *known == op && bound.is_some_and(|bound| Self::same_number(*number, bound))
                };
                lost(held.bounds.iter().any(is), format!("{text} {number}"))
            }
            Bound::Text(said) => lost(
                held.texts.contains(&said.as_str())
                    || said.parse::<f64>().is_ok_and(|number| held.numbers.contains(&number)),
                said.as_str(),
            ),
            Bound::Average => {
                let average = held.functions.contains(&Aggregation::Avg);
                lost(average && held.bounds.iter().any(|(known, _)| *known == op), "average")
            }
        }
    }

    /// A time that the plan's times cover: those of a list are put together where they meet.
    pub(super) fn window(&self, window: &Window) -> Option<String> {
        let Window { start, end, phrase, relative: _ } = window;
        let held_numbers = &self.held.numbers;
        let reaches = |known: &&&Window| {
            let from = known.start.is_none() || start.is_some() && known.start <= *start;
            let to = known.end.is_none() || end.is_some() && known.end >= *end;
            let all = start.is_none() && end.is_none();
            from && to && (all || known.start.is_some() || known.end.is_some())
        };
        let all_time = start.is_none() && end.is_none();
        // Years that are numbers: "built before 1970".
        let year = |date: &Option<String>| date.as_ref().and_then(|date| date.get(..4)?.parse::<f64>().ok());
        let beside = |year: f64| [year - 1.0, year, year + 1.0].iter().any(|near| held_numbers.contains(near));
        let years = [year(start), year(end)].into_iter().flatten().all(beside);
        let found = all_time || years || self.held.windows.iter().any(|known| reaches(&known));
        lost(found, phrase.clone().unwrap_or_else(|| "the time".into()))
    }

    fn rank(&self, rank: &Rank) -> Option<String> {
        let Rank { rows, skip, descending: _, single: _, by, field, quality: _, judged: _, frequency: _, text } = rank;
        let held = self.held;
        let first = held.limit.is_some_and(|limit| limit.rows == *rows && limit.skip == *skip) && held.is_ordered;
        let extreme = held.functions.iter().any(|one| matches!(one, Aggregation::Max | Aggregation::Min));
        // "the latest date of birth" is by that date, not by another one.
        let beside = field.and_then(|field| {
            let spoken = self.account.sketch.nouns.get(field).filter(|noun| !noun.hints.is_empty())?;
            let items = &spoken.items;
            let other = self
                .account
                .sketch
                .nouns
                .iter()
                .enumerate()
                .find(|(at, noun)| *at != field && items.contains(&noun.items.start) && self.is_time(*at));
            other.filter(|(other, _)| self.target(*other) != self.target(field)).map(|(_, noun)| noun.text.clone())
        });
        lost(first || extreme && *rows == 1, text.as_str())
            .or(beside)
            .or_else(|| by.as_ref().and_then(|by| self.quantity(by)))
            .or_else(|| field.and_then(|field| self.noun(field)))
    }

    fn target(&self, noun: NounAt) -> Option<&Target> {
        self.account.found.get(noun)?.as_ref().map(|found| &found.target)
    }

    fn is_time(&self, noun: NounAt) -> bool {
        let Some(Target::Field(d, f)) = self.target(noun) else { return false };
        let field = self.account.resolver.ontology.datasets.get(*d).and_then(|entity| entity.fields.get(*f));
        field.is_some_and(|field| field.datatype.is_calendar())
    }

    fn display(&self, display: Display) -> Option<String> {
        let held = self.held;
        let is = |wanted: &dyn Fn(&Shown) -> bool| held.shown.iter().any(|shown| wanted(shown));
        match display {
            Display::Share => lost(held.is_part || is(&|shown| matches!(shown, Shown::Share { .. })), "share"),
            Display::Cumulative => lost(is(&|shown| matches!(shown, Shown::Cumulative)), "cumulative"),
            Display::Change | Display::ChangePercent => {
                lost(held.is_compared || is(&|shown| matches!(shown, Shown::Change | Shown::ChangePercent)), "change")
            }
            Display::MovingAverage(rows) => {
                lost(is(&|shown| *shown == Shown::MovingAverage { rows }), "moving average")
            }
        }
    }
}

/// `text` where the plan does not hold it.
fn lost(is_held: bool, text: impl Into<String>) -> Option<String> {
    (!is_held).then(|| text.into())
}

/// Units and the cycles of them: "by month" may ask for either.
fn kind(grain: Grain) -> u8 {
    match grain {
        Grain::Hour | Grain::HourOfDay => 0,
        Grain::Day | Grain::DayOfWeek | Grain::DayOfMonth => 1,
        Grain::Week => 2,
        Grain::Month | Grain::MonthOfYear => 3,
        Grain::Quarter | Grain::FiscalQuarter | Grain::QuarterOfYear => 4,
        Grain::Year | Grain::FiscalYear => 5,
    }
}
