//! The change from one time to the next beside the numbers themselves.

use super::*;
use crate::engine::agent::english::sketch::Stride;

impl Builder<'_> {
    /// Adds to each number its change to the time before, as a difference and as a part.
    pub(super) fn change_beside(&mut self) -> Result<(), Fault> {
        let Some(stride) = self.sketch.change_beside else { return Ok(()) };
        let grain = self.plan.dimensions.iter().find_map(|dimension| dimension.grain);
        match (grain, stride) {
            (Some(grain), Stride::Of(unit)) if grain != unit => {
                return cannot(format!(
                    "The change to the {} before needs the numbers by {0}: ask for them “by {0}”.",
                    unit_name(unit)
                ));
            }
            (Some(grain), _) if grain.is_cycle() => {
                return cannot("What comes again and again has no time before: ask “by month” or “by year”.");
            }
            (Some(_), _) => {}
            (None, _) => {
                return cannot("A change needs the numbers by a unit of time, such as “by month” or “by year”.");
            }
        }
        if self.plan.measures.is_empty() || self.plan.comparison.is_some() {
            return cannot("A change from one time to the next needs a number, and no other comparison.");
        }
        let plain = self.plan.measures.clone();
        if plain.iter().any(|measure| measure.shown_as.is_some()) {
            return cannot("A change is shown of numbers themselves, not of shares or running totals.");
        }
        for measure in plain {
            for shown in [Shown::Change, Shown::ChangePercent] {
                self.plan.measures.push(Measure { shown_as: Some(shown), ..measure.clone() });
            }
        }
        Ok(())
    }
}

fn unit_name(grain: Grain) -> &'static str {
    match grain {
        Grain::Hour => "hour",
        Grain::Day => "day",
        Grain::Week => "week",
        Grain::Quarter | Grain::FiscalQuarter => "quarter",
        Grain::Year | Grain::FiscalYear => "year",
        _ => "month",
    }
}
