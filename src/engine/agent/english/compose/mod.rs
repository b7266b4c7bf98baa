//! From a sketch whose nouns are known to a plan.

mod across;
mod asked;
mod beside;
mod conditions;
mod days;
mod events;
mod lists;
mod measures;
mod orders;
mod ranks;
mod sets;
mod spans;
mod states;
mod times;
mod together;
mod units;
mod values;

use crate::engine::agent::english::time::CompareWith;
use crate::engine::ontology::graph::Steps;
use crate::model::ontology::{Aggregation, Entity, Field, FieldRole, Relationship, in_words};
use crate::model::plan::f64bits::F64;
use crate::model::plan::{
    By, Comparator, Comparison, Condition, Dimension, FieldRef, Grain, Having, Limit, Literal, Measure, Order, Plan,
    Shown, TimeFilter, Value, Window,
};
use crate::model::reading::{Choice, Clarification};

pub(super) use spans::is_time;

use super::resolve::{Found, Resolver, Target};
use super::sketch::{Ask, Bound, Cond, Display, Group, NounAt, OrderBy, Quantity, Rank, Sketch, Want};
use super::vocabulary;
use crate::engine::render::nouns::capital;

/// Why a sketch makes no plan.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fault {
    Ask(Box<Clarification>),
    Cannot(String),
}

pub(super) struct Builder<'a> {
    pub resolver: &'a Resolver<'a>,
    pub sketch: &'a Sketch,
    pub found: &'a [Option<Found>],
    /// The dataset that the numbers or the list are of.
    pub anchor: usize,
    pub assumptions: Vec<String>,
    pub plan: Plan,
}

fn cannot<T>(reason: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Cannot(reason.into()))
}

