//! Things that have no time themselves, asked for in one: "how many vans did Lund use in May" are those with a trip
//! then, and with one of Lund's.

use crate::engine::ontology::graph::{NoWay, Step};

use super::super::resolve::spoken;
use super::*;

impl Builder<'_> {
    /// Sets the condition that a thing took part in what has a time. Gives the positions of the conditions of the
    /// question that are read with it: none where more than one kind of thing may have happened to it.
    pub(super) fn took_part(&mut self) -> Result<Vec<usize>, Fault> {
        let conds = &self.sketch.conds;
        let deed = self.deed();
        let timed = |cond: &Cond| match cond {
            Cond::Window { field: Some(noun), negated: false, .. } => deed.is_some_and(|(done, _)| done == *noun),
            Cond::Window { field: None, negated, .. }
            | Cond::Days { field: None, negated, .. }
            | Cond::Hours { field: None, negated, .. } => !negated,
            _ => false,
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
        if let (false, Some((_, event))) = (plain, deed)
            && let Some(other) = conds.iter().find(|cond| !timed(cond) && self.is_of(cond, event)).and_then(spoken)
        {
            let text = &self.sketch.nouns[other].text;
            return cannot(format!("Is “{text}” said of what was done at that time? Ask for one of them alone."));
        }
        if !plain || !conds.iter().any(timed) || deed.is_none() && self.has_own_time() {
            return Ok(Vec::new());
        }
        let Some(event) = deed.map(|(_, event)| event).or_else(|| self.event()) else { return Ok(Vec::new()) };
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

    /// The date at which something was done with the rows, where one is named, and its dataset: that of the loans in
    /// "members who borrowed Dune in May".
    fn deed(&self) -> Option<(NounAt, usize)> {
        self.sketch.conds.iter().find_map(|cond| {
            let Cond::Window { field: Some(noun), negated: false, .. } = cond else { return None };
            let found = self.found.get(*noun)?.as_ref()?;
            let known =
                self.sketch.nouns.get(*noun).filter(|known| known.holder.is_none() && known.inside.is_none())?;
            let to = self.resolver.dataset_of(&found.target).filter(|to| *to != self.anchor)?;
            let graph = self.resolver.graph;
            let done = graph.way(to, self.anchor, &[], Steps::ToOne).is_ok()
                && graph.way(self.anchor, to, &found.via, Steps::ToOne).is_err();
            (done && known.want == Want::Time).then_some((*noun, to))
        })
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
        let passes = |step: &Step| step.to == event;
        let of = |noun: NounAt| -> Option<bool> {
            let known = &self.sketch.nouns[noun];
            let found = self.found.get(noun)?.as_ref()?;
            let to = self.resolver.dataset_of(&found.target)?;
            let graph = self.resolver.graph;
            let own = graph.way(self.anchor, to, &found.via, Steps::ToOne).is_ok();
            let met = graph.way(event, to, &found.via, Steps::ToOne).is_ok()
                || self.deed().is_some()
                    && graph.way(self.anchor, to, &found.via, Steps::Any).is_ok_and(|way| way.iter().any(passes));
            Some(!own && met && known.holder.is_none() && known.inside.is_none())
        };
        spoken(cond).and_then(of).unwrap_or(false)
    }
}
