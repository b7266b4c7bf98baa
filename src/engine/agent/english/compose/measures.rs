//! Numbers.

use super::*;
use crate::engine::agent::english::lexicon::words;
use crate::model::ontology::Additivity;

impl Builder<'_> {
    /// A unit that was asked for must be the one that the numbers are in.
    pub(super) fn unit(&mut self) -> Result<(), Fault> {
        let Some(asked) = &self.sketch.unit else { return Ok(()) };
        if self.plan.measures.is_empty() {
            return self.unit_of_ranked(asked);
        }
        for at in 0..self.plan.measures.len() {
            let measure = &self.plan.measures[at];
            let own = self.unit_of(measure);
            let kinds = (own.as_deref().and_then(vocabulary::unit), vocabulary::unit(asked));
            if let (Some((kind, own)), Some((other, asked_factor))) = kinds
                && kind == other
                && own.to_bits() != asked_factor.to_bits()
                && self.plan.having.is_empty()
                && measure.shown_as.is_none()
            {
                let said = self.words_of(measure);
                let denominator = Measure::of(Value::Number(finite(asked_factor / own)?));
                let value = Value::Ratio { numerator: Box::new(measure.clone()), denominator: Box::new(denominator) };
                self.plan.measures[at] = Measure { label: Some(format!("{said} in {asked}")), ..Measure::of(value) };
                continue;
            }
            let same = own.as_deref().and_then(vocabulary::unit) == vocabulary::unit(asked)
                && vocabulary::unit(asked).is_some()
                && !own.as_deref().is_some_and(|own| is_other_currency(own, asked));
            if !same {
                let own = own.unwrap_or_else(|| "a unit that is not known".into());
                return cannot(format!("The number is in {own}, not in {asked}."));
            }
        }
        Ok(())
    }

    /// "the farthest shop, and how many miles is it": of a list, the number that it is ranked by.
    fn unit_of_ranked(&self, asked: &str) -> Result<(), Fault> {
        let by = self.plan.order.first().and_then(|order| match order.by {
            By::Dimension(at) => self.plan.dimensions.get(at),
            _ => None,
        });
        let field = by.and_then(|by| self.resolver.ontology.field(&by.field.dataset, &by.field.field));
        let own = field.and_then(|field| field.unit.clone());
        let same = own.as_deref().and_then(vocabulary::unit) == vocabulary::unit(asked);
        if same && own.as_deref().is_some_and(|own| !is_other_currency(own, asked)) {
            return Ok(());
        }
        let own = own.unwrap_or_else(|| "a unit that is not known".into());
        cannot(format!("The number is in {own}, not in {asked}."))
    }

    /// What a number is called in an answer.
    fn words_of(&self, measure: &Measure) -> String {
        match &measure.value {
            Value::Metric(name) => capital(&in_words(name)),
            Value::Aggregate { function, field } => {
                let own = self.resolver.ontology.field(&field.dataset, &field.field);
                let words = own.map_or_else(|| in_words(&field.field), Field::words).to_lowercase();
                capital(&format!("{} {words}", name_of(*function)))
            }
            Value::Days { .. } => "Time".into(),
            _ => "Value".into(),
        }
    }

    /// One more number must be asked for: the name of a metric after a preposition says more about the number before,
    /// in a way that is not known.
    pub(super) fn asked(&self, quantity: &Quantity) -> Result<(), Fault> {
        let Quantity::Plain(noun) = quantity else { return Ok(()) };
        let noun = &self.sketch.nouns[*noun];
        let joined = matches!(
            noun.before.as_str(),
            "of" | "from"
                | "in"
                | "on"
                | "for"
                | "by"
                | "at"
                | "to"
                | "who"
                | "that"
                | "which"
                | "whose"
                | "when"
                | "if"
                | "while"
                | "whenever"
        );
        if !joined {
            return Ok(());
        }
        let (text, before) = (&noun.text, &noun.before);
        cannot(format!("“{before} {text}” is not a condition here: “{text}” is the name of a number of its own."))
    }

    pub(super) fn unit_of(&self, measure: &Measure) -> Option<String> {
        let ontology = self.resolver.ontology;
        match &measure.value {
            Value::Metric(name) => ontology.metric(name)?.unit.clone(),
            Value::Aggregate { field, .. } => ontology.field(&field.dataset, &field.field)?.unit.clone(),
            Value::Days { .. } => Some("days".to_owned()),
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

    /// "total sales" may be how many there are or what they come to: where they have an amount, what was taken is said.
    pub(super) fn counted_not_added(&mut self) {
        let (sketch, ontology) = (self.sketch, self.resolver.ontology);
        let adds = |field: &Field| {
            let summed = field.default_aggregation == Some(Aggregation::Sum) && field.role == FieldRole::Measure;
            summed && !field.hidden
        };
        for noun in sketch.totalled.iter().filter(|noun| sketch.measures.contains(&Quantity::Count(**noun))) {
            let Ok(Target::Entity(d)) = self.found(*noun).map(|found| &found.target) else { continue };
            let amount = ontology.datasets.get(*d).and_then(|entity| entity.fields.iter().find(|field| adds(field)));
            let text = sketch.nouns.get(*noun).map(|noun| noun.text.as_str()).unwrap_or_default();
            if let Some(amount) = amount {
                let words = amount.words().to_lowercase();
                let said = format!("“Total {text}” is taken as how many there are, not as the sum of their {words}.");
                self.assumptions.push(said);
            }
        }
    }

    /// How the values of a number are taken together where neither the ontology nor the question says it.
    fn total_or_average(&self, noun: NounAt, field: &Field) -> Result<Aggregation, Fault> {
        let noun = &self.sketch.nouns[noun];
        let key = format!("how:{}", noun.norm);
        if let Some(chosen) = self.resolver.chosen.iter().rev().find(|chosen| chosen.key == key) {
            return Ok(if chosen.value == "total" { Aggregation::Sum } else { Aggregation::Avg });
        }
        let words = field.words().to_lowercase();
        let options = vec![
            Choice { label: format!("the average {words}"), value: "average".into() },
            Choice { label: format!("the total {words}"), value: "total".into() },
        ];
        let assumption = options[0].label.clone();
        let question = format!("Is the average or the total of “{}” meant?", noun.text);
        Err(Fault::Ask(Box::new(Clarification { key, question, options, assumption })))
    }

    pub(in super::super) fn measure(&mut self, quantity: &Quantity) -> Result<Measure, Fault> {
        let value = match quantity {
            Quantity::Count(noun) => {
                let found = self.found(*noun)?.clone();
                match found.target {
                    Target::Entity(d) => match self.who(d).map(|label| label.name.clone()) {
                        Some(label) => {
                            let field =
                                FieldRef { via: found.via, ..FieldRef::new(self.entity(d)?.name.clone(), label) };
                            Value::Aggregate { function: Aggregation::CountDistinct, field }
                        }
                        None => match self.referring(self.anchor, d, &found.via)? {
                            // By one of several ways: the places that flights come from.
                            Some((_, field)) if d != self.anchor && !found.via.is_empty() => {
                                Value::Aggregate { function: Aggregation::CountDistinct, field }
                            }
                            _ => Value::Count(self.entity(d)?.name.clone()),
                        },
                    },
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
                        let function = match field.default_aggregation {
                            Some(function) => function,
                            None => self.total_or_average(*noun, field)?,
                        };
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
                let (one, other) = (self.measure(first)?, self.measure(second)?);
                let open = [first, second].iter().any(|part| matches!(***part, Quantity::Plain(_)));
                if open && self.is_mean(&one).zip(self.is_mean(&other)).is_some_and(|(one, other)| one != other) {
                    return cannot(
                        "One of the numbers is a sum and the other a mean: say “total” or “average” of both.",
                    );
                }
                Value::Difference(Box::new(one), Box::new(other))
            }
            Quantity::Sum(parts) => Value::Sum(parts.iter().map(|part| self.measure(part)).collect::<Result<_, _>>()?),
            Quantity::Over(function, inner, groups) => {
                let measure = Box::new(self.measure(inner)?);
                let mut by = Vec::new();
                for group in groups {
                    if let Some(grain) = group.grain.filter(|grain| grain.is_cycle()) {
                        return cannot(format!(
                            "Every {0} comes again and again: ask for it “by {0}”, or for the average per day.",
                            in_words(&format!("{grain:?}")).to_lowercase()
                        ));
                    }
                    by.extend(self.group(group)?);
                }
                Value::Over { function: *function, measure, by }
            }
            Quantity::Days { function, from, to } => return self.days(*function, *from, *to),
            Quantity::Part { whole, conds, doubtful, said } => return self.part(whole, conds, doubtful, said),
            Quantity::Across { counted, thing, inner, object } => {
                return self.across(*counted, *thing, inner, *object);
            }
        };
        Ok(Measure::of(value))
    }

    /// Whether a number is a mean, or else a sum; `None` where it is something else.
    fn is_mean(&self, measure: &Measure) -> Option<bool> {
        let named = |function: &str| match function {
            "avg" => Some(true),
            "sum" | "count" => Some(false),
            _ => None,
        };
        match &measure.value {
            Value::Aggregate { function: Aggregation::Avg | Aggregation::Median, .. } => Some(true),
            Value::Aggregate { function: Aggregation::Sum, .. } | Value::Count(_) => Some(false),
            Value::Metric(name) => {
                let metric = self.resolver.ontology.metric(name)?;
                single(&metric.expression).and_then(|(function, _, _)| named(&function))
            }
            _ => None,
        }
    }

    /// A share: the part for which conditions hold, of the whole. What restricts the whole is a filter of the plan.
    fn part(&mut self, whole: &Quantity, conds: &[Cond], doubtful: &[Cond], said: &str) -> Result<Measure, Fault> {
        let mut denominator = self.measure(whole)?;
        let mut numerator = denominator.clone();
        for cond in conds {
            numerator.filters.extend(self.condition(cond, self.anchor)?);
        }
        if !doubtful.is_empty() {
            let of_part = self.part_or_whole(said)?;
            for cond in doubtful {
                let more = self.condition(cond, self.anchor)?;
                if !of_part {
                    denominator.filters.extend(more.iter().cloned());
                }
                numerator.filters.extend(more);
            }
        }
        Ok(Measure::of(Value::Ratio { numerator: Box::new(numerator), denominator: Box::new(denominator) }))
    }

    /// Whether a condition that may restrict the whole or the part is the part's: asked, because the numbers differ.
    fn part_or_whole(&self, said: &str) -> Result<bool, Fault> {
        let key = format!("share:{}", words::split(said).join(" "));
        if let Some(chosen) = self.resolver.chosen.iter().rev().find(|chosen| chosen.key == key) {
            return Ok(chosen.value == "part");
        }
        let options = vec![
            Choice { label: format!("of the whole: only what is “{said}” is looked at"), value: "whole".into() },
            Choice { label: format!("of the part: of all, those that are “{said}” too"), value: "part".into() },
        ];
        let assumption = options[0].label.clone();
        let question = format!("Is “{said}” said of the whole or of the part?");
        Err(Fault::Ask(Box::new(Clarification { key, question, options, assumption })))
    }

    pub(super) fn aggregate(&self, function: Aggregation, noun: NounAt) -> Result<Measure, Fault> {
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
                        // Shares and means have no total.
                        let adds = metric.additivity != Additivity::NonAdditive
                            || metric.expression.trim().to_lowercase().starts_with("count(");
                        inner.as_ref().map_or(adds, |(known, _, _)| matches!(known.as_str(), "sum" | "count"))
                    }
                    Aggregation::Avg => {
                        says(&["average", "avg", "mean", "per"])
                            || inner.as_ref().is_some_and(|(known, _, _)| known == "avg")
                    }
                    Aggregation::Median => says(&["median"]),
                    Aggregation::Max => says(&["maximum", "max", "highest"]),
                    Aggregation::Min => says(&["minimum", "min", "lowest"]),
                    _ => false,
                };
                if own {
                    return Ok(Measure::metric(metric.name.clone()));
                }
                // "average loss payment", where a row is a loss payment.
                if let Some((field, filters)) = self.row_amount(&metric.name, &self.sketch.nouns[noun].text) {
                    let label = format!("{} {}", name_of(function), self.sketch.nouns[noun].norm);
                    let value = Value::Aggregate { function, field };
                    return Ok(Measure { filters, label: Some(capital(&label)), ..Measure::of(value) });
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

/// Whether a number is in one currency and was asked for in another.
fn is_other_currency(own: &str, asked: &str) -> bool {
    vocabulary::unit(asked).is_some_and(|(kind, _)| kind == "money") && !own.eq_ignore_ascii_case(asked)
}