impl Builder<'_> {
    pub(super) fn build(&mut self) -> Result<(), Fault> {
        let sketch = self.sketch;
        self.dimensions()?;
        for (at, quantity) in sketch.measures.iter().enumerate() {
            if at > 0 {
                self.asked(quantity)?;
            }
            let measure = self.measure(quantity)?;
            // What is sorted by may be what was asked for, in other words.
            if !self.plan.measures.contains(&measure) {
                self.plan.measures.push(measure);
            }
        }
        self.counted_not_added();
        if self.counts_groups()
            && let Some(subject) = sketch.subject
        {
            let measure = self.measure(&Quantity::Count(subject))?;
            self.plan.measures.push(measure);
        }
        let windows = sketch.conds.iter().map(|cond| match cond {
            Cond::Window { windows, negated: false, .. } => windows.len(),
            _ => 0,
        });
        let several = windows.sum::<usize>() > 1;
        let compared = (sketch.compare.is_some() || sketch.comparing && several) && sketch.columns.is_empty();
        let whether =
            (matches!(sketch.ask, Ask::Whether) || compared) && self.plan.measures.is_empty() && sketch.rank.is_none();
        if let (true, Some(subject)) = (whether, sketch.subject) {
            let measure = self.measure(&Quantity::Count(subject))?;
            self.plan.measures.push(measure);
        }
        if let Some(subject) = sketch.subject.filter(|_| self.sets_kinds_apart()) {
            let measure = self.measure(&Quantity::Count(subject))?;
            self.plan.measures.push(measure);
        }
        if compared && self.plan.measures.is_empty() && sketch.rank.is_none() {
            let measure = Measure::of(Value::Count(self.entity(self.anchor)?.name.clone()));
            self.plan.measures.push(measure);
        }
        if let Some(rank) = &sketch.rank {
            self.rank(rank)?;
        }
        self.conditions()?;
        self.columns()?;
        self.compare()?;
        self.display()?;
        self.change_beside()?;
        self.order()?;
        self.mentions()?;
        self.unit()?;
        self.shared_rows();
        self.says_when()?;
        self.other_ways();
        if self.plan.measures.is_empty() && self.plan.dimensions.is_empty() {
            return cannot("The question names nothing that could be counted, computed or listed.");
        }
        Ok(())
    }

    /// What a question adds to the one before.
    pub(super) fn fragment(&mut self) -> Result<(), Fault> {
        let sketch = self.sketch;
        for column in &sketch.columns {
            for dimension in self.dims_of(*column)? {
                self.add_dimension(dimension);
            }
        }
        for group in &sketch.groups {
            for dimension in self.group(group)? {
                self.add_dimension(dimension);
            }
        }
        for quantity in &sketch.measures {
            let measure = self.measure(quantity)?;
            self.plan.measures.push(measure);
        }
        self.conditions()?;
        self.compare()?;
        if sketch.display.is_some() {
            self.display()?;
        }
        if sketch.change_beside.is_some() {
            self.change_beside()?;
        }
        self.order()
    }

    fn entity(&self, dataset: usize) -> Result<&Entity, Fault> {
        self.resolver.ontology.datasets.get(dataset).ok_or_else(|| Fault::Cannot("A dataset is missing.".into()))
    }

    fn field(&self, dataset: usize, field: usize) -> Result<&Field, Fault> {
        self.entity(dataset)?.fields.get(field).ok_or_else(|| Fault::Cannot("A field is missing.".into()))
    }

    fn found(&self, noun: NounAt) -> Result<&Found, Fault> {
        self.found.get(noun).and_then(Option::as_ref).ok_or_else(|| {
            let text = self.sketch.nouns.get(noun).map(|noun| noun.text.clone()).unwrap_or_default();
            Fault::Cannot(format!("“{text}” fits nothing here."))
        })
    }

    fn reference(&self, dataset: usize, field: usize, via: &[String]) -> Result<FieldRef, Fault> {
        let name = self.field(dataset, field)?.name.clone();
        Ok(FieldRef { dataset: self.entity(dataset)?.name.clone(), field: name, via: via.to_vec() })
    }

    /// The field that a noun is; of a dataset its label.
    fn field_ref(&self, noun: NounAt) -> Result<FieldRef, Fault> {
        let found = self.found(noun)?;
        match &found.target {
            Target::Field(d, f) | Target::Value(d, f, _) => self.reference(*d, *f, &found.via),
            Target::Entity(d) => self.label(*d, &found.via)?.into_iter().next().ok_or_else(|| {
                Fault::Cannot(format!("A {} has no field that it is called by.", self.resolver.entity_words(*d)))
            }),
            Target::Metric(_) | Target::Segment(_) => {
                cannot(format!("“{}” is no field.", self.sketch.nouns[noun].text))
            }
        }
    }

    /// What a dataset's rows are called by; the key too where two may have the same name.
    fn label(&self, dataset: usize, via: &[String]) -> Result<Vec<FieldRef>, Fault> {
        let entity = self.entity(dataset)?;
        let by_column = |column: &String| {
            let named = |field: &&Field| {
                field.name.eq_ignore_ascii_case(column) || field.expression.eq_ignore_ascii_case(column)
            };
            entity.fields.iter().find(named)
        };
        let refer =
            |field: &Field| FieldRef { dataset: entity.name.clone(), field: field.name.clone(), via: via.to_vec() };
        let label = entity.label_field.as_ref().and_then(|name| entity.field(name));
        let key: Vec<&Field> = entity.primary_key.iter().filter_map(by_column).collect();
        let Some(label) = label else { return Ok(key.into_iter().map(refer).collect()) };
        if let Some(name) = self.name_of(entity, label, via) {
            return Ok(vec![name]);
        }
        if self.who(dataset).is_some() {
            return Ok(vec![refer(label)]);
        }
        let is = |column: &String| {
            column.eq_ignore_ascii_case(&label.name) || column.eq_ignore_ascii_case(&label.expression)
        };
        let unique = entity.primary_key.len() == 1 && is(&entity.primary_key[0])
            || entity.unique_keys.iter().any(|key| key.len() == 1 && is(&key[0]));
        let mut fields = vec![refer(label)];
        if !unique {
            fields.extend(key.into_iter().filter(|field| field.name != label.name).map(refer));
        }
        Ok(fields)
    }

    /// "Who …" asks for a name: where rows are called by a number that refers to those who have one, by theirs.
    fn name_of(&self, entity: &Entity, label: &Field, via: &[String]) -> Option<FieldRef> {
        let numbered = label.role == FieldRole::Key || label.datatype.is_number();
        if self.sketch.ask != Ask::Who || !numbered {
            return None;
        }
        let is = |column: &String| {
            column.eq_ignore_ascii_case(&label.name) || column.eq_ignore_ascii_case(&label.expression)
        };
        let ontology = self.resolver.ontology;
        let mut names = ontology.relationships.iter().filter_map(|relationship| {
            let refers = relationship.from.eq_ignore_ascii_case(&entity.name)
                && matches!(relationship.from_columns.as_slice(), [column] if is(column));
            let to = ontology.entity(&relationship.to).filter(|_| refers)?;
            let name = to.label_field.as_ref().and_then(|name| to.field(name))?;
            let via: Vec<String> = via.iter().chain([&relationship.name]).cloned().collect();
            let text = name.role != FieldRole::Key && !name.datatype.is_number() && !name.hidden;
            text.then(|| FieldRef { dataset: to.name.clone(), field: name.name.clone(), via })
        });
        names.next().filter(|_| names.next().is_none())
    }

    fn dims_of(&self, noun: NounAt) -> Result<Vec<Dimension>, Fault> {
        let found = self.found(noun)?;
        match &found.target {
            Target::Entity(d) => Ok(self.label(*d, &found.via)?.into_iter().map(Dimension::of).collect()),
            Target::Field(..) => {
                let field = self.field_ref(noun)?;
                Ok(vec![Dimension { bucket: self.bucket(noun, &field)?, ..Dimension::of(field) }])
            }
            _ => cannot(format!("“{}” cannot be grouped by.", self.sketch.nouns[noun].text)),
        }
    }

    /// How wide the ranges are that a noun's numbers are put in, in the unit of its field.
    fn bucket(&self, noun: NounAt, field: &FieldRef) -> Result<Option<F64>, Fault> {
        let Some((width, unit)) = &self.sketch.nouns[noun].width else { return Ok(None) };
        let own = self.resolver.ontology.field(&field.dataset, &field.field).cloned().unwrap_or_default();
        if !own.datatype.is_number() {
            return cannot(format!(
                "{} holds no numbers, so it cannot be put in ranges of {width}.",
                capital(&own.words())
            ));
        }
        finite(self.converted(*width, unit.as_deref(), &own)?).map(Some)
    }

    fn add_dimension(&mut self, dimension: Dimension) -> usize {
        match self.plan.dimensions.iter().position(|known| {
            known.field == dimension.field && known.grain == dimension.grain && known.bucket == dimension.bucket
        }) {
            Some(at) => at,
            None => {
                self.plan.dimensions.push(dimension);
                self.plan.dimensions.len() - 1
            }
        }
    }

    fn dimensions(&mut self) -> Result<(), Fault> {
        let sketch = self.sketch;
        let computed = self.counts_groups()
            || !sketch.measures.is_empty()
            || sketch.rank.as_ref().is_some_and(|rank| rank.by.is_some() || rank.frequency || rank.quality);
        if let (Some(subject), true) = (sketch.subject, computed) {
            let own = matches!(self.found(subject)?.target, Target::Entity(d) if d == self.anchor);
            if !own || matches!(sketch.ask, Ask::Which | Ask::List | Ask::Who) || sketch.rank.is_some() {
                for dimension in self.dims_of(subject)? {
                    self.add_dimension(dimension);
                }
            }
        }
        if computed {
            for column in &sketch.columns {
                for dimension in self.dims_of(*column)? {
                    self.add_dimension(dimension);
                }
            }
        }
        for group in &sketch.groups {
            for dimension in self.group(group)? {
                self.add_dimension(dimension);
            }
        }
        Ok(())
    }

    fn group(&mut self, group: &Group) -> Result<Vec<Dimension>, Fault> {
        match (group.noun, group.grain) {
            (Some(noun), None) => {
                if group.per {
                    if self.is_own_row(noun)? {
                        return Ok(Vec::new());
                    }
                    self.each_or_average(noun)?;
                }
                self.dims_of(noun)
            }
            (Some(noun), Some(grain)) => {
                Ok(vec![Dimension { grain: Some(grain), ..Dimension::of(self.field_ref(noun)?) }])
            }
            (None, Some(grain)) => Ok(vec![Dimension { grain: Some(grain), ..Dimension::of(self.time_field()?) }]),
            (None, None) => Ok(Vec::new()),
        }
    }

    /// "average seats per plane", where each plane has one number of seats: the mean of all planes.
    fn is_own_row(&self, noun: NounAt) -> Result<bool, Fault> {
        let Target::Entity(d) = self.found(noun)?.target else { return Ok(false) };
        let own = |quantity: &Quantity| match quantity {
            Quantity::Aggregate(Aggregation::Avg | Aggregation::Median, field) => {
                let found = self.found.get(*field).and_then(Option::as_ref);
                matches!(found.map(|found| &found.target), Some(Target::Field(of, _)) if *of == d)
            }
            _ => false,
        };
        Ok(!self.sketch.measures.is_empty() && self.sketch.measures.iter().all(own))
    }

    /// The window that holds when a question names none.
    pub(super) fn default_window(&mut self, window: Window) -> Result<(), Fault> {
        let field = self.explicit_time()?;
        self.plan.time = Some(TimeFilter { field, window });
        Ok(())
    }
}

