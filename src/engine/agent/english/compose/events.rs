//! Things that have no time themselves, asked for in one: "how many vans did Lund use in May" are those with a trip
//! then, and with one of Lund's.

use crate::engine::ontology::graph::NoWay;

use super::super::resolve::spoken;
use super::*;

impl Builder<'_> {
    /// Sets the condition that a thing took part in what has a time. Gives the positions of the conditions of the
    /// question that are read with it: none where more than one kind of thing may have happened to it.
    pub(super) fn took_part(&mut self) -> Result<Vec<usize>, Fault> {
        let conds = &self.sketch.conds;
        let timed = |cond: &Cond| {
            matches!(
                cond,
                Cond::Window { field: None, negated: false, .. }
                    | Cond::Days { field: None, negated: false, .. }
                    | Cond::Hours { field: None, negated: false, .. }
            )
        };
        let counted = |quantity: &Quantity| match quantity {
            Quantity::Count(noun) => {
                matches!(self.found(*noun).map(|found| &found.target), Ok(Target::Entity(d)) if *d == self.anchor)
            }
            _ => false,
        };
        let plain = self.sketch.measures.iter().all(counted)
            && self.sketch.groups.is_empty()
            && self.sketch.rank.is_none()
            && self.sketch.compare.is_none()
            && !self.sketch.comparing
            && self.sketch.display.is_none()
            && !conds.iter().any(|cond| matches!(cond, Cond::Measured { .. } | Cond::Exists { .. }));
        if !plain || !conds.iter().any(timed) || self.has_own_time() {
            return Ok(Vec::new());
        }
        let Some(event) = self.event() else { return Ok(Vec::new()) };
        let mut at = Vec::new();
        for (position, cond) in conds.iter().enumerate() {
            if timed(cond) || self.is_of(cond, event) {
                at.push(position);
            }
        }
        // "how many items did we sell in May" names nothing of what was done but its time.
        if at.iter().all(|position| timed(&conds[*position])) {
            return Ok(Vec::new());
        }
        let mut filters = Vec::new();
        for position in &at {
            filters.extend(self.condition(&conds[*position], event)?);
        }
        let metric = self.counted_by(event).filter(|_| at.len() == conds.len());
        if let ([measure], Some(metric)) = (self.plan.measures.as_mut_slice(), metric) {
            measure.value = Value::Metric(metric);
            self.plan.filters.extend(filters);
            return Ok(at);
        }
        let (of, dataset) = (self.entity(self.anchor)?.name.clone(), self.entity(event)?.name.clone());
        self.plan.filters.push(Condition::Exists { of, dataset, via: Vec::new(), filters, negated: false });
        Ok(at)
    }

    /// The metric that counts the different things that something happened to: it knows of those, too, that are in no
    /// list of things.
    fn counted_by(&self, event: usize) -> Option<String> {
        let ontology = self.resolver.ontology;
        let (of, thing) = (ontology.datasets.get(event)?, ontology.datasets.get(self.anchor)?);
        let refers = |column: &str| {
            ontology.relationships.iter().any(|relationship| {
                relationship.from.eq_ignore_ascii_case(&of.name)
                    && relationship.to.eq_ignore_ascii_case(&thing.name)
                    && matches!(relationship.from_columns.as_slice(), [own] if own.eq_ignore_ascii_case(column))
            })
        };
        let counts = |expression: &str| -> Option<bool> {
            let inner = expression.trim().to_lowercase();
            let (dataset, field) = inner.strip_prefix("count(distinct ")?.strip_suffix(')')?.trim().split_once('.')?;
            let column = of.field(field).map_or(field, |field| field.expression.as_str());
            Some(dataset.eq_ignore_ascii_case(&of.name) && (refers(column) || refers(field)))
        };
        let metrics = ontology.metrics.iter().filter(|metric| metric.filters.is_empty());
        metrics.filter(|metric| counts(&metric.expression) == Some(true)).map(|metric| metric.name.clone()).next()
    }

    /// Whether the rows that are asked for, or what each of them belongs to, have a time.
    fn has_own_time(&self) -> bool {
        self.resolver.graph.upward(self.anchor).iter().any(|(at, _)| {
            self.resolver.ontology.datasets.get(*at).is_some_and(|entity| {
                entity.default_time_field.is_some()
                    || entity.fields.iter().any(|field| field.datatype.is_calendar() && !field.hidden)
            })
        })
    }

    /// The one dataset with a time whose rows each have one of the rows that are asked for: the nearest.
    fn event(&self) -> Option<usize> {
        let datasets = self.resolver.ontology.datasets.iter().enumerate();
        let mut nearest: Option<(usize, usize)> = None;
        let mut alone = true;
        for (at, _) in datasets.filter(|(at, entity)| *at != self.anchor && !entity.hidden) {
            let dated = |(at, _): &(usize, usize)| {
                self.resolver.ontology.datasets.get(*at).is_some_and(|entity| entity.default_time_field.is_some())
            };
            if !self.resolver.graph.upward(at).iter().any(dated) {
                continue;
            }
            let steps = match self.resolver.graph.way(at, self.anchor, &[], Steps::ToOne) {
                Ok(way) => way.len(),
                // A flight has two airports: nothing says which one.
                Err(NoWay::Ambiguous(_)) => return None,
                Err(_) => continue,
            };
            match nearest {
                Some((known, _)) if known < steps => {}
                Some((known, _)) if known == steps => alone = false,
                _ => (nearest, alone) = (Some((steps, at)), true),
            }
        }
        nearest.filter(|_| alone).map(|(_, at)| at)
    }

    /// Whether a condition is on what happened, and not on the thing itself.
    fn is_of(&self, cond: &Cond, event: usize) -> bool {
        let of = |noun: NounAt| -> Option<bool> {
            let known = &self.sketch.nouns[noun];
            let found = self.found.get(noun)?.as_ref()?;
            let to = self.resolver.dataset_of(&found.target)?;
            let graph = self.resolver.graph;
            let own = graph.way(self.anchor, to, &found.via, Steps::ToOne).is_ok();
            let met = graph.way(event, to, &found.via, Steps::ToOne).is_ok();
            Some(!own && met && known.holder.is_none() && known.inside.is_none())
        };
        spoken(cond).and_then(of).unwrap_or(false)
    }
}
