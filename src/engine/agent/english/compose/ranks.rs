//! Rankings and orders.

use super::super::resolve::metric_rows;
use super::*;
use crate::engine::agent::english::lexicon::words;

impl Builder<'_> {
    pub(super) fn rank(&mut self, rank: &Rank) -> Result<(), Fault> {
        let subject = self.sketch.subject;
        let mut order = None;
        if let Some(field) = rank.field {
            let reference = self.field_ref(field)?;
            if !self.plan.measures.is_empty() {
                return cannot(format!("“{}” cannot be said beside other numbers.", rank.text));
            }
            if self.lone_extreme(rank, &reference)? {
                return Ok(());
            }
            self.subject_dims()?;
            if self.sketch.nouns[field].hints == ["@age"] {
                let own = self.resolver.ontology.field(&reference.dataset, &reference.field);
                let words = own.map_or_else(|| in_words(&reference.field), Field::words).to_lowercase();
                self.assumptions.push(format!("Assumed “{}” by the {words}.", rank.text));
            }
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
        if matches!(by, By::Measure(_)) && self.plan.dimensions.is_empty() && self.sketch.groups.is_empty() {
            if self.sketch.ask != Ask::When {
                return self.extreme(rank, by);
            }
            let grain = self.when_in(rank)?;
            let field = self.time_field()?;
            self.add_dimension(Dimension { grain: Some(grain), ..Dimension::of(field) });
        }
        let descending = match rank.judged {
            Some(best) => best == self.more_is_better(by, rank)?,
            None => rank.descending,
        };
        self.present(by);
        self.plan.order.push(Order { by, descending });
        let each: Vec<usize> =
            if subject.is_some() || !self.sketch.columns.is_empty() { self.each()? } else { Vec::new() };
        self.plan.limit =
            Some(Limit { rows: rank.rows, per: each, with_ties: rank.single && rank.skip == 0, skip: rank.skip });
        Ok(())
    }

    /// "the latest date of sale": the value itself, where nothing else is shown with it.
    fn lone_extreme(&mut self, rank: &Rank, field: &FieldRef) -> Result<bool, Fault> {
        let [column] = self.sketch.columns.as_slice() else { return Ok(false) };
        let alone = self.sketch.subject.is_none() && self.sketch.groups.is_empty() && self.plan.dimensions.is_empty();
        let same = matches!(self.found(*column)?.target, Target::Field(..)) && self.field_ref(*column)? == *field;
        if !alone || !same {
            return Ok(false);
        }
        if self.sketch.ask == Ask::Which {
            // "which leases ended last" asks for the leases.
            for dimension in self.label(self.anchor, &[])?.into_iter().map(Dimension::of) {
                self.add_dimension(dimension);
            }
            return Ok(false);
        }
        if !rank.single || rank.skip > 0 {
            return Ok(false);
        }
        let function = if rank.descending { Aggregation::Max } else { Aggregation::Min };
        self.plan.measures.push(Measure::of(Value::Aggregate { function, field: field.clone() }));
        Ok(true)
    }

    /// "when was revenue highest": on which day, or in which month, is asked.
    fn when_in(&self, rank: &Rank) -> Result<Grain, Fault> {
        const UNITS: [(&str, Grain); 4] =
            [("month", Grain::Month), ("day", Grain::Day), ("week", Grain::Week), ("year", Grain::Year)];
        let key = format!("when:{}", words::split(&rank.text).join(" "));
        let chosen = self.resolver.chosen.iter().rev().find(|chosen| chosen.key == key);
        if let Some((_, grain)) = chosen.and_then(|chosen| UNITS.iter().find(|(name, _)| *name == chosen.value)) {
            return Ok(*grain);
        }
        let options: Vec<Choice> =
            UNITS.iter().map(|(name, _)| Choice { label: format!("the {name}"), value: (*name).into() }).collect();
        let assumption = options[0].label.clone();
        let question = format!("Which unit of time is meant by “when … {}”?", rank.text);
        Err(Fault::Ask(Box::new(Clarification { key, question, options, assumption })))
    }

    /// "the largest payment": without anything that is ranked, the largest of its rows. The total of all is never meant.
    fn extreme(&mut self, rank: &Rank, by: By) -> Result<(), Fault> {
        let By::Measure(at) = by else { return Ok(()) };
        let said = match &rank.by {
            Some(Quantity::Plain(noun) | Quantity::Aggregate(_, noun) | Quantity::Count(noun)) => {
                self.sketch.nouns.get(*noun).map(|noun| noun.text.clone()).unwrap_or_default()
            }
            _ => String::new(),
        };
        let row = self.plan.measures.get(at).and_then(|measure| match &measure.value {
            Value::Metric(name) => self.row_amount(name, &said),
            _ => None,
        });
        let (Some((field, filters)), None, true) = (row, rank.judged, rank.single && rank.skip == 0) else {
            let text = format!("{} {said}", rank.text);
            return cannot(format!(
                "“{}” of what? Say what is compared, such as “the month with the {}”.",
                text.trim(),
                text.trim()
            ));
        };
        let function = if rank.descending { Aggregation::Max } else { Aggregation::Min };
        let label = format!("{} {}", if rank.descending { "Highest" } else { "Lowest" }, said.to_lowercase());
        let value = Value::Aggregate { function, field };
        self.plan.measures[at] = Measure { filters, label: Some(label), ..Measure::of(value) };
        self.assumptions.push(format!("Assumed: each “{}” by itself, not their total.", said.to_lowercase()));
        Ok(())
    }

    /// The field whose values a metric adds up or averages, with the metric's own conditions, where its rows are called
    /// by these words.
    pub(super) fn row_amount(&self, metric: &str, said: &str) -> Option<(FieldRef, Vec<Condition>)> {
        let ontology = self.resolver.ontology;
        metric_rows::rows(ontology.metric(metric)?, said, ontology)
    }

    /// Whether more of a number is better, as the ontology says. Where it does not, it is asked.
    pub(in super::super) fn more_is_better(&self, by: By, rank: &Rank) -> Result<bool, Fault> {
        let ontology = self.resolver.ontology;
        let measure = match by {
            By::Measure(at) => self.plan.measures.get(at),
            _ => None,
        };
        let same = |metric: &crate::model::ontology::Metric| match measure.map(|measure| &measure.value) {
            Some(Value::Metric(name)) => metric.name.eq_ignore_ascii_case(name),
            Some(Value::Aggregate { field, .. }) => super::single(&metric.expression).is_some_and(|(_, of, inner)| {
                of.eq_ignore_ascii_case(&field.dataset) && inner.eq_ignore_ascii_case(&field.field)
            }),
            Some(Value::Count(name)) => super::single(&metric.expression).is_some_and(|(function, of, _)| {
                function == "count" && of.eq_ignore_ascii_case(name) && metric.filters.is_empty()
            }),
            _ => false,
        };
        let said: Vec<&str> = ontology
            .metrics
            .iter()
            .filter(|metric| same(metric))
            .filter_map(|metric| metric.higher_is.as_deref())
            .filter(|word| *word != "neutral")
            .collect();
        if let Some(first) = said.first().filter(|first| said.iter().all(|other| other == *first)) {
            return Ok(*first == "better");
        }
        // Who was asked by what, and chose it, means the most of it; the answer shows that.
        if matches!(by, By::Measure(_)) && rank.by.is_none() && self.ranked_by_choice().is_some() {
            return Ok(true);
        }
        let key = format!("better:{}", words::split(&rank.text).join(" "));
        if let Some(chosen) = self.resolver.chosen.iter().rev().find(|chosen| chosen.key == key) {
            return Ok((chosen.value == "highest") == rank.judged.unwrap_or(true));
        }
        let options = vec![
            Choice { label: "the highest".into(), value: "highest".into() },
            Choice { label: "the lowest".into(), value: "lowest".into() },
        ];
        let question =
            format!("Is “{}” the highest or the lowest? The ontology does not say which is better.", rank.text);
        let assumption = options[0].label.clone();
        Err(Fault::Ask(Box::new(Clarification { key, question, options, assumption })))
    }

    /// What is ranked must be there: rows without a plane are no plane.
    pub(super) fn present(&mut self, by: By) {
        if !matches!(by, By::Measure(_)) {
            return;
        }
        let ontology = self.resolver.ontology;
        let mut there = Vec::new();
        for dimension in self.plan.dimensions.iter().filter(|dimension| dimension.grain.is_none()) {
            let field = &dimension.field;
            let empty = ontology.field(&field.dataset, &field.field).is_some_and(|known| known.nullable == Some(true));
            let to = self.resolver.position(&field.dataset).unwrap_or(self.anchor);
            let way = self.resolver.graph.way(self.anchor, to, &field.via, Steps::ToOne).unwrap_or_default();
            // Where it is not known whether a column may be empty, every relationship counts as optional.
            let told = |relationship: &Relationship| {
                relationship.optional
                    && relationship.from_columns.iter().any(|column| {
                        ontology.entity(&relationship.from).is_some_and(|entity| {
                            entity.fields.iter().any(|field| {
                                (field.name.eq_ignore_ascii_case(column)
                                    || field.expression.eq_ignore_ascii_case(column))
                                    && field.nullable.is_some()
                            })
                        })
                    })
            };
            let lost = way.iter().any(|step| told(&ontology.relationships[step.relationship]));
            let condition = Condition::IsNull { field: field.clone(), negated: true };
            let known = self.plan.filters.iter().chain(&there).any(|known| {
                matches!(known, Condition::IsNull { field: own, negated: true } if own.dataset == field.dataset && own.via == field.via)
            });
            if (empty || lost) && !known {
                let said = format!(
                    "Rows without {} are left out.",
                    ontology.entity(&field.dataset).map_or_else(|| in_words(&field.field), Entity::noun)
                );
                if !self.assumptions.contains(&said) {
                    self.assumptions.push(said);
                }
                there.push(condition);
            }
        }
        self.plan.filters.extend(there);
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
            let subject = self
                .sketch
                .subject
                .and_then(|subject| self.found.get(subject)?.as_ref())
                .and_then(|found| self.resolver.dataset_of(&found.target));
            if let (Target::Metric(metric), Some(d), None) = (&found.target, subject, rank.judged)
                && let Some(field) = self.keyless_amount(*metric, *noun, d)
            {
                self.plan.subject = Some(self.entity(d)?.name.clone());
                return Ok(By::Dimension(self.add_dimension(Dimension::of(field))));
            }
            if let Target::Field(d, f) = found.target {
                if subject == Some(d) {
                    let reference = self.reference(d, f, &found.via)?;
                    self.plan.subject = Some(self.entity(d)?.name.clone());
                    return Ok(By::Dimension(self.add_dimension(Dimension::of(reference))));
                }
                if self.plan.measures.is_empty()
                    && rank.single
                    && vocabulary::superlative(rank.text.split(' ').next_back().unwrap_or_default()).is_some()
                    && !matches!(rank.text.to_lowercase().as_str(), "most" | "least" | "fewest")
                {
                    if rank.judged.is_some() {
                        let words = self.field(d, f)?.words().to_lowercase();
                        return cannot(format!(
                            "“{}” by which {words}? Say “by average {words}” or “by highest {words}”.",
                            rank.text
                        ));
                    }
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

    /// The field that a metric adds up or averages, where it is one of the ranked rows themselves and these have no
    /// key: rows that share a name are ranked each by itself, not by their total.
    fn keyless_amount(&self, metric: usize, noun: NounAt, dataset: usize) -> Option<FieldRef> {
        let entity = self.entity(dataset).ok()?;
        let metric = self.resolver.ontology.metrics.get(metric)?;
        let (function, of, field) = single(&metric.expression)?;
        let field = entity.field(&field)?;
        let own = of.eq_ignore_ascii_case(&entity.name) && matches!(function.as_str(), "sum" | "avg");
        let keyless = entity.primary_key.is_empty() && entity.unique_keys.is_empty();
        let said = self.sketch.nouns.get(noun)?.norm.split(' ').any(|word| vocabulary::aggregate(word).is_some());
        let alone = self.plan.measures.is_empty() && metric.filters.is_empty();
        (own && keyless && alone && !said).then(|| FieldRef::new(&entity.name, &field.name))
    }

    /// Positions of the dimensions for each of which a ranking is made.
    pub(super) fn each(&mut self) -> Result<Vec<usize>, Fault> {
        let mut per = Vec::new();
        let one_of_all = self.sketch.rank.as_ref().is_some_and(|rank| rank.field.is_some());
        for group in &self.sketch.groups {
            // "on which day was the largest sale": its day, and not the largest of each day.
            let asked =
                one_of_all && self.sketch.ask == Ask::Which && group.noun.is_none() && !(group.each || group.per);
            for dimension in self.group(group)? {
                let at = self.add_dimension(dimension);
                if !asked {
                    per.push(at);
                }
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
            // Each row is one of itself.
            let own = self.resolver.counts(*at, self.anchor);
            !own && datasets
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
}
