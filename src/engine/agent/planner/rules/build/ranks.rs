//! Rankings and orders.

use super::*;

impl Builder<'_> {
    pub(super) fn rank(&mut self, rank: &Rank) -> Result<(), Fault> {
        let subject = self.sketch.subject;
        let mut order = None;
        if let Some(field) = rank.field {
            let reference = self.field_ref(field)?;
            if !self.plan.measures.is_empty() {
                return cannot(format!("“{}” cannot be said beside other numbers.", rank.text));
            }
            self.subject_dims()?;
            order = Some(By::Dimension(self.add_dimension(Dimension::of(reference))));
        } else if let Some(quantity) = &rank.by {
            order = Some(self.rank_by(rank, quantity)?);
        } else if rank.frequency {
            let measure = match self.ranked_by_choice() {
                Some(chosen) => chosen,
                None => self.frequency(rank)?,
            };
            self.plan.measures.push(measure);
            order = Some(By::Measure(self.plan.measures.len() - 1));
        } else if !self.plan.measures.is_empty() {
            order = Some(By::Measure(0));
        } else if let Some(chosen) = self.ranked_by_choice() {
            self.plan.measures.push(chosen);
            order = Some(By::Measure(0));
        }
        let Some(by) = order else { return Err(self.by_what(rank)) };
        self.plan.order.push(Order { by, descending: rank.descending });
        let each: Vec<usize> =
            if subject.is_some() || !self.sketch.columns.is_empty() { self.each()? } else { Vec::new() };
        self.plan.limit =
            Some(Limit { rows: rank.rows, per: each, with_ties: rank.single && rank.skip == 0, skip: rank.skip });
        Ok(())
    }

    pub(super) fn subject_dims(&mut self) -> Result<(), Fault> {
        if let Some(subject) = self.sketch.subject {
            for dimension in self.dims_of(subject)? {
                self.add_dimension(dimension);
            }
        }
        for column in &self.sketch.columns {
            for dimension in self.dims_of(*column)? {
                self.add_dimension(dimension);
            }
        }
        if self.plan.subject.is_none() {
            self.plan.subject = Some(self.entity(self.anchor)?.name.clone());
        }
        Ok(())
    }

    pub(super) fn rank_by(&mut self, rank: &Rank, quantity: &Quantity) -> Result<By, Fault> {
        if let Quantity::Plain(noun) = quantity {
            let found = self.found(*noun)?.clone();
            if let Target::Field(d, f) = found.target {
                let subject = self
                    .sketch
                    .subject
                    .and_then(|subject| self.found.get(subject)?.as_ref())
                    .and_then(|found| self.resolver.dataset_of(&found.target));
                if subject == Some(d) {
                    let reference = self.reference(d, f, &found.via)?;
                    self.plan.subject = Some(self.entity(d)?.name.clone());
                    return Ok(By::Dimension(self.add_dimension(Dimension::of(reference))));
                }
                if self.plan.measures.is_empty()
                    && rank.single
                    && grammar::superlative(rank.text.split(' ').next_back().unwrap_or_default()).is_some()
                {
                    let function = if rank.descending { Aggregation::Max } else { Aggregation::Min };
                    let field = self.reference(d, f, &found.via)?;
                    self.plan.measures.push(Measure::of(Value::Aggregate { function, field }));
                    return Ok(By::Measure(self.plan.measures.len() - 1));
                }
            }
        }
        let measure = self.measure(quantity)?;
        let known = self.plan.measures.iter().position(|known| known.value == measure.value);
        Ok(By::Measure(known.unwrap_or_else(|| {
            self.plan.measures.push(measure);
            self.plan.measures.len() - 1
        })))
    }

    /// Positions of the dimensions for each of which a ranking is made.
    pub(super) fn each(&mut self) -> Result<Vec<usize>, Fault> {
        let mut per = Vec::new();
        for group in &self.sketch.groups {
            for dimension in self.group(group)? {
                per.push(self.add_dimension(dimension));
            }
        }
        Ok(per)
    }

    /// How often something occurs: the rows that refer to it.
    pub(super) fn frequency(&mut self, rank: &Rank) -> Result<Measure, Fault> {
        let subject = self.sketch.subject.or_else(|| self.sketch.columns.first().copied());
        let dataset = subject
            .and_then(|noun| self.found.get(noun)?.as_ref())
            .and_then(|found| self.resolver.dataset_of(&found.target));
        let Some(dataset) = dataset else { return Err(self.by_what(rank)) };
        let name = self.entity(dataset)?.name.clone();
        let own_field = matches!(
            subject.and_then(|noun| self.found.get(noun)?.as_ref()).map(|found| &found.target),
            Some(Target::Field(..))
        );
        if own_field {
            return Ok(Measure::of(Value::Count(name)));
        }
        let mut facts: Vec<&str> = Vec::new();
        for relationship in &self.resolver.ontology.relationships {
            if relationship.to.eq_ignore_ascii_case(&name) && !facts.contains(&relationship.from.as_str()) {
                facts.push(&relationship.from);
            }
        }
        match facts.as_slice() {
            [one] => {
                self.assumptions.push(format!("“{}” is by the number of {}.", rank.text, in_words(one)));
                Ok(Measure::of(Value::Count((*one).to_owned())))
            }
            _ => Err(self.by_what(rank)),
        }
    }

    fn rank_key(&self) -> String {
        format!("rank:{}", self.resolver.entity_words(self.anchor))
    }

    /// What [`Builder::by_what`] asked, as it was answered.
    fn ranked_by_choice(&self) -> Option<Measure> {
        let key = self.rank_key();
        let chosen = self.resolver.chosen.iter().rev().find(|chosen| chosen.key == key)?;
        match chosen.value.split_once(':')? {
            ("metric", name) => self.resolver.ontology.metric(name).map(|metric| Measure::metric(&metric.name)),
            ("count", name) => {
                self.resolver.ontology.entity(name).map(|entity| Measure::of(Value::Count(entity.name.clone())))
            }
            _ => None,
        }
    }

    /// The question by what something is ranked.
    pub(super) fn by_what(&self, rank: &Rank) -> Fault {
        let ontology = self.resolver.ontology;
        let metrics = ontology.metrics.iter().enumerate().filter(|(at, _)| {
            let datasets = self.resolver.metric_datasets(*at, 0);
            datasets
                .first()
                .is_some_and(|dataset| self.resolver.graph.way(*dataset, self.anchor, &[], Steps::Any).is_ok())
        });
        let mut options: Vec<Choice> = metrics
            .map(|(_, metric)| Choice { label: in_words(&metric.name), value: format!("metric:{}", metric.name) })
            .take(5)
            .collect();
        if options.len() < 2 {
            let counts = ontology.datasets.iter().enumerate().filter(|(at, entity)| {
                !entity.hidden
                    && *at != self.anchor
                    && self.resolver.graph.way(*at, self.anchor, &[], Steps::ToOne).is_ok()
            });
            options.extend(counts.map(|(_, entity)| Choice {
                label: format!("number of {} rows", entity.noun()),
                value: format!("count:{}", entity.name),
            }));
            options.truncate(5);
        }
        if options.len() < 2 {
            return Fault::Cannot(format!("“{}” by what? Name a number to compare by.", rank.text));
        }
        let key = self.rank_key();
        let assumption = options[0].label.clone();
        Fault::Ask(Box::new(Clarification {
            key, question: format!("“{}” by what?", rank.text), options, assumption
        }))
    }

    pub(super) fn order(&mut self) -> Result<(), Fault> {
        let Some((by, descending)) = &self.sketch.order else { return Ok(()) };
        let by = match by {
            OrderBy::Measure if self.plan.measures.is_empty() => return cannot("There is no number to sort by."),
            OrderBy::Measure => By::Measure(self.plan.measures.len() - 1),
            OrderBy::Noun(noun) => {
                let dimension = self.dims_of(*noun)?.into_iter().next();
                let Some(dimension) = dimension else { return cannot("There is nothing to sort by.") };
                By::Dimension(self.add_dimension(dimension))
            }
            OrderBy::Time => {
                let at = self.plan.dimensions.iter().position(|dimension| dimension.grain.is_some());
                match at {
                    Some(at) => By::Dimension(at),
                    None => {
                        let field = self.time_field()?;
                        By::Dimension(self.add_dimension(Dimension::of(field)))
                    }
                }
            }
        };
        self.plan.order.push(Order { by, descending: *descending });
        Ok(())
    }
}
