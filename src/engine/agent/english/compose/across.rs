//! What is said of all rows that a thing has: how many different ones there are of something among them, that there are
//! others than some, and that something ever or never held of one.

use super::*;

impl Builder<'_> {
    /// "who bought in at least 3 towns": how many different towns the sales are in for which the conditions hold.
    pub(super) fn across(
        &mut self,
        counted: NounAt,
        thing: NounAt,
        inner: &[Cond],
        object: Option<NounAt>,
    ) -> Result<Measure, Fault> {
        let found = self.found(counted)?.clone();
        let Target::Entity(d) = self.found(thing)?.target else {
            return cannot(format!("“{}” is no dataset.", self.sketch.nouns[thing].text));
        };
        let text = self.sketch.nouns[thing].text.clone();
        let unclear = || format!("It is not clear which rows the conditions on “{text}” are about.");
        let mut filters = Vec::new();
        for cond in inner {
            filters.extend(self.condition(cond, d)?);
        }
        if let Some(object) = object {
            return self.done(d, filters, object);
        }
        // What there must be of other rows is no condition on the rows that are counted.
        let plain = |condition: &Condition| {
            matches!(
                condition,
                Condition::Compare { .. } | Condition::In { .. } | Condition::Within { .. } | Condition::IsNull { .. }
            )
        };
        if !filters.iter().all(plain) {
            return cannot(unclear());
        }
        let (of, field) = match found.target {
            Target::Entity(of) => (of, None),
            Target::Field(of, field) => (of, Some(self.reference(of, field, &found.via)?)),
            _ => return cannot(format!("“{}” cannot be counted here.", self.sketch.nouns[counted].text)),
        };
        let owner = self.sketch.nouns[thing].holder.and_then(|holder| self.found.get(holder)?.as_ref());
        let owner = owner.and_then(|owner| self.resolver.dataset_of(&owner.target)).unwrap_or(self.anchor);
        let function = Aggregation::CountDistinct;
        // The way from what is counted to whose rows they are must be that by the rows that are spoken of.
        let passes = |from: usize| {
            let way = self.resolver.graph.way(from, owner, &[], Steps::Any).unwrap_or_default();
            from == d || way.iter().any(|step| step.from == d)
        };
        let referring = match &field {
            None => self.referring(d, of, &found.via)?.filter(|(from, _)| passes(*from)),
            Some(field) => (of == d || passes(of) && found.via.is_empty()).then(|| (of, field.clone())),
        };
        if let Some((_, field)) = referring {
            return Ok(Measure { filters, ..Measure::of(Value::Aggregate { function, field }) });
        }
        if !passes(of) || !found.via.is_empty() || field.is_some() {
            return cannot(unclear());
        }
        Ok(Measure { filters, ..Measure::of(Value::Count(self.entity(of)?.name.clone())) })
    }

    /// "who borrowed more than 3 books": each time counts, where each is of one book.
    fn done(&mut self, rows: usize, filters: Vec<Condition>, object: NounAt) -> Result<Measure, Fault> {
        let found = self.found(object)?.clone();
        let to = self.resolver.dataset_of(&found.target).unwrap_or(rows);
        let (row, text) = (self.resolver.entity_words(rows), self.sketch.nouns[object].text.clone());
        if self.resolver.graph.way(rows, to, &found.via, Steps::ToOne).is_err() {
            return cannot(format!(
                "One {row} may be of several “{text}”: say “different” before it to count each of them once."
            ));
        }
        self.assumptions.push(format!("Each {row} counts, also where several are of the same of the “{text}”."));
        Ok(Measure { filters, ..Measure::of(Value::Count(self.entity(rows)?.name.clone())) })
    }

    /// Whether rows of a dataset lie between those of a clause and what is counted of them: the films in "rented films of
    /// at least 3 categories".
    pub(super) fn counted_across(&self, dataset: usize) -> bool {
        self.sketch.conds.iter().any(|cond| {
            let Cond::Measured { quantity: Quantity::Across { counted, thing, .. }, .. } = cond else { return false };
            let of =
                |noun: NounAt| self.found.get(noun)?.as_ref().and_then(|found| self.resolver.dataset_of(&found.target));
            let (Some(from), Some(to)) = (of(*thing), of(*counted)) else { return false };
            let way = self.resolver.graph.way(from, to, &[], Steps::Any).unwrap_or_default();
            way.iter().any(|step| step.from == dataset || step.to == dataset)
        })
    }

    /// The field that says which row of a dataset is meant, where the way to it ends with a step to one row, and the
    /// dataset that the field is of.
    pub(super) fn referring(&self, from: usize, to: usize, via: &[String]) -> Result<Option<(usize, FieldRef)>, Fault> {
        let Ok(way) = self.resolver.graph.way(from, to, via, Steps::Any) else { return Ok(None) };
        let Some(step) = way.last().filter(|step| !step.to_many && step.forward) else { return Ok(None) };
        let Some(relationship) = self.resolver.ontology.relationships.get(step.relationship) else { return Ok(None) };
        let [column] = relationship.from_columns.as_slice() else { return Ok(None) };
        let field =
            self.entity(step.from)?.fields.iter().position(|field| {
                field.name.eq_ignore_ascii_case(column) || field.expression.eq_ignore_ascii_case(column)
            });
        field.map(|field| Ok((step.from, self.reference(step.from, field, &[])?))).transpose()
    }

    /// "who bought only rye": that there is none with anything else.
    pub(super) fn others(
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
        let filters = match inner {
            [Cond::Values { nouns, negated: false }] => {
                let noun = nouns.first().copied();
                let mut others = Vec::new();
                let mut field = None;
                for noun in nouns {
                    let Target::Value(_, _, value) = &self.found(*noun)?.target else {
                        return cannot(format!("“{}” is no value.", self.sketch.nouns[*noun].text));
                    };
                    let own = self.field_ref(*noun)?;
                    if field.get_or_insert_with(|| own.clone()) != &own {
                        return cannot("“Only” is said of values of different fields: ask for one at a time.");
                    }
                    others.push(Literal::Text(value.clone()));
                }
                let Some(field) = field else { return cannot("“Only” is said of nothing.") };
                let condition = Condition::In { field, values: others, negated: true };
                self.within_reach(vec![condition], noun, false, d)
            }
            [cond @ Cond::Flag { negated: false, .. }] => {
                let conditions = self.condition(cond, d)?;
                let [Condition::Segment { name, .. }] = conditions.as_slice() else {
                    return cannot("What “only” is said of is not clear: ask for those without any other.");
                };
                vec![Condition::Segment { name: name.clone(), negated: true }]
            }
            [Cond::Window { windows, negated: false, .. }] => {
                let field = match &inner[0] {
                    Cond::Window { field: Some(noun), .. } => self.field_ref(*noun)?,
                    _ => self.time_of(d)?,
                };
                let not =
                    |window: &Window| Condition::Within { field: field.clone(), window: window.clone(), negated: true };
                windows.iter().map(not).collect()
            }
            _ => {
                return cannot(
                    "What “only” is said of is not clear: ask for those with it, or for those without any other.",
                );
            }
        };
        self.of_one(from, "what there is only of")?;
        let (of, dataset) = (self.entity(from)?.name.clone(), self.entity(d)?.name.clone());
        Ok(vec![Condition::Exists { of, dataset, via: found.via, filters, negated }])
    }

    /// "shipped after the promised date": two fields that each row has one of.
    pub(super) fn fields_compared(
        &self,
        left: NounAt,
        op: Comparator,
        right: NounAt,
        from: usize,
    ) -> Result<Vec<Condition>, Fault> {
        for noun in [left, right] {
            let found = self.found(noun)?;
            let to = self.resolver.dataset_of(&found.target).unwrap_or(from);
            if self.resolver.graph.way(from, to, &found.via, Steps::ToOne).is_err() {
                let (text, row) = (&self.sketch.nouns[noun].text, self.resolver.entity_words(from));
                return cannot(format!("One {row} may have several of “{text}”, and they cannot be compared for it."));
            }
        }
        let (first, second) = (self.field_ref(left)?, self.field_ref(right)?);
        if first == second {
            let text = &self.sketch.nouns[left].text;
            return cannot(format!("It is not clear which two “{text}” are compared."));
        }
        Ok(vec![Condition::CompareFields { left: first, op, right: second }])
    }

    /// "parts that were never returned", "that were ever returned": of any of the rows where there may be several.
    pub(super) fn ever(&self, condition: Condition, noun: NounAt, negated: bool, from: usize) -> Vec<Condition> {
        let positive = match condition {
            Condition::Segment { name, .. } => Condition::Segment { name, negated: false },
            Condition::Compare { field, op, value: Literal::Bool(_) } => {
                Condition::Compare { field, op, value: Literal::Bool(true) }
            }
            other => other,
        };
        let many = self.found.get(noun).and_then(Option::as_ref).and_then(|found| {
            let to = self.resolver.dataset_of(&found.target)?;
            let way = self.resolver.graph.way(from, to, &found.via, Steps::Any).ok()?;
            Some(way.iter().any(|step| step.to_many))
        });
        if many == Some(true) {
            return self.within_reach(vec![positive], Some(noun), negated, from);
        }
        match positive {
            positive if !negated => vec![positive],
            Condition::Segment { name, .. } => vec![Condition::Segment { name, negated: true }],
            Condition::Compare { field, op, .. } => {
                vec![Condition::Compare { field, op, value: Literal::Bool(false) }]
            }
            other => vec![Condition::Not(Box::new(other))],
        }
    }
}