fn finite(number: f64) -> Result<F64, Fault> {
    F64::new(number).ok_or_else(|| Fault::Cannot("A number is too large.".into()))
}

pub(super) fn name_of(function: Aggregation) -> &'static str {
    match function {
        Aggregation::Sum => "sum",
        Aggregation::Avg => "average",
        Aggregation::Median => "median",
        Aggregation::Min => "lowest value",
        Aggregation::Max => "highest value",
        Aggregation::Count => "count",
        Aggregation::CountDistinct => "number of different values",
        Aggregation::Stddev => "standard deviation",
    }
}

/// The function, dataset and field of a metric that is one aggregate of one field, and nothing else.
pub(super) fn single(expression: &str) -> Option<(String, String, String)> {
    let (function, rest) = expression.trim().split_once('(')?;
    let inner = rest.strip_suffix(')')?.trim();
    let (dataset, field) = inner.split_once('.')?;
    let plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (plain(dataset) && plain(field) && plain(function.trim()))
        .then(|| (function.trim().to_lowercase(), dataset.to_owned(), field.to_owned()))
}

fn without_via(condition: Condition) -> Condition {
    let clear = |field: FieldRef| FieldRef { via: Vec::new(), ..field };
    match condition {
        Condition::Compare { field, op, value } => Condition::Compare { field: clear(field), op, value },
        Condition::In { field, values, negated } => Condition::In { field: clear(field), values, negated },
        Condition::Like { field, pattern, text, negated } => {
            Condition::Like { field: clear(field), pattern, text, negated }
        }
        Condition::IsNull { field, negated } => Condition::IsNull { field: clear(field), negated },
        other => other,
    }
}
