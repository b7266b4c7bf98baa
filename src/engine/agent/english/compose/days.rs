//! Days from one date to another.

use super::*;

impl Builder<'_> {
    /// An aggregate of the days between two dates; their mean, where the question names none.
    pub(super) fn days(&mut self, function: Option<Aggregation>, from: NounAt, to: NounAt) -> Result<Measure, Fault> {
        let (begin, end) = (self.field_ref(from)?, self.field_ref(to)?);
        for (noun, reference) in [(from, &begin), (to, &end)] {
            if !reference.is_calendar(self.resolver.ontology) {
                return cannot(format!("“{}” is no date here.", self.sketch.nouns[noun].text));
            }
        }
        if begin == end {
            return cannot("Both dates are the same one: name two.");
        }
        let home = self.home_of_days(&begin, &end)?;
        // Conditions are seen from the rows that are asked for: of others it would not be clear which they are about.
        let conditions = self.sketch.conds.iter().any(|cond| !matches!(cond, Cond::Measured { .. }));
        if conditions && home != self.anchor {
            let (own, other) = (self.resolver.entity_words(home), self.resolver.entity_words(self.anchor));
            return cannot(format!(
                "The days are those of a {own}, and the conditions those of a {other}: ask without."
            ));
        }
        if function.is_none() && !self.sketch.groups.iter().any(|group| self.is_row(group, home)) {
            let said = "The days are taken as their average.".to_owned();
            if !self.assumptions.contains(&said) {
                self.assumptions.push(said);
            }
        }
        let function = function.unwrap_or(Aggregation::Avg);
        Ok(Measure::of(Value::Days { function, from: begin, to: end }))
    }

    /// Whether a group has one row for each row of a dataset.
    fn is_row(&self, group: &Group, dataset: usize) -> bool {
        let target = group.noun.and_then(|noun| self.found.get(noun)?.as_ref()).map(|found| &found.target);
        matches!(target, Some(Target::Entity(d)) if *d == dataset)
    }

    /// The dataset whose rows have both dates.
    fn home_of_days(&self, begin: &FieldRef, end: &FieldRef) -> Result<usize, Fault> {
        let position = |field: &FieldRef| {
            self.resolver.position(&field.dataset).ok_or_else(|| Fault::Cannot("A dataset is missing.".into()))
        };
        let (first, second) = (position(begin)?, position(end)?);
        let reaches =
            |from: usize, to: usize, via: &[String]| self.resolver.graph.way(from, to, via, Steps::ToOne).is_ok();
        Ok(if reaches(second, first, &begin.via) || !reaches(first, second, &end.via) { second } else { first })
    }
}
