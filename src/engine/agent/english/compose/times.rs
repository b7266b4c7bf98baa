//! Times, comparisons of times, and courses over time.

use super::*;

impl Builder<'_> {
    /// The time of what is asked for: one that the question names, that of the state that is counted, the metric's, the
    /// dataset's, or that of the nearest dataset that has one.
    pub(super) fn time_field(&mut self) -> Result<FieldRef, Fault> {
        let named = self.sketch.conds.iter().find_map(|cond| match cond {
            Cond::Window { field: Some(noun), .. } | Cond::Days { field: Some(noun), .. } => Some(*noun),
            _ => None,
        });
        if let Some(noun) = named {
            return self.field_ref(noun);
        }
        let counts = |quantity: &Quantity| matches!(quantity, Quantity::Count(_));
        let ranked = self.sketch.rank.iter().filter_map(|rank| rank.by.as_ref());
        if self.sketch.measures.iter().chain(ranked).all(counts)
            && let Some(time) = self.time_of_state(&self.sketch.conds, self.anchor)
        {
            self.says_time(&time);
            return Ok(time);
        }
        let metric = self
            .sketch
            .measures
            .first()
            .and_then(super::super::resolve::first_noun)
            .and_then(|noun| self.found.get(noun)?.as_ref());
        if let Some(Target::Metric(m)) = metric.map(|found| &found.target) {
            let own = self.resolver.ontology.metrics.get(*m).and_then(|metric| metric.default_time_field.as_ref());
            if let Some((dataset, field)) = own.and_then(|own| own.split_once('.')) {
                return Ok(FieldRef::new(dataset, field));
            }
        }
        if let Some(time) = self.time_of_same_metric() {
            return Ok(time);
        }
        self.time_of(self.anchor)
    }

    /// The time of the metric that is the same aggregate as the first number: an "average price" has the time of the
    /// metric that is the mean of the price.
    fn time_of_same_metric(&self) -> Option<FieldRef> {
        let Some(Quantity::Aggregate(function, noun)) = self.sketch.measures.first() else { return None };
        let Target::Field(d, f) = self.found.get(*noun)?.as_ref()?.target else { return None };
        let entity = self.resolver.ontology.datasets.get(d)?;
        let field = entity.fields.get(f)?;
        let chosen = format!("time_field:{}", entity.name);
        if self.resolver.chosen.iter().any(|known| known.key == chosen) {
            return None;
        }
        let name = match function {
            Aggregation::Avg => "avg",
            Aggregation::Sum => "sum",
            Aggregation::Min => "min",
            Aggregation::Max => "max",
            _ => return None,
        };
        let metric = self.resolver.ontology.metrics.iter().find(|metric| {
            metric.filters.is_empty()
                && super::single(&metric.expression).is_some_and(|(known, of, inner)| {
                    known == name && of.eq_ignore_ascii_case(&entity.name) && inner.eq_ignore_ascii_case(&field.name)
                })
        })?;
        let (dataset, field) = metric.default_time_field.as_ref()?.split_once('.')?;
        Some(FieldRef::new(dataset, field))
    }

    pub(super) fn time_of(&mut self, dataset: usize) -> Result<FieldRef, Fault> {
        let key = format!("time_field:{}", self.entity(dataset)?.name);
        if let Some(chosen) = self.resolver.chosen.iter().rev().find(|chosen| chosen.key == key) {
            let entity = self.entity(dataset)?;
            let (owner, field) = chosen.value.split_once('.').unwrap_or((entity.name.as_str(), chosen.value.as_str()));
            if self.resolver.ontology.field(owner, field).is_some() {
                return Ok(FieldRef::new(owner, field));
            }
        }
        for (at, steps) in self.resolver.graph.upward(dataset) {
            let entity = self.entity(at)?;
            if let Some(name) = &entity.default_time_field {
                if steps == 0 {
                    self.agreed(at, name)?;
                }
                let entity = self.entity(at)?;
                let field = FieldRef::new(&entity.name, name);
                let times = entity.fields.iter().filter(|field| field.is_time && !field.hidden).count();
                if times > 1 || steps > 0 {
                    self.says_time(&field);
                }
                return Ok(field);
            }
            let times: Vec<&Field> =
                entity.fields.iter().filter(|field| field.datatype.is_calendar() && !field.hidden).collect();
            match times.as_slice() {
                [] => {}
                [one] => return Ok(FieldRef::new(&entity.name, &one.name)),
                several => {
                    let key = format!("time_field:{}", entity.name);
                    let chosen = self.resolver.chosen.iter().rev().find(|chosen| chosen.key == key);
                    if let Some(field) = chosen.and_then(|chosen| entity.field(&chosen.value)) {
                        return Ok(FieldRef::new(&entity.name, &field.name));
                    }
                    let options: Vec<Choice> = several
                        .iter()
                        .take(5)
                        .map(|field| Choice { label: field.words(), value: field.name.clone() })
                        .collect();
                    let assumption = options.first().map(|option| option.label.clone()).unwrap_or_default();
                    let question = format!("Which time of the {} counts?", entity.noun());
                    return Err(Fault::Ask(Box::new(Clarification { key, question, options, assumption })));
                }
            }
        }
        let words = self.resolver.entity_words(dataset);
        let article = if words.starts_with(['a', 'e', 'i', 'o']) { "An" } else { "A" };
        cannot(format!("{article} {words} has no time here."))
    }

    /// Says which time was taken.
    pub(super) fn says_time(&mut self, time: &FieldRef) {
        let Some(entity) = self.resolver.ontology.entity(&time.dataset) else { return };
        let words = entity.field(&time.field).map(Field::words).unwrap_or_default();
        let said = format!("Time is that of the {words} of the {}.", entity.noun());
        if !self.assumptions.contains(&said) {
            self.assumptions.push(said);
        }
    }

    /// Where all metrics of a dataset have another time than the dataset itself, nothing says which one is meant.
    pub(super) fn agreed(&self, dataset: usize, default: &str) -> Result<(), Fault> {
        let ontology = self.resolver.ontology;
        let entity = self.entity(dataset)?;
        let own = format!("{}.{default}", entity.name);
        let mut times: Vec<&String> = Vec::new();
        for (at, metric) in ontology.metrics.iter().enumerate() {
            let Some(time) = &metric.default_time_field else { continue };
            if self.resolver.metric_datasets(at, 0).first() == Some(&dataset) && !times.contains(&time) {
                times.push(time);
            }
        }
        let key = format!("time_field:{}", entity.name);
        let chosen = self.resolver.chosen.iter().any(|chosen| chosen.key == key);
        if chosen || times.is_empty() || times.iter().any(|time| time.eq_ignore_ascii_case(&own)) {
            return Ok(());
        }
        let words = |time: &str| {
            let field = time
                .split_once('.')
                .and_then(|(dataset, field)| Some((ontology.entity(dataset)?, ontology.field(dataset, field)?)));
            field.map_or_else(
                || time.to_owned(),
                |(entity, field)| format!("{} of the {}", field.words(), entity.noun()),
            )
        };
        let all = std::iter::once(&own).chain(times).take(5);
        let options: Vec<Choice> = all.map(|time| Choice { label: words(time), value: time.clone() }).collect();
        let assumption = options[0].label.clone();
        Err(Fault::Ask(Box::new(Clarification {
            key,
            question: format!("Which time of the {} counts?", entity.noun()),
            options,
            assumption,
        })))
    }

    /// The time field to name in the plan: none where each number has its own.
    pub(super) fn explicit_time(&mut self) -> Result<Option<FieldRef>, Fault> {
        let field = self.time_field()?;
        let listing = self.plan.measures.is_empty();
        let entity = self.entity(self.anchor)?;
        let default = entity.default_time_field.as_ref();
        let own = field.dataset.eq_ignore_ascii_case(&entity.name)
            && default.is_some_and(|name| name.eq_ignore_ascii_case(&field.field));
        let of_metric = self.sketch.measures.first().is_some_and(|quantity| matches!(quantity, Quantity::Plain(_)))
            && self.plan.measures.first().is_some_and(|measure| match &measure.value {
                Value::Metric(name) => {
                    let metric = self.resolver.ontology.metric(name);
                    default.is_some() || metric.is_some_and(|metric| metric.default_time_field.is_some())
                }
                _ => false,
            });
        Ok(if !listing && (own || of_metric) { None } else { Some(field) })
    }

    pub(super) fn compare(&mut self) -> Result<(), Fault> {
        let Some(with) = &self.sketch.compare else { return self.compare_values() };
        if self.plan.measures.is_empty() {
            return cannot("A comparison of times needs a number to compare.");
        }
        if self.plan.time.is_none()
            && *with == CompareWith::YearBefore
            && self.plan.dimensions.iter().all(|dimension| dimension.grain.is_none())
        {
            let field = self.time_field()?;
            self.plan.dimensions.insert(0, Dimension { grain: Some(Grain::Year), ..Dimension::of(field) });
            for measure in &mut self.plan.measures {
                measure.shown_as = Some(Shown::ChangePercent);
            }
            return Ok(());
        }
        let Some(time) = &self.plan.time else {
            return cannot("To compare times, say which: “in 2024 compared with 2023”.");
        };
        let other = match with {
            CompareWith::Window(window) => Some(window.clone()),
            _ => with.beside(&time.window),
        };
        let Some(other) = other else { return cannot("There is no time before one without beginning or end.") };
        let align = self.plan.dimensions.iter().find_map(|dimension| dimension.grain);
        self.plan.comparison = Some(Comparison { with: other, align });
        Ok(())
    }

    /// "compare sales of Lund and Bergen": each of the values by itself.
    pub(super) fn compare_values(&mut self) -> Result<(), Fault> {
        if !self.sketch.comparing || self.plan.comparison.is_some() {
            return Ok(());
        }
        let listed = self.plan.filters.iter().find_map(|filter| match filter {
            Condition::In { field, negated: false, .. } => Some(field.clone()),
            _ => None,
        });
        let Some(field) = listed else { return cannot("A comparison needs two times, or two values of one field.") };
        self.add_dimension(Dimension::of(field));
        Ok(())
    }

    pub(super) fn display(&mut self) -> Result<(), Fault> {
        let Some(display) = self.sketch.display else { return Ok(()) };
        if self.plan.measures.is_empty() {
            return cannot("A share or a course of time needs a number.");
        }
        let timed = self.plan.dimensions.iter().any(|dimension| dimension.grain.is_some());
        if display == Display::Share {
            if self.plan.dimensions.is_empty() {
                return cannot("A share of the total needs something to divide by, such as “by country”.");
            }
        } else if !timed {
            if matches!(display, Display::Change | Display::ChangePercent) && self.plan.comparison.is_some() {
                return Ok(());
            }
            if matches!(display, Display::Change | Display::ChangePercent) && self.plan.time.is_some() {
                let window = self.plan.time.as_ref().map(|time| time.window.clone()).unwrap_or_default();
                // "from August to September" says both times, and no time that is held against the one before.
                let phrase = window.phrase.as_deref().unwrap_or_default();
                if ["from ", "between "].iter().any(|word| phrase.to_lowercase().starts_with(word)) {
                    return cannot(format!("Which two times does the change {phrase} hold against each other?"));
                }
                if let Some(other) = CompareWith::PreviousPeriod.beside(&window) {
                    self.plan.comparison = Some(Comparison { with: other, align: None });
                    return Ok(());
                }
            }
            let field = self.time_field()?;
            self.assumptions.push("Month by month, because the question names no unit of time.".into());
            self.plan.dimensions.insert(0, Dimension { grain: Some(Grain::Month), ..Dimension::of(field) });
        }
        let shown = match display {
            Display::Share => Shown::Share { within: Vec::new() },
            Display::Cumulative => Shown::Cumulative,
            Display::Change => Shown::Change,
            Display::ChangePercent => Shown::ChangePercent,
            Display::MovingAverage(rows) => Shown::MovingAverage { rows },
        };
        for measure in &mut self.plan.measures {
            measure.shown_as = Some(shown.clone());
        }
        Ok(())
    }
}
