//! Numbers.

use super::*;

impl Builder<'_> {
    /// A unit that was asked for must be the one that the numbers are in.
    pub(super) fn unit(&self) -> Result<(), Fault> {
        let Some(asked) = &self.sketch.unit else { return Ok(()) };
        for measure in &self.plan.measures {
            let own = self.unit_of(measure);
            let same = own.as_deref().and_then(grammar::unit) == grammar::unit(asked) && grammar::unit(asked).is_some();
            if !same {
                let own = own.unwrap_or_else(|| "a unit that is not known".into());
                return cannot(format!("The number is in {own}, not in {asked}."));
            }
        }
        Ok(())
    }

    pub(super) fn unit_of(&self, measure: &Measure) -> Option<String> {
        let ontology = self.resolver.ontology;
        match &measure.value {
            Value::Metric(name) => ontology.metric(name)?.unit.clone(),
            Value::Aggregate { field, .. } => ontology.field(&field.dataset, &field.field)?.unit.clone(),
            _ => None,
        }
    }

    /// "tracks sold per invoice" may be a number for each invoice or the mean of them; where rows have no name of their
    /// own, nothing says which.
    pub(super) fn each_or_average(&self, noun: NounAt) -> Result<(), Fault> {
        let Target::Entity(d) = self.found(noun)?.target else { return Ok(()) };
        let entity = self.entity(d)?;
        let label = entity.label_field.as_ref().and_then(|label| entity.field(label));
        let named = label.is_some_and(|label| label.role != FieldRole::Key && !label.datatype.is_number());
        let plain = matches!(self.sketch.measures.as_slice(), [Quantity::Plain(_) | Quantity::Count(_)]);
        if named || !plain || entity.default_time_field.is_none() || self.sketch.rank.is_some() {
            return Ok(());
        }
        let noun = entity.noun();
        let key = format!("per:{}", entity.name);
        if self.resolver.chosen.iter().any(|chosen| chosen.key == key && chosen.value == "each") {
            return Ok(());
        }
        if self.resolver.chosen.iter().any(|chosen| chosen.key == key) {
            return cannot(format!("Ask for it with “average … per {noun}”."));
        }
        let options = vec![
            Choice { label: format!("a number for each {noun}"), value: "each".into() },
            Choice { label: format!("one number: the mean of all {noun} rows"), value: "average".into() },
        ];
        let assumption = options[0].label.clone();
        Err(Fault::Ask(Box::new(Clarification {
            key,
            question: format!("What does “per {noun}” ask for?"),
            options,
            assumption,
        })))
    }

    pub(super) fn measure(&mut self, quantity: &Quantity) -> Result<Measure, Fault> {
        let value = match quantity {
            Quantity::Count(noun) => {
                let found = self.found(*noun)?.clone();
                match found.target {
                    Target::Entity(d) => Value::Count(self.entity(d)?.name.clone()),
                    Target::Field(d, f) => {
                        let field = self.field(d, f)?;
                        let number = field.role == FieldRole::Measure && field.datatype.is_number();
                        let function = if number { Aggregation::Sum } else { Aggregation::CountDistinct };
                        Value::Aggregate { function, field: self.reference(d, f, &found.via)? }
                    }
                    Target::Metric(m) => Value::Metric(self.resolver.ontology.metrics[m].name.clone()),
                    _ => return cannot(format!("“{}” cannot be counted.", self.sketch.nouns[*noun].text)),
                }
            }
            Quantity::Distinct(noun) => {
                Value::Aggregate { function: Aggregation::CountDistinct, field: self.field_ref(*noun)? }
            }
            Quantity::Aggregate(function, noun) => return self.aggregate(*function, *noun),
            Quantity::Plain(noun) => {
                let found = self.found(*noun)?.clone();
                match found.target {
                    Target::Metric(m) => Value::Metric(self.resolver.ontology.metrics[m].name.clone()),
                    Target::Field(d, f) => {
                        let field = self.field(d, f)?;
                        let function = field.default_aggregation.unwrap_or(Aggregation::Sum);
                        let said = format!("{} is taken as its {}.", capital(&field.words()), name_of(function));
                        let field = self.reference(d, f, &found.via)?;
                        self.assumptions.push(said);
                        Value::Aggregate { function, field }
                    }
                    _ => return cannot(format!("“{}” is no number.", self.sketch.nouns[*noun].text)),
                }
            }
            Quantity::Ratio(first, second) => {
                Value::Ratio { numerator: Box::new(self.measure(first)?), denominator: Box::new(self.measure(second)?) }
            }
            Quantity::Difference(first, second) => {
                Value::Difference(Box::new(self.measure(first)?), Box::new(self.measure(second)?))
            }
            Quantity::Sum(parts) => Value::Sum(parts.iter().map(|part| self.measure(part)).collect::<Result<_, _>>()?),
            Quantity::Over(function, inner, groups) => {
                let measure = Box::new(self.measure(inner)?);
                let mut by = Vec::new();
                for group in groups {
                    by.extend(self.group(group)?);
                }
                Value::Over { function: *function, measure, by }
            }
            Quantity::Part(whole, conds) => {
                let denominator = self.measure(whole)?;
                let mut numerator = denominator.clone();
                for cond in conds {
                    numerator.filters.extend(self.condition(cond, self.anchor)?);
                }
                Value::Ratio { numerator: Box::new(numerator), denominator: Box::new(denominator) }
            }
        };
        Ok(Measure::of(value))
    }

    pub(super) fn aggregate(&mut self, function: Aggregation, noun: NounAt) -> Result<Measure, Fault> {
        let found = self.found(noun)?.clone();
        match found.target {
            Target::Field(d, f) => {
                let number = self.field(d, f)?.datatype.is_number();
                if !number && !matches!(function, Aggregation::Min | Aggregation::Max) {
                    return cannot(format!(
                        "The {} of “{}” cannot be computed: it is no number.",
                        name_of(function),
                        self.sketch.nouns[noun].text
                    ));
                }
                Ok(Measure::of(Value::Aggregate { function, field: self.reference(d, f, &found.via)? }))
            }
            Target::Metric(m) => {
                let metric = &self.resolver.ontology.metrics[m];
                let words = in_words(&metric.name);
                let says = |list: &[&str]| words.split(' ').any(|word| list.contains(&word));
                let inner = single(&metric.expression);
                let own = match function {
                    Aggregation::Sum => {
                        inner.as_ref().is_none_or(|(known, _, _)| matches!(known.as_str(), "sum" | "count"))
                    }
                    Aggregation::Avg => {
                        says(&["average", "avg", "mean"]) || inner.as_ref().is_some_and(|(known, _, _)| known == "avg")
                    }
                    Aggregation::Median => says(&["median"]),
                    Aggregation::Max => says(&["maximum", "max", "highest"]),
                    Aggregation::Min => says(&["minimum", "min", "lowest"]),
                    _ => false,
                };
                if own {
                    return Ok(Measure::metric(metric.name.clone()));
                }
                match inner {
                    Some((known, dataset, field)) if known != "count" && metric.filters.is_empty() => {
                        let field = FieldRef::new(dataset, field);
                        Ok(Measure::of(Value::Aggregate { function, field }))
                    }
                    _ => cannot(format!(
                        "The {} of {words} needs to say over what, such as “average {words} per month”.",
                        name_of(function)
                    )),
                }
            }
            _ => cannot(format!("“{}” is no number.", self.sketch.nouns[noun].text)),
        }
    }
}
