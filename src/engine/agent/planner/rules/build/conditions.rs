//! Conditions.

use super::*;

impl Builder<'_> {
    pub(super) fn conditions(&mut self) -> Result<(), Fault> {
        let mut windows = 0;
        for cond in &self.sketch.conds {
            if let Cond::Window { field, window, negated: false } = cond {
                if windows == 1 && field.is_none() && self.sketch.comparing && self.plan.comparison.is_none() {
                    self.plan.comparison = Some(Comparison { with: window.clone(), align: None });
                    continue;
                }
                if windows == 0 {
                    let field = match field {
                        Some(noun) => Some(self.field_ref(*noun)?),
                        None => self.explicit_time()?,
                    };
                    self.plan.time = Some(TimeFilter { field, window: window.clone() });
                    windows += 1;
                    continue;
                }
            }
            if let Cond::Measured { quantity, op, value } = cond {
                self.measured(quantity, *op, value)?;
                continue;
            }
            let conditions = self.condition(cond, self.anchor)?;
            self.plan.filters.extend(conditions);
        }
        self.plan.filters = merged(std::mem::take(&mut self.plan.filters));
        Ok(())
    }

    pub(super) fn measured(&mut self, quantity: &Quantity, op: Comparator, value: &Bound) -> Result<(), Fault> {
        let number = match value {
            Bound::Number(number, unit) => Some(self.bound(quantity, *number, unit.as_deref())?),
            Bound::Average => None,
            Bound::Text(text) => return cannot(format!("“{text}” is no number.")),
        };
        let subject = self.sketch.subject.or_else(|| match self.sketch.measures.first() {
            Some(Quantity::Count(noun)) => Some(*noun),
            _ => None,
        });
        let thing = subject.and_then(|noun| self.found.get(noun)?.as_ref()).and_then(|found| match found.target {
            Target::Entity(d) => Some(d),
            _ => None,
        });
        let measure = self.measure(quantity)?;
        let known = self.plan.measures.iter().position(|known| known.value == measure.value);
        if let (Some(thing), None, Some(number)) = (thing, known, number) {
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
        let Some((unit, (kind, factor))) = unit.and_then(|unit| Some((unit, grammar::unit(unit)?))) else {
            return finite(number);
        };
        let measure = self.measure(quantity)?;
        match self.unit_of(&measure).as_deref().and_then(grammar::unit) {
            Some(own) if own == (kind, factor) => finite(number),
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
                (vec![condition], Some(*noun), false)
            }
            Cond::Window { field, window, negated } => {
                let field = match field {
                    Some(noun) => self.field_ref(*noun)?,
                    None => self.time_of(from)?,
                };
                return Ok(vec![Condition::Within { field, window: window.clone(), negated: *negated }]);
            }
            Cond::Exists { thing, inner, negated } => return self.exists(*thing, inner, *negated, from),
            Cond::Measured { quantity, op, value } => {
                let Bound::Number(number, unit) = value else { return cannot("A bound needs a number.") };
                let number = self.bound(quantity, *number, unit.as_deref())?;
                let measure = Box::new(self.measure(quantity)?);
                let of = self.entity(from)?.name.clone();
                return Ok(vec![Condition::Measured { of, measure, op: *op, value: Literal::Number(number) }]);
            }
        };
        Ok(self.within_reach(conditions, noun, negated, from))
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
        let (Ok(of), Ok(dataset)) = (self.entity(from), self.entity(to)) else { return conditions };
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

    pub(super) fn values(&mut self, nouns: &[NounAt], negated: bool, from: usize) -> Result<Vec<Condition>, Fault> {
        let mut lists: Vec<(FieldRef, Vec<Literal>, NounAt)> = Vec::new();
        for noun in nouns {
            let found = self.found(*noun)?.clone();
            let Target::Value(_, _, value) = &found.target else {
                return cannot(format!("“{}” is no value.", self.sketch.nouns[*noun].text));
            };
            let field = self.field_ref(*noun)?;
            let literal = Literal::Text(value.clone());
            match lists.iter_mut().find(|(known, _, _)| *known == field) {
                Some((_, values, _)) => {
                    if !values.contains(&literal) {
                        values.push(literal);
                    }
                }
                None => lists.push((field, vec![literal], *noun)),
            }
        }
        if lists.len() > 1 {
            let texts: Vec<&str> = nouns.iter().map(|noun| self.sketch.nouns[*noun].text.as_str()).collect();
            return cannot(format!("{} are values of different fields.", texts.join(", ")));
        }
        // "the phone of a supplier" is the supplier's, not that of others who have to do with it.
        let listed =
            self.sketch.measures.is_empty() && self.sketch.subject.is_none() && !self.sketch.columns.is_empty();
        if let (true, Some((field, _, noun))) = (listed, lists.first()) {
            let to = self.resolver.position(&field.dataset).unwrap_or(from);
            let apart = to != from && self.resolver.graph.way(to, from, &[], Steps::ToOne).is_err();
            if self.sketch.nouns[*noun].before == "of" && apart {
                let (column, value) = (self.resolver.entity_words(from), &self.sketch.nouns[*noun].text);
                return cannot(format!("“{value}” has no such field: what was found is of the {column}."));
            }
        }
        let mut conditions = Vec::new();
        for (field, values, noun) in lists {
            let to = self.found(noun).ok().and_then(|found| self.resolver.dataset_of(&found.target));
            let many = to.is_some_and(|to| {
                self.resolver
                    .graph
                    .way(from, to, &field.via, Steps::Any)
                    .is_ok_and(|way| way.iter().any(|step| step.to_many))
            });
            let single = match values.as_slice() {
                [one] => Condition::Compare {
                    field: field.clone(),
                    op: if negated && !many { Comparator::NotEqual } else { Comparator::Equal },
                    value: one.clone(),
                },
                _ => Condition::In { field: field.clone(), values, negated: negated && !many },
            };
            conditions.extend(self.within_reach(vec![single], Some(noun), negated && many, from));
        }
        Ok(conditions)
    }

    pub(super) fn compared(&mut self, noun: NounAt, op: Comparator, value: &Bound) -> Result<Condition, Fault> {
        let field = self.field_ref(noun)?;
        let own = self.resolver.ontology.field(&field.dataset, &field.field).cloned().unwrap_or_default();
        match value {
            Bound::Average => Ok(Condition::AgainstOverall { field, op, function: Aggregation::Avg }),
            Bound::Text(text) => {
                let number = own.datatype.is_number().then(|| text.parse::<f64>().ok().and_then(F64::new)).flatten();
                if own.datatype.is_number() && number.is_none() {
                    return cannot(format!("{} is a number, and “{text}” is none.", capital(&own.words())));
                }
                let value = number.map_or_else(|| Literal::Text(text.clone()), Literal::Number);
                Ok(Condition::Compare { field, op, value })
            }
            Bound::Number(number, unit) => {
                if !own.datatype.is_number() {
                    return cannot(format!(
                        "{} is no number, and cannot be held against {number}.",
                        capital(&own.words())
                    ));
                }
                let number = self.converted(*number, unit.as_deref(), &own)?;
                Ok(Condition::Compare { field, op, value: Literal::Number(finite(number)?) })
            }
        }
    }

    /// A number in a field's unit.
    pub(super) fn converted(&mut self, number: f64, unit: Option<&str>, field: &Field) -> Result<f64, Fault> {
        let Some(unit) = unit else { return Ok(number) };
        let Some((kind, factor)) = grammar::unit(unit) else { return Ok(number) };
        let own = field.unit.as_deref().and_then(grammar::unit);
        match own {
            Some((own_kind, own_factor)) if own_kind == kind => {
                // Whole numbers of seconds are exact; what is divided last stays as exact as it can.
                Ok(number * factor / own_factor)
            }
            Some(_) => cannot(format!(
                "{} is in {}, not in {unit}.",
                capital(&field.words()),
                field.unit.clone().unwrap_or_default()
            )),
            None if kind == "money" => Ok(number),
            None if kind == "percent" => Ok(number / 100.0),
            None => cannot(format!(
                "It is not known in which unit {} is, so it cannot be held against {number} {unit}.",
                field.words()
            )),
        }
    }

    pub(super) fn exists(
        &mut self,
        thing: NounAt,
        inner: &[Cond],
        negated: bool,
        from: usize,
    ) -> Result<Vec<Condition>, Fault> {
        let found = self.found(thing)?.clone();
        let Target::Entity(d) = found.target else {
            return cannot(format!("“{}” is no dataset.", self.sketch.nouns[thing].text));
        };
        let mut filters = Vec::new();
        for cond in inner {
            filters.extend(self.condition(cond, d)?);
        }
        // "customers with a film that is not returned" speaks of the rental between them, not of any rental.
        let way = self.resolver.graph.way(from, d, &found.via, Steps::Any).unwrap_or_default();
        let between = |name: &String| {
            self.resolver.position(name).is_some_and(|at| at != d && way.iter().any(|step| step.from == at))
        };
        let inside = |filter: &Condition| match filter {
            Condition::Exists { dataset, .. } => between(dataset),
            Condition::Measured { .. } => true,
            _ => false,
        };
        if filters.iter().any(inside) {
            let text = self.sketch.nouns[thing].text.clone();
            return cannot(format!("It is not clear which rows the conditions on “{text}” are about."));
        }
        if from == d {
            return cannot(format!("“{}” is what is asked for already.", self.sketch.nouns[thing].text));
        }
        let of = self.entity(from)?.name.clone();
        let dataset = self.entity(d)?.name.clone();
        Ok(vec![Condition::Exists { of, dataset, via: found.via, filters, negated }])
    }
}
