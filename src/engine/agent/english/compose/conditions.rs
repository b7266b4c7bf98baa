//! Conditions.

use super::spans::{overlap, united, within_any};
use super::together::merged;
use super::*;
use crate::engine::agent::explainer::describe;
use crate::model::ontology::DataType;

impl Builder<'_> {
    pub(super) fn conditions(&mut self) -> Result<(), Fault> {
        let mut known: Option<(Option<FieldRef>, Vec<Window>)> = None;
        let state = self.state_at()?;
        let part = self.took_part()?;
        let conds = self.sketch.conds.iter().enumerate();
        let conds =
            conds.filter(|(at, _)| state.as_ref().is_none_or(|(_, read)| !read.contains(at)) && !part.contains(at));
        let mut conds: Vec<&Cond> = conds.map(|(_, cond)| cond).collect();
        let within = self.window_of_bound(&conds)?;
        conds.retain(|cond| within.is_none() || !matches!(cond, Cond::Window { .. }));
        // "refunds of shops with more than 5 sales in June": of both numbers.
        let within = within.or_else(|| {
            conds.windows(2).find_map(|two| match two {
                [Cond::Measured { .. }, Cond::Window { field: None, windows, negated: false, .. }] => {
                    match windows.as_slice() {
                        [window] if !self.sketch.measures.is_empty() => Some(window.clone()),
                        _ => None,
                    }
                }
                _ => None,
            })
        });
        self.plan.filters.extend(state.map(|(condition, _)| condition));
        for cond in conds {
            if let Cond::Window { field, windows, negated: false, either } = cond
                && field.is_none_or(|noun| self.sketch.nouns[noun].holder.is_none())
            {
                let mut windows = windows.clone();
                if known.is_none() && windows.len() == 2 && self.sketch.comparing && !self.grouped_by_time() {
                    let with = windows.remove(1);
                    self.plan.comparison = Some(Comparison { with, align: None });
                }
                if let (Some(_), None, [window], None, true) =
                    (&known, field, windows.as_slice(), &self.plan.comparison, self.sketch.comparing)
                {
                    self.plan.comparison = Some(Comparison { with: window.clone(), align: None });
                    continue;
                }
                let field = match field {
                    Some(noun) => Some(self.field_ref(*noun)?),
                    None => self.explicit_time()?,
                };
                self.either_or_both(&windows, *either)?;
                let windows = united(windows);
                match &known {
                    None => {
                        self.time(field.clone(), &windows)?;
                        known = Some((field, windows));
                    }
                    Some((other, before)) => {
                        if *other == field && !overlap(before, &windows) {
                            let said = |windows: &[Window]| windows.iter().map(describe).collect::<Vec<_>>().join(", ");
                            return cannot(format!(
                                "No time is in {} and in {} at once: join them with “and” for both together.",
                                said(before),
                                said(&windows)
                            ));
                        }
                        let field = match field {
                            Some(field) => field,
                            None => self.time_of(self.anchor)?,
                        };
                        self.plan.filters.push(within_any(&field, &windows));
                    }
                }
                continue;
            }
            if let Cond::Measured { quantity, op, value } = cond {
                self.measured(quantity, *op, value, within.as_ref())?;
                continue;
            }
            let conditions = self.held(cond)?;
            self.plan.filters.extend(conditions);
        }
        self.plan.filters = merged(std::mem::take(&mut self.plan.filters), self.resolver.graph);
        Ok(())
    }

    /// "shops with more than 5 sales in 2023", where shops have no time: the one time of what is counted.
    fn window_of_bound(&self, conds: &[&Cond]) -> Result<Option<Window>, Fault> {
        let mut windows = conds.iter().filter(|cond| matches!(cond, Cond::Window { .. }));
        let window = match (windows.next(), windows.next()) {
            (Some(Cond::Window { field: None, windows, negated: false, .. }), None) => match windows.as_slice() {
                [window] => window.clone(),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let bounds = conds.iter().filter(|cond| matches!(cond, Cond::Measured { .. })).count();
        let named = self.entity(self.anchor)?.default_time_field.is_some();
        let behind = conds.windows(2).any(|two| matches!(two, [Cond::Measured { .. }, Cond::Window { .. }]));
        // "how many customers have more than 3 orders in 2023", where customers have no time of their own.
        let counted = behind && !named && matches!(self.sketch.measures.as_slice(), [Quantity::Count(_)]);
        if bounds != 1 || !self.sketch.measures.is_empty() && !counted || named && !behind {
            return Ok(None);
        }
        // "orders with more than 5 items in 2023": orders have numbers with a time of their own, too. Customers that
        // nobody counts over time have none, whenever they joined.
        let anchor = self.entity(self.anchor)?.name.to_lowercase();
        let named = named
            && self.resolver.ontology.metrics.iter().any(|metric| {
                let time = metric.default_time_field.as_ref().and_then(|field| field.split_once('.'));
                time.is_some_and(|(dataset, _)| dataset.eq_ignore_ascii_case(&anchor))
                    || metric.expression.to_lowercase().contains(&format!("({anchor}."))
            });
        let own = conds.iter().find_map(|cond| match cond {
            Cond::Measured { quantity: Quantity::Count(noun), .. } => {
                let dataset = self.resolver.dataset_of(&self.found.get(*noun)?.as_ref()?.target)?;
                let timed = self.resolver.ontology.datasets.get(dataset)?.default_time_field.is_some();
                (timed && dataset != self.anchor).then(|| self.resolver.entity_words(dataset))
            }
            _ => None,
        });
        match own {
            Some(own) if named => {
                let anchor = self.resolver.entity_words(self.anchor);
                let phrase = window.phrase.unwrap_or_default();
                cannot(format!(
                    "Is “{phrase}” the time of the {own} or that of the {anchor}? Name the field, such as \
                     the date of the {own}."
                ))
            }
            _ => Ok((!named).then_some(window)),
        }
    }

    /// A number of the rows of a time only.
    fn only_in(&mut self, measure: &mut Measure, window: &Window) -> Result<(), Fault> {
        let metric = match &measure.value {
            Value::Metric(name) => self.resolver.ontology.metric(name),
            _ => None,
        };
        let of = match &measure.value {
            Value::Count(name) => self.resolver.position(name),
            _ => metric.and_then(|metric| self.resolver.metric_datasets_of(metric).first().copied()),
        };
        let own = metric.and_then(|metric| metric.default_time_field.as_ref()?.split_once('.'));
        let field = match (own, of) {
            (Some((dataset, field)), _) => FieldRef::new(dataset, field),
            (None, Some(of)) => self.time_of(of)?,
            (None, None) => return cannot("It is not clear what the time is said of: ask in two questions."),
        };
        measure.filters.push(Condition::Within { field, window: window.clone(), negated: false });
        Ok(())
    }

    pub(super) fn measured(
        &mut self,
        quantity: &Quantity,
        op: Comparator,
        value: &Bound,
        within: Option<&Window>,
    ) -> Result<(), Fault> {
        let number = match value {
            Bound::Number(number, unit) => Some(self.bound(quantity, *number, unit.as_deref())?),
            Bound::Average => None,
            Bound::Text(text) => return cannot(format!("“{text}” is no number.")),
        };
        let named = super::super::resolve::first_noun(quantity).and_then(|noun| self.sketch.nouns.get(noun)?.holder);
        let subject = self.sketch.subject.or(named).or_else(|| match self.sketch.measures.first() {
            Some(Quantity::Count(noun) | Quantity::Plain(noun)) => Some(*noun),
            _ => None,
        });
        let thing = subject.and_then(|noun| self.found.get(noun)?.as_ref()).and_then(|found| match found.target {
            Target::Entity(d) => Some(d),
            Target::Metric(m) => self.resolver.dataset_of(&found.target).filter(|d| self.resolver.counts(m, *d)),
            _ => None,
        });
        let holder = super::super::resolve::first_noun(quantity).and_then(|noun| self.holder(noun));
        let shown = |(owner, _): &(usize, Vec<String>)| {
            let name = self.resolver.ontology.datasets.get(*owner).map_or("", |entity| entity.name.as_str());
            self.plan.dimensions.iter().any(|dimension| dimension.field.dataset.eq_ignore_ascii_case(name))
        };
        if holder.as_ref().is_some_and(|holder| !shown(holder)) && number.is_some() {
            let mut conditions = self.held(&Cond::Measured { quantity: quantity.clone(), op, value: value.clone() })?;
            if let Some(window) = within {
                for condition in &mut conditions {
                    if let Condition::Measured { measure, .. } = condition {
                        self.only_in(measure, window)?;
                    }
                }
            }
            self.plan.filters.extend(conditions);
            return Ok(());
        }
        let mut measure = self.measure(quantity)?;
        if let Some(window) = within {
            self.only_in(&mut measure, window)?;
        }
        let known = self.plan.measures.iter().position(|known| known.value == measure.value);
        let listed = self.sketch.measures.is_empty() && self.sketch.rank.is_none() && known.is_none();
        if let Some(thing) = thing.filter(|thing| self.who(*thing).is_some())
            && !(listed && thing == self.anchor)
        {
            self.of_one(thing, "a bound on a number")?;
        }
        if let (Some(thing), None, Some(number)) = (thing.filter(|thing| self.who(*thing).is_none()), known, number) {
            let of = self.entity(thing)?.name.clone();
            self.plan.filters.push(Condition::Measured {
                of,
                measure: Box::new(measure),
                op,
                value: Literal::Number(number),
            });
            return Ok(());
        }
        if self.plan.dimensions.is_empty() {
            let noun = subject.or_else(|| self.sketch.columns.first().copied());
            let Some(noun) = noun else { return cannot("A bound on a number needs something that the number is of.") };
            for dimension in self.dims_of(noun)? {
                self.add_dimension(dimension);
            }
        }
        let at = match known {
            Some(at) => at,
            None => {
                self.present(By::Measure(0));
                self.plan.measures.push(measure);
                self.plan.measures.len() - 1
            }
        };
        let value = match number {
            Some(number) => crate::model::plan::Bound::Number(number),
            None => crate::model::plan::Bound::Overall(Aggregation::Avg),
        };
        self.plan.having.push(Having { measure: at, op, value });
        Ok(())
    }

    /// A number that bounds a quantity. Its unit must be that of the quantity; only percent are turned into parts.
    fn bound(&mut self, quantity: &Quantity, number: f64, unit: Option<&str>) -> Result<F64, Fault> {
        let Some((unit, (kind, factor))) = unit.and_then(|unit| Some((unit, vocabulary::unit(unit)?))) else {
            return finite(number);
        };
        let measure = self.measure(quantity)?;
        if kind == "money" {
            self.same_currency(unit, self.unit_of(&measure).as_deref(), "the number")?;
        }
        match self.unit_of(&measure).as_deref().and_then(vocabulary::unit) {
            Some(own) if own == (kind, factor) => finite(number),
            Some((own, own_factor)) if own == kind => finite(number * factor / own_factor),
            None if kind == "percent" => finite(number / 100.0),
            None if kind == "money" => finite(number),
            _ => cannot(format!("It is not clear what “{number} {unit}” is of: name the field with the bound.")),
        }
    }

    /// A condition as seen from a dataset; where a row of it may meet several rows of the condition's dataset, one of
    /// them is enough.
    pub(super) fn condition(&mut self, cond: &Cond, from: usize) -> Result<Vec<Condition>, Fault> {
        let (conditions, noun, negated) = match cond {
            Cond::Values { nouns, negated } => return self.values(nouns, *negated, from),
            Cond::Compare { field, op, value } => (vec![self.compared(*field, *op, value)?], Some(*field), false),
            Cond::Like { field, pattern, text, negated } => {
                let condition = Condition::Like {
                    field: self.field_ref(*field)?,
                    pattern: *pattern,
                    text: text.clone(),
                    negated: *negated,
                };
                (vec![condition], Some(*field), false)
            }
            Cond::Null { field, negated } => {
                (vec![Condition::IsNull { field: self.field_ref(*field)?, negated: *negated }], Some(*field), false)
            }
            Cond::Flag { noun, negated } => {
                let found = self.found(*noun)?.clone();
                let condition = match found.target {
                    Target::Segment(s) => {
                        Condition::Segment { name: self.resolver.ontology.segments[s].name.clone(), negated: *negated }
                    }
                    Target::Field(d, f) => Condition::Compare {
                        field: self.reference(d, f, &found.via)?,
                        op: Comparator::Equal,
                        value: Literal::Bool(!negated),
                    },
                    _ => return cannot(format!("“{}” is no condition.", self.sketch.nouns[*noun].text)),
                };
                if self.sketch.ever.contains(noun) {
                    return Ok(self.ever(condition, *noun, *negated, from));
                }
                self.said_of(*noun, &found, from)?;
                (vec![condition], Some(*noun), false)
            }
            Cond::Window { field, windows, negated, either } => {
                let field = match field {
                    Some(noun) => self.field_ref(*noun)?,
                    None => self.time_of(from)?,
                };
                if *negated {
                    let not = |window: &Window| Condition::Within {
                        field: field.clone(),
                        window: window.clone(),
                        negated: true,
                    };
                    return Ok(windows.iter().map(not).collect());
                }
                // One who bought in two years may have bought in both, or in either.
                if from != self.anchor && windows.len() > 1 && !either {
                    let said = windows.iter().map(describe).collect::<Vec<_>>();
                    return cannot(format!(
                        "In both, or in either? Say “in {}”, or ask for one time at a time.",
                        said.join(" or ")
                    ));
                }
                return Ok(vec![within_any(&field, &united(windows.clone()))]);
            }
            Cond::Days { field, days, negated } => {
                let field = self.time_meant(*field, from)?;
                return Ok(vec![Condition::OnDays { field, days: days.clone(), negated: *negated }]);
            }
            Cond::Hours { field, from: start, to, negated } => {
                let field = self.time_meant(*field, from)?;
                let known = self.resolver.ontology.field(&field.dataset, &field.field);
                if let Some(known) = known.filter(|known| known.datatype == DataType::Date) {
                    return cannot(format!("“{}” holds days without a time of the day.", known.words()));
                }
                return Ok(vec![Condition::AtHours { field, from: *start, to: *to, negated: *negated }]);
            }
            Cond::Exists { thing, inner, negated } => return self.exists(*thing, inner, *negated, from),
            Cond::Others { thing, inner, negated } => return self.others(*thing, inner, *negated, from),
            Cond::Fields { left, op, right } => return self.fields_compared(*left, *op, *right, from),
            Cond::Booked(conditions) => return Ok(conditions.clone()),
            Cond::Measured { quantity, op, value } => {
                let Bound::Number(number, unit) = value else { return cannot("A bound needs a number.") };
                let number = self.bound(quantity, *number, unit.as_deref())?;
                self.of_one(from, "a bound on a number")?;
                let measure = Box::new(self.measure(quantity)?);
                let of = self.entity(from)?.name.clone();
                return Ok(vec![Condition::Measured { of, measure, op: *op, value: Literal::Number(number) }]);
            }
        };
        Ok(self.within_reach(conditions, noun, negated, from))
    }

    /// The time that is named, or that of the rows that a condition is seen from.
    fn time_meant(&mut self, named: Option<NounAt>, from: usize) -> Result<FieldRef, Fault> {
        match named {
            Some(noun) => self.field_ref(noun),
            None if from == self.anchor => self.time_field(),
            None => self.time_of(from),
        }
    }

    /// "indebted suppliers", where only customers may be, do not mean suppliers with customers that are.
    fn said_of(&self, noun: NounAt, found: &Found, from: usize) -> Result<(), Fault> {
        let Some(to) = self.resolver.dataset_of(&found.target) else { return Ok(()) };
        let way = self.resolver.graph.way(from, to, &found.via, Steps::Any).unwrap_or_default();
        let named = self.resolver.names_dataset(&self.sketch.nouns[noun].norm, to);
        if named || !way.iter().any(|step| step.to_many) {
            return Ok(());
        }
        let (text, own, other) =
            (&self.sketch.nouns[noun].text, self.resolver.entity_words(to), self.resolver.entity_words(from));
        cannot(format!("“{text}” is said of a {own} here, not of a {other}."))
    }

    /// Wraps conditions on datasets of which a row may meet several.
    pub(super) fn within_reach(
        &self,
        conditions: Vec<Condition>,
        noun: Option<NounAt>,
        negated: bool,
        from: usize,
    ) -> Vec<Condition> {
        let found = noun.and_then(|noun| self.found.get(noun)?.as_ref());
        let Some(to) = found.and_then(|found| self.resolver.dataset_of(&found.target)) else { return conditions };
        let via = found.map(|found| found.via.clone()).unwrap_or_default();
        let Ok(way) = self.resolver.graph.way(from, to, &via, Steps::Any) else { return conditions };
        let (Ok(of), Ok(dataset)) = (self.entity(self.owning(from, to, &via)), self.entity(to)) else {
            return conditions;
        };
        let shown =
            self.plan.dimensions.iter().any(|dimension| dimension.field.dataset.eq_ignore_ascii_case(&dataset.name));
        if from == to || !way.iter().any(|step| step.to_many) || shown && !negated {
            return conditions;
        }
        // What is missing in all rows that there may be is also missing where there is none.
        if let [Condition::IsNull { field, negated: false }] = conditions.as_slice() {
            let there = Condition::IsNull { field: FieldRef { via: Vec::new(), ..field.clone() }, negated: true };
            return vec![Condition::Exists {
                of: of.name.clone(),
                dataset: dataset.name.clone(),
                via,
                filters: vec![there],
                negated: true,
            }];
        }
        let filters = conditions.into_iter().map(without_via).collect();
        vec![Condition::Exists { of: of.name.clone(), dataset: dataset.name.clone(), via, filters, negated }]
    }
}
